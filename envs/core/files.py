"""Files that others may have written: regular ones alone, of a bounded size; and no file at all for stored options.

And files of our own, which a full disk or a crash leaves as they were.
"""

import errno
import json
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

Path_ = str | PathLike[str]
LARGEST_TEXT = 16 * 2**20
"""Bytes that a file of settings, a card or a file of figures may have."""

_closed: ContextVar[bool] = ContextVar("_closed", default=False)
"""Whether options may not name files."""


@contextmanager
def no_files() -> Iterator[None]:
    """Let `opened` open nothing: the options of a policy, a run or a log are read."""
    before = _closed.set(True)
    try:
        yield
    finally:
        _closed.reset(before)


def opened(path: Path_) -> BinaryIO:
    """Open a file to read its bytes. It never waits.

    Raises:
        OSError: if it cannot be opened.
        ValueError: if it is no regular file, as a pipe or a device; or if stored options name it.
    """
    if _closed.get():
        raise ValueError(f"{path}: the options of a policy, a run or a log open no file")
    number = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0))
    kind = os.fstat(number).st_mode
    if not stat.S_ISREG(kind):
        os.close(number)
        if stat.S_ISDIR(kind):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        raise ValueError(f"{path} is no regular file")
    return os.fdopen(number, "rb")


def read_text(path: Path_, most: int = LARGEST_TEXT) -> str:
    """Return a file of at most `most` bytes as text.

    Raises:
        OSError: if it cannot be read.
        ValueError: see `opened`; or if it is larger, or no text in UTF-8.
    """
    with opened(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise ValueError(f"{path} has more than {most:,} bytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is no text in UTF-8") from None


def parsed(text: str | bytes, where: object, parse: Callable[..., Any] = json.loads, kind: str = "JSON") -> Any:
    """Return the parsed content of a text from elsewhere.

    Raises:
        ValueError: if `parse` cannot read it, also because it is nested too deeply; the sentence begins with `where`.
    """
    try:
        return parse(text)
    except RecursionError:
        raise ValueError(f"{where} is not {kind} that can be read: it is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"{where} is not {kind}: {error}") from None


@contextmanager
def replacing(path: Path_) -> Iterator[Path]:
    """Yield the path of a temporary file, which replaces the file at the end; after an error it is deleted.

    If the process dies or the disk is full, the old file stays complete.
    """
    file = Path(path)
    unfinished = file.with_name(f"{file.stem}.tmp{file.suffix}")
    try:
        yield unfinished
        unfinished.replace(file)
    finally:
        unfinished.unlink(missing_ok=True)
