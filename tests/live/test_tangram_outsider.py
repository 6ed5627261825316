"""Tangram games and a person at the mouse, written from the game's public source or document alone. Used by tests.

Everything is in pixels of the board, y down, and travels as JSON text: no code of the host or of the rules lies
between. The person draws one solution of the figure and a place for it, and keeps to both: a piece goes where this
solution has it, or nowhere.
"""

import json
import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

import numpy as np
import pytest
from live.settled import act, settled
from live.small_game import SCENE, VCENTER, Pieces
from msgspec import Struct
from parlour import envs
from parlour.envs.tangram.bots import useful_moves
from parlour.envs.tangram.silhouettes import objective
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.common.player import Turn
from parlour.wrappers.live.tangram import messages
from parlour.wrappers.live.tangram.agent import TangramAgentSession
from parlour.wrappers.policies.loading import make_policy
from shapely import Polygon, affinity, union_all

OBJECTIVES = ("A house", "A fish", "A human", "A rocket", "A cat", "A robot")
BOARD = (337.0, 322.0)
"""The real game's board in pixels: wide, high."""
SCALE = 0.4
"""Pixels per unit of the scene."""
COLLIDES = {
    **SCENE,
    "Cream": [(0.2, -64.2), (-127.8, 63.8), (128.2, 63.8)],
    "Purple": [(47.29, -47.29), (45.17, 41.95), (-45.71, 42.91), (-44.64, -47.29)],
}
"""The scene's collision polygons, likewise."""
MARKERS = {
    "Red": [(-0.62, -65), (131.88, 65), (-128.12, 65)],
    "Cream": [(0, -64.38), (-127.5, 63.12), (127.5, 63.12)],
    "Blue": [(44.64, -90.6), (-45.52, -0.44), (44.64, 89.71)],
    "Green": [(0, -32), (-64, 32), (64, 32)],
    "Yellow": [(0, -40.63), (-62.5, 24.38), (65, 24.38)],
    "Purple": [(-44.64, -47.29), (-46.4, 42.87), (45.52, 42.87), (47.29, -47.29)],
    "Brown": [(-32, -32), (96, -32), (-96, 32), (32, 32)],
}
"""The markers that the scene reports as vertices, in their order."""
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


def centroid(points):
    return tuple(np.mean(points, axis=0))


@dataclass
class Conditions:
    """How a game is played.

    Attributes:
        noise: pixels that the person's hand is off at most, on each axis.
        whole: the mouse has whole pixels.
        touching: pieces that touch count as overlapping.
        centre: the point of each piece that is its position, of its corners; None: the real game, in its own form.
        board: the board in pixels.
        sense: 1: rotations are clockwise on the screen; -1: counter-clockwise.
        rest: degrees clockwise on the screen by which pieces of rotation 0 are turned.
        down: y is 0 at the upper edge.
    """

    noise: float = 0.0
    whole: bool = False
    touching: bool = False
    centre: Callable | None = None
    board: tuple = BOARD
    sense: int = 1
    rest: float = 0.0
    down: bool = False


