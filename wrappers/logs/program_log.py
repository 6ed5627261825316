"""The log of a program that runs for long: text or JSON Lines on stderr, and JSON Lines in files of limited size."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Literal

import msgspec

Level = Literal["debug", "info", "warning", "error"]
"""The lowest level of the lines that are written."""
Format = Literal["text", "json"]
"""The format of the lines on stderr."""
FIELDS = "fields"
"""The attribute of a log record with further fields of its JSON line, a dict: ``extra={FIELDS: {…}}``."""
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


@contextmanager
def program_log(
    level: Level = "info", form: Format = "text", file: Path | None = None, most_bytes: int = 10**7, old_files: int = 5
) -> Iterator[None]:
    """Write the log of this process as these say, until the end of the context.

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
    screen = logging.StreamHandler(sys.stderr)
    if form == "text":
        screen.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
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
    for handler in handlers:
        root.addHandler(handler)
    try:
        yield
    finally:
        root.setLevel(before)
        for handler in handlers:
            root.removeHandler(handler)
            handler.close()
