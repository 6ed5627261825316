"""Prometheus metrics of a live agent or host."""

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from .activity import COUNTERS, GAUGES, Activity
from .agent_statistics import BOUNDS, AgentStatistics


class ActivityCollector(Collector):
    """Reads an `Activity` whenever the metrics are requested.

    Args:
        activity: what is shown.
    """

    def __init__(self, activity: Activity) -> None:
        self._activity = activity

    def collect(self) -> Iterator[Metric]:
        """Return the metrics; their names begin with ``parlour_``."""
        for name, value in self._activity.numbers().items():
            if name in COUNTERS:
                yield CounterMetricFamily(f"parlour_{name}", COUNTERS[name], value=value)
            else:
                yield GaugeMetricFamily(f"parlour_{name}", GAUGES[name], value=value)
        if self._activity.statistics is not None:
            yield _latencies(self._activity.statistics)
        if self._activity.link is not None:
            told = "Whether there is a connection to the platform."
            yield GaugeMetricFamily("parlour_connected", told, value=self._activity.link.connected)


def _latencies(statistics: AgentStatistics) -> Metric:
    """Return the histogram of the seconds of a decision. Prometheus' buckets count all decisions up to their bound."""
    buckets, count = [], 0
    for bound, number in zip([*map(str, BOUNDS), "+Inf"], statistics.buckets, strict=True):
        count += number
        buckets.append((bound, float(count)))
    told = "Seconds of the agent's decisions."
    return HistogramMetricFamily("parlour_decision_seconds", told, buckets=buckets, sum_value=statistics.seconds)


def registry_of(activity: Activity) -> CollectorRegistry:
    """Return a registry of its own, with the activity, and the process's memory, processor time and files."""
    registry = CollectorRegistry()
    registry.register(ActivityCollector(activity))
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    GCCollector(registry=registry)
    return registry
