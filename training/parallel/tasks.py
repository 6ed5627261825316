"""Tasks: independent calls, in this process, in processes of this machine, or in a Ray cluster. And signals that stop.

Every task gets copies of its arguments. So its result depends neither on where it runs nor on the other tasks.
"""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from importlib.util import find_spec
from types import FrameType
from typing import Any

from . import handled

ENDING = [number for name in ("SIGTERM", "SIGHUP") if (number := getattr(signal, name, None)) is not None]
STOPPING = (signal.SIGINT, *ENDING)


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
    """A call ``function(*args, **settings, progress=…)``.

    Attributes:
        function: a function of a module, with the argument `progress`, a `Tick`.
        args: its arguments by position.
        settings: its arguments by name.
        size: what its progress counts up to.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
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
        """Check the number."""
        if self.processes < 1:
            raise ValueError(f"processes={self.processes}: need 1 or more")

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
        calls = [(task.function, task.args, dict(task.settings)) for task in tasks]
        if self.processes == 1 and self.ray is None:
            return [run_task(*deepcopy(call), progress) for call in calls]
        if self.ray is not None:
            from .ray import run_in_cluster  # imported here: Ray is an extra

            return run_in_cluster(self.ray, run_task, calls, lambda number: progress(tasks[number].size))
        context = multiprocessing.get_context("spawn")  # a fork would copy the locks of PyTorch's threads
        executor = ProcessPoolExecutor(self.processes, mp_context=context, initializer=_prepare_worker)
        try:
            futures = [executor.submit(run_task, *call) for call in calls]
            sizes = {future: task.size for future, task in zip(futures, tasks, strict=True)}
            for future in as_completed(futures):
                future.result()
                progress(sizes[future])
            return [future.result() for future in futures]
        except KeyboardInterrupt:
            for worker in multiprocessing.active_children():
                worker.terminate()  # SIGTERM: a run is saved
            raise
        finally:
            executor.shutdown(cancel_futures=True)


HERE = Workers()
"""All tasks in this process."""


def run_task(
    function: Callable[..., Any], args: tuple[Any, ...], settings: dict[str, Any], progress: Tick = ignore
) -> Any:
    """Make the call of a task; Ctrl-C ends a worker's process."""
    try:
        return function(*args, **settings, progress=progress)
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
