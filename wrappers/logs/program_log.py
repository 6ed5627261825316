"""The log of a program that runs for long: text or JSON Lines on stderr, and JSON Lines in files of limited size."""

import logging
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path
from textwrap import TextWrapper
from typing import Literal

import msgspec

Level = Literal["debug", "info", "status", "warning", "error"]
"""The lowest level of the lines that are written; from `STATUS` on: status lines, the summary and faults alone."""
STATUS = 25
logging.addLevelName(STATUS, "STATUS")
Format = Literal["text", "json"]
"""The format of the lines on stderr."""
FIELDS = "fields"
"""The attribute of a log record with further fields of its JSON line, a dict: ``extra={FIELDS: {…}}``."""
MOST_LINES = 20
"""The most lines of one kind in `KIND_SECONDS`; further ones are counted."""
KIND_SECONDS = 60.0
REQUESTS = ("httpx", "httpx2", "openai")
"""Loggers that write each request with its whole URL, with a password in it: only their warnings are written."""
FOR_FILES = "for_files"
"""The attribute of a log record that is true if the line is not written to stderr as text."""


class JsonLines(logging.Formatter):
    """Formats a record as a JSON object: time (UTC), level, logger, message, error if there is one, further fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage().encode(errors="backslashreplace").decode(),
        }
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return msgspec.json.encode(line | getattr(record, FIELDS, {}), enc_hook=str).decode()


class ForTerminal(logging.Formatter):
    """Formats a record with breaks between words, and with a short time: a terminal breaks long lines inside them."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(message)s", "%H:%M:%S")

    def format(self, record: logging.LogRecord) -> str:
        """Return the lines."""
        wrapper = TextWrapper(
            max(20, shutil.get_terminal_size().columns - 1),
            subsequent_indent="    ",
            break_on_hyphens=False,
            break_long_words=False,  # an address stays whole
        )
        return "\n".join(wrapper.fill(line) for line in super().format(record).splitlines())


@dataclass
class _Kind:
    since: float
    latest: logging.LogRecord
    lines: int = 0


class RepeatedLines(logging.Filter):
    """Lets `MOST_LINES` lines of one kind through per minute, and then writes how many were left out.

    Lines are of one kind if one statement of the source logs them, whatever their texts are: what others send must not
    fill a disk. Lines with further fields always pass.

    Args:
        handler: the handler whose filter it is; it writes the counts.
        clock: returns the time in seconds.
    """

    def __init__(self, handler: logging.Handler, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._handler, self._clock = handler, clock
        self._kinds: dict[tuple[str, int], _Kind] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return True if the line is written."""
        self._handler.acquire()  # records of several threads come at once
        try:
            now = self._clock()
            self.write_counts(now - KIND_SECONDS)
            if hasattr(record, FIELDS):
                return True
            kind = self._kinds.setdefault((record.pathname, record.lineno), _Kind(now, record))
            kind.lines, kind.latest = kind.lines + 1, record
            return kind.lines <= MOST_LINES
        finally:
            self._handler.release()

    def write_counts(self, before: float = float("inf")) -> None:
        """Write how many lines were left out, of the kinds whose minute began before a time, and count anew."""
        for key, kind in list(self._kinds.items()):
            if kind.since > before:
                continue
            del self._kinds[key]
            if kind.lines > MOST_LINES:
                left_out = kind.lines - MOST_LINES
                text = f"{left_out} more lines like this one are left out: {kind.latest.getMessage()}"
                self._handler.emit(logging.makeLogRecord({**vars(kind.latest), "msg": text, "args": ()}))


@contextmanager
def program_log(
    level: Level = "info", form: Format = "text", file: Path | None = None, most_bytes: int = 10**7, old_files: int = 5
) -> Iterator[None]:
    """Write the log of this process as these say, until the end of the context. See `RepeatedLines`.

    Args:
        level: the lowest level of the lines.
        form: the format of the lines on stderr.
        file: file for JSON Lines; None: none. A full one is renamed to ``FILE.1``, that one to ``FILE.2`` and so on.
        most_bytes: the size in bytes at which a file is full.
        old_files: number of full files that are kept.

    Raises:
        OSError: if the file cannot be opened.
    """
    root = logging.getLogger()
    for name in REQUESTS:
        logging.getLogger(name).setLevel(logging.WARNING)
    screen = logging.StreamHandler(sys.stderr)
    if form == "text":
        screen.setFormatter(ForTerminal() if sys.stderr.isatty() else logging.Formatter("%(asctime)s %(message)s"))
        screen.addFilter(lambda record: not getattr(record, FOR_FILES, False))
    else:
        screen.setFormatter(JsonLines())
    handlers: list[logging.Handler] = [screen]
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        rotating = RotatingFileHandler(file, maxBytes=most_bytes, backupCount=old_files, encoding="utf-8")
        rotating.setFormatter(JsonLines())
        handlers.append(rotating)
    before = root.level
    root.setLevel(level.upper())
    limits = [RepeatedLines(handler) for handler in handlers]
    for handler, limit in zip(handlers, limits, strict=True):
        handler.addFilter(limit)
        root.addHandler(handler)
    try:
        yield
    finally:
        root.setLevel(before)
        for limit in limits:
            limit.write_counts()
        for handler in handlers:
            root.removeHandler(handler)
            handler.close()
