"""Our agent at one poker table: `PokerAgentSession` with its socket, its clock and its agent."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from yarl import URL

from ....envs.core.turn_state import Action, AgentResponse
from ..common.activity import Link
from ..common.agent_runner import AgentDriver, AgentRunner
from ..common.agent_turn import Played, Turn
from ..common.client import (
    CONNECTION_ERRORS,
    Backoff,
    LiveError,
    TryAgain,
    describe_connection_error,
    open_websocket,
    retry,
)
from ..common.pings import next_message
from . import messages
from .agent_events import Busted, HandEnded, PokerEvent, RealMoney, SeatTaken, ServerRefusal, TableEnded, UnreadableTurn
from .agent_session import PokerAgentSession
from .rest_client import PokerRestClient, no_real_money

TURN_SECONDS = 30.0
"""Time for a turn where the server does not say it."""
PING_SECONDS = 30.0
"""Seconds between keep-alive pings."""
STALLED_SECONDS = 600.0
"""Seconds without a word from a table with hands, after which an agent that keeps playing goes to another."""
STARTING_SECONDS = 2.0
"""Seconds without news of a table that is about to start, after which we connect again."""
NEVER_STARTED_SECONDS = 60.0
"""Seconds after which an agent that keeps playing leaves a table that is about to start and does not."""
LEAST_PATIENCE = 20.0
"""The same of any other table, where its turns are very short; else it is twice the time for a turn."""
REFUSED = {
    401: messages.UNAUTHORIZED,
    403: messages.UNAUTHORIZED,
    404: messages.TABLE_NOT_FOUND,
    410: messages.TABLE_ENDED,
}
"""HTTP statuses of a WebSocket handshake after which another try is of no use."""


@dataclass
class PokerResult:
    """Result of play at one table, or at many.

    Attributes:
        hands: that ended in which the agent had cards.
        net: chips won since the first hand.
        actions: accepted by the server.
        rejected: rejected by the server.
        replaced: decisions that the safe action took the place of.
        reconnects: connections after the first to the same table.
        reason: why the play ended: the server's word, ``closed`` (the connection was closed without a word), ``hands``
            (as many as were asked for), ``until`` (the time has come), ``busted`` or ``stalled`` (nothing was heard of
            the table for a long time).
        tables: where the agent had a connection.
    """

    hands: int = 0
    net: int = 0
    actions: int = 0
    rejected: int = 0
    replaced: int = 0
    reconnects: int = 0
    reason: str = ""
    tables: int = 0

    def add(self, other: "PokerResult") -> None:
        """Add the result of another table of the same agent."""
        self.hands += other.hands
        self.net += other.net
        self.actions += other.actions
        self.rejected += other.rejected
        self.replaced = other.replaced  # the agent's counter, over all its tables
        self.reconnects += other.reconnects
        self.reason = other.reason
        self.tables += other.tables


class PokerRunner(AgentRunner[messages.Action]):
    """The agent at its table: what is played, and what came of it.

    Args:
        session: the protocol.
        driver: asks the agent.
        hands: leave after so many.
        deadline: seconds for a decision; None: four fifths of the time that the server gives.
        leave_busted: leave when the chips are gone.
        real_money: play on at a table that plays for real money.
        on_event: is called with every event.

    Attributes:
        reason: why the play at this table is over; "" while it goes on.
        heard_at: the event loop's time of the latest message from a table with hands; None before.
        agent_id: who we are to the server; None: not said.
    """

    def __init__(
        self,
        session: PokerAgentSession,
        driver: AgentDriver,
        *,
        hands: int | None,
        deadline: float | None,
        leave_busted: bool,
        real_money: bool = False,
        on_event: Callable[[PokerEvent], None] | None,
    ) -> None:
        seconds = 0.8 * TURN_SECONDS if deadline is None else deadline
        super().__init__(session, driver, seconds=seconds, on_event=on_event)
        self.session = session
        self.socket: aiohttp.ClientWebSocketResponse | None = None
        self.reason = ""
        self.heard_at: float | None = None
        self.agent_id: str | None = None
        self._turn_seconds = TURN_SECONDS
        self._hands = hands
        self._deadline_given = deadline is not None
        self._leave_busted = leave_busted
        self._real_money = real_money
        self._leaving = ""

    @property
    def name(self) -> str:
        """See `AgentRunner`."""
        return "poker table" if self.session.hand is None else f"hand {self.session.hand}"

    @property
    def patience(self) -> float:
        """Seconds without news after which the server may have lost our connection, although it answers pings.

        Moltpoker forgets a connection when an older one of the same agent closes after it, and does not tell a
        connection that comes while a table starts that the first hand has begun.
        """
        return STARTING_SECONDS if self.session.starting else max(2 * self._turn_seconds, LEAST_PATIENCE)

    async def receive(self, data: Any) -> None:
        """Take in a message, and go where it is time to."""
        seq = self.session.seq, self.session.hand
        await super().receive(data)
        if (self.session.seq, self.session.hand) != seq:
            self.heard_at = asyncio.get_running_loop().time()
        if self._leaving and not self.session.in_hand:
            self.reason = self.reason or self._leaving

    def leave(self, reason: str) -> None:
        """Leave after this hand; at once where we have no cards."""
        self._leaving = reason
        if not self.session.in_hand:
            self.reason = self.reason or reason

    async def send(self, message: messages.Action | messages.Ping) -> None:
        """Send if there is a connection; else the session sends again after reconnecting."""
        if self.socket is not None and not self.socket.closed:
            with contextlib.suppress(OSError, aiohttp.ClientError):
                await self.socket.send_str(messages.encode(message))

    async def handle(self, event: PokerEvent) -> None:
        """See `AgentRunner`."""
        log = self.driver.log
        match event:
            case SeatTaken():
                self.agent_id = event.agent_id
                if event.timeout:
                    self._turn_seconds = event.timeout / 1000
                    self.seconds = self.seconds if self._deadline_given else 0.8 * self._turn_seconds
                log.write("joined", seat=event.seat)
            case UnreadableTurn():
                safe = AgentResponse(Action(event.message.action.kind))
                Played(safe, f"the state cannot be read: {event.problem}").count(self.driver.statistics, self.name)
                await self.send(event.message)
            case HandEnded():
                net = {} if event.stack is None else {"net": event.net}
                results = event.message.results
                log.write("hand", hand=event.hand, won=event.won, **net, stack=event.stack, results=results)
                if self._hands is not None and self.session.hands_played >= self._hands:
                    self.reason = "hands"
            case Busted():
                log.write("busted", hand=event.hand)
                if self._leave_busted:
                    self.reason = self.reason or "busted"
            case TableEnded():
                log.write("ended", reason=event.reason, stack=event.stack)
                self.reason = self.reason or event.reason
            case RealMoney():
                if not self._real_money:
                    raise no_real_money(event.sign)
            case ServerRefusal():
                raise LiveError(event.code, event.message or "the server gave no reason")

    def log_fields(self, turn: Turn, sent: Sequence[messages.Action]) -> dict[str, Any]:
        """See `AgentRunner`."""
        return {"hand": turn.state.game_state["hand"], "seq": sent[0].expected_seq}


@dataclass
class TableConnection:
    """One table, over as many connections as it takes.

    Attributes:
        http: what connects.
        rest: takes the seat and gives it back.
        runner: the agent at the table.
        backoff: how long to wait between connections.
        stalled: seconds without a word from a table with hands, after which it is left; None: never.
        link: gets every beginning and end of a connection.
        connections: how many there were.
    """

    http: aiohttp.ClientSession
    rest: PokerRestClient
    runner: PokerRunner
    backoff: Backoff
    stalled: float | None = None
    link: Link = field(default_factory=Link)
    connections: int = 0
    _silent: bool = False  # nothing was heard of the table for too long

    async def play(self) -> None:
        """Connect, again and again, until there is a reason to go.

        Raises:
            LiveError: if the server refuses us for good.
        """
        try:
            await retry(self._connect, self.backoff)
        except asyncio.CancelledError:  # Ctrl-C: the seat is given back first
            await self.rest.leave()
            raise
        except LiveError as error:
            if error.code == messages.REAL_MONEY:
                await self.rest.leave()
            raise
        finally:
            self.runner.drop_turn()
        if self.runner.reason in ("hands", "until", "busted", "stalled"):
            await self.rest.leave()

    async def leave(self, reason: str) -> None:
        """Leave after this hand, at once where we have no cards."""
        self.runner.leave(reason)
        if self.runner.reason and self.runner.socket is not None:
            await self.runner.socket.close()

    @property
    def result(self) -> PokerResult:
        """Result at this table."""
        session = self.runner.session
        return PokerResult(
            hands=session.hands_played,
            net=session.net,
            actions=session.actions,
            rejected=session.rejected,
            replaced=self.runner.driver.statistics.replaced,
            reconnects=max(0, self.connections - 1),
            reason=self.runner.reason,
            tables=int(self.connections > 0),
        )

    async def _connect(self) -> None:
        """Live through one connection.

        Raises:
            LiveError: if the server refuses us for good.
            TryAgain: if the connection was lost.
        """
        if self.runner.reason:
            return
        if self.backoff.failures:
            self.runner.session.reconnected()
        clock = asyncio.get_running_loop().time
        began, seq = clock(), self.runner.session.seq
        try:
            code = await self._read(await self.rest.url())
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
        silence = f"no news of the table for {self.runner.patience:.0f} s" if code is None else ""
        raise TryAgain(silence or "the connection was lost")

    async def _read(self, url: URL) -> int | None:
        """Read until the connection ends or there is a reason to go.

        Returns:
            The code with which it was closed; None where we closed it because nothing was heard of the table.
        """
        try:
            socket = await open_websocket(self.http, url)
        except aiohttp.WSServerHandshakeError as error:
            if error.status in REFUSED:
                raise LiveError(REFUSED[error.status], describe_connection_error(error)) from None
            raise
        self.runner.socket, self._silent = socket, False
        self.connections += 1
        self.link.up()
        pinging, watching = asyncio.create_task(self._ping()), asyncio.create_task(self._watch(socket))
        try:
            while not self.runner.reason and (data := await next_message(socket)) is not None:
                await self.runner.receive(data)
        finally:
            pinging.cancel()
            watching.cancel()
            self.runner.socket = None
            self.link.down(lost=not self.runner.reason)
            await socket.close()
            if self.runner.agent_id is not None:
                self.rest.agent_id = self.runner.agent_id
        return None if self._silent else socket.close_code

    async def _watch(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        """Close the connection when nothing is heard of the table for too long."""
        clock = asyncio.get_running_loop().time
        news, since = self.runner.session.news, clock()
        while (left := since + self.runner.patience - clock()) > 0:
            await asyncio.sleep(min(left, STARTING_SECONDS))
            if self.runner.session.news != news:
                news, since = self.runner.session.news, clock()
        heard = self.runner.heard_at
        never_starts = self.runner.session.starting and heard is not None and clock() - heard > NEVER_STARTED_SECONDS
        if never_starts and self.stalled is not None:
            self.runner.reason = self.runner.reason or "stalled"
        self._silent = True
        await socket.close()

    async def _ping(self) -> None:
        while True:
            await asyncio.sleep(PING_SECONDS)
            timestamp = messages.Timestamp(timestamp=int(time.time() * 1000))
            await self.runner.send(messages.Ping(payload=timestamp))
            heard, now = self.runner.heard_at, asyncio.get_running_loop().time()
            if heard is None or self.stalled is None or now - heard <= max(self.stalled, 4 * self.runner.seconds):
                continue
            self.runner.reason = self.runner.reason or "stalled"
            if self.runner.socket is not None:
                await self.runner.socket.close()
