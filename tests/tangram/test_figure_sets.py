"""Figure sets of one's own: files, the way onto the lattice, mirror images, and what is said of bad ones."""

import json

import numpy as np
import pytest
from parlour import envs
from parlour.envs.core.vector import VectorGame
from parlour.envs.tangram.figure_sets import _mirror_image, own_figures, parse, set_text
from parlour.envs.tangram.lattice import code, values
from parlour.envs.tangram.silhouettes import library, text_of
from parlour.training.evaluation.games.tangram import sets

NAMES = ("A house", "A rocket", "A square", "A triangle", "The letter A")
FIGURES = [library()[name] for name in NAMES]


def points(figure, noise=0.0, turned=0.0, unit=1.0, seed=0):
    """Return a figure's outline as somebody else draws it."""
    draw = np.random.default_rng(seed)
    ring = values(figure.vertices[: figure.ends[0]])
    ring = ring + draw.uniform(-noise, noise, ring.shape)
    cosine, sine = np.cos(np.radians(turned)), np.sin(np.radians(turned))
    return (ring @ [[cosine, sine], [-sine, cosine]] * unit + 7.0).tolist()


def same(one, other):
    return code(one.vertices, one.ends) == code(other.vertices, other.ends)


@pytest.mark.parametrize(("noise", "turned", "unit"), [(0, 0, 1), (0.01, 0, 37.5), (0.01, 11, 0.02), (0.005, 45, 400)])
def test_drawn_figures_are_brought_onto_the_lattice(tmp_path, noise, turned, unit):
    path = tmp_path / "own.json"
    path.write_text(json.dumps({one.name: points(one, noise, turned, unit) for one in FIGURES}))
    read = parse(set_text(str(path)))
    assert list(read) == list(NAMES)
    assert all(same(read[one.name], one) for one in FIGURES)


def test_the_mirror_images_that_the_pieces_fill_are_found():
    """Their outlines lie away from the origin."""
    assert sum(_mirror_image(figure) is not None for figure in library().values()) == 60


def test_svg_polygons_and_text_are_read(tmp_path):
    drawn = ""
    for one in FIGURES:
        ring = " ".join(f"{x:.4f},{-y:.4f}" for x, y in points(one, unit=50))
        drawn += f'<g><polygon id="{one.name}" points="{ring}"/></g>'
    (tmp_path / "own.svg").write_text(f'<svg xmlns="http://www.w3.org/2000/svg">{drawn}</svg>')
    (tmp_path / "own.txt").write_text("\n".join(map(text_of, FIGURES)))
    for kind in ("svg", "txt"):
        read = parse(set_text(str(tmp_path / f"own.{kind}")))
        assert all(same(read[one.name], one) for one in FIGURES)


BAD = {
    "A circle": [[np.cos(a), np.sin(a)] for a in np.linspace(0, 6.2, 40).tolist()],
    "A bow": [[0, 0], [4, 4], [4, 0], [0, 4]],
    "A strip": [[0, 0], [16, 0], [16, 1], [0, 1]],
    "A dot": [[1, 1], [1, 1], [1, 1]],
}


def test_every_figure_that_cannot_be_used_is_named_and_why(tmp_path):
    path = tmp_path / "own.json"
    path.write_text(json.dumps({"A square": points(library()["A square"]), **BAD}))
    with pytest.raises(ValueError, match="4 of 5 figures cannot be used") as told:
        set_text(str(path))
    for name in BAD:
        assert f"{name!r}: " in str(told.value)
    assert str(path) in str(told.value)


@pytest.mark.parametrize(
    ("kind", "text", "problem"),
    [
        ("json", "{", "no JSON"),
        ("json", "{}", "holds no figure"),
        ("svg", '<!DOCTYPE x [<!ENTITY a "b">]><svg/>', "entities"),
        ("svg", '<svg><polygon id="a" points="0,0"/><polygon id="a"/></svg>', "second figure"),
        ("txt", "A boat\n  Red 0 0", "line 1"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path, kind, text, problem):
    path = tmp_path / f"own.{kind}"
    path.write_text(text)
    with pytest.raises(ValueError, match=problem) as told:
        envs.game("tangram", figure=str(path))
    assert str(path) in str(told.value)


def test_a_game_draws_its_figures_from_the_set(tmp_path):
    path = tmp_path / "own.json"
    path.write_text(json.dumps({f"My {i}": points(one, unit=9) for i, one in enumerate(FIGURES)}))
    game = envs.game("tangram", figure=str(path), turns=7, plays=1)
    assert envs.game("tangram", **game.options).options == game.options  # without the file
    assert list(own_figures(game.options)) == [f"My {i}" for i in range(5)]
    assert list(sets(game)) == ["own figures", "random", "random, hard", "library"]
    tables = VectorGame(game, 64)
    tables.reset(seed=0)
    assert set(tables.tables.figure.tolist()) == set(range(5))
    table = tables.tables[0]
    state = game.turn_state(table, 0)
    assert state.game_state["objective"] == f"My {int(table.figure)}"
    loaded, _ = game.view.load(state)
    assert loaded[0].figure == table.figure
    assert np.array_equal(loaded[0].outline, table.outline)
