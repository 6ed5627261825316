"""Our agent for live tangram games: a WebSocket server with one `TangramAgentSession` per game.

It takes the game's messages and returns events: a `Turn` to decide, a message to send, a chat to answer. No message of
a game makes it raise. In a turn one piece moves: after a play, the game's feedback has its place and its collisions. A
colliding piece is moved away in small steps, then put elsewhere; at last the turn is finished, and the game undoes a
move that still collides. If the blocking piece is one that the person placed nearly right, the turn corrects that one.
If gaps leave a piece no room, it moves a blocking piece. When all pieces are placed, turns correct the person's pieces.

An agent may end its turn without a move, or repeat a place that collided, because its menu shows one corner at a time.
With `useful` set, the session then plays a move that brings the board nearer to the figure.

The Godot game's physics may report touching pieces as colliding. After the first such report, plays leave a gap: the
figure grows a little from its first piece. The agent sees the pieces at the places that it chose.

Games connect to the server, and reconnect after a loss. One agent answers all games, one call at a time. A decision
that is late, raises or cannot be played is replaced by `finish`, and so are later ones while the agent is busy.

`BoardTracker` has the state of a live game for the agent: the game's board as tangram's TurnState fields. The game
sends the places of the pieces. The rest follows: the silhouette of the objective, the numbers of turns and of skipped
turns, the piece moved in this turn. Poses are ``(x, y, rotation)`` by piece name in board units of the Godot game's
aspect; a polygon is float64[4, 2]. `separated` and `figure_moves` find places without a policy: out of a collision, or
next to the pieces on the board.

`Convention` is what the game means by the position and the rotation of a piece, from the vertices beside them. A centre
may be a piece's origin, its centroid or another point; rotations may run either way, from another rest; units may have
another size, and y may run downwards. The figure is moved so that most of the pieces are part of it: the live game has
no silhouette. People do not place pieces exactly, and the game may round numbers or force gaps: a piece near its place
in a solution, or near its twin's, is seen there.
"""

import logging
import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import count, islice
from typing import Any, TypeAlias

import numpy as np
from aiohttp import web
from numpy.typing import NDArray

from ....envs import Action, AgentResponse, Game, Message, MessageIntent, MessageScope, TurnState
from ....envs.core.options import seconds
from ....envs.tangram import geometry
from ....envs.tangram.actions import allowed
from ....envs.tangram.figure_sets import own_figures
from ....envs.tangram.forms import ALIKE
from ....envs.tangram.geometry import place
from ....envs.tangram.lattice import AREAS, ASPECTS, BOARD, CORNERS, PERIODS, PIECES, SHAPES, rings_of
from ....envs.tangram.rules import Placement
from ....envs.tangram.silhouettes import Silhouette, objective
from ....envs.tangram.view import BoardPiece, DrawerPiece, Moved, Place, TangramState, Vector, vector
from ...agents.base import Agent, call_optional
from ...agents.schemas import fitted
from ...logs.match_log import MatchLog, SafeMatchLog, escaped
from ..common import limits
from ..common.clock import CountsMatches
from ..common.player import AgentStatistics, Codec, Note, Played, Player, Turn, Unknown, read_response, run
from ..common.server import Connection, Served, Server, ServerSettings
from . import messages
from .messages import Chat, ChatRequest, Error, Finish, Play, PlayFeedback, PlayRequest, State

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
    """Tracks one game."""

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
            self._iou = float(self._game.load(state)[0][0].iou)

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
    """Return True if two poses differ by less than `most` board units and degrees."""
    return math.dist(pose[:2], other[:2]) < most and abs(math.remainder(pose[2] - other[2], 360.0)) < most


# What the game means.


