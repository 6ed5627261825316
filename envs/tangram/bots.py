"""Scripted players. They get the observation and the mask of their seat, and nothing else."""

from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.compiled import compiled
from ..core.game import Game
from ..core.rollout import random_bot
from . import geometry
from .corners import measure, pose, survey
from .forms import PIECE, TWIN
from .pieces import BOARD
from .rules import begin, put
from .sectors import NEAR
from .table import PLACES, POINTS, SOLVED

Poses = dict[int, tuple[float, float, float]]
"""By piece: x, y, rotation."""

STEPS = 10_000
"""The most placements that the solver tries in one decision: half a second of processor time if there is no solution;
usually it needs a millisecond."""


class Greedy:
    """Plays the placement that covers most of the figure; among equals, the one that touches most edges. Skips its turn
    if no placement covers more."""

    encoder = "v0"

    def __init__(self, game: Game, seed: int | None = None) -> None:
        layout = game.encoders[self.encoder].layout
        self._gain = layout["allowed_actions.play.gain"]
        self._snug = layout["allowed_actions.play.snug"]

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return an action index per row of float32[N, D] observations and int8[N, A] masks: int64[N]."""
        gain = observations[:, self._gain.start : self._gain.stop].astype(np.float64)
        snug = observations[:, self._snug.start : self._snug.stop]
        worth = np.where((masks[:, :PLACES] > 0) & (gain > 1e-6), gain + 1e-3 * snug, 0.0)
        best = worth.argmax(1)
        begun = observations[:, 0] > 0  # a turn: it has not played yet
        return np.where(begun & (worth.max(1) > 0), best, PLACES).astype(np.int64)


class Solver:
    """Fills the figure exactly, by a backtracking search over the corners.

    If pieces on the board are in the way, it finds the smallest set of them, and plays the placements of a solution as
    soon as the focus allows it; if no focus does, it moves the pieces that are in the way.

    If there is no solution, or none within `STEPS` placements, it plays as `Greedy` does.
    """

    encoder = "v0"

    def __init__(self, game: Game, seed: int | None = None) -> None:
        if game.options["modality"] == "pixels":
            raise ValueError("the solver needs numbers: give modality='numeric' or 'both'")
        self._game = game
        self._greedy = Greedy(game)
        self._boards = game.tables(8)

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return an action index per row of float32[N, D] observations and int8[N, A] masks: int64[N]."""
        answers = self._greedy.act(observations, masks)
        for row, (seen, mask) in enumerate(zip(observations, masks, strict=True)):
            if seen[0] > 0 and mask[:PLACES].any():
                answer = self._answer(seen, mask)
                answers[row] = answers[row] if answer is None else answer
        return answers

    def _answer(self, seen: NDArray[np.float32], mask: NDArray[np.int8]) -> int | None:
        """Return the action index to play, or None if no solution is found."""
        poses = self._poses(seen)
        left = STEPS
        for count in range(len(poses) + 1):
            for lifted in combinations(poses, count):
                self._set_up(seen, {piece: at for piece, at in poses.items() if piece not in lifted})
                depth, first, left = search(self._boards.view(np.ndarray), left)
                if depth >= 0 and not lifted:
                    return first if depth > 0 and mask[first] else PLACES  # depth 0: the figure is solved
                if depth >= 0:
                    solved = self._boards[depth].vertices.copy()
                    self._set_up(seen, poses)
                    return towards(self._boards[0], mask, solved, lifted)
                if left == 0:
                    return None
        return None

    def _poses(self, seen: NDArray[np.float32]) -> Poses:
        poses = {}
        for piece, (there, x, y, cosine, sine, _) in enumerate(self._read("game_state.on_board", seen)):
            if there:
                rotation = float(np.degrees(np.arctan2(sine, cosine))) % 360
                eighth = 45.0 * round(rotation / 45)
                poses[piece] = BOARD * x, BOARD * y, eighth if abs(rotation - eighth) < 1e-3 else rotation
        return poses

    def _set_up(self, seen: NDArray[np.float32], poses: Poses) -> None:
        """Write the first board: the figure, with pieces in these poses."""
        self._boards[:1] = self._game.rules.blank
        board = self._boards[0]
        outline = self._read("game_state.silhouette.outline", seen)
        there, begins = outline[:, 0] > 0, np.flatnonzero(outline[:, 1])
        board.outline[there] = BOARD * outline[there, 2:]
        board.ends[:] = there.sum()
        board.ends[: len(begins) - 1] = begins[1:]
        begin(board)
        for piece, at in poses.items():
            put(board, piece, *at)
        left = float(self._read("game_state.turns_left", seen)[0])
        board.turn_number = board.turns + 1 - round(left * int(board.turns))
        board.passes = round(float(self._read("game_state.passes", seen)[0]) * int(board.turns))
        measure(board)
        survey(board)

    def _read(self, path: str, seen: NDArray[np.float32]) -> NDArray[np.float64]:
        part = self._game.encoders[self.encoder].layout[path]
        return seen[part.start : part.stop].reshape(part.shape).astype(np.float64)


