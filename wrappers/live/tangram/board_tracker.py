"""The state of a live game for the agent: the game's board as tangram's TurnState fields.

The game sends the places of the pieces. The rest of TurnState follows here: the silhouette of the objective, the
numbers of turns and of skipped turns, the piece moved in this turn. Poses are in board units of the Godot game.

- `Convention`: what the game means by the position and the rotation of a piece, from the vertices beside them. A centre
  may be a piece's origin, its centroid or another point; rotations may run either way, from another rest; units may
  have another size, and y may run downwards.
- The figure is moved so that most of the pieces are part of it: the live game has no silhouette. People do not place
  pieces exactly, and the game may round numbers or force gaps: a piece near its place in a solution, or near its
  twin's, is seen there.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ....envs.core.game import Game
from ....envs.tangram.figure_sets import own_figures
from ....envs.tangram.forms import TWIN
from ....envs.tangram.geometry import covered_area, outline_area, place
from ....envs.tangram.lattice import AREAS, ASPECTS, BOARD, CORNERS, PERIODS, PIECES, SHAPES
from ....envs.tangram.silhouettes import Silhouette, objective
from ....envs.tangram.view import BoardPiece, DrawerPiece, Moved, Place, TangramState, Vector, vector
from .messages import ChatRequest, PlayFeedback, PlayRequest, State
from .placing import SCALE, Polygon, Pose, Poses, collisions, polygon, rotated

SAME = 0.05
"""Most difference of a reported pose from the pose that we sent, in board units and degrees."""
NEAR = 3.0
"""Most distance of a piece from its place in a solution, in board units."""
NEAR_DEGREES = 15.0
"""Most difference of its rotation, in degrees."""
MEETING = 0.05
"""Most distance of vertices that meet, in board units. A piece with such a vertex was placed exactly."""

Shift = tuple[float, float]
CENTRED: Shift = (0.0, 0.0)
"""The shift of a figure in the middle of the board."""
EXACT = 0.15
"""Board units up to which a centre counts as the origin: the Godot game's vertices are not quite its pieces'."""
ALIKE = 0.025
"""Most relative difference of a scale that counts as one of `ASPECTS`, for the same reason."""
SKEW = 0.1
"""Most distortion of vertices that count as those of a piece."""

_CORNERS = [np.column_stack([shape[:n], np.ones(n)]) for shape, n in zip(SHAPES, CORNERS.tolist(), strict=True)]
_ORDERS = {n: [np.roll(np.arange(n)[::way], by) for way in (1, -1) for by in range(n)] for n in (3, 4)}


class BoardTracker:
    """Tracks one game.

    Args:
        game: tangram, as the agent knows it.

    Attributes:
        objective: the game's words for the figure.
        poses: the reported poses of the pieces on the board, in the order of their placing.
        collided: the reported collisions of each of them.
        plays_left: the agent's plays left in this turn; steps away from a collision do not count.
    """

    def __init__(self, game: Game) -> None:
        blank = game.rules.blank[0]
        self._aspect = list(ASPECTS)[int(blank.aspect)]
        self._plays, self._turns = int(blank.plays), int(blank.turns)
        self._own = own_figures(game.options)
        self.objective = ""
        self.convention = Convention()
        self._figure: Silhouette | None = None
        self.poses: dict[str, Pose] = {}
        self.collided: dict[str, list[str]] = {}
        self.plays_left = 0
        self._meant: dict[str, tuple[Pose, Pose]] = {}  # the reported and the intended pose
        self._inexact: set[str] = set()  # pieces that the person placed nearly right
        self._shift = CENTRED  # of the figure from the middle of the board
        self._images: dict[str, str] = {}
        self._before: dict[str, Pose] = {}  # the intended poses when the turn began
        self._reported_before: dict[str, Pose] = {}  # the reported poses when the turn began
        self._left_behind: dict[str, Pose] = {}  # the reported poses after our last turn
        self._turn_number = self._passes = 0
        self._iou = 0.0  # when the turn began

    @property
    def known(self) -> bool:
        """Whether the objective is a figure of the library, or one of the game's own."""
        return self._figure is not None

    # Messages of the game.

    def update(self, message: PlayRequest | PlayFeedback | ChatRequest) -> None:
        """Update the board from a message."""
        assert message.state is not None
        if message.objective != self.objective:
            self.objective, self._figure = message.objective, objective(message.objective, self._own)
            self.poses, self._meant, self._left_behind = {}, {}, {}
            self._turn_number = self._passes = 0
            self._shift = CENTRED
        board = message.state.on_board
        self.convention.learn(message.state)
        reported = {name: self.convention.read(name, piece.position, piece.rotation) for name, piece in board.items()}
        there = [name for name in self.poses if name in reported]
        self.poses = {name: reported[name] for name in dict.fromkeys((*there, *reported))}
        self.collided = {name: piece.collisions for name, piece in board.items()}
        meant = self._meant.items()
        self._meant = {name: pair for name, pair in meant if name in reported and same(pair[0], reported[name])}
        self._inexact &= self._meant.keys()
        images = {"board_img": message.board_img, "drawer_img": message.drawer_img}
        self._images = {name: image for name, image in images.items() if image is not None}

    def interrupted(self, name: str, sent: Pose, meant: Pose) -> None:
        """End our last turn, whose last play got no feedback: some games limit the plays of a turn.

        The person has moved since then, perhaps the same piece. The pieces around the play decide whether it was kept.
        """
        before = self._reported_before
        kept = not collisions(name, {**before, name: sent})
        there = sent
        if name in self.poses and same(self.poses[name], sent):
            there = self.poses[name]
            self.intend(name, meant)
        self._ended({**before, name: there} if kept else before)

    def begin(self) -> None:
        """Begin our turn with the current board."""
        self._turn_number += 2  # the person's and ours
        self._align()
        self._passes = self._passes + 1 if self.poses == self._left_behind else 0
        self._before, self._reported_before = self.meant(), self.poses
        self.plays_left = self._plays
        self._iou = self._overlap()

    def _align(self) -> None:
        """Move the figure to the pieces, and the person's pieces to their places in it.

        The first turn may follow a lost connection; then the agent's pieces count too.
        """
        if self._figure is None:
            return
        if self._turn_number == 2:
            self._shift = figure_shift(self._figure, self.poses)
        for name, pose in self.poses.items():
            if name not in self._meant:
                others = {other: there for other, there in self.meant().items() if other != name}
                place = nearest_place(self._figure, self._shift, name, pose, others)
                if place is not None:
                    self._meant[name] = pose, place
                    self._inexact.add(name)

    def intend(self, name: str, meant: Pose) -> None:
        """Store the intended pose of a piece beside its reported one."""
        self._meant[name] = self.poses[name], meant
        self._inexact.discard(name)

    def inexact(self, name: str) -> Pose | None:
        """Return the intended pose of a piece that the person placed nearly right; None for all others."""
        return self._meant[name][1] if name in self._meant and name in self._inexact else None

    def end(self, moved: str | None) -> bool:
        """End our turn; `moved` is the moved piece. Return whether the game undoes the move."""
        undone = moved is not None and bool(self.collided.get(moved))
        self._ended(self._reported_before if undone else self.poses)
        return undone

    def _ended(self, behind: dict[str, Pose]) -> None:
        self._passes = self._passes + 1 if behind == self._reported_before else 0
        self._left_behind = behind

    # The TurnState.

    def meant(self) -> dict[str, Pose]:
        """Return the intended poses, which the agent sees."""
        return {name: self._meant[name][1] if name in self._meant else pose for name, pose in self.poses.items()}

    def game_state(self, moved: str | None) -> TangramState:
        """Return TurnState's field of that name; `moved` is the piece that was moved in this turn."""
        poses = self.meant()
        was: Place | None = None
        if moved in self._before:
            x, y, rotation = self._to_agent(self._before[moved])
            was = Place(vector(x, y), rotation)
        return TangramState(
            objective=self.objective,
            on_board={name: self._piece(name, self._to_agent(poses[name])) for name in PIECES if name in poses},
            off_board={
                name: DrawerPiece(vertices=self._vertices(name, (0.0, 0.0, 0.0)))
                for name in PIECES
                if name not in poses
            },
            silhouette=self._rings(),
            iou=self._iou,
            turn_number=min(self._turn_number, self._turns),
            turns=self._turns,
            plays_left=max(self.plays_left, 1),
            passes=self._passes,
            moved=None if moved is None else Moved(moved, was),
            **self._images,
        )

    def _piece(self, name: str, pose: Pose) -> BoardPiece:
        vertices, collisions = self._vertices(name, pose), self.collided[name]
        return BoardPiece(position=vector(*pose[:2]), vertices=vertices, rotation=pose[2], collisions=collisions)

    def _vertices(self, name: str, pose: Pose) -> list[Vector]:
        piece = PIECES.index(name)
        vertices: list[Vector] = self._polygon(piece, pose)[: CORNERS[piece]].tolist()
        return vertices

    def _polygon(self, piece: int, pose: Pose) -> Polygon:
        out = np.zeros((4, 2))
        place(piece, *pose, ASPECTS[self._aspect], out)
        return out

    def _overlap(self) -> float:
        """Return the intersection over union of pieces and silhouette, as the rules compute it."""
        if self._figure is None:
            return 0.0
        right, up = ASPECTS[self._aspect]
        outline, ends = self._figure.outline(self._aspect), self._figure.ends
        poses = self.meant()
        covered = placed = 0.0
        for piece, name in enumerate(PIECES):
            if name in poses:
                vertices = self._polygon(piece, self._to_agent(poses[name]))
                covered += covered_area(vertices, outline, ends)
                placed += float(AREAS[piece]) * right * up
        return min(1.0, covered / (outline_area(outline, ends) + placed - covered))

    def _rings(self) -> list[list[Vector]]:
        if self._figure is None:
            return []
        flat, ends = self._figure.outline(self._aspect).tolist(), self._figure.ends.tolist()
        return [flat[start:end] for start, end in zip([0, *ends], ends, strict=False) if end > start]

    # The agent's board has the figure in the middle, and may have another aspect than the Godot game's.

    def _to_agent(self, pose: Pose) -> Pose:
        right, up = self._shift
        return pose[0] - right, _scaled(pose[1] - up, ASPECTS[self._aspect][1] / SCALE[1]), pose[2]

    def to_game(self, pose: Pose) -> Pose:
        """Return the pose in the game of a pose on the agent's board."""
        right, up = self._shift
        return pose[0] + right, _scaled(pose[1], SCALE[1] / ASPECTS[self._aspect][1]) + up, pose[2]


