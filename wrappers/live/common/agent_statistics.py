"""AgentStatistics: counters and latencies of an agent in live play."""

from bisect import bisect_left
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

RECENT = 1_000
"""The number of latest decisions whose latencies are stored."""
BOUNDS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
"""The upper bounds of the histogram of latencies in seconds; a last bucket has no bound."""


@dataclass
class AgentStatistics:
    """Counters of one agent, over all its tables and games.

    Attributes:
        decisions: number of answered turns, safe actions included.
        replaced: number of turns with the safe action, because the agent was late, raised an error, or gave an answer
            that cannot be played.
        replaced_in_a_row: the same, since the latest turn that the agent answered itself.
        rejected: number of answers that the platform rejected.
        latencies: float64[RECENT], seconds per answer of the latest decisions, in no order. Its size never changes.
        buckets: number of decisions by their seconds: up to each of `BOUNDS`, above the bound before; and longer ones.
        seconds: seconds of all decisions together.
    """

    decisions: int = 0
    replaced: int = 0
    replaced_in_a_row: int = 0
    rejected: int = 0
    latencies: NDArray[np.float64] = field(default_factory=lambda: np.zeros(RECENT), compare=False)
    buckets: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    seconds: float = 0.0

    def decided(self, seconds: float, replaced: bool) -> None:
        """Count a decision and store its time in seconds."""
        self.latencies[self.decisions % RECENT] = seconds
        self.decisions += 1
        self.replaced += replaced
        self.replaced_in_a_row = self.replaced_in_a_row + 1 if replaced else 0
        self.buckets[bisect_left(BOUNDS, seconds)] += 1
        self.seconds += seconds

    def latency(self, share: float = 0.5) -> float | None:
        """Return a quantile (`share`, 0 to 1) of the latest latencies in seconds; None before the first decision.

        >>> statistics = AgentStatistics()
        >>> for seconds in (0.1, 0.4, 0.2):
        ...     statistics.decided(seconds, replaced=False)
        >>> statistics.latency(), statistics.latency(1)
        (0.2, 0.4)
        """
        if not self.decisions:
            return None
        ordered = np.sort(self.latencies[: self.decisions])
        return float(ordered[min(len(ordered) - 1, int(share * len(ordered)))])
