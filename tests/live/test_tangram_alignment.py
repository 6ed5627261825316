"""People do not place pieces exactly: the figure is moved to where they began it."""

import math
import random

import pytest
from live.small_game import Knows, SmallGame, polygon
from live.tangram_turns import turn
from parlour import envs
from parlour.envs.tangram.lattice import PIECES
from parlour.envs.tangram.silhouettes import objective
from parlour.wrappers.live.tangram.agent import TangramAgentSession
from parlour.wrappers.live.tangram.board_tracker import figure_shift, nearest_place

SQUARE = objective("A square")
PLACES = {name: tuple(SQUARE.poses(0, "godot")[i].tolist()) for i, name in enumerate(PIECES)}


@pytest.mark.parametrize("name", PIECES)
def test_the_figure_goes_where_it_was_begun(name):
    x, y, rotation = PLACES[name]
    for right, up, turned in [(7.0, -11.0, 4.0), (-20.0, 20.0, -9.0)]:
        shift = figure_shift(SQUARE, {name: (x + right, y + up, rotation + turned)})
        assert math.hypot(*shift) <= math.hypot(right, up) + 1e-9
        x0, y0, turned0 = nearest_place(SQUARE, shift, name, (x + right, y + up, rotation + turned), {})
        assert math.dist((x0, y0), (x + right, y + up)) < 1e-9
        assert turned0 % 45 == 0


def test_it_stays_where_it_is_begun_with_care_or_cannot_go():
    assert figure_shift(SQUARE, {"Red": PLACES["Red"]}) == (0, 0)
    assert nearest_place(SQUARE, (0, 0), "Red", PLACES["Red"], {}) is None
    x, y, rotation = PLACES["Red"]
    assert figure_shift(SQUARE, {"Red": (x, y + 45, rotation)}) == (0, 0)  # off the board
    assert figure_shift(SQUARE, {"Red": (x + 7, y, rotation + 22.5)}) == (0, 0)  # turned as in no solution
    assert nearest_place(SQUARE, (0, 0), "Red", (x + 7, y, rotation), {}) is None  # not near
    assert nearest_place(SQUARE, (0, 0), "Red", (x + 1, y - 1, rotation + 3), {}) == pytest.approx(PLACES["Red"])


@pytest.mark.parametrize("astray", [{}, {"Blue": (80.0, 15.0, 0.0)}])
def test_all_pieces_tell_where_the_figure_stands(astray):
    right, up = -7.3, 5.1
    placed = {name: (x + right, y + up, rotation) for name, (x, y, rotation) in PLACES.items() if name != "Blue"}
    red, cream = placed["Red"], placed["Cream"]
    careless = {**placed, "Red": (red[0] + 1.2, red[1] - 0.9, red[2] + 3)}
    assert figure_shift(SQUARE, {**careless, **astray}) == pytest.approx((right, up))
    swapped = {**placed, "Red": cream, "Cream": red}
    assert figure_shift(SQUARE, {**swapped, **astray}) == pytest.approx((right, up))
    assert figure_shift(SQUARE, {}) == (0, 0)


@pytest.mark.parametrize(("name", "twin"), [("Red", "Cream"), ("Yellow", "Green")])
def test_a_piece_near_the_place_of_its_twin_lies_well(name, twin):
    x, y, rotation = PLACES[twin]
    nearest = nearest_place(SQUARE, (0, 0), name, (x + 1, y + 0.7, rotation), {})
    assert polygon(name, *nearest).symmetric_difference(polygon(twin, *PLACES[twin])).area < 1e-6


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("margin", [0.0, 0.2])
@pytest.mark.parametrize("aspect", ["godot", "square"])
def test_a_person_who_is_not_exact_and_an_agent_build_together(aspect, margin, seed):
    draw = random.Random(seed)
    name = draw.choice(PIECES)
    x, y, rotation = PLACES[name]
    small = SmallGame("A square", margin, godot=True)
    small.poses[name] = (x + draw.uniform(-25, 25), y + draw.uniform(-25, 25), rotation + 2)
    session = TangramAgentSession(envs.game("tangram", aspect=aspect))
    for _ in range(8):  # six pieces, and the first one is straightened
        turn(session, small, Knows(aspect).respond)
    assert len(small.poses) == 7
    assert not any(map(small.collisions, small.poses))
    assert small.shape.geom_type == "Polygon"
    filled = small.shape.buffer(-0.25 - margin).area
    assert filled == pytest.approx(16 * (25.6 / 3.37) * (25.6 / 3.22), rel=0.15)
