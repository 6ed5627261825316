"""`parlour host arena`: a round robin of one or several games between policies, bots and HTTP agents."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal

from cyclopts import Parameter
from rich.table import Table

from ....envs import Game
from ....envs.core.counted import counted
from ....wrappers.agents.base import Agent
from ....wrappers.agents.llm import LLMAgent
from ....wrappers.agents.model_calls import ModelStatistics
from ....wrappers.live.arena.agent import ArenaAgent
from ....wrappers.live.arena.host import ArenaHost
from ....wrappers.live.arena.results import ArenaResult, Standings
from ....wrappers.live.common.activity import Activity
from ....wrappers.live.common.match_session import MatchLimits
from ....wrappers.logs.first_matches import FirstMatches
from ....wrappers.logs.match_log import MatchLog, opened
from ...evaluation.arena_results import Columns, GameResults, by_agent, over_all, write_pages
from ...evaluation.result_page import provenance
from ...terminal.console import Console
from ..arena_tables import Make, Seated, games_named, one_game, several_games
from ..arguments import AsJson, LiveArguments, PromptArguments, SessionArguments, TlsServerArguments
from ..lookup import agent
from ..supervisor import Supervisor

Cost = Literal["keep", "pass", "end"]
Games = Annotated[
    str,
    Parameter(name="GAME", help="A game by name, several with commas between them, or all."),
]
PORT = TlsServerArguments(port=9100)
MOST_COMING = 16
"""Agents that may come to each game where all are served."""
SHOWN = 5
"""Columns of the table of all games in a terminal; the ratings game by game are on the page."""


@dataclass(frozen=True, kw_only=True)
class TournamentArguments:
    """The round robin."""

    remote: tuple[str, ...] = ()
    """HTTP agents, as name=http://…."""
    wait: int = 0
    """Number of agents to wait for; they register at POST /api/register. Needs a single game."""
    rounds: int = 10
    """Number of rounds. In each, every group of agents that fills the table plays once in each rotation of the
    seats."""
    serve: bool = False
    """Play no round robin, only the sessions and matches that agents request, until Ctrl-C."""
    concurrent: int = 8
    """Number of matches played at the same time."""

    def __post_init__(self) -> None:
        """Check the values."""
        if self.wait < 0 or min(self.rounds, self.concurrent) < 1:
            given = f"wait={self.wait}, rounds={self.rounds}, concurrent={self.concurrent}"
            raise ValueError(f"{given}: need no number below 0, at least 1 round, and 1 match at the same time")

    @property
    def endpoints(self) -> list[tuple[str, str]]:
        """Names and URLs of the HTTP agents."""
        pairs = [spec.partition("=") for spec in self.remote]
        for name, equals, endpoint in pairs:
            if not (name and equals):
                raise ValueError(f"remote {name + equals + endpoint!r}: write name=http://…")
        return [(name, endpoint) for name, _, endpoint in pairs]

    async def play(self, arenas: Sequence[ArenaHost], agents: Sequence[Sequence[ArenaAgent]], console: Console) -> None:
        """Play a game between our agents and those over HTTP; or serve all games, each with its agents."""
        arena, ours = arenas[0], agents[0]
        games = arena.game.id if len(arenas) == 1 else counted(len(arenas), "games")
        console.print(f"arena for {games} at {arena.url}", soft_wrap=True)
        for each, own in zip(arenas, agents, strict=True):
            for one in own:
                each.add(one)
            for name, endpoint in self.endpoints:
                each.add_remote(name, endpoint)
        if self.serve:
            console.print(
                f"agents play here as {arena.url}/SKILL.md says (Ctrl-C ends it)", markup=False, soft_wrap=True
            )
            await asyncio.Event().wait()
        coming = len(ours) + len(self.remote) + self.wait
        missing = coming - len(arena.agent_ids)
        if missing > 0:
            console.print(f"waiting for {counted(missing, 'agents')}: POST {arena.url}/api/register", soft_wrap=True)
            await arena.wait_for(coming)
        await arena.tournament(self.rounds, concurrent=self.concurrent)


