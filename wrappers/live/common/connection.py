"""Connection: the server's side of a WebSocket, with a bounded queue of outgoing messages and incoming limits."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Annotated, Any, Self

from aiohttp import WSCloseCode, WSMsgType, web

from ....envs.core.options import ABOVE_0, AT_LEAST_1, Checked, SecondsOr0
from .client import OPENED, receive
from .limits import Pace

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class ConnectionLimits(Checked):
    """The limits of one connection.

    Attributes:
        frame: the most bytes of a message; a longer one ends the connection while it is received.
        message: the most bytes of a message; a longer one is refused, and the connection stays open. None: as `frame`.
        rate: the most messages per second from a peer (twice as many at once), the empty ones too. Further ones are
            refused where the protocol can do so, and read more slowly. None: no limit.
        controls: the most pings and pongs per second from a peer (twice as many at once). Further ones are not
            answered, and the peer's messages are read more slowly.
        queue: the most outgoing messages; a peer that is further behind is dropped.
        closing: seconds to wait for the answer to a close.

    Raises:
        ValueError: if one is out of its range.
    """

    frame: Annotated[int, AT_LEAST_1] = 2**20
    message: Annotated[int | None, AT_LEAST_1] = None
    rate: Annotated[float | None, ABOVE_0] = 100.0
    controls: Annotated[float, ABOVE_0] = 10.0
    queue: Annotated[int, AT_LEAST_1] = 256
    closing: SecondsOr0 = 2.0


RATE_LIMIT_EXCEEDED, VALIDATION_ERROR = "RATE_LIMIT_EXCEEDED", "VALIDATION_ERROR"
"""The codes of messages that are too many, or too long."""
UNLIMITED = 2.0**30
"""Messages a second."""
PEER = "peer"


class Connection:
    """One WebSocket with a bounded outgoing queue, so that a slow peer does not delay others. An async context manager.

    Args:
        socket: the prepared WebSocket, with ``autoping=False``: this class sends and answers pings.
        transport: its transport; None if it is already closed.
        limits: the limits of the connection.

    Attributes:
        closing: whether it closes after the queue is sent.
        transport: as given.
    """

    def __init__(
        self,
        socket: web.WebSocketResponse,
        transport: asyncio.Transport | None,
        limits: ConnectionLimits | None = None,
    ) -> None:
        self.closing = self._aborted = False
        self.transport, self._socket = transport, socket
        self._limits = limits or ConnectionLimits()
        self._queue: asyncio.Queue[str | tuple[int, bytes]] = asyncio.Queue(self._limits.queue)
        rate = UNLIMITED if self._limits.rate is None else self._limits.rate
        self._rate, self._controls = Pace(rate, 2 * rate), Pace(self._limits.controls, 2 * self._limits.controls)
        self._writer: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._writer = asyncio.create_task(self._write())
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType) -> None:
        assert self._writer is not None
        try:
            if self.closing:
                await asyncio.wait({self._writer}, timeout=self._limits.closing)
        finally:
            self._writer.cancel()

    # Outgoing.

    def send(self, item: str | tuple[int, bytes]) -> None:
        """Queue a message, or the code and the reason of a close. A peer that is too slow is dropped."""
        if self._aborted:
            return
        try:
            self._queue.put_nowait(item)
        except asyncio.QueueFull:
            logger.warning("dropping a connection that is %d messages behind", self._limits.queue)
            self.abort()

    def close(self, code: int = WSCloseCode.OK, reason: bytes = b"") -> None:
        """Close the connection after the queue is sent."""
        if not self.closing:
            self.closing = True
            self.send((code, reason))

    async def room(self) -> None:
        """Wait until less than half of the queue is on its way, or the connection has ended.

        For a sender that has much to send and may wait for the peer, such as one that passes a stream on.
        """
        while 2 * self._queue.qsize() >= self._limits.queue and not self._aborted:
            if self._writer is None or self._writer.done():
                return
            await asyncio.sleep(0.01)

    def abort(self) -> None:
        """End the connection at once."""
        self._aborted = True
        if self.transport is not None:
            self.transport.abort()

    async def _write(self) -> None:
        while True:
            item = await self._queue.get()
            try:
                if isinstance(item, str):
                    await self._socket.send_str(item)
                else:
                    await self._socket.close(code=item[0], message=item[1])
                    return
            except ConnectionError:  # the reader sees the end too, and does the clean-up
                return

    # Incoming.

    async def messages(self, refuse: Callable[[str, str], None] | None = None) -> AsyncIterator[str | bytes]:
        """Yield the peer's messages, text or bytes, until the connection ends.

        Args:
            refuse: called with a code and a sentence for the peer. Such a message is left out. None:
                messages beyond the rate come later, and long ones are left out.
        """
        limits, rate = self._limits, self._limits.rate or UNLIMITED
        try:
            while True:
                message = await receive(self._socket)
                if self._aborted:  # earlier messages are not read any more
                    return
                if message.type in (WSMsgType.PING, WSMsgType.PONG):
                    if not self._controls.take(PEER):
                        await asyncio.sleep(1 / limits.controls)  # the rest waits on the peer's side of the wire
                    elif message.type is WSMsgType.PING:
                        await self._socket.pong(message.data)
                    continue
                if message.type not in (WSMsgType.TEXT, WSMsgType.BINARY):
                    return
                fits, kept = limits.message is None or len(message.data) <= limits.message, True
                while kept and not self._rate.take(PEER):  # what cannot be refused waits
                    if refuse is not None:
                        refuse(RATE_LIMIT_EXCEEDED, f"more than {rate:g} messages a second")
                        kept = False
                    await asyncio.sleep(1 / rate)  # the rest waits on the peer's side of the wire
                if kept and fits:
                    yield message.data
                elif not fits and refuse is not None:
                    refuse(VALIDATION_ERROR, f"a message of {len(message.data)} bytes; at most {limits.message}")
                if 2 * self._queue.qsize() > limits.queue:
                    await asyncio.sleep(0)  # messages that came at once are answered at once; let the answers go out
        except ConnectionError as error:
            logger.info("a peer is lost: %s", error)

    def spare(self) -> None:
        """Take the latest message out of the rate's count."""
        self._rate.spare(PEER)


class Served:
    """A connection of a peer to us, as a `Port`.

    Args:
        connection: the connection.
        encode: returns a message as text.
    """

    def __init__(self, connection: Connection, encode: Callable[[Any], str]) -> None:
        self._connection, self._encode = connection, encode

    async def incoming(self) -> AsyncGenerator[Any, None]:
        """See `Port`."""
        yield OPENED
        async for data in self._connection.messages():
            yield data

    async def send(self, message: Any) -> None:
        """See `Port`."""
        self._connection.send(self._encode(message))

    async def redial(self, reason: str, level: int) -> None:
        """Close the connection: the peer comes back."""
        logger.log(level, "%s", reason)
        self._connection.close()
