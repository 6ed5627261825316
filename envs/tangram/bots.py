"""Scripted players. They get the observation and the mask of their seat, and nothing else."""

from collections.abc import Iterator
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.compiled import compiled
from ..core.game import Game
from ..core.record import Tables
from ..core.rollout import random_bot
from ..core.turn_state import Action
from . import geometry
from .corners import measure, pose, survey
from .forms import ALIKE, PIECE
from .generator import centre, corners, find
from .geometry import NEAR
from .lattice import AREAS, ASPECTS, BOARD, CORNERS, PIECES, exact, values
from .rules import Placement, begin, lift, put
from .table import PLACES, PLAY, POINTS, SOLVED, TABLE

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
        self._boards = game.tables(1)

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
        board = self._board(seen)
        found = completion(self._game, board, STEPS, int(board.passes))
        if found is None:
            return None
        if found.lifted:
            return towards(board, mask, found.solved.vertices.copy(), found.lifted)
        return found.first if found.first >= 0 and mask[found.first] else PLACES

    def _board(self, seen: NDArray[np.float32]) -> Any:
        """Return the record of what is observed."""
        self._boards[:] = self._game.rules.blank
        board = self._boards[0]
        outline = self._read("game_state.silhouette.outline", seen)
        there, begins = outline[:, 0] > 0, np.flatnonzero(outline[:, 1])
        board.outline[there] = BOARD * outline[there, 2:]
        board.ends[:] = there.sum()
        board.ends[: len(begins) - 1] = begins[1:]
        begin(board)
        for piece, (placed, x, y, cosine, sine, _) in enumerate(self._read("game_state.on_board", seen)):
            if placed:
                rotation = float(np.degrees(np.arctan2(sine, cosine))) % 360
                eighth = 45.0 * round(rotation / 45)
                put(board, piece, BOARD * x, BOARD * y, eighth if abs(rotation - eighth) < 1e-3 else rotation)
        left = float(self._read("game_state.turns_left", seen)[0])
        board.turn_number = board.turns + 1 - round(left * int(board.turns))
        board.passes = round(float(self._read("game_state.passes", seen)[0]) * int(board.turns))
        measure(board)
        survey(board)
        return board

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
    shape = np.empty((4, 2))
    for skips in range(POINTS):
        board.passes = skipped + skips
        survey(board)
        if skips and (tuple(board.focus), int(board.ray)) == first:
            break
        for place in (place for place in range(PLACES) if board.open >> place & 1):
            piece = int(PIECE[place])
            geometry.place(piece, *pose(board, place), board.scale, shape)
            if _planned(piece, shape, solved) and (piece in lifted or not board.on_board[piece]):
                return PLACES if skips else place
            if piece in lifted and np.abs(board.vertices[piece] - shape).max() >= NEAR:
                away.append((skips, place))
    now = [place for skips, place in away if not skips and mask[place]]
    if now:
        return now[int(board.turn_number) % len(now)]
    return PLACES if away else None


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


def filling(vertices: NDArray[np.int64], ends: NDArray[np.int64], steps: int) -> NDArray[np.int64] | None:
    """Return the seven pieces that fill an outline, int64[7, 3] as in `Silhouette.solutions`; None: not found.

    Args:
        vertices: int64[VERTICES, 2], exact (see `lattice`), the bounding box from (0, 0).
        ends: int64[RINGS] of the outline.
        steps: the most placements to try.
    """
    boards = np.zeros(8, TABLE).view(np.recarray)
    board = boards[0]
    board.scale = ASPECTS["square"]
    board.per_unit, board.ends = 1 / board.scale, ends
    centre(vertices, ends, board.scale, BOARD / 2, board.outline)
    begin(board)
    depth, _, _ = search(boards.view(np.ndarray), steps)
    if depth < 0:
        return None
    middle, solved = values(vertices[: ends[-1]]).max(0) / 2, boards[depth]
    at = ((solved.vertices[:, 0] - BOARD / 2) / solved.scale + middle).tolist()
    return np.array(
        [[round(turned / 45), exact(x), exact(y)] for (x, y), turned in zip(at, solved.rotation.tolist(), strict=True)]
    )


BOTS = {"random": random_bot, "greedy": Greedy, "solver": Solver}
"""`random`: any legal action. `greedy`: plays the placement that covers most. `solver`: fills the figure exactly by
backtracking over the same actions, and corrects misplaced pieces; it solves every figure of the library."""


TAUGHT_STEPS = 2_000
"""The most placements in the search for a new plan."""
LEAST = (0.0, 0.4, 0.45, 0.5)
"""The least difficulties of the tables, in a cycle (see `generator.difficulty`)."""


