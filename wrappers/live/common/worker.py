"""A thread that runs what may be slow, raise or never return, for an event loop that must go on."""

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable
from typing import Any

_Call = tuple[Callable[..., Any], tuple[Any, ...], "asyncio.Future[Any]", asyncio.AbstractEventLoop]


class Worker:
    """One thread. Calls never overlap, and a call that never returns cannot hold the process.

    Attributes:
        stuck: a call that nobody waits for any longer has not returned.
    """

    def __init__(self, name: str = "agent") -> None:
        self._calls: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()
        self._running: asyncio.Future[Any] | None = None
        threading.Thread(target=self._run, daemon=True, name=name).start()

    @property
    def stuck(self) -> bool:
        """Whether the thread is still in a call that was given up."""
        running = self._running
        return running is not None and running.cancelled()

    async def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return the function's result. A cancelled call that waits is never begun.

        Raises:
            RuntimeError: if the function raised, whatever it raised, caused by that.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        self._calls.put((function, args, future, loop))
        result, error = await future
        if error is not None:
            raise RuntimeError(f"the agent raised {described(error)}") from error
        return result

    def stop(self) -> None:
        """End the thread after the call it may be in."""
        self._calls.put(None)

    def _run(self) -> None:
        while (call := self._calls.get()) is not None:
            function, args, future, loop = call
            if future.cancelled():
                continue
            self._running = future
            answer: tuple[Any, BaseException | None]
            try:
                answer = function(*args), None
            except BaseException as error:  # the thread must outlive it
                answer = None, error
            self._running = None
            with contextlib.suppress(RuntimeError):  # the loop is gone: nobody waits
                loop.call_soon_threadsafe(_fulfil, future, answer)


def _fulfil(future: "asyncio.Future[Any]", answer: Any) -> None:
    if not future.done():
        future.set_result(answer)


def described(error: BaseException) -> str:
    """Return the error's type and text, at most 300 characters; its own `__str__` may be broken."""
    try:
        text = str(error)
    except Exception:
        text = "(no text)"
    return shown(f"{type(error).__name__}: {text}")


def shown(text: str) -> str:
    """Return others' text for a log, at most 300 characters: on one line, with what a terminal would obey escaped."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text[:300])[:300]
