"""Outlines and the seven pieces, against known results."""

from itertools import product
from math import isqrt

from figures import assert_solved
from parlour.envs.tangram.figure_sets import outlined
from parlour.envs.tangram.lattice import ROOT


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
