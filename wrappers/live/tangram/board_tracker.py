"""The state of a live game for the agent: the game's board as tangram's TurnState fields; and places without a policy.

The game sends the places of the pieces. The rest of TurnState follows here: the silhouette of the objective, the
numbers of turns and of skipped turns, the piece moved in this turn. Poses are ``(x, y, rotation)`` by piece name in
board units of the Godot game's aspect; a polygon is float64[4, 2].

- `separated`, `figure_moves`: out of a collision, or next to the pieces on the board.
- `Convention`: what the game means by the position and the rotation of a piece, from the vertices beside them. A centre
  may be a piece's origin, its centroid or another point; rotations may run either way, from another rest; units may
  have another size, and y may run downwards.
- The figure is moved so that most of the pieces are part of it: the live game has no silhouette. People do not place
  pieces exactly, and the game may round numbers or force gaps: a piece near its place in a solution, or near its
  twin's, is seen there.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ....envs import Game, TurnState
from ....envs.tangram import geometry
from ....envs.tangram.figure_sets import own_figures
from ....envs.tangram.forms import ALIKE
from ....envs.tangram.geometry import place
from ....envs.tangram.lattice import AREAS, ASPECTS, BOARD, CORNERS, PERIODS, PIECES, SHAPES, rings_of
from ....envs.tangram.silhouettes import Silhouette, objective
from ....envs.tangram.view import BoardPiece, DrawerPiece, Moved, Place, TangramState, Vector, vector
from .messages import ChatRequest, PlayFeedback, PlayRequest, State

Pose: TypeAlias = tuple[float, float, float]
Poses: TypeAlias = Mapping[str, Pose]
Polygon: TypeAlias = NDArray[np.float64]

SCALE = ASPECTS["godot"]
"""Board units per unit of the pieces in the Godot game."""
REACH = 5.0
"""Most board units by which `separated` moves a piece."""
CLOSE = 1.0
"""Most board units between connected pieces."""
ARM = 5.4
"""Least distance of the centres of touching pieces, in board units, perpendicular to the common edge."""
MIDDLE: Pose = (BOARD / 2, BOARD / 2, 0.0)
ORDER = sorted(PIECES, key=lambda name: -AREAS[PIECES.index(name)])
"""The pieces, large ones first, since they need the most room."""


def polygon(name: str, pose: Pose, shapes: Polygon = SHAPES) -> Polygon:
    """Return the vertices of a piece in a pose; its shape is one of float64[7, 4, 2], as in `SHAPES`."""
    vertices: Polygon = np.array(pose[:2]) + SCALE * (shapes[PIECES.index(name)] @ rotated(pose[2]).T)
    return vertices


def rotated(degrees: float) -> Polygon:
    """Return the matrix of a clockwise rotation with y upwards."""
    cosine, sine = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return np.array([[cosine, sine], [-sine, cosine]])


def collisions(name: str, poses: Poses, shapes: Polygon = SHAPES) -> list[str]:
    """Return the names that a piece on the board overlaps, BOUNDARY last. Touching is not overlapping."""
    own = polygon(name, poses[name], shapes)
    polygons = {other: polygon(other, there, shapes) for other, there in poses.items() if other != name}
    names = [other for other, shape in polygons.items() if geometry.collides(own, shape)]
    return names if geometry.on_board(own) else [*names, "BOUNDARY"]


def separated(name: str, pose: Pose, others: Poses, gap: float, shapes: Polygon = SHAPES) -> Pose | None:
    """Return the pose moved as little as needed to keep `gap` from other pieces and the board's edge; None: no room."""
    polygons = [polygon(other, there, shapes) for other, there in others.items()]
    start = own = polygon(name, pose, shapes)
    for _ in range(40):
        shift = np.maximum(gap - own.min(axis=0), 0) - np.maximum(own.max(axis=0) - (BOARD - gap), 0)
        overlap = float(np.abs(shift).max())
        for other in polygons:
            depth, axis = _separation(own + shift, other)
            missing = max(depth + gap, 0.0)
            shift = shift + axis * missing
            overlap = max(overlap, missing)
        if overlap < 1e-9:
            x, y = (own[0] - start[0]).tolist()
            return pose[0] + x, pose[1] + y, pose[2]
        own = own + shift
        if math.dist(own[0], start[0]) > REACH:
            return None
    return None


def spread(name: str, pose: Pose, anchor: Pose, others: Poses, gap: float, shapes: Polygon = SHAPES) -> Pose:
    """Return the pose in a figure grown from `anchor` until its pieces keep `gap`; without room the pose itself."""
    x, y, _ = anchor
    grown = 1 + gap / ARM
    wider = (x + grown * (pose[0] - x), y + grown * (pose[1] - y), pose[2])
    return separated(name, wider, others, gap, shapes) or pose


