"""The faults of a soak test: what happens to a frame, a connection, a request or a process, drawn from a seed."""

from dataclasses import asdict, dataclass, replace
from random import Random
from typing import Literal, TypeAlias

FrameFault: TypeAlias = Literal["drop", "break", "delay", "duplicate", "reorder"]
"""What may happen to a frame: it is lost; it is cut off in the middle; its direction stands still for a time; it is
sent twice; the next frame overtakes it."""


@dataclass(frozen=True, kw_only=True)
class FaultRates:
    """How often each fault happens.

    Attributes:
        drop, broken, delay, duplicate, reorder: share of the frames, and of the HTTP requests.
        cuts: resets of a connection per connection and hour.
        host_restarts: kills of the host per hour.
        agent_restarts: kills of one of the agents' processes per hour.
        longest_delay: seconds; a delay is drawn from 0 to it.
        longest_down: seconds that a killed process is away at most; drawn from 0 to it.
    """

    drop: float = 0.001
    broken: float = 0.001
    delay: float = 0.004
    duplicate: float = 0.004
    reorder: float = 0.004
    cuts: float = 4.0
    host_restarts: float = 6.0
    agent_restarts: float = 12.0
    longest_delay: float = 3.0
    longest_down: float = 4.0

    def __post_init__(self) -> None:
        """Check the ranges."""
        shares = (self.drop, self.broken, self.delay, self.duplicate, self.reorder)
        if min(shares) < 0 or sum(shares) > 1:
            raise ValueError(f"the shares of frames with a fault are {shares}: each from 0 up, together at most 1")

    def scaled(self, factor: float) -> "FaultRates":
        """Return the rates with each share and each number per hour multiplied."""
        rates = {name: value for name, value in asdict(self).items() if not name.startswith("longest")}
        return replace(self, **{name: factor * value for name, value in rates.items()})


class Dice:
    """The random numbers of one stream of faults.

    Args:
        rates: how often.
        seed: any text; streams with other seeds are independent.
    """

    def __init__(self, rates: FaultRates, seed: str) -> None:
        self._rates = rates
        self._random = Random(seed)

    def frame(self) -> FrameFault | None:
        """Return what happens to the next frame; None: nothing."""
        rates = self._rates
        at = self._random.random()
        shares: tuple[tuple[FrameFault, float], ...] = (
            ("drop", rates.drop),
            ("break", rates.broken),
            ("delay", rates.delay),
            ("duplicate", rates.duplicate),
            ("reorder", rates.reorder),
        )
        for fault, share in shares:
            if at < share:
                return fault
            at -= share
        return None

    def seconds(self) -> float:
        """Return the length of a delay."""
        return self._random.uniform(0.0, self._rates.longest_delay)

    def down(self) -> float:
        """Return for how many seconds a killed process is away."""
        return self._random.uniform(0.0, self._rates.longest_down)

    def wait(self, per_hour: float) -> float:
        """Return the seconds until the next of events that happen so often; infinity where they never do."""
        return self._random.expovariate(per_hour / 3600) if per_hour > 0 else float("inf")

    def broken(self, data: bytes) -> bytes:
        """Return the beginning of a message: at least one byte, and at least one less than all."""
        return data[: self._random.randint(1, max(1, len(data) - 1))]

    def pick(self, count: int) -> int:
        """Return a number below `count`."""
        return self._random.randrange(count)
