"""Our agent at live poker tables, from the address of a server to the end of its last table.

It registers and joins by REST, connects and reconnects, and answers every decision before its deadline. A decision that
is late, raises or cannot be played is replaced by the safe action (check, else fold). Tokens and keys are never logged.
`Seat` is one table, `TableLoop` one table after another.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import datetime
from os import PathLike

import aiohttp
from yarl import URL

from ....envs.core.options import seconds, whole
from ...agents.base import Agent
from ...logs.match_log import MatchLog, SafeMatchLog, opened
from ..common.activity import Link
from ..common.agent_turn import AgentStatistics
from ..common.client import UNREACHABLE, Backoff, Dial, LiveError, http_client, tls_context
from ..common.player import Player, run
from . import messages
from .agent_session import PokerAgentSession, PokerEvent, SeatTaken
from .rest_client import ANY_SEAT, PokerRestClient, SeatRequest

logger = logging.getLogger(__name__)

LONGEST_WAIT = 60.0
"""Seconds that are waited at most before the next table is joined."""
STALLED_SECONDS = 600.0
"""Seconds without a word from a table with hands, after which an agent that keeps playing goes to another."""
REFUSED = {
    401: messages.UNAUTHORIZED,
    403: messages.UNAUTHORIZED,
    404: messages.TABLE_NOT_FOUND,
    410: messages.TABLE_ENDED,
    aiohttp.WSCloseCode.POLICY_VIOLATION: messages.UNAUTHORIZED,
}
"""HTTP statuses of a WebSocket handshake, and a code of its close, after which another try is of no use."""
WAIT = (messages.TABLE_FULL, messages.INVALID_TABLE_STATE, messages.ALREADY_SEATED)
"""What a join may answer that another time it does not."""
KEY_REFUSED = (messages.UNAUTHORIZED, messages.INVALID_API_KEY, messages.AGENT_NOT_FOUND)
"""What a server answers that does not know our key (any longer)."""
FOR_GOOD = (messages.OUTDATED_CLIENT, messages.VALIDATION_ERROR, messages.REAL_MONEY)
"""What no waiting changes."""


@dataclass(frozen=True, kw_only=True)
class PlayLength:
    """How long our agent plays.

    Attributes:
        hands: leave after so many, at all tables; None: no limit.
        until: leave when this time has come and the hand is over; without a zone it is local time. None: no limit.
        keep_playing: join the next table when one has ended, when our chips are gone, when the server has forgotten us
            or nothing is heard of the table for ten minutes; until cancelled, or `hands` or `until` is reached. It
            needs the REST address.
    """

    hands: int | None = None
    until: datetime | None = None
    keep_playing: bool = False

    def __post_init__(self) -> None:
        """Check the number of hands.

        Raises:
            ValueError: if it is below 1.
        """
        if self.hands is not None:
            whole("hands", self.hands, 1, otherwise="None (no limit)")


@dataclass(frozen=True, kw_only=True)
class ClientSettings:
    """How our agent deals with the server.

    Attributes:
        deadline: seconds for a decision; None: four fifths of the time that the server gives.
        retry_after: seconds before the first try to reconnect; the n-th waits n times as long, at most ten times.
        retries: further tries in a row to connect, before it is given up; at most `FIRST_TRIES` in all if nothing ever
            answered. With `PlayLength.keep_playing`, a server that has answered is never given up.
        ca_file: certificates (PEM) of authorities that are trusted beside the system's; None: no further ones.
    """

    deadline: float | None = None
    retry_after: float = 3.0
    retries: int = 10
    ca_file: str | PathLike[str] | None = None

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            ValueError: if one is out of its range.
        """
        if self.deadline is not None:
            seconds("deadline", self.deadline)
        seconds("retry_after", self.retry_after, above=False)
        whole("retries", self.retries, 0)


@dataclass(frozen=True, kw_only=True)
class Monitoring:
    """What follows the play of our agent.

    Attributes:
        statistics: the agent's counters; None: new ones.
        link: gets every beginning and end of a connection; None: nobody does.
        on_event: is called with every event, for tables on a screen and tests.
    """

    statistics: AgentStatistics | None = None
    link: Link | None = None
    on_event: Callable[[PokerEvent], None] | None = None


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


