"""`parlour table`: a page where people play against policies and bots, at one table or in a lobby."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from cyclopts import Parameter

from ...wrappers.agents.llm import statistics_of
from ...wrappers.live.common.activity import Activity
from ..terminal.console import Console
from .arguments import (
    AgentsArguments,
    GameArguments,
    LiveArguments,
    SessionArguments,
    TableArguments,
    TlsServerArguments,
)
from .browser_tables import Results, browser_table, players_of, serve
from .lobby import LobbyArguments, serve_lobby
from .lookup import HUMAN, game_with, has_seats, names_seats, of_the_zoo
from .supervisor import Supervisor

NOBODY = AgentsArguments(agents=())
PORT = TlsServerArguments(port=8000)
QUIET = LiveArguments(log_level="warning", status_every=0)


def command(
    games: Annotated[tuple[str, ...], Parameter(name="GAME")] = (),
    *,
    options: tuple[str, ...] = (),
    players: AgentsArguments = NOBODY,
    seats: int | None = None,
    tables: TableArguments,
    lobby: LobbyArguments,
    server: TlsServerArguments = PORT,
    names: tuple[str, ...] = (),
    session: SessionArguments,
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
        _check_lobby(options, seats, players, session)
        serve_lobby(games, players.agents, lobby, settings, tables, live)
        return
    if lobby != LobbyArguments():
        raise ValueError("--state and --empty-after are for --lobby")
    if len(games) != 1:
        raise ValueError(f"{len(games)} games for one table: name one, or give --lobby")
    if min(tables.delay, tables.time_bank) < 0 or tables.turn(people=1) <= 0:
        given = f"timeout={tables.turn(people=1):g}, time_bank={tables.time_bank:g}, delay={tables.delay:g}"
        raise ValueError(f"{given}: need some seconds for a turn, and a time bank and a delay from 0 up")
    game = GameArguments(game=games[0], options=options)
    chosen = game_with(game.game, game.options, seats=_seats(game, players.agents, seats))
    people = [HUMAN] * (chosen.seats - len(players.agents))
    specs = [*players.agents, *people] if HUMAN in players.agents else [*people, *players.agents]
    with Supervisor(live, session, Console()) as supervisor:
        programs = players_of(chosen, specs, tables, seed=session.seed, language_models=players, search=players.search)
        results = Results(chosen)
        table = browser_table(
            chosen,
            programs,
            tables,
            options=game.options,
            seed=session.seed,
            log=supervisor.log,
            server=settings,
            on_result=results.add,
        )
        if not players.agents and (strong := of_the_zoo(chosen)):
            print(f"a strong opponent: --agents {strong[0]}", file=sys.stderr)
        models = statistics_of({name: one.agent for name, one in filter(None, programs)})
        activity = Activity(counts=results.counts, score=results.in_words, models=lambda: models)
        supervisor.run(serve(table, settings.access_token, "play"), activity)


def _check_lobby(
    options: Sequence[str], seats: int | None, players: AgentsArguments, session: SessionArguments
) -> None:
    """Raise ValueError for options of one table, which a lobby does not have."""
    given = {
        "options": options,
        "seats": seats,
        "search": players.search or None,
        "seed": session.seed,
        "log": session.log,
    }
    players.language_model(["--lobby"])
    for name, value in given.items():
        if value not in (None, ()):
            raise ValueError(f"--{name} is for one table; in a lobby, who opens a table chooses")


def _seats(game: GameArguments, agents: Sequence[str], seats: int | None) -> int | None:
    if not has_seats(game.game) or (seats is None and names_seats(game.options)):
        return seats
    return seats or max(2, len(agents) + (HUMAN not in agents))
