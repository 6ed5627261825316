"""`parlour host mafia`: hosts mafia matches."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ....envs.core.counted import counted
from ....envs.mafia.bots import PERSONALITIES
from ....wrappers.agents.base import printable
from ....wrappers.live.common.activity import Activity
from ....wrappers.live.mafia.agent_policy import AgentPolicy
from ....wrappers.live.mafia.host import MafiaHost
from ....wrappers.live.mafia.limits import MafiaLimits
from ....wrappers.live.mafia.llm_agent import load_prompts
from ....wrappers.live.mafia.messages import Event
from ....wrappers.live.mafia.service_client import RemoteAgent, ServiceConnection
from ...terminal.console import Console
from ..arguments import AccessArguments, LiveArguments, ModelArguments, SessionArguments
from ..lookup import game_with
from ..mafia_agents import MakeAgent, maker
from ..mafia_summary import MatchSummary
from ..supervisor import Supervisor

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
"""The names of our agents, seat by seat."""


@dataclass(frozen=True, kw_only=True)
class MatchesArguments:
    """The matches."""

    matches: int = 1
    """Number of matches."""
    parallel: int = 1
    """Number of matches played at the same time. With more than one, only results are printed."""

    def __post_init__(self) -> None:
        """Check the values."""
        if min(self.matches, self.parallel) < 1:
            given = f"matches={self.matches}, parallel={self.parallel}"
            raise ValueError(f"{given}: need at least 1 match, at least 1 at once")


def command(
    *,
    agents: tuple[str, ...] = PERSONALITIES,
    remote: tuple[str, ...] = (),
    players: int | None = None,
    schedule: MatchesArguments,
    options: tuple[str, ...] = (),
    language_model: ModelArguments,
    timeout: float = 30.0,
    access: AccessArguments,
    session: SessionArguments,
    live: LiveArguments,
    quiet: bool = False,
) -> None:
    """Play mafia matches between agents.

    Args:
        agents: Personalities (aggressive, cautious, analytical, social), runs, policy files, bots, llm (the language
            model of --model, with one persona after another), or llm:PERSONA. They fill the seats without remote
            agents, in a cycle.
        remote: URLs of agent services, ws://…; a URL given twice plays two seats.
        players: Number of players, 5 to 20. Default: 10, or that of the options.
        options: The game's options as name=value.
        timeout: Seconds for a stream, an action or a vote.
        quiet: Print only results, no statements.
    """
    game = game_with("mafia", options, seats=players)
    if len(remote) > game.seats or (not agents and len(remote) < game.seats):
        raise ValueError(f"{counted(len(remote), 'remote agents')} and {len(agents)} of ours for {game.seats} seats")
    model, seed = language_model.language_model(agents, timeout), session.seed
    texts = load_prompts(language_model.prompts)
    makes = [
        maker(spec, game, model, None if seed is None else seed + 1 + i, game.seats, texts)
        for i, spec in enumerate(agents)
    ]
    console = Console()
    limits = MafiaLimits(think=timeout, say=timeout, act=timeout)
    summary = MatchSummary()
    with Supervisor(live, session, console) as supervisor:
        printer = _EventPrinter(console) if not quiet and schedule.parallel == 1 else lambda event: None
        host = MafiaHost(game, limits=limits, seed=seed, log=supervisor.log, on_event=printer)
        connections = [ServiceConnection(url, access.token) for url in remote]
        activity = Activity(
            counts=lambda: {"matches": host.over, "replaced": summary.faults},
            models=lambda: dict(sorted(summary.models.items())),
        )
        supervisor.run(_play(host, makes, connections, schedule, console, summary), activity)


async def _play(
    host: MafiaHost,
    makes: Sequence[MakeAgent],
    connections: Sequence[ServiceConnection],
    schedule: MatchesArguments,
    console: Console,
    summary: MatchSummary,
) -> None:
    """Play the matches."""
    left = iter(range(schedule.matches))

    async def play_some() -> None:
        for _ in left:
            agents = _seated(makes, connections, host.game.seats)
            summary.watch(agents)
            console.print(summary.add(await host.play(agents)), markup=False, soft_wrap=True)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(schedule.matches, schedule.parallel)):
                group.create_task(play_some())
    finally:
        await asyncio.gather(*(connection.close() for connection in connections))
        for line in summary.lines():
            console.print(line, markup=False, soft_wrap=True)


def _seated(makes: Sequence[MakeAgent], connections: Sequence[ServiceConnection], seats: int) -> list[AgentPolicy]:
    """Return the players of a match: first the remote ones, then ours."""
    agents: list[AgentPolicy] = []
    for seat, name in enumerate(NAMES[:seats]):
        if seat < len(connections):
            agents.append(RemoteAgent(f"p{seat + 1}", name, connections[seat]))
        else:
            agents.append(makes[(seat - len(connections)) % len(makes)](f"p{seat + 1}", name))
    return agents


class _EventPrinter:
    """Prints the public events, one per line."""

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
            return f"\n— {'Night' if payload['to'] == 'NIGHT_ACTIONS' else 'Day'} {payload['roundNumber']}"
        elif kind == "AGENT_SAY_STREAM":
            self._said += payload["chunk"]
            if not payload["chunk"]:
                said, self._said = self._said, ""
                by = f" ({payload['by']} in its place)" if "by" in payload else ""
                return f"{payload['agentName']}{by}: {printable(said) or '…'}"
        elif kind == "PLAYER_ELIMINATED":
            how = "is voted out" if payload["eliminatedBy"] == "vote" else "was killed"
            return f"  {self._names[payload['playerId']]} {how}: {payload['role']}"
        return ""
