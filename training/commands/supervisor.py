"""Runs servers and agents: logs, health, status lines, and an end with clean-up at a signal."""

import asyncio
import errno
import logging
import signal
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from ...wrappers.logs.match_log import MatchLog, describe_error
from ...wrappers.logs.program_log import FIELDS, FOR_FILES, STATUS, program_log
from ..parallel.tasks import ENDING
from ..terminal.console import Console
from .activity import Activity, trim_memory
from .arguments import LiveArguments

logger = logging.getLogger(__name__)

MEGABYTE = 10**6
NO_PORT = (errno.EADDRINUSE, errno.EADDRNOTAVAIL, errno.EACCES)
"""Errors of a server that cannot listen: nothing has been played then, and there is nothing to sum up."""

BY_SIGNAL = 128
"""What is added to a signal's number in the exit code of a program that it ended."""

Result = TypeVar("Result")
Beat = Callable[[], Coroutine[Any, Any, None]]
"""Runs beside a program until it is cancelled."""


@dataclass
class Supervisor:
    """Runs a live agent or host.

    Attributes:
        live: its settings.
        console: where the summary is printed.
        log: the match log; None: no log.
    """

    live: LiveArguments
    console: Console
    log: MatchLog | None

    def run(
        self, program: Coroutine[Any, Any, Result], activity: Activity, ending: Callable[[Result], str] = lambda _: ""
    ) -> Result:
        """Run `program` to its end or until a signal (see `until_done`), and print the summary.

        Args:
            program: what to run.
            activity: what it does.
            ending: returns why the program has ended, for the summary; "": nothing is said.

        Raises:
            OSError: if the port of the metrics is taken.
        """
        why: str | None = None
        with ExitStack() as stack:
            stack.callback(program.close)  # no effect on a coroutine that has run
            beats: list[Beat] = [trim_memory]
            if self.live.status_every:
                beats.append(partial(tell_status, activity, self.live.status_every))
            if self.live.metrics_port is not None:
                from .health import Heartbeat, serving_health  # needs prometheus-client

                heartbeat, address = Heartbeat(), (self.live.metrics_address, self.live.metrics_port)
                url = stack.enter_context(serving_health(activity, heartbeat, *address))
                logger.info("health at %s/healthz, metrics at %s/metrics", url, url)
                beats.append(heartbeat.beat)
            try:
                result = until_done(beside(program, beats))
                why = ending(result)
                return result
            except KeyboardInterrupt:
                why = "Ctrl-C"
                raise
            except SystemExit as end:
                why = signal.Signals(int(end.code or 0) - BY_SIGNAL).name
                raise
            except Exception as error:
                # After a mistake of the user, or without its port, nothing has been played.
                if not isinstance(error, ValueError) and not (isinstance(error, OSError) and error.errno in NO_PORT):
                    why = describe_error(error)
                raise
            finally:
                if why is not None:
                    self._tell_summary(activity, why)

    def _tell_summary(self, activity: Activity, why: str) -> None:
        try:
            line = f"summary: {activity.line()}" + (f"; ended: {why}" if why else "")
            logger.log(STATUS, "%s", line, extra={FIELDS: {**activity.fields(), "ended": why}, FOR_FILES: True})
            if self.console.is_terminal:
                self.console.print()  # below the ^C of the terminal
            for text in (line, *(f"{name}: {one.line()}" for name, one in activity.models().items())):
                self.console.print(text, markup=False, soft_wrap=not self.console.is_terminal)
        except Exception as error:  # whatever it counts: the program's own result or error stays
            logger.error("the summary failed: %s", describe_error(error), exc_info=not isinstance(error, OSError))


@contextmanager
def supervised(live: LiveArguments, console: Console) -> Iterator[Supervisor]:
    """Open the logs of a live program, and yield what runs it."""
    most = max(1, round(MEGABYTE * live.match_log_mb)) if live.match_log_mb else None
    with (
        program_log(live.log_level, live.log_format, live.log_file, round(MEGABYTE * live.log_file_mb), live.log_files),
        nullcontext() if live.log is None else MatchLog(live.log, most_bytes=most, old_files=live.match_logs) as log,
    ):
        yield Supervisor(live, console, log)


async def beside(program: Awaitable[Result], beats: Sequence[Beat]) -> Result:
    """Return the result of `program`, beside which `beats` run."""
    tasks = [asyncio.create_task(beat()) for beat in beats]
    try:
        return await program
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def serving(
    server: Any,
    console: Console,
    lines: Callable[[], Sequence[str]],
    until: Callable[[], Awaitable[object]] | None = None,
) -> None:
    """Run a server until `until` is done, else until it is cancelled; print `lines` when it listens."""
    async with server:
        console.say(*lines())
        await (asyncio.Event().wait() if until is None else until())


async def tell_status(activity: Activity, seconds: float) -> None:
    """Write a status line into the log every so many seconds, until cancelled; none while nothing happens."""
    before = None
    while True:
        await asyncio.sleep(seconds)
        try:
            problem = activity.problem()
            models = "".join(f"; {name}: {one.line()}" for name, one in activity.models().items())
            state = activity.numbers(), models, problem is None
            if state != before or problem:
                before = state
                line = f"status: {activity.line()}{models}" + (f"; problem: {problem}" if problem else "")
                fields = {**activity.fields(), "problem": problem}
                logger.log(logging.WARNING if problem else STATUS, "%s", line, extra={FIELDS: fields})
        except Exception:  # whatever it counts: the next line may do
            logger.exception("a status line failed")


TRY_AGAIN = 75
"""Exit code of what may work another time: a server that is away, a connection closed without a word. A supervisor
starts the command again; 2 means that starting it again is of no use."""


def until_done(program: Coroutine[Any, Any, Result]) -> Result:
    """Run `program` to its end. SIGTERM, or SIGHUP of a terminal that is closed, cancels it like Ctrl-C, with clean-up.

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
            for number in ENDING:
                if signal.getsignal(number) is not signal.SIG_IGN:
                    asyncio.get_running_loop().add_signal_handler(number, end, number)
        return await program

    try:
        return asyncio.run(run())
    except asyncio.CancelledError:
        if ended_by:
            raise SystemExit(BY_SIGNAL + ended_by[0]) from None
        raise
