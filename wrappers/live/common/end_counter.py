"""EndCounter: waits until a number of matches or games have ended."""

import asyncio


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
