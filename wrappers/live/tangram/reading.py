"""What an agent sees of a live game: the wire's board as tangram's TurnState fields.

The wire tells where the pieces are. What else TurnState holds is added up here: the silhouette that is the objective,
how many turns there were and which were skipped, the piece moved in this turn. Pieces are shown where they are meant to
lie: the game may tell rounded numbers, or have made us leave a gap, and people put pieces down by hand (`following`).
"""

import math
from typing import Any

import numpy as np

from ....envs.core.game import Game
from ....envs.tangram.geometry import covered_area, outline_area, place
from ....envs.tangram.pieces import AREAS, ASPECTS, BOARD, CORNERS, PIECES
from ....envs.tangram.silhouettes import Silhouette, objective
from .following import begun, taken
from .messages import ChatRequest, PlayFeedback, PlayRequest
from .placing import SCALE, Polygon, Pose, collisions

SAME = 0.05
"""Board units, and degrees, within which the game tells a pose again that we sent."""


class Reading:
    """One game as it was told.

    Args:
        game: tangram, as the agent knows it.

    Attributes:
        objective: the game's words for the figure.
        poses: of the pieces on the board as told, in the order in which they came.
        collided: what each of them collides with, as told.
        plays_left: of the agent in this turn; steps away from a collision do not count.
    """

    def __init__(self, game: Game) -> None:
        blank = game.rules.blank[0]
        self._aspect = list(ASPECTS)[int(blank.aspect)]
        self._plays, self._turns = int(blank.plays), int(blank.turns)
        self.objective = ""
        self._figure: Silhouette | None = None
        self.poses: dict[str, Pose] = {}
        self.collided: dict[str, list[str]] = {}
        self.plays_left = 0
        self._meant: dict[str, tuple[Pose, Pose]] = {}  # the pose as told, and the one that was meant
        self._askew: set[str] = set()  # pieces that the person put down near to where they are meant to lie
        self._shift = (0.0, 0.0)  # of the figure from the middle of the board
        self._images: dict[str, str] = {}
        self._before: dict[str, Pose] = {}  # as shown when the turn began
        self._told_before: dict[str, Pose] = {}
        self._left_behind: dict[str, Pose] = {}  # as told when our last turn was over
        self._turn_number = self._passes = 0
        self._iou = 0.0  # when the turn began

    @property
    def known(self) -> bool:
        """Whether the objective names a silhouette of ours."""
        return self._figure is not None

    # What happens.

    def see(self, message: PlayRequest | PlayFeedback | ChatRequest) -> None:
        """Take in a board."""
        assert message.state is not None
        if message.objective != self.objective:
            self.objective, self._figure = message.objective, objective(message.objective)
            self.poses, self._meant, self._left_behind = {}, {}, {}
            self._turn_number = self._passes = 0
            self._shift = (0.0, 0.0)
        board = message.state.on_board
        told = {name: (*one.position, one.rotation % 360.0) for name, one in board.items()}
        known = [name for name in self.poses if name in told]
        self.poses = {name: told[name] for name in dict.fromkeys((*known, *told))}
        self.collided = {name: one.collisions for name, one in board.items()}
        meant = self._meant.items()
        self._meant = {name: pair for name, pair in meant if name in told and same(pair[0], told[name])}
        self._askew &= self._meant.keys()
        images = {"board_img": message.board_img, "drawer_img": message.drawer_img}
        self._images = {name: image for name, image in images.items() if image is not None}

    def cut_off(self, name: str, sent: Pose, meant: Pose) -> None:
        """Note that our last turn ended with this play, without feedback: there are games with so many plays in a turn.

        The person has moved since, maybe the same piece: whether the play stood follows from what lay around it.
        """
        before = self._told_before
        stood = not collisions(name, {**before, name: sent})
        there = sent
        if name in self.poses and same(self.poses[name], sent):
            there = self.poses[name]
            self.put(name, meant)
        self._ended({**before, name: there} if stood else before)

    def begin(self) -> None:
        """Begin our turn with the board that was seen."""
        self._turn_number += 2  # the person's and ours
        self._follow()
        self._passes = self._passes + 1 if self.poses == self._left_behind else 0
        self._before, self._told_before = self.shown(), self.poses
        self.plays_left = self._plays
        self._iou = self._overlap()

    def _follow(self) -> None:
        """Take the figure to be where the person builds it."""
        if self._figure is None:
            return
        if self._turn_number == 2 and len(self.poses) == 1:
            ((name, pose),) = self.poses.items()
            self._shift = begun(self._figure, name, pose)
        for name, pose in self.poses.items():
            if name not in self._meant:
                others = {one: there for one, there in self.shown().items() if one != name}
                place = taken(self._figure, self._shift, name, pose, others)
                if place is not None:
                    self._meant[name] = pose, place
                    self._askew.add(name)

    def put(self, name: str, meant: Pose) -> None:
        """Note where a piece of ours was meant to lie that now lies where the game tells."""
        self._meant[name] = self.poses[name], meant
        self._askew.discard(name)

    def askew(self, name: str) -> Pose | None:
        """Return where a piece is meant to lie that the person put down nearby; None for all others."""
        return self._meant[name][1] if name in self._meant and name in self._askew else None

    def end(self, moved: str | None) -> bool:
        """End our turn, in which this piece was moved; return whether the game undoes that."""
        undone = moved is not None and bool(self.collided.get(moved))
        self._ended(self._told_before if undone else self.poses)
        return undone

    def _ended(self, behind: dict[str, Pose]) -> None:
        self._passes = self._passes + 1 if behind == self._told_before else 0
        self._left_behind = behind

    # What we see.

    def shown(self) -> dict[str, Pose]:
        """Return the poses as the agent sees them: its own pieces where it meant them."""
        return {name: self._meant[name][1] if name in self._meant else pose for name, pose in self.poses.items()}

    def game_state(self, moved: str | None) -> dict[str, Any]:
        """Return TurnState's field of that name; `moved` is the piece that was moved in this turn."""
        shown = self.shown()
        was = None
        if moved in self._before:
            x, y, rotation = self._inward(self._before[moved])
            was = {"position": [x, y], "rotation": rotation}
        return {
            "objective": self.objective,
            "on_board": {name: self._piece(name, self._inward(shown[name])) for name in PIECES if name in shown},
            "off_board": {name: self._spare(name) for name in PIECES if name not in shown},
            "silhouette": self._rings(),
            "iou": self._iou,
            "turn_number": min(self._turn_number, self._turns),
            "turns": self._turns,
            "plays_left": max(self.plays_left, 1),
            "passes": self._passes,
            "moved": None if moved is None else {"shape": moved, "from": was},
            **self._images,
        }

    def _piece(self, name: str, pose: Pose) -> dict[str, Any]:
        x, y, rotation = pose
        vertices, collisions = self._vertices(name, pose), self.collided[name]
        return {"position": [x, y], "vertices": vertices, "rotation": rotation, "collisions": collisions}

    def _spare(self, name: str) -> dict[str, Any]:
        return {"vertices": self._vertices(name, (0.0, 0.0, 0.0)), "rotation": 0.0}

    def _vertices(self, name: str, pose: Pose) -> list[list[float]]:
        piece = PIECES.index(name)
        vertices: list[list[float]] = self._polygon(piece, pose)[: CORNERS[piece]].tolist()
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
        shown = self.shown()
        covered = placed = 0.0
        for piece, name in enumerate(PIECES):
            if name in shown:
                vertices = self._polygon(piece, self._inward(shown[name]))
                covered += covered_area(vertices, outline, ends)
                placed += float(AREAS[piece]) * right * up
        return min(1.0, covered / (outline_area(outline, ends) + placed - covered))

    def _rings(self) -> list[list[list[float]]]:
        if self._figure is None:
            return []
        flat, ends = self._figure.outline(self._aspect).tolist(), self._figure.ends.tolist()
        return [flat[start:end] for start, end in zip([0, *ends], ends, strict=False) if end > start]

    # The agent's board has the figure in the middle, and may have another aspect than the real game's.

    def _inward(self, pose: Pose) -> Pose:
        x, y, rotation = pose
        right, up = self._shift
        return self._scaled((x - right, y - up, rotation), ASPECTS[self._aspect][1] / SCALE[1])

    def outward(self, pose: Pose) -> Pose:
        """Return a pose on the agent's board as it is in the game."""
        x, y, rotation = self._scaled(pose, SCALE[1] / ASPECTS[self._aspect][1])
        right, up = self._shift
        return x + right, y + up, rotation

    def _scaled(self, pose: Pose, by: float) -> Pose:
        return pose if by == 1 else (pose[0], BOARD / 2 + (pose[1] - BOARD / 2) * by, pose[2])


def same(one: Pose, other: Pose) -> bool:
    """Tell whether two poses are the same but for rounding."""
    turned = abs(one[2] - other[2]) % 360.0
    return math.dist(one[:2], other[:2]) < SAME and min(turned, 360.0 - turned) < SAME