@dataclass(frozen=True, kw_only=True)
class LimitArguments:
    """The limits of a match."""

    timeout: float = 30.0
    """Seconds for a turn."""
    max_actions: int | None = None
    """The most game actions of a match; 0: no limit. Default: 20 for two agents, no limit for more. With several games
    there is no limit by default."""
    rejected: Cost = "keep"
    """The cost of a rejected answer: keep (nothing, three times), the turn, or the match."""
    failed: Cost = "pass"
    """The cost of an exception or a late answer."""

    def limits(self, several: bool) -> MatchLimits:
        """Return the limits, of one of several games or of a single one."""
        most = self.max_actions if self.max_actions is not None else 0 if several else -1
        return MatchLimits(actions=most or None, rejected=self.rejected, failed=self.failed)


@dataclass(frozen=True, kw_only=True)
class PageArguments:
    """The page."""

    out: Path | None = None
    """Folder for a page with the standings and replays of matches. Default: none."""
    samples: int = 3
    """Number of matches of each game whose replay is on the page, from the first on."""

    def __post_init__(self) -> None:
        """Check the number of matches."""
        if self.samples < 0:
            raise ValueError(f"samples={self.samples}: need no number below 0")

    def folder(self, stack: ExitStack) -> Path | None:
        """Make the page's folder; return one for the logs of its matches until the stack ends, None if it has none."""
        if self.out is None:
            return None
        self.out.mkdir(parents=True, exist_ok=True)  # a folder that cannot be made is told before the matches
        return Path(stack.enter_context(TemporaryDirectory())) if self.samples else None


