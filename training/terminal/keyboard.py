"""The keyboard of a person at a terminal: what is typed before a question is neither shown nor an answer to it."""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext


@contextmanager
def hidden_typing() -> Iterator[Callable[[], AbstractContextManager[None]]]:
    """Do not show what is typed, and yield a context that does; what was typed before it is forgotten.

    Without a terminal, or where Python has no module `termios` (Windows), nothing changes.
    """
    try:
        import termios
    except ImportError:
        yield nullcontext
        return
    if not sys.stdin.isatty():
        yield nullcontext
        return
    shown = termios.tcgetattr(sys.stdin)
    hidden = shown.copy()
    hidden[3] &= ~termios.ECHO

    @contextmanager
    def asking() -> Iterator[None]:
        termios.tcsetattr(sys.stdin, termios.TCSAFLUSH, shown)
        try:
            yield
        finally:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, hidden)

    termios.tcsetattr(sys.stdin, termios.TCSADRAIN, hidden)
    try:
        yield asking
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, shown)
