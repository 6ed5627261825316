"""Runs servers and agents: logs, health, status lines, and an end with clean-up at a signal."""

import asyncio
import errno
import logging
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, contextmanager, suppress
from types import TracebackType
from typing import Any, Self, TypeVar

from ...wrappers.live.common.activity import Activity, trim_memory
from ...wrappers.logs.match_log import MatchLog, describe_error
from ...wrappers.logs.program_log import FIELDS, FOR_FILES, STATUS, program_log
from ..terminal.console import Console
from .arguments import LiveArguments, SessionArguments

logger = logging.getLogger(__name__)

MEGABYTE = 10**6
NO_PORT = (errno.EADDRINUSE, errno.EADDRNOTAVAIL, errno.EACCES)
"""Errors of a server that cannot listen: nothing has been played then, and there is nothing to sum up."""

Result = TypeVar("Result")


class Supervisor:
    """Runs a live agent or host. A context manager: the logs are open inside.

    Args:
        live: its settings.
        session: names the match log.
        console: where the summary is printed.

    Attributes:
        log: the match log; None: no log.
    """

    def __init__(self, live: LiveArguments, session: SessionArguments, console: Console) -> None:
        self.log: MatchLog | None = None
        self._live = live
        self._path = session.log
        self._console = console
        self._open = ExitStack()

    def __enter__(self) -> Self:
        live = self._live
        with ExitStack() as stack:
            stack.enter_context(
                program_log(
                    live.log_level, live.log_format, live.log_file, round(MEGABYTE * live.log_file_mb), live.log_files
                )
            )
            if self._path is not None:
                most = max(1, round(MEGABYTE * live.match_log_mb)) if live.match_log_mb else None
                self.log = stack.enter_context(MatchLog(self._path, most_bytes=most, old_files=live.match_logs))
            self._open = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._open.close()

    def run(
        self, work: Coroutine[Any, Any, Result], activity: Activity, ending: Callable[[Result], str] = lambda _: ""
    ) -> Result:
        """Run `work` to its end or until a signal (see `until_done`), and print the summary.

        Args:
            work: the program.
            activity: what it does.
            ending: returns why the program has ended, for the summary; "": nothing is said.

        Raises:
            OSError: if the port of the metrics is taken.
        """
        why: str | None = None
        with ExitStack() as stack:
            stack.callback(work.close)  # no effect on a coroutine that has run
            beat = None
            if self._live.metrics_port is not None:
                beat = self._serve_health(stack, activity)
            try:
                result = until_done(self._watched(work, activity, beat))
                why = ending(result)
                return result
            except KeyboardInterrupt:
                why = "Ctrl-C"
                raise
            except SystemExit:
                why = "SIGTERM"
                raise
            except ValueError:  # a mistake of the user: nothing has been played
                raise
            except Exception as error:
                if isinstance(error, OSError) and error.errno in NO_PORT:
                    raise
                why = describe_error(error)
                raise
            finally:
                if why is not None:
                    self._tell_summary(activity, why)

    def _serve_health(self, stack: ExitStack, activity: Activity) -> Callable[[], Coroutine[Any, Any, None]]:
        """Serve health and metrics; return what gives signs of life."""
        from ...wrappers.live.common.health import Heartbeat, serving_health  # needs prometheus-client

        heartbeat, live = Heartbeat(), self._live
        url = stack.enter_context(serving_health(activity, heartbeat, live.metrics_address, live.metrics_port or 0))
        logger.info("health at %s/healthz, metrics at %s/metrics", url, url)
        return heartbeat.beat

    async def _watched(
        self,
        work: Coroutine[Any, Any, Result],
        activity: Activity,
        beat: Callable[[], Coroutine[Any, Any, None]] | None,
    ) -> Result:
        tasks = [asyncio.create_task(trim_memory())]
        if beat is not None:
            tasks.append(asyncio.create_task(beat()))
        if self._live.status_every:
            tasks.append(asyncio.create_task(tell_status(activity, self._live.status_every)))
        try:
            return await work
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _tell_summary(self, activity: Activity, why: str) -> None:
        try:
            self._summary(activity, why)
        except Exception:  # whatever it counts: the program's own result or error stays
            logger.exception("the summary failed")

    def _summary(self, activity: Activity, why: str) -> None:
        line = f"summary: {activity.line()}" + (f"; ended: {why}" if why else "")
        logger.log(STATUS, "%s", line, extra={FIELDS: {**activity.fields(), "ended": why}, FOR_FILES: True})
        if self._console.is_terminal:
            self._console.print()  # below the ^C of the terminal
        for text in (line, *(f"{name}: {one.line()}" for name, one in activity.models().items())):
            self._console.print(text, markup=False, soft_wrap=not self._console.is_terminal)


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
