"""A server's side of a WebSocket: what goes out waits in a bounded queue, what comes in is rationed."""

import asyncio
import logging

from aiohttp import WSCloseCode, web

QUEUE = 256
"""Most messages on their way to one client; a client further behind is dropped."""

logger = logging.getLogger(__name__)


class Connection:
    """One WebSocket with a bounded queue out, so that a stuck client holds up nobody.

    Attributes:
        closing: it closes once everything queued is sent.
    """

    def __init__(self, socket: web.WebSocketResponse, transport: asyncio.Transport | None) -> None:
        self.socket = socket
        self._transport = transport
        self._queue: asyncio.Queue[str | int] = asyncio.Queue(QUEUE)
        self.closing = False

    def send(self, text: str) -> None:
        """Queue a message; a client that does not keep up is dropped."""
        self._put(text)

    def close(self, code: int = WSCloseCode.OK) -> None:
        """Close once everything queued is sent."""
        self.closing = True
        self._put(code)

    def _put(self, item: str | int) -> None:
        try:
            self._queue.put_nowait(item)
        except asyncio.QueueFull:
            logger.warning("dropping a connection that is %d messages behind", QUEUE)
            self.abort()

    def abort(self) -> None:
        """End the connection at once."""
        if self._transport is not None:
            self._transport.abort()

    async def write(self) -> None:
        """Send what is queued, until the close."""
        while True:
            item = await self._queue.get()
            if isinstance(item, int):
                await self.socket.close(code=item)
                return
            try:
                await self.socket.send_str(item)
            except ConnectionError:  # the reader sees the end too, and cleans up
                return


class Allowance:
    """A token bucket: `rate` messages a second, twice as many at once.

    Args:
        rate: at least 1.
        now: the clock, in seconds.
    """

    def __init__(self, rate: float, now: float) -> None:
        self._rate = rate
        self._left = 2 * rate
        self._at = now

    def take(self, now: float) -> bool:
        """Tell whether a message may come at this time, and count it if so."""
        self._left = min(2 * self._rate, self._left + self._rate * (now - self._at))
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True

    def give_back(self) -> None:
        """Let the latest message cost nothing."""
        self._left += 1
