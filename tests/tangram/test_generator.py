"""Random silhouettes: solvable, of one split only, the same from the same seed."""

import numpy as np
import pytest
from figures import assert_solved, drawn, region
from parlour.envs.core.record import record
from parlour.envs.tangram import generator
from parlour.envs.tangram.lattice import ASPECTS, RINGS, VERTICES, code, outline

DTYPE = record(("vertices", "f8", (VERTICES, 2)), ("ends", "i1", RINGS), ("stream", "u8"))


def generated(count, seed=0, split=generator.ANY, easiest=0.0, hardest=1.0, aspect="square"):
    """Return that many records after `generate`."""
    tables = np.zeros(count, DTYPE)
    tables["stream"] = np.random.default_rng(seed).integers(0, 2**63, count)
    for table in tables:
        generator.generate(table, split, easiest, hardest, ASPECTS[aspect], table["vertices"], table["ends"])
    return tables


def found(count, seed=0, split=generator.ANY):
    """Return the codes and splits of that many figures from `find`."""
    words = np.array([seed], np.uint64)
    pieces, steps, at = np.empty(7, np.int64), np.empty(7, np.int64), np.empty((7, 2), np.int64)
    vertices, ends = np.empty((VERTICES, 2), np.int64), np.empty(RINGS, np.int64)
    codes, splits = [], []
    for _ in range(count):
        generator.find(words, split, 0.0, 1.0, pieces, steps, at, vertices, ends)
        codes.append(code(vertices, ends))
        splits.append(generator.split_of(vertices, ends))
    return codes, splits


def test_generated_figures_are_solvable():
    figures = drawn(150, seed=1)
    for figure in figures:
        assert_solved(figure)
        shape = region(figure.outline(), figure.ends)
        assert shape.geom_type == "Polygon"  # joined by edges, not in points
        assert max(figure.size) <= generator.WIDEST
        rings = np.split(figure.outline(), figure.ends)[:-1]
        sides = [np.hypot(*(ring - np.roll(ring, 1, 0)).T) for ring in rings if len(ring)]
        unit = ASPECTS["square"][0]
        assert np.concatenate(sides).min() >= generator.SHORTEST * unit
        assert generator.hidden(figure.outline() / unit, figure.ends) == pytest.approx(
            1 - shape.length / unit / generator.PERIMETER
        )
    assert sum(bool(region(figure.outline(), figure.ends).interiors) for figure in figures) > 0


@pytest.mark.slow
def test_the_record_has_room_for_100_000_figures():
    words = np.array([9], np.uint64)
    pieces, steps, at = np.empty(7, np.int64), np.empty(7, np.int64), np.empty((7, 2), np.int64)
    vertices, ends = np.empty((VERTICES, 2), np.int64), np.empty(RINGS, np.int64)
    most = 0
    for _ in range(100_000):
        generator.assemble(words, pieces, steps, at)
        assert outline(pieces, steps, at, 7, vertices, ends) > 0
        most = max(most, ends[-1])
    assert 20 < most <= VERTICES - 4


@pytest.mark.parametrize("count", [500, pytest.param(20_000, marks=pytest.mark.nightly)])
def test_no_figure_comes_up_in_two_splits(count):
    seen = []
    for split in range(3):
        codes, splits = found(count, seed=split, split=split)
        assert set(splits) == {split}
        seen.append(set(codes))
        assert len(seen[-1]) > 0.9 * count
    assert not seen[0] & seen[1] and not seen[0] & seen[2] and not seen[1] & seen[2]
    _, splits = found(2_000)
    assert np.bincount(splits) / 2_000 == pytest.approx([0.7, 0.1, 0.2], abs=0.05)


@pytest.mark.parametrize("easiest, hardest", [(0.0, 0.3), (0.4, 0.45), (0.5, 0.6), (0.55, 1.0)])
def test_difficulty(easiest, hardest):
    assert generator.difficulty(easiest, hardest) == (easiest, hardest)
    tables = generated(300, easiest=easiest, hardest=hardest)
    shares = np.array([generator.hidden(table["vertices"] / ASPECTS["square"], table["ends"]) for table in tables])
    assert (shares >= easiest - 1e-12).all() and (shares <= hardest + 1e-12).all()
