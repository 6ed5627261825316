"""Worker: a thread for calls that may be slow, raise an error or never return. The event loop is not blocked."""

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable
from typing import Any

from ...logs.log_text import describe_error

_Call = tuple[Callable[..., Any], tuple[Any, ...], "asyncio.Future[Any]", asyncio.AbstractEventLoop]


class Worker:
    """One thread. Calls never overlap, and a call that never returns does not keep the process from ending.

    Args:
        name: the thread's name.

    Attributes:
        stuck: whether the thread is still in a call that was cancelled.
    """

    def __init__(self, name: str = "agent") -> None:
        self._calls: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()
        self._running: asyncio.Future[Any] | None = None
        threading.Thread(target=self._run, daemon=True, name=name).start()

    @property
    def stuck(self) -> bool:
        """Whether the thread is still in a call that was cancelled."""
        running = self._running
        return running is not None and running.cancelled()

    async def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return the function's result. A call that is cancelled before its turn is never begun.

        Raises:
            RuntimeError: if the function raised an error, with that error as its cause.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        self._calls.put((function, args, future, loop))
        result, error = await future
        if error is not None:
            raise RuntimeError(f"the agent raised {describe_error(error)}") from error
        return result

    def stop(self) -> None:
        """End the thread after its current call."""
        self._calls.put(None)

    def _run(self) -> None:
        while (call := self._calls.get()) is not None:
            function, args, future, loop = call
            if future.cancelled():
                continue
            self._running = future
            outcome: tuple[Any, BaseException | None]
            try:
                outcome = function(*args), None
            except BaseException as error:  # the thread must survive the error
                outcome = None, error
            self._running = None
            with contextlib.suppress(RuntimeError):  # the event loop is closed
                loop.call_soon_threadsafe(_resolve, future, outcome)


def _resolve(future: "asyncio.Future[Any]", outcome: Any) -> None:
    if not future.done():
        future.set_result(outcome)
