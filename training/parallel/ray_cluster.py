"""The connection to a Ray cluster."""

import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import ray


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
