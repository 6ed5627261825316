"""SVG: the shapes that the games' `picture` functions use, and the default picture of a game without one.

A picture has `WIDTH` × `HEIGHT` pixels and is complete: no script, no link, no other file. Each shape is one line of
text. A shape that is absent leaves an empty line, so that pictures of two moments differ in few lines; replays store
only these. Text from outside (names, messages) goes through `text` or `escape`.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from html import escape as _escape
from math import floor, log10, prod
from textwrap import wrap
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..core.encoder import Layout
from ..core.turn_state import Message, MessageScope, TurnState

WIDTH, HEIGHT = 640, 480
"""Pixels of every picture."""

FONT = "Open Sans"
"""The font of `window.png`; browsers without it use another font."""

PAPER, INK, FAINT, LINE, TURN = "#fbfaf6", "#20262e", "#6c7480", "#d8d4c8", "#e8a317"
"""Colours: background, text, less important text, lines, and the acting seat."""
COLOURS = (
    "#3b76b5", "#d1602f", "#2f8f6b", "#a05195", "#8a6d1f",
    "#4a4e9e", "#c23b4e", "#3a8fa3", "#6f7d2c", "#7a5c4f",
    "#5b8def", "#b8860b", "#1f7a4d", "#c471b5", "#50606f", "#93405a",
)  # fmt: skip
"""The colours of the seats, in order. They can be distinguished with red-green colour blindness too."""

Drawing = TypeVar("Drawing", bound=Callable[..., Any])


def remembered(function: Drawing) -> Drawing:
    """Decorate a function of numbers and strings that draws a shape with a cache: a match repeats most shapes."""
    # Typed: 1 and 1.0 are equal keys, but not the same text.
    return lru_cache(maxsize=4096, typed=True)(function)  # type: ignore[return-value]


_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def escape(words: Any) -> str:
    """Return `words` escaped for XML, on one line."""
    return " ".join(_escape(_NO_XML.sub("\ufffd", str(words))).split())


MOST_DRAWN = 100
"""Most things of a kind in a picture."""


def drawn(count: Any, what: str) -> int:
    """Return a number of things in a state, for a picture that draws each.

    Raises:
        ValueError: if it is no number from 0 to `MOST_DRAWN`. The state may come from a log that somebody else wrote.
    """
    if not isinstance(count, int) or not 0 <= count <= MOST_DRAWN:
        raise ValueError(f"{what} is {count!r:.40}: a picture draws from 0 to {MOST_DRAWN}")
    return count


def short(words: Any, room: int) -> str:
    """Return `words` (not yet escaped) cut to at most `room` characters, with … where it was cut.

    A number at the end stays: it tells players of one name apart.

    >>> short("Bartholomew", 7), short("Random 12", 7), short("stack: 1234567", 10)
    ('Bartho…', 'Ran… 12', 'stack: 12…')
    """
    whole = " ".join(str(words).split())
    digits = re.search(r"(?<!\d)(?<!\d[.,])[ _-]?\d{1,2}$", whole)
    end = "" if digits is None else digits[0]
    if len(whole) <= room or len(end) + 1 >= room:
        return whole if len(whole) <= room else whole[: max(0, room - 1)] + "…"
    return f"{whole[: room - 1 - len(end)]}…{end}"


def wrapped(words: str, room: int, most: int) -> list[str]:
    """Return `words` (not yet escaped) in at most `most` lines of at most `room` characters."""
    return wrap(words, room, max_lines=most, placeholder="…")


@remembered
def number(value: float) -> str:
    """Return a number as text: at most two decimals, with commas between thousands."""
    written = f"{value:,.2f}".rstrip("0").rstrip(".") if value % 1 else f"{int(value):,}"
    return written.replace("-", "−")


@remembered
def text(
    x: float, y: float, words: Any, size: float = 12, *, fill: str = INK, anchor: str = "start", bold: bool = False
) -> str:
    """Return text with its baseline at (`x`, `y`); empty for no words. `anchor` is start, middle or end."""
    escaped = escape(words)
    if not escaped:
        return ""
    at = "" if anchor == "start" else f' text-anchor="{anchor}"'
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:.5g}" y="{y:.5g}" font-size="{size:g}" fill="{fill}"{at}{weight}>{escaped}</text>'


@remembered
def box(
    x: float, y: float, width: float, height: float, fill: str, *, round: float = 0, stroke: str = "", thick: float = 1
) -> str:
    """Return a rectangle; (`x`, `y`) is its upper left corner."""
    edge = f' stroke="{stroke}" stroke-width="{thick:g}"' if stroke else ""
    corner = f' rx="{round:g}"' if round else ""
    return f'<rect x="{x:.5g}" y="{y:.5g}" width="{width:.5g}" height="{height:.5g}" fill="{fill}"{corner}{edge}/>'


@remembered
def disc(x: float, y: float, radius: float, fill: str, *, stroke: str = "", thick: float = 1) -> str:
    """Return a filled circle."""
    edge = f' stroke="{stroke}" stroke-width="{thick:g}"' if stroke else ""
    return f'<circle cx="{x:.5g}" cy="{y:.5g}" r="{radius:.5g}" fill="{fill}"{edge}/>'


def line(points: Sequence[tuple[float, float]], stroke: str, thick: float = 1, *, dashes: str = "") -> str:
    """Return a line through `points`; `dashes` are lengths such as ``"4 3"``."""
    path = " ".join(f"{x:.5g},{y:.5g}" for x, y in points)
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<polyline points="{path}" fill="none" stroke="{stroke}" stroke-width="{thick:g}"{dashed}/>'


def group(*parts: str, at: tuple[float, float] | None = None, opacity: float = 1.0, agent: str = "") -> str:
    """Return `parts` as one shape, moved to `at`; empty if all parts are empty.

    `agent`: the agent that the shape shows, as an attribute ``data-agent`` that pages can find; empty: none.
    """
    inside = "".join(parts)
    if not inside:
        return ""
    place = f' transform="translate({at[0]:.5g} {at[1]:.5g})"' if at else ""
    faint = f' opacity="{opacity:g}"' if opacity < 1 else ""
    whose = f' data-agent="{escape(agent)}"' if agent else ""
    return f"<g{whose}{place}{faint}>{inside}</g>"


def document(title: str, things: Iterable[str]) -> str:
    """Return the picture of `things`, one line each, later ones on top; `title` is for screen readers."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f"font-family=\"'{FONT}', 'Segoe UI', Roboto, Helvetica, Arial, sans-serif\" role=\"img\">"
    )
    return "\n".join([head, f"<title>{escape(title)}</title>", box(0, 0, WIDTH, HEIGHT, PAPER), *things, "</svg>"])


