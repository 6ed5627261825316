"""A small tangram game for tests of the agent's end: the game's messages, collisions decided by shapely."""

import json
import math
from dataclasses import dataclass, field

from parlour.envs import Action, AgentResponse
from parlour.envs.tangram.lattice import PIECES
from parlour.envs.tangram.silhouettes import objective
from shapely import Polygon, box, union_all

# Scene units, y down, as the Godot game has them; no code of ours in between.
SCENE = {
    "Red": [(0, -64), (128, 64), (-128, 64)],
    "Cream": [(0, -64), (-128, 64), (128, 64)],
    "Purple": [(45.25, 45.25), (45.25, -45.25), (-45.25, -45.25), (-45.25, 45.25)],
    "Brown": [(-32, -32), (96, -32), (32, 32), (-96, 32)],
    "Blue": [(45.25, -90.5), (-45.25, 0), (45.25, 90.5)],
    "Yellow": [(0, -40), (-64, 24), (64, 24)],
    "Green": [(0, -32), (-64, 32), (64, 32)],
}

# The marker whose place the Godot game reports, in scene units from the piece's origin, y down.
VCENTER = {"Red": (-0.625, 10), "Cream": (0, 8.125), "Blue": (7.51301, 3.09359)}


def reported(name, x, y, rotation):
    """Return the point that the Godot game reports of a piece, in board units."""
    cosine, sine = math.cos(math.radians(rotation)), math.sin(math.radians(rotation))
    right, down = VCENTER.get(name, (0, 0))
    return x + 0.4 * (cosine * right - sine * down) / 3.37, y - 0.4 * (sine * right + cosine * down) / 3.22


def polygon(name, x, y, rotation):
    """Return a piece in board units."""
    cosine, sine = math.cos(math.radians(rotation)), math.sin(math.radians(rotation))
    return Polygon(
        [
            (x + (0.4 * (cosine * right - sine * down)) / 3.37, y - (0.4 * (sine * right + cosine * down)) / 3.22)
            for right, down in SCENE[name]
        ]
    )


@dataclass(kw_only=True)
class Pieces:
    """Where the pieces lie, and the one that is moved: it goes back where another is moved, or where it overlaps."""

    poses: dict = field(default_factory=dict)
    moved: str | None = None
    before: tuple | None = None
    undone: int = 0

    def move(self, name):
        if self.moved not in (None, name):
            self._put_back()
        if self.moved is None:
            self.moved, self.before = name, self.poses.get(name)

    def finish(self):
        if self.moved is not None and self.collisions(self.moved):
            self._put_back()
            self.undone += 1
        self.moved = None

    def _put_back(self):
        if self.before is None:
            del self.poses[self.moved]
        else:
            self.poses[self.moved] = self.before
        self.moved = None


@dataclass
class SmallGame(Pieces):
    """One game: margin, in board units, is what pieces need between them; with 0 they may touch.

    With `godot` it reports pieces as the Godot game does, else as the document says.
    """

    objective: str = "A house"
    margin: float = 0.0
    godot: bool = False

    def collisions(self, name):
        own = polygon(name, *self.poses[name])
        found = [
            other for other in self.poses if other != name and self._collide(own, polygon(other, *self.poses[other]))
        ]
        return found if box(-0.05, -0.05, 100.05, 100.05).contains(own) else [*found, "BOUNDARY"]

    def _collide(self, one, other):
        return one.distance(other) < self.margin if self.margin else one.intersection(other).area > 0.1

    def message(self, kind="playRequest", **fields):
        return json.dumps({"type": kind, "objective": self.objective, "state": self.state(), **fields})

    def state(self):
        on_board = {}
        for name, (x, y, rotation) in self.poses.items():
            position = "({:.6g}, {:.6g})".format(*reported(name, x, y, rotation)) if self.godot else [x, y]
            piece = {"rotation": round(rotation, 2) if self.godot else rotation, "collisions": self.collisions(name)}
            on_board[name] = {**piece, "position": {"position": position} if self.godot else position}
        return {"on_board": on_board, "off_board": {name: {"rotation": 0} for name in PIECES if name not in self.poses}}

    def put(self, play):
        """Take a play of the agent, as the document has it."""
        self.move(play.shape)
        self.poses[play.shape] = (*play.position, play.rotation)
        return self.message("playFeedback")

    @property
    def shape(self):
        """All pieces as one, those nearer than half a unit joined."""
        return union_all([polygon(name, *pose).buffer(0.25 + self.margin) for name, pose in self.poses.items()])


class Knows:
    """An agent that has the library's solutions, and plays the one that the board agrees with best."""

    def __init__(self, aspect="godot"):
        self.aspect = aspect

    def respond(self, state):
        on_board = state.game_state["on_board"]
        figure = objective(state.game_state["objective"])
        solutions = [figure.poses(i, self.aspect).tolist() for i in range(len(figure.solutions))]

        def off(solution):
            there = [(PIECES.index(name), piece["position"]) for name, piece in on_board.items()]
            return sum(math.dist(solution[i][:2], position) for i, position in there)

        best = min(solutions, key=off)
        astray = [name for name in on_board if math.dist(best[PIECES.index(name)][:2], on_board[name]["position"]) > 1]
        spare = [name for name in PIECES if name not in on_board]
        if state.phase == "feedback" or not astray + spare:
            return AgentResponse(Action("finish"))
        name = (astray + spare)[state.game_state["passes"] // 2 % len(astray + spare)]
        x, y, rotation = best[PIECES.index(name)]
        return AgentResponse(Action("play", {"shape": name, "position": [x, y], "rotation": rotation}))
