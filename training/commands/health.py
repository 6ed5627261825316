"""``/healthz`` and ``/metrics`` (for Prometheus) of a live agent or host, on a port of their own.

prometheus-client serves them in a thread of its own, so that they answer even if the program's event loop is stuck.
"""

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import accumulate
from typing import Any, get_args
from wsgiref.simple_server import WSGIRequestHandler, make_server

import msgspec
from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector, make_wsgi_app
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.exposition import ThreadingWSGIServer
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from ...wrappers.agents.language_model import Fault
from ...wrappers.live.common.player import BOUNDS
from ...wrappers.live.common.server import Origins, url_of
from .activity import COUNTERS, GAUGES, Activity


class ActivityCollector(Collector):
    """Reads an `Activity` whenever the metrics are requested."""

    def __init__(self, activity: Activity) -> None:
        self._activity = activity

    def collect(self) -> Iterator[Metric]:
        """Return the metrics; their names begin with ``parlour_``."""
        for name, value in self._activity.numbers().items():
            kind, about = (CounterMetricFamily, COUNTERS) if name in COUNTERS else (GaugeMetricFamily, GAUGES)
            yield kind(f"parlour_{name}", about[name], value=value)
        if (statistics := self._activity.statistics) is not None:
            counts = map(float, accumulate(statistics.buckets))  # Prometheus counts all decisions up to a bound
            buckets = list(zip([*map(str, BOUNDS), "+Inf"], counts, strict=True))
            words = "Seconds of the agent's decisions."
            yield HistogramMetricFamily("parlour_decision_seconds", words, buckets, statistics.seconds)
        models = self._activity.models()
        for name, (attribute, words) in MODEL_COUNTERS.items() if models else ():
            family = CounterMetricFamily(f"parlour_model_{name}", words, labels=["seat"])
            for seat, model in models.items():
                family.add_metric([seat], getattr(model, attribute))
            yield family
        words = "Answers by what is wrong with them."
        faults = CounterMetricFamily("parlour_model_faults", words, labels=["seat", "fault"])
        for seat, model in models.items():
            for fault in get_args(Fault):
                faults.add_metric([seat, fault], model.faults[fault])
        if models:
            yield faults
        if self._activity.link is not None:
            words = "Whether there is a connection to the platform."
            yield GaugeMetricFamily("parlour_connected", words, value=self._activity.link.connected)


MODEL_COUNTERS = {
    "decisions": ("decisions", "Turns for which a language model was asked."),
    "replaced": ("replaced", "Turns without a usable answer of a language model."),
    "retries": ("retries", "Requests sent again after an error or a lost connection."),
    "tokens_in": ("input_size", "Tokens sent."),
    "tokens_out": ("output_size", "Tokens received."),
    "seconds": ("seconds", "Seconds of all calls together."),
    "cost": ("cost", "Cost of all tokens, in the currency of the prices."),
}
"""The attribute of `ModelStatistics` and the help of each metric of a language model."""


BEAT_SECONDS = 1.0
"""Seconds between two signs of life of the program's event loop."""
STUCK_SECONDS = 20.0
"""Seconds without a sign of life after which the loop counts as stuck."""


class Heartbeat:
    """Signs of life of an event loop."""

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


class _Quiet(WSGIRequestHandler):
    timeout = 10.0

    def log_message(self, *args: Any) -> None:
        pass


@contextmanager
def serving_health(
    activity: Activity, heartbeat: Heartbeat, address: str = "127.0.0.1", port: int = 0
) -> Iterator[str]:
    """Serve until the end of the context; the value is the URL.

    ``/healthz`` answers 200 or 503, with the reason. Web pages of other sites get 403.

    Args:
        activity: what is shown.
        heartbeat: signs of life of the program's loop.
        address, port: where it listens; port 0 chooses a free one.

    Raises:
        OSError: if the port is taken.
    """
    registry, origins = CollectorRegistry(), Origins(address)
    for collector in (ProcessCollector, PlatformCollector, GCCollector):
        collector(registry=registry)
    registry.register(ActivityCollector(activity))
    metrics = make_wsgi_app(registry)

    def app(request: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        if (refusal := origins.refusal(request.get("HTTP_HOST", ""), request.get("HTTP_ORIGIN"))) is not None:
            start("403 Forbidden", [])
            return [refusal.encode()]
        if request["PATH_INFO"] == "/metrics":
            return metrics(request, start)  # type: ignore[no-any-return]
        if request["PATH_INFO"] != "/healthz":
            start("404 Not Found", [])
            return []
        problem = heartbeat.problem or activity.problem()
        start("200 OK" if problem is None else "503 Service Unavailable", [("Content-Type", "application/json")])
        return [msgspec.json.encode({"healthy": problem is None, "problem": problem, **activity.fields()})]

    class Listening(ThreadingWSGIServer):
        address_family = socket.AF_INET6 if ":" in address else socket.AF_INET

    server = make_server(address, port, app, Listening, _Quiet)
    thread = threading.Thread(target=server.serve_forever, daemon=True, name="health")
    thread.start()
    try:
        yield url_of(str(server.server_address[0]), server.server_port)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
