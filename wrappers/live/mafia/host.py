"""Our host: matches of mafia between agents in this process and elsewhere, with deadlines, a log and events."""

import asyncio
import contextlib
import logging
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from typing import Any

import aiohttp
import msgspec
import numpy as np
from msgspec import UNSET
from yarl import URL

from ....envs.core.game import Game
from ....envs.core.turn_state import AgentResponse
from ...logs.match_log import MatchLog, SafeMatchLog
from ...logs.match_log import escaped as shown
from ..common.client import Backoff, LiveError, http_client, next_message, open_websocket, retry
from ..common.clock import Deadline
from .agent_policy import AgentPolicy, Apart, MafiaLimits, ask, called, model_calls, replacement
from .host_session import DueCall, Fault, MafiaHostSession, MafiaResult, Step
from .messages import (
    AgentConfig,
    Cancel,
    Event,
    GameState,
    Method,
    NightAction,
    PrivateInfo,
    PublicInfo,
    Reply,
    VoteAction,
    encode,
    read,
)
from .session import MESSAGE_LIMIT

logger = logging.getLogger(__name__)

_IN_WORDS = {
    "think": "thought",
    "say": "statement",
    "nightAction": "choice",
    "NIGHT_ACTIONS": "night",
    "DAY_DISCUSSION": "day",
    "DAY_VOTING": "day",
}
"""Methods and phases, as people call them."""

Note = Callable[..., None]
"""Writes a line of a match log: its kind and its fields (`MatchLog.write`)."""


class HostedMatch:
    """A match of mafia between `AgentPolicy` objects.

    Foreign agents run in threads of their own, with copies of the arguments.

    Args:
        game: mafia, with as many seats as there are agents.
        agents: the players, seat by seat.
        game_id: the id of the match.
        seed: the seed of the roles and of random targets; None: fresh entropy.
        limits: the limits of the agents' answers.
        note: called with the lines of the match's log, which `parlour.wrappers.logs.match_log.replay` plays again.
        on_event: called with every event.

    Raises:
        ValueError: if there are not as many agents as seats, or ids or names are not all different and printable.
    """

    def __init__(
        self,
        game: Game,
        agents: Sequence[AgentPolicy],
        *,
        game_id: str,
        seed: int | None = None,
        limits: MafiaLimits | None = None,
        note: Note = lambda kind, **fields: None,
        on_event: Callable[[Event], None] = lambda event: None,
    ) -> None:
        players = [(agent.id, agent.name) for agent in agents]
        self.session = MafiaHostSession(game, players, game_id=game_id, seed=seed, limits=limits)
        self.agents = list(agents)
        self._names = dict(players)
        self._note = note
        self._on_event = on_event
        self._called: list[Any] = []

    async def play(self) -> MafiaResult:
        """Play the match to its end."""
        session, match = self.session, self.session.match
        agents = [
            {"id": agent_id, "name": name, **_config(agent)}
            for (agent_id, name), agent in zip(self._names.items(), self.agents, strict=True)
        ]
        about = {"game": match.game.id, "options": match.game.options, "seed": session.seed}
        self._note("match", **about, match_id=session.game_id, agents=agents)
        self._called = [called(agent) for agent in self.agents]
        try:
            async with asyncio.TaskGroup() as group:
                self._group = group
                self._begin(session.begin())
        finally:
            for agent in self._called:
                if isinstance(agent, Apart):
                    agent.stop()
        if session.result is None:
            raise RuntimeError("no call is due, and the match is not over")
        self._note("end", outcome=match.turn_state(match.game.agents[0]).outcome)
        return session.result

    def _begin(self, step: Step) -> None:
        """Report a step, and begin its calls."""
        self._report(step)
        for call in step.calls:
            self._group.create_task(self._make(call))

    async def _make(self, call: DueCall) -> None:
        """Make a call, log the calls of language models in it, and go on with what follows."""
        round_number = int(self.session.match.table.round_number)
        step, agent = await self._ask(call), self.agents[call.seat]
        for one in model_calls(agent):
            self._note("model", agent_id=agent.id, method=call.method, round=round_number, **one)
        self._begin(step)

    async def _ask(self, call: DueCall) -> Step:
        """Make a call, and report its answer or failure to the session."""
        session, number, agent = self.session, call.number, self.agents[call.seat]
        last: Step | None = None

        async def take(chunk: Any) -> bool:
            nonlocal last
            if (problem := replacement(agent)) is not None:
                self._report(session.replaced(number, problem))
            step = session.chunk(number, chunk)
            if session.running(number):
                self._report(step)
                return True
            last = step
            return False

        arguments, deadline, role = session.arguments(number), Deadline.after(call.seconds), session.roles[call.seat]
        try:
            answer = await ask(self._called[call.seat], call.method, arguments, role=role, deadline=deadline, take=take)
        except TimeoutError:
            what = "cut off after" if call.characters else "no answer within"
            step = session.failed(number, f"{what} {call.seconds:g} s")
        except RuntimeError as error:
            step = session.failed(number, str(error))
        else:
            if (problem := replacement(agent)) is not None:
                self._report(session.replaced(number, problem))
            step = session.answered(number, answer)
        return last or step

    def _report(self, step: Step) -> None:
        for one in step.happened:
            if isinstance(one, Event):
                self._note("event", event=one)
                try:
                    self._on_event(one)
                except Exception:  # whatever it is, the match goes on
                    logger.exception("%s: who watches failed at %s", one.game_id, one.event_type)
            elif isinstance(one, Fault):
                self._warn(one)
                self._note("fault", **msgspec.to_builtins(one))
            else:
                replaced = {} if one.replaced is None else {"replaced": one.replaced}
                self._note("turn", agent=one.agent, response=AgentResponse(one.action), **replaced)

    def _warn(self, fault: Fault) -> None:
        """Log a fault as the talk of the match has it."""
        when, what = _IN_WORDS[fault.phase], _IN_WORDS.get(fault.method, fault.method)
        instead = f" ({fault.instead})" if fault.instead else ""
        who, problem = self._names[fault.agent_id], shown(fault.problem)
        where = f"{self.session.game_id}, {when} {fault.round_number}"
        logger.warning("%s, %s of %s: %s%s", where, what, who, problem, instead)


