"""TurnState of a board (TangramCollaborativeAI, Platform Playing Messages), and back into a record."""

from copy import deepcopy

import pytest
from parlour import envs
from parlour.envs import Action


def board(**options):
    """One piece finished, another one played on it."""
    env = envs.make("tangram", **{"figure": "A house", **options})
    env.reset(seed=0)
    assert env.submit("player_0", Action("play", {"shape": "Red", "position": [50, 60], "rotation": 90})).ok
    assert env.submit("player_0", Action("finish")).ok
    assert env.submit("player_1", Action("play", {"shape": "Blue", "position": [53, 60], "rotation": 0})).ok
    return env


# Back into a record.


def loaded(state, **options):
    game = envs.game("tangram", **{"figure": "A house", **options})
    tables, seat = game.view.load(state)
    return game, tables[0], seat


def test_the_documents_fields_alone_are_enough():
    state = board().turn_state("player_1")
    state.game_state = {name: state.game_state[name] for name in ("objective", "on_board", "off_board")}
    for piece in state.game_state["on_board"].values():
        del piece["vertices"], piece["collisions"]
    game, table, seat = loaded(state, figure="random")
    assert (
        game.turn_state(table, seat).game_state["silhouette"] == board().turn_state("player_1").game_state["silhouette"]
    )
    assert (int(table.turn_number), int(table.moved), int(table.passes)) == (1, -1, 0)
    assert game.mask(table, seat).any()


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        (lambda game: game["on_board"].update(Pink=game["on_board"].pop("Red")), ValueError, "'Pink' is not a piece"),
        (lambda game: game.update(objective="A thing") or game.pop("silhouette"), ValueError, "has no silhouette"),
        (lambda game: game.update(silhouette=[[[1, 2]] * 40]), ValueError, "40 vertices"),
    ],
)
def test_what_cannot_be_loaded_is_said(change, error, said):
    state = deepcopy(board().turn_state("player_1"))
    change(state.game_state)
    with pytest.raises(error, match=said):
        loaded(state, figure="random")
