"""Signals that stop a run: Ctrl-C (SIGINT) and SIGTERM."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

STOPPING = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def held_back() -> Iterator[None]:
    """Hold signals that stop a run back until the end of the block.

    The KeyboardInterrupt of a signal can come between any two instructions. In the middle of `threading.Condition` it
    loses a wake-up, and the thread that waits for it waits for ever. So calls into libraries with threads of their own
    are made in such a block. In other threads than the main one, which get no signals, it does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        came.append(number)

    before = {sign: handler for sign in STOPPING if (handler := signal.getsignal(sign)) is not None}
    try:
        for sign in before:
            signal.signal(sign, note)
        yield
    finally:
        for sign, handler in before.items():
            signal.signal(sign, handler)
        for number in came[:1]:
            signal.raise_signal(number)


@contextmanager
def stopped_by_sigterm() -> Iterator[None]:
    """Handle SIGTERM like Ctrl-C. A second SIGTERM is ignored, so that it does not interrupt the saving."""
    if threading.current_thread() is not threading.main_thread():  # only the main thread can handle signals
        yield
        return

    def stop(*_: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