def _config(agent: AgentPolicy) -> dict[str, AgentConfig]:
    """Return an agent's config for the log; a config of another type is left out, as it may hold secrets."""
    config = getattr(agent, "config", None)
    return {"config": config} if type(config) is AgentConfig else {}


class MafiaHost:
    """Plays matches, any number of them side by side.

    >>> result = await MafiaHost(game).play(agents)      # doctest: +SKIP

    Args:
        game: mafia, with its options.
        limits: the limits of the agents' answers.
        seed: the seed from which each match gets its own; None: fresh entropy.
        log: the log of all matches, each of which is written when it is over, and can be replayed.
        on_event: called with every event.

    Attributes:
        over: the number of ended matches.
    """

    def __init__(
        self,
        game: Game,
        *,
        limits: MafiaLimits | None = None,
        seed: int | None = None,
        log: MatchLog | None = None,
        on_event: Callable[[Event], None] = lambda event: None,
    ) -> None:
        if game.name != "mafia":
            raise ValueError(f"{game.id} is not mafia")
        self.game = game
        self.over = 0
        self._limits = limits
        self._seeds = np.random.SeedSequence(seed)
        self._log = SafeMatchLog(log)
        self._on_event = on_event
        self._count = 0
        self._name = secrets.token_hex(4)  # ids differ from host to host

    async def play(self, agents: Sequence[AgentPolicy], seed: int | None = None) -> MafiaResult:
        """Play one match and return the result.

        Args:
            agents: the players, seat by seat.
            seed: the seed of the match; None: the next one of the host.

        Raises:
            ValueError: see `HostedMatch`.
        """
        if seed is None:
            (own,) = self._seeds.spawn(1)
            seed = int(own.generate_state(1, np.uint64)[0] >> np.uint64(1))
        self._count += 1
        lines: list[tuple[str, dict[str, Any]]] = []  # together, whatever is played beside it

        def note(kind: str, **fields: Any) -> None:
            lines.append((kind, fields))

        game_id, watch = f"{self._name}-{self._count}", self._on_event
        match = HostedMatch(
            self.game, agents, game_id=game_id, seed=seed, limits=self._limits, note=note, on_event=watch
        )
        try:
            result = await match.play()
        finally:
            for kind, fields in lines:
                self._log.write(kind, **fields)
        self.over += 1
        return result


