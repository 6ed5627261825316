"""The one decorator of compiled functions: Numba with a cache that can be trusted."""

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


@cache
def _stamp(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """Name, time and size of every source that a compiled function of `folder` may call: its own folder and core."""
    sources = {*folder.glob("*.py"), *Path(__file__).parent.glob("*.py")}
    return tuple((str(path), path.stat().st_mtime_ns, path.stat().st_size) for path in sorted(sources))


def compiled(function: Function) -> Function:
    """Compile `function` with Numba at its first call and keep the machine code on disk.

    Numba's cache looks only at the file of the function itself, and goes stale when a function that it calls lives in
    another file and changes. Here the key is every source file of the game and of `core`. Where no folder for the
    cache can be written (package and home both read-only), the function is compiled anew in every process; so is one
    that was written in a notebook, where no file tells when another cell has changed.

    Args:
        function: plain function over records and arrays, with no closure over other compiled functions.

    Returns:
        The compiled function; with ``NUMBA_DISABLE_JIT=1``, `function` itself.
    """
    if not Path(function.__code__.co_filename).is_file():
        return cast(Function, numba.njit(function))
    try:
        dispatcher = numba.njit(cache=True)(function)
    except RuntimeError:  # "cannot cache function: no locator available"
        return cast(Function, numba.njit(function))
    cache_file = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if cache_file is not None:
        stamp = _stamp(Path(function.__code__.co_filename).parent)
        cache_file._source_stamp = stamp
        _forget_older(Path(cache_file._index_path), max(time for _, time, _ in stamp))
    return cast(Function, dispatcher)


def _forget_older(index: Path, time: int) -> None:
    """Delete a cache older than its sources: Numba would read it first, and fails on a type that has been renamed."""
    with suppress(OSError):
        if index.stat().st_mtime_ns < time:
            index.unlink()
