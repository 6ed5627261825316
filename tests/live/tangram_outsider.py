"""The Godot tangram game and a person at its mouse, written from the game's public source alone. Used by tests.

Everything is in pixels of the board, y down, and travels as JSON text in the game's own dialect: no code of the host or
of the rules lies between. The person draws one solution of the figure and a place for it, and keeps to both: a piece
goes where this solution has it, or nowhere.
"""

import json
import math
import random
from dataclasses import dataclass, field

import numpy as np
from parlour.envs.tangram.silhouettes import objective
from shapely import Polygon, affinity, union_all

OBJECTIVES = ("A house", "A fish", "A human", "A rocket", "A cat", "A robot")
WIDE, HIGH = 337.0, 322.0
"""The board in pixels."""
SCALE = 0.4
"""Pixels per unit of the scene."""
SCENE = {
    "Red": [(0, -64), (128, 64), (-128, 64)],
    "Cream": [(0, -64), (-128, 64), (128, 64)],
    "Blue": [(45.25, -90.5), (-45.25, 0), (45.25, 90.5)],
    "Green": [(0, -32), (-64, 32), (64, 32)],
    "Yellow": [(0, -40), (-64, 24), (64, 24)],
    "Purple": [(45.25, 45.25), (45.25, -45.25), (-45.25, -45.25), (-45.25, 45.25)],
    "Brown": [(-32, -32), (96, -32), (32, 32), (-96, 32)],
}
"""Corners of the pieces from their origins, in the scene's units, y down."""
VCENTER = {"Red": (-0.625, 10), "Cream": (0, 8.125), "Blue": (7.51301, 3.09359)}
"""The marker whose place the game reports; of the other pieces it is the origin."""
ORDER = ("Red", "Cream", "Purple", "Brown", "Blue", "Yellow", "Green")
"""The pieces in the order of `Silhouette.poses`."""
START = 18.0
"""Pixels that the person's figure is off the middle of the board at most, on each axis."""
TOUCHING = 0.01
"""Pixels between pieces that touch, where these count as overlapping."""
TRIES = 60
"""Places beside a piece's own that the person tries, until nothing overlaps."""


def turned(points, rotation):
    """Return points turned clockwise on the screen, in pixels."""
    cosine, sine = math.cos(math.radians(rotation)), math.sin(math.radians(rotation))
    return [(SCALE * (x * cosine - y * sine), SCALE * (x * sine + y * cosine)) for x, y in points]


@dataclass
class Conditions:
    """How a game is played.

    Attributes:
        noise: pixels that the person's hand is off at most, on each axis.
        whole: the mouse has whole pixels.
        touching: pieces that touch count as overlapping.
    """

    noise: float = 0.0
    whole: bool = False
    touching: bool = False