class Convention:
    """The convention of one game, as known so far; at first the Godot game's."""

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
            reported = pieces[name].rotation
            before = [pair for pair in self._turned.get(name, []) if abs(math.remainder(pair[0] - reported, 360.0)) > 1]
            self._turned[name] = [*before, (reported, seen)][-2:]
        self._sense = min((1, -1), key=self._contradictions)
        for name, (_, seen, origin, points) in fits.items():
            reported = pieces[name].rotation
            self._rest[name] = _rest(name, reported, seen, self._sense)
            turn = rotated(self._sense * reported + self._rest[name])
            centre = (np.array(getattr(pieces[name], "position", (0.0, 0.0))) - origin) / self._scale @ turn
            far, piece = np.hypot(*(centre * SCALE)) > EXACT, PIECES.index(name)
            self._centre[name] = centre * far
            self.shapes[piece] = np.resize(points - origin, (4, 2)) / self._scale @ turn if far else SHAPES[piece]

    def _contradictions(self, sense: int) -> float:
        """Return by how much the rotations of pieces contradict a sense, in degrees; other rests count little."""
        total = 0.0
        for name, pairs in self._turned.items():
            rests = [_rest(name, reported, seen, sense) for reported, seen in pairs]
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
            linear /= [[wide], [high]]
            turned = math.degrees(math.atan2(linear[0, 1] - linear[1, 0], np.trace(linear)))
            best, found = stretch, ((wide, high), turned, solved[2], points)
    return found


def _rest(name: str, reported: float, seen: float, sense: int) -> float:
    """Return the rotation of a piece at rest, nearest to 0; exact if it is nearly a multiple of 45 degrees."""
    period = float(PERIODS[PIECES.index(name)])
    return _snapped(math.remainder(seen - sense * reported, period), 3.0)


# Where the figure stands.


def figure_shift(figure: Silhouette, poses: Poses) -> Shift:
    """Return the figure's shift from the middle of the board, so that most of the pieces are part of it.

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
    """Return the sum of the pieces' distances from their places, each up to `NEAR` board units and times its area."""
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
    """Return True if a vertex of a piece meets one of the figure's or of another piece's."""
    vertices = [_outline(figure, shift), *(polygon(other, there) for other, there in others.items())]
    between = polygon(name, pose)[:, None] - np.concatenate(vertices)
    return bool((np.hypot(between[..., 0], between[..., 1]) < MEETING).any())


def _outline(figure: Silhouette, shift: Shift) -> Polygon:
    return figure.outline("godot")[: figure.ends[-1]] + shift


logger = logging.getLogger(__name__)

GAPS = (0.02, 0.06, 0.2, 0.4, 0.8, 1.2, 1.6, 2.0)
"""Gaps in board units that are tried between colliding pieces; the smallest is enough if they only touch."""
GAP_TRIES = 5
"""Number of gaps tried for one place."""
PLACES = 3
"""Number of places tried in one turn, of the agent and of `useful` each."""
MOST_USEFUL = 100
"""Moves of `useful` that are looked at."""
OPEN_CHATS = 4
"""Most chats of a player that wait for the agent at once. Further ones are answered without it."""
MOST_CHATS = 3
"""Most chat messages with one answer of the agent."""
CHATS_KEPT = 50
"""Most chat messages in a TurnState."""
CHAT_LENGTH = 1_000
"""Most characters of each of them."""
REPLY_LENGTH = 300
"""Most characters of our chat messages, which stay below 1 KB."""


@dataclass
class Aside(Turn):
    """It is no decision of the agent, and is not logged."""

    counts = False

    def logged(self) -> None:
        """See `Turn`."""


@dataclass
class ChatTurn(Aside):
    """The player's `text` needs an answer; `board`: None if it was not sent. Without `chat` it is `small_talk`."""

    text: str = field(kw_only=True)
    board: TurnState | None = field(kw_only=True)
    small_talk: str = field(kw_only=True)

    def ask(self, agent: Agent) -> Any:
        """See `Turn`."""
        return call_optional(agent, "chat", self.board, self.text)

    def read(self, answer: Any) -> AgentResponse:
        """See `Turn`. What is no text is no answer."""
        text = answer if isinstance(answer, str) and answer else self.small_talk
        return AgentResponse(Action("message_only"), [MessageIntent(MessageScope.PUBLIC, text)])

    def safe(self) -> AgentResponse:
        """See `Turn`."""
        return self.read(None)


