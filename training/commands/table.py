"""`parlour table`: a page where people play against policies and bots, at one table or in a lobby."""

import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from pathlib import Path
from socket import AF_INET, SOCK_DGRAM, gethostname, socket
from typing import Annotated, Any
from urllib.parse import quote

from cyclopts import Parameter

from ... import zoo
from ...envs import GAMES, Game, how_to_play
from ...envs.core.counted import counted
from ...envs.core.files import no_files
from ...envs.core.registry import packages
from ...wrappers.agents.base import Agent
from ...wrappers.agents.llm import statistics_of
from ...wrappers.live.common.activity import Activity
from ...wrappers.live.common.limits import short_name
from ...wrappers.live.common.server import ServerSettings
from ...wrappers.live.lobby.host import LobbyHost
from ...wrappers.live.lobby.messages import Offer, Opponent, Preset
from ...wrappers.live.table.host import TableHost, TableResult
from ...wrappers.logs.match_log import MatchLog
from ...wrappers.replay.log_reader import distinct
from ..terminal.console import Console
from . import lookup
from .arguments import LiveArguments, PlayersArguments, PromptArguments, Seconds, ServerArguments, TableArguments
from .supervisor import serving, supervised

POKER = "holdem"
"""The game with a table where stacks carry over from hand to hand."""
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


Players = Sequence[tuple[str, Agent] | None]
"""The programs at a table with their names, seat by seat; None: a person."""


def players_of(
    game: Game,
    specs: Sequence[str],
    tables: TableArguments,
    *,
    seed: int | None = None,
    language_models: PromptArguments = NO_MODEL,
    search: bool | None = None,
) -> Players:
    """Return the programs at a table.

    Args:
        game: the game with its options.
        specs: the players, seat by seat, as `lookup.agent` reads them; ``human``: a person.
        tables: the settings of the table.
        seed: the seed of the programs; None: random.
        language_models: the model of the language models, and how it is asked.
        search: whether the policies search before they act; None: those whose card of the zoo says so.

    Raises:
        ValueError: for an unknown player.
    """
    seeds = [None if seed is None else seed + 1 + seat for seat in range(len(specs))]
    make = lookup.agents_as(language_models, specs, tables.turn(people=2))
    agents = [None if spec == lookup.HUMAN else make(spec, game, one) for spec, one in zip(specs, seeds, strict=True)]
    lookup.warn_about_differences(zip(specs, agents, strict=True), game)
    agents = lookup.searching_agents(specs, agents, seed, search)
    programs = [short_name(spec) for spec, one in zip(specs, agents, strict=True) if one is not None]
    names = iter(distinct(programs, " "))
    return [None if one is None else (next(names), one) for one in agents]


def browser_table(
    game: Game,
    players: Players,
    tables: TableArguments,
    *,
    seed: int | None = None,
    log: MatchLog | None = None,
    **common: Any,
) -> TableHost:
    """Return a table in the browser that has not started.

    Args:
        game: the game with its options.
        players: see `players_of`.
        tables: the settings of the table.
        seed: the seed of the deals; None: random.
        log: the match log.
        common: arguments of every table: server, admit, on_result.

    Raises:
        ValueError: if there is no seat for a person.
    """
    rated = "admit" in common  # who goes away must lose before an empty table ends
    common |= {"timeout": tables.turn(2 if rated else players.count(None)), "time_bank": tables.time_bank}
    common |= {"program_timeout": tables.turn(2), "seed": seed, "log": log, "delay": tables.delay}
    if game.name == POKER:
        from ...wrappers.live.table.poker import PokerTable

        return PokerTable(game, players, hands=tables.hands, rebuy=tables.rebuy, **common)
    return TableHost(game, players, **common)


def where(server: Any, verb: str) -> Callable[[], list[str]]:
    """Return what says where the page of a server is, when it listens; its access token is in the link."""

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


HANDS = 30
"""Number of hands after which a poker table of a lobby ends and counts, if none is given."""
SEATS = range(2, 17)
"""The numbers of seats that a table of the lobby may have."""
LONGEST = 60
"""Characters of an option's usual value; those with longer ones, such as figures, are not offered."""


