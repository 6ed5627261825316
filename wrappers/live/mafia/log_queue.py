"""One log for matches that are played side by side: it holds them one after another, as replays need them."""

from collections import deque
from typing import Any

from ...logs.safe_match_log import SafeMatchLog


class LogQueue:
    """Writes the lines of several matches into one log, match after match, in the order in which they began.

    The match that began first writes at once. The lines of the others are kept until those before them are over.

    Args:
        log: where to write.
    """

    def __init__(self, log: SafeMatchLog) -> None:
        self._log = log
        self._parts: deque[LogPart] = deque()

    def begin(self) -> "LogPart":
        """Return the part of a match that begins now."""
        part = LogPart(self)
        self._parts.append(part)
        return part

    def write(self, part: "LogPart", kind: str, fields: dict[str, Any]) -> None:
        """Write a line of a match, now or when it is its turn."""
        if self._parts and part is self._parts[0]:
            self._log.write(kind, **fields)
        else:
            part.lines.append((kind, fields))

    def go_on(self) -> None:
        """Write what waits and may be written now."""
        while self._parts:
            first = self._parts[0]
            for kind, fields in first.lines:
                self._log.write(kind, **fields)
            first.lines.clear()
            if not first.over:
                return
            self._parts.popleft()


class LogPart:
    """The lines of one match.

    Attributes:
        lines: that wait to be written.
        over: no more will come.
    """

    def __init__(self, queue: LogQueue) -> None:
        self.lines: list[tuple[str, dict[str, Any]]] = []
        self.over = False
        self._queue = queue

    def write(self, kind: str, **fields: Any) -> None:
        """Write a line, or keep it until it is its turn."""
        self._queue.write(self, kind, fields)

    def end(self) -> None:
        """Let the next match write."""
        self.over = True
        self._queue.go_on()
