"""Arrays: observations and masks lie in their declared bounds, and are written whole, and nothing besides them."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.encoder import Encoder
from . import differences
from .trial import Trial

GUARD = 64
"""Elements behind an array that must stay as they are: compiled functions do not check the bounds of arrays."""


def bounds(trial: Trial) -> None:
    """Observations of every encoder lie in the bounds that its layout declares."""
    encoders = trial.game.encoders
    for table, seat in trial.views():
        for name, encoder in encoders.items():
            seen = encoder.observation(table, seat)
            for part in differences.out_of_bounds(encoder.layout, seen):
                values = seen[part.start : part.stop]
                trial.fail(
                    f"{part.path} of the encoder {name!r} has values from {values.min()} to {values.max()}; "
                    f"its layout says {part.low} to {part.high}"
                )


def written_whole(trial: Trial) -> None:
    """`observe` and `legal` write every element, whatever stood there before, and none outside the array."""
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
        trial.require(not len(left), f"{what} leaves elements as they were: {left[:10].tolist()}")