KINDS = {
    "Cards and dice": ("holdem", "kuhn", "leduc", "liars_dice"),
    "Social deduction": ("mafia", "werewolf"),
    "Puzzles": ("tangram",),
}
"""The games by kind, as the lobby groups them."""
ECONOMICS = "Markets, auctions and bargains"
"""The kind of all other games."""
MINUTES = {
    10: ("mafia", "werewolf", "tangram"),
    5: ("bargaining", "multi_issue_bargaining", "ultimatum", "bilateral_trade", "hold_up"),
    2: ("leduc", "liars_dice", "english_auction", "insurance_moral_hazard", "principal_agent", "common_agency"),
    1: (
        *("kuhn", "auction", "cournot", "public_project", "voluntary_contribution", "provision_point", "dictator"),
        *("war_of_attrition", "sequential_investment", "centipede", "dutch_auction", "trust"),
    ),
}
"""About how long a match takes people, who need half a minute for each of their decisions. In hold'em it depends on the
number of hands."""
PRESETS = (
    Preset("Heads-up hold'em against the zoo", "holdem", 2, ("zoo:holdem",)),
    Preset("Mafia with six policies of the zoo", "mafia", 7, ("zoo:mafia",) * 6),
    Preset("Split a pie with the zoo", "bargaining", None, ("zoo:bargaining",)),
    Preset("Ultimatum in one round", "ultimatum", None, ("equal",), {"max_rounds": "1", "reservations": "0,0"}),
    Preset("Public goods, 4 rounds", "voluntary_contribution", 4, ("conditional",) * 3, {"rounds": "4"}),
    Preset("Public goods, 10 rounds", "voluntary_contribution", 4, ("conditional",) * 3, {"rounds": "10"}),
    Preset("Second-price auction", "auction", 4, ("truthful",) * 3, {"rule": "second-price"}),
)
"""The tables that the lobby opens with one click, where it offers their games. "Play now" opens the first."""


@dataclass(frozen=True, kw_only=True)
class LobbyArguments:
    """The lobby."""

    lobby: bool = False
    """Serve a page where people open tables of the named games (default: of all), invite others, and see results.
    The opponents are the game's bots, its policy of the zoo, and those of --agents."""
    state: Path | None = None
    """The file (SQLite) of names and results of a lobby. Default: they end with the server."""
    empty_after: Seconds = 300.0
    """Seconds without an open page after which a table of a lobby ends."""


def serve_lobby(
    games: Sequence[str],
    policies: Sequence[str],
    lobby: LobbyArguments,
    server: ServerSettings,
    tables: TableArguments,
    live: LiveArguments,
) -> None:
    """Serve a page where people open tables, invite others, and see results, until Ctrl-C or SIGTERM.

    Args:
        games: the games, by name; empty: all.
        policies: runs and policy files that people can play with.
        lobby: the lobby's settings.
        server: the address, the access token and the certificate.
        tables: the settings of every table.
        live: the settings of its logs and metrics.
    """
    hands = HANDS if tables.hands is None else tables.hands
    offered = [lookup.game_with(name) for name in games] or _playable()
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
    host = LobbyHost(
        offers,
        partial(_table, tables=replace(tables, hands=hands)),
        presets=[one for one in PRESETS if {(one.game, name) for name in one.opponents} <= able],
        state=lobby.state,
        empty_after=lobby.empty_after,
        server=server,
    )
    console = Console()
    with supervised(live, console) as supervisor:
        activity = Activity(counts=lambda: {"tables": host.tables}, failing=lambda: host.problem)
        supervisor.run(serving(host, console, where(host, "lobby")), activity)


def _playable() -> list[Game]:
    games = []
    for name in dict.fromkeys(game_id.partition("-")[0] for game_id in GAMES):
        with suppress(ValueError):  # a user's game that needs options
            games.append(lookup.game_with(name))
    return games