UsefulMoves: TypeAlias = Callable[[Game, Any], Iterable[Placement]]
TangramEvent: TypeAlias = Turn | messages.AgentMessage | Note


@dataclass
class TangramTurn(Turn):
    """A turn of the agent. The board decides what can be played, not the offer."""

    check: Callable[[dict[str, Any]], Any] = field(kw_only=True)

    def read(self, answer: Any) -> AgentResponse:
        """See `Turn`. ``finish`` stands for every action that ends a turn without a move."""
        response = fitted(read_response(answer), self.state.allowed_actions)
        kind = response.action.action_type
        if kind == "play":
            self.check(response.action.payload)
        elif kind not in ("finish", "pass", "message_only"):
            raise ValueError(f"{kind[:40]!r} is neither play nor finish")
        return response

    def safe(self) -> AgentResponse:
        """See `Turn`: ``finish``. Of the offer, ``message_only`` would come first."""
        return AgentResponse(Action("finish"))


@dataclass
class UsefulTurn(Aside):
    """The agent has ended its turn without a move: the moves that bring the board nearer to the figure, best first."""

    find: Callable[[TurnState], Iterable[Placement]] = field(kw_only=True)
    moves: list[Placement] = field(default_factory=list)

    def ask(self, agent: Agent | None) -> Any:
        """See `Turn`. The search takes its time, in the agent's thread."""
        return list(self.find(self.state))

    def read(self, answer: Any) -> AgentResponse:
        """See `Turn`."""
        self.moves = answer
        return self.safe()


