"""Stopping of servers and long matches by a signal, with clean-up."""

import asyncio
import signal
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

TRY_AGAIN = 75
"""Exit code of what may work another time: a server that is away, a connection closed without a word. A supervisor
starts the command again; 2 means that starting it again is of no use."""

Result = TypeVar("Result")


def until_done(work: Coroutine[Any, Any, Result]) -> Result:
    """Run `work` to its end. SIGTERM cancels it like Ctrl-C, with clean-up and exit code 143 (128 + 15)."""
    terminated = False

    async def run() -> Result:
        task = asyncio.current_task()

        def end() -> None:
            nonlocal terminated
            if task is not None and not terminated:  # a second signal must not interrupt the clean-up of the first
                terminated = True
                task.cancel()

        with suppress(NotImplementedError, RuntimeError):  # not available on Windows and in other threads
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, end)
        return await work

    try:
        return asyncio.run(run())
    except asyncio.CancelledError:
        if terminated:
            raise SystemExit(128 + signal.SIGTERM) from None
        raise
