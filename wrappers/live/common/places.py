"""Places: at most so many open things, shared fairly among addresses. Sockets and WebSockets of a server use it."""

from collections import Counter
from collections.abc import Iterator
from typing import Generic, TypeVar

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
