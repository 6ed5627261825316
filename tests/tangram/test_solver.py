"""The solver against known results."""

from itertools import product
from math import isqrt

import numpy as np
from figures import assert_solved
from parlour.envs.tangram.lattice import ONE, RINGS, ROOT, VERTICES
from parlour.envs.tangram.silhouettes import built, drawn, outlined
from parlour.envs.tangram.solver import solve


def solutions(figure, most=500, steps=10**7):
    found = np.zeros((most, 7, 3), np.int64)
    return found[: solve(figure.vertices, figure.ends, steps, found)]


def convex_outlines():
    """Every convex polygon that sixteen equal right-angled isosceles triangles can form, up to congruence.

    A rectangle whose corners are cut at 45°, in units of the triangle's leg, √2 u.
    """
    outlines = {}
    for wide, high in product(range(1, 10), repeat=2):
        for three in product(range(high + 1), repeat=3):
            left = 2 * wide * high - 16 - sum(cut * cut for cut in three)
            if left < 0 or isqrt(left) ** 2 != left:
                continue
            cuts = low_left, low_right, top_right, top_left = *three, isqrt(left)
            fits = low_left + low_right <= wide and top_left + top_right <= wide
            if not fits or low_right + top_right > high or low_left + top_left > high:
                continue
            turned = [(wide, high, cuts), (high, wide, cuts[1:] + cuts[:1])]
            turned += [(w, h, c[2:] + c[:2]) for w, h, c in turned]
            turned += [(w, h, (c[1], c[0], c[3], c[2])) for w, h, c in turned]
            outlines[min(turned)] = None
    return list(outlines)


def polygon(wide, high, cuts, mirrored):
    low_left, low_right, top_right, top_left = cuts
    points = [
        (low_left, 0), (wide - low_right, 0), (wide, low_right), (wide, high - top_right),
        (wide - top_right, high), (top_left, high), (0, high - top_left), (0, low_left),
    ]  # fmt: skip
    return [((wide - x if mirrored else x) * ROOT, y * ROOT) for x, y in dict.fromkeys(points)]


def test_thirteen_convex_figures():
    # Fu Traing Wang and Chuan-Chih Hsiung, "A Theorem on the Tangram", American Mathematical Monthly 49 (1942): of the
    # 20 convex polygons that 16 such triangles form, the tangram makes 13.
    outlines = convex_outlines()
    assert len(outlines) == 20
    solved = 0
    for wide, high, cuts in outlines:
        for mirrored in (False, True):
            try:
                figure = outlined("convex", polygon(wide, high, cuts, mirrored))
            except ValueError as error:
                assert "do not fill" in str(error) or "outline has" in str(error) or "find room" in str(error)
            else:
                assert_solved(figure)
                solved += 1
                break
    assert solved == 13


def test_every_generated_figure_is_solved_and_its_own_solution_found():
    for figure in drawn(200, seed=11):
        found = solutions(figure)
        assert 0 < len(found) < 500
        every = built(figure.name, found)  # checks them all
        own = figure.solutions[0]
        # The twins may have changed places; Yellow and Green are alike from their first vertices.
        swaps = [own, own[[1, 0, 2, 3, 4, 5, 6]], own[[0, 1, 2, 3, 4, 6, 5]], own[[1, 0, 2, 3, 4, 6, 5]]]
        assert any(np.array_equal(swap, solution) for swap in swaps for solution in every.solutions)
        assert np.array_equal(every.outline(), figure.outline())  # bit for bit, from another construction


def test_what_cannot_be_filled_is_not():
    outline = np.zeros((VERTICES, 2), np.int64)
    outline[:4] = [(0, 0), (16 * ONE, 0), (16 * ONE, ONE), (0, ONE)]
    ends = np.full(RINGS, 4)
    found = np.zeros((1, 7, 3), np.int64)
    assert solve(outline, ends, 10**7, found) == 0