def latest(states: Sequence[TurnState]) -> list[Message]:
    """Return the messages that any of `states` holds, in order, each once."""
    messages = {(message.message_id, message.sender_id): message for state in states for message in state.messages}
    whole = max((state.messages for state in states), key=len, default=[])
    if len(whole) == len(messages):
        return whole
    return sorted(messages.values(), key=_place)


def _place(message: Message) -> tuple[int, bool, int, str, str]:
    """Return a message's sort key: its id begins with the number of public messages before it (see `Match`)."""
    name = message.message_id
    number, private, _ = name.partition("-")
    return int(number) if number.isdecimal() else 0, not private, len(name), name, message.sender_id


def speech(states: Sequence[TurnState], y: float, rows: int, *, width: int = 96) -> list[str]:
    """Return the last messages as `rows` lines of text, the first with its baseline at `y`."""
    said = latest(states)[-rows:]
    lines = []
    for row in range(rows):
        if row < len(said):
            private = " (privately)" if said[row].scope == MessageScope.PRIVATE else ""
            words = short(f"{short(said[row].sender_id, 20)}{private}: {said[row].content}", width)
            lines.append(text(24, y + 17 * row, words, 12, fill=FAINT))
        else:
            lines.append("")
    return lines


def agents(states: Sequence[TurnState]) -> list[str]:
    """Return the agents named in `states`, in seat order where the states have it."""
    names: list[str | None] = []
    for state in states:
        names += [row["agent_id"] for row in (state.outcome or {}).get("payoffs", ()) if "agent_id" in row]
    for state in states:
        names += [entry["agent_id"] for entry in state.game_state.get("action_history", ()) if "agent_id" in entry]
    names += [states[0].current_turn_agent_id, *(state.agent_id for state in states)]
    return list(dict.fromkeys(name for name in names if name))


