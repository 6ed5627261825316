"""Link: whether an agent is connected to its platform, since when it is not, and how often it has reconnected."""

import time
from collections.abc import Callable


class Link:
    """The state of an agent's connection to a platform.

    Args:
        clock: returns the time in seconds.

    Attributes:
        connected: whether there is a connection.
        reconnects: number of connections after a lost one.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.connected = False
        self.reconnects = 0
        self._clock = clock
        self._since = clock()
        self._lost = False

    def up(self) -> None:
        """Note that there is a connection."""
        self.reconnects += self._lost and not self.connected
        self._lost, self.connected = False, True

    def down(self, lost: bool = True) -> None:
        """Note that there is no connection; not `lost`: it ended as planned, and the next one is no reconnect."""
        if self.connected:
            self.connected, self._lost = False, lost
            self._since = self._clock()

    @property
    def away(self) -> float:
        """Seconds without a connection; 0 with one."""
        return 0.0 if self.connected else self._clock() - self._since
