"""Pages of a long match log: its matches by their results, and each match drawn when its page is asked for."""

from collections.abc import Mapping
from os import PathLike
from types import MappingProxyType
from typing import Any

import msgspec

from ..logs.match_log import read
from .log_reader import agents_of, moments
from .moment import game_of
from .page import document, page, payoffs
from .poker_hands import currency_of, hand_title, names_of, unit_of, winners


class MatchPages:
    """The pages of a log. Nothing is played or drawn before `match`.

    Args:
        path: the file: matches from their seed, or hands of a poker table.
        title: the title of the pages.
        about: facts of how the pages were made, by name.

    Attributes:
        matches: the lines of each match.

    Raises:
        OSError: if the file cannot be read.
        ValueError: if it is not a log, or has no match that can be played again.
    """

    def __init__(self, path: str | PathLike[str], title: str, about: Mapping[str, Any] = MappingProxyType({})) -> None:
        self.title, self.about = title, about
        self.matches: list[bytearray] = []
        self._rows: list[list[object]] = []
        self._results: list[dict[str, float]] = []
        self._ends: list[str] = []
        self._units: list[str] = []
        self._names: list[str] = []  # of the latest match
        for number, entry in enumerate(read(path), 1):
            try:
                self._add(entry)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise ValueError(
                    f"{path}, line {number}: a {entry['kind']!r} line that is not read: {error!r}"
                ) from error
        if not self.matches:
            raise ValueError(f"{path} has no match or hand with all its players; a live agent's log has one page")

    def _add(self, entry: Mapping[str, Any]) -> None:
        kind = entry["kind"]
        if kind == "match" or (kind == "hand" and "players" in entry):
            title = hand_title(entry) if kind == "hand" else str(entry.get("match_id", ""))
            self._rows.append([len(self.matches), 0, title])
            self._results.append(_won(entry) if kind == "hand" else {})
            self._ends.append(winners(entry, names_of(entry)) if kind == "hand" else "")
            self._units.append(currency_of(entry) if kind == "hand" else game_of(entry["game"]).payoffs.reward_name)
            self.matches.append(bytearray())
            self._names = agents_of(entry)[1]
        elif kind == "end" and self.matches:
            rows = payoffs(entry.get("outcome"))
            names = self._names or [row["agent_id"] for row in rows]
            if len(names) == len(rows):  # else the match has no result
                self._results[-1] = dict(zip(names, (row["utility"] for row in rows), strict=True))
        if self.matches:
            self.matches[-1] += msgspec.json.encode(entry) + b"\n"

    def contents(self) -> str:
        """Return the page with all matches; the link to match n, counted from 0, is the relative address ``n``."""
        data = {"matches": self._rows, "results": self._results, "ends": self._ends, "units": self._units}
        return document(self.title, self.about, data)

    def match(self, number: int) -> str:
        """Draw the page of a match.

        Raises:
            ValueError: if it does not replay.
        """
        place = number, len(self.matches)
        return page(
            moments(bytes(self.matches[number])), f"{self.title}, match {number + 1}", about=self.about, place=place
        )


def _won(entry: Mapping[str, Any]) -> dict[str, float]:
    """Return what each player of a logged hand has won, by name, if the log tells the stacks after it."""
    after = {row["seat"]: row["stack"] for row in entry["results"] if "stack" in row}
    before = {row["seat"]: row["stack"] for row in entry["players"]}
    return {
        name: (after[seat] - before[seat]) / unit_of(entry) for seat, name in names_of(entry).items() if seat in after
    }
