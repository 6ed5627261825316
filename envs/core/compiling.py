"""Says that functions are being compiled, and for how long: the first use of a game takes up to a minute.

The lines are warnings of the logger ``parlour``: on stderr, unless a program sets up its logging otherwise.
"""

import logging
from threading import Timer
from time import monotonic
from typing import Any

from numba.core.event import Listener

logger = logging.getLogger(__name__.partition(".")[0])
PATIENCE = 1.0
"""Seconds of compiling before the first line."""
EVERY = 10.0
"""Seconds of compiling between two lines."""
IN_WORDS = {"small": "small games", "phases": "games in phases", "economics": "games of economics"}
"""Packages that have no name of one game."""


class CompilingNotice(Listener):
    """A listener for Numba's events. It counts the seconds of all compilations together.

    Args:
        patience: seconds of compiling before the first line.
        every: seconds between two lines.
    """

    def __init__(self, patience: float = PATIENCE, every: float = EVERY) -> None:
        self._due, self._every = patience, every
        self._depth = 0  # functions being compiled, each called by the one before
        self._spent = 0.0  # seconds before the current outermost function
        self._begun = 0.0  # 0: none is compiled
        self._what = "the environment"
        self._timer = Timer(0, self._tell)

    def on_start(self, event: Any) -> None:
        """Called when Numba begins to compile a function; what is not made by `compiled` is not counted."""
        dispatcher = event.data["dispatcher"]
        package = (dispatcher.py_func.__module__ or "").partition(".envs.")[2].partition(".")[0]
        if package not in ("", "core"):
            self._what = IN_WORDS.get(package, package)
        self._depth += hasattr(dispatcher, "sources")
        if self._depth == 1 and not self._begun:
            self._begun = monotonic()
            self._wait()

    def on_end(self, event: Any) -> None:
        """Called when Numba has compiled it."""
        self._depth -= hasattr(event.data["dispatcher"], "sources")
        if not self._depth and self._begun:
            self._spent, self._begun = self._seconds(), 0.0
            self._timer.cancel()

    def _wait(self) -> None:
        self._timer = Timer(max(0.0, self._due - self._seconds()), self._tell)
        self._timer.daemon = True
        self._timer.start()

    def _seconds(self) -> float:
        return self._spent + monotonic() - self._begun

    def _tell(self) -> None:
        if self._depth:
            self._due = self._seconds() + self._every
            logger.warning("compiling %s (first use; kept on disk) … %.0f s", self._what, self._seconds())
            self._wait()
