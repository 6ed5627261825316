"""`parlour host mafia` and `parlour deploy mafia`: matches of `AgentPolicy` agents, and our agents for other hosts."""

import asyncio
import logging
import os
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import tyro
from rich.console import Console

from ...envs import Game
from ...envs.core.options import did_you_mean
from ...envs.mafia.bots import PERSONALITIES
from ...wrappers.agents.base import printable
from ...wrappers.agents.language_model import Model
from ...wrappers.live.common.worker import Worker
from ...wrappers.live.mafia import agent as service
from ...wrappers.live.mafia import host as hosting
from ...wrappers.live.mafia.agent_policy import AgentPolicy
from ...wrappers.live.mafia.host_session import MafiaResult
from ...wrappers.live.mafia.limits import MafiaLimits
from ...wrappers.live.mafia.llm_agent import MafiaLLMAgent
from ...wrappers.live.mafia.messages import AgentConfig, Event, Personality, ScriptedConfig
from ...wrappers.live.mafia.policy_agent import MafiaPolicyAgent
from ...wrappers.live.mafia.scripted_agent import MafiaScriptedAgent
from ...wrappers.live.mafia.service_client import RemoteAgent, ServiceConnection
from ...wrappers.logs.match_log import opened
from ...wrappers.policies.loading import load_run
from .arguments import LLM, RUNS, game_with, language_model, needed, player
from .stopping import until_done

logger = logging.getLogger(__name__)

NAMES = [
    "Alice",
    "Bob",
    "Carol",
    "Dave",
    "Erin",
    "Frank",
    "Grace",
    "Heidi",
    "Ivan",
    "Judy",
    "Kim",
    "Leo",
    "Mallory",
    "Niaj",
    "Olivia",
    "Peggy",
    "Rupert",
    "Sybil",
    "Trent",
    "Victor",
]
"""What our agents are called, seat by seat."""

Make = Callable[[str, str], AgentPolicy]


def host(
    *,
    agents: tuple[str, ...] = PERSONALITIES,
    remote: tuple[str, ...] = (),
    players: int | None = None,
    matches: int = 1,
    options: tuple[str, ...] = (),
    model: str | None = None,
    llm_url: str | None = None,
    timeout: float = 30.0,
    port: int = hosting.PORT,
    address: str = "127.0.0.1",
    admin_token: str | None = None,
    access_token: str | None = None,
    seed: int | None = None,
    wait: int = 0,
    log: Path | None = None,
    quiet: bool = False,
) -> None:
    """Play mafia between agents, and show it to observers over WebSocket.

    Args:
        agents: personalities (aggressive, cautious, analytical, social), runs, policy files, bots, or llm; they fill
            the seats that remote agents leave, again and again from the first.
        remote: services of agents, ws://…; each plays one seat for every time it is named.
        players: 5 to 20; default: 10, or as many as the options say.
        matches: how many, one after another.
        options: the game's options as key=value.
        model: the language model that llm stands for.
        llm_url: its endpoint, such as http://127.0.0.1:8080/v1; default: the environment's OPENAI_BASE_URL.
        timeout: seconds for a stream, an action or a vote.
        port: where observers connect; 0 takes a free one.
        address: where to listen; 0.0.0.0 lets other machines in.
        admin_token: what admins must bear; default: the environment's PARLOUR_ADMIN_TOKEN, else one is made up.
        access_token: what the remote services ask of their clients; default: the environment's PARLOUR_ACCESS_TOKEN.
        seed: of everything that is dealt and drawn; default: other matches every time.
        wait: seconds before the first match, for observers to come.
        log: file to which every match is added as JSON Lines.
        quiet: print results only, no statements.
    """
    _check_port(port)
    if matches < 1 or wait < 0:
        raise ValueError(f"matches={matches}, wait={wait}: need at least 1 match, and seconds from 0 up")
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(message)s")
    game = game_with("mafia", options, seats=players)
    if len(remote) > game.seats or (not agents and len(remote) < game.seats):
        raise ValueError(f"{len(remote)} remote agents and {len(agents)} of ours for {game.seats} seats")
    llm = language_model(model, llm_url)
    makes = [
        _maker(spec, game, llm, None if seed is None else seed + 1 + i, game.seats) for i, spec in enumerate(agents)
    ]
    console = Console(highlight=False)
    limits = MafiaLimits(think=timeout, say=timeout, act=timeout)
    token = admin_token or os.environ.get("PARLOUR_ADMIN_TOKEN") or None
    with opened(log) as book:
        server = hosting.MafiaHost(
            game,
            limits=limits,
            seed=seed,
            address=address,
            port=port,
            admin_token=token,
            log=book,
            on_event=None if quiet else _Teller(console),
        )
        connections = [ServiceConnection(url, access_token or os.environ.get("PARLOUR_ACCESS_TOKEN")) for url in remote]
        until_done(_play(server, makes, connections, matches, wait, console, token is None))


