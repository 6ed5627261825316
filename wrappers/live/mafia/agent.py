"""Our agents behind a WebSocket, for hosts elsewhere: an agent service.

`MafiaAgentSession` has the forwarding protocol without I/O. A caller sends ``{id, method, context, info}`` and gets
``{id, chunk}`` …, then ``{id, done: true, result?}`` or ``{id, error}``. Any number of calls may run at once on one
connection. Three things are our additions: ``agent`` is the id of the called agent, ``{id, cancel: true}`` cancels a
call, and an error with id null answers an unreadable one.

`MafiaAgents` has the agents: one player for the calls of all. If an agent raises, is late, streams without end or makes
an illegal choice, its answer is cut off or replaced by a legal target, an abstention or a plain sentence. The log has a
``turn`` for every night action, statement and vote, with its thought. Hosts do not report the end of a match to agents,
so ``ended`` is written when the service removes an agent.
"""

import contextlib
import random
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import msgspec
from aiohttp import WSCloseCode, web
from msgspec import Struct

from ....envs.core.options import seconds
from ....envs.core.turn_state import Action, AgentResponse, TurnState
from ....envs.mafia.table import DAYS, SEATS
from ...agents.base import thoughts
from ...logs.match_log import MatchLog, SafeMatchLog, describe_error, safe_thoughts
from ...logs.match_log import escaped as shown
from ..common.clock import Deadline
from ..common.connection import Connection, ConnectionLimits, Served
from ..common.limits import SILENT_SECONDS, lacks_token
from ..common.player import AgentStatistics, Codec, Over, Played, Player, Turn, run
from ..common.server import Server, ServerSettings, local_url
from . import messages as wire
from .agent_policy import (
    AgentPolicy,
    Apart,
    ChunkLimit,
    ask,
    beside,
    called,
    model_calls,
    night_targets,
    read_choice,
    replacement,
)
from .conversion import turn_state

CALLS = 64
"""Most calls at once on one connection."""
MESSAGE_LIMIT = 2**22
"""Most bytes of a message: enough for all statements of twenty players in twenty days."""
NAME = 200
"""Most characters of an id or name."""
STREAM_LIMIT = {"think": 20_000, "say": 4_000}
"""Most characters of a thought and of a statement; the rest is cut off."""
NOTHING_TO_SAY = "I have nothing to add for now."
"""The statement of an agent that says nothing: a statement has at least one sentence."""

CallId = int | str


