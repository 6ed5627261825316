"""Layout: slices in order, the tree of views, the spaces."""

import numpy as np
import pytest
from needs import library
from parlour.envs import Layout, Slice
from parlour.envs.render.svg import chart

LAYOUT = Layout(
    [
        Slice("phase", (3,), 0, 1, "one-hot"),
        Slice("game_state.players.stack", (2,), 0, 9, "chips"),
        Slice("game_state.pot", (1,), 0, 9, "chips"),
        Slice("game_state.history", (2, 2), -1, 1, "moves"),
    ]
)


def test_the_tree_is_views_into_the_vector():
    flat = np.arange(10, dtype=np.float32)
    tree = LAYOUT.tree(flat)
    assert tree["game_state"]["players"]["stack"].tolist() == [3, 4]
    assert tree["game_state"]["history"].tolist() == [[6, 7], [8, 9]]
    flat[5] = 77
    assert tree["game_state"]["pot"].tolist() == [77]
    assert LAYOUT.dict_space().keys() == tree.keys()


def test_the_spaces_have_the_bounds_of_the_slices():
    low, high = LAYOUT.bounds()
    assert low.tolist() == [0] * 6 + [-1] * 4
    assert high.tolist() == [1] * 3 + [9] * 3 + [1] * 4
    assert LAYOUT.flat_space().contains(np.zeros(10, np.float32))
    assert LAYOUT.dict_space().contains(LAYOUT.tree(np.zeros(10, np.float32)))
    assert not LAYOUT.dict_space().contains(LAYOUT.tree(np.full(10, 5, np.float32)))


def test_the_chart_shows_every_slice():
    library("matplotlib")
    flat = np.arange(10, dtype=np.float32) - 3
    axes = chart(LAYOUT, flat).axes[0]
    assert [text.get_text() for text in axes.texts] == [
        "phase", "game_state.players.stack", "game_state.pot = 2", "game_state.history",
    ]  # fmt: skip
    drawn = [mesh.get_array() for mesh in axes.collections]
    assert [cells.shape for cells in drawn] == [(1, 3), (1, 2), (1, 1), (2, 2)]  # the first axis runs downwards
    assert np.concatenate([cells.ravel() for cells in drawn]).tolist() == flat.tolist()
    with pytest.raises(ValueError, match=r"\(9,\)"):
        chart(LAYOUT, flat[:9])


def test_slices_are_found_by_path_and_by_place():
    assert LAYOUT[0] is LAYOUT["phase"] is LAYOUT.slices[0]
    assert LAYOUT[-1].path == "game_state.history"
    assert len(LAYOUT) == 4 and list(LAYOUT) == list(LAYOUT.slices)
    with pytest.raises(KeyError, match=r"game_state\.pots.*did you mean 'game_state\.pot'"):
        LAYOUT["game_state.pots"]
    with pytest.raises(IndexError):
        LAYOUT[4]


@pytest.mark.parametrize("axes", [(("one", "two"),), ("move", "move")])
def test_axes_must_fit_the_shape(axes):
    with pytest.raises(ValueError, match=r"'a': axes .* do not fit the shape \(3,\)"):
        Layout([Slice("a", (3,), 0, 1, "", axes=axes)])


def test_every_number_of_every_observation_has_a_name_of_its_own(game):
    for encoder in game.encoders.values():
        for part in encoder.layout:
            names = [encoder.layout.at(index).name for index in range(part.start, part.stop)]
            assert len(set(names)) == len(names), part.path
            assert not any(name.replace(", ", "").isdecimal() for name in names), part.path
