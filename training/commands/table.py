"""`parlour table`: a page where people play against policies and bots, at one table or in a lobby."""

import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from importlib.resources import files
from operator import itemgetter
from pathlib import Path
from socket import AF_INET, SOCK_DGRAM, gethostname, socket
from typing import Annotated, Any
from urllib.parse import quote

import msgspec
from cachetools import LRUCache
from cyclopts import Parameter

from ... import zoo
from ...envs import GAMES, Game, how_to_play
from ...envs.core.counted import counted
from ...envs.core.files import no_files
from ...envs.core.registry import packages
from ...wrappers import Agent, ServerSettings
from ...wrappers.agents.human import HumanAgent
from ...wrappers.agents.language_model import statistics_of
from ...wrappers.live.common.limits import short_name
from ...wrappers.live.lobby.host import LobbyHost
from ...wrappers.live.lobby.messages import Offer, Opponent, Preset
from ...wrappers.live.table.host import TableHost, TableResult
from ...wrappers.replay.log_reader import distinct
from ..terminal.console import Console
from . import lookup
from .activity import Activity
from .arguments import LiveArguments, PlayersArguments, Seconds, ServerArguments, TableArguments
from .supervisor import serving, supervised

POKER = "holdem"
"""The game with a table where stacks carry over from hand to hand."""
MOST_NAMES = 4
"""The most players that a status line names."""
MOST_SUMS = 10_000
"""The most players whose sums are kept; that of who has not played for longest goes first."""


class Results:
    """What was played at a table, and what the players won there in all."""

    def __init__(self, game: Game) -> None:
        self._episodes = "hands" if game.payoffs.episode_name == "hand" else "matches"
        self._unit = game.payoffs.reward_name
        self._played = 0
        self._won = LRUCache[str, float](MOST_SUMS)

    def add(self, result: TableResult) -> None:
        """Count a result."""
        self._played += result.episodes
        for player in result.players:
            self._won[player.name] = self._won.get(player.name, 0.0) + player.payoff

    def counts(self) -> dict[str, float]:
        """Return the number of hands or matches by its name."""
        return {self._episodes: self._played}

    def in_words(self) -> str:
        """Return the greatest sums of the players; empty before the first result."""
        greatest = sorted(self._won.items(), key=itemgetter(1), reverse=True)
        won = [f"{name!r} {round(amount, 2):+,.10g}" for name, amount in greatest[:MOST_NAMES]]
        if len(greatest) > MOST_NAMES:
            won.append(f"and {counted(len(greatest) - MOST_NAMES, 'others')}")
        return f"{self._unit}: {' · '.join(won)}" if won else ""


Players = Sequence[tuple[str, Agent] | None]
"""The programs at a table with their names, seat by seat; None: a person."""


def players_of(game: Game, players: PlayersArguments, tables: TableArguments, seed: int | None = None) -> Players:
    """Return the programs at a table.

    Args:
        game: the game with its options.
        players: the players, seat by seat, as `lookup.agent` reads them; ``human``: a person.
        tables: the settings of the table.
        seed: the seed of the programs; None: random.

    Raises:
        ValueError: for an unknown player.
    """
    agents = lookup.seated(players, game, seed, tables.turn(people=2))
    names = iter(distinct([short_name(spec) for spec in players.agents if spec != lookup.HUMAN], " "))
    return [None if isinstance(one, HumanAgent) else (next(names), one) for one in agents]


def browser_table(game: Game, players: Players, tables: TableArguments, **common: Any) -> TableHost:
    """Return a table in the browser that has not started.

    Args:
        game: the game with its options.
        players: see `players_of`.
        tables: the settings of the table.
        common: arguments of every table: seed (of the deals), log, server, admit, on_result.

    Raises:
        ValueError: if there is no seat for a person.
    """
    rated = "admit" in common  # who goes away must lose before an empty table ends
    common |= {"timeout": tables.turn(2 if rated else players.count(None)), "time_bank": tables.time_bank}
    common |= {"program_timeout": tables.turn(2), "delay": tables.delay}
    if game.name == POKER:
        from ...wrappers.live.table.poker import PokerTable

        common["seats_per_address"] = tables.seats_per_address
        return PokerTable(game, players, hands=tables.hands, rebuy=tables.rebuy, **common)
    return TableHost(game, players, **common)


def where(server: Any, verb: str) -> Callable[[], list[str]]:
    """Return a function that returns the line with the link to the page of a server, its access token included."""

    def lines() -> list[str]:
        token = server.settings.access_token
        key = "" if token is None else f"#{quote(token, safe='')}"
        return [f"{verb} at {_link(server.url)}/{key}   (Ctrl-C ends it)"]

    return lines


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


