"""`parlour host mafia`: hosts mafia matches, with observers."""

import asyncio
import logging
import os
from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich.console import Console

from ....envs.mafia.bots import PERSONALITIES
from ....wrappers.agents.base import printable
from ....wrappers.live.mafia import host as hosting
from ....wrappers.live.mafia.agent_policy import AgentPolicy
from ....wrappers.live.mafia.host_session import MafiaResult
from ....wrappers.live.mafia.limits import MafiaLimits
from ....wrappers.live.mafia.messages import Event
from ....wrappers.live.mafia.service_client import RemoteAgent, ServiceConnection
from ....wrappers.logs.match_log import opened
from ...stopping import until_done
from ..arguments import AccessArguments, AddressArguments, ModelArguments, SessionArguments
from ..lookup import game_with
from ..mafia_agents import MakeAgent, maker

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

PORT = AddressArguments(port=hosting.PORT)


def command(
    *,
    agents: tuple[str, ...] = PERSONALITIES,
    remote: tuple[str, ...] = (),
    players: int | None = None,
    matches: int = 1,
    options: tuple[str, ...] = (),
    language_model: ModelArguments,
    timeout: float = 30.0,
    listening: AddressArguments = PORT,
    admin_token: str | None = None,
    access: AccessArguments,
    session: SessionArguments,
    wait: int = 0,
    quiet: bool = False,
) -> None:
    """Play mafia matches between agents, and send the events to observers over WebSocket.

    Args:
        agents: Personalities (aggressive, cautious, analytical, social), runs, policy files, bots, or llm (the language
            model of --model). They fill the seats without remote agents, in a cycle.
        remote: URLs of agent services, ws://…; a URL given twice plays two seats.
        players: Number of players, 5 to 20. Default: 10, or that of the options.
        matches: Number of matches.
        options: The game's options as name=value.
        timeout: Seconds for a stream, an action or a vote.
        admin_token: Access token of admins. Default: the environment's PARLOUR_ADMIN_TOKEN, else a random one.
        wait: Seconds before the first match, so that observers can connect.
        quiet: Print only results, no statements.
    """
    if matches < 1 or wait < 0:
        raise ValueError(f"matches={matches}, wait={wait}: need at least 1 match, and seconds from 0 up")
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(message)s")
    game = game_with("mafia", options, seats=players)
    if len(remote) > game.seats or (not agents and len(remote) < game.seats):
        raise ValueError(f"{len(remote)} remote agents and {len(agents)} of ours for {game.seats} seats")
    model, seed = language_model.language_model(), session.seed
    makes = [
        maker(spec, game, model, None if seed is None else seed + 1 + i, game.seats) for i, spec in enumerate(agents)
    ]
    console = Console(highlight=False)
    limits = MafiaLimits(think=timeout, say=timeout, act=timeout)
    token = admin_token or os.environ.get("PARLOUR_ADMIN_TOKEN") or None
    with opened(session.log) as book:
        server = hosting.MafiaHost(
            game,
            limits=limits,
            seed=seed,
            address=listening.address,
            port=listening.port,
            admin_token=token,
            log=book,
            on_event=None if quiet else _EventPrinter(console),
        )
        connections = [ServiceConnection(url, access.token) for url in remote]
        until_done(_play(server, makes, connections, matches, wait, console, token is None))


async def _play(
    server: hosting.MafiaHost,
    makes: Sequence[MakeAgent],
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
                console.print(_summary(result), markup=False, soft_wrap=True)
        finally:
            await asyncio.gather(*(connection.close() for connection in connections))
    if matches > 1:
        counts = f"town {wins['town']}, mafia {wins['mafia']}, nobody {wins[None]}"
        console.print(f"{matches} matches: {counts}", markup=False)


def _summary(result: MafiaResult) -> str:
    won = f"{result.winner} wins" if result.winner else "nobody wins"
    roles = ", ".join(f"{agent} {role}" for agent, role in result.roles.items() if role != "villager")
    return f"{result.game_id}: {won} after {result.rounds} rounds ({roles}); {len(result.faults)} faults"


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