def same(pose: Pose, other: Pose, most: float = SAME) -> bool:
    """Return whether two poses differ by less than `most` board units and degrees."""
    return math.dist(pose[:2], other[:2]) < most and abs(math.remainder(pose[2] - other[2], 360.0)) < most


# What the game means.


class Convention:
    """The convention of one game, as known so far; at first the Godot game's.

    Attributes:
        shapes: the shapes of the pieces, as in `SHAPES`: as sent, where the centre is not the origin.
    """

    def __init__(self) -> None:
        self._scales: dict[str, tuple[float, float]] = {}
        self._turned: dict[str, list[tuple[float, float]]] = {}  # the latest two rotations, as told and as seen
        self._scale = np.array(SCALE)  # y negative: downwards
        self._sense = 1
        self._rest: dict[str, float] = {}  # degrees clockwise at rotation 0
        self.shapes = SHAPES.copy()
        self._centre: dict[str, Polygon] = {}  # from the origin, at rest, in units of the pieces

    def learn(self, state: State) -> None:
        """Learn from the vertices of all pieces."""
        pieces: dict[str, Any] = {**state.off_board, **state.on_board}
        way = 1 if self._scale[1] > 0 else -1
        if "Brown" in pieces and _fit("Brown", pieces["Brown"].vertices, -way) is not None:  # the others are symmetric
            way = -way
        fits = {name: fit for name in pieces if (fit := _fit(name, pieces[name].vertices, way)) is not None}
        if not fits:
            return
        self._scales |= {name: scale for name, (scale, _, _, _) in fits.items()}
        self._scale = np.median(list(self._scales.values()), axis=0)
        for aspect in ASPECTS.values():
            if (np.abs(self._scale / aspect - 1) < ALIKE).all():
                self._scale = np.array(aspect)
        self._scale[1] *= way
        for name, (_, seen, _, _) in fits.items():
            told = pieces[name].rotation
            before = [pair for pair in self._turned.get(name, []) if abs(math.remainder(pair[0] - told, 360.0)) > 1]
            self._turned[name] = [*before, (told, seen)][-2:]
        self._sense = min((1, -1), key=self._contradictions)
        for name, (_, seen, origin, points) in fits.items():
            told = pieces[name].rotation
            self._rest[name] = _rest(name, told, seen, self._sense)
            turn = rotated(self._sense * told + self._rest[name])
            centre = (np.array(getattr(pieces[name], "position", (0.0, 0.0))) - origin) / self._scale @ turn
            far, piece = np.hypot(*(centre * SCALE)) > EXACT, PIECES.index(name)
            self._centre[name] = centre * far
            self.shapes[piece] = np.resize(points - origin, (4, 2)) / self._scale @ turn if far else SHAPES[piece]

    def _contradictions(self, sense: int) -> float:
        """Return by how much the rotations of pieces contradict a sense, in degrees; other rests count little."""
        total = 0.0
        for name, pairs in self._turned.items():
            rests = [_rest(name, told, seen, sense) for told, seen in pairs]
            off = math.remainder(rests[0] - rests[-1], float(PERIODS[PIECES.index(name)]))
            total += abs(off) + 0.01 * min(abs(rests[0]), 5.0)
        return total

    def read(self, name: str, position: Vector, rotation: float) -> Pose:
        """Return the pose of a piece that the game reports."""
        turned = self._sense * rotation + self._rest.get(name, 0.0)
        x, y = (np.array(position) - self._to_centre(name, turned)).tolist()
        return _scaled(x, SCALE[0] / self._scale[0]), _scaled(y, SCALE[1] / self._scale[1]), turned % 360.0

    def write(self, name: str, pose: Pose) -> Pose:
        """Return the position and the rotation that the game calls a pose."""
        x, y = _scaled(pose[0], self._scale[0] / SCALE[0]), _scaled(pose[1], self._scale[1] / SCALE[1])
        x, y = (np.array((x, y)) + self._to_centre(name, pose[2])).tolist()
        return x, y, self._sense * (pose[2] - self._rest.get(name, 0.0)) % 360.0

    def _to_centre(self, name: str, turned: float) -> Any:
        return self._scale * (rotated(turned) @ self._centre.get(name, np.zeros(2)))


