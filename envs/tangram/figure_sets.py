"""Figure sets of one's own: files with many figures, as text, JSON points or SVG polygons.

=========  ============================================================================================================
``.txt``   the library's format, with exact lengths (see `silhouettes`)
``.json``  an object of outlines by name, ``{"A boat": [[x, y], …]}``, y upwards
``.svg``   every ``<polygon points="…">`` is a figure, y downwards; its name is its ``id``
=========  ============================================================================================================

Outlines of JSON and SVG have one ring, in any unit; they are rescaled and snapped (see `corners`). Each is then filled
with the seven pieces. The parallelogram is not turned over, so a figure may be solvable while its mirror image is not.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from ..core.files import read_text
from .bots import filling
from .corners import mirrored, snapped
from .lattice import AREAS, RINGS, SEGMENTS, VERTICES, boundary, code, direction, rings, rings_of, values
from .silhouettes import Silhouette, built, least, text_of, written
from .silhouettes import parse as parse_text

KINDS = (".txt", ".json", ".svg")
"""How the name of a file with figures ends."""
TOLD = 10
"""Figures that cannot be used of which an error tells, at most."""
LONGEST = 8 * 2**20
"""Bytes that a file may have."""


STEPS = 50_000
"""Placements tried before an outline counts as unsolved; a second or two."""


def parse(text: str) -> dict[str, Silhouette]:
    """Read figures from text, also those that are given by their outlines, by name; see `silhouettes.parse`."""
    return parse_text(text, outlined)


def outlined(name: str, outer: Iterable[tuple[int, int]], *holes: Iterable[tuple[int, int]]) -> Silhouette:
    """Return the figure with an outline, and one solution.

    Args:
        name: its name.
        outer: the exact vertices in order, either way round.
        holes: those of each hole.

    Raises:
        ValueError: if the outline crosses itself, has another direction than steps of 45°, has not the area of the
            seven pieces, or the pieces cannot fill it.
    """
    from shapely import Polygon, is_valid_reason

    given = [list(ring) for ring in (outer, *holes)]
    shape = Polygon(values(np.array(given[0])), [values(np.array(ring)) for ring in given[1:]])
    if not shape.is_valid:
        raise ValueError(f"{name}: the outline is not simple: {is_valid_reason(shape)}")
    if abs(shape.area - AREAS.sum()) > 1e-6:
        raise ValueError(f"{name}: the outline has an area of {shape.area:.4g} u²; the seven pieces have 16")
    edges = []
    for number, ring in enumerate(given):
        if Polygon(values(np.array(ring))).exterior.is_ccw is (number > 0):
            ring.reverse()
        for (x, y), (to_x, to_y) in zip(ring, ring[1:] + ring[:1], strict=True):
            if (x, y) == (to_x, to_y):
                continue
            right, up = to_x - x, to_y - y
            if right and up and abs(right) != abs(up):
                ways = f"{written(x)} {written(y)} to {written(to_x)} {written(to_y)}"
                raise ValueError(f"{name}: the edge from {ways} runs in no step of 45°")
            edges.append((x, y, to_x, to_y, direction(right, up)))
    segments = np.zeros((SEGMENTS, 5), np.int64)
    vertices, ends = np.zeros((VERTICES, 2), np.int64), np.zeros(RINGS, np.int64)
    segment_count = boundary(np.array(edges), len(edges), segments) if len(edges) <= SEGMENTS else -1
    if segment_count < 0 or rings(segments, segment_count, vertices, ends) < 0:
        raise ValueError(f"{name}: the outline has more than {VERTICES} vertices or {RINGS} rings")
    vertices[: ends[-1]] -= least(vertices[: ends[-1]])
    solution = filling(vertices, ends, STEPS)
    if solution is None:
        raise ValueError(f"{name}: the seven pieces do not fill this outline (the parallelogram is not turned over)")
    return built(name, [solution])


def set_text(figure: str) -> str | None:
    """Return the text of a set of figures that the option `figure` names by its file; None where it names no file.

    Raises:
        ValueError: naming the file and each figure that cannot be used, and why.
    """
    if "\n" in figure or Path(figure).suffix.lower() not in KINDS:
        return None
    path = Path(figure)
    try:
        text = read_text(path, LONGEST)
        figures = _READERS[path.suffix.lower()](text)
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise ValueError(f"{path}: {str(error).removeprefix(f'{path}: ')}") from None
    if not figures:
        raise ValueError(f"{path} holds no figure")
    return "\n".join(map(text_of, figures.values()))


@cache
def figures_of(text: str, flip: bool) -> Mapping[str, Silhouette]:
    """Return the figures of a text in the library's format by name, with `flip` their mirror images, too.

    A figure that looks the same in the mirror, whatever its rotation, is not given twice; nor is a mirror image that
    the pieces cannot fill.

    Raises:
        ValueError: naming the figure that cannot be used.
    """
    figures = dict(parse(text))
    for figure in list(figures.values()) if flip else ():
        image = _mirror_image(figure)
        if image is not None and code(image.vertices, image.ends) != code(figure.vertices, figure.ends):
            figures[image.name] = image
    return figures


def own_figures(options: Mapping[str, Any]) -> Mapping[str, Silhouette]:
    """Return the figures that the options of a game give it beside the library, by name."""
    figure = options.get("figure", "")
    return figures_of(figure, bool(options.get("flip"))) if "\n" in figure else {}


def _mirror_image(figure: Silhouette) -> Silhouette | None:
    """Return a figure as seen in a mirror; None where the pieces cannot fill that."""
    whole = rings_of(figure.vertices, figure.ends)
    if len(whole) != 1:
        return None  # parts that touch in a point only, or holes: an outline of one ring is solved
    try:
        return outlined(f"{figure.name}, mirrored", mirrored(whole[0]))
    except ValueError:
        return None


# Files.


def _read_json(text: str) -> dict[str, Silhouette]:
    try:
        named = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"no JSON: {error}") from None
    if not isinstance(named, dict):
        raise ValueError('an object of outlines is needed, {"A boat": [[x, y], …]}')
    return _solved({str(name): points for name, points in named.items()}, 1.0)


def _read_svg(text: str) -> dict[str, Silhouette]:
    if "<!ENTITY" in text:
        raise ValueError("an SVG file with entities is not read")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ValueError(f"no SVG: {error}") from None
    polygons = [one for one in root.iter() if one.tag.rpartition("}")[2] == "polygon"]
    named: dict[str, Any] = {}
    for number, polygon in enumerate(polygons, 1):
        name = polygon.get("id") or f"figure {number}"
        if name in named:
            raise ValueError(f"{name}: a second figure of this name")
        named[name] = re.split(r"[\s,]+", (polygon.get("points") or "").strip())
    pairs = {name: [numbers[i : i + 2] for i in range(0, len(numbers), 2)] for name, numbers in named.items()}
    return _solved(pairs, -1.0)


def _solved(named: Mapping[str, Any], upwards: float) -> dict[str, Silhouette]:
    """Return the figures with these outlines.

    Raises:
        ValueError: naming each that cannot be used, up to `TOLD`, and why.
    """
    figures, problems = {}, []
    for name, points in named.items():
        plain = " ".join(re.sub(r"[#\n]", " ", name).split())
        try:
            if not plain or plain in figures:
                raise ValueError("a figure needs a name of its own")
            figures[plain] = _filled(plain, _floats(points) * (1.0, upwards))
        except ValueError as error:
            problems.append(f"{plain!r}: {str(error).removeprefix(f'{plain}: ')}")
    if problems:
        rest = f"; and {len(problems) - TOLD} more" if len(problems) > TOLD else ""
        raise ValueError(f"{len(problems)} of {len(named)} figures cannot be used: {'; '.join(problems[:TOLD])}{rest}")
    return figures


def _filled(name: str, points: NDArray[np.float64]) -> Silhouette:
    """Return the figure of the first outline that the points may stand for and the pieces fill.

    Raises:
        ValueError: saying why there is none: of the likeliest outline.
    """
    problem: ValueError | None = None
    for outline in snapped(points):
        try:
            return outlined(name, outline)
        except ValueError as error:
            problem = problem or error
    assert problem is not None  # `snapped` raises where it yields nothing
    raise problem


def _floats(points: Any) -> NDArray[np.float64]:
    try:
        return np.array(points, np.float64)
    except (TypeError, ValueError):
        raise ValueError("an outline is three or more points of two finite numbers") from None


_READERS: dict[str, Callable[[str], dict[str, Silhouette]]] = {".txt": parse, ".json": _read_json, ".svg": _read_svg}
