"""A log of the first matches alone, which passes every line on to another log."""

from typing import Any

from .match_log import MatchLog, Path_


class FirstMatches(MatchLog):
    """A match log that keeps the first `most` matches. Every line also goes to `also`.

    Args:
        path: the file, which is written anew.
        most: the number of matches that are kept.
        also: a log of all matches; None: there is none.
    """

    def __init__(self, path: Path_, most: int, also: MatchLog | None) -> None:
        super().__init__(path, append=False)
        self._left = most
        self._also = also
        self._kept = False

    def write(self, kind: str, **fields: Any) -> None:
        """See `MatchLog`."""
        if kind == "match":
            self._kept = self._left > 0
            self._left -= self._kept
        if self._kept:
            super().write(kind, **fields)
        if self._also is not None:
            self._also.write(kind, **fields)
