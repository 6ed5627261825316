"""A notice on stderr while Numba compiles. The first use of a game takes a while; later uses load the cached code."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, Timer
from time import monotonic
from typing import Any

from numba.core.event import Listener, install_listener
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from .terminal.console import Console
from .terminal.progress import STDERR

PATIENCE = 1.0
"""Seconds of compiling before the notice appears."""
EVERY = 10.0
"""Seconds between two lines if stderr is not a terminal."""


@contextmanager
def compiling_notice(console: Console = STDERR) -> Iterator[None]:
    """Show what is compiled, and for how long, while the body of the `with` statement runs."""
    notice = CompilingNotice(console)
    try:
        with install_listener("numba:compile", notice):
            yield
    finally:
        notice.close()


IN_WORDS = {"small": "small games", "phases": "games in phases", "economics": "games of economics"}
"""Packages that have no name of one game."""


class CompilingNotice(Listener):
    """A listener for Numba's events. It shows a display on a terminal, and prints lines elsewhere.

    Args:
        console: the console of the notice.
        patience: seconds of compiling before the notice appears.
    """

    def __init__(self, console: Console, patience: float = PATIENCE) -> None:
        self._console = console
        self._lock = Lock()
        self._timer: Timer | None = None
        self._display = Progress(
            SpinnerColumn(), TextColumn("{task.description} …"), TimeElapsedColumn(), console=console, transient=True
        )
        self._shown = False
        self._depth = 0  # functions being compiled, each called by the one before
        self._spent = 0.0  # seconds before the current outermost function
        self._begun = 0.0
        self._due = patience  # seconds of compiling after which the next line is shown
        self._what = "the environment"

    def on_start(self, event: Any) -> None:
        """Called when Numba begins to compile a function."""
        with self._lock:
            self._name(event.data["dispatcher"].py_func.__module__)
            self._depth += 1
            if self._depth == 1:
                self._begun = monotonic()
                self._wait(max(0.0, self._due - self._spent))

    def on_end(self, event: Any) -> None:
        """Called when Numba has compiled it."""
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                self._spent += monotonic() - self._begun
                self._stop()

    def close(self) -> None:
        """Remove the display."""
        with self._lock:
            self._depth = 0
            self._stop()

    def _name(self, module: str) -> None:
        _, envs, name = module.partition(".envs.")
        package = name.partition(".")[0]
        if envs and package != "core":
            self._what = IN_WORDS.get(package, package)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._shown:
            self._display.stop()
            self._shown = False

    def _wait(self, seconds: float) -> None:
        self._timer = Timer(seconds, self._show)
        self._timer.daemon = True
        self._timer.start()

    def _show(self) -> None:
        with self._lock:
            if self._depth == 0 or self._timer is None or self._console.quiet:
                return
            text = f"compiling {self._what} (first use; kept on disk)"
            if self._console.is_terminal:
                if not self._display.tasks:
                    self._display.add_task(text, total=None)
                self._display.update(self._display.task_ids[0], description=text)
                self._display.start()
                self._shown = True
            else:
                self._console.print(f"{text} … {self._due:.0f} s", markup=False, soft_wrap=True)
                self._due += EVERY
                self._wait(EVERY)
