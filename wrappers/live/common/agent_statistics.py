"""AgentStatistics: counters and latencies of an agent in live play."""

from collections import deque
from dataclasses import dataclass, field

RECENT = 1_000
"""The number of latest decisions whose latencies are stored."""


@dataclass
class AgentStatistics:
    """Counters of one agent, over all its tables and games.

    Attributes:
        decisions: number of answered turns, safe actions included.
        replaced: number of turns with the safe action, because the agent was late, raised an error, or gave an answer
            that cannot be played.
        rejected: number of answers that the platform rejected.
        latencies: seconds per answer of the latest `RECENT` decisions.
    """

    decisions: int = 0
    replaced: int = 0
    rejected: int = 0
    latencies: deque[float] = field(default_factory=lambda: deque(maxlen=RECENT))

    def decided(self, seconds: float, replaced: bool) -> None:
        """Count a decision and store its time in seconds."""
        self.decisions += 1
        self.replaced += replaced
        self.latencies.append(seconds)

    def latency(self, share: float = 0.5) -> float | None:
        """Return a quantile (`share`, 0 to 1) of the latest latencies in seconds; None before the first decision.

        >>> statistics = AgentStatistics()
        >>> for seconds in (0.1, 0.4, 0.2):
        ...     statistics.decided(seconds, replaced=False)
        >>> statistics.latency(), statistics.latency(1)
        (0.2, 0.4)
        """
        if not self.latencies:
            return None
        ordered = sorted(self.latencies)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
