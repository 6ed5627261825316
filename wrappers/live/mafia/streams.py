"""Calls and streams of agents, with limits of time and length."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Generator
from types import coroutine
from typing import Any, TypeVar

from .limits import ChunkLimit

Result = TypeVar("Result")

CLOSING = 1.0
"""Seconds for an agent to close a stream."""


async def chunks(source: AsyncIterator[str], seconds: float, most: int) -> AsyncGenerator[str, None]:
    """Yield the chunks of a stream as they come; empty ones are left out.

    Args:
        source: an agent's stream.
        seconds: the time for the whole stream, which includes the time of the consumer.
        most: the most characters of the whole stream.

    Raises:
        TimeoutError: when the time is over.
        ValueError: if it has more than `most` characters, which are yielded before, or more than `limits.CHUNKS`
            chunks, or cannot be written as UTF-8.
        TypeError: if a chunk is no text.
        Exception: any error of the agent.
    """
    end = asyncio.get_running_loop().time() + seconds
    limit = ChunkLimit(most)
    try:
        while True:
            async with asyncio.timeout_at(end):
                chunk = await anext(source, None)
                if chunk == "":
                    await asyncio.sleep(0)  # endless empty chunks must not block the event loop
            if chunk is None:
                return
            for part in limit.take(chunk):
                yield part
            if limit.error is not None:
                raise limit.error
    finally:
        await close(source)


async def within(seconds: float, work: Coroutine[Any, Any, Result]) -> Result:
    """Return the result of a coroutine. The timer starts when it first waits, because most agents never wait.

    Raises:
        TimeoutError: when the time is over.
        Exception: any error of the coroutine.
    """
    try:
        waits_for = work.send(None)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]
    async with asyncio.timeout(seconds):
        return await _resumed(work, waits_for)


@coroutine
def _resumed(work: Coroutine[Any, Any, Result], waits_for: Any) -> Generator[Any, Any, Result]:
    """Continue a coroutine that has begun."""
    while True:
        try:
            sent, error = (yield waits_for), None
        except BaseException as raised:  # a cancellation too is passed to the coroutine
            sent, error = None, raised
        try:
            waits_for = work.send(sent) if error is None else work.throw(error)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]


async def close(source: Any) -> None:
    """Close a stream, if it has `aclose`; its errors are ignored."""
    aclose = getattr(source, "aclose", None)
    if aclose is not None:
        with contextlib.suppress(Exception):
            async with asyncio.timeout(CLOSING):
                await aclose()