class Seat:
    """Our agent in one seat, over as many connections as it takes.

    Args:
        port: connects to the table.
        session: the protocol.
        player: the agent.
        rest: takes the seat and gives it back.
        watch: is called with every event.
    """

    def __init__(
        self,
        port: Dial,
        session: PokerAgentSession,
        player: Player,
        rest: PokerRestClient,
        watch: Callable[[PokerEvent], None],
    ) -> None:
        self.session = session
        self._port, self._player, self._rest, self._watch = port, player, rest, watch
        self._reason = ""

    async def play(self) -> None:
        """Play until there is a reason to go.

        Raises:
            LiveError: if the server refuses us for good.
        """
        try:
            self._reason = (await run(self._port, self.session, self._player, self._note)).reason
        except asyncio.CancelledError:  # Ctrl-C: the seat is given back first
            await self._rest.leave()
            raise
        except LiveError as error:
            if error.code == messages.REAL_MONEY:
                await self._rest.leave()
            raise
        if self._reason in ("hands", "until", "busted", "stalled"):
            await self._rest.leave()

    def _note(self, event: PokerEvent) -> None:
        if isinstance(event, SeatTaken) and event.agent_id is not None:
            self._rest.agent_id = event.agent_id
        self._watch(event)

    @property
    def result(self) -> PokerResult:
        """Result in this seat."""
        session, connections = self.session, self._port.connections
        return PokerResult(
            hands=session.hands_played,
            net=session.net,
            actions=session.actions,
            rejected=session.rejected,
            replaced=self._player.statistics.replaced,
            reconnects=max(0, connections - 1),
            reason=self._reason,
            tables=int(connections > 0),
        )


class TableLoop:
    """Joins a table, plays there until it ends or our chips are gone, and joins the next.

    Between two tables it waits: `retry_after` seconds where hands were played, else longer each time, up to
    `LONGEST_WAIT`. It gives up only where nothing was ever played: then an address or a key may be wrong.

    Args:
        rest: registers and joins.
        sit: returns our seat at the next table, given the hands that are left (None: any number) and whether one was
            taken before.
        hands: stop after so many in all.
        retry_after: seconds.
    """

    def __init__(
        self,
        rest: PokerRestClient,
        sit: Callable[[int | None, bool], Seat],
        hands: int | None,
        retry_after: float,
    ) -> None:
        self.result = PokerResult()
        self._rest = rest
        self._sit = sit
        self._hands = hands
        self._retry_after = retry_after
        self._failures = 0
        self._seat: Seat | None = None
        self._leaving = ""
        self._wake = asyncio.Event()

    async def play(self) -> PokerResult:
        """Play at one table after another.

        Raises:
            LiveError: if the server refuses us for good, or was never reached.
        """
        while not self._leaving:
            hands = self.result.hands
            await self._play_table()
            if self.result.reason in ("hands", "until"):
                return self.result
            self._failures = 0 if self.result.hands > hands else self._failures + 1
            wait = min(self._retry_after * (self._failures + 1), max(LONGEST_WAIT, self._retry_after))
            logger.info("%s; the next table in %.1f s", messages.in_words(self.result.reason), wait)
            try:
                async with asyncio.timeout(wait):
                    await self._wake.wait()
            except TimeoutError:
                self._rest.forget_seat()
        self.result.reason = self._leaving
        return self.result

    def leave(self, reason: str) -> None:
        """Stop after this hand, at once where we have no cards."""
        self._leaving = reason
        self._wake.set()
        if self._seat is not None:
            self._seat.session.leave(reason)

    async def _play_table(self) -> None:
        left = None if self._hands is None else self._hands - self.result.hands
        self._seat = seat = self._sit(left, self.result.tables > 0)
        try:
            await seat.play()
            self.result.add(seat.result)
        except LiveError as error:
            self.result.add(seat.result)
            self.result.reason = str(error)
            if not await self._may_go_on(error):
                raise
            logger.warning("%s", error)
        finally:
            self._seat = None

    async def _may_go_on(self, error: LiveError) -> bool:
        """Return whether another join may work; forget a key or a seat that stands in its way."""
        rest = self._rest
        if error.code in FOR_GOOD:
            return False
        if error.code in KEY_REFUSED and not rest.seated:
            return rest.forget_key()
        if error.code in (messages.SESSION_EXPIRED, messages.INVALID_SESSION):
            await rest.leave()  # a seat that nobody can play any longer
        if error.code == messages.ALREADY_SEATED:  # a seat of ours whose token is lost, as after a crash
            table = error.details.get("table_id")
            await (rest.leave(table) if isinstance(table, str) else rest.leave_all())
        return self.result.tables > 0 or (error.code in WAIT) or (rest.seated and error.code != UNREACHABLE)


