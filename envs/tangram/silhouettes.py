"""Silhouettes by name: the library, and its text format.

A text of figures is lines. A line that is not indented names a figure; the indented lines below it say what it is,
either by the seven pieces, several solutions one after the other, or by its outline, which is then solved::

    # by pieces: name, rotation (steps of 45°, clockwise), left and lower side of its bounding box
    A square
      Red 0 0 0, Cream 90 0 0, Purple 45 1 2, Brown 90 3 0
      Blue 135 2 2, Yellow 180 0 3, Green 270 2 1

    # by outline, and holes if it has any
    A rectangle
      outline 0 0, 4r 0, 4r 2r, 0 2r

Lengths are in u (the small triangle has the area 1 u²): sums of halves of 1 and of √2, written with ``r`` for √2, as
``1.5``, ``2r``, ``1+r/2``, or with three decimals, as ``2.414``. Pieces may touch in a point only.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.compiled import compiled
from ..core.options import named
from .generator import SPLITS, centre, corners, split_of
from .geometry import covered_area, depth, place
from .lattice import (
    ASPECTS,
    BOARD,
    CORNER_AT,
    PERIODS,
    PIECES,
    RINGS,
    VERTICES,
    exact,
    halves,
    outline,
    values,
)

LARGEST = 12.0
"""u: the widest and highest that a figure may be, to find room on the board."""


@dataclass(frozen=True, eq=False)
class Silhouette:
    """A figure to be filled.

    Attributes:
        name: such as ``"A house"``.
        vertices: int64[VERTICES, 2], its exact outline (see `lattice`), bounding box from (0, 0).
        ends: int64[RINGS] of the outline.
        solutions: int64[S, 7, 3], S ≥ 1: by piece ``(step, x, y)``, its rotation in steps of 45° and its first vertex.
    """

    name: str
    vertices: NDArray[np.int64]
    ends: NDArray[np.int64]
    solutions: NDArray[np.int64]

    @property
    def split(self) -> str:
        """The split it belongs to, one of `SPLITS`; the same for every figure of this shape, however rotated."""
        return SPLITS[split_of(self.vertices, self.ends)]

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in u."""
        wide, high = values(self.vertices[: self.ends[-1]]).max(0)
        return float(wide), float(high)

    def outline(self, aspect: str = "square") -> NDArray[np.float64]:
        """Return the outline in the middle of the board: float64[VERTICES, 2], board units; its rings are `ends`."""
        out = np.zeros((VERTICES, 2))
        centre(self.vertices, self.ends, ASPECTS[aspect], BOARD / 2, out)
        return out

    def poses(self, solution: int = 0, aspect: str = "square") -> NDArray[np.float64]:
        """Return the poses of a solution that fill `outline`: float64[7, 3], x and y in board units, and degrees."""
        scale, middle, shape = ASPECTS[aspect], np.array(self.size) / 2, np.zeros((4, 2))
        poses = np.zeros((7, 3))
        for piece, (step, *at) in enumerate(self.solutions[solution]):
            place(piece, 0.0, 0.0, 45.0 * step, scale, shape)  # around the centre
            poses[piece, :2] = BOARD / 2 + np.array(scale) * (values(np.array(at)) - middle) - shape[0]
            poses[piece, 2] = 45.0 * step
        return poses


def built(name: str, placements: Iterable[NDArray[np.int64]]) -> Silhouette:
    """Return the figure that placed pieces make.

    Args:
        name: its name.
        placements: one or more solutions, int64[7, 3] each, as in `Silhouette.solutions`, at any place.

    Raises:
        ValueError: if pieces overlap, the figure is not connected or too large, or the solutions' outlines differ.
    """
    first: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None
    solutions = []
    for number, solution in enumerate(placements, 1):
        _check(name, solution)
        vertices, ends = np.zeros((VERTICES, 2), np.int64), np.zeros(RINGS, np.int64)
        steps, at = solution[:, 0].copy(), solution[:, 1:].copy()
        if outline(np.arange(7), steps, at, 7, vertices, ends) < 0:
            raise ValueError(f"{name}: its outline has more than {VERTICES} vertices or {RINGS} rings")
        if first is None:
            first = vertices, ends
        elif not (np.array_equal(vertices, first[0]) and np.array_equal(ends, first[1])):
            raise ValueError(f"{name}: solution {number} has another outline than the first one")
        sides = np.array([_sides(piece, at) for piece, at in enumerate(solution)])
        low = least(sides)
        solutions.append(np.array([_at(piece, at[0], sides[piece] - low) for piece, at in enumerate(solution)]))
    if first is None:
        raise ValueError(f"{name}: no piece is placed")
    return Silhouette(name, *first, np.array(solutions))


