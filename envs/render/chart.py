"""An observation as a picture, slice by slice (matplotlib: the extra `plot`)."""

from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..core.layout import Layout

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH = 76
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
        if left > 0 and left + wide > WIDTH:
            left, top = 0.0, lowest
        blocks.append((name, cells, left, top + 2))
        left, lowest = left + wide, max(lowest, top + len(cells) + 3)
    figure = Figure(figsize=(WIDTH * CELL, lowest * CELL))
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
    axes.set(xlim=(-0.5, WIDTH), ylim=(lowest, 0))
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
