"""One log for concurrent matches: it holds them one after another, because replays need that order."""

from collections import deque
from typing import Any

from ...logs.safe_match_log import SafeMatchLog


class LogQueue:
    """Writes concurrent matches into one log, match after match, in the order of their starts.

    The first match writes at once. The lines of the others are kept until the earlier matches are over.

    Args:
        log: the log.
    """

    def __init__(self, log: SafeMatchLog) -> None:
        self._log = log
        self._parts: deque[LogPart] = deque()

    def begin(self) -> "LogPart":
        """Return the part of a new match."""
        part = LogPart(self)
        self._parts.append(part)
        return part

    def write(self, part: "LogPart", kind: str, fields: dict[str, Any]) -> None:
        """Write a line of a match, or keep it while an earlier match is running."""
        if self._parts and part is self._parts[0]:
            self._log.write(kind, **fields)
        else:
            part.lines.append((kind, fields))

    def go_on(self) -> None:
        """Write the kept lines of the first running match and of ended ones before it."""
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
        lines: the kept lines.
        over: whether the match is over.
    """

    def __init__(self, queue: LogQueue) -> None:
        self.lines: list[tuple[str, dict[str, Any]]] = []
        self.over = False
        self._queue = queue

    def write(self, kind: str, **fields: Any) -> None:
        """Write a line, or keep it while an earlier match is running."""
        self._queue.write(self, kind, fields)

    def end(self) -> None:
        """End the part, so that the next match writes."""
        self.over = True
        self._queue.go_on()
