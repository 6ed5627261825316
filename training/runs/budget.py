"""The budget of a training run: timesteps, and a limit of time."""

import time


class Budget:
    """The limits of a run.

    Args:
        timesteps: how many timesteps at most.
        minutes: how many minutes at most, from `start` on; None: no limit.
    """

    def __init__(self, timesteps: int, minutes: float | None) -> None:
        self._timesteps, self._minutes = timesteps, minutes
        self.start()

    def start(self) -> None:
        """Start the clock."""
        self._started = time.monotonic()

    def seconds(self) -> float:
        """Return the seconds since the start."""
        return time.monotonic() - self._started

    def has_time(self) -> bool:
        """Return whether there is time left."""
        return self._minutes is None or self.seconds() < self._minutes * 60

    def used(self, timesteps: int) -> float:
        """Return the used share, in `timesteps` or in time, whichever is greater: from 0 to 1."""
        in_time = 0.0 if self._minutes is None else self.seconds() / 60 / self._minutes
        return min(1.0, max(timesteps / self._timesteps, in_time))


def in_words(seconds: float) -> str:
    """Return a duration: below two minutes in seconds.

    >>> in_words(5.6), in_words(600)
    ('5.6 s', '10.0 minutes')
    """
    return f"{seconds:.1f} s" if seconds < 120 else f"{seconds / 60:.1f} minutes"