@dataclass
class Game:
    """One game: where the pieces lie (x, y of the origin in pixels, y down; degrees clockwise)."""

    objective: str
    seed: int
    conditions: Conditions
    places: dict = field(default_factory=dict)
    moved: str | None = None
    before: tuple | None = None
    undone: int = 0
    when_complete: float | None = None

    def __post_init__(self):
        self.draw = random.Random(self.seed)
        figure = objective(self.objective)
        poses = figure.poses(self.draw.randrange(len(figure.solutions)), "godot").tolist()
        right, down = (self.draw.uniform(-START, START) for _ in range(2))
        self.solution = {
            name: (WIDE * x / 100 + right, HIGH * (1 - y / 100) + down, rotation)
            for name, (x, y, rotation) in zip(ORDER, poses, strict=True)
        }

    # The board.

    def polygon(self, name):
        x, y, rotation = self.places[name]
        return Polygon([(x + right, y + down) for right, down in turned(SCENE[name], rotation)])

    def overlaps(self, name):
        own = self.polygon(name)
        others = {other: self.polygon(other) for other in self.places if other != name}
        found = [other for other, shape in others.items() if self._overlap(own, shape)]
        left, top, right, bottom = own.bounds
        inside = left >= -0.01 and top >= -0.01 and right <= WIDE + 0.01 and bottom <= HIGH + 0.01
        return found if inside else [*found, "BOUNDARY"]

    def _overlap(self, one, other):
        """Tell whether two pieces overlap. Whether two that touch do is a matter of rounding, as in the game."""
        return one.distance(other) < TOUCHING if self.conditions.touching else one.intersection(other).area > 1e-9

    def state(self):
        on_board = {}
        for name, (x, y, rotation) in self.places.items():
            [(right, down)] = turned([VCENTER.get(name, (0, 0))], rotation)
            simple = 100 * (x + right) / WIDE, 100 * (1 - (y + down) / HIGH)
            position = {"position": "({:.6g}, {:.6g})".format(*simple)}
            on_board[name] = {"position": position, "rotation": round(rotation, 2), "collisions": self.overlaps(name)}
        return {"on_board": on_board, "off_board": {n: {"rotation": 0.0} for n in ORDER if n not in self.places}}

    def message(self, kind):
        return json.dumps({"type": kind, "objective": self.objective, "timestamp": 1.5, "state": self.state()})

    # The person.

    def person_moves(self):
        """Drop one piece of the drawer where the solution has it; the game lets go of none that overlaps."""
        drawer = [name for name in ORDER if name not in self.places]
        self.draw.shuffle(drawer)
        for name in drawer:
            x, y, rotation = self.solution[name]
            for number in range(TRIES):
                reach = self.conditions.noise + number / TRIES  # a hand that looks for room
                off = [self.draw.uniform(-reach, reach) for _ in range(2)]
                at = x + off[0], y + off[1]
                self.places[name] = (*(map(round, at) if self.conditions.whole else at), rotation)
                if not self.overlaps(name):
                    return
                del self.places[name]

    # The agent's turn.

    def agent_says(self, text):
        """Take a message of the agent; return the game's answer, or None where the agent's turn is over."""
        said = json.loads(text)
        if said["type"] == "finish":
            if self.moved is not None and self.overlaps(self.moved):
                self._put_back()
                self.undone += 1
            self.moved = None
            return None
        assert said["type"] == "play"
        if self.moved not in (None, said["shape"]):
            self._put_back()
        if self.moved is None:
            self.moved, self.before = said["shape"], self.places.get(said["shape"])
        x, y = said["position"]
        self.places[said["shape"]] = (WIDE * x / 100, HIGH * (1 - y / 100), said["rotation"])
        return self.message("playFeedback")

    def _put_back(self):
        if self.before is None:
            del self.places[self.moved]
        else:
            self.places[self.moved] = self.before
        self.moved = None

    # The result.

    def overlap(self):
        """Return the intersection over union of the pieces and the figure, wherever the figure fits best."""
        pieces = union_all([self.polygon(name) for name in self.places])
        target = union_all([self._solved(name) for name in ORDER]).buffer(0.02).buffer(-0.02)  # one shape, no cracks
        shift = np.zeros(2)

        def reached(shift):
            moved = affinity.translate(target, *shift)
            return moved.intersection(pieces).area / moved.union(pieces).area

        for step in (8.0, 3.0, 1.0, 0.4, 0.15):
            for _ in range(20):
                near = [shift + step * np.array(way) for way in ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1))]
                best = max(near, key=reached)
                if best is near[0]:
                    break
                shift = best
        return reached(shift)

    def _solved(self, name):
        x, y, rotation = self.solution[name]
        return Polygon([(x + right, y + down) for right, down in turned(SCENE[name], rotation)])


def play(game, receive, rounds=10):
    """Let a person and an agent build; `receive(text)` returns the agent's messages, as texts. Return the game.

    `when_complete` of the game is the overlap when the last piece was put down; None where it never was.
    """
    for _ in range(rounds):
        game.person_moves()
        answer = game.message("playRequest")
        for _ in range(200):
            if answer is None:
                break
            [text] = [one for one in receive(answer) if json.loads(one)["type"] in ("play", "finish")]
            answer = game.agent_says(text)
        else:
            raise AssertionError("the agent's turn does not end")
        if len(game.places) == len(ORDER) and game.when_complete is None:
            game.when_complete = game.overlap()
    return game