# Agents elsewhere.

CONNECT_SECONDS = 10.0
"""Seconds for a handshake."""
RETRY_SECONDS = 0.25
"""Seconds between the first and the second try to reconnect; each further wait is longer by as much."""
TRIES = 4
"""Tries to reconnect for one call. A service that was never reached is tried once per call."""
COMPLAINTS = 100
"""Number of unreadable messages and errors after which the connection is closed until the next call."""
WAITING = 10_000
"""Most parts of an answer in its queue. If a service sends more, the call fails."""


class ServiceConnection:
    """A WebSocket to a service for any number of agents. It connects at the first call, and again after a loss.

    Args:
        url: the URL of the service, such as ``ws://127.0.0.1:3010``.
        access_token: the access token of the service; None: it has none.

    Raises:
        ValueError: if `url` is not a WebSocket URL.
    """

    def __init__(self, url: str, access_token: str | None = None) -> None:
        address = URL(url)
        if address.scheme not in ("ws", "wss") or not address.host:
            raise ValueError(f"{url!r} is no address of agents: give ws://… or wss://…")
        self.url = url
        self._address = address.update_query(client=secrets.token_hex(16))  # the service keeps our agents by it
        self._headers = {} if access_token is None else {"Authorization": f"Bearer {access_token}"}
        self._calls = 0
        self._inboxes: dict[Any, asyncio.Queue[Reply]] = {}  # of the running calls
        self._http: aiohttp.ClientSession | None = None
        self._socket: aiohttp.ClientWebSocketResponse | None = None
        self._reader: asyncio.Task[None] | None = None
        self._opening = asyncio.Lock()
        self._backoff = Backoff(RETRY_SECONDS, TRIES, first_tries=1)

    async def call(
        self, method: Method, agent_id: str, context: GameState, info: PrivateInfo | PublicInfo
    ) -> AsyncGenerator[Reply, None]:
        """Forward a call and yield the parts of its answer; the last one is the end.

        Raises:
            ConnectionError: if the service cannot be reached, is lost, or answers with an error.
        """
        socket = await self._open()
        self._calls = call = self._calls + 1
        inbox: asyncio.Queue[Reply] = asyncio.Queue(WAITING)
        self._inboxes[call] = inbox
        message = {"id": call, "method": method, "context": context, "info": info, "agent": agent_id}
        try:
            await socket.send_str(encode(message).decode())
            while True:
                part = await inbox.get()
                if part.error is not UNSET:
                    raise ConnectionError(part.error)
                yield part
                if part.ends:
                    return
        finally:
            if self._inboxes.pop(call, None) is not None and not socket.closed:  # it is given up
                with contextlib.suppress(ConnectionError):
                    await socket.send_str(encode(Cancel(id=call)).decode())

    async def close(self) -> None:
        """Close the connection and the client."""
        if self._socket is not None:
            await self._socket.close()
        await self._read_out()
        if self._http is not None:
            await self._http.close()
            self._http = None

    async def _open(self) -> aiohttp.ClientWebSocketResponse:
        """Return the open socket; concurrent calls share one reconnection."""
        async with self._opening:
            if self._socket is not None and not self._socket.closed:
                return self._socket
            await self._read_out()
            try:
                self._socket = await retry(self._connect, self._backoff)
            except LiveError as error:
                raise ConnectionError(f"cannot reach {self.url}: {error}") from None
            self._backoff.succeeded()
            self._reader = asyncio.create_task(self._read(self._socket))
            return self._socket

    async def _read_out(self) -> None:
        """Wait for the reader's end. Who gives up does not end the reader, for which others wait too."""
        if self._reader is not None:
            await asyncio.wait([self._reader])

    async def _connect(self) -> aiohttp.ClientWebSocketResponse:
        """Return a new connection.

        Raises:
            LiveError: if the service refuses, which is not tried again.
            aiohttp.ClientError, OSError, TimeoutError: if it does not answer.
        """
        if self._http is None:
            self._http = http_client(self._headers)
        try:
            return await open_websocket(self._http, self._address, most_bytes=MESSAGE_LIMIT, seconds=CONNECT_SECONDS)
        except aiohttp.WSServerHandshakeError as error:
            if 400 <= error.status < 500:
                raise LiveError("REFUSED", f"HTTP {error.status}") from None
            raise

    async def _read(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        """Put the parts of answers into the queues of their calls. On disconnect: fail all running calls."""
        complaints = 0
        while (data := await next_message(socket)) is not None:
            try:
                part = read(data, Reply)
            except ValueError as error:
                part = Reply(id=None, error=f"unreadable: {error}")
            if part.id is not None:
                self._put(part)
                continue
            complaints += 1
            logger.warning("%s: %s", self.url, shown(str(part.error)))
            if complaints == COMPLAINTS:
                logger.warning("%s: closing the connection after %d such messages", self.url, COMPLAINTS)
                await socket.close()
        for call in list(self._inboxes):
            self._put(Reply(id=call, error="the connection was lost"))

    def _put(self, part: Reply) -> None:
        """Put a part of an answer into the queue of its call, if that is running."""
        inbox = self._inboxes.pop(part.id, None) if part.ends else self._inboxes.get(part.id)
        if inbox is None or not (part.ends or part.chunk):
            return
        if inbox.full():
            inbox.get_nowait()
            part = Reply(id=part.id, error="too many chunks at once")
        inbox.put_nowait(part)


class RemoteAgent:
    """An `AgentPolicy` that forwards every call to a service.

    Args:
        id, name: the player's id and name.
        connection: the connection to the service, which agents may share.
    """

    blocks = False

    def __init__(self, id: str, name: str, connection: ServiceConnection) -> None:
        self.id = id
        self.name = name
        self.role: str | None = None
        self.config = AgentConfig(type="scripted")
        self.connection = connection

    def think(self, context: GameState, private_info: PrivateInfo) -> AsyncIterator[str]:
        """See `AgentPolicy`."""
        return self._stream("think", context, private_info)

    def say(self, context: GameState, public_info: PublicInfo) -> AsyncIterator[str]:
        """See `AgentPolicy`."""
        return self._stream("say", context, public_info)

    async def night_action(self, context: GameState, private_info: PrivateInfo) -> NightAction | None:
        """See `AgentPolicy`; raises ValueError for an unreadable answer."""
        result = await self._result("nightAction", context, private_info)
        return None if result is None else read(result, NightAction)

    async def vote(self, context: GameState, public_info: PublicInfo) -> VoteAction:
        """See `AgentPolicy`; raises ValueError for an unreadable answer."""
        return read(await self._result("vote", context, public_info), VoteAction)

    async def _stream(self, method: Method, context: GameState, info: PrivateInfo | PublicInfo) -> AsyncIterator[str]:
        async with contextlib.aclosing(self.connection.call(method, self.id, context, info)) as parts:
            async for part in parts:
                if part.chunk is not UNSET:
                    yield part.chunk

    async def _result(self, method: Method, context: GameState, info: PrivateInfo | PublicInfo) -> Any:
        async with contextlib.aclosing(self.connection.call(method, self.id, context, info)) as parts:
            results = [part.result async for part in parts if part.ends]
        return None if results[0] is UNSET else results[0]