LOBBY: dict[str, Any] = msgspec.toml.decode(files(__package__).joinpath("lobby.toml").read_bytes())
"""What a lobby offers of the games."""
HANDS = 30
"""Number of hands after which a poker table of a lobby ends and counts, if none is given."""
SEATS = range(2, 17)
"""The numbers of seats that a table of the lobby may have."""
LONGEST = 60
"""Characters of an option's usual value; those with longer ones, such as figures, are not offered."""


EMPTY_AFTER = 300.0
"""Seconds without an open page after which a table of a lobby ends, if none are given."""


def serve_lobby(
    games: Sequence[str],
    policies: Sequence[str],
    state: Path | None,
    empty_after: float,
    server: ServerSettings,
    tables: TableArguments,
    live: LiveArguments,
) -> None:
    """Serve a page where people open tables, invite others, and see results, until Ctrl-C or SIGTERM.

    Args:
        games: the games, by name; empty: all.
        policies: runs and policy files that people can play with.
        state: the file of names and results; None: they end with the server.
        empty_after: seconds without an open page after which a table ends.
        server: the address, the access token and the certificate.
        tables: the settings of every table.
        live: the settings of its logs and metrics.
    """
    hands = HANDS if tables.hands is None else tables.hands
    offered = [lookup.game_with(name) for name in games]
    for name in () if games else dict.fromkeys(game_id.partition("-")[0] for game_id in GAMES):
        with suppress(ValueError):  # a user's game that needs options
            offered.append(lookup.game_with(name))
    trained: dict[str, list[str]] = {}
    for spec in policies:
        trained_as = lookup.trained_for(spec)
        if trained_as is None:
            raise ValueError(f"{spec}: not a run, nor a policy file that names its game")
        if trained_as.name not in [game.name for game in offered]:
            raise ValueError(
                f"{spec} plays {trained_as.name}, which this lobby does not offer: name it among the games"
            )
        trained.setdefault(trained_as.name, []).append(spec)
    offers = [_offer(game, trained.get(game.name, ()), hands) for game in offered]
    able = {(offer.game, one.name) for offer in offers for one in offer.opponents}
    presets = msgspec.convert(LOBBY["presets"], list[Preset])
    host = LobbyHost(
        offers,
        partial(_table, tables=replace(tables, hands=hands)),
        presets=[one for one in presets if {(one.game, name) for name in one.opponents} <= able],
        state=state,
        empty_after=empty_after,
        server=server,
    )
    console = Console()
    with supervised(live, console) as supervisor:
        activity = Activity(counts=lambda: {"tables": host.tables}, failing=lambda: host.problem)
        supervisor.run(serving(host, console, where(host, "lobby")), activity)


