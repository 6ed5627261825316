"""`parlour host arena`: a round robin of any game between policies, bots and HTTP agents."""

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.table import Table

from ....envs import Game
from ....envs.core.counted import counted
from ....wrappers.live.arena.agent import ArenaAgent
from ....wrappers.live.arena.agent_names import reserved_words
from ....wrappers.live.arena.host import ArenaHost
from ....wrappers.live.arena.host_session import ArenaLimits
from ....wrappers.live.arena.results import ArenaResult, Standing, Standings
from ....wrappers.live.common.activity import Activity
from ...supervisor import Supervisor
from ..arguments import AsJson, GameArguments, LiveArguments, SessionArguments, TlsServerArguments
from ..lookup import agent, game_with, names_seats, warn_about_differences

Cost = Literal["keep", "pass", "end"]
PORT = TlsServerArguments(port=9100)


def command(
    *,
    game: GameArguments,
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
    listening: TlsServerArguments = PORT,
    session: SessionArguments,
    live: LiveArguments,
    as_json: AsJson = False,
) -> None:
    """Play a round robin of a game between policies, bots and HTTP agents, and print the standings.

    While it runs, agents may also open and join sessions at /api/sessions, and start matches by POST /api/match.

    Args:
        agents: Runs, policy files, bots.
        remote: HTTP agents, as name=http://….
        wait: Number of agents to wait for; they register at POST /api/register.
        rounds: Number of rounds. In each, every group of agents that fills the table plays once in each rotation of the
            seats.
        serve: Play no round robin, only the sessions and matches that agents request, until Ctrl-C.
        seats: Seats of the game. Default: the game's default, or the number of agents if there are fewer.
        timeout: Seconds for a turn.
        concurrent: Number of matches played at the same time.
        max_actions: The most game actions of a match; 0: no limit. Default: 20 for two agents, no limit for more.
        rejected: The cost of a rejected answer: keep (nothing, three times), the turn, or the match.
        failed: The cost of an exception or a late answer.
    """
    if rounds < 1 or wait < 0:
        raise ValueError(f"rounds={rounds}, wait={wait}: need at least 1 round, and agents from 0 up")
    coming = len(agents) + len(remote) + wait
    played = _game(game.game, game.options, seats, coming)
    if coming < played.seats and not serve:
        missing = f"{counted(coming, 'agents')} for {counted(played.seats, 'seats')}"
        raise ValueError(f"{missing}: name more --agents, --remote, --wait, or --serve")
    ours = _seated(agents, played, session.seed)
    warn_about_differences([(one.agent_id, one.agent) for one in ours], played)
    theirs = [_remote(one) for one in remote]
    limits = ArenaLimits(actions=-1 if max_actions is None else max_actions or None, rejected=rejected, failed=failed)
    console = Console(highlight=False, stderr=as_json)
    counts: Counter[str] = Counter()
    with Supervisor(live, session, console) as supervisor:
        arena = ArenaHost(
            played,
            limits=limits,
            timeout=timeout,
            concurrent=concurrent,
            seed=session.seed,
            address=listening.address,
            port=listening.port,
            access_token=listening.token,
            log=supervisor.log,
            on_result=lambda result: _count(counts, result),
        )
        activity = Activity(counts=lambda: {**counts, "tables": len(arena.matches)})
        arena.tls = listening.tls
        if serve:
            try:
                supervisor.run(_serve(arena, ours, theirs, console), activity)
            finally:
                if arena.url:  # it has begun
                    _report(arena.standings, played, as_json, console)
        else:
            supervisor.run(_tournament(arena, ours, theirs, coming, rounds, console), activity)
            _report(arena.standings, played, as_json, console)


def _count(counts: Counter[str], result: ArenaResult) -> None:
    counts["matches"] += 1
    counts["turns"] += result.actions
    counts["replaced"] += sum(result.forced.values())
    counts["refused"] += sum(result.rejected.values())


def _report(standings: Standings, game: Game, as_json: bool, console: Console) -> None:
    lines = standings.lines()
    if as_json:
        print(json.dumps({"game": game.id, "options": dict(game.options), "standings": list(map(asdict, lines))}))
    else:
        console.print(_table(lines, f"{game.id}: {counted(standings.matches, 'matches')}"))


def _game(name: str, options: Sequence[str], seats: int | None, coming: int) -> Game:
    """Return the game; if its default has more seats than there are agents, with one seat per agent."""
    if seats is not None:
        return game_with(name, options, seats=seats)
    game = game_with(name, options)
    if 2 <= coming < game.seats and not names_seats(options):
        return game_with(name, options, seats=coming)
    return game


def _seated(specs: Sequence[str], game: Game, seed: int | None) -> list[ArenaAgent]:
    """Return the agents that `specs` name, with different names that are not words of the game."""
    taken = set(reserved_words(game)) if specs else set()
    seated = []
    for number, spec in enumerate(specs):
        name = label = Path(spec).stem[:48] or spec
        count = 1
        while name in taken:
            count += 1
            name = f"{label}-{count}"
        taken.add(name)
        seated.append(ArenaAgent(name, agent(spec, game, None if seed is None else seed + 1 + number)))
    return seated


def _remote(spec: str) -> tuple[str, str]:
    name, equals, endpoint = spec.partition("=")
    if not equals or not name:
        raise ValueError(f"remote {spec!r}: write name=http://…")
    return name, endpoint


async def _tournament(
    arena: ArenaHost,
    ours: Sequence[ArenaAgent],
    theirs: Sequence[tuple[str, str]],
    coming: int,
    rounds: int,
    console: Console,
) -> None:
    async with arena:
        _open(arena, ours, theirs, console)
        if coming > len(arena.agent_ids):
            console.print(
                f"waiting for {counted(coming - len(arena.agent_ids), 'agents')}: POST {arena.url}/api/register"
            )
            await arena.wait_for(coming)
        await arena.tournament(rounds)


async def _serve(
    arena: ArenaHost, ours: Sequence[ArenaAgent], theirs: Sequence[tuple[str, str]], console: Console
) -> None:
    async with arena:
        _open(arena, ours, theirs, console)
        console.print(f"agents play here as {arena.url}/SKILL.md says; Ctrl-C ends it", markup=False)
        await asyncio.Event().wait()


def _open(arena: ArenaHost, ours: Sequence[ArenaAgent], theirs: Sequence[tuple[str, str]], console: Console) -> None:
    console.print(f"arena for {arena.game.id} at {arena.url}")
    for one in ours:
        arena.add(one)
    for name, endpoint in theirs:
        arena.add_remote(name, endpoint)


def _table(lines: Sequence[Standing], title: str) -> Table:
    """Return the standings as a table."""
    table = Table("agent", "matches", "payoff ± 95 %", "deals", "of surplus", "rating", "mistakes", title=title)
    for column in table.columns[1:]:
        column.justify = "right"
    for line in lines:
        payoff = f"{line.mean:+.2f}" + (f" ± {line.high - line.mean:.2f}" if line.high is not None else "")
        shares = ["—" if share is None else f"{share:.0%}" for share in (line.deals, line.efficiency)]
        rating = "—" if line.rating is None else f"{line.rating:.1f} ± {line.deviation:.1f}"
        mistakes = str(line.rejected + line.failed)
        table.add_row(line.agent_id, f"{line.matches:,}", payoff, *shares, rating, mistakes)
    return table