def _scaled(place: float, by: float) -> float:
    return place if by == 1 else BOARD / 2 + (place - BOARD / 2) * float(by)


def _fit(name: str, vertices: list[Vector], way: int) -> tuple[tuple[float, float], float, Polygon, Polygon] | None:
    """Return scale, rotation, origin and sorted vertices of a piece with these vertices; None if its shape is another.

    Args:
        name: of the piece.
        vertices: in any order.
        way: -1: y runs downwards.
    """
    shape = _CORNERS[PIECES.index(name)]
    if len(vertices) != len(shape):
        return None
    best, found = SKEW, None
    for order in _ORDERS[len(shape)]:
        points = np.array(vertices)[order]
        solved = np.linalg.lstsq(shape, points, rcond=None)[0]
        linear = solved[:2].T * [[1], [way]]
        wide, high = np.hypot(*linear.T).tolist()
        if np.linalg.det(linear) <= 0 or not (0.1 < wide < BOARD and 0.1 < high < BOARD):
            continue
        off = np.abs(shape @ solved - points).max() / wide
        skew = abs(float(linear[0] @ linear[1])) / (wide * high) + off
        stretch = abs(math.log(wide / high))
        if skew < SKEW and (found is None or stretch < best):
            turned = math.degrees(
                math.atan2(linear[0, 1] / wide - linear[1, 0] / high, np.trace(linear / [[wide], [high]]))
            )
            best, found = stretch, ((wide, high), turned, solved[2], points)
    return found


