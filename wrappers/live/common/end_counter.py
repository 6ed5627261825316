"""Waiting until so many matches or games have ended."""

import asyncio


class EndCounter:
    """Counts what has ended.

    Attributes:
        count: how many have.
    """

    def __init__(self) -> None:
        self.count = 0
        self._ended = asyncio.Event()

    def add(self) -> None:
        """Count one more."""
        self.count += 1
        self._ended.set()

    async def reached(self, count: int | None = None) -> None:
        """Wait until at least so many have ended; None waits for ever."""
        while count is None or self.count < count:
            self._ended.clear()
            await self._ended.wait()
