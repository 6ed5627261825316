"""The timer of a host's session."""

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

Due = TypeVar("Due")


class SessionTimer(Generic[Due]):
    """A timer that follows what a session says is due.

    An equal value means that the same timer goes on: a refused action, say, does not restart it.

    Args:
        ring: is called with what is due when its time is over.

    Attributes:
        due: what the timer runs for; None: nothing.
        ends_at: its end on the event loop's clock.
    """

    def __init__(self, ring: Callable[[Due], None]) -> None:
        self.due: Due | None = None
        self._ring = ring
        self.ends_at = 0.0
        self._handle: asyncio.TimerHandle | None = None

    def follow(self, due: Due | None, seconds: float) -> bool:
        """Run for so many seconds if something else is due than before; return whether it is."""
        if due == self.due:
            return False
        self.stop()
        self.due = due
        if due is not None:
            loop = asyncio.get_running_loop()
            self.ends_at = loop.time() + seconds
            self._handle = loop.call_at(self.ends_at, self._ring, due)
        return True

    @property
    def left(self) -> float | None:
        """Seconds that are left; None where nothing is due."""
        return None if self.due is None else max(0.0, self.ends_at - asyncio.get_running_loop().time())

    def stop(self) -> None:
        """Stop the timer; nothing is due."""
        if self._handle is not None:
            self._handle.cancel()
        self.due = self._handle = None
