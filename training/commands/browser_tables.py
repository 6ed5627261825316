"""Tables in the browser for the commands table and lobby: seats by name, and serving until a signal."""

import asyncio
from collections.abc import Sequence
from operator import itemgetter
from socket import AF_INET, SOCK_DGRAM, gethostname, socket
from typing import Any
from urllib.parse import quote

from ...envs import Game
from ...envs.core.counted import counted
from ...wrappers.agents.delayed import DelayedAgent
from ...wrappers.live.common.names import short_name
from ...wrappers.live.table.host import TableHost
from ...wrappers.live.table.table_result import TableResult
from ...wrappers.logs.match_log import MatchLog
from ..learning.settings import pair
from ..terminal.console import Console
from .arguments import PromptArguments, TableArguments
from .lookup import HUMAN, agent, warn_about_differences
from .searching import searching_agents

POKER = "holdem"
"""The game that is played at a table of the poker host, where stacks carry over from hand to hand."""
MOST_NAMES = 4
"""The most players that a status line names."""
NO_MODEL = PromptArguments()


class Results:
    """What was played at a table, and what the players won there in all."""

    def __init__(self, game: Game) -> None:
        self._episodes = "hands" if game.payoffs.episode_name == "hand" else "matches"
        self._unit = game.payoffs.reward_name
        self._played = 0
        self._won: dict[str, float] = {}

    def add(self, result: TableResult) -> None:
        """Count a result."""
        self._played += result.episodes
        for player in result.players:
            self._won[player.name] = self._won.get(player.name, 0.0) + player.payoff

    def counts(self) -> dict[str, float]:
        """Return the number of hands or matches by its name."""
        return {self._episodes: self._played}

    def in_words(self) -> str:
        """Return what the players with the greatest sums have won in all; empty before the first result."""
        greatest = sorted(self._won.items(), key=itemgetter(1), reverse=True)
        won = [f"{name!r} {round(amount, 2):+,.10g}" for name, amount in greatest[:MOST_NAMES]]
        if len(greatest) > MOST_NAMES:
            won.append(f"and {counted(len(greatest) - MOST_NAMES, 'others')}")
        return f"{self._unit}: {' · '.join(won)}" if won else ""


Players = Sequence[tuple[str, DelayedAgent] | None]
"""The programs at a table with their names, seat by seat; None: a person."""


def players_of(
    game: Game,
    specs: Sequence[str],
    tables: TableArguments,
    *,
    seed: int | None = None,
    language_models: PromptArguments = NO_MODEL,
    search: bool = False,
) -> Players:
    """Return the programs at a table.

    Args:
        game: the game with its options.
        specs: the players, seat by seat, as `lookup.agent` reads them; ``human``: a person.
        tables: the settings of the table.
        seed: the seed of the programs; None: random.
        language_models: the model of the language models, and how it is asked.
        search: whether the policies search before they act.

    Raises:
        ValueError: for an unknown player.
    """
    seeds = [None if seed is None else seed + 1 + seat for seat in range(len(specs))]
    model, prompting = language_models.language_model(specs, tables.turn(people=2)), language_models.prompting()
    agents = [
        None if spec == HUMAN else agent(spec, game, one, model, prompting)
        for spec, one in zip(specs, seeds, strict=True)
    ]
    warn_about_differences(zip(specs, agents, strict=True), game)
    agents = searching_agents(specs, agents, seed) if search else agents
    return _named(specs, [None if one is None else DelayedAgent(one, tables.delay) for one in agents])


def browser_table(
    game: Game,
    players: Players,
    tables: TableArguments,
    *,
    options: Sequence[str] = (),
    seed: int | None = None,
    log: MatchLog | None = None,
    **common: Any,
) -> Any:
    """Return a table in the browser that has not started.

    Args:
        game: the game with its options.
        players: see `players_of`.
        tables: the settings of the table.
        options: the game's options that the user gave, as ``name=value``.
        seed: the seed of the deals; None: random.
        log: the match log.
        common: arguments of every table: server, and lobby or on_result.

    Raises:
        ValueError: if there is no seat for a person.
    """
    rated = common.get("lobby") is not None  # who goes away must lose before an empty table ends
    common |= {"timeout": tables.turn(2 if rated else players.count(None)), "time_bank": tables.time_bank}
    if game.name == POKER:
        from ...wrappers.live.table.poker import poker_table  # imported here: it loads the poker host

        given = dict(map(pair, options))
        common |= {"hands": tables.hands, "rebuy": tables.rebuy}
        return poker_table(game, given, players, seed=seed, log=log, **common)
    return TableHost(game, players, seed=seed, log=log, program_timeout=tables.turn(2), **common)


def _named(specs: Sequence[str], players: Sequence[DelayedAgent | None]) -> Players:
    taken: set[str] = set()
    named: list[tuple[str, DelayedAgent] | None] = []
    for spec, player in zip(specs, players, strict=True):
        name = label = short_name(spec)
        count = 1
        while name in taken:
            count += 1
            name = f"{label} {count}"
        named.append(None if player is None else (name, player))
        if player is not None:
            taken.add(name)
    return named


async def serve(server: Any, access_token: str | None, verb: str) -> None:
    """Run a server with a page until it is cancelled, and print its link."""
    async with server:
        key = "" if access_token is None else f"#{quote(access_token, safe='')}"
        console = Console()
        console.print(f"{verb} at {_link(server.url)}/{key}   (Ctrl-C ends it)", markup=False, soft_wrap=True)
        await asyncio.Event().wait()


def _link(url: str) -> str:
    """Return the URL with this machine's own address in place of 0.0.0.0 or ::."""
    every = next((one for one in ("//0.0.0.0:", "//[::]:") if one in url), None)
    if every is None:
        return url
    with socket(AF_INET, SOCK_DGRAM) as way:
        try:
            way.connect(("192.0.2.1", 9))  # UDP connect sends nothing; it only selects the local address
            own = way.getsockname()[0]
        except OSError:  # no network
            own = gethostname()
    return url.replace(every, f"//{own}:")
