"""Statistics of the statements and votes of mafia and town in finished matches. Compiled."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.compiled import compiled
from ..core.encoder import Layout
from ..core.record import Tables
from .statements import CLAIMED, KIND
from .table import (
    ACCUSE,
    CLEARED,
    DEFEND,
    FOUND,
    GENERAL,
    MAFIA,
    VILLAGER,
)

HABITS = ("accusations", "defenses", "claims", "untrue", "abstentions", "changes")


def facts(tables: Tables) -> dict[str, float]:
    """Return the mean number of days of finished matches (recarray of shape (N,))."""
    return {"days": float(tables.round_number.astype(np.int64).mean())}


def habits(tables: Tables, team: str) -> dict[str, float]:
    """Return statistics of the play of a team, mafia or town, in finished matches (recarray of shape (N,)), as shares.

    Shares of the statements: ``accusations`` (claimed results "mafia" included), ``defenses``, ``claims``, and
    ``untrue`` ones, which accuse an innocent player, defend a mafia, or claim a false role or result. Shares of the
    votes: ``abstentions``, and ``changes``, votes for another player than in the vote before, while that one was
    still alive.
    """
    counts, wholes = np.zeros(len(HABITS), np.int64), np.zeros(len(HABITS), np.int64)
    _count(tables.view(np.ndarray), team == "mafia", counts, wholes)
    return dict(zip(HABITS, (counts / np.maximum(wholes, 1)).tolist(), strict=True))


@partial(compiled, compile_first=True)
def _count(tables: Any, mafia: bool, counts: Any, wholes: Any) -> None:
    for i in range(len(tables)):
        table = tables[i]
        seats = table.seats
        for n in range(table.round_number * table.discussion_rounds * seats if table.talk else 0):
            role = table.role[n % seats]
            if table.said[n] > 0 and (role == MAFIA) == mafia:
                for k in range(4):  # an assignment of arrays takes Numba seconds to compile
                    wholes[k] += 1
                kind = GENERAL + (table.said[n] - 1) // KIND
                villain = table.role[(table.said[n] - 1) % KIND] == MAFIA
                claimed = CLAIMED[kind]
                counts[0] += kind in (ACCUSE, FOUND)
                counts[1] += kind == DEFEND
                counts[2] += claimed > 0
                untrue = (kind in (ACCUSE, FOUND) and not villain) or (kind in (DEFEND, CLEARED) and villain)
                counts[3] += untrue or (claimed > 0 and claimed != role)
        for n in range(table.votings * seats):
            voter, day = n % seats, n // seats + 1
            if (table.role[voter] == MAFIA) == mafia and _there(table, voter, day):
                wholes[4] += 1
                counts[4] += table.votes[n] < 0
                before = table.votes[n - seats] if day > 1 else -1
                if before >= 0 and table.votes[n] >= 0 and _there(table, before, day):
                    wholes[5] += 1
                    counts[5] += table.votes[n] != before


@compiled
def _there(table: Any, seat: int, day: int) -> bool:
    """Return True if `seat` could vote, and be voted for, on `day`."""
    gone = table.eliminated_round[seat]
    return bool(gone == 0 or gone > day or (gone == day and table.voted_out[seat] == 1))


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