def _offer(game: Game, policies: Sequence[str], hands: int) -> Offer:
    """Return a lobby's offer of a game: the programs, each at the numbers of seats at which it can play.

    Args:
        game: the game.
        policies: the trained policies that play it, beside that of the zoo.
        hands: the number of hands after which a poker table ends.

    Raises:
        ValueError: for one of `policies` that can play at none of them, with the reason.
    """
    trained = [*([f"{zoo.PREFIX}{game.name}"] if game.name in zoo.names() else []), *policies]
    tables = {game.seats: game, **lookup.tables_of(game.name, SEATS)}
    programs = []
    for spec in [*trained, *(game.bots or ["random"])]:
        reasons = {count: lookup.reason_against(spec, table) for count, table in sorted(tables.items())}
        seats = tuple(count for count, reason in reasons.items() if not reason)
        if seats:
            programs.append(Opponent(spec, spec in trained, seats))
        elif spec in policies:
            raise ValueError(reasons[game.seats])
    heading, _, rest = how_to_play(game).strip().partition("\n")
    sentence, any_seats = rest.strip().partition("\n")[0], lookup.has_seats(game.name)
    if any_seats:  # how many play is a choice
        sentence = re.sub(r"^\d+ (?:players[.:] (?:\d+ )?)?| for \d+ seats", "", sentence)
        sentence = sentence[:1].upper() + sentence[1:]
    others = LOBBY["others"] if game.name in packages() else "Games of your own"
    kind = next((kind for kind, names in LOBBY["kinds"].items() if game.name in names), others)
    unit = game.payoffs.reward_name
    long = -(-hands // 2) if game.name == POKER else LOBBY["minutes"].get(game.name, 0)
    options = {name: json.dumps(value).strip('"') for name, value in game.options.items() if name != "seats"}
    short = {name: text for name, text in options.items() if len(text) <= LONGEST}
    title = heading.removeprefix("# ")
    return Offer(game.name, game.seats, any_seats, tuple(programs), title, kind, sentence, unit, long, short)


def _table(
    name: str,
    seats: int | None,
    opponents: Sequence[str],
    options: Mapping[str, str],
    *,
    tables: TableArguments,
    **callbacks: Any,
) -> TableHost:
    """Return a table of the lobby; see `wrappers.live.lobby.host.MakeTable`."""
    given = [f"{option}={value}" for option, value in options.items()]
    if "seats" in options:
        raise ValueError("the number of seats has a field of its own")
    with no_files():  # who opens a table names none of this machine's
        game = lookup.game_with(name, given, seats=seats)
    if len(opponents) >= game.seats:
        raise ValueError(f"{len(opponents)} opponents for {game.seats} seats: leave one to a person")
    players = PlayersArguments(agents=(*[lookup.HUMAN] * (game.seats - len(opponents)), *opponents))
    return browser_table(game, players_of(game, players, tables), tables, **callbacks)


PORT = ServerArguments(port=8000)
QUIET = LiveArguments(log_level="warning", status_every=0)


def command(
    games: Annotated[tuple[str, ...], Parameter(name="GAME")] = (),
    *,
    options: tuple[str, ...] = (),
    players: PlayersArguments,
    seats: int | None = None,
    tables: TableArguments,
    lobby: bool = False,
    state: Path | None = None,
    empty_after: Seconds = EMPTY_AFTER,
    server: ServerArguments = PORT,
    names: tuple[str, ...] = (),
    live: LiveArguments = QUIET,
) -> None:
    """Serve a page where people play in the browser and others can watch, until Ctrl-C or SIGTERM.

    Seats without an agent are for people, the first ones unless "human" is among the agents; zoo:GAME, such as
    zoo:holdem, is a strong opponent. If there is an access token, it is part of the printed link. With --lobby the page
    has many tables.

    Args:
        games: The game by name; with --lobby, the games. Default: all of them.
        options: The game's options as name=value, such as seats=6.
        seats: Number of seats. Default: one per agent, and one for a person if no agent is named.
        lobby: Serve a page where people open tables of the named games (default: of all), invite others, and see
            results. The opponents are the game's bots, its policy of the zoo, and those of --agents.
        state: The file (SQLite) of names and results of a lobby. Default: they end with the server.
        empty_after: Seconds without an open page after which a table of a lobby ends.
        names: Further host names under which browsers reach this server, such as a proxy's.
    """
    settings = replace(server.settings, names=names)
    if lobby:
        players.language_model(["--lobby"])
        own = {"options": options, "seats": seats, "search": players.search or None, "seed": live.seed, "log": live.log}
        if given := [name for name, value in own.items() if value not in (None, ())]:
            raise ValueError(f"--{given[0]} is for one table; in a lobby, who opens a table chooses")
        serve_lobby(games, players.agents, state, empty_after, settings, tables, live)
        return
    if state is not None or empty_after != EMPTY_AFTER:
        raise ValueError("--state and --empty-after are for --lobby")
    if len(games) != 1:
        raise ValueError(f"{len(games)} games for one table: name one, or give --lobby")
    if lookup.has_seats(games[0]) and not (seats is None and lookup.names_seats(options)):
        seats = seats or max(2, len(players.agents) + (lookup.HUMAN not in players.agents))
    chosen = lookup.game_with(games[0], options, seats=seats)
    people = [lookup.HUMAN] * (chosen.seats - len(players.agents))
    specs = [*players.agents, *people] if lookup.HUMAN in players.agents else [*people, *players.agents]
    seated = replace(players, agents=tuple(specs))
    console, results = Console(), Results(chosen)
    with supervised(live, console) as supervisor:
        programs = players_of(chosen, seated, tables, live.seed)
        common = {"seed": live.seed, "log": supervisor.log, "server": settings, "on_result": results.add}
        table = browser_table(chosen, programs, tables, **common)
        if not players.agents and (strong := lookup.of_the_zoo(chosen)):
            print(f"a strong opponent: --agents {strong[0]}", file=sys.stderr)
        models = statistics_of(dict(filter(None, programs)))
        activity = Activity(counts=results.counts, score=results.in_words, models=lambda: models)
        supervisor.run(serving(table, console, where(table, "play")), activity)