class FigureExpert:
    """An `Expert` that knows a solution of every figure.

    Args:
        game: tangram; figures are drawn at random from its `split`.
        encoder: the name of the learner's encoder.
        count: number of tables.
    """

    def __init__(self, game: Game, encoder: str, count: int) -> None:
        self._plans = np.zeros((count, 7, 4, 2))
        self._advice = np.zeros(count, np.int64)
        self._boards = game.tables(8).view(np.ndarray)
        self._turn_begins = game.encoders[encoder].layout["phase"].start

    def begin(self, tables: Tables) -> None:
        """Begin an episode on every table with a random figure."""
        tables.easiest, tables.hardest = np.resize(LEAST, len(tables)), 1.0
        begin_batch(tables.view(np.ndarray), self._plans)

    def advise(self, tables: Tables) -> NDArray[np.int64]:
        """Return the action index that is best at every table: int64[N]."""
        advise_batch(tables.view(np.ndarray), self._plans, self._boards, self._advice)
        return self._advice

    def leaves_to_learner(self, tables: Tables) -> NDArray[np.bool_]:
        """Return where a turn begins; only there the learner may decide: bool[N]."""
        return np.asarray(tables.moved < 0)

    def worth_copying(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.bool_]:
        """Return where a turn begins and more than one place is legal: bool[M]."""
        return np.asarray((observations[:, self._turn_begins] > 0) & (masks[:, :PLACES].sum(1) > 1))


@partial(compiled, compile_first=True)
def begin_batch(tables: Any, plans: Any) -> None:
    """Begin an episode on every table with a figure drawn at random, whatever the option `figure` is.

    Args:
        tables: N records; the options `split` and `hidden` apply.
        plans: float64[N, 7, 4, 2], written: by piece, the vertices of its pose in the figure.
    """
    for i in range(len(tables)):
        table = tables[i]
        _draw(table, plans[i])
        begin(table)


@partial(compiled, allocates=True)
def _draw(table: Any, plan: Any) -> None:
    """Draw a figure as `generator.generate` does, with its plan."""
    pieces = np.empty(7, np.int64)
    steps = np.empty(7, np.int64)
    at = np.empty((7, 2), np.int64)
    vertices = np.empty((len(table.outline), 2), np.int64)
    ends = np.empty(len(table.ends), np.int64)
    words = np.empty(1, np.uint64)
    words[0] = table.stream
    find(words, table.split, table.easiest, table.hardest, pieces, steps, at, vertices, ends)
    table.stream = words[0]
    centre(vertices, ends, table.scale, BOARD / 2, table.outline)
    for ring in range(len(ends)):
        table.ends[ring] = ends[ring]
    for i in range(7):
        corners(pieces[i], steps[i], at[i, 0], at[i, 1], plan[pieces[i]])
    for axis in range(2):
        low = plan[:, :, axis].min()
        middle = (low + plan[:, :, axis].max()) / 2
        for i in range(7):
            for k in range(4):
                plan[i, k, axis] = BOARD / 2 + table.scale[axis] * (plan[i, k, axis] - middle)


@partial(compiled, compile_first=True)
def advise_batch(tables: Any, plans: Any, boards: Any, actions: Any) -> None:
    """Write the teacher's action index for every table that is not done, at the beginning of a turn.

    Args:
        tables: N records.
        plans: float64[N, 7, 4, 2] as by `begin_batch`, changed where another solution is found.
        boards: 8 records of the same game as working memory, written.
        actions: int64[N], written.
    """
    for i in range(len(tables)):
        if not tables[i].done:
            actions[i] = PLACES if tables[i].moved >= 0 else _advise(tables[i], plans[i], boards)


@partial(compiled, allocates=True)
def _advise(table: Any, plan: Any, boards: Any) -> int:
    strayed = False
    for piece in range(7):
        strayed = strayed or (table.on_board[piece] > 0 and not _planned(piece, table.vertices[piece], plan))
    if strayed:
        boards[0] = table
        depth, first, _ = search(boards, TAUGHT_STEPS)
        if depth >= 0:
            for piece in range(7):
                for k in range(4):
                    for axis in range(2):
                        plan[piece, k, axis] = boards[depth].vertices[piece, k, axis]
            return first
    shape = np.empty((4, 2))
    for place in range(PLACES):
        piece = PIECE[place]
        if table.open >> place & 1 and not (table.on_board[piece] and _planned(piece, table.vertices[piece], plan)):
            x, y, rotation = pose(table, place)
            geometry.place(piece, x, y, rotation, table.scale, shape)
            if _planned(piece, shape, plan):
                return place
    return PLACES


@compiled
def _planned(piece: int, shape: Any, plan: Any) -> bool:
    """Return True if the plan has an equal piece there."""
    for other in range(7):
        if ALIKE[piece, other]:
            alike = True
            for k in range(CORNERS[piece]):
                near = False
                for m in range(CORNERS[piece]):
                    x, y = shape[k, 0] - plan[other, m, 0], shape[k, 1] - plan[other, m, 1]
                    near = near or (abs(x) < NEAR and abs(y) < NEAR)
                alike = alike and near
            if alike:
                return True
    return False