@dataclass
class MafiaTurn(Turn):
    """A call of an agent: a stream, of which stands what was said by the deadline, or a choice.

    Attributes:
        agent_id: the agent.
        method: the method.
        context, info: its arguments.
        chance: draws the target in place of a missing one.
        send: called with the chunks of the stream.
        agent: what the service keeps of the agent; None: there is none.
        nobody: why there is no agent; None: there is one.
        replaced: why the answer is not the agent's own, or was cut off; None: it is.
        said: the chunks of the stream so far.
        choice: the choice that is played.
        seen: what the agent sees, for the log; None: the turn is not logged.
    """

    agent_id: str = field(kw_only=True)
    method: wire.Method = field(kw_only=True)
    context: wire.GameState = field(kw_only=True)
    info: wire.Info = field(kw_only=True)
    chance: random.Random = field(kw_only=True, default_factory=random.Random)
    send: Callable[[str], Awaitable[None]] | None = None
    agent: Any = None
    nobody: str | None = None
    replaced: str | None = None
    said: list[str] = field(default_factory=list)
    choice: wire.NightAction | wire.VoteAction | None = None
    seen: TurnState | None = None

    def __post_init__(self) -> None:
        """Prepare the limit of the stream."""
        self._limit = ChunkLimit(STREAM_LIMIT.get(self.method, 0))

    @property
    def moment(self) -> tuple[str, int]:
        """The phase and the round."""
        return self.context.phase, self.context.round_number

    async def take(self, chunk: Any) -> bool:
        """Pass on what is within the limits of the next chunk of the stream; return whether it may go on."""
        for part in self._limit.take(chunk):
            self.said.append(part)
            if self.send is not None:
                await self.send(part)
        if self._limit.error is not None:
            self.replaced = describe_error(self._limit.error)
        return self._limit.error is None

    def read(self, answer: Any) -> AgentResponse:
        """See `Turn`."""
        if self.method in STREAM_LIMIT:
            return self.safe()
        return self._chosen(read_choice(answer, self.agent_id, self.context, self.info))

    def safe(self) -> AgentResponse:
        """Return what was said, or a random legal target, or an abstention."""
        if self.method in STREAM_LIMIT:
            text = "".join(self.said)
            return AgentResponse(Action(self.method, {"text": NOTHING_TO_SAY if self.silent else text}))
        if not isinstance(self.info, wire.PrivateInfo):
            return self._chosen(wire.VoteAction(None))
        kind, targets = wire.NIGHT_ACTIONS.get(str(self.info.self.role)), night_targets(self.info)
        return self._chosen(wire.NightAction(kind, self.chance.choice(targets)) if kind and targets else None)

    @property
    def silent(self) -> bool:
        """Whether it is a statement of nothing."""
        return self.method == "say" and not "".join(self.said).strip()

    def _chosen(self, choice: wire.NightAction | wire.VoteAction | None) -> AgentResponse:
        self.choice = choice
        if choice is None:
            return AgentResponse(Action("pass"))
        kind = {"actionType": choice.action_type} if isinstance(choice, wire.NightAction) else {}
        return AgentResponse(Action(self.method, {**kind, "targetId": choice.target_id, **beside(choice)}))

    def settle(self, answer: Callable[[], Any]) -> tuple[AgentResponse, str | None]:
        """See `Turn`."""
        response, problem = super().settle(answer)
        return response, problem or self.replaced

    def logged(self) -> TurnState | None:
        """Return the state for the log; a thought is logged with the decision after it, and villagers sleep."""
        decides = self.method == "say" or self.choice is not None
        return self.seen if decides else None

    def ended(self) -> list[wire.Reply]:
        """Return the messages that end the call with what is played."""
        if self.nobody is not None:
            return [wire.Reply(id=self.id, error=f"there is no agent for {self.agent_id[:64]!r}")]
        if self.method not in STREAM_LIMIT:
            return [wire.Reply(id=self.id, done=True, result=self.choice)]
        return [
            *([wire.Reply(id=self.id, chunk=NOTHING_TO_SAY)] if self.silent else []),
            wire.Reply(id=self.id, done=True),
        ]


class _Id(Struct):
    id: CallId


