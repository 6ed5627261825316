"""How an agent does at live tables: counters and latencies."""

from collections import deque
from dataclasses import dataclass, field

RECENT = 1_000
"""Latest decisions whose latencies are kept."""


@dataclass
class AgentStatistics:
    """Counters of one agent, over all its tables and games.

    Attributes:
        decisions: turns that were answered, by the agent or by the safe action in its place.
        replaced: turns that the safe action answered, because the agent was late, raised, or gave no playable answer.
        rejected: answers that the platform rejected.
        latencies: seconds from being asked to the answer, of the latest `RECENT` decisions.
    """

    decisions: int = 0
    replaced: int = 0
    rejected: int = 0
    latencies: deque[float] = field(default_factory=lambda: deque(maxlen=RECENT))

    def decided(self, seconds: float, replaced: bool) -> None:
        """Count a decision that took so many seconds."""
        self.decisions += 1
        self.replaced += replaced
        self.latencies.append(seconds)

    def latency(self, share: float = 0.5) -> float | None:
        """Return the seconds within which this share (0 to 1) of the latest decisions came; None before the first.

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