async def _play(
    server: hosting.MafiaHost,
    makes: Sequence[Make],
    connections: Sequence[ServiceConnection],
    matches: int,
    wait: int,
    console: Console,
    show_token: bool,
) -> None:
    wins: Counter[str | None] = Counter()
    async with server:
        where = server.url.replace("http", "ws", 1)
        console.print(f"observers: {where}/observe", markup=False)
        if show_token:
            console.print(f"admins: {where}/observe?view=admin&token={server.admin_token}", markup=False)
        await asyncio.sleep(wait)
        try:
            for _ in range(matches):
                agents: list[AgentPolicy] = []
                for seat in range(server.game.seats):
                    agent_id, name = f"p{seat + 1}", NAMES[seat]
                    if seat < len(connections):
                        agents.append(RemoteAgent(agent_id, name, connections[seat]))
                    else:
                        agents.append(makes[(seat - len(connections)) % len(makes)](agent_id, name))
                result = await server.play(agents)
                wins[result.winner] += 1
                console.print(_told(result), markup=False, soft_wrap=True)
        finally:
            await asyncio.gather(*(connection.close() for connection in connections))
    if matches > 1:
        counts = f"town {wins['town']}, mafia {wins['mafia']}, nobody {wins[None]}"
        console.print(f"{matches} matches: {counts}", markup=False)


def _told(result: MafiaResult) -> str:
    won = f"{result.winner} wins" if result.winner else "nobody wins"
    roles = ", ".join(f"{agent} {role}" for agent, role in result.roles.items() if role != "villager")
    return f"{result.game_id}: {won} after {result.rounds} rounds ({roles}); {len(result.faults)} faults"


