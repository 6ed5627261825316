"""`parlour lobby`: a page with the open tables of many games, their results and ratings."""

from collections.abc import Sequence
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Annotated

import tyro

from ... import zoo
from ...envs import GAMES, Game
from ...wrappers.live.common.tokens import Admit
from ...wrappers.live.lobby.host import LobbyHost
from ...wrappers.live.lobby.offers import LobbyTable, Offer, Opponent
from ...wrappers.live.table.table_result import OnResult
from .arguments import TlsServerArguments
from .browser_tables import browser_table, serve
from .lookup import HUMAN, game_with, has_seats, reason_against, tables_of, trained_for
from .stopping import until_done

PORT = TlsServerArguments(port=8000)
SEATS = range(2, 17)
"""The numbers of seats that a table of the lobby may have."""


def command(
    *,
    games: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="GAME")] = (),
    policies: tuple[str, ...] = (),
    state: Path | None = None,
    server: TlsServerArguments = PORT,
    names: tuple[str, ...] = (),
    timeout: float = 60.0,
    delay: float = 1.0,
    hands: int = 30,
    rebuy: bool = False,
    empty_after: float = 300.0,
) -> None:
    """Serve a page where people open tables, invite others, and see results and ratings, until Ctrl-C or SIGTERM.

    The opponents are the game's bots, its policy of the zoo, and those of --policies.

    Args:
        games: The games, by name. Default: all.
        policies: Runs and policy files that people can play with.
        state: The file (SQLite) of names, results and ratings. Default: they end with the server.
        names: Further host names under which browsers reach this server, such as a proxy's.
        timeout: Seconds for a turn; then the safe action is played.
        delay: The least time of policies and bots for an answer, in seconds.
        hands: Number of hands after which a poker table ends and counts.
        rebuy: Whether a poker player without chips gets a new stack before the next hand.
        empty_after: Seconds without an open page after which a table ends.
    """
    if not (delay >= 0 and min(timeout, empty_after) > 0 and hands >= 1 and isfinite(timeout + delay + empty_after)):
        given = f"timeout={timeout:g}, delay={delay:g}, empty_after={empty_after:g}, hands={hands}"
        raise ValueError(f"{given}: need some seconds for a turn and an empty table, a delay from 0 up, and some hands")
    offered = [game_with(name) for name in games] or _playable()
    trained: dict[str, list[str]] = {}
    for spec in policies:
        found = trained_for(spec)
        if found is None:
            raise ValueError(f"{spec}: not a run, nor a policy file that names its game")
        if found.name not in [game.name for game in offered]:
            raise ValueError(f"{spec} plays {found.name}, which this lobby does not offer: name it among the games")
        trained.setdefault(found.name, []).append(spec)
    lobby = LobbyHost(
        [_offer(game, trained.get(game.name, ())) for game in offered],
        partial(_table, timeout=timeout, delay=delay, hands=hands, rebuy=rebuy),
        state=state,
        empty_after=empty_after,
        address=server.address,
        port=server.port,
        names=names,
        access_token=server.token,
    )
    lobby.tls = server.tls
    until_done(serve(lobby, server.token, "lobby"))


def _playable() -> list[Game]:
    """Return the games that need no options."""
    found = []
    for name in dict.fromkeys(game_id.partition("-")[0] for game_id in GAMES):
        try:
            found.append(game_with(name))
        except (TypeError, ValueError):  # a user's game that needs options
            continue
    return found


def _offer(game: Game, policies: Sequence[str]) -> Offer:
    """Return what a lobby offers of a game: the programs, each at the numbers of seats at which it can play.

    Raises:
        ValueError: for one of `policies` that can play at none of them, with the reason.
    """
    trained = [*([f"{zoo.PREFIX}{game.name}"] if game.name in zoo.names() else []), *policies]
    tables = {game.seats: game, **tables_of(game.name, SEATS)}
    programs = []
    for spec in [*trained, *game.bots]:
        reasons = {count: reason_against(spec, table) for count, table in sorted(tables.items())}
        seats = tuple(count for count, reason in reasons.items() if not reason)
        if seats:
            programs.append(Opponent(spec, spec in trained, seats))
        elif spec in policies:
            raise ValueError(reasons[game.seats])
    return Offer(game.name, game.seats, has_seats(game.name), tuple(programs))


def _table(
    name: str,
    seats: int | None,
    opponents: Sequence[str],
    *,
    admit: Admit,
    on_result: OnResult,
    timeout: float,
    delay: float,
    hands: int,
    rebuy: bool,
) -> LobbyTable:
    """Return a table of the lobby; see `MakeTable`."""
    game = game_with(name, seats=seats)
    if len(opponents) >= game.seats:
        raise ValueError(f"{len(opponents)} opponents for {game.seats} seats: leave one to a person")
    specs = [*opponents, *[HUMAN] * (game.seats - len(opponents))]
    table: LobbyTable = browser_table(
        game, specs, delay=delay, hands=hands, rebuy=rebuy, timeout=timeout, admit=admit, on_result=on_result
    )
    return table
