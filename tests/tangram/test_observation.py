"""What is observed, against shapely and against the record."""

import numpy as np
import pytest
import shapely
from figures import region
from parlour import envs
from parlour.envs.core.rng import streams
from parlour.envs.tangram.lattice import CORNERS


def boards(count=8, **options):
    """Boards in the middle of random games."""
    game = envs.game("tangram", plays=1, **options)
    for seed in range(count):
        table = game.tables(1)[0]
        table.stream = streams(seed, 1)[0]
        game.rules.reset(table)
        generator = np.random.default_rng(seed)
        for _ in range(seed % 6):
            game.rules.play(table, int(generator.choice(np.flatnonzero(game.mask(table, int(table.turn))))))
        yield game, table


def part(game, table, path, seat=0):
    piece = game.layout[path]
    return game.observation(table, seat)[piece.start : piece.stop].reshape(piece.shape)


def shape_of(table):
    return region(table.outline, table.ends.tolist())


def pieces_of(table):
    if not table.on_board.any():
        return shapely.Polygon()
    return shapely.union_all([shapely.Polygon(table.vertices[i, : CORNERS[i]]) for i in np.flatnonzero(table.on_board)])


def middles(cells):
    at = (np.arange(cells) + 0.5) * 100 / cells
    return shapely.points(*np.meshgrid(at, at))


@pytest.mark.parametrize("aspect", ["square", "godot"])
def test_pixels_are_what_lies_on_the_middle_of_each_cell(aspect):
    for game, table in boards(modality="pixels", aspect=aspect):
        planes = part(game, table, "game_state.board_img")
        for plane, shape in zip(planes, (shape_of(table), pieces_of(table)), strict=True):
            sure = shapely.distance(shapely.boundary(shape), middles(64)) > 1e-6 if shape.area else np.array(True)
            assert np.array_equal(plane[sure] > 0, shapely.contains(shape, middles(64))[sure])


def test_the_coarse_grids_are_shares_of_the_cells():
    for game, table in boards():
        for path, shape in (
            ("game_state.silhouette.occupancy", shape_of(table)),
            ("game_state.silhouette.uncovered", shape_of(table).difference(pieces_of(table))),
        ):
            left = np.arange(16) * 6.25
            x, y = np.meshgrid(left, left)
            exact = shapely.area(shapely.intersection(shapely.box(x, y, x + 6.25, y + 6.25), shape)) / 6.25**2
            assert part(game, table, path) == pytest.approx(exact, abs=0.2)
            assert part(game, table, path).sum() == pytest.approx(exact.sum(), rel=0.05)


def test_around_the_focus_is_what_is_uncovered_in_its_frame():
    for game, table in boards(12):
        if not table.width:
            continue
        shape = shape_of(table).difference(pieces_of(table))
        cells = np.arange(16) + 0.5
        right, up = np.meshgrid((cells - 7.84) * 0.5, (cells - 4) * 0.5)
        angle = np.radians(45 * int(table.ray))
        x = table.focus[0] + table.scale[0] * (right * np.cos(angle) - up * np.sin(angle))
        y = table.focus[1] + table.scale[1] * (right * np.sin(angle) + up * np.cos(angle))
        points = shapely.points(x, y)
        sure = shapely.distance(shapely.boundary(shape), points) > 1e-6
        around = part(game, table, "allowed_actions.focus.around")
        assert np.array_equal(around[sure] > 0, shapely.contains(shape, points)[sure])
