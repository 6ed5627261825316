"""A Ray cluster: the connection, and tasks that run there."""

import os
import signal
import socket
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import ray
from ray.exceptions import RayTaskError

from .tasks import Task, Tick, handled, run_task


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
    # `ray.init` replaces the handler of SIGTERM; a run that gets SIGTERM is saved.
    with handled([signal.SIGTERM], signal.getsignal(signal.SIGTERM)):
        if address:
            ray.init(address=address, **common)
        else:
            # Without "local", Ray takes a cluster that runs on this machine, or that RAY_ADDRESS names.
            ray.init("local", num_cpus=max(cpus, os.cpu_count() or 1), include_dashboard=False, **common)
    return True


def run_in_cluster(address: str, tasks: Sequence[Task], progress: Tick) -> list[Any]:
    """Run every task on one processor of a cluster; see `Workers.run`.

    A task whose node is lost is run again on another node.
    """
    own_connection = connect(address)
    remote: Any = ray.remote(num_cpus=1, scheduling_strategy="SPREAD")(_call)
    running = {remote.remote(task.function): task.size for task in tasks}
    waiting = list(running)
    try:
        while waiting:
            (ended,), waiting = ray.wait(waiting)
            ray.get(ended)
            progress(running[ended])
        return list(ray.get(list(running)))
    except RayTaskError as error:  # it has the stack of the worker in its message
        raise error.cause from None
    finally:
        for each in waiting:
            ray.cancel(each)
        if own_connection and ray.is_initialized():
            ray.shutdown()


def _call(function: Callable[..., Any]) -> Any:
    return run_task(deepcopy(function))  # Ray's arrays are read-only