def command(
    game: Games,
    *,
    options: tuple[str, ...] = (),
    agents: tuple[str, ...] = (),
    tournament: TournamentArguments,
    seats: int | None = None,
    limits: LimitArguments,
    page: PageArguments,
    listening: TlsServerArguments = PORT,
    asked: PromptArguments,
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
        agents: Runs, policy files, bots, or llm (the language model of --model). The agent zoo plays each game with its
            policy of the zoo.
        seats: Seats of the game. Default: the game's default, or the number of agents if there are fewer. Needs a
            single game.
    """
    names = games_named(game)
    several = len(names) > 1
    if several and (tournament.wait or options or seats is not None):
        raise ValueError(f"{game} names {len(names)} games: --wait, --seats and --options need a single one")
    console = Console(stderr=as_json)
    others = len(tournament.endpoints) + tournament.wait
    make = _maker(asked, agents, limits.timeout, session.seed)
    if several:
        tables = several_games(names, agents, MOST_COMING if tournament.serve else others, make, console)
    else:
        tables = [one_game(names[0], options, seats, agents, others, make)]
        coming, needed = len(agents) + others, tables[0][0].seats
        if coming < needed and not tournament.serve:
            missing = f"{counted(coming, 'agents')} for {counted(needed, 'seats')}"
            raise ValueError(f"{missing}: name more --agents, --remote, --wait, or --serve")
    games = _Games(tables)
    with ExitStack() as stack:
        supervisor = stack.enter_context(Supervisor(live, session, console))
        logs = _Logs(supervisor.log, page.folder(stack), page.samples)

        def host(game: Game, log: MatchLog | None, further: Sequence[ArenaHost]) -> ArenaHost:
            return ArenaHost(
                game,
                limits=limits.limits(several),
                timeout=limits.timeout,
                seed=session.seed,
                server=listening.settings,
                log=log,
                on_result=games.count,
                others=further,
            )

        try:
            activity = Activity(counts=games.counts, models=games.models)
            supervisor.run(games.play(host, tournament, logs, console), activity)
        finally:
            if games.played:
                _report(games, several, as_json, console)
                if page.out is not None:
                    about = provenance() | {"seed": "random" if session.seed is None else session.seed}
                    index = write_pages(page.out, games.played, games.together, games.models(), about)
                    console.print(f"written: {index}", markup=False, soft_wrap=True)


def _maker(asked: PromptArguments, agents: Sequence[str], timeout: float, seed: int | None) -> Make:
    model, prompting = asked.language_model(agents, timeout), asked.prompting()

    def make(spec: str, game: Game, number: int) -> Agent:
        return agent(spec, game, None if seed is None else seed + 1 + number, model, prompting)

    return make


@dataclass(frozen=True)
class _Logs:
    """The log of all matches; and a folder for logs of the first matches of each game, None if they are not kept."""

    log: MatchLog | None
    folder: Path | None
    samples: int


class _Games:
    """The games of an arena: one after the other, or all at once if they are served.

    Attributes:
        played: the results so far, game by game.
        together: the standings over all games.
    """

    def __init__(self, tables: Sequence[Seated]) -> None:
        self.played: list[GameResults] = []
        self.together = Standings()
        self._tables = tables
        self._counts: Counter[str] = Counter()
        self._arenas: list[ArenaHost] = []

    def counts(self) -> dict[str, int]:
        """Return what has been played, for the status line."""
        return {**self._counts, "tables": sum(len(arena.matches) for arena in self._arenas)}

    def models(self) -> dict[str, ModelStatistics]:
        """Return what the answers of language models came to, by agent and, of several games, by game."""
        return {
            one.agent_id if len(self._tables) == 1 else f"{one.agent_id} in {game.name}": one.agent.statistics
            for game, ours in self._tables
            for one in ours
            if isinstance(one.agent, LLMAgent)
        }

    def count(self, result: ArenaResult) -> None:
        """Count a match."""
        self.together.add(result)
        self._counts["matches"] += 1
        self._counts["turns"] += result.actions
        self._counts["replaced"] += sum(result.forced.values())
        self._counts["refused"] += sum(result.rejected.values())

    async def play(
        self,
        host: Callable[[Game, MatchLog | None, Sequence[ArenaHost]], ArenaHost],
        tournament: TournamentArguments,
        logs: _Logs,
        console: Console,
    ) -> None:
        """Play all games; also of one that is stopped the results are kept."""
        for tables in [self._tables] if tournament.serve else [[table] for table in self._tables]:
            with ExitStack() as stack:
                self._arenas, kept = [], list[Path | None]()
                for game, _ in reversed(tables):
                    kept.insert(0, None if logs.folder is None else logs.folder / f"{game.name}.jsonl")
                    own = opened(logs.log) if kept[0] is None else FirstMatches(kept[0], logs.samples, logs.log)
                    further = self._arenas if len(kept) == len(tables) else ()
                    self._arenas = [host(game, stack.enter_context(own), further), *self._arenas]
                try:
                    async with self._arenas[0]:
                        await tournament.play(self._arenas, [ours for _, ours in tables], console)
                finally:
                    for arena, file in zip(self._arenas, kept, strict=True):
                        begun = bool(self._arenas[0].url)
                        if begun and (len(tables) == 1 or arena.standings.matches):
                            shown = file if arena.standings.matches else None
                            self.played.append(GameResults(arena.game, arena.standings, shown))


def _report(games: _Games, several: bool, as_json: bool, console: Console) -> None:
    """Print the standings of each game, and those over all games."""
    models = games.models()
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
        about: dict[str, Any] = {"games": rows, "over_all": together} if several else rows[0]
        counts = {name: each.row() for name, each in models.items()}
        print(json.dumps({**about, "models": counts} if counts else about))
        return
    for result in games.played:
        console.print(_table(by_agent(result.standings.lines()), result.title))
    if several:
        heads, lines = over_all(games.played, games.together)
        shown = heads[:SHOWN], [line[:SHOWN] for line in lines]
        console.print(_table(shown, f"all games: {counted(games.together.matches, 'matches')}"))


def _table(columns: Columns, title: str) -> Table:
    heads, rows = columns
    table = Table(*heads, title=title)
    for column in table.columns[1:]:
        column.justify = "right"
    for row in rows:
        table.add_row(*row)
    return table
