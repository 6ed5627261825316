"""What belongs to the process that made it, and cannot go on in one that was forked from it."""

import os


def require_process(made_in: int, what: str) -> None:
    """Raise RuntimeError in a process other than `made_in` (of `os.getpid`).

    Args:
        made_in: the process that made it.
        what: its name, for the error.
    """
    if os.getpid() != made_in:
        raise RuntimeError(f"{what} belongs to process {made_in}, from which this one was forked: make it anew here")
