"""Play begins in plain Python; a process of its own compiles the game meanwhile and keeps the machine code on disk.

One table needs no machine code: a decision takes about a millisecond without it, and compiling takes up to a minute. So
where a `Match` plays and a function has no machine code yet, the function runs as plain Python (see
`plain_python.in_python`), with the same results. When the process has ended, functions load their machine code, in the
middle of an episode too. Many tables (`VectorGame`), training, and functions for many tables or boards
(``compile_first`` of `compiled`) compile first.

``PARLOUR_COMPILE_FIRST=1`` lets every function compile before its first use; ``NUMBA_DISABLE_JIT=1`` never compiles.
"""

import json
import logging
import os
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from threading import Lock, Timer
from time import monotonic
from typing import Any

import numba
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


_config: Any = numba.config  # its settings have no types
COMPILE_GAME = f"{__package__}.compile_game"
COMMAND = ("-m", COMPILE_GAME)
"""The program of the process that compiles."""


class PlainStart:
    """The games and functions that are to be compiled, one after the other, and the process that does it.

    Attributes:
        on: whether functions without machine code may run as plain Python.
        ended: the number of processes that have ended. Machine code may be on disk that was not there before.
    """

    def __init__(self) -> None:
        self.on = not (_config.DISABLE_JIT or os.environ.get("PARLOUR_COMPILE_FIRST", "0") not in ("", "0"))
        self.ended = 0
        self._lock = Lock()
        self._expected: set[str] = set()
        self._waiting: deque[str] = deque()
        self._process: subprocess.Popen[bytes] | None = None
        self._loading = 0

    @contextmanager
    def loading(self) -> Iterator[None]:
        """Let functions without machine code run as plain Python in the body of the `with` statement.

        It is for work that is done once: while modules are imported, games made, policies checked.
        """
        self._loading += 1
        try:
            yield
        finally:
            self._loading -= 1

    def expect(self, game: str, options: Mapping[str, Any], encoder: str) -> None:
        """Note that a game is played; it is compiled if a function of it has no machine code.

        Args:
            game: the registered id; empty: no other process can make the game, so it compiles in this one.
            options: its options.
            encoder: the name of the encoder.
        """
        if game:
            self.expect_call(f"{COMPILE_GAME}:play", game=game, options=dict(options), encoder=encoder)

    def expect_call(self, function: str, **arguments: Any) -> None:
        """Note that what a function calls is used; the other process calls it if a function has no machine code.

        Args:
            function: ``module:name``.
            arguments: its arguments. What JSON cannot say only this process has: then it compiles itself.
        """
        if not (self.on and sys.executable):
            return
        try:
            task = json.dumps({"function": function, "arguments": arguments}, default=list)
        except (TypeError, ValueError):
            return
        with self._lock:
            if task not in self._expected:
                self._expected.add(task)
                self._waiting.append(task)

    def compile_first(self) -> None:
        """Let all functions compile before their first use from now on."""
        self.on = False

    def waits(self) -> bool:
        """Return True if a function without machine code is to run as plain Python for now."""
        if not self.on:
            return False
        with self._lock:
            if self._process is not None and self._process.poll() is not None:
                self._process = None
                self.ended += 1
            if self._process is None and self._waiting:
                with suppress(OSError):  # no process more is allowed, or the options are too long for a command line
                    self._process = _compile_beside(self._waiting.popleft())
            return self._process is not None or self._loading > 0


def _compile_beside(task: str) -> "subprocess.Popen[bytes]":
    """Compile in another process, which ends by itself. Its errors come again when this process compiles."""
    return subprocess.Popen(
        [sys.executable, "-P", *COMMAND, task],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PARLOUR_COMPILE_FIRST": "1"},
        start_new_session=True,  # Ctrl-C ends the match and not what the next one needs
    )


PLAIN_START = PlainStart()
"""That of this process."""
