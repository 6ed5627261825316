"""`parlour host arena` and `parlour deploy arena`: round robins of any game, and our policies in others' arenas."""

import json
import logging
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import tyro
from rich.console import Console
from rich.table import Table

from ...envs import Game
from ...wrappers.live.arena.agent import ArenaAgent, ArenaAgentServer
from ...wrappers.live.arena.agent_names import reserved_words
from ...wrappers.live.arena.host import ArenaHost
from ...wrappers.live.arena.host_session import ArenaLimits
from ...wrappers.live.arena.results import ArenaResult, Standing, standings
from ...wrappers.logs.match_log import opened
from .arguments import agent, game_of, game_with
from .stopping import until_done

Cost = Literal["keep", "pass", "end"]


def host(
    game: tyro.conf.Positional[str],
    *,
    agents: tuple[str, ...] = (),
    remote: tuple[str, ...] = (),
    wait: int = 0,
    rounds: int = 10,
    seats: int | None = None,
    options: tuple[str, ...] = (),
    timeout: float = 30.0,
    concurrent: int = 8,
    max_actions: int | None = None,
    rejected: Cost = "keep",
    failed: Cost = "pass",
    port: int = 9100,
    address: str = "127.0.0.1",
    access_token: str | None = None,
    seed: int | None = None,
    log: Path | None = None,
    as_json: Annotated[bool, tyro.conf.arg(name="json")] = False,
) -> None:
    """Play a round robin of a game between policies, bots and agents behind HTTP, and print who did how.

    Args:
        game: its name, such as bargaining.
        agents: runs, policy files, bots.
        remote: agents behind HTTP, as name=http://….
        wait: agents to wait for, which register at POST /api/register.
        rounds: in each, every group of agents that fills the table meets, once in each rotation of the seats.
        seats: of the game; default: as it comes, or as many as there are agents if that is what it takes.
        options: the game's options as key=value.
        timeout: seconds for a turn.
        concurrent: matches played side by side.
        max_actions: game actions of a match; default: 20 for two agents, no limit for more; 0: no limit.
        rejected: what a rejected answer costs: nothing (three times), the turn, or the match.
        failed: what an exception or a late answer costs.
        port: where to listen; 0 takes a free one.
        address: where to listen; 0.0.0.0 lets other machines in.
        access_token: what registering agents must bear; None lets everybody in.
        seed: of everything that is dealt and drawn; default: another tournament every time.
        log: file to which every match is added as JSON Lines.
        as_json: print JSON instead of a table.
    """
    if rounds < 1 or wait < 0:
        raise ValueError(f"rounds={rounds}, wait={wait}: need at least 1 round, and agents from 0 up")
    _check_port(port)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    coming = len(agents) + len(remote) + wait
    played = _game(game, options, seats, coming)
    if coming < played.seats:
        raise ValueError(f"{coming} agents for {played.seats} seats: name more --agents, --remote, or --wait for some")
    ours = _seated(agents, played, seed)
    theirs = [_remote(one) for one in remote]
    limits = ArenaLimits(actions=-1 if max_actions is None else max_actions or None, rejected=rejected, failed=failed)
    console = Console(highlight=False, stderr=as_json)
    with opened(log) as book:
        arena = ArenaHost(
            played,
            limits=limits,
            timeout=timeout,
            concurrent=concurrent,
            seed=seed,
            address=address,
            port=port,
            access_token=access_token,
            log=book,
        )
        results = until_done(_tournament(arena, ours, theirs, coming, rounds, console))
    lines = standings(results)
    if as_json:
        print(json.dumps({"game": played.id, "options": dict(played.options), "standings": list(map(asdict, lines))}))
    else:
        console.print(_table(lines, f"{played.id}: {len(results)} matches"))


def _check_port(port: int) -> None:
    if not 0 <= port < 2**16:
        raise ValueError(f"port={port}: ports are 0 to {2**16 - 1}")


def _game(name: str, options: Sequence[str], seats: int | None, coming: int) -> Game:
    """Return the game; one that by itself has more seats than agents come gets as many as come."""
    if seats is not None:
        return game_with(name, options, seats=seats)
    game = game_with(name, options)
    if 2 <= coming < game.seats and not any(option.startswith("seats=") for option in options):
        return game_with(name, options, seats=coming)
    return game


def _seated(specs: Sequence[str], game: Game, seed: int | None) -> list[ArenaAgent]:
    """Return the agents that `specs` name; each has a name of its own that is no word of the game."""
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
) -> list[ArenaResult]:
    async with arena:
        console.print(f"arena for {arena.game.id} at {arena.url}")
        for one in ours:
            arena.add(one)
        for name, endpoint in theirs:
            arena.add_remote(name, endpoint)
        if coming > len(arena.agent_ids):
            console.print(f"waiting for {coming - len(arena.agent_ids)} agents: POST {arena.url}/api/register")
            await arena.wait_for(coming)
        return await arena.tournament(rounds)


def _table(lines: Sequence[Standing], title: str) -> Table:
    """Return the standings as a table for people."""
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


def deploy(
    run: tyro.conf.Positional[str],
    *,
    game: str | None = None,
    seats: int | None = None,
    options: tuple[str, ...] = (),
    name: str | None = None,
    arena: str | None = None,
    endpoint: str | None = None,
    port: int = 8100,
    address: str = "127.0.0.1",
    deadline: float = 24.0,
    access_token: str | None = None,
    matches: int | None = None,
    seed: int | None = None,
    log: Path | None = None,
) -> None:
    """Serve a policy or a bot to TurnState arenas over HTTP: POST /act, /match_start, /match_end.

    Args:
        run: a run folder or its name below runs/, a saved policy, or a bot.
        game: its name; default: the run's.
        seats: of the game; default: the run's, or 2.
        options: the game's options as key=value; default: the run's.
        name: the agent's id; default: the run's or bot's.
        arena: where to register, http://…; default: nowhere, the arena is told by hand.
        endpoint: the URL under which the arena reaches us; default: where we listen.
        port: where to listen; 0 takes a free one.
        address: where to listen; 0.0.0.0 lets other machines in.
        deadline: seconds for a decision, then the safe action; arenas give 30.
        access_token: what the arena asks of those who register; default: the environment's PARLOUR_ACCESS_TOKEN.
        matches: end after so many; default: until Ctrl-C.
        seed: of the policy's own random stream.
        log: file to which every turn is added as JSON Lines.
    """
    _check_port(port)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    chosen = game_of(run, game, options, seats)
    player = ArenaAgent(name or Path(run).stem, agent(run, chosen, seed))
    token = access_token or os.environ.get("PARLOUR_ACCESS_TOKEN")
    with opened(log) as book:
        server = ArenaAgentServer(player, address=address, port=port, deadline=deadline, endpoint=endpoint, log=book)
        until_done(_serve(server, arena, token, matches, Console(highlight=False)))


async def _serve(
    server: ArenaAgentServer, arena: str | None, access_token: str | None, matches: int | None, console: Console
) -> None:
    try:
        async with server:
            console.print(f"{server.agent.agent_id} answers at {server.endpoint}; Ctrl-C ends it", markup=False)
            if arena is not None:
                await server.register(arena, access_token)
                console.print(f"registered at {arena}", markup=False)
            await server.played(matches)
    finally:
        console.print(
            f"{server.matches} matches, {server.turns} turns, "
            f"{server.agent.statistics.replaced} replaced by the safe action"
        )
