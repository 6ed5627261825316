"""What happens in a match, as events: numbered, timed, and shown to those who may see them."""

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
    """The events of one match, as two streams of JSON: the admins' holds all, the public one only what is not private.

    Each numbers its own events from 1, so that no gap tells the public how much goes on in private.

    Args:
        game_id: of the match.
        on_event: is told every event, numbered as for admins.
        clock: milliseconds since 1970.

    Attributes:
        admin, public: the events so far, as JSON.
        closed: no more will come.
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
        """Let something have happened.

        Args:
            event_type: one of `messages.EVENTS`.
            payload: what is told of it.
            private: only admins are told.
            admin: what else admins are told, where the public is told too.
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
        """Let no more come: whoever follows is told so."""
        self.closed = True
        self._wake()

    def _wake(self) -> None:
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_result(None)
        self._waiting.clear()

    async def follow(self, view: View, after: int = 0) -> AsyncIterator[bytes]:
        """Return a view's events after the sequence number `after`, and then each as it comes, until the match ends."""
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
