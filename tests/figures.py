"""Figures as shapely sees them, for tests."""

import numpy as np
import shapely
from parlour.envs.core.rng import streams
from parlour.envs.tangram.corners import measure, survey
from parlour.envs.tangram.generator import ANY, find
from parlour.envs.tangram.geometry import place
from parlour.envs.tangram.lattice import AREAS, ASPECTS, RINGS, VERTICES
from parlour.envs.tangram.rules import put
from parlour.envs.tangram.silhouettes import built


def polygons(poses, aspect="square"):
    """Return the seven pieces in these poses, float64[7, 3]."""
    out = np.zeros((7, 4, 2))
    for piece, pose in enumerate(poses):
        place(piece, *pose, ASPECTS[aspect], out[piece])
    return shapely.polygons(out)


def region(vertices, ends):
    """Return what an outline encloses; its rings must be such that this is valid."""
    rings = [vertices[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True) if start < end]
    outer = [shapely.Polygon(ring) for ring in rings if shapely.LinearRing(ring).is_ccw]
    holes = [shapely.Polygon(ring) for ring in rings if not shapely.LinearRing(ring).is_ccw]
    assert all(polygon.is_valid for polygon in outer + holes)
    return shapely.union_all(outer).difference(shapely.union_all(holes))


def assert_solved(figure, aspect="square"):
    """Assert that every solution of a figure is one: seven pieces, no overlap, the outline exactly, connected."""
    unit = np.prod(ASPECTS[aspect])
    target = region(figure.outline(aspect), figure.ends)
    assert abs(target.area - 16 * unit) < 1e-9 * unit
    for number in range(len(figure.solutions)):
        pieces = polygons(figure.poses(number, aspect), aspect)
        assert np.allclose(shapely.area(pieces), AREAS * unit, atol=1e-9)
        shared = shapely.area(shapely.intersection(pieces[:, None].copy(), pieces)) * (1 - np.eye(7))
        assert shared.max() < 1e-9, figure.name
        together = shapely.union_all(shapely.buffer(pieces, 1e-6))
        assert together.geom_type == "Polygon", figure.name
        assert shapely.area(shapely.intersection(pieces, target)).sum() > 16 * unit - 1e-6, figure.name


def drawn(count, seed):
    """Draw random silhouettes, with their solutions."""
    words, figures = streams(seed, 1), []
    for number in range(count):
        pieces, steps, at = np.zeros(7, np.int64), np.zeros(7, np.int64), np.zeros((7, 2), np.int64)
        outline = np.zeros((VERTICES, 2), np.int64), np.zeros(RINGS, int)
        find(words, ANY, 0.0, 1.0, pieces, steps, at, *outline)
        placed = np.column_stack([steps, at])[np.argsort(pieces)]
        figures.append(built(f"random {seed}.{number}", [placed]))
    return figures


def spoilt(game, seed, strays):
    """Return a board of a random figure with so many pieces in random poses that collide with nothing."""
    draw, table = np.random.default_rng(seed), game.tables(1)[0]
    table.stream = seed
    game.rules.reset(table)
    for piece in draw.choice(7, strays, replace=False).tolist():
        while not table.on_board[piece] or table.hits[piece]:
            put(table, piece, *draw.uniform(15, 85, 2).tolist(), float(draw.choice([0, 17, 90])))
    measure(table)
    survey(table)
    return table
