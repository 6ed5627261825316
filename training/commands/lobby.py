"""A page with the open tables of many games, and their results: `parlour table --lobby`."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite
from pathlib import Path

from ... import zoo
from ...envs import GAMES, Game, how_to_play
from ...envs.core.files import no_files
from ...envs.core.registry import packages
from ...wrappers.live.common.activity import Activity
from ...wrappers.live.common.server import ServerSettings
from ...wrappers.live.lobby.host import LobbyHost
from ...wrappers.live.lobby.tables import LobbyTable, Offer, Opponent, Preset
from ...wrappers.live.table.table_result import LobbyCallbacks
from ..terminal.console import Console
from .arguments import LiveArguments, SessionArguments, TableArguments
from .browser_tables import browser_table, players_of, serve
from .lookup import HUMAN, game_with, has_seats, reason_against, tables_of, trained_for
from .supervisor import Supervisor

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
    empty_after: float = 300.0
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
    empty_after, timeout, bank, delay = lobby.empty_after, tables.turn(people=2), tables.time_bank, tables.delay
    if not (
        min(delay, bank) >= 0
        and min(timeout, empty_after) > 0
        and hands >= 1
        and isfinite(timeout + bank + delay + empty_after)
    ):
        given = f"timeout={timeout:g}, time_bank={bank:g}, delay={delay:g}, empty_after={empty_after:g}, hands={hands}"
        raise ValueError(f"{given}: need some seconds for a turn and an empty table, others from 0 up, and some hands")
    offered = [game_with(name) for name in games] or _playable()
    trained: dict[str, list[str]] = {}
    for spec in policies:
        trained_as = trained_for(spec)
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
        empty_after=empty_after,
        server=server,
    )
    with Supervisor(live, SessionArguments(), Console()) as supervisor:
        activity = Activity(counts=lambda: {"tables": host.tables}, failing=lambda: host.problem)
        supervisor.run(serve(host, server.access_token, "lobby"), activity)


def _playable() -> list[Game]:
    games = []
    for name in dict.fromkeys(game_id.partition("-")[0] for game_id in GAMES):
        try:
            games.append(game_with(name))
        except (TypeError, ValueError):  # a user's game that needs options
            continue
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
    tables = {game.seats: game, **tables_of(game.name, SEATS)}
    programs = []
    for spec in [*trained, *(game.bots or ["random"])]:
        reasons = {count: reason_against(spec, table) for count, table in sorted(tables.items())}
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
    return Offer(game.name, game.seats, has_seats(game.name), tuple(programs), title, kind, sentence, unit, long, short)


def _in_words(game: Game) -> tuple[str, str]:
    """Return the heading and the first paragraph of the rules in words; without how many play, which is a choice."""
    heading, _, rest = how_to_play(game).strip().partition("\n")
    sentence = rest.strip().partition("\n")[0]
    if has_seats(game.name):
        sentence = re.sub(r"^\d+ (?:players[.:] (?:\d+ )?)?| for \d+ seats", "", sentence)
        sentence = sentence[:1].upper() + sentence[1:]
    return heading.removeprefix("# "), sentence


def _table(
    name: str,
    seats: int | None,
    opponents: Sequence[str],
    options: Mapping[str, str],
    *,
    lobby: LobbyCallbacks,
    tables: TableArguments,
) -> LobbyTable:
    """Return a table of the lobby; see `wrappers.live.lobby.tables`."""
    given = [f"{option}={value}" for option, value in options.items()]
    if "seats" in options:
        raise ValueError("the number of seats has a field of its own")
    with no_files():  # who opens a table names none of this machine's
        game = game_with(name, given, seats=seats)
    if len(opponents) >= game.seats:
        raise ValueError(f"{len(opponents)} opponents for {game.seats} seats: leave one to a person")
    specs = [*[HUMAN] * (game.seats - len(opponents)), *opponents]
    table: LobbyTable = browser_table(game, players_of(game, specs, tables), tables, options=given, lobby=lobby)
    return table
