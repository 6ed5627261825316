"""Exact numbers and outlines."""

import numpy as np
import pytest
import shapely
from figures import drawn
from hypothesis import given
from hypothesis import strategies as st
from parlour.envs.tangram.lattice import ONE, PIECES, RINGS, VERTICES, code, exact, outline, value, values

numbers = st.tuples(st.integers(-30, 30), st.integers(-20, 20)).map(lambda pair: pair[0] * ONE // 2 + pair[1])


@given(numbers, numbers)
def test_sums_are_sums(first, second):
    assert value(first + second) == pytest.approx(value(first) + value(second), abs=1e-12)
    assert value(-first) == -value(first)
    assert (first == second) == (abs(value(first) - value(second)) < 1e-3)
    assert exact(value(first)) == first
    assert values(np.array([first, second])).tolist() == [value(first), value(second)]


def outlined(placements):
    vertices, ends = np.zeros((VERTICES, 2), np.int64), np.zeros(RINGS, np.int64)
    pieces, steps, at = (np.array(column) for column in zip(*placements, strict=True))
    return outline(pieces, steps, at, len(pieces), vertices, ends), vertices, ends


def test_an_outline_depends_on_the_shape_alone():
    rng = np.random.default_rng(0)
    for figure in drawn(200, seed=5):
        placements = [(piece, step, (x, y)) for piece, (step, x, y) in enumerate(figure.solutions[0])]
        rng.shuffle(placements)
        shift = rng.integers(-9, 9, 2) * ONE + rng.integers(-9, 9, 2)
        rings, vertices, ends = outlined([(piece, step, at + shift) for piece, step, at in placements])
        assert rings > 0
        assert np.array_equal(vertices, figure.vertices) and np.array_equal(ends, figure.ends)


def test_the_code_is_the_same_in_every_rotation_and_differs_between_figures():
    codes = set()
    for figure in drawn(100, seed=6):
        first = code(figure.vertices, figure.ends)
        codes.add(first)
        for turn in range(1, 8):
            # Turn each first vertex with the pieces: by 45° a number a/2 + b √2/2 becomes another of them only as a
            # difference of vertices of whole edges, so half joins are turned by 90° alone.
            angle = -np.pi / 4 * turn
            turned = values(figure.solutions[0][:, 1:]) @ [
                [np.cos(angle), np.sin(angle)],
                [-np.sin(angle), np.cos(angle)],
            ]
            try:
                at = [[exact(x), exact(y)] for x, y in turned - turned[0]]
            except ValueError:
                assert turn % 2
                continue
            placed = [(piece, (figure.solutions[0][piece, 0] + turn) % 8, at[piece]) for piece in range(7)]
            _, vertices, ends = outlined(placed)
            assert code(vertices, ends) == first
    assert len(codes) == 100


def test_parts_that_meet_in_a_point_are_rings_of_their_own():
    red, green = PIECES.index("Red"), PIECES.index("Green")
    rings, vertices, ends = outlined([(red, 0, (0, 0)), (green, 4, (0, 0))])  # tip upon tip
    assert rings == 2 and ends.tolist() == [3, 6, 6, 6]
    for start, end in ((0, 3), (3, 6)):
        assert shapely.LinearRing(values(vertices[start:end])).is_ccw
    twice = outlined([(green, 4, (0, 0)), (red, 0, (0, 0))])
    assert np.array_equal(twice[1], vertices)
