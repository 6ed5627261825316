"""HealthServer: ``/healthz`` and ``/metrics`` (for Prometheus) of a live agent or host, on a port of their own.

The server has a thread and an event loop of its own, so that it answers even if the program's loop is stuck.
"""

import asyncio
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import get_args

from aiohttp import web
from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from ...agents.language_model import Fault, ModelStatistics
from .activity import COUNTERS, GAUGES, Activity
from .agent_turn import BOUNDS, AgentStatistics
from .server import Server, ServerSettings


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
        yield from _models(self._activity.models())
        if self._activity.link is not None:
            about = "Whether there is a connection to the platform."
            yield GaugeMetricFamily("parlour_connected", about, value=self._activity.link.connected)


def _latencies(statistics: AgentStatistics) -> Metric:
    """Return the histogram of the seconds of a decision. Prometheus' buckets count all decisions up to their bound."""
    buckets, count = [], 0
    for bound, number in zip([*map(str, BOUNDS), "+Inf"], statistics.buckets, strict=True):
        count += number
        buckets.append((bound, float(count)))
    about = "Seconds of the agent's decisions."
    return HistogramMetricFamily("parlour_decision_seconds", about, buckets=buckets, sum_value=statistics.seconds)


ATTRIBUTES = {"tokens_in": "input_size", "tokens_out": "output_size"}
"""Attributes of `ModelStatistics` that the metrics name otherwise."""


def _models(models: Mapping[str, ModelStatistics]) -> Iterator[Metric]:
    """Return the statistics of language models, with the label `seat`; none without models."""
    if not models:
        return
    counters = {
        "decisions": "Turns for which a language model was asked.",
        "replaced": "Turns without a usable answer of a language model.",
        "retries": "Requests sent again after an error or a lost connection.",
        "tokens_in": "Tokens sent.",
        "tokens_out": "Tokens received.",
        "seconds": "Seconds of all calls together.",
        "cost": "Cost of all tokens, in the currency of the prices.",
    }
    for name, about in counters.items():
        family = CounterMetricFamily(f"parlour_model_{name}", about, labels=["seat"])
        for seat, statistics in models.items():
            family.add_metric([seat], getattr(statistics, ATTRIBUTES.get(name, name)))
        yield family
    about = "Answers by what is wrong with them."
    faults = CounterMetricFamily("parlour_model_faults", about, labels=["seat", "fault"])
    for seat, statistics in models.items():
        for fault in get_args(Fault):
            faults.add_metric([seat, fault], statistics.faults[fault])
    yield faults


def registry_of(activity: Activity) -> CollectorRegistry:
    """Return a registry of its own, with the activity, and the process's memory, processor time and files."""
    registry = CollectorRegistry()
    registry.register(ActivityCollector(activity))
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    GCCollector(registry=registry)
    return registry


BEAT_SECONDS = 1.0
"""Seconds between two signs of life of the program's event loop."""
STUCK_SECONDS = 20.0
"""Seconds without a sign of life after which the loop counts as stuck."""
START_SECONDS = 10.0
"""Seconds that the server may take to listen."""


class Heartbeat:
    """Signs of life of an event loop.

    Attributes:
        latest: time of the latest one, by `time.monotonic`.
    """

    def __init__(self) -> None:
        self.latest = time.monotonic()

    async def beat(self) -> None:
        """Give signs of life until cancelled."""
        while True:
            self.latest = time.monotonic()
            await asyncio.sleep(BEAT_SECONDS)

    @property
    def problem(self) -> str | None:
        """A sentence if the loop is stuck; None: it is not."""
        seconds = time.monotonic() - self.latest
        return f"the event loop has been stuck for {seconds:.0f} s" if seconds > STUCK_SECONDS else None


class HealthServer(Server):
    """Serves ``/healthz`` (200 or 503, with the reason) and ``/metrics`` (for Prometheus).

    Args:
        activity: what is shown.
        heartbeat: signs of life of the program's loop.
        settings: where it listens.
    """

    def __init__(self, activity: Activity, heartbeat: Heartbeat, settings: ServerSettings | None = None) -> None:
        super().__init__(settings, check_host=True, body_limit=1024)
        self._activity = activity
        self._heartbeat = heartbeat
        self._registry: CollectorRegistry = registry_of(activity)

    def routes(self) -> list[web.RouteDef]:
        """See `Server`."""
        return [web.get("/healthz", self._health), web.get("/metrics", self._metrics)]

    async def _health(self, request: web.Request) -> web.Response:
        problem = self._heartbeat.problem or self._activity.problem()
        body = {"healthy": problem is None, "problem": problem, **self._activity.fields()}
        return web.json_response(body, status=200 if problem is None else 503)

    async def _metrics(self, request: web.Request) -> web.Response:
        return web.Response(body=generate_latest(self._registry), headers={"Content-Type": CONTENT_TYPE_LATEST})


@contextmanager
def serving_health(server: HealthServer) -> Iterator[str]:
    """Run the server in a thread of its own, until the end of the context; the value is its URL.

    Raises:
        OSError: if the port is taken.
    """
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True, name="health")
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.start(), loop).result(START_SECONDS)
        try:
            yield server.url
        finally:
            asyncio.run_coroutine_threadsafe(server.stop(), loop).result(START_SECONDS)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
