"""A picture of figures with their solutions: ``python docs/tangram_figures.py FIGURES.txt > picture.svg``.

Without a file, it shows the library; ``docs/tangram.svg`` is made this way.
"""

import sys
from collections.abc import Iterable
from html import escape
from pathlib import Path

import numpy as np
from parlour.envs.tangram.figure_sets import parse
from parlour.envs.tangram.geometry import place
from parlour.envs.tangram.lattice import ASPECTS, CORNERS, PIECES
from parlour.envs.tangram.silhouettes import Silhouette, library

COLOURS = {
    "Red": "#d1495b",
    "Cream": "#ecd9a4",
    "Purple": "#8e5ea2",
    "Brown": "#9c6b4a",
    "Blue": "#3f7cac",
    "Yellow": "#edc531",
    "Green": "#5b9a57",
}
_CELL, _COLUMNS, _LABEL = 150, 8, 34


def picture(figures: Iterable[Silhouette], columns: int = _COLUMNS) -> str:
    """Draw figures in rows, with name, split and number of solutions below each; return SVG."""
    cells = list(figures)
    rows = -(-len(cells) // columns)
    width, height = columns * _CELL, rows * (_CELL + _LABEL)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" text-anchor="middle">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    for number, figure in enumerate(cells):
        row, column = divmod(number, columns)
        parts.append(f'<g transform="translate({column * _CELL} {row * (_CELL + _LABEL)})">{_cell(figure)}</g>')
    return "\n".join([*parts, "</svg>\n"])


def _cell(figure: Silhouette) -> str:
    # Large figures are drawn smaller, so that small ones may be larger.
    unit = min(_CELL * 0.9 / max(figure.size), _CELL * 0.9 / 7)
    shape = np.zeros((4, 2))
    polygons = []
    for piece, (x, y, rotation) in enumerate(figure.poses()):
        place(piece, x, y, rotation, ASPECTS["square"], shape)
        drawn = _CELL / 2 + (shape[: CORNERS[piece]] - 50) * (1, -1) * unit / ASPECTS["square"][0]
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in drawn)
        polygons.append(f'<polygon points="{points}" fill="{COLOURS[PIECES[piece]]}"/>')
    count = len(figure.solutions)
    note = f"{figure.split}, {count} solution{'s' * (count > 1)}"
    return (
        f'<g stroke="#fff" stroke-width="0.7" stroke-linejoin="round">{"".join(polygons)}</g>'
        f'<text x="{_CELL / 2:g}" y="{_CELL + 8}" font-size="12">{escape(figure.name)}</text>'
        f'<text x="{_CELL / 2:g}" y="{_CELL + 22}" font-size="9" fill="#777">{note}</text>'
    )


if __name__ == "__main__":
    try:
        shown = parse(Path(sys.argv[1]).read_text(encoding="utf-8")) if len(sys.argv) > 1 else library()
    except (OSError, ValueError) as error:
        sys.exit(str(error))
    sys.stdout.write(picture(shown.values()))
