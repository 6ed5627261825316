"""The clock of all hosts and agents: deadlines of answers, and timers of what a session waits for."""

import asyncio
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar

Due = TypeVar("Due")
Message = TypeVar("Message")


class Outgoing(NamedTuple, Generic[Message]):
    """A message and its receiver: a seat, or a client."""

    receiver: Any
    message: Message


@dataclass
class Deadline:
    """The deadline of an answer.

    Attributes:
        seconds: the time for the whole turn.
        ends_at: the deadline on the event loop's clock.
    """

    seconds: float
    ends_at: float

    @classmethod
    def after(cls, seconds: float) -> "Deadline":
        """Return the deadline `seconds` from now."""
        return cls(seconds, asyncio.get_running_loop().time() + seconds)

    @property
    def left(self) -> float:
        """The seconds left, at least 0."""
        return max(0.0, self.ends_at - asyncio.get_running_loop().time())

    @asynccontextmanager
    async def limit(self) -> AsyncIterator[None]:
        """Cancel the block at the deadline, and raise TimeoutError with the seconds in its text."""
        try:
            async with asyncio.timeout_at(self.ends_at):
                yield
        except TimeoutError:
            raise TimeoutError(f"no answer within {self.seconds:g} s") from None


class SessionTimer(Generic[Due]):
    """A timer for the value `due` of a session, such as the pending turn.

    The timer restarts only if the value changes; a refused action, for example, does not restart it.

    Args:
        ring: called with the value when its time is over.

    Attributes:
        due: the value that the timer runs for; None: it does not run.
        deadline: its end; None: it has not run yet.
    """

    def __init__(self, ring: Callable[[Due], None]) -> None:
        self.due: Due | None = None
        self.deadline: Deadline | None = None
        self._ring = ring
        self._handle: asyncio.TimerHandle | None = None

    def follow(self, due: Due | None, seconds: float) -> bool:
        """Restart the timer with `seconds` if `due` has changed; return whether it has changed."""
        if due == self.due:
            return False
        self.stop()
        self.due = due
        if due is not None:
            self.deadline = Deadline.after(seconds)
            self._handle = asyncio.get_running_loop().call_at(self.deadline.ends_at, self._ring, due)
        return True

    @property
    def left(self) -> float | None:
        """The seconds left; None if the timer does not run."""
        return None if self.due is None or self.deadline is None else self.deadline.left

    def stop(self) -> None:
        """Stop the timer, and set `due` to None."""
        if self._handle is not None:
            self._handle.cancel()
        self.due = self._handle = None


class TimeBanks:
    """What seats, or players, have for turns that take longer than the time of a turn.

    Args:
        full: seconds of a full bank.
    """

    def __init__(self, full: float) -> None:
        self._full = full
        self._left: dict[Hashable, float] = {}

    def left(self, seat: Hashable) -> float:
        """Return the seconds in a seat's bank."""
        return self._left.get(seat, self._full)

    def turn_ended(self, seat: Hashable, left: float) -> None:
        """Take what a turn used: `left` seconds were left of it, bank included."""
        self._left[seat] = min(self.left(seat), left)

    def refill(self, share: float = 1.0) -> None:
        """Give every bank a share of a full one, up to a full one. Full ones take no memory."""
        filled = {seat: left + share * self._full for seat, left in self._left.items()}
        self._left = {seat: left for seat, left in filled.items() if left < self._full}


class CountsMatches:
    """What plays matches, or games: it counts those that have ended.

    Attributes:
        matches: their number.
    """

    matches = 0

    @cached_property
    def _ended(self) -> asyncio.Event:
        return asyncio.Event()

    def match_over(self) -> None:
        """Add one to the count."""
        self.matches += 1
        self._ended.set()

    async def played(self, matches: int | None = None) -> None:
        """Wait until at least `matches` have ended; None: without end."""
        while matches is None or self.matches < matches:
            self._ended.clear()
            await self._ended.wait()
