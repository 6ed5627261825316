"""Calls and streams of agents, within bounds of time and length."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Generator
from types import coroutine
from typing import Any, TypeVar

from .limits import ChunkLimit

Result = TypeVar("Result")

CLOSING = 1.0
"""Seconds for an agent to end a stream that nobody reads any longer."""


async def chunks(source: AsyncIterator[str], seconds: float, most: int) -> AsyncGenerator[str, None]:
    """Return the chunks of a stream as they come; empty ones are left out.

    Args:
        source: an agent's stream.
        seconds: for the whole of it. The time runs while the agent does, not while its chunks are passed on.
        most: characters of the whole of it.

    Raises:
        TimeoutError: when the time is up.
        ValueError: if it is longer, of which `most` characters have been passed on, if it comes in more chunks than
            `limits.CHUNKS`, or if it cannot be written as UTF-8.
        TypeError: if a chunk is no text.
        Exception: whatever the agent raises.
    """
    end = asyncio.get_running_loop().time() + seconds
    limit = ChunkLimit(most)
    try:
        while True:
            async with asyncio.timeout_at(end):
                chunk = await anext(source, None)
                if chunk == "":
                    await asyncio.sleep(0)  # nothing, again and again, must not stop the clock
            if chunk is None:
                return
            for part in limit.take(chunk):
                yield part
            if limit.error is not None:
                raise limit.error
    finally:
        await close(source)


async def within(seconds: float, work: Coroutine[Any, Any, Result]) -> Result:
    """Return what a coroutine returns. The clock is set when it first waits: many agents never do.

    Raises:
        TimeoutError: when the time is up.
        Exception: whatever the coroutine raises.
    """
    try:
        waits_for = work.send(None)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]
    async with asyncio.timeout(seconds):
        return await _resumed(work, waits_for)


@coroutine
def _resumed(work: Coroutine[Any, Any, Result], waits_for: Any) -> Generator[Any, Any, Result]:
    """Go on with a coroutine that has begun."""
    while True:
        try:
            sent, error = (yield waits_for), None
        except BaseException as raised:  # a cancellation is the coroutine's to take
            sent, error = None, raised
        try:
            waits_for = work.send(sent) if error is None else work.throw(error)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]


async def close(source: Any) -> None:
    """Close a stream, if it can be closed, whatever it does about it."""
    aclose = getattr(source, "aclose", None)
    if aclose is not None:
        with contextlib.suppress(Exception):
            async with asyncio.timeout(CLOSING):
                await aclose()
