"""How many messages a peer may send."""


class RateLimit:
    """A token bucket: `rate` messages a second, twice as many at once.

    Args:
        rate: messages a second, at least 1.
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
        """Let the latest message cost nothing."""
        self._left += 1
