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
