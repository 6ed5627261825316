"""A Ray cluster: the connection, and tasks that run there."""

import os
import signal
import socket
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import ray
from ray.exceptions import RayTaskError

from . import handled


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


def run_in_cluster(
    address: str, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], done: Callable[[int], None]
) -> list[Any]:
    """Make every call of a function on one processor of a cluster, and return the results in order.

    A call whose node is lost is made again on another node.

    Args:
        address: of the cluster (see `connect`).
        function: a function of a module.
        calls: the arguments of the calls.
        done: called with the number of each call that has ended.

    Raises:
        ConnectionError: if there is no cluster at the address.
        Exception: the first error of a call. Calls that have not begun are left out.
    """
    own_connection = connect(address)
    remote: Any = ray.remote(num_cpus=1, scheduling_strategy="SPREAD")(_call)
    running = [remote.remote(function, args) for args in calls]
    numbers, waiting = {each: number for number, each in enumerate(running)}, running
    try:
        while waiting:
            (ended,), waiting = ray.wait(waiting)
            ray.get(ended)
            done(numbers[ended])
        return list(ray.get(running))
    except RayTaskError as error:  # it has the stack of the worker in its message
        raise error.cause from None
    finally:
        for each in waiting:
            ray.cancel(each)
        if own_connection and ray.is_initialized():
            ray.shutdown()


def _call(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    return function(*deepcopy(args))  # Ray's arrays are read-only
