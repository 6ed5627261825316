"""`parlour host arena`: a round robin of one or several games between policies, bots and HTTP agents."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal

import tyro
from rich.table import Table

from ....envs.core.counted import counted
from ....wrappers.live.arena.agent import ArenaAgent
from ....wrappers.live.arena.host import ArenaHost
from ....wrappers.live.arena.results import ArenaResult, Standings
from ....wrappers.live.common.activity import Activity
from ....wrappers.live.common.match_session import MatchLimits
from ....wrappers.logs.first_matches import FirstMatches
from ....wrappers.logs.match_log import MatchLog, opened
from ...evaluation.arena_results import Columns, GameResults, by_agent, over_all, write_pages
from ...terminal.console import Console
from ..arena_tables import Seated, games_named, one_game, several_games
from ..arguments import AsJson, LiveArguments, SessionArguments, TlsServerArguments
from ..supervisor import Supervisor

FIRST = ("agents", "options", "remote", "wait", "rounds", "seats", "timeout", "out", "port", "log")

Cost = Literal["keep", "pass", "end"]
Games = Annotated[
    tyro.conf.Positional[str],
    tyro.conf.arg(metavar="GAME", help="A game by name, several with commas between them, or all."),
]
PORT = TlsServerArguments(port=9100)
SHOWN = 5
"""Columns of the table of all games in a terminal; the ratings game by game are on the page."""


def command(
    *,
    game: Games,
    options: tuple[str, ...] = (),
    agents: tuple[str, ...] = (),
    remote: tuple[str, ...] = (),
    wait: int = 0,
    rounds: int = 10,
    serve: bool = False,
    seats: int | None = None,
    timeout: float = 30.0,
    concurrent: int = 8,
    max_actions: int | None = None,
    rejected: Cost = "keep",
    failed: Cost = "pass",
    out: Path | None = None,
    samples: int = 3,
    listening: TlsServerArguments = PORT,
    session: SessionArguments,
    live: LiveArguments,
    as_json: AsJson = False,
) -> None:
    """Play a round robin of one, several or all games between policies, bots and HTTP agents, and print the standings.

    Several games are written as bargaining,trust and all games as all. Each agent plays the games that it knows. It is
    rated in each and over all. While a game runs, agents may also open and join its sessions at /api/sessions, and
    start matches by POST /api/match.

    Args:
        options: The game's options as name=value, such as seats=6. Needs a single game.
        agents: Runs, policy files, bots. The agent zoo plays each game with its policy of the zoo.
        remote: HTTP agents, as name=http://….
        wait: Number of agents to wait for; they register at POST /api/register. Needs a single game.
        rounds: Number of rounds. In each, every group of agents that fills the table plays once in each rotation of the
            seats.
        serve: Play no round robin, only the sessions and matches that agents request, until Ctrl-C. Needs a single
            game.
        seats: Seats of the game. Default: the game's default, or the number of agents if there are fewer. Needs a
            single game.
        timeout: Seconds for a turn.
        concurrent: Number of matches played at the same time.
        max_actions: The most game actions of a match; 0: no limit. Default: 20 for two agents, no limit for more. With
            several games there is no limit by default.
        rejected: The cost of a rejected answer: keep (nothing, three times), the turn, or the match.
        failed: The cost of an exception or a late answer.
        out: Folder for a page with the standings and replays of matches. Default: none.
        samples: Number of matches of each game whose replay is on the page, from the first on.
    """
    if rounds < 1 or wait < 0 or samples < 0:
        raise ValueError(
            f"rounds={rounds}, wait={wait}, samples={samples}: need at least 1 round, and no number below 0"
        )
    names = games_named(game)
    several = len(names) > 1
    if several and (wait or serve or options or seats is not None):
        raise ValueError(f"{game} names {len(names)} games: --wait, --serve, --seats and --options need a single one")
    console = Console(stderr=as_json)
    theirs = [_remote(one) for one in remote]
    if several:
        tables = several_games(names, agents, len(theirs), session.seed, console)
    else:
        tables = [one_game(names[0], options, seats, agents, len(theirs) + wait, session.seed)]
        coming, needed = len(agents) + len(theirs) + wait, tables[0][0].seats
        if coming < needed and not serve:
            missing = f"{counted(coming, 'agents')} for {counted(needed, 'seats')}"
            raise ValueError(f"{missing}: name more --agents, --remote, --wait, or --serve")
    if max_actions is None:
        max_actions = 0 if several else -1
    limits = MatchLimits(actions=max_actions or None, rejected=rejected, failed=failed)
    games = _Games(tables)
    with ExitStack() as stack:
        supervisor = stack.enter_context(Supervisor(live, session, console))
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)  # a folder that cannot be made is told before the matches
            if samples:
                games.folder = Path(stack.enter_context(TemporaryDirectory()))

        def host(one: Seated, log: MatchLog | None) -> ArenaHost:
            arena = ArenaHost(
                one[0],
                limits=limits,
                timeout=timeout,
                concurrent=concurrent,
                seed=session.seed,
                address=listening.address,
                port=listening.port,
                access_token=listening.token,
                log=log,
                on_result=games.count,
            )
            arena.tls = listening.tls
            return arena

        async def play(arena: ArenaHost, ours: Sequence[ArenaAgent]) -> None:
            async with arena:
                _open(arena, ours, theirs, console)
                if serve:
                    console.print(f"agents play here as {arena.url}/SKILL.md says; Ctrl-C ends it", markup=False)
                    await asyncio.Event().wait()
                await _wait(arena, len(ours) + len(theirs) + wait, console)
                await arena.tournament(rounds)

        try:
            supervisor.run(games.play(host, play, supervisor.log, samples), Activity(counts=games.counts))
        finally:
            if games.played:
                _report(games, several, as_json, console)
                if out is not None:
                    index = write_pages(out, games.played, games.together)
                    console.print(f"written: {index}", markup=False, soft_wrap=True)


class _Games:
    """The games of an arena, one after the other.

    Attributes:
        folder: for logs of the first matches; None: they are not kept.
        played: the results so far, game by game.
        together: the standings over all games.
    """

    def __init__(self, tables: Sequence[Seated]) -> None:
        self.folder: Path | None = None
        self.played: list[GameResults] = []
        self.together = Standings()
        self._tables = tables
        self._counts: Counter[str] = Counter()
        self._arena: ArenaHost | None = None

    def counts(self) -> dict[str, int]:
        """Return what has been played, for the status line."""
        return {**self._counts, "tables": len(self._arena.matches) if self._arena is not None else 0}

    def count(self, result: ArenaResult) -> None:
        """Count a match."""
        self.together.add(result)
        self._counts["matches"] += 1
        self._counts["turns"] += result.actions
        self._counts["replaced"] += sum(result.forced.values())
        self._counts["refused"] += sum(result.rejected.values())

    async def play(
        self,
        host: Callable[[Seated, MatchLog | None], ArenaHost],
        play: Callable[[ArenaHost, Sequence[ArenaAgent]], Coroutine[Any, Any, None]],
        log: MatchLog | None,
        samples: int,
    ) -> None:
        """Play all games; also of one that is stopped the results are kept."""
        for one in self._tables:
            game, ours = one
            kept = None if self.folder is None else self.folder / f"{game.name}.jsonl"
            with opened(log) if kept is None else FirstMatches(kept, samples, log) as lines:
                self._arena = arena = host(one, lines)
                try:
                    await play(arena, ours)
                finally:
                    if arena.url:  # it has begun
                        shown = kept if arena.standings.matches else None
                        self.played.append(GameResults(game, arena.standings, shown))


def _report(games: _Games, several: bool, as_json: bool, console: Console) -> None:
    """Print the standings of each game, and those over all games."""
    if as_json:
        rows = [
            {
                "game": one.game.id,
                "options": dict(one.game.options),
                "standings": list(map(asdict, one.standings.lines())),
            }
            for one in games.played
        ]
        together = list(map(asdict, games.together.lines()))
        print(json.dumps({"games": rows, "over_all": together} if several else rows[0]))
        return
    for one in games.played:
        console.print(_table(by_agent(one.standings.lines()), one.title))
    if several:
        heads, lines = over_all(games.played, games.together)
        shown = heads[:SHOWN], [line[:SHOWN] for line in lines]
        console.print(_table(shown, f"all games: {counted(games.together.matches, 'matches')}"))


def _remote(spec: str) -> tuple[str, str]:
    name, equals, endpoint = spec.partition("=")
    if not equals or not name:
        raise ValueError(f"remote {spec!r}: write name=http://…")
    return name, endpoint


def _open(arena: ArenaHost, ours: Sequence[ArenaAgent], theirs: Sequence[tuple[str, str]], console: Console) -> None:
    console.print(f"arena for {arena.game.id} at {arena.url}")
    for one in ours:
        arena.add(one)
    for name, endpoint in theirs:
        arena.add_remote(name, endpoint)


async def _wait(arena: ArenaHost, coming: int, console: Console) -> None:
    """Wait until so many agents are there."""
    missing = coming - len(arena.agent_ids)
    if missing > 0:
        console.print(f"waiting for {counted(missing, 'agents')}: POST {arena.url}/api/register")
        await arena.wait_for(coming)


def _table(columns: Columns, title: str) -> Table:
    heads, rows = columns
    table = Table(*heads, title=title)
    for column in table.columns[1:]:
        column.justify = "right"
    for row in rows:
        table.add_row(*row)
    return table
