"""The state of a live game for the agent: the game's board as tangram's TurnState fields.

The game sends the places of the pieces. The rest of TurnState follows here: the silhouette of the objective, the
numbers of turns and of skipped turns, the piece moved in this turn. The agent sees pieces at their intended places: the
game may round numbers or force gaps between pieces, and people do not place pieces exactly (see `alignment`).
"""

import math

import numpy as np

from ....envs.core.game import Game
from ....envs.tangram.figure_sets import own_figures
from ....envs.tangram.geometry import covered_area, outline_area, place
from ....envs.tangram.pieces import AREAS, ASPECTS, BOARD, CORNERS, PIECES
from ....envs.tangram.silhouettes import Silhouette, objective
from ....envs.tangram.state import BoardPiece, DrawerPiece, Moved, Place, TangramState, Vector, vector
from .alignment import CENTRED, figure_shift, nearest_place
from .messages import ChatRequest, PlayFeedback, PlayRequest
from .placing import SCALE, Polygon, Pose, collisions

SAME = 0.05
"""Most difference of a reported pose from the pose that we sent, in board units and degrees."""


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
        reported = {name: (*piece.position, piece.rotation % 360.0) for name, piece in board.items()}
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
        x, y, rotation = pose
        right, up = self._shift
        return self._scaled((x - right, y - up, rotation), ASPECTS[self._aspect][1] / SCALE[1])

    def to_game(self, pose: Pose) -> Pose:
        """Return the pose in the game of a pose on the agent's board."""
        x, y, rotation = self._scaled(pose, SCALE[1] / ASPECTS[self._aspect][1])
        right, up = self._shift
        return x + right, y + up, rotation

    def _scaled(self, pose: Pose, by: float) -> Pose:
        return pose if by == 1 else (pose[0], BOARD / 2 + (pose[1] - BOARD / 2) * by, pose[2])


def same(pose: Pose, other: Pose) -> bool:
    """Return whether two poses are the same up to rounding."""
    turned = abs(pose[2] - other[2]) % 360.0
    return math.dist(pose[:2], other[:2]) < SAME and min(turned, 360.0 - turned) < SAME
