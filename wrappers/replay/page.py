"""Moments as one HTML file that needs no network and no other file.

The pictures are stored by lines: every line of SVG once, and for every view and moment the changed lines. A view on
the page shows only what this seat may see. The file contains all hidden information, so share it with care.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from importlib.resources import files
from itertools import zip_longest
from types import MappingProxyType
from typing import Any

from ...envs.core.turn_state import MessageScope
from ...envs.render.svg import escape
from .moment import ALL, Moment, game_of, picture
from .poker_hands import in_words

ABSENT = -1
"""In place of a number of lines: this moment has no picture of the view."""


def page(
    moments: Iterable[Moment],
    title: str,
    note: Callable[[], str] = str,
    about: Mapping[str, Any] = MappingProxyType({}),
    place: tuple[int, int] | None = None,
) -> str:
    """Return the HTML of these moments. With several matches it opens on an overview: results, and their sums so far.

    Args:
        moments: the moments, match by match.
        title: the title of the page.
        note: returns more text for the overview; called when all moments have been read.
        about: facts of how the page was made, by name.
        place: the number of the match, from 0, and how many there are, if each match has a page of its own (see
            `MatchPages`); None: the page has all.

    Raises:
        ValueError: if there are no moments, or one cannot be drawn.
    """
    builder = PageBuilder()
    for moment in moments:
        builder.add(moment)
    if not builder.moments:
        raise ValueError("there is nothing to show")
    data = builder.data()
    data["note"] = note()
    if place is not None:
        data["place"] = place
    return document(title, about, data)


def document(title: str, about: Mapping[str, Any], data: Mapping[str, object]) -> str:
    """Return the HTML of data that `viewer.js` describes."""
    texts = {"title": title, "about": {name: str(value) for name, value in about.items()}}
    text = json.dumps({**texts, **data}, ensure_ascii=False, separators=(",", ":"))
    source = files(__package__)

    def joined(ending: str, *names: str) -> str:
        return "".join(source.joinpath(f"{name}.{ending}").read_text("utf-8") for name in names)

    parts = {
        "title": escape(title),
        "style": joined("css", "palette", "viewer", "pictures"),
        # One script without modules: a page on a disk has no files to import.
        "script": re.sub(r"(?m)^(import .*\n|export )", "", joined("js", "legible", "viewer")),
        # A script ends at the first closing tag, also inside a string.
        "data": text.replace("<", "\\u003c").encode("utf-8", "replace").decode(),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda mark: parts[mark[1]], joined("html", "viewer"))


def rounded(text: str) -> str:
    """Return a text with at most two decimals in its numbers.

    >>> rounded("play Blue [41.156122493545624, 52.50078124725483] 180")
    'play Blue [41.16, 52.5] 180'
    """
    return re.sub(r"\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), text)


class PageBuilder:
    """Collects the data of the page; `viewer.js` describes the lists."""

    def __init__(self) -> None:
        self.lines: dict[str, int] = {}
        self.views: list[str] = []
        self.frames: dict[str, list[int]] = {}
        self.moments: list[dict[str, object]] = []
        self.messages: list[list[object]] = []
        self.matches: list[list[object]] = []
        self.results: list[dict[str, float]] = []
        self.units: list[str] = []
        self.details: list[dict[str, str]] = []
        self._shown: dict[str, list[str]] = {}
        self._heard: dict[str, set[tuple[str, str]]] = {}

    def data(self) -> dict[str, object]:
        """Return the collected data for `viewer.js`; it can be written as JSON."""
        kept = {name: part for name, part in vars(self).items() if not name.startswith("_")}
        return kept | {"lines": list(self.lines), "frames": [self.frames[view] for view in self.views]}

    def add(self, moment: Moment) -> None:
        """Add the next moment."""
        if not self.matches or self.matches[-1][0] != moment.match:
            self.matches.append([moment.match, len(self.moments), moment.title])
            self.results.append({})
            self.units.append("")
            self.details.append(moment.details)
            self._heard.clear()
        if moment.agent is None:
            last = next(iter(moment.states.values()))
            won = {row["agent_id"]: row["utility"] for row in payoffs(last.outcome)}
            self.results[-1] = moment.results or won
            self.units[-1] = moment.unit or (moment.game or game_of(last.game_id)).payoffs.reward_name
        self._draw(moment)
        self._add_messages(moment)
        state = next(iter(moment.states.values())) if moment.agent is None else moment.states.get(moment.agent)
        fields = {
            "agent": moment.agent,
            "action": in_words(rounded(moment.action), state),
            "said": [intent.content for intent in moment.said],
            "think": moment.think,
            "chances": [(in_words(rounded(action), state), chance) for action, chance in moment.probabilities.items()],
            "value": moment.value,
            "note": moment.note,
        }
        self.moments.append({name: part for name, part in fields.items() if part not in ("", None, [])})

    def _draw(self, moment: Moment) -> None:
        views = moment.views
        for view in views:
            if view not in self.frames:
                self.views = [ALL] * (view == ALL) + self.views + [view] * (view != ALL)
                self.frames[view] = [ABSENT] * len(self.moments)
                self._shown[view] = []
        for view, frames in self.frames.items():
            if view not in views:
                frames.append(ABSENT)
                continue
            now = picture(views[view], moment.names, moment.game).split("\n")
            changed = [
                part
                for place, (line, before) in enumerate(zip_longest(now, self._shown[view]))
                if line != before and line is not None
                for part in (place, self.lines.setdefault(line, len(self.lines)))
            ]
            frames += [len(now), len(changed) // 2, *changed]
            self._shown[view] = now

    def _add_messages(self, moment: Moment) -> None:
        new: dict[tuple[str, str], list[object]] = {}
        for agent, state in moment.states.items():
            heard = self._heard.setdefault(agent, set())
            for message in reversed(state.messages):
                key = message.message_id, message.sender_id
                if key in heard:
                    break
                heard.add(key)
                private = message.scope == MessageScope.PRIVATE
                line = new.setdefault(key, [len(self.moments), message.sender_id, message.content, int(private), []])
                line[4].append(agent)  # type: ignore[attr-defined]
        self.messages += reversed(new.values())


def payoffs(outcome: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Return the rows of an outcome that hold an agent's utility."""
    rows = (outcome or {}).get("payoffs", ())
    return [row for row in rows if "agent_id" in row and isinstance(row.get("utility"), (int, float))]