def least(points: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the least x and the least y of exact points, int64[n, 2]."""
    return np.array([points[values(points[:, axis]).argmin(), axis] for axis in range(2)])


def _sides(piece: int, placement: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the exact left and lower side of a placed piece's bounding box."""
    return np.asarray(placement[1:] + _SIDES[piece, placement[0]])


def _at(piece: int, step: int, sides: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the placement with these sides of its bounding box, by the least rotation that looks the same."""
    step = step % (PERIODS[piece] // 45)
    return np.array([step, *(sides - _SIDES[piece, step])])


_SIDES = np.array([[least(corners_at) for corners_at in steps] for steps in CORNER_AT])
"""int64[7, 8, 2]: left and lower side of each piece in each step, from its first vertex."""


@compiled
def _depths(shapes: Any, out: Any) -> None:
    for i in range(len(shapes)):
        for j in range(len(shapes)):
            out[i, j] = depth(shapes[i], shapes[j])


def _check(name: str, solution: NDArray[np.int64]) -> None:
    shapes = np.zeros((7, 4, 2))
    for piece, (step, x, y) in enumerate(solution):
        corners(piece, step, x, y, shapes[piece])
    depths = np.zeros((7, 7))
    _depths(shapes, depths)
    for i, j in np.argwhere(np.triu(depths, 1) > 1e-6):
        area = covered_area(shapes[i], shapes[j], (4,))
        raise ValueError(f"{name}: {PIECES[i]} and {PIECES[j]} overlap by {area:.3g} u²")
    joined = {0}
    for _ in range(6):
        joined |= {int(i) for i in np.flatnonzero((depths[list(joined)] > -1e-6).any(0))}
    if len(joined) < 7:
        part, rest = ([PIECES[i] for i in range(7) if (i in joined) is side] for side in (True, False))
        raise ValueError(f"{name}: not connected: {', '.join(part)} nowhere touch {', '.join(rest)}")
    size = shapes.max((0, 1)) - shapes.min((0, 1))
    if size.max() > LARGEST:
        raise ValueError(f"{name}: {size[0]:.3g} u wide and {size[1]:.3g} u high; at most {LARGEST:g} u find room")


_TERM = re.compile(r"([+-]?)(\d+\.?\d*|\.\d+)?(r?)(/2)?")


def number(text: str) -> int:
    """Read an exact number of u, such as ``1.5``, ``2r`` or ``1+r/2``, where ``r`` is √2; or its first three decimals.

    Raises:
        ValueError: if it is none.
    """
    length = 0.0
    terms = re.findall(r"[+-]?[^+-]+", text)
    matches = [_TERM.fullmatch(term) for term in terms]
    if not terms or "".join(terms) != text or not all(match and (match[2] or match[3]) for match in matches):
        raise ValueError(f"{text!r} is no length; write sums such as 1.5, 2r or 1+r/2, r standing for √2")
    for match in matches:
        assert match is not None
        size = float(match[2] or 1) * (2**0.5 if match[3] else 1) / (2 if match[4] else 1)
        length += -size if match[1] == "-" else size
    if abs(length) > 100:
        raise ValueError(f"{text!r} u is off any board")
    try:
        return exact(length, 0.0006)
    except ValueError:
        raise ValueError(f"{text!r} is no sum of halves of 1 and of √2, such as 1.5, 2r or 1+r/2") from None


def written(number: int) -> str:
    """Write an exact number as `number` reads it."""
    text = ""
    for count, unit in zip(halves(number), ("", "r"), strict=True):
        if count:
            size = f"{abs(count) / 2:g}" if not unit else f"{abs(count) // (2 - count % 2)}r{'/2' * (count % 2)}"
            text += "-" * (count < 0) + "+" * (count > 0 and text != "") + (size[1:] if size[:2] == "1r" else size)
    return text or "0"


def _placement(text: str) -> tuple[int, NDArray[np.int64]]:
    words = text.split()
    if len(words) != 4:
        raise ValueError(
            f"{text!r} is no placement; write a piece, its rotation, left and lower side, as 'Red 0 1+r 2'"
        )
    piece = PIECES.index(named("piece", words[0], PIECES))
    if not re.fullmatch(r"-?\d{1,4}", words[1]) or int(words[1]) % 45:
        raise ValueError(f"{words[0]}'s rotation {words[1]!r} is no multiple of 45 degrees")
    return piece, _at(piece, int(words[1]) // 45, np.array([number(words[2]), number(words[3])]))


def _ring(text: str) -> list[tuple[int, int]]:
    points = [tuple(map(number, point.split())) for point in text.split(",")]
    if len(points) < 3 or any(len(point) != 2 for point in points):
        raise ValueError(f"{text.strip()!r} is no ring; write three points or more, as '0 0, 4 0, 2 2'")
    return [(point[0], point[1]) for point in points]


def _figure(name: str, lines: list[str], outlined: Callable[..., Silhouette]) -> Silhouette:
    kinds = [line.split()[0] for line in lines]
    if "outline" in kinds or "hole" in kinds:
        if kinds != ["outline"] + ["hole"] * (len(lines) - 1):
            raise ValueError(f"{name}: give either the pieces or one outline and its holes, below it")
        return outlined(name, *(_ring(line.removeprefix(kind)) for kind, line in zip(kinds, lines, strict=True)))
    placements = [_placement(text) for line in lines for text in line.split(",") if text.strip()]
    solutions = []
    for start in range(0, len(placements), 7):
        pieces = [piece for piece, _ in placements[start : start + 7]]
        for piece, other in enumerate(PIECES):
            if pieces.count(piece) != 1:
                what = "is missing" if piece not in pieces else "is there twice"
                raise ValueError(f"{name}: {other} {what} in solution {start // 7 + 1}; each has all seven pieces")
        solutions.append(np.array([at for _, at in sorted(placements[start : start + 7], key=lambda pair: pair[0])]))
    return built(name, solutions)


def _no_outlines(name: str, *rings: Any) -> Silhouette:
    raise ValueError(f"{name}: here figures are given by their pieces")


def parse(text: str, outlined: Callable[..., Silhouette] = _no_outlines) -> dict[str, Silhouette]:
    """Read figures from text (the module's documentation has the format), by name.

    Args:
        text: the text.
        outlined: makes the figure of a name, an outline and its holes (see `figure_sets`).

    Raises:
        ValueError: saying in which line what is wrong.
    """
    figures: dict[str, Silhouette] = {}
    blocks: list[tuple[int, str, list[str]]] = []
    for count, raw in enumerate(text.splitlines(), 1):
        line = raw.split("#")[0].rstrip()
        if line and not line[0].isspace():
            blocks.append((count, line, []))
        elif line and not blocks:
            raise ValueError(f"line {count}: {line.strip()!r} has no name above it; a name is not indented")
        elif line:
            blocks[-1][2].append(line.strip())
    for count, name, lines in blocks:
        try:
            if name in figures:
                raise ValueError(f"{name}: a second figure of this name")
            figures[name] = _figure(name, lines, outlined)
        except ValueError as error:
            raise ValueError(f"line {count}: {error}") from None
    return figures


def text_of(silhouette: Silhouette) -> str:
    """Write a figure as `parse` reads it, one solution a line."""
    lines = [silhouette.name]
    for solution in silhouette.solutions:
        placements = []
        for piece, at in enumerate(solution):
            left, low = _sides(piece, at)
            placements.append(f"{PIECES[piece]} {45 * at[0]} {written(int(left))} {written(int(low))}")
        lines.append("  " + ", ".join(placements))
    return "\n".join(lines) + "\n"


@cache
def library() -> dict[str, Silhouette]:
    """Return the figures that come with the package, by name."""
    return parse((files(__package__) / "figures.txt").read_text(encoding="utf-8"))


def objective(text: str, own: Mapping[str, Silhouette] | None = None) -> Silhouette | None:
    """Return the figure that a live game's objective names, such as ``"A house"`` or ``"house"``, or None.

    Figures of one's own, by name, go before those of the library.
    """
    for figures in (own or {}, library()):
        match = {_plain(name): figure for name, figure in figures.items()}.get(_plain(text))
        if match is not None:
            return match
    return None


def resembling(text: str) -> list[str]:
    """Return up to three of the library's names that read like `text`, the nearest first."""
    names = {_plain(name): name for name in library()}
    return [names[plain] for plain in get_close_matches(_plain(text), names, 3)]


def _plain(name: str) -> str:
    return re.sub(r"^(an?|the) ", "", " ".join(re.findall(r"\w+", name.casefold())))