COMPLETION_STEPS = 4_000
"""The most placements in the search for a solution: about 0.2 s if there is none, usually a millisecond."""
LIFTED = 2
"""Most pieces that a mended board of `TangramPlanning` has lost."""
SPACING = 4.0
"""Board units between the places that are tried for a piece that must go out of the way."""


class Completion(NamedTuple):
    """A solved board, the pieces (indices) that must be moved for it, and the place that was played first; −1: none."""

    solved: Any
    lifted: tuple[int, ...]
    first: int


def without(table: Any, pieces: tuple[int, ...], boards: Tables, passes: int = 0) -> None:
    """Write `table` without some of its pieces, at the beginning of a turn, into the first of `boards`."""
    boards[0] = table
    board = boards[0]
    for piece in pieces:
        lift(board, piece)
    board.passes = passes
    measure(board)
    survey(board)


def completion(game: Game, table: Any, steps: int = COMPLETION_STEPS, passes: int = 0) -> Completion | None:
    """Return a completion of the figure of a table with the fewest pieces lifted; None if nothing is found.

    Args:
        game: tangram.
        table: a record; it is not changed.
        steps: the most pieces to place in search of it.
        passes: the turns skipped before, which choose the first focus.
    """
    boards = game.tables(8)
    there = np.flatnonzero(table.on_board).tolist()
    for count in range(len(there) + 1):
        for lifted in combinations(there, count):
            without(table, lifted, boards, passes)
            depth, first, steps = search(boards.view(np.ndarray), steps)
            if depth >= 0:
                return Completion(boards[depth].copy(), lifted, first)
            if steps == 0:
                return None
    return None


def useful_moves(game: Game, table: Any) -> Iterator[Placement]:
    """Yield moves towards a solution of a board, best first; none if it is solved or no solution is found.

    First come pieces that lie wrong and can go to their places, then pieces of the drawer. Pieces that lie wrong and
    whose places are covered go out of the figure, last.
    """
    solution = None if table.iou >= SOLVED else completion(game, table)
    if solution is not None:
        yield from moves_towards(table, solution)


def moves_towards(table: Any, found: Completion) -> Iterator[Placement]:
    """Yield exact moves from a board towards a completion of it, in the order of `useful_moves`."""
    shape = np.empty((4, 2))
    drawer = [piece for piece in np.argsort(-AREAS).tolist() if not table.on_board[piece]]
    for piece in (*found.lifted, *drawer):
        if not found.solved.on_board[piece]:
            continue
        x, y, rotation = (float(found.solved[name][piece]) for name in ("x", "y", "rotation"))
        geometry.place(piece, x, y, rotation, table.scale, shape)
        if _free(table, piece, shape):
            yield Placement(PLAY, piece, x, y, rotation)
    for piece in found.lifted:
        yield from _out_of_the_way(table, piece)


def _out_of_the_way(table: Any, piece: int) -> Iterator[Placement]:
    """Yield the place outside the figure that is nearest to a piece's position, if there is one."""
    shape = np.empty((4, 2))
    here, rotation = np.array([table.x[piece], table.y[piece]]), float(table.rotation[piece])
    lines = np.arange(SPACING, BOARD, SPACING)
    spots = sorted(
        ((x, y) for x in lines.tolist() for y in lines.tolist()), key=lambda at: float(np.hypot(*(here - at)))
    )
    for x, y in spots:
        geometry.place(piece, x, y, rotation, table.scale, shape)
        beside = geometry.on_board(shape) and geometry.covered_area(shape, table.outline, table.ends) < 1e-6
        if beside and _free(table, piece, shape):
            yield Placement(PLAY, piece, x, y, rotation)
            return


def _free(table: Any, piece: int, shape: NDArray[np.float64]) -> bool:
    """Return True if no other piece on the board overlaps this shape."""
    others = (other for other in range(len(CORNERS)) if other != piece and table.on_board[other])
    return not any(geometry.collides(shape, table.vertices[other]) for other in others)


class TangramPlanning:
    """Tangram's part of a search (see `parlour.wrappers.agents.policy`).

    Args:
        game: tangram with its options.
    """

    settle = PLACES
    """The action index that ends a turn in which a piece was played."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self._board = game.tables(1)

    def key(self, table: Tables) -> bytes:
        """Return the key of the position at one table (recarray of shape (1,)): figure, pieces and focus."""
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
        """Return the same as an exact move, which need not be on the menu, or None; see `moves_towards`."""
        for move in moves_towards(table, Completion(solved, lifted, -1)):
            place = {"shape": PIECES[move.piece], "position": [move.x, move.y], "rotation": move.rotation}
            return Action("play", place)
        return None