class _Teller:
    """Prints what the public hears, statement by statement."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._names: dict[str, str] = {}
        self._said = ""

    def __call__(self, event: Event) -> None:
        line = self._line(event.event_type, event.payload)
        if line:
            self._console.print(line, markup=False, soft_wrap=True)

    def _line(self, kind: str, payload: dict[str, Any]) -> str:
        if kind == "GAME_CREATED":
            self._names = {player["id"]: player["name"] for player in payload["players"]}
        elif kind == "NIGHT_RESOLVED" and payload["killed"] is None:
            return "  nobody was killed: the doctor was there"
        elif kind == "VOTE_RESULT" and payload["eliminatedPlayerId"] is None:
            return "  nobody is voted out"
        elif kind == "PHASE_CHANGED" and payload["to"] in ("NIGHT_ACTIONS", "DAY_DISCUSSION"):
            return f"\n— {payload['to']} {payload['roundNumber']}"
        elif kind == "AGENT_SAY_STREAM":
            self._said += payload["chunk"]
            if not payload["chunk"]:
                said, self._said = self._said, ""
                return f"{payload['agentName']}: {printable(said) or '…'}"
        elif kind == "PLAYER_ELIMINATED":
            how = "is voted out" if payload["eliminatedBy"] == "vote" else "was killed"
            return f"  {self._names[payload['playerId']]} {how}: {payload['role']}"
        return ""


def deploy(
    run: tyro.conf.Positional[str],
    *,
    model: str | None = None,
    llm_url: str | None = None,
    players: int | None = None,
    port: int = service.PORT,
    address: str = "127.0.0.1",
    deadline: float = 25.0,
    access_token: str | None = None,
    seed: int | None = None,
    log: Path | None = None,
) -> None:
    """Serve agents to hosts of `AgentPolicy` over WebSocket, until Ctrl-C.

    Args:
        run: a run folder or its name below runs/, a saved policy, a bot, a personality (aggressive, cautious,
            analytical, social), or llm.
        model: the language model that llm stands for.
        llm_url: its endpoint, such as http://127.0.0.1:8080/v1; default: the environment's OPENAI_BASE_URL.
        players: of the game that a policy file was trained for; default: 10. Runs and personalities know theirs.
        port: where to listen; 0 takes a free one.
        address: where to listen; 0.0.0.0 lets other machines in.
        deadline: seconds for a call; then a stream is cut off, and a choice is made in the agent's place.
        access_token: what clients must bear; default: the environment's PARLOUR_ACCESS_TOKEN, else everybody is let in.
        seed: of the agents' choices and words.
        log: file to which every turn is added as JSON Lines.
    """
    _check_port(port)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    game = game_with("mafia", seats=players)
    make = _maker(run, game, language_model(model, llm_url), seed)
    with opened(log) as book:
        server = service.MafiaAgentServer(
            make,
            address=address,
            port=port,
            deadline=deadline,
            access_token=access_token or os.environ.get("PARLOUR_ACCESS_TOKEN"),
            seed=seed,
            log=book,
        )
        until_done(_serve(server, run, Console(highlight=False)))


async def _serve(server: service.MafiaAgentServer, run: str, console: Console) -> None:
    async with server:
        console.print(f"{run} plays mafia at {server.url}; Ctrl-C ends it", markup=False)
        try:
            await asyncio.Event().wait()
        finally:
            console.print(f"{server.calls} calls, {server.replaced} answers replaced or cut off", markup=False)


def _maker(spec: str, game: Game, model: Model | None, seed: int | None, seats: int | None = None) -> Make:
    """Return what makes an agent as `spec` names it, each with a seed of its own. Saved policies run in a thread.

    `seats` are those of the match, where it is known: a run that was trained for another number is told.

    Raises:
        ValueError: if there is none.
    """
    made = iter(range(2**63))

    def own() -> int | None:
        number = next(made)
        return None if seed is None else seed * 1_000_003 + number

    if spec in PERSONALITIES:
        personality: Personality = spec  # type: ignore[assignment]
        config = AgentConfig(type="scripted", scripted_config=ScriptedConfig(personality=personality))
        return lambda agent_id, name: MafiaScriptedAgent(agent_id, name, config, seed=own())
    if spec == LLM:
        chosen = needed(model)
        MafiaLLMAgent("p1", "Alice", chosen)  # what is missing is told at once
        return lambda agent_id, name: MafiaLLMAgent(agent_id, name, chosen, seed=own())
    folder = Path(spec) if Path(spec).is_dir() else RUNS / spec
    if folder.is_dir():
        trained, policy = load_run(folder, seed=seed)
        if trained.name != "mafia":
            raise ValueError(f"{spec} plays {trained.name}, not mafia")
        if seats not in (None, trained.seats):
            logger.warning("%s was trained for %d players: a bot plays for it among %d", spec, trained.seats, seats)
        worker = Worker(spec)
        return lambda agent_id, name: MafiaPolicyAgent(agent_id, name, trained, policy, seed=own(), worker=worker)
    if spec != "random" and spec not in game.bots and not Path(spec).exists() and not Path(spec + ".zip").exists():
        names = sorted({*PERSONALITIES, LLM, "random", *game.bots})
        raise ValueError(f"{spec!r} is neither an agent nor a file or run folder; {did_you_mean(spec, names)}")
    policy = player(spec, game, seed)
    own_worker = None if spec == "random" or spec in game.bots else Worker(spec)
    return lambda agent_id, name: MafiaPolicyAgent(agent_id, name, game, policy, seed=own(), worker=own_worker)


def _check_port(port: int) -> None:
    if not 0 <= port < 2**16:
        raise ValueError(f"port={port}: ports are 0 to {2**16 - 1}")
