"""The legal places, compared with shapely."""

from itertools import pairwise

import numpy as np
import pytest
from beginnings import record
from parlour import envs
from parlour.envs.core.rng import streams
from parlour.envs.tangram.corners import pose
from parlour.envs.tangram.forms import PIECE, TWIN
from parlour.envs.tangram.geometry import place
from parlour.envs.tangram.lattice import CORNERS
from parlour.envs.tangram.table import PLACES
from shapely import Point, Polygon, unary_union
from shapely.affinity import scale as scaled

SLACK = 1e-6  # square board units


def polygon(table, piece, x, y, rotation):
    shape = np.empty((4, 2))
    place(piece, x, y, rotation, table.scale, shape)
    return Polygon(shape[: CORNERS[piece]])


def figure_of(table):
    ends = [0, *table.ends.tolist()]
    shape = Polygon()
    for start, end in pairwise(ends):
        if end > start:
            shape = shape.symmetric_difference(Polygon(table.outline[start:end]))
    return shape


def placed(table):
    return {int(i): Polygon(table.vertices[i, : CORNERS[i]]) for i in np.flatnonzero(table.on_board)}


def overlaps(shape, others):
    return any(shape.intersection(other).area > SLACK for other in others)


def walk(seed, steps=14, **options):
    """Yield boards of a random game on one-piece turns."""
    game = envs.game("tangram", plays=1, turns=steps, **options)
    table = record(game, streams(seed, 1)[0])
    generator = np.random.default_rng(seed)
    while not table.done:
        yield table
        game.rules.play(table, int(generator.choice(np.flatnonzero(game.mask(table, int(table.turn))))))


def fits_lying(table, piece, figure, others):
    """Every rotation and vertex by which a piece fits into the focus along its right side: its polygons."""
    ray = np.radians(45 * int(table.ray))
    along = np.array([np.cos(ray), np.sin(ray)])
    shape = np.empty((4, 2))
    found = []
    for rotation in range(0, 360, 45):
        place(piece, 0.0, 0.0, float(rotation), table.scale, shape)
        vertices = shape[: CORNERS[piece]]
        for i in range(CORNERS[piece]):
            edge = (vertices[(i + 1) % CORNERS[piece]] - vertices[i]) / table.scale
            back = (vertices[i - 1] - vertices[i]) / table.scale
            angle = np.arccos(edge @ back / np.hypot(*edge) / np.hypot(*back))
            if edge @ along < np.hypot(*edge) - 1e-9 or angle > np.pi / 4 * table.width + 1e-9:
                continue
            lying = Polygon(vertices - vertices[i] + table.focus)
            if lying.difference(figure).area < SLACK and not overlaps(lying, others):
                found.append(lying)
    return found


OPTIONS = [{}, {"aspect": "godot"}, {"hidden": [0.5, 1.0], "split": "test"}, {"figure": "library", "split": None}]


@pytest.mark.parametrize("games", [range(3), pytest.param(range(3, 8), marks=pytest.mark.slow)], ids=str)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_open_places_are_those_that_shapely_finds(options, games):
    fitting = loose = 0
    for seed in games:
        for table in walk(seed, **options):
            if table.width == 0:
                continue
            figure, pieces = figure_of(table), placed(table)
            drawer = [i for i in range(7) if i not in pieces and not (TWIN[i] >= 0 and TWIN[i] not in pieces)]
            expected = {i: fits_lying(table, i, figure, pieces.values()) for i in drawer}
            offered = {number for number in range(PLACES) if table.open >> number & 1}
            assert bool(table.fitting) == any(expected.values())
            lying = {number: polygon(table, int(PIECE[number]), *pose(table, number)) for number in offered}
            if table.fitting:
                fitting += 1
                assert {int(PIECE[number]) for number in offered} == {i for i in drawer if expected[i]}
                for i in drawer:
                    ours = [lying[number] for number in offered if PIECE[number] == i]
                    assert all(
                        any(
                            one.equals_exact(other.normalize(), 1e-6)
                            or one.normalize().equals_exact(other.normalize(), 1e-6)
                            for one in ours
                        )
                        for other in expected[i]
                    )
                    assert all(
                        any(one.symmetric_difference(other).area < SLACK for other in expected[i]) for one in ours
                    )
                continue
            loose += 1
            for number in offered:
                i = int(PIECE[number])
                others = [shape for other, shape in pieces.items() if other != i]
                assert not overlaps(lying[number], others)
                assert i in drawer or (i in pieces and lying[number].difference(figure).area < SLACK)
            moves = {
                i
                for i in pieces
                if any(
                    one.symmetric_difference(pieces[i]).area > SLACK
                    for one in fits_lying(table, i, figure, [shape for other, shape in pieces.items() if other != i])
                )
            }
            assert moves == {int(PIECE[number]) for number in offered} & set(pieces)
    assert min(fitting, loose) > 2 * len(games)


def is_a_corner_of_what_is_uncovered(table, uncovered):
    angles = np.radians(45 * (int(table.ray) + np.linspace(0, int(table.width), 4 * int(table.width) + 1)))
    arc = table.focus + 0.1 * table.scale * np.stack([np.cos(angles), np.sin(angles)], 1)
    wedge = Polygon([table.focus, *arc])
    assert wedge.difference(uncovered.buffer(1e-6)).area < 1e-6
    around = scaled(Point(0, 0).buffer(1), 0.1 * table.scale[0], 0.1 * table.scale[1])
    assert around.area * table.width / 8 > 0.99 * wedge.area


def iou_of(pieces, figure):
    union = unary_union(list(pieces.values()))
    return union.intersection(figure).area / union.union(figure).area


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_focus_iou_and_gain_are_shapelys(options):
    for seed in range(6):
        for table in walk(seed, **options):
            figure, pieces = figure_of(table), placed(table)
            if table.width:
                is_a_corner_of_what_is_uncovered(table, figure.difference(unary_union(list(pieces.values()))))
            iou = iou_of(pieces, figure)
            assert table.iou == pytest.approx(iou, abs=1e-9)
            for number in (number for number in range(PLACES) if table.open >> number & 1):
                after = {**pieces, int(PIECE[number]): polygon(table, int(PIECE[number]), *pose(table, number))}
                assert table.gain[number] == pytest.approx(iou_of(after, figure) - iou, abs=1e-9)
