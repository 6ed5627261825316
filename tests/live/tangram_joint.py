"""A person and the agent build a figure together, turn by turn, in the game's own report. Used by tests.

The person knows the figure and places pieces nearly where they belong, never exactly. As in the game, a piece that
overlaps another cannot be dropped there.
"""

import math
import random

import numpy as np
from live.small_game import SmallGame, polygon
from live.tangram_turns import turn
from parlour.envs.tangram.bots import useful_moves
from parlour.envs.tangram.lattice import PIECES
from parlour.envs.tangram.silhouettes import objective
from parlour.wrappers.live.tangram.agent import TangramAgentSession
from shapely import Polygon, affinity, union_all

PIXEL = np.array([100 / 337, 100 / 322])
"""Board units per pixel."""
ERROR = 1.5
"""Pixels that the person is off at most, on each axis."""


class CarelessPerson:
    """Builds a figure somewhere on the board; every piece lies up to `ERROR` pixels beside its place."""

    def __init__(self, name, draw):
        figure = objective(name)
        self.solutions = [figure.poses(i, "godot").tolist() for i in range(len(figure.solutions))]
        self.draw = draw
        self.begun = None  # where the person began the figure, from the middle of the board

    def move(self, game):
        """Place one piece of the drawer, if one can be placed."""
        if self.begun is None:
            self.begun = [self.draw.uniform(-6, 6), self.draw.uniform(-6, 6)]
        best = min(self.solutions, key=lambda solution: self._off(solution, game))
        drawer = [name for name in PIECES if name not in game.poses]
        self.draw.shuffle(drawer)
        for name in drawer:
            x, y, rotation = best[PIECES.index(name)]
            for _ in range(40):
                wrong = [self.draw.uniform(-ERROR, ERROR) * pixel for pixel in PIXEL]
                game.poses[name] = (x + self.begun[0] + wrong[0], y + self.begun[1] + wrong[1], rotation)
                if not game.collisions(name):
                    return
                del game.poses[name]

    def _off(self, solution, game):
        right, up = self.begun
        places = {name: (x + right, y + up) for name, (x, y, _) in zip(PIECES, solution, strict=True)}
        return sum(min(math.dist(pose[:2], places[name]), 5) for name, pose in game.poses.items())


def overlap(game):
    """Return the intersection over union of the pieces and the figure, wherever on the board the figure fits best."""
    figure = objective(game.objective)
    rings = np.split(figure.outline("godot"), figure.ends)
    outer = [Polygon(ring) for ring in rings if len(ring) > 2 and ring.any()]
    shape = outer[0]
    for ring in outer[1:]:
        shape = shape.symmetric_difference(ring)
    pieces = union_all([polygon(name, *pose) for name, pose in game.poses.items()])

    def reached(shift):
        moved = affinity.translate(shape, *shift)
        return moved.intersection(pieces).area / moved.union(pieces).area

    shift = max(np.zeros(2), np.subtract(pieces.centroid.coords[0], shape.centroid.coords[0]), key=reached)
    for step in (3.0, 1.0, 0.4, 0.15, 0.05):
        for _ in range(20):
            near = [shift + step * np.array(way) for way in ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1))]
            best = max(near, key=reached)
            if best is near[0]:
                break
            shift = best
    return reached(shift)


def build(name, seed, answer, game, *, rounds=10, dropped_after=None, margin=0.0):
    """Build a figure together; return the `SmallGame`. The connection is lost after `dropped_after` rounds."""
    draw = random.Random(seed)
    person, small = CarelessPerson(name, draw), SmallGame(name, margin, godot=True)
    session = TangramAgentSession(game, useful=useful_moves)
    for played in range(rounds):
        if played == dropped_after:
            session = TangramAgentSession(game, useful=useful_moves)
        person.move(small)
        turn(session, small, answer)
    return small