def _rest(name: str, told: float, seen: float, sense: int) -> float:
    """Return the rotation of a piece at rest, nearest to 0; exact if it is nearly a multiple of 45 degrees."""
    period = float(PERIODS[PIECES.index(name)])
    rest = math.remainder(seen - sense * told, period)
    nearest = 45.0 * round(rest / 45.0)
    return nearest if abs(rest - nearest) < 3 else rest


# Where the figure stands.


def figure_shift(figure: Silhouette, poses: Poses) -> Shift:
    """Return how far the figure is moved from the middle of the board, so that most of the pieces are part of it.

    Pieces count by their area. Among equal shifts, the one nearest to the pieces is taken, then the one nearest to the
    middle. The shift is (0, 0) if no piece has the rotation of a solution, or the figure would leave the board.
    """
    outline = _outline(figure, CENTRED)
    shifts = [CENTRED]
    for name, pose in poses.items():
        shifts += [(pose[0] - x, pose[1] - y) for x, y, _ in _places(figure, name, pose)]
    fitting = [shift for shift in shifts if (outline + shift).min() >= 0 and (outline + shift).max() <= BOARD]
    costs = {shift: (round(_unexplained(figure, shift, poses), 3), math.hypot(*shift)) for shift in fitting}
    return min(costs, key=lambda shift: costs[shift], default=CENTRED)


