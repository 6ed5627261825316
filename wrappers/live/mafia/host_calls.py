"""Calls of agents: those that are due, the state of those that run, and streams with limits of time and length."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any, NamedTuple, TypeVar

from ...logs.log_text import describe_error as described
from ..common.clock import Deadline
from .limits import ChunkLimit, SentenceLimit
from .messages import GameState, Method, PrivateInfo, PublicInfo

Result = TypeVar("Result")

CLOSING = 1.0
"""Seconds for an agent to close a stream."""


async def chunks(
    stream: AsyncIterator[str], deadline: Deadline, limit: ChunkLimit | None = None
) -> AsyncGenerator[Any, None]:
    """Yield what an agent's stream yields, as it comes, and close it. With a limit, only what is within it.

    Raises:
        TimeoutError: at the deadline.
        Exception: the error of the limit, or any error of the agent.
    """
    try:
        while True:
            async with deadline.limit():
                try:
                    chunk = await anext(stream)
                except StopAsyncIteration:
                    return
                if chunk == "":
                    await asyncio.sleep(0)  # endless empty chunks must not block the event loop
            if not deadline.left:  # it goes on although it was cancelled
                raise TimeoutError(f"no answer within {deadline.seconds:g} s")
            for part in [chunk] if limit is None else limit.take(chunk):
                yield part
            if limit is not None and limit.error is not None:
                raise limit.error
    finally:
        await close(stream)


async def close(source: Any) -> None:
    """Close a stream, if it has `aclose`; its errors are ignored."""
    aclose = getattr(source, "aclose", None)
    if aclose is not None:
        with contextlib.suppress(Exception):
            async with asyncio.timeout(CLOSING):
                await aclose()


class DueCall(NamedTuple):
    """A call to make now: of a method of a seat's agent.

    Attributes:
        number: the number of the call; `MafiaHostSession.arguments` returns its arguments.
        seat: the seat of the agent.
        method: the method.
        seconds: the time for the answer.
        characters: the most characters of a stream (``think``, ``say``); 0 for the others.
    """

    number: int
    seat: int
    method: Method
    seconds: float
    characters: int = 0


class RunningCall:
    """A call that has not ended.

    Args:
        call: the call.
        stream: the fields of every event of its stream.
        thought: the call of `think` before it. It has the same context, unless others have chosen since.
        tries: the number of calls for the same decision, with this one.

    Attributes:
        context, info: the arguments of the call; None: not known yet.
        choices: the number of choices of others when the arguments were written.
        called: whether the agent was called with them.
        text: the chunks of the stream that were passed on.
        problem: why the stream ends here; None: it goes on.
        replaced: why the answer is not the agent's own; None: it is.
    """

    def __init__(
        self, call: DueCall, stream: dict[str, str], thought: "RunningCall | None" = None, tries: int = 1
    ) -> None:
        self.call = call
        self.stream = stream
        self.tries = tries
        self.context: GameState | None = None
        self.info: PrivateInfo | PublicInfo | None = None
        self.choices = 0
        if thought is not None:
            self.context, self.choices = thought.context, thought.choices
            self.info = thought.info if call.method == "nightAction" else None
        self.called = False
        self.text: list[str] = []
        self.problem: str | None = None
        self.replaced: str | None = None
        self._chunks = ChunkLimit(call.characters)
        self._sentences = SentenceLimit() if call.method == "say" else None

    def take(self, chunk: Any) -> list[str]:
        """Return the parts of the next chunk of the stream that are within the limits."""
        parts = self._chunks.take(chunk)
        if self._chunks.error is not None:
            self.problem = described(self._chunks.error)
        if self._sentences is not None:
            parts = self._cut(parts, self._sentences)
        self.text += parts
        return parts

    def _cut(self, parts: list[str], sentences: SentenceLimit) -> list[str]:
        """Return the parts that are within the limit of sentences."""
        left = []
        for part in parts:
            passed = sentences.take(part)
            if passed:
                left.append(passed)
            if sentences.full:
                self.problem = "more than five sentences: the rest is left out"
                break
        return left