class MafiaAgentSession(Codec):
    """The agents' end of one connection.

    Args:
        seconds: the time for a call; None: no limit.
        chance: draws targets in place of missing ones; None: a new stream.

    Attributes:
        known: whether a call has come.
    """

    name = "a client"

    def __init__(self, seconds: float | None = None, chance: random.Random | None = None) -> None:
        self._seconds, self._chance = seconds, chance or random.Random()
        self._running: dict[CallId, MafiaTurn] = {}
        self._selves: dict[str, None] = {}  # agents that got private information, the latest last
        self._silent_until: float | None = None
        self.known = False

    def receive(self, data: str | bytes) -> list[Any]:
        """Return the call of a message as a turn, or the error message to send; a cancelled call is over."""
        with contextlib.suppress(msgspec.MsgspecError, UnicodeError, RecursionError):
            self._running.pop(msgspec.json.decode(data, type=wire.Cancel).id, None)
            return []
        try:
            call = wire.read(data, wire.Call)
        except ValueError as error:
            return self.give_up(data=data, problem=f"no call: {error}; send {{id, method, context, info}}")
        if call.id in self._running:
            return [wire.Reply(id=None, error=f"a call with id {call.id!r} is still running: give each its own")]
        if len(self._running) >= CALLS:
            return [wire.Reply(id=call.id, error=f"{CALLS} calls are running on this connection: wait for one to end")]
        try:
            turn = self._turn(call)
        except ValueError as error:
            return [wire.Reply(id=call.id, error=str(error))]
        self._running[turn.id] = turn
        self.known = True
        return [turn]

    def waits(self, turn: Turn) -> bool:
        """See `Codec`."""
        return self._running.get(turn.id) is turn

    def reply(self, turn: Turn, played: Played) -> list[Any]:
        """See `Codec`."""
        assert isinstance(turn, MafiaTurn)
        if not self.waits(turn):
            return []
        del self._running[turn.id]
        return turn.ended()

    def give_up(self, turn: Turn | None = None, data: Any = None, problem: str = "an error of ours") -> list[Any]:
        """Return an error; of a message, with its id if there is one and it is not of a running call."""
        if turn is not None:
            self._running.pop(turn.id, None)
            return [wire.Reply(id=turn.id, error=problem)]
        try:
            call: CallId | None = wire.read(data, _Id).id
        except ValueError:
            call = None
        return [wire.Reply(id=None if call in self._running else call, error=_shown(problem))]

    def tick(self, now: float) -> list[Any]:
        """Close a connection on which no call has come."""
        if self._silent_until is None:
            self._silent_until = now + SILENT_SECONDS
        return [Over("no call has come")] if not self.known and now >= self._silent_until else []

    def _turn(self, call: wire.Call) -> MafiaTurn:
        kind: type[wire.Info] = wire.PublicInfo if call.method in ("say", "vote") else wire.PrivateInfo
        context = _argument("context", call.context, wire.GameState)
        info: wire.Info = _argument(f"info of {call.method}", call.info, kind)
        _check_size(context, info)
        agent = self._addressed(call, info)
        return MafiaTurn(
            TurnState(context.game_id, "mafia-v0", agent, context.phase, is_my_turn=True),
            id=call.id,
            seconds=self._seconds,
            table=call.id,
            name=f"{shown(context.game_id[:64])}, {call.method} of {shown(agent[:64])}",
            agent_id=agent,
            method=call.method,
            context=context,
            info=info,
            chance=self._chance,
        )

    def _addressed(self, call: wire.Call, info: wire.Info) -> str:
        """Return the agent of a call: `agent`, else the self of `info`, else the only agent on the connection.

        Raises:
            ValueError: if it is none of these, or two of them disagree.
        """
        if isinstance(info, wire.PrivateInfo):
            agent = info.self.id
            if call.agent not in (None, agent):
                raise ValueError(f"agent is {call.agent!r}, but info is {agent!r}'s")
            self._selves.pop(agent, None)
            self._selves[agent] = None
            if len(self._selves) > CALLS:
                del self._selves[next(iter(self._selves))]
            return agent
        if call.agent is not None:
            return call.agent
        if len(self._selves) != 1:
            agents = ", ".join(self._selves) or "none has thought yet"
            raise ValueError(f"which agent is to {call.method}? Name it in `agent` ({agents})")
        return next(iter(self._selves))


def _argument(what: str, data: Any, kind: type[wire.Wired]) -> wire.Wired:
    try:
        return wire.read(data, kind)
    except ValueError as error:
        raise ValueError(_shown(f"{what} is no {kind.__name__}: {error}")) from None


def _check_size(context: wire.GameState, info: wire.Info) -> None:
    """Check the numbers of players and results, because agents keep them.

    Raises:
        ValueError: if no match has as many, or an id or name is too long.
    """
    count = len(context.players)
    if count > SEATS:
        raise ValueError(f"context has {count} players; mafia is played by at most {SEATS}")
    names = [context.game_id, *(name for player in context.players for name in (player.id, player.name))]
    if isinstance(info, wire.PrivateInfo):
        knowledge = info.private_knowledge
        names += [info.game_state.game_id, info.self.id, info.self.name]
        crowds = len(knowledge.mafia_teammates or ()), len(knowledge.night_actions or ())
        if max(crowds) > SEATS or len(knowledge.investigation_results) > SEATS * DAYS:
            raise ValueError("privateKnowledge holds more than a match has")
    longest = max(names, key=len)
    if len(longest) > NAME:
        raise ValueError(f"an id or name has {len(longest)} characters; at most {NAME} are taken")


