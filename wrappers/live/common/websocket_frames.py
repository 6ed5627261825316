"""FrameLimit: a limit on the fragments of WebSocket messages. aiohttp joins them, however many and empty they are."""

import asyncio
from collections.abc import Callable
from typing import Any

from aiohttp import web

from .rate_limit import RateLimit

FRAGMENTS = 1000.0
"""The most fragments of messages per second from a peer (twice as many at once); with more its connection ends."""


class FrameLimit:
    """Reads the frames of a WebSocket before aiohttp's parser does, and counts those that are no whole message.

    Args:
        parser: aiohttp's parser.
        exceeded: called once, when there are too many. Nothing is parsed any longer.
    """

    def __init__(self, parser: Any, exceeded: Callable[[], None]) -> None:
        self._parser = parser
        self._exceeded = exceeded
        self._limit = RateLimit(FRAGMENTS, asyncio.get_running_loop().time())
        self._ended = False
        self._header = b""  # the beginning of a header
        self._ahead = 0  # bytes of a payload that are still to come

    def feed_data(self, data: bytes) -> tuple[bool, bytes]:
        """Pass received bytes on; see aiohttp's `WebSocketReader`."""
        if not self._ended and not self._admits(data):
            self._ended = True
            self._exceeded()
        result: tuple[bool, bytes] = (False, b"") if self._ended else self._parser.feed_data(data)
        return result

    def feed_eof(self) -> None:
        """Pass the end on."""
        self._parser.feed_eof()

    def _admits(self, data: bytes) -> bool:
        now = asyncio.get_running_loop().time()
        data, self._header = self._header + data, b""
        at = self._ahead
        while at < len(data):
            end = _end_of_frame(data, at)
            if end is None:
                self._header = data[at:]
                break
            fragment = data[at] < 0x80 or not data[at] & 0x0F  # not the last frame, or a continuation
            if fragment and not self._limit.take(now):
                return False
            at = end
        self._ahead = max(0, at - len(data))
        return True


def _end_of_frame(data: bytes, at: int) -> int | None:
    """Return the position after a frame, which may lie beyond the data; None if its header is incomplete."""
    if at + 2 > len(data):
        return None
    length, mask = data[at + 1] & 0x7F, 4 * (data[at + 1] >> 7)
    more = {126: 2, 127: 8}.get(length, 0)
    start = at + 2 + more + mask
    if start > len(data):
        return None
    return start + (int.from_bytes(data[at + 2 : at + 2 + more]) if more else length)


class HttpProtocol(web.RequestHandler):
    """aiohttp's protocol of a socket, with a `FrameLimit` once it is a WebSocket.

    Attributes:
        exceeded: called when there are too many fragments; None: the socket is closed.
    """

    exceeded: Callable[[], None] | None = None

    def handle_error(self, *args: Any, **kwargs: Any) -> web.StreamResponse:
        """See aiohttp. What follows a request that cannot be read is not parsed."""
        if self.transport is not None:
            self.transport.pause_reading()
        return super().handle_error(*args, **kwargs)

    def set_parser(self, parser: Any, *args: Any, **kwargs: Any) -> None:
        """See aiohttp."""
        super().set_parser(FrameLimit(parser, self.exceeded or self.force_close), *args, **kwargs)  # type: ignore[arg-type]
