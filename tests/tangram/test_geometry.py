"""Geometry against shapely, which shares no code with it."""

import numpy as np
import pytest
import shapely
from hypothesis import strategies as st
from parlour.envs.tangram.geometry import TOLERANCE, collides, covered_area, depth, outline_area, place
from parlour.envs.tangram.lattice import AREAS, ASPECTS, BOARD, CORNERS, PIECES, SHAPES

SQUARE, GODOT = ASPECTS["square"], ASPECTS["godot"]

poses = st.tuples(
    st.integers(0, 6),
    st.floats(0, BOARD),
    st.floats(0, BOARD),
    st.one_of(st.integers(-16, 16).map(lambda step: 45.0 * step), st.floats(-1e4, 1e4)),
)


def placed(piece, x, y, rotation, scale=SQUARE):
    out = np.empty((4, 2))
    place(piece, x, y, float(rotation), scale, out)
    return out[: CORNERS[piece]]


def layouts(count, seed):
    """Two pieces in random poses, float64[count, 4, 2] each; in three of four cases they touch in chosen points."""
    rng = np.random.default_rng(seed)
    kinds, rows = np.arange(count) % 4, np.arange(count)
    names = rng.integers(7, size=(2, count))
    turns = np.where(kinds < 3, rng.integers(-8, 16, (2, count)) * 45.0, rng.uniform(-720, 720, (2, count)))
    angles = np.radians(-turns)[..., None, None]
    spin = np.concatenate([np.cos(angles), np.sin(angles), -np.sin(angles), np.cos(angles)], -1).reshape(2, count, 2, 2)
    scales = np.where(rows[:, None, None] % 2, GODOT, SQUARE)
    both = rng.uniform(20, 80, (2, count, 1, 2)) + SHAPES[names] @ spin * scales
    points = []
    for pieces, vertices in zip(names, both, strict=True):
        at = rng.integers(CORNERS[pieces])
        start, end = vertices[rows, at], vertices[rows, (at + 1) % CORNERS[pieces]]
        # A vertex upon a vertex, a vertex somewhere on an edge, the middles of two edges; or near each other.
        share = np.choose(kinds, [0.0, rng.uniform(size=count) * (len(points) == 0), 0.5, rng.uniform(-1, 1, count)])
        points.append(start + share[:, None] * (end - start))
    both[1] += (points[0] - points[1])[:, None]
    return both


@pytest.mark.parametrize("count", [4_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_areas_are_shapelys(count):
    first, second = layouts(count, count)
    ours = np.array([covered_area(a, b, (4,)) for a, b in zip(first, second, strict=True)])
    exact = shapely.area(shapely.intersection(shapely.polygons(first), shapely.polygons(second)))
    assert np.abs(ours - exact).max() < 1e-9
    assert 0.2 < (exact > 1).mean() < 0.9 and (exact < 1e-9).mean() > 0.05  # the sample is a mixture


def test_area_within_outlines_with_holes():
    rng = np.random.default_rng(1)
    holes = parts = 0
    for _ in range(300):
        pieces = [placed(rng.integers(7), *rng.uniform(20, 60, 2), 45 * rng.integers(8)) for _ in range(9)]
        shape = shapely.union_all([shapely.Polygon(piece) for piece in pieces])
        shape = shape.difference(shapely.Polygon(placed(rng.integers(7), *rng.uniform(30, 50, 2), rng.uniform(0, 360))))
        polygons = [shapely.geometry.polygon.orient(part) for part in getattr(shape, "geoms", [shape])]
        parts += len(polygons) > 1
        holes += any(polygon.interiors for polygon in polygons)
        rings = [np.array(ring.coords)[:-1] for polygon in polygons for ring in (polygon.exterior, *polygon.interiors)]
        vertices, ends = np.concatenate(rings), np.cumsum([len(ring) for ring in rings])
        assert outline_area(vertices, ends) == pytest.approx(shape.area, abs=1e-9)
        for _ in range(20):
            piece = placed(rng.integers(7), *rng.uniform(10, 70, 2), 45 * rng.integers(8))
            exact = shape.intersection(shapely.Polygon(piece)).area
            assert covered_area(piece, vertices, ends) == pytest.approx(exact, abs=1e-9)
            padded = np.append(ends, [ends[-1]] * 3)
            assert covered_area(piece, vertices, padded) == covered_area(piece, vertices, ends)
    assert holes > 50 and parts > 50


def test_touching_is_not_overlapping():
    first, second = layouts(20_000, 2)
    shared = shapely.area(shapely.intersection(shapely.polygons(first), shapely.polygons(second)))
    hits = np.array([collides(a, b) for a, b in zip(first, second, strict=True)])
    assert not hits[shared < 1e-6].any()
    assert hits[shared > 0.5].all()
    pair = placed(0, 50, 50, 0), placed(1, 50, 50, 0)
    below = np.subtract(pair[1], (0, 2 * SQUARE[1]))
    assert depth(pair[0], placed(1, 50, 50 - 2 * SQUARE[1], 180)) == pytest.approx(0, abs=1e-12)
    for deep, expected in ((TOLERANCE / 2, False), (2 * TOLERANCE, True)):
        assert collides(pair[0], np.add(below, (0, deep))) is expected


def test_pieces_are_the_documents():
    # Scene units of TangramCollaborativeAI, y down.
    scene = {
        "Red": [(0, -64), (128, 64), (-128, 64)],
        "Cream": [(0, -64), (-128, 64), (128, 64)],
        "Blue": [(45.25, -90.5), (-45.25, 0), (45.25, 90.5)],
        "Green": [(0, -32), (-64, 32), (64, 32)],
        "Yellow": [(0, -40), (-64, 24), (64, 24)],
        "Purple": [(45.25, 45.25), (-45.25, 45.25), (-45.25, -45.25), (45.25, -45.25)],
        "Brown": [(-32, -32), (96, -32), (32, 32), (-96, 32)],
    }
    for piece, name in enumerate(PIECES):
        ours = shapely.Polygon(placed(piece, 50, 50, 0, GODOT))
        theirs = shapely.Polygon([(50 + 0.4 * x / 3.37, 50 - 0.4 * y / 3.22) for x, y in scene[name]])
        assert ours.hausdorff_distance(theirs) < 0.002  # 90.5 for 64 √2
        assert ours.exterior.is_ccw
        assert shapely.Polygon(SHAPES[piece]).area == pytest.approx(AREAS[piece])
    assert AREAS.sum() == 16