def towards(board: Any, mask: NDArray[np.int8], solved: NDArray[np.float64], lifted: tuple[int, ...]) -> int | None:
    """Return the action index that brings a board nearer to a solved one.

    It puts a piece where the solution has it or its twin; `finish`, where another corner allows that. Where none does,
    it moves a piece that is in the way somewhere else.

    Args:
        board: a record where a turn begins; written.
        mask: int8[A], the legal action indices.
        solved: float64[7, 4, 2], the vertices of the solved board.
        lifted: pieces on the board that do not lie as the solution has them.

    Returns:
        The action index; None where nothing of that helps.
    """
    skipped = int(board.passes)
    first = tuple(board.focus), int(board.ray)
    away: list[tuple[int, int]] = []
    for skips in range(POINTS):
        board.passes = skipped + skips
        survey(board)
        if skips and (tuple(board.focus), int(board.ray)) == first:
            break
        for place in (place for place in range(PLACES) if board.open >> place & 1):
            home, lies = _compare(board, place, solved)
            piece = int(PIECE[place])
            if home and (piece in lifted or not board.on_board[piece]):
                return PLACES if skips else place
            if piece in lifted and not lies:
                away.append((skips, place))
    now = [place for skips, place in away if not skips and mask[place]]
    if now:
        return now[int(board.turn_number) % len(now)]
    return PLACES if away else None


def _compare(board: Any, place: int, solved: NDArray[np.float64]) -> tuple[bool, bool]:
    """Tell whether a place is one of the solution's, and whether its piece lies there already."""
    piece, shape = int(PIECE[place]), np.empty((4, 2))
    geometry.place(piece, *pose(board, place), board.scale, shape)
    alike = [other for other in range(7) if other == piece or TWIN[other] == piece or TWIN[piece] == other]
    home = any(np.abs(solved[other] - shape).max() < NEAR for other in alike)
    return home, bool(np.abs(board.vertices[piece] - shape).max() < NEAR)


@partial(compiled, allocates=True)
def search(boards: Any, steps: int) -> tuple[int, int, int]:
    """Fill the uncovered part of the figure with the pieces of the drawer, by depth-first search.

    Args:
        boards: 8 records; the first is a board with its places, the others are written.
        steps: the most placements to try.

    Returns:
        The index of the solved board, −1 if none; the place that was played first; and the number of steps left.
    """
    tried = np.zeros(8, np.int64)
    depth = 0
    while depth >= 0:
        board = boards[depth]
        if board.iou >= SOLVED:
            return depth, tried[0] - 1, steps
        place = tried[depth]
        while place < PLACES and not board.open >> place & 1:
            place += 1
        if place == PLACES or board.dead or not board.fitting:
            depth -= 1
        elif steps == 0:
            return -1, -1, 0
        else:
            steps -= 1
            tried[depth] = place + 1
            boards[depth + 1] = board
            after = boards[depth + 1]
            x, y, rotation = pose(board, place)
            put(after, PIECE[place], x, y, rotation)
            after.passes = 0
            measure(after)
            survey(after)
            depth += 1
            tried[depth] = 0
    return -1, -1, steps


BOTS = {"random": random_bot, "greedy": Greedy, "solver": Solver}
"""`random`: any legal action. `greedy`: plays the placement that covers most. `solver`: fills the figure exactly by
backtracking over the same actions, and corrects misplaced pieces; it solves every figure of the library."""
