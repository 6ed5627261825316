"""Pace: so many events a second of each address; further ones wait for their turn, or are refused."""

import asyncio

LONGEST = 1.0
"""Seconds that an event waits at most."""
MOST_ADDRESSES = 10_000
"""Addresses that are remembered; beyond, those without a wait are forgotten."""


class Pace:
    """A limit for each address. It spreads what one address sends over time, and refuses what would wait too long.

    Args:
        rate: events per second.
        at_once: events that may come at once.
    """

    def __init__(self, rate: float, at_once: int) -> None:
        self._gap = 1 / rate
        self._slack = at_once / rate
        self._next: dict[str, float] = {}  # when the next event of an address would come at an even pace

    def wait(self, address: str) -> float | None:
        """Count an event of an address, and return the seconds that it has to wait; "": no address, 0 seconds.

        None: it would wait longer than `LONGEST`. It is refused, and does not count, so that the wait cannot grow.
        """
        if not address:
            return 0.0
        now = asyncio.get_running_loop().time()
        if len(self._next) > MOST_ADDRESSES:
            self._next = {one: at for one, at in self._next.items() if at > now}
        due = max(self._next.get(address, now), now)
        wait = max(0.0, due - now - self._slack)
        if wait > LONGEST:
            return None
        self._next[address] = due + self._gap
        return wait