FIRST_TRIES = 4
"""Tries after which a server that has never been reached is given up: its address may be wrong, and people wait."""


async def play(
    address: str,
    agent: Agent,
    *,
    seat: SeatRequest = ANY_SEAT,
    length: PlayLength = PlayLength(),
    client: ClientSettings = ClientSettings(),
    log: str | PathLike[str] | MatchLog | None = None,
    monitoring: Monitoring = Monitoring(),
) -> PokerResult:
    """Play at a table until it ends, or at one table after another.

    Args:
        address: a ready ``ws://`` or ``wss://`` URL; or the REST base, ``http://`` or ``https://``, where the agent
            registers, joins and finds its URL by itself.
        agent: answers the turns; its `respond` runs in a thread of its own, one call at a time. Its `warm_up`, if it
            has one, is called before we connect.
        seat: which seat the agent wants, and as whom.
        length: how long it plays; by default until its table ends.
        client: how it deals with the server.
        log: a match log, or the path of one to append to (see `parlour.wrappers.logs.match_log`).
        monitoring: what follows its play.

    Raises:
        LiveError: if the server refuses us for good, or cannot be reached.
        ValueError: for an address of another kind.
    """
    url = URL(address)
    if url.scheme not in ("ws", "wss", "http", "https") or not url.host:
        raise ValueError(f"{url.with_query(None)} is no address: give ws://… of a seat, or http://… of the REST API")
    if length.keep_playing and url.scheme in ("ws", "wss"):
        raise ValueError("to keep playing takes the REST address, http://… or https://…: a seat's URL is one seat's")
    connector = aiohttp.TCPConnector(ssl=tls_context(client.ca_file))
    async with http_client(connector=connector) as http:
        with contextlib.ExitStack() as stack:
            match_log = SafeMatchLog(stack.enter_context(opened(log)))
            player = Player(agent, log=match_log, waits=True, statistics=monitoring.statistics)
            stack.enter_context(contextlib.closing(player))
            await player.warm_up()
            rest = PokerRestClient(http, url, seat)

            def sit(hands: int | None, reached: bool) -> Seat:
                session = PokerAgentSession(
                    hands=hands,
                    deadline=client.deadline,
                    leave_busted=length.keep_playing,
                    stalled=STALLED_SECONDS if length.keep_playing else None,
                    real_money=seat.real_money,
                )
                growth = max(1, round(LONGEST_WAIT / client.retry_after)) if length.keep_playing else 10
                tries = None if length.keep_playing else client.retries + 1
                backoff = Backoff(client.retry_after, tries, first_tries=FIRST_TRIES, growth=growth)
                backoff.reached = reached
                link = monitoring.link or Link()
                port = Dial(http, rest.url, messages.encode, backoff, link, REFUSED, lambda: session.seq)
                return Seat(port, session, player, rest, monitoring.on_event or (lambda event: None))

            if length.keep_playing:
                loop = TableLoop(rest, sit, length.hands, client.retry_after)
                async with _leaving_at(length.until, loop.leave):
                    return await loop.play()
            only = sit(length.hands, False)
            async with _leaving_at(length.until, only.session.leave):
                await only.play()
            return only.result


@contextlib.asynccontextmanager
async def _leaving_at(until: datetime | None, leave: Callable[[str], None]) -> AsyncIterator[None]:
    """Call `leave` when the time has come."""
    if until is None:
        yield
        return

    async def wait() -> None:
        await asyncio.sleep(max(0.0, until.timestamp() - datetime.now().timestamp()))
        leave("until")

    waiting = asyncio.create_task(wait())
    try:
        yield
    finally:
        waiting.cancel()
