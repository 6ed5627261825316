"""What a search needs to know of tangram: when a board is solved, when it is hopeless, and how to mend one."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.game import Game
from ..core.record import Tables
from ..core.turn_state import Action
from .bots import towards
from .completion import Completion, moves_towards, without
from .pieces import PIECES
from .table import PLACES, SOLVED

LIFTED = 2
"""Most pieces that a mended board has lost."""


class TangramPlanning:
    """Tangram's part of a search (see `parlour.wrappers.agents.search`).

    Args:
        game: tangram with its options.
    """

    settle = PLACES
    """The action index that ends a turn in which a piece was played."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self._board = game.tables(1)

    def key(self, table: Tables) -> bytes:
        """Return what tells the position at one table (recarray of shape (1,)): figure, pieces and focus."""
        return b"".join(table[name].tobytes() for name in ("outline", "ends", "vertices", "focus", "ray"))

    def unsettled(self, tables: Tables) -> NDArray[np.bool_]:
        """Tell where a piece was played in the turn and nothing else remains to be done but to end it: bool[N]."""
        return np.asarray((tables.moved >= 0) & ~tables.done)

    def solved(self, tables: Tables) -> NDArray[np.bool_]:
        """Tell which boards are solved: bool[N]."""
        return np.asarray(tables.iou >= SOLVED)

    def hopeless(self, tables: Tables) -> NDArray[np.bool_]:
        """Tell from which boards no exact solution can be reached with the pieces in the drawer: bool[N]."""
        return np.asarray((tables.dead > 0) | ~tables.fitting | tables.done)

    def candidates(self, masks: NDArray[np.int8]) -> NDArray[np.bool_]:
        """Tell which actions a plan may hold: bool[N, A], the places; a turn that is skipped leads nowhere."""
        wanted = masks > 0
        wanted[:, PLACES] = False
        return wanted

    def mended(self, table: Any) -> Iterator[tuple[tuple[int, ...], Tables]]:
        """Yield boards without the fewest pieces that may lie wrong: those pieces, and the board (one record)."""
        there = np.flatnonzero(table.on_board).tolist()
        for count in range(1, min(LIFTED, len(there)) + 1):
            for lifted in combinations(there, count):
                board = self._game.tables(1)
                without(table, lifted, board)
                board.turn_number = 1  # the plan is for its solved board, whatever turns are left
                yield lifted, board

    def first_step(self, table: Any, mask: NDArray[np.int8], solved: Any, lifted: tuple[int, ...]) -> int | None:
        """Return the legal action index that brings a board nearer to a solved one, or None; see `bots.towards`."""
        self._board[0] = table
        return towards(self._board[0], mask, solved.vertices.copy(), lifted)

    def exact_step(self, table: Any, solved: Any, lifted: tuple[int, ...]) -> Action | None:
        """Return the same as an exact move, which need not be on the menu, or None; see `completion.moves_towards`."""
        move = next(moves_towards(table, Completion(solved, lifted)), None)
        if move is None:
            return None
        place = {"shape": PIECES[move.piece], "position": [move.x, move.y], "rotation": move.rotation}
        return Action("play", place)