class TangramAgentSession(Codec):
    """One game that is connected to us."""

    name = ""

    def __init__(
        self, game: Game, match_id: str = "", useful: UsefulMoves | None = None, seconds: float | None = None
    ) -> None:
        self.name = match_id
        self._seconds = seconds
        self._open_chats: set[int] = set()
        self.turns = self.plays = self.undone = self.helped = 0
        self._game = game
        self._useful = useful
        self._useful_places = 0  # tried in this turn
        self._person, self._me = game.agents[0], game.agents[-1]  # the person begins
        self._board = BoardTracker(game)
        self._shapes = self._board.convention.shapes  # which learns them
        self._chats: deque[Message] = deque(maxlen=CHATS_KEPT)
        self._chat_count = 0
        self._gap = self._trial = 0.0  # between pieces, as observed in the game; of the play under way
        self._decision = 0  # number of the decision; answers to old ones are not sent
        self._open = False  # whether the decision has no answer yet
        self._moved: str | None = None  # in this turn
        self._sent: tuple[str, Pose] | None = None  # the play without feedback so far
        self._meant: Pose = (0.0, 0.0, 0.0)  # its place without gaps
        self._gaps: list[float] = []  # not tried yet
        self._tried: list[tuple[str, Pose]] = []  # places that collided in this turn
        self._corrected = False  # a piece of the person was corrected in this turn
        self._again = False  # the latest place was played again
        self._blocking: list[str] | None = []  # blocking pieces of this turn; None: one was moved

    def waits(self, turn: Turn) -> bool:
        """See `Codec`."""
        return turn.id in self._open_chats if isinstance(turn, ChatTurn) else self._open and turn.id == self._decision

    def receive(self, data: Any) -> list[TangramEvent]:
        """Return the events of a message (text, bytes, or parsed JSON). Never raises."""
        if isinstance(data, (str, bytes)) and len(data) > messages.MESSAGE_LIMIT:
            return self._unread("", f"a message of {len(data)} bytes; at most {messages.MESSAGE_LIMIT} can be read")
        message = messages.decode_game(data)
        match message:
            case PlayRequest():
                return self._begin(message)
            case PlayFeedback():
                return self._feedback(message)
            case ChatRequest():
                return self._receive_chat(message)
            case Error():
                self._close()
                return [Note(f"the game says: {escaped(message.message, 200)}", problem=True)]
            case Unknown():
                return self._unread(message.type, message.reason)

    def _unread(self, kind: str, reason: str) -> list[TangramEvent]:
        """End the turn if it is ours; else answer with an error."""
        note = Note(f"a message of type {kind[:40]!a} cannot be read: {escaped(reason, 200)}", problem=True)
        if kind in ("playRequest", "playFeedback"):
            return [note, *self._finish()]
        if kind == "error":  # an error about an error would never end
            self._close()
            return [note]
        return [note, Error(message=escaped(reason, 200))]

    def _begin(self, request: PlayRequest) -> list[TangramEvent]:
        sent = self._sent if request.objective == self._board.objective else None
        self._close()
        self._board.update(request)
        if sent is not None:
            self._board.interrupted(*sent, self._meant)
        self._board.begin()
        self.turns += 1
        self._tried, self._corrected, self._useful_places, self._blocking = [], False, 0, []
        return self._decide()

    def _feedback(self, feedback: PlayFeedback) -> list[TangramEvent]:
        sent, self._sent = self._sent, None
        self._board.update(feedback)
        if sent is None:
            return [Note("a playFeedback without a play", problem=True), *self._finish()]
        name, pose = sent
        if name not in self._board.poses:
            return [Note(f"{name} is not on the board after its play", problem=True), *self._try_elsewhere(name)]
        if not self._again and not same(self._board.poses[name], pose, 1.0):  # the play showed what it means there
            self._again = True
            return self._play(name, pose)
        self._board.intend(name, self._meant)
        if self._board.collided[name]:
            return self._move_away(name)
        self._gap = max(self._gap, self._trial)
        used_up = self._corrected or self._blocking is None
        return self._finish() if used_up or not self._board.known or self._board.plays_left <= 0 else self._decide()

    def _receive_chat(self, request: ChatRequest) -> list[TangramEvent]:
        if request.state is not None:
            self._board.update(request)
        self._remember(self._person, request.message)
        if len(self._open_chats) == OPEN_CHATS:
            return [self._chat(self.small_talk())]
        seen = None if request.state is None else self._turn_state(mine=False)
        number = self._chat_count
        self._open_chats.add(number)
        state = seen or TurnState(self.name, self._game.id, self._me, "play", False)
        about: dict[str, Any] = {"text": request.message, "board": seen, "small_talk": self.small_talk()}
        return [ChatTurn(state, number, seconds=self._seconds, table=number, name=self.name, **about)]

    def reply(self, turn: Turn, played: Played) -> list[TangramEvent]:
        """See `Codec`. Nothing helps the agent after a problem."""
        if not self.waits(turn):
            return []
        answer = played.response
        if isinstance(turn, ChatTurn):
            self._open_chats.discard(int(turn.id))
            return [self._chat(answer.messages[0].content)]
        if isinstance(turn, UsefulTurn):
            return self._play_useful(turn.moves)
        if played.problem is not None:
            return self._finish()
        public = [intent for intent in answer.messages if intent.scope == MessageScope.PUBLIC and intent.content]
        said = [self._chat(message.content) for message in public[:MOST_CHATS]]
        if answer.action.action_type == "play":
            name, pose = self._pose(answer.action.payload)
            if not self._collided_before(name, pose):
                self._board.plays_left -= 1
                return [*said, *self._put(name, pose, self._with_gaps(name, pose))]
        return [*said, *self._help_or_finish()]

    def _chat(self, text: str) -> Chat:
        """Return the chat message with this text, cut to `REPLY_LENGTH`, and store it."""
        said = text.encode(errors="replace").decode()[:REPLY_LENGTH]
        self._remember(self._me, said)
        return Chat(message=said)

    def small_talk(self) -> str:
        """Return a sentence about the board, for an agent that answers no chats."""
        there = f"{len(self._board.poses)} of {len(PIECES)} pieces are on the board"
        return f"{there}, and I am building: {self._board.objective or 'anything that holds together'}."

    def _collided_before(self, name: str, pose: Pose) -> bool:
        """Return True if a piece collided at this place in this turn."""
        return any(name == piece and same(pose, tried) for piece, tried in self._tried)

    def _pose(self, payload: dict[str, Any]) -> tuple[str, Pose]:
        """Return the piece of a play and its pose in the game.

        Raises:
            ValueError: if the payload is not a play on the board.
        """
        play = messages.decode_agent({**payload, "type": "play"})
        if not isinstance(play, Play):
            raise ValueError(f"play needs shape, position and rotation: {getattr(play, 'reason', play)}")
        if play.shape not in PIECES:
            raise ValueError(f"shape {play.shape[:40]!r} is none of {', '.join(PIECES)}")
        pose = self._board.to_game((*play.position, play.rotation % 360.0))
        if not all(0 <= place <= BOARD for place in self._board.convention.write(play.shape, pose)[:2]):
            raise ValueError(f"position {pose[:2]} lies off the board, which is 0 to {BOARD:g} both ways")
        return play.shape, pose

    def _decide(self) -> list[TangramEvent]:
        """Return a turn for the agent; if the figure is unknown, a play that builds a connected one."""
        if not self._board.known:
            places = figure_moves(self._board.poses, self._gap)
            move = next((place for place in places if not self._collided_before(*place)), None)
            return self._finish() if move is None else self._put(*move, move[1])
        self._open = True
        state = self._turn_state(mine=True)
        return [TangramTurn(state, self._decision, seconds=self._seconds, name=self.name, check=self._pose)]

    def _help_or_finish(self) -> list[TangramEvent]:
        """After a collision, or without a move so far, play a useful move or make room; else finish."""
        lies_well = self._moved in self._board.poses and not self._board.collided[self._moved]
        if not self._board.known or lies_well or self._useful_places == PLACES:
            return self._finish()
        if self._useful is None:
            return self._make_room()
        self._open, game, useful = True, self._game, self._useful
        more: dict[str, Any] = {"seconds": self._seconds, "table": "useful", "name": self.name}
        more["find"] = lambda state: islice(useful(game, game.load(state)[0][0]), MOST_USEFUL)
        return [UsefulTurn(self._turn_state(mine=True), self._decision, **more)]

    def _play_useful(self, moves: list[Placement]) -> list[TangramEvent]:
        for move in moves:
            name, pose = PIECES[move.piece], self._board.to_game((move.x, move.y, move.rotation))
            there = self._board.poses.get(name)
            in_reach = all(0 <= place <= BOARD for place in pose[:2])
            if in_reach and not self._collided_before(name, pose) and (there is None or not same(there, pose)):
                self._useful_places += 1
                self.helped += 1
                return self._put(name, pose, self._with_gaps(name, pose))
        return self._straighten() or self._make_room()

    def _straighten(self) -> list[TangramEvent]:
        """Correct a piece that the person placed nearly right, if the drawer is empty; [] if there is none."""
        poses = self._board.poses
        off = [
            (math.dist(place[:2], poses[name][:2]), name)
            for name in poses
            if (place := self._board.inexact(name)) is not None
            and not collisions(name, {**poses, name: place}, self._shapes)
        ]
        far, name = max(off, default=(0.0, ""))
        return self._correct([name]) if far > SAME and len(poses) == len(PIECES) else []

    def _make_room(self) -> list[TangramEvent]:
        """Move a blocking piece out of the place that was tried, with gaps; if there is none, finish."""
        blocking, self._blocking, meant = self._blocking or [], None, self._board.meant()
        for gap in (self._gap, *(gap for gap in GAPS if gap > self._gap)):
            for name in (name for name in blocking if name in meant):
                pose = self._with_gaps(name, meant[name], gap)
                others = {o: there for o, there in self._board.poses.items() if o != name} | dict(self._tried[-1:])
                pose = separated(name, self._board.poses[name], others, gap, self._shapes) or pose
                if math.dist(pose[:2], self._board.poses[name][:2]) > GAPS[0] / 4:
                    self._gap = gap
                    return self._put(name, meant[name], pose)
        return self._finish()

    def _put(self, name: str, meant: Pose, pose: Pose) -> list[TangramEvent]:
        """Play a piece at `pose`; `meant` is its place without gaps."""
        self._meant, self._trial, self._again = meant, self._gap, False
        self._gaps = [gap for gap in GAPS if gap > self._gap][:GAP_TRIES]
        return self._play(name, pose)

    def _play(self, name: str, pose: Pose) -> list[TangramEvent]:
        self._open = False
        self.plays += 1
        self._moved, self._sent = name, (name, pose)
        x, y, rotation = self._board.convention.write(name, pose)
        return [Play(shape=name, position=(x, y), rotation=rotation)]

    def _move_away(self, name: str) -> list[TangramEvent]:
        """Move a colliding piece away, by a larger gap each time."""
        poses = self._board.poses
        others = {other: pose for other, pose in poses.items() if other != name}
        overlaps = collisions(name, poses, self._shapes)
        if corrected := self._correct(overlaps):
            return corrected
        while self._gaps:
            gap = self._gaps.pop(0)
            self._trial = self._trial if overlaps else gap
            pose = separated(name, self._with_gaps(name, self._meant, gap), others, gap, self._shapes)
            if pose is not None and math.dist(pose[:2], poses[name][:2]) > GAPS[0] / 4:
                return self._play(name, pose)
        if not overlaps:  # touching pieces collide in this game: later plays need a gap too
            self._gap = max(self._gap, GAPS[0])
        return self._correct(self._board.collided[name]) or self._try_elsewhere(name)

    def _correct(self, names: Iterable[str]) -> list[TangramEvent]:
        """Correct a piece of these that the person did not place exactly, only once in a turn; [] if there is none."""
        for name in () if self._corrected else names:
            if (place := self._board.inexact(name)) is not None:
                self._corrected = True
                return self._put(name, place, self._with_gaps(name, place))
        return []

    def _try_elsewhere(self, name: str) -> list[TangramEvent]:
        self._tried.append((name, self._meant))
        if self._blocking is not None:
            self._blocking += [piece for piece in self._board.collided.get(name, ()) if piece not in self._blocking]
        return self._decide() if len(self._tried) < PLACES else self._help_or_finish()

    def _with_gaps(self, name: str, pose: Pose, gap: float | None = None) -> Pose:
        """Return the pose in the figure with gaps; the same pose if pieces may touch."""
        gap = self._gap if gap is None else gap
        others = {other: there for other, there in self._board.poses.items() if other != name}
        if not gap or not others:
            return pose
        return spread(name, pose, self._board.meant()[next(iter(others))], others, gap, self._shapes)

    def give_up(self, turn: Turn | None = None, data: Any = None) -> list[TangramEvent]:
        """See `Codec`."""
        message = None if turn is not None else messages.decode_game(data)
        kind = message.type if isinstance(message, Unknown) else ""
        if isinstance(turn, ChatTurn) or isinstance(message, ChatRequest):
            return [Chat(message="I am building.")]
        ours = turn is not None or isinstance(message, PlayRequest | PlayFeedback) or kind.startswith("play")
        self._close()
        return [Finish()] if ours else []

    def _finish(self) -> list[TangramEvent]:
        self.undone += self._board.end(self._moved)
        self._close()
        return [Finish()]

    def _close(self) -> None:
        """End our turn, so that answers to it are not sent."""
        self._open, self._moved, self._sent = False, None, None
        self._decision += 1

    def _turn_state(self, mine: bool) -> TurnState:
        """Return the board as tangram's TurnState."""
        moved = self._moved if self._moved in self._board.poses else None
        phase, game_state = "play" if moved is None else "feedback", self._board.game_state(moved)
        state = TurnState(self.name, self._game.id, self._me, phase, mine, self._me if mine else self._person)
        state.game_state, state.messages = game_state.to_dict(), list(self._chats)
        state.allowed_actions = allowed(game_state, 0, phase) if mine else []
        return state

    def _remember(self, speaker: str, text: str) -> None:
        self._chat_count += 1
        self._chats.append(Message(str(self._chat_count), speaker, MessageScope.PUBLIC, text[:CHAT_LENGTH]))


