"""What hosts share: messages with their receivers, the clock of a session, counting what has ended."""

import asyncio
from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

Due = TypeVar("Due")
Message = TypeVar("Message")


class Outgoing(NamedTuple, Generic[Message]):
    """A message and its receiver: a seat, or the number of a client."""

    receiver: int
    message: Message


class SessionTimer(Generic[Due]):
    """A timer for the value `due` of a session, such as the pending turn.

    The timer restarts only if the value changes; a refused action, for example, does not restart it.

    Args:
        ring: called with the value when its time is over.

    Attributes:
        due: the value that the timer runs for; None: it does not run.
        ends_at: its end on the event loop's clock.
    """

    def __init__(self, ring: Callable[[Due], None]) -> None:
        self.due: Due | None = None
        self._ring = ring
        self.ends_at = 0.0
        self._handle: asyncio.TimerHandle | None = None

    def follow(self, due: Due | None, seconds: float) -> bool:
        """Restart the timer with `seconds` if `due` has changed; return whether it has changed."""
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
        """The seconds left; None if the timer does not run."""
        return None if self.due is None else max(0.0, self.ends_at - asyncio.get_running_loop().time())

    def stop(self) -> None:
        """Stop the timer, and set `due` to None."""
        if self._handle is not None:
            self._handle.cancel()
        self.due = self._handle = None


class EndCounter:
    """Counts the matches or games that have ended.

    Attributes:
        count: their number.
    """

    def __init__(self) -> None:
        self.count = 0
        self._ended = asyncio.Event()

    def add(self) -> None:
        """Add one to the count."""
        self.count += 1
        self._ended.set()

    async def reached(self, count: int | None = None) -> None:
        """Wait until at least `count` have ended; None waits forever."""
        while count is None or self.count < count:
            self._ended.clear()
            await self._ended.wait()