def _shown(text: str) -> str:
    return text.encode(errors="replace").decode()[:500]


AGENTS = 1_000
"""Most agents that are kept. The least recently used is removed first."""
CONNECTIONS = 256
"""WebSockets that may be open at once."""
LIMITS = ConnectionLimits(frame=MESSAGE_LIMIT, rate=1000.0, queue=1024, closing=1.0)
"""Limits of a connection. A stream waits if the client is slow."""

Key = tuple[str, str, str]
"""Client, match, agent. The client's name is secret, and not written."""


@dataclass
class ServedAgent:
    """An agent of the service, and the latest that is known of it."""

    policy: AgentPolicy
    called: Any  # the same, or `Apart`
    private: wire.PrivateInfo | None = None
    thought: str = ""
    moment: tuple[str, int] = ("", 0)  # phase and round of the thought
    winner: str | None = None


class MafiaAgents(Player):
    """The agents of a service, as one player of all their calls.

    Args:
        make: returns a new agent for an id and a name.
        log: the log of all decisions; None: no log.
    """

    def __init__(self, make: Callable[[str, str], AgentPolicy], log: MatchLog | None = None) -> None:
        super().__init__(None, log=SafeMatchLog(log))  # type: ignore[arg-type]
        self._make = make
        self.agents: dict[Key, ServedAgent] = {}  # the least recently used first

    def begin(self, client: str, turn: MafiaTurn) -> None:
        """Find the agent of a client's call, or make it, and tell it what it is told in private."""
        key = client, turn.context.game_id, turn.agent_id
        agent = self.agents.pop(key, None)
        if agent is None:
            name = next((player.name for player in turn.context.players if player.id == turn.agent_id), None)
            try:
                policy = self._make(turn.agent_id, name or turn.agent_id)
            except Exception as error:  # `make` may be the user's
                turn.problem = turn.nobody = f"there is no agent: {describe_error(error)}"
                return
            agent = ServedAgent(policy, called(policy))
            self.log.write("joined", match_id=key[1], agent_id=key[2], name=name)
        self.agents[key] = turn.agent = agent
        if len(self.agents) > AGENTS:
            self._remove(next(iter(self.agents)))
        agent.winner = turn.context.winner
        if isinstance(turn.info, wire.PrivateInfo):
            agent.private = turn.info.kept()
        if self.log:
            # What the agent sees, before it can change it; none for an agent that is none of the players, for example.
            with contextlib.suppress(ValueError, TypeError, LookupError):
                turn.seen = turn_state(turn.agent_id, turn.context, agent.private)

    async def ask(self, turn: Turn, deadline: Deadline | None = None) -> tuple[Any, dict[str, Any]]:
        """See `Player`. Several calls may run at once."""
        assert isinstance(turn, MafiaTurn)
        assert deadline is not None
        agent, info = turn.agent, turn.info
        role = info.self.role if isinstance(info, wire.PrivateInfo) else None
        shown = turn.context, info
        answer = await ask(agent.called, turn.method, shown, role=role, deadline=deadline, take=turn.take)
        turn.replaced = turn.replaced or replacement(agent.policy)
        return answer, safe_thoughts(lambda: thoughts(agent.policy)) if self.log else {}

    def record(self, turn: Turn, played: Played) -> None:
        """See `Player`. A thought is kept for the decision after it."""
        assert isinstance(turn, MafiaTurn)
        agent = turn.agent
        if agent is not None:
            where = {"match_id": turn.context.game_id, "agent_id": turn.agent_id, "method": turn.method}
            for call in model_calls(agent.policy):
                self.log.write("model", **where, round=turn.moment[1], **call)
            if turn.method == "think":
                cut = "" if played.problem is None else f" ({played.problem})"
                agent.thought, agent.moment = f"{''.join(turn.said)}{cut}", turn.moment
            else:
                turn.fields = {"think": agent.thought} if agent.thought and agent.moment == turn.moment else {}
                agent.thought = ""
        super().record(turn, played)

    def forget(self, client: str | None = None) -> None:
        """Remove the agents of a client, or (None) all."""
        for key in [key for key in self.agents if client in (None, key[0])]:
            self._remove(key)

    def _remove(self, key: Key) -> None:
        agent = self.agents.pop(key)
        if isinstance(agent.called, Apart):
            agent.called.stop()
        outcome = None if agent.winner is None else {"winner": agent.winner}
        self.log.write("ended", match_id=key[1], agent_id=key[2], outcome=outcome)