GAMES = 64
"""Most connected games at once. One that has said nothing gives way to another."""


def now() -> str:
    """Return the time in the form of messages: ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class TangramAgentServer(CountsMatches, Server):
    """Serves an agent to live games. Use it as an async context manager, or call `start` and `stop`."""

    def __init__(
        self,
        agent: Agent,
        game: Game,
        *,
        server: ServerSettings | None = None,
        deadline: float = 10.0,
        useful: UsefulMoves | None = None,
        log: MatchLog | None = None,
    ) -> None:
        seconds("deadline", deadline)
        super().__init__(server, connection_limits=limits.SCENE, most_connections=GAMES)
        self.turns = self.plays = self.helped = 0
        self.statistics = AgentStatistics()
        self._agent, self._game, self._deadline, self._useful = agent, game, deadline, useful
        self._log = SafeMatchLog(log)
        self._numbers = count(1)
        self._player: Player | None = None

    def routes(self) -> list[web.RouteDef]:
        """See `Server`."""
        return [web.get("/{path:.*}", partial(self.upgrade, live=self._serve))]

    async def start(self) -> None:
        """See `Server`."""
        await super().start()
        self.url = self.url.replace("http", "ws", 1)

    async def opening(self) -> None:
        """Warm up the agent, and play two artificial turns, so that all code is compiled."""
        self._player = Player(self._agent, log=self._log, statistics=self.statistics)
        await self._player.warm_up()
        await self._player.call(_warm_up, TangramAgentSession(self._game, useful=self._useful))

    async def closing(self) -> None:
        """Stop the agent's thread."""
        if self._player is not None:
            self._player.close()

    async def _serve(self, connection: Connection) -> None:
        """Answer a game until it disconnects."""
        assert self._player is not None
        session = TangramAgentSession(self._game, f"game-{next(self._numbers)}", self._useful, self._deadline)

        def watch(event: object) -> None:  # a game keeps its place from its first message that can be read
            if not isinstance(event, Note | messages.Error):
                self.keep(connection)

        logger.info("%s has connected", session.name)
        self._log.write("joined", match_id=session.name)
        try:
            await run(Served(connection, _encode), session, self._player, watch)
        finally:
            logger.info("%s has gone: %d turns, %d plays", session.name, session.turns, session.plays)
            self._log.write("ended", match_id=session.name, turns=session.turns, plays=session.plays)
            self.turns += session.turns
            self.plays += session.plays
            self.helped += session.helped
            self.match_over()


def _encode(message: messages.AgentMessage) -> str:
    message.timestamp = now()
    return messages.encode(message)


def _warm_up(session: TangramAgentSession) -> None:
    """Play two artificial turns, so that all code is compiled before a deadline runs."""
    for text in ("A house", "An unknown figure"):
        drawer = {"on_board": {}, "off_board": {name: {"rotation": 0} for name in PIECES}}
        request = {"type": "playRequest", "objective": text, "state": drawer}
        for event in session.receive(request):
            if isinstance(event, Turn):
                play = Action("play", {"shape": "Red", "position": [50, 50], "rotation": 0})
                session.reply(event, Played(AgentResponse(play)))
        red = {"position": [50, 50], "rotation": 0, "collisions": ["BOUNDARY"]}
        session.receive({**request, "type": "playFeedback", "state": {"on_board": {"Red": red}}})
        session.receive({**request, "state": {"on_board": {"Red": red}}})
