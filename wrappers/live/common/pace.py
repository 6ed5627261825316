"""Pace: so many events a second of each address; further ones wait for their turn."""

import asyncio

MOST_ADDRESSES = 10_000
"""Addresses that are remembered; beyond, those without a wait are forgotten."""


class Pace:
    """A limit for each address, which refuses nothing. It spreads what one address sends over time.

    Args:
        rate: events per second.
        at_once: events that may come at once.
    """

    def __init__(self, rate: float, at_once: int) -> None:
        self._gap = 1 / rate
        self._slack = at_once / rate
        self._next: dict[str, float] = {}  # when the next event of an address would come at an even pace

    def wait(self, address: str) -> float:
        """Count an event of an address, and return the seconds that it has to wait; "": no address, 0 seconds."""
        if not address:
            return 0.0
        now = asyncio.get_running_loop().time()
        if len(self._next) > MOST_ADDRESSES:
            self._next = {one: at for one, at in self._next.items() if at > now}
        due = max(self._next.get(address, now), now)
        self._next[address] = due + self._gap
        return max(0.0, due - now - self._slack)
