"""Stopping of servers and long matches by a signal, with clean-up."""

import asyncio
import signal
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

TRY_AGAIN = 75
"""Exit code of what may work another time: a server that is away, a connection closed without a word. A supervisor
starts the command again; 2 means that starting it again is of no use."""

Result = TypeVar("Result")


def until_done(work: Coroutine[Any, Any, Result]) -> Result:
    """Run `work` to its end. SIGTERM, or SIGHUP of a terminal that is closed, cancels it like Ctrl-C, with clean-up.

    The exit code is then 128 and the signal's number: 143, 129. A SIGHUP that is ignored, as by nohup, stays so.
    """
    ended_by: list[int] = []

    async def run() -> Result:
        task = asyncio.current_task()

        def end(number: int) -> None:
            if task is not None and not ended_by:  # a second signal must not interrupt the clean-up of the first
                ended_by.append(number)
                task.cancel()

        with suppress(NotImplementedError, RuntimeError):  # not available on Windows and in other threads
            for name in ("SIGTERM", "SIGHUP"):
                number = getattr(signal, name)
                if signal.getsignal(number) is not signal.SIG_IGN:
                    asyncio.get_running_loop().add_signal_handler(number, end, number)
        return await work

    try:
        return asyncio.run(run())
    except asyncio.CancelledError:
        if ended_by:
            raise SystemExit(128 + ended_by[0]) from None
        raise


@contextmanager
def interruptible() -> Iterator[None]:
    """Let SIGTERM, and SIGHUP of a terminal that is closed, raise KeyboardInterrupt as Ctrl-C does.

    Other threads than the main one get no signals: there it does nothing.
    """
    main = threading.current_thread() is threading.main_thread()
    numbers = [number for name in ("SIGTERM", "SIGHUP") if (number := getattr(signal, name, None)) is not None]
    before = {number: handler for number in numbers if main and (handler := signal.getsignal(number)) != signal.SIG_IGN}
    try:
        for number in before:
            signal.signal(number, signal.default_int_handler)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