def nearest_place(figure: Silhouette, shift: Shift, name: str, pose: Pose, others: Poses) -> Pose | None:
    """Return the place in a solution near which a piece lies; None if there is none, or it was placed exactly."""
    return None if _aligned(figure, shift, name, pose, others) else _nearest(figure, shift, name, pose)


def _nearest(figure: Silhouette, shift: Shift, name: str, pose: Pose) -> Pose | None:
    places = ((x + shift[0], y + shift[1], rotation) for x, y, rotation in _places(figure, name, pose))
    nearest = min(places, key=lambda place: math.dist(place[:2], pose[:2]), default=None)
    return nearest if nearest is not None and math.dist(nearest[:2], pose[:2]) < NEAR else None


def _unexplained(figure: Silhouette, shift: Shift, poses: Poses) -> float:
    """Return how far the pieces lie from their places, in board units, each up to `NEAR` and times its area."""
    total = 0.0
    for name, pose in poses.items():
        if not _aligned(figure, shift, name, pose, {}):
            nearest = _nearest(figure, shift, name, pose)
            off = NEAR if nearest is None else math.dist(nearest[:2], pose[:2])
            total += off * float(AREAS[PIECES.index(name)])
    return total


def _places(figure: Silhouette, name: str, pose: Pose) -> Iterator[Pose]:
    """Yield the places of a piece, or its twin, in the solutions with about this rotation."""
    piece = PIECES.index(name)
    period = float(PERIODS[piece])
    alike = [other for other in range(7) if other == piece or TWIN[other] == piece or TWIN[piece] == other]
    for solution in range(len(figure.solutions)):
        poses = figure.poses(solution, "godot")
        for other in alike:
            x, y, rotation = poses[other].tolist()
            if abs(math.remainder(pose[2] - rotation, period)) < NEAR_DEGREES:
                right, up = (polygon(PIECES[other], (0, 0, rotation)) - polygon(name, (0, 0, rotation)))[0].tolist()
                yield x + right, y + up, rotation


def _aligned(figure: Silhouette, shift: Shift, name: str, pose: Pose, others: Poses) -> bool:
    """Return whether a vertex of a piece meets one of the figure's or of another piece's."""
    vertices = [_outline(figure, shift), *(polygon(other, there) for other, there in others.items())]
    between = polygon(name, pose)[:, None] - np.concatenate(vertices)
    return bool((np.hypot(between[..., 0], between[..., 1]) < MEETING).any())


def _outline(figure: Silhouette, shift: Shift) -> Polygon:
    return figure.outline("godot")[: figure.ends[-1]] + shift
