"""Our agent at a live poker table: `PokerAgentSession` with its socket, its clock and its agent.

It registers and joins by REST, connects and reconnects, and answers every decision before its deadline. A decision that
is late, raises or cannot be played is replaced by the safe action (check, else fold). Tokens and keys are never logged.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import aiohttp
from yarl import URL

from ....envs.core.turn_state import Action, AgentResponse
from ...agents.base import Agent
from ...logs.match_log import opened
from ...logs.safe_match_log import SafeMatchLog
from ..common.agent_driver import AgentAnswer, AgentDriver
from ..common.agent_runner import AgentRunner
from ..common.reconnecting import (
    CONNECTION_ERRORS,
    Backoff,
    LiveError,
    TryAgain,
    describe_connection_error,
    open_websocket,
    retry,
)
from ..common.sessions import Decision
from . import messages
from .agent_session import (
    HandEnded,
    PokerAgentSession,
    PokerEvent,
    SeatTaken,
    ServerRefusal,
    TableEnded,
    UnreadableTurn,
)
from .seat_request import SeatRequest

FIRST_TRIES = 4
"""Tries after which a server that has never been reached is given up: its address may be wrong, and people wait."""
TURN_SECONDS = 30.0
"""Time for a turn where the server does not say it."""
REFUSED = {
    401: messages.UNAUTHORIZED,
    403: messages.UNAUTHORIZED,
    404: messages.TABLE_NOT_FOUND,
    410: messages.TABLE_ENDED,
}
"""HTTP statuses of a WebSocket handshake after which another try is of no use."""


@dataclass
class PokerResult:
    """What came of a stay at a table.

    Attributes:
        hands: that ended while the agent sat there.
        net: chips won since the first hand.
        actions: accepted by the server.
        rejected: rejected by the server.
        replaced: decisions that the safe action took the place of.
        reconnects: connections after the first.
        reason: why the stay ended: the server's word, ``closed``, or ``hands`` (as many as were asked for).
    """

    hands: int = 0
    net: int = 0
    actions: int = 0
    rejected: int = 0
    replaced: int = 0
    reconnects: int = 0
    reason: str = ""


async def play(
    address: str,
    agent: Agent,
    *,
    name: str | None = None,
    table: str | None = None,
    seat: int | None = None,
    api_key: str | None = None,
    access_token: str | None = None,
    hands: int | None = None,
    deadline: float | None = None,
    ping_every: float = 30.0,
    retry_after: float = 3.0,
    retries: int = 10,
    log: str | PathLike[str] | None = None,
    session: PokerAgentSession | None = None,
    on_event: Callable[[PokerEvent], None] | None = None,
) -> PokerResult:
    """Play at a table until it ends.

    Args:
        address: a ready ``ws://`` or ``wss://`` URL; or the REST base, ``http://`` or ``https://``, where the agent
            registers, joins and finds its URL by itself.
        agent: answers the turns; its `respond` runs in a thread of its own, one call at a time. Its `warm_up`, if it
            has one, is called before we connect.
        name: to register with.
        table: the table to join; None: the server chooses.
        seat: the preferred one.
        api_key: of an agent registered before.
        access_token: what the server asks of those who register, if it does.
        hands: leave after so many.
        deadline: seconds for a decision; None: four fifths of the time that the server gives.
        ping_every: seconds between keep-alive pings.
        retry_after: seconds before the first try to reconnect; the n-th waits n times as long, at most ten times.
        retries: further tries in a row to connect, before it is given up; at most `FIRST_TRIES` in all if nothing ever
            answered.
        log: a match log to append to (see `parlour.wrappers.logs.match_log`).
        session: the protocol's state, with what is known about the table beforehand.
        on_event: is called with every event, for tables on a screen and tests.

    Raises:
        LiveError: if the server refuses us for good, or cannot be reached.
        ValueError: for an address of another kind.
    """
    url = URL(address)
    if url.scheme not in ("ws", "wss", "http", "https") or not url.host:
        raise ValueError(f"{url.with_query(None)} is no address: give ws://… of a seat, or http://… of the REST API")
    async with aiohttp.ClientSession() as http:
        with contextlib.ExitStack() as stack:
            match_log = SafeMatchLog(stack.enter_context(opened(log)))
            driver = stack.enter_context(contextlib.closing(AgentDriver(agent, log=match_log, fail_when_busy=False)))
            await driver.warm_up()
            runner = _PokerRunner(session or PokerAgentSession(), driver, hands, deadline, on_event)
            request = SeatRequest(http, url, name, table, seat, api_key, access_token)
            stay = _Stay(http, request, runner, Backoff(retry_after, retries + 1, first_tries=FIRST_TRIES), ping_every)
            return await stay.play()


class _PokerRunner(AgentRunner[messages.Action]):
    """The agent at its table: what is played, and what came of it."""

    def __init__(
        self,
        session: PokerAgentSession,
        driver: AgentDriver,
        hands: int | None,
        deadline: float | None,
        on_event: Callable[[PokerEvent], None] | None,
    ) -> None:
        seconds = 0.8 * TURN_SECONDS if deadline is None else deadline
        super().__init__(session, driver, seconds=seconds, on_event=on_event)
        self.session = session
        self.socket: aiohttp.ClientWebSocketResponse | None = None
        self.reason = ""
        self._hands = hands
        self._deadline_given = deadline is not None

    @property
    def name(self) -> str:
        return "poker table" if self.session.hand is None else f"hand {self.session.hand}"

    async def send(self, message: messages.Action | messages.Ping) -> None:
        """Send if there is a connection; else the session sends again after reconnecting."""
        if self.socket is not None and not self.socket.closed:
            with contextlib.suppress(OSError, aiohttp.ClientError):
                await self.socket.send_str(messages.encode(message))

    async def handle(self, event: PokerEvent) -> None:
        log = self.driver.log
        match event:
            case SeatTaken():
                if event.timeout and not self._deadline_given:
                    self.seconds = 0.8 * event.timeout / 1000
                log.write("joined", seat=event.seat)
            case UnreadableTurn():
                answer = AgentAnswer(problem=f"the state cannot be read: {event.problem}")
                self.driver.count(answer, self.name, event.message.action.kind)
                await self.send(event.message)
            case HandEnded():
                log.write("hand", hand=event.hand, won=event.won, stack=event.stack, results=event.message.results)
                if self._hands is not None and self.session.hands_played >= self._hands:
                    self.reason = "hands"
            case TableEnded():
                log.write("ended", reason=event.reason, stack=event.stack)
                self.reason = event.reason
            case ServerRefusal():
                raise LiveError(event.code, event.message or "the server gave no reason")

    def played(self, answer: AgentAnswer, sent: Sequence[messages.Action]) -> AgentResponse:
        action = sent[0].action
        return AgentResponse(Action(action.kind, {} if action.amount is None else {"amount": action.amount}))

    def log_fields(self, decision: Decision, sent: Sequence[messages.Action]) -> dict[str, Any]:
        return {"hand": decision.turn_state.game_state["hand"], "seq": sent[0].expected_seq}

    def result(self, connections: int) -> PokerResult:
        """Return what came of the stay."""
        return PokerResult(
            hands=self.session.hands_played,
            net=self.session.net,
            actions=self.session.actions,
            rejected=self.session.rejected,
            replaced=self.driver.statistics.replaced,
            reconnects=max(0, connections - 1),
            reason=self.reason,
        )


@dataclass
class _Stay:
    """A stay at one table, over as many connections as it takes."""

    http: aiohttp.ClientSession
    request: SeatRequest
    runner: _PokerRunner
    backoff: Backoff
    ping_every: float
    _connections: int = 0

    async def play(self) -> PokerResult:
        """Connect, again and again, until there is a reason to go."""
        try:
            await retry(self._connect, self.backoff)
        except asyncio.CancelledError:  # Ctrl-C: the seat is given back first
            await self.request.leave()
            raise
        finally:
            self.runner.drop_decision()
        if self.runner.reason == "hands":
            await self.request.leave()
        return self.runner.result(self._connections)

    async def _connect(self) -> None:
        """Live through one connection.

        Raises:
            LiveError: if the server refuses us for good.
            TryAgain: if the connection was lost.
        """
        if self.backoff.failures:
            self.runner.session.reconnected()
        clock = asyncio.get_running_loop().time
        began, seq = clock(), self.runner.session.seq
        try:
            code = await self._read(await self.request.url())
        except LiveError:
            raise
        except CONNECTION_ERRORS:
            if self.runner.reason:
                return
            raise
        if self.runner.reason:
            return
        if code == aiohttp.WSCloseCode.POLICY_VIOLATION:
            raise LiveError(messages.UNAUTHORIZED, "the server closed the connection for good (1008)")
        if code == aiohttp.WSCloseCode.OK:
            self.runner.reason = "closed"
            return
        if self.runner.session.seq != seq or clock() - began > self.backoff.longest:
            self.backoff.succeeded()
        raise TryAgain("the connection was lost")

    async def _read(self, url: URL) -> int | None:
        """Read until the connection ends or there is a reason to go; return the code with which it was closed."""
        try:
            socket = await open_websocket(self.http, url)
        except aiohttp.WSServerHandshakeError as error:
            if error.status in REFUSED:
                raise LiveError(REFUSED[error.status], describe_connection_error(error)) from None
            raise
        self.runner.socket = socket
        self._connections += 1
        pinging = asyncio.create_task(self._ping())
        try:
            async for frame in socket:
                if frame.type in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY):
                    await self.runner.receive(frame.data)
                    if self.runner.reason:
                        break
        finally:
            pinging.cancel()
            self.runner.socket = None
            await socket.close()
        return socket.close_code

    async def _ping(self) -> None:
        while True:
            await asyncio.sleep(self.ping_every)
            timestamp = messages.Timestamp(timestamp=int(time.time() * 1000))
            await self.runner.send(messages.Ping(payload=timestamp))