def _offer(game: Game, policies: Sequence[str], hands: int) -> Offer:
    """Return what a lobby offers of a game: the programs, each at the numbers of seats at which it can play.

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
    title, sentence = _in_words(game)
    others = ECONOMICS if game.name in packages() else "Games of your own"
    kind = next((kind for kind, names in KINDS.items() if game.name in names), others)
    unit = game.payoffs.reward_name
    minutes = {name: minutes for minutes, names in MINUTES.items() for name in names} | {"holdem": -(-hands // 2)}
    long = minutes.get(game.name, 0)
    options = {name: json.dumps(value).strip('"') for name, value in game.options.items() if name != "seats"}
    short = {name: text for name, text in options.items() if len(text) <= LONGEST}
    any_seats = lookup.has_seats(game.name)
    return Offer(game.name, game.seats, any_seats, tuple(programs), title, kind, sentence, unit, long, short)


def _in_words(game: Game) -> tuple[str, str]:
    """Return the heading and the first paragraph of the rules in words; without how many play, which is a choice."""
    heading, _, rest = how_to_play(game).strip().partition("\n")
    sentence = rest.strip().partition("\n")[0]
    if lookup.has_seats(game.name):
        sentence = re.sub(r"^\d+ (?:players[.:] (?:\d+ )?)?| for \d+ seats", "", sentence)
        sentence = sentence[:1].upper() + sentence[1:]
    return heading.removeprefix("# "), sentence


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
    specs = [*[lookup.HUMAN] * (game.seats - len(opponents)), *opponents]
    return browser_table(game, players_of(game, specs, tables), tables, **callbacks)


PORT = ServerArguments(port=8000)
QUIET = LiveArguments(log_level="warning", status_every=0)


def command(
    games: Annotated[tuple[str, ...], Parameter(name="GAME")] = (),
    *,
    options: tuple[str, ...] = (),
    players: PlayersArguments,
    seats: int | None = None,
    tables: TableArguments,
    lobby: LobbyArguments,
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
        names: Further host names under which browsers reach this server, such as a proxy's.
    """
    settings = replace(server.settings, names=names)
    if lobby.lobby:
        players.language_model(["--lobby"])
        own = {
            "options": options,
            "seats": seats,
            "search": players.search or None,
            "seed": live.seed,
            "log": live.log,
        }
        if given := [name for name, value in own.items() if value not in (None, ())]:
            raise ValueError(f"--{given[0]} is for one table; in a lobby, who opens a table chooses")
        serve_lobby(games, players.agents, lobby, settings, tables, live)
        return
    if lobby != LobbyArguments():
        raise ValueError("--state and --empty-after are for --lobby")
    if len(games) != 1:
        raise ValueError(f"{len(games)} games for one table: name one, or give --lobby")
    chosen = lookup.game_with(games[0], options, seats=_seats(games[0], options, players.agents, seats))
    people = [lookup.HUMAN] * (chosen.seats - len(players.agents))
    specs = [*players.agents, *people] if lookup.HUMAN in players.agents else [*people, *players.agents]
    console, results = Console(), Results(chosen)
    with supervised(live, console) as supervisor:
        programs = players_of(chosen, specs, tables, seed=live.seed, language_models=players, search=players.search)
        table = browser_table(
            chosen,
            programs,
            tables,
            seed=live.seed,
            log=supervisor.log,
            server=settings,
            on_result=results.add,
        )
        if not players.agents and (strong := lookup.of_the_zoo(chosen)):
            print(f"a strong opponent: --agents {strong[0]}", file=sys.stderr)
        models = statistics_of(dict(filter(None, programs)))
        activity = Activity(counts=results.counts, score=results.in_words, models=lambda: models)
        supervisor.run(serving(table, console, where(table, "play")), activity)


def _seats(game: str, options: Sequence[str], agents: Sequence[str], seats: int | None) -> int | None:
    if not lookup.has_seats(game) or (seats is None and lookup.names_seats(options)):
        return seats
    return seats or max(2, len(agents) + (lookup.HUMAN not in agents))