def _separation(own: Polygon, other: Polygon) -> tuple[float, Polygon]:
    """Return the depth of an overlap (negative: the distance), and the direction of the shortest way out for `own`."""
    best, way = math.inf, np.zeros(2)
    for first, second, sign in ((own, other, -1.0), (other, own, 1.0)):
        edges = np.roll(first, -1, axis=0) - first
        lengths = np.hypot(edges[:, 0], edges[:, 1])
        real = lengths > 1e-9
        normals = np.stack([edges[real, 1], -edges[real, 0]], axis=1) / lengths[real, None]  # outwards
        depths = (normals * first[real]).sum(axis=1) - (normals @ second.T).min(axis=1)
        least = int(depths.argmin())
        if depths[least] < best:
            best, way = float(depths[least]), sign * normals[least]
    return best, way


def figure_moves(poses: Poses, gap: float) -> Iterator[tuple[str, Pose]]:
    """Yield moves towards a connected figure without collisions, best first; none if it is complete.

    Pieces that collide or are not connected come first, then those in the drawer, large pieces first.
    """
    figure = _largest_group(poses, gap)
    misplaced = [name for name in ORDER if name in poses and (name not in figure or collisions(name, poses))]
    for name in (*misplaced, *(name for name in ORDER if name not in poses)):
        others = {other: pose for other, pose in poses.items() if other != name}
        for pose in _places_along(name, {other: others[other] for other in figure if other != name}, others, gap):
            yield name, pose


def _largest_group(poses: Poses, gap: float) -> set[str]:
    """Return the largest group of connected pieces."""
    polygons = {name: polygon(name, pose) for name, pose in poses.items()}
    groups: list[set[str]] = []
    for name, own in polygons.items():
        near = {other for other, theirs in polygons.items() if geometry.depth(own, theirs) > -CLOSE - gap}
        met = [group for group in groups if group & near]
        groups = [group for group in groups if group not in met] + [{name}.union(*met)]
    return max(groups, key=lambda group: sum(AREAS[PIECES.index(name)] for name in group), default=set())


def _places_along(name: str, figure: Poses, others: Poses, gap: float) -> Iterator[Pose]:
    """Yield places on the board with an edge of a piece along an edge of the figure, and without collisions.

    Places with long common edges come first, and those near the figure's middle.
    """
    shape = SHAPES[PIECES.index(name)]
    polygons = [polygon(other, pose) for other, pose in figure.items()]
    centre = np.mean([vertices.mean(axis=0) for vertices in polygons] or [MIDDLE[:2]], axis=0)
    places: list[tuple[float, Pose]] = [] if figure else [(0.0, MIDDLE)]
    for theirs in polygons:
        for start, end in _edges(theirs / SCALE):  # in the pieces' units, where angles are undistorted
            for first, last in _edges(shape):
                common = min(math.dist(start, end), math.dist(first, last))
                turn = math.atan2(*(last - first)[::-1]) - math.atan2(*(start - end)[::-1])
                rotation = _snapped(math.degrees(turn), 1e-6) % 360.0
                for ours, anchor in ((first, end), (last, start)):
                    x, y = (np.asarray(SCALE) * (anchor - rotated(rotation) @ ours)).tolist()
                    places.append((math.dist((x, y), centre) - 4 * common, (x, y, rotation)))
    places.sort()
    for _, pose in places:
        if not collisions(name, {**others, name: pose}):
            moved = separated(name, pose, others, gap) if gap > 0 else pose
            if moved is not None and not collisions(name, {**others, name: moved}):
                yield moved


def _edges(polygon: Polygon) -> list[tuple[Polygon, Polygon]]:
    pairs = zip(polygon, np.roll(polygon, -1, axis=0), strict=True)
    return [(start, end) for start, end in pairs if math.dist(start, end) > 1e-9]


def _snapped(degrees: float, within: float) -> float:
    """Return an angle, rounded to a multiple of 45 if it is `within` so many degrees of one."""
    nearest = 45.0 * round(degrees / 45.0)
    return nearest if abs(degrees - nearest) < within else degrees


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
ALIKE_SCALES = 0.025
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
        self._game = game
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
        self.plays_left, self._iou = self._plays, 0.0
        if self.known:
            seen = self.game_state(None).to_dict()
            state = TurnState("", self._game.id, self._game.agents[-1], "play", True, game_state=seen)
            self._iou = float(self._game.view.load(state)[0][0].iou)

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
                near = _nearest(self._figure, self._shift, name, pose)
                if near is not None and not _aligned(self._figure, self._shift, name, pose, others):
                    self._meant[name] = pose, near
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
            silhouette=[] if self._figure is None else rings_of(self._figure.outline(self._aspect), self._figure.ends),
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
        piece, out = PIECES.index(name), np.zeros((4, 2))
        place(piece, *pose, ASPECTS[self._aspect], out)
        vertices: list[Vector] = out[: CORNERS[piece]].tolist()
        return vertices

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
            if (np.abs(self._scale / aspect - 1) < ALIKE_SCALES).all():
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
    return _snapped(math.remainder(seen - sense * told, period), 3.0)


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


def _nearest(figure: Silhouette, shift: Shift, name: str, pose: Pose) -> Pose | None:
    """Return the place in a solution near which a piece lies; None if there is none."""
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
    for solution in range(len(figure.solutions)):
        poses = figure.poses(solution, "godot")
        for other in np.flatnonzero(ALIKE[piece]):
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
