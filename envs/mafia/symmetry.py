"""Symmetry: what the rules and the scripted players do not tell apart. For other-play (Hu et al. 2020).

The order of the other seats only decides who acts first. The claims "I am a villager" and "I am mafia" change no score
of suspicion, and no scripted player answers them; so they are two tokens without a meaning.
"""

import numpy as np
from numpy.typing import NDArray

from ..core.layout import Layout
from .table import MAFIA, VILLAGER

SEAT_AXES = ("relative seat", "speaker", "target", "voter")
"""The axes of the observation's slices that count seats from the observer."""


def relabelling(layout: Layout, random: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw an order of the other seats, and whether the two tokens change places.

    Args:
        layout: the layout of the observations of version 0.
        random: the generator of the draws.

    Returns:
        The columns int64[D] and the actions int64[A] that an agent sees instead of its own (see `Symmetry`).
    """
    seats = layout["game_state.players.alive"].shape[0]
    order = np.concatenate([[0], 1 + random.permutation(seats - 1)])
    exchanged = random.random() < 0.5
    roles = np.arange(4)
    if exchanged:
        roles[[VILLAGER - 1, MAFIA - 1]] = MAFIA - 1, VILLAGER - 1
    columns = []
    for part in layout:
        indices = np.arange(part.start, part.stop).reshape(part.shape)
        for axis, meaning in enumerate(part.axes):
            if meaning in SEAT_AXES:
                indices = np.take(indices, order, axis)
        if part.path == "game_state.statements.claimed":
            indices = indices[:, roles]
        columns.append(indices.ravel())
    tokens = 6 * seats + np.array([1, 0] if exchanged else [0, 1])
    blocks = (seats * np.arange(6)[:, None] + order).ravel()
    return np.concatenate(columns), np.concatenate([blocks, tokens])