@dataclass
class Game(Pieces):
    """One game: where the pieces lie (x, y of the origin in pixels, y down; degrees clockwise)."""

    objective: str
    seed: int
    conditions: Conditions
    when_complete: float | None = None

    def __post_init__(self):
        self.draw = random.Random(self.seed)
        self.pieces = SCENE if self.conditions.centre else COLLIDES
        figure = objective(self.objective)
        poses = figure.poses(self.draw.randrange(len(figure.solutions)), "godot").tolist()
        right, down = (self.draw.uniform(-START, START) for _ in range(2))
        self.solution = {
            name: (
                (x / 100 - 0.5) * BOARD[0] + self.conditions.board[0] / 2 + right,
                (0.5 - y / 100) * BOARD[1] + self.conditions.board[1] / 2 + down,
                rotation,
            )
            for name, (x, y, rotation) in zip(ORDER, poses, strict=True)
        }

    # The board.

    def polygon(self, name):
        return Polygon(self._placed(self.pieces[name], *self.poses[name]))

    def _placed(self, points, x, y, rotation):
        return [(x + right, y + down) for right, down in turned(points, rotation)]

    def collisions(self, name):
        own = self.polygon(name)
        others = {other: self.polygon(other) for other in self.poses if other != name}
        found = [other for other, shape in others.items() if self._overlap(own, shape)]
        left, top, right, bottom = own.bounds
        wide, high = self.conditions.board
        inside = left >= -0.01 and top >= -0.01 and right <= wide + 0.01 and bottom <= high + 0.01
        return found if inside else [*found, "BOUNDARY"]

    def _overlap(self, one, other):
        """Tell whether two pieces overlap. Whether two that touch do is a matter of rounding, as in the game."""
        return one.distance(other) < TOUCHING if self.conditions.touching else one.intersection(other).area > 1e-9

    def state(self):
        drawer = [name for name in ORDER if name not in self.poses]
        if self.conditions.centre is None:
            return {
                "on_board": {n: self._marked(n) for n in self.poses},
                "off_board": {n: {"rotation": 0} for n in drawer},
            }
        on_board = {name: self._documented(name, *self.poses[name]) for name in self.poses}
        off_board = {name: self._documented(name, 0, 0, self.conditions.rest) for name in drawer}
        for piece in off_board.values():
            (x, y), corners = piece.pop("position"), piece["vertices"]
            piece["vertices"] = [[right - x, up - y] for right, up in corners]
            del piece["collisions"]
        return {"on_board": on_board, "off_board": off_board}

    def _simple(self, points):
        """Return pixels as the game's units."""
        wide, high = self.conditions.board
        return [[100 * x / wide, 100 * (y / high if self.conditions.down else 1 - y / high)] for x, y in points]

    def _marked(self, name):
        """Return a piece as the real game reports it."""
        place = self.poses[name]
        points = self._simple(self._placed([VCENTER.get(name, (0, 0)), *MARKERS[name]], *place))
        center, *vertices = ["({:.6g}, {:.6g})".format(*point) for point in points]
        position = {"position": center, "vertices": vertices}
        return {"position": position, "rotation": round(place[2], 2), "collisions": self.collisions(name)}

    def _documented(self, name, x, y, rotation):
        corners = self.pieces[name]
        center, *vertices = self._simple(self._placed([self.conditions.centre(corners), *corners], x, y, rotation))
        told = self.conditions.sense * (rotation - self.conditions.rest) % 360
        collisions = self.collisions(name) if name in self.poses else []
        return {"position": center, "vertices": vertices, "rotation": told, "collisions": collisions}

    def message(self, kind):
        return json.dumps({"type": kind, "objective": self.objective, "timestamp": 1.5, "state": self.state()})

    # The person.

    def person_moves(self):
        """Drop one piece of the drawer where the solution has it; the game lets go of none that overlaps."""
        drawer = [name for name in ORDER if name not in self.poses]
        self.draw.shuffle(drawer)
        for name in drawer:
            x, y, rotation = self.solution[name]
            for number in range(TRIES):
                reach = self.conditions.noise + number / TRIES  # a hand that looks for room
                off = [self.draw.uniform(-reach, reach) for _ in range(2)]
                at = x + off[0], y + off[1]
                self.poses[name] = (*(map(round, at) if self.conditions.whole else at), rotation)
                if not self.collisions(name):
                    return
                del self.poses[name]

    # The agent's turn.

    def agent_says(self, text):
        """Take a message of the agent; return the game's answer, or None where the agent's turn is over."""
        said = json.loads(text)
        if said["type"] == "finish":
            self.finish()
            return None
        assert said["type"] == "play"
        self.move(said["shape"])
        name, (x, y), conditions = said["shape"], said["position"], self.conditions
        rotation = conditions.sense * said["rotation"] + conditions.rest
        centre = conditions.centre(self.pieces[name]) if conditions.centre else (0, 0)
        [(right, down)] = turned([centre], rotation)
        high = y / 100 if conditions.down else 1 - y / 100
        self.poses[name] = conditions.board[0] * x / 100 - right, conditions.board[1] * high - down, rotation
        return self.message("playFeedback")

    # The result.

    def overlap(self):
        """Return the intersection over union of the pieces and the figure, wherever the figure fits best."""
        pieces = union_all([self.polygon(name) for name in self.poses])
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
        return Polygon(self._placed(SCENE[name], *self.solution[name]))


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
        if len(game.poses) == len(ORDER) and game.when_complete is None:
            game.when_complete = game.overlap()
    return game


GAME = envs.game("tangram", aspect="godot")
CONDITIONS = {
    "exact": Conditions(),
    "noise": Conditions(noise=1.5),
    "whole pixels": Conditions(whole=True),
    "touching collides": Conditions(noise=1.5, touching=True),
    "centroid": Conditions(noise=1.5, centre=centroid),
    "origin": Conditions(noise=1.5, centre=lambda corners: (0, 0)),
    "other aspect": Conditions(noise=1.5, centre=centroid, board=(400.0, 400.0)),
    "other sense": Conditions(noise=1.5, centre=centroid, board=(400.0, 360.0), sense=-1, rest=90.0, down=True),
}


def built(condition, seeds, lost_after=0):
    """Return the games that a person and `solver`, as `parlour deploy tangram` serves it, have played.

    The connection is lost after so many messages; 0: never.
    """
    solver = PolicyAgent(GAME, make_policy("solver", GAME, seed=1))
    games = []
    for seed in seeds:
        for name in OBJECTIVES:
            sessions, received = [], count()

            def receive(text, sessions=sessions, received=received):
                if next(received) in (0, lost_after):
                    sessions.append(TangramAgentSession(GAME, useful=useful_moves))
                session = sessions[-1]
                events = settled(session, session.receive(text))
                sent = [event for event in events if isinstance(event, Struct)]
                for event in events:
                    if isinstance(event, Turn):
                        sent += act(session, solver.respond(event.state), event)
                return [messages.encode(message) for message in sent]

            games.append(play(Game(name, seed, CONDITIONS[condition]), receive))
    return games


@pytest.mark.parametrize("condition", CONDITIONS)
def test_an_outsider_gets_the_figure_that_is_documented(condition):
    games = built(condition, range(1))
    assert all(len(game.poses) == 7 for game in games)
    assert np.mean([game.overlap() for game in games]) >= (0.96 if CONDITIONS[condition].touching else 0.97)


@pytest.mark.parametrize("lost_after", [2, 5, 8])
def test_a_lost_connection_costs_nothing(lost_after):
    games = built("noise", range(1), lost_after)
    assert np.mean([game.overlap() for game in games]) >= 0.95


@pytest.mark.nightly
@pytest.mark.parametrize("condition", CONDITIONS)
def test_an_outsider_gets_the_figures_that_are_documented_over_many_games(condition, capsys):
    games = built(condition, range(8))
    values = [game.overlap() for game in games]
    first = [game.when_complete or game.overlap() for game in games]
    with capsys.disabled():
        told = f"when complete {np.mean(first):.3f}, after ten turns {np.mean(values):.3f}, least {min(values):.3f}"
        print(f"\n{condition}: mean IoU {told}, {len(games)} games")
    assert np.mean(first) >= 0.95
    assert np.mean(values) >= (0.96 if CONDITIONS[condition].touching else 0.97)
