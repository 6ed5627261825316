"""What a peer or an address may take: events a second, and its share of the open places."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from typing import Generic, TypeVar

"""RateLimit: a limit on the messages of a peer."""


class RateLimit:
    """A token bucket: `rate` messages per second, and up to twice as many at once.

    Args:
        rate: messages per second, at least 1.
        now: the clock, in seconds.
    """

    def __init__(self, rate: float, now: float) -> None:
        self._rate = rate
        self._left = 2 * rate
        self._at = now

    def take(self, now: float) -> bool:
        """Return whether a message may come at this time, and count it if it may."""
        self._left = min(2 * self._rate, self._left + self._rate * (now - self._at))
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True

    def give_back(self) -> None:
        """Take the latest message out of the count."""
        self._left += 1


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


Item = TypeVar("Item")


class Places(Generic[Item]):
    """So many places, each taken by something of an address.

    When all are taken, the address with the most gives up the oldest of its items that are idle, and to another address
    one that is busy too, but none that is kept. So a stranger who takes many places at last takes them from itself.

    Args:
        most: number of places; with 0 nothing is admitted.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._address_of: dict[Item, str] = {}  # the oldest first
        self._kept: set[Item] = set()
        self._busy: set[Item] = set()

    def __len__(self) -> int:
        return len(self._address_of)

    def __iter__(self) -> Iterator[Item]:
        return iter(self._address_of)

    def take(self, item: Item, address: str) -> tuple[bool, Item | None]:
        """Give an item a place, if there is one or another item has to go.

        Args:
            item: what takes the place.
            address: its address.

        Returns:
            Whether it has a place; and the item that has lost its own, which the caller closes.
        """
        victim = None
        if len(self._address_of) >= self.most:
            victim = self._victim(address)
            if victim is None:
                return False, None
            self.free(victim)
        self._address_of[item] = address
        return True, victim

    def keep(self, item: Item, kept: bool = True) -> None:
        """Let an item keep its place whatever comes, or no longer: the connection of a player in a seat."""
        if kept and item in self._address_of:
            self._kept.add(item)
        else:
            self._kept.discard(item)

    def work(self, item: Item, busy: bool) -> None:
        """Note whether an item is busy, such as a socket with a request that is answered."""
        if busy and item in self._address_of:
            self._busy.add(item)
        else:
            self._busy.discard(item)

    def free(self, item: Item) -> None:
        """Free the place of an item, if it has one."""
        self._address_of.pop(item, None)
        self._kept.discard(item)
        self._busy.discard(item)

    def _victim(self, address: str) -> Item | None:
        counts = Counter(self._address_of.values())
        for worst, count in counts.most_common():
            if worst != address and count <= counts[address] + 1:
                continue  # it would be no fairer
            movable = [item for item, owner in self._address_of.items() if owner == worst and item not in self._kept]
            idle = [item for item in movable if item not in self._busy]
            if idle or (movable and worst != address):
                return (idle or movable)[0]
        return None