def ceiling(value: float) -> float:
    """Return the least axis end from `value` up: 1, 2, 2.5 or 5 times a power of ten."""
    power = 10.0 ** floor(log10(value)) if value > 0 else 1.0
    return next(step * power for step in (1, 2, 2.5, 5, 10) if step * power >= value * (1 - 1e-9))


def plain(states: Sequence[TurnState]) -> str:
    """Draw the state of any game as lines of text: the default picture."""
    first = states[0]
    over = " · over" if first.game_over else ""
    things = [text(24, 40, f"{first.game_id} · {first.phase}{over}", 18, bold=True)]
    rows = [(state.agent_id or "everybody", state.game_state) for state in states]
    y = 72
    for agent, state in rows:
        mark = "▸ " if agent == first.current_turn_agent_id else ""
        things.append(text(24, y, f"{mark}{short(agent, 40)} sees", 13, bold=True, fill=INK))
        y += 18
        for name, value in state.items():
            if y < HEIGHT - 40:
                things.append(text(36, y, short(f"{name}: {value}", 92), 12, fill=FAINT))
                y += 16
        y += 8
    if first.outcome is not None:
        things.append(text(24, HEIGHT - 16, short(f"outcome: {first.outcome}", 92), 12, bold=True))
    return document(f"{first.game_id}: {first.phase}", things)


if TYPE_CHECKING:
    from matplotlib.figure import Figure

CHART_WIDTH = 76
"""Cells of a line, each `CELL` inches wide."""
CELL = 0.115
LONGEST = 26
"""Cells of a row of a one-dimensional slice; a longer slice is wrapped into several rows."""
LETTER = 0.47
"""Width of a letter of the names, in cells."""


def chart(layout: Layout, observation: NDArray[np.float32]) -> "Figure":
    """Draw every slice as a block of cells under its name: blue above 0, red below, white 0.

    Blocks are placed in lines, like words. The first axis of a slice runs downwards. The colour scale of a slice ends
    at 1, or at its largest value if that is larger. A single number is written beside its name.

    Args:
        layout: the layout of the observation.
        observation: float32[layout.size].

    Raises:
        ImportError: if matplotlib is not installed.
        ValueError: if the observation has another shape.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # no display, no global state
    from matplotlib.figure import Figure

    if observation.shape != (layout.size,):
        raise ValueError(f"the observation has shape {observation.shape}; this layout needs ({layout.size},)")
    blocks = []
    left, top, lowest = 0.0, 0, 0
    for part in layout:
        values = observation[part.start : part.stop]
        cells = _grid(values, part.shape)
        name = f"{part.path} = {values[0]:.3g}" if part.shape == (1,) else part.path
        wide = max(cells.shape[1], LETTER * len(name)) + 1.5
        if left > 0 and left + wide > CHART_WIDTH:
            left, top = 0.0, lowest
        blocks.append((name, cells, left, top + 2))
        left, lowest = left + wide, max(lowest, top + len(cells) + 3)
    figure = Figure(figsize=(CHART_WIDTH * CELL, lowest * CELL))
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    for name, cells, x, y in blocks:
        most = max(1.0, float(np.abs(cells).max()))
        axes.pcolormesh(
            x + np.arange(cells.shape[1] + 1),
            y + np.arange(len(cells) + 1),
            cells,
            cmap="RdBu",
            vmin=-most,
            vmax=most,
            edgecolors="#d8d4c8",
            linewidth=0.4,
        )
        axes.text(x, y - 0.35, name, fontsize=6.5, family="DejaVu Sans Mono")
    axes.set(xlim=(-0.5, CHART_WIDTH), ylim=(lowest, 0))
    axes.set_axis_off()
    return figure


def _grid(
    values: NDArray[np.float32], shape: tuple[int, ...]
) -> "np.ma.MaskedArray[tuple[int, int], np.dtype[np.float32]]":
    """Return a slice's values as rows: its first axis downwards; the unused end of the last row is masked."""
    columns = prod(shape[1:]) if len(shape) > 1 else min(shape[0], LONGEST)
    missing = -len(values) % columns
    padded = np.append(values, np.full(missing, np.nan, np.float32))
    return np.ma.masked_invalid(padded.reshape(-1, columns))
