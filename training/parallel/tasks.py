"""Tasks: independent calls, in this process, in processes of this machine, or in a Ray cluster. And signals that stop.

Every task gets copies of its arguments. So its result depends neither on where it runs nor on the other tasks.
"""

import multiprocessing
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from importlib.util import find_spec
from types import FrameType
from typing import Any

ENDING = [number for name in ("SIGTERM", "SIGHUP") if (number := getattr(signal, name, None)) is not None]
STOPPING = (signal.SIGINT, *ENDING)


@contextmanager
def handled(numbers: Iterable[int], handler: Any) -> Iterator[None]:
    """Give signals another handler for the block, those that are not ignored.

    Other threads than the main one get no signals: there it does nothing.
    """
    main = threading.current_thread() is threading.main_thread()
    before = {one: now for one in numbers if main and (now := signal.getsignal(one)) not in (None, signal.SIG_IGN)}
    try:
        for number in before:
            signal.signal(number, handler)
        yield
    finally:
        for number, now in before.items():
            signal.signal(number, now)


@contextmanager
def held_back() -> Iterator[None]:
    """Hold signals that stop a run back until the end of the block.

    The KeyboardInterrupt of a signal can come between any two instructions. In the middle of `threading.Condition` it
    loses a wake-up, and the thread that waits for it waits for ever. So calls into libraries with threads of their own
    are made in such a block.
    """
    came: list[int] = []
    try:
        with handled(STOPPING, lambda number, frame: came.append(number)):
            yield
    finally:
        for number in came[:1]:
            signal.raise_signal(number)


@contextmanager
def interruptible() -> Iterator[None]:
    """Let SIGTERM, and SIGHUP of a terminal that is closed, raise KeyboardInterrupt as Ctrl-C does.

    A second one is ignored, so that it does not interrupt the clean-up, and so is SIGHUP where it is ignored already,
    as by nohup.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    with handled(ENDING, stop):
        yield


Tick = Callable[[int], None]
"""Called with the number of games (decisions, …) just played."""


def ignore(count: int) -> None:
    """Take no notice of progress."""


@dataclass(frozen=True)
class Task:
    """A call ``function(progress=…)``.

    Attributes:
        function: a function of a module, or `functools.partial` of one, with the argument `progress`, a `Tick`.
        size: what its progress counts up to.
    """

    function: Callable[..., Any]
    size: int = 1


@dataclass(frozen=True, kw_only=True)
class Workers:
    """Where the work is done. The results are the same everywhere."""

    processes: int = 1
    """Number of tasks (pairs, opponents, runs) at the same time."""
    ray: str | None = None
    """Address of a Ray cluster that does the work, auto or host:port (it needs the extra `ray`). Default: this
    machine."""

    def __post_init__(self) -> None:
        if self.processes < 1:
            raise ValueError(f"processes={self.processes}: need a whole number, at least 1")

    def run(self, tasks: Sequence[Task], progress: Tick = ignore) -> list[Any]:
        """Run the tasks, and return their results in the order of the tasks.

        Args:
            tasks: the tasks.
            progress: called with what was just played: by a task in this process while it runs, else at its end.

        Raises:
            Exception: the first error of a task. Tasks that have not started are left out.
            ConnectionError: if there is no cluster at the address.
            ImportError: if Ray is not installed, and there is an address.
        """
        if self.processes == 1 and self.ray is None:
            return [run_task(deepcopy(task.function), progress) for task in tasks]
        if self.ray is not None:
            return run_in_cluster(self.ray, tasks, progress)
        context = multiprocessing.get_context("spawn")  # a fork would copy the locks of PyTorch's threads
        executor = ProcessPoolExecutor(self.processes, mp_context=context, initializer=_prepare_worker)
        try:
            futures = {executor.submit(run_task, task.function): task.size for task in tasks}
            for future in as_completed(futures):
                future.result()
                progress(futures[future])
            return [future.result() for future in futures]
        except KeyboardInterrupt:
            for worker in multiprocessing.active_children():
                worker.terminate()  # SIGTERM: a run is saved
            raise
        finally:
            executor.shutdown(cancel_futures=True)


HERE = Workers()
"""All tasks in this process."""


def run_task(function: Callable[..., Any], progress: Tick = ignore) -> Any:
    """Make the call of a task; Ctrl-C ends a worker's process."""
    try:
        return function(progress=progress)
    except KeyboardInterrupt:
        if multiprocessing.parent_process() is not None:
            os._exit(130)  # a worker would begin the next task
        raise


def _prepare_worker() -> None:
    """Leave Ctrl-C to the first process, and limit matrix products to one thread: every processor has a task."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if find_spec("threadpoolctl") is not None:
        from threadpoolctl import threadpool_limits

        threadpool_limits(1, "blas")


# A Ray cluster.


def connect(address: str, cpus: int = 0) -> bool:
    """Connect to a cluster; return whether it was done here, and not before.

    Args:
        address: ``"auto"`` or ``host:port``; empty: a new cluster of this machine alone.
        cpus: the least number of processors of a new cluster.

    Raises:
        ConnectionError: if there is no cluster at the address.
        ImportError: if Ray, an extra, is not installed.
    """
    import ray

    if ray.is_initialized():
        return False
    common: dict[str, Any] = {"log_to_driver": False, "logging_level": "warning"}
    host, colon, port = address.rpartition(":")
    if colon and port.isdecimal():  # Ray itself waits for minutes
        try:
            socket.create_connection((host, int(port)), timeout=10).close()
        except OSError as error:
            raise ConnectionError(f"no Ray cluster answers at {address}: {error}") from None
    # Without "local", Ray takes a cluster that runs on this machine, or that RAY_ADDRESS names.
    own: dict[str, Any] = {} if address else {"num_cpus": max(cpus, os.cpu_count() or 1), "include_dashboard": False}
    # `ray.init` replaces the handler of SIGTERM; a run that gets SIGTERM is saved.
    with handled([signal.SIGTERM], signal.getsignal(signal.SIGTERM)):
        ray.init(address or "local", **own, **common)
    return True


def run_in_cluster(address: str, tasks: Sequence[Task], progress: Tick) -> list[Any]:
    """Run every task on one processor of a cluster; see `Workers.run`.

    A task whose node is lost is run again on another node.
    """
    import ray

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
    except ray.exceptions.RayTaskError as error:  # it has the stack of the worker in its message
        raise error.cause from None
    finally:
        for each in waiting:
            ray.cancel(each)
        if own_connection and ray.is_initialized():
            ray.shutdown()


def _call(function: Callable[..., Any]) -> Any:
    return run_task(deepcopy(function))  # Ray's arrays are read-only
