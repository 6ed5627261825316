"""The clock of all hosts and agents: deadlines of answers, pings, and the `Room` of what a host's session waits for."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Hashable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar

import aiohttp
from aiohttp import web

logger = logging.getLogger(__name__)

Due = TypeVar("Due", bound=Hashable)
Message = TypeVar("Message")


class Outgoing(NamedTuple, Generic[Message]):
    """A message and its receiver: a seat, or a client."""

    receiver: Any
    message: Message


HEARTBEAT = 30.0
"""Seconds of silence after which a peer is pinged. One that is silent for as long again is lost."""


async def receive(
    socket: web.WebSocketResponse | aiohttp.ClientWebSocketResponse, seconds: float | None = None
) -> aiohttp.WSMessage:
    """Return the next message of a WebSocket that was opened with ``autoping=False``, pings and pongs included.

    Args:
        socket: the WebSocket.
        seconds: seconds of silence before a ping, and after it; None: `HEARTBEAT`.

    Raises:
        ConnectionError: if the peer does not answer the ping, or cannot be pinged.
    """
    seconds = HEARTBEAT if seconds is None else seconds
    try:
        return await socket.receive(timeout=seconds)
    except TimeoutError:
        await socket.ping()
    try:
        return await socket.receive(timeout=seconds)
    except TimeoutError:
        raise ConnectionError(f"the peer has not answered a ping for {seconds:g} s") from None


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


@dataclass(eq=False)
class Room(Generic[Due]):
    """What a session waits for: each value that is due has a deadline, and a task that attends to it.

    A value is the pending turn, a call, or a seat without a connection; many may be due at once. While it is due it
    goes on: a refused answer, for example, does not restart its clock. One that is due no longer is given up. After an
    error of `attend` a value that is still due gets a second try, whose time is over: so that it ends as by its clock.

    Attributes:
        due: returns the values that are due now, in the order in which they begin.
        seconds: returns the time of a value that begins; None: nothing happens to it.
        attend: called for each value: asks for its answer, or waits for the deadline, and tells the session.
        ended: called with a value that is due no longer, and the seconds that were left.
        open: the deadline and the task of each value that is due.
    """

    due: Callable[[], Iterable[Due]]
    seconds: Callable[[Due], float | None]
    attend: Callable[[Due, Deadline], Coroutine[Any, Any, None]]
    ended: Callable[[Due, float], None] = lambda due, left: None
    open: dict[Due, tuple[Deadline, asyncio.Task[None]]] = field(default_factory=dict, init=False)
    _group: asyncio.TaskGroup | None = field(default=None, init=False)

    def follow(self) -> None:
        """Give up what is due no longer, and begin what has become due. Call it whenever the session has moved."""
        due, begin = list(self.due()), asyncio.create_task if self._group is None else self._group.create_task
        for one in [one for one in self.open if one not in due]:
            deadline, task = self.open.pop(one)
            if task is not asyncio.current_task():  # which has just settled it
                task.cancel()
            self.ended(one, deadline.left)
        for one in due:
            if one not in self.open and (seconds := self.seconds(one)) is not None:
                deadline = Deadline.after(seconds)
                self.open[one] = deadline, begin(self._run(one, deadline))

    async def play(self) -> None:
        """Attend until nothing is due; raises the error of a second try."""
        try:
            async with asyncio.TaskGroup() as self._group:
                self.follow()
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None

    def stop(self) -> None:
        """Give up all, for good."""
        self.due = list
        self.follow()

    async def _run(self, due: Due, deadline: Deadline, again: bool = False) -> None:
        try:
            await self.attend(due, deadline)
        except Exception:
            logger.exception("an error of ours at %s", due)
            if again:
                self.open.pop(due, None)  # it begins anew when the session moves: never by itself, without end
                raise
            if due in self.due():
                return await self._run(due, Deadline.after(0.0), again=True)
        self.follow()


class CountsMatches:
    """What plays matches, or games: it counts those that have ended."""

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