class MafiaAgentServer(Server):
    """Serves agents at ``ws://address:port/``. Use it as an async context manager, or call `start` and `stop`.

    An agent is created at its first call, one for each game, id and client. A client that connects with
    ``?client=SECRET`` gets the same agents after a lost connection; without it, they are removed on disconnect. One
    keeps its place from its first call, and is closed if none comes.

    Args:
        make: returns a new agent for an id and a name. One that may block runs in a thread of its own (see `called`).
        server: where it listens; clients send its access token (``Authorization: Bearer …``).
        deadline: seconds for a call; after them a stream is cut off, and a choice is replaced.
        seed: the seed of replaced choices; None: fresh entropy.
        log: the log of all decisions; None: no log.

    Attributes:
        url: the address where it listens, after the start.
    """

    def __init__(
        self,
        make: Callable[[str, str], AgentPolicy],
        *,
        server: ServerSettings | None = None,
        deadline: float = 25.0,
        seed: int | None = None,
        log: MatchLog | None = None,
    ) -> None:
        seconds("deadline", deadline)
        super().__init__(server, check_host=True, connection_limits=LIMITS, most_connections=CONNECTIONS)
        self._agents = MafiaAgents(make, log)
        self._deadline = deadline
        self._random = random.Random(seed)

    @property
    def statistics(self) -> AgentStatistics:
        """Counters and latencies of the calls."""
        return self._agents.statistics

    def routes(self) -> list[web.RouteDef]:
        """See `Server`."""
        return [web.get("/", self._connect), web.get("/health", self._health)]

    async def start(self) -> None:
        """See `Server`."""
        await super().start()
        self.url = local_url(self.url).replace("http", "ws", 1)

    async def stop(self) -> None:
        """See `Server`. Write the end of all running matches to the log."""
        await super().stop()
        self._agents.forget()
        self._agents.close()

    async def _health(self, request: web.Request) -> web.Response:
        return web.json_response({"ok": True, "connections": self.connections, "calls": self.statistics.decisions})

    async def _connect(self, request: web.Request) -> web.StreamResponse:
        if lacks_token(request, self.settings.access_token):
            needs = "connecting needs Authorization: Bearer <access token>"
            return web.json_response({"error": needs}, status=401)
        return await self.upgrade(request, partial(self._serve, request.query.get("client", "")))

    async def _serve(self, given: str, connection: Connection) -> None:
        """Answer a client until it disconnects, and remove its agents if it has no name."""
        client = given or secrets.token_hex(16)
        session = MafiaAgentSession(self._deadline, self._random)
        port = Served(connection, lambda message: wire.encode(message).decode())

        async def send(turn: MafiaTurn, text: str) -> None:
            if session.waits(turn):
                await port.send(wire.Reply(id=turn.id, chunk=text))
                await connection.room()

        def watch(event: Any) -> None:
            if isinstance(event, MafiaTurn):
                event.send = partial(send, event)
                self.keep(connection)  # it is a host
                self._agents.begin(client, event)

        try:
            await run(port, session, self._agents, watch)
            connection.close(WSCloseCode.POLICY_VIOLATION, b"no call has come")
        finally:
            if not given:
                self._agents.forget(client)
