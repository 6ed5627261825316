"""What agents stream, within bounds of time and length."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator

LONGEST_CHUNK = 4_000
"""Characters; a longer chunk is passed on in parts."""
CHUNKS = 5_000
"""Most chunks of a stream: each becomes an event, which is kept."""


async def chunks(source: AsyncIterator[str], seconds: float, most: int) -> AsyncGenerator[str, None]:
    """Return the chunks of a stream as they come; empty ones are left out.

    Args:
        source: an agent's stream.
        seconds: for the whole of it.
        most: characters of the whole of it.

    Raises:
        TimeoutError: when the time is up.
        ValueError: if it is longer, of which `most` characters have been passed on, if it comes in more than `CHUNKS`
            chunks, or if it cannot be written as UTF-8.
        TypeError: if a chunk is no text.
        Exception: whatever the agent raises.
    """
    end = asyncio.get_running_loop().time() + seconds
    left = most
    passed = 0
    try:
        while True:
            # The time runs while the agent does, not while its chunks are passed on.
            async with asyncio.timeout_at(end):
                chunk = await anext(source, None)
                if chunk == "":
                    await asyncio.sleep(0)  # nothing, again and again, must not stop the clock
            if chunk is None:
                return
            if not isinstance(chunk, str):
                raise TypeError(f"a chunk is text, not {type(chunk).__name__}")
            chunk.encode()  # half a surrogate pair could not be told to anybody
            passed += bool(chunk)
            if passed > CHUNKS:
                raise ValueError(f"more than {CHUNKS:,} chunks")
            for start in range(0, min(len(chunk), left), LONGEST_CHUNK):
                yield chunk[start : min(start + LONGEST_CHUNK, left)]
            left -= len(chunk)
            if left < 0:
                raise ValueError(f"more than {most:,} characters")
    finally:
        close = getattr(source, "aclose", None)
        if close is not None:
            with contextlib.suppress(Exception):
                async with asyncio.timeout(1.0):
                    await close()
