"""Arrays: observations and masks are within their bounds, and the functions write every element and nothing else."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.encoder import Encoder
from . import differences
from .trial import Trial

GUARD = 64
"""The number of elements around an array that must not change: compiled functions do not check array bounds."""


def bounds(trial: Trial) -> None:
    """Observations of every encoder are within the bounds that its layout declares."""
    encoders = trial.game.encoders
    for table, seat in trial.views():
        for name, encoder in encoders.items():
            seen = encoder.observation(table, seat)
            for part in differences.out_of_bounds(encoder.layout, seen):
                values = seen[part.start : part.stop]
                trial.fail(
                    f"{part.path} of the encoder {name!r} has values from {values.min()} to {values.max()}; "
                    f"its layout declares {part.low} to {part.high}"
                )


def written_whole(trial: Trial) -> None:
    """`observe` and `legal` write every element, whatever its value was, and no element outside the array."""
    game = trial.game
    for table, seat in trial.views():
        for name, encoder in game.encoders.items():
            write = partial(_observe, encoder, table, seat)
            _check(trial, f"observe of the encoder {name!r}", write, np.dtype(np.float32), encoder.layout.size)
        if not table.done and seat == table.turn:
            _check(trial, "legal", partial(game.rules.legal, table), np.dtype(np.int8), game.num_actions)


def _observe(encoder: Encoder, table: Any, seat: int, out: NDArray[np.float32]) -> None:
    encoder.observe(table, seat, encoder.layout.offsets[0], out)


def _check(trial: Trial, what: str, write: Callable[[NDArray[Any]], None], dtype: np.dtype[Any], size: int) -> None:
    first = None
    for value in (0, 7):
        buffer = np.full(GUARD + size + GUARD, value, dtype)
        write(buffer[GUARD : GUARD + size])
        guards = np.concatenate([buffer[:GUARD], buffer[GUARD + size :]])
        trial.require((guards == value).all(), f"{what} writes outside its array of {size} elements")
        if first is None:
            first = buffer[GUARD : GUARD + size]
        left = np.flatnonzero(first != buffer[GUARD : GUARD + size])
        trial.require(not len(left), f"{what} does not write the elements {left[:10].tolist()}")
