"""A Ray cluster: the connection, and an executor whose calls are its tasks."""

import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import ray
from ray.exceptions import RayTaskError


def connect(address: str, cpus: int = 0) -> bool:
    """Connect to a cluster; return whether it was done here, and not before.

    Args:
        address: ``"auto"`` or ``host:port``; empty: a new cluster of this machine alone.
        cpus: the least number of processors of a new cluster.

    Raises:
        ConnectionError: if there is no cluster at the address.
    """
    if ray.is_initialized():
        return False
    common: dict[str, Any] = {"log_to_driver": False, "logging_level": "warning"}
    host, colon, port = address.rpartition(":")
    if colon and port.isdecimal():  # Ray itself waits for minutes
        try:
            socket.create_connection((host, int(port)), timeout=10).close()
        except OSError as error:
            raise ConnectionError(f"no Ray cluster answers at {address}: {error}") from None
    with _signal_handler_kept():
        if address:
            ray.init(address=address, **common)
        else:
            # Without "local", Ray takes a cluster that runs on this machine, or that RAY_ADDRESS names.
            ray.init("local", num_cpus=max(cpus, os.cpu_count() or 1), include_dashboard=False, **common)
    return True


@contextmanager
def _signal_handler_kept() -> Iterator[None]:
    """Keep the handler of SIGTERM, which `ray.init` replaces: a run that gets SIGTERM is saved."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class RayExecutor(Executor):
    """Runs every call on one processor of a cluster. A call whose node is lost is made again on another node.

    Args:
        address: of the cluster (see `ray_cluster.connect`).

    Raises:
        ConnectionError: if there is no cluster at the address.
    """

    def __init__(self, address: str) -> None:
        self._own_connection = connect(address)
        self._call: Any = ray.remote(num_cpus=1, scheduling_strategy="SPREAD")(_call)
        self._open: dict[Future[Any], Any] = {}

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """See `concurrent.futures.Executor.submit`."""
        reference = self._call.remote(function, args, kwargs)
        future: Future[Any] = Future()
        self._open[future] = reference
        reference.future().add_done_callback(lambda done: self._finish(future, done))
        return future

    def _finish(self, future: Future[Any], done: Future[Any]) -> None:
        self._open.pop(future, None)
        if not future.set_running_or_notify_cancel():
            return
        error = done.exception()
        if error is None:
            future.set_result(done.result())
        else:  # Ray's error has the stack of the worker in its message
            future.set_exception(error.cause if isinstance(error, RayTaskError) else error)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Cancel calls if wanted; else wait for them. End the connection if it was made here."""
        for future, reference in list(self._open.items()):
            if cancel_futures:
                future.cancel()
                ray.cancel(reference)
            elif wait:
                future.exception()
        if self._own_connection and ray.is_initialized():
            ray.shutdown()


def _call(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    args, kwargs = deepcopy((args, kwargs))  # Ray's arrays are read-only
    return function(*args, **kwargs)
