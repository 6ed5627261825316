"""The events of a match, with numbers and times, for the public and for admins."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, Literal

import msgspec

from .messages import Event, encode

View = Literal["public", "admin"]


def now() -> int:
    """Return milliseconds since 1970."""
    return time.time_ns() // 1_000_000


class EventFeed:
    """The events of one match as two streams of JSON: all events for admins, those that are not private for the public.

    Each stream counts its events from 1, so that the public cannot count the private events by the gaps.

    Args:
        game_id: the id of the match.
        on_event: called with every event, with the number that admins see.
        clock: returns milliseconds since 1970.

    Attributes:
        admin, public: the events so far, as JSON.
        closed: whether the feed is closed.
    """

    def __init__(
        self, game_id: str, on_event: Callable[[Event], None] | None = None, clock: Callable[[], int] = now
    ) -> None:
        self.game_id = game_id
        self.admin: list[bytes] = []
        self.public: list[bytes] = []
        self.closed = False
        self._on_event = on_event
        self._clock = clock
        self._waiting: list[asyncio.Future[None]] = []

    def emit(
        self, event_type: str, payload: dict[str, Any], private: bool = False, admin: Mapping[str, Any] | None = None
    ) -> None:
        """Add an event and notify subscribers.

        Args:
            event_type: one of `messages.EVENTS`.
            payload: the fields of the event.
            private: whether the event is for admins only.
            admin: further fields for admins of a public event.
        """
        event = Event(
            event_type=event_type,
            game_id=self.game_id,
            sequence=len(self.admin) + 1,
            timestamp=self._clock(),
            private=private,
            payload={**payload, **admin} if admin else payload,
        )
        self.admin.append(encode(event))
        if self._on_event is not None:
            self._on_event(event)
        if not private:
            shown = msgspec.structs.replace(event, sequence=len(self.public) + 1, payload=payload)
            self.public.append(encode(shown))
        if self._waiting:
            self._wake()

    def close(self) -> None:
        """Close the feed and notify subscribers."""
        self.closed = True
        self._wake()

    def _wake(self) -> None:
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_result(None)
        self._waiting.clear()

    async def follow(self, view: View, after: int = 0) -> AsyncIterator[bytes]:
        """Yield a view's events after the sequence number `after`, and each new one until the feed is closed."""
        events = self.admin if view == "admin" else self.public
        taken = max(after, 0)
        while True:
            while taken < len(events):
                taken += 1
                yield events[taken - 1]
            if self.closed:
                return
            waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(waiting)
            await waiting
