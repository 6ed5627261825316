"""Payloads, the grid, and what is refused."""

import numpy as np
import pytest
from beginnings import episode
from hypothesis import given
from hypothesis import strategies as st
from parlour import envs
from parlour.envs import Action
from parlour.envs.tangram.lattice import PIECES
from parlour.envs.tangram.rules import Placement
from parlour.envs.tangram.table import PLAY

GAME = envs.game("tangram", figure="A square", plays=2)


def fresh(**modes):
    return episode(GAME, **modes, seed=0)


def piece(**changes):
    return Action("play", {"shape": "Red", "position": [50, 50], "rotation": 45, **changes})


@pytest.mark.parametrize(
    ("action", "code", "said"),
    [
        (piece(shape="red"), "invalid_payload", "'red' is none of Red, Cream"),
        (piece(position=[50, 100.5]), "invalid_payload", "(50.0, 100.5) is off the board: both numbers are 0 to 100"),
        (piece(rotation=1e10), "invalid_payload", "10000000000.0 is not allowed"),
        (Action("play"), "invalid_payload", "play needs {'shape': name, 'position': [x, y], 'rotation': degrees}"),
        (Action("finish", {"now": 1}), "invalid_payload", "finish takes no payload"),
        (Action("Finish"), "invalid_action_type", "'Finish' is not an action here: play, finish, message_only"),
    ],
)  # fmt: skip
def test_a_bad_payload_is_refused_and_changes_nothing(action, code, said):
    env = fresh()
    before = env.state().tobytes()
    result = env.submit("player_0", action)
    assert (result.ok, result.error) == (False, code)
    assert said in result.error_detail
    assert env.state().tobytes() == before


@given(x=st.floats(0, 100), y=st.floats(0, 100), rotation=st.floats(-1e9, 1e9), shape=st.sampled_from(PIECES))
def test_any_pose_with_its_centre_on_the_board_is_played_exactly(x, y, rotation, shape):
    env = fresh()
    assert env.submit("player_0", piece(shape=shape, position=[x, y], rotation=rotation)).ok
    shown = env.turn_state("player_0").game_state["on_board"][shape]
    assert shown["position"] == [x, y]
    assert 0 <= shown["rotation"] < 360
    off = (shown["rotation"] - rotation) % 360
    assert min(off, 360 - off) < 1e-6
    low, high = np.min(shown["vertices"]), np.max(shown["vertices"])
    assert ("BOUNDARY" in shown["collisions"]) == (low < -0.01 or high > 100.01)


def test_nearest_stays_with_the_piece_and_prefers_what_is_open():
    env = fresh()
    for number in np.flatnonzero(env.observe("player_0")["action_mask"]):
        move = GAME.rules.decode(env.table, int(number))
        assert GAME.view.nearest(env.table, move) == number
        if move.kind == PLAY:
            near = move._replace(x=min(100.0, move.x + 0.3), rotation=(move.rotation + 5) % 360)
            assert GAME.view.nearest(env.table, near) == number
    blue = GAME.view.nearest(env.table, Placement(PLAY, PIECES.index("Blue"), 90.0, 90.0, 10.0))
    assert GAME.rules.decode(env.table, blue).piece == PIECES.index("Blue")


# The grid.


def test_the_grid_plays_a_game():
    env = fresh(action="grid", observation="flat")
    space = env.action_space("player_0")
    space.seed(1)
    assert space.nvec.tolist() == [8, 51, 51, 8]
    while env.agents:
        observation, _, terminated, truncated, _ = env.last()
        assert env.observation_space(env.agent_selection).contains(observation)
        env.step(None if terminated or truncated else space.sample(observation["action_mask"]))
    assert env.table.done


def test_a_choice_on_the_grid_is_piece_column_row_and_eighths():
    env = fresh(action="grid")
    env.step([4, 25, 26, 3])
    shown = env.turn_state("player_0").game_state["on_board"]
    assert (shown["Blue"]["position"], shown["Blue"]["rotation"]) == ([50, 52], 135)
    assert env.agent_selection == "player_0"
    env.step(np.array([7, 25, 25, 0]))
    assert env.agent_selection == "player_1"
    assert env.table.moved == -1


def test_the_grid_is_open_where_the_figure_reaches():
    env = fresh(action="grid")
    pieces, columns, rows, rotations = env.observe("player_0")["action_mask"]
    assert pieces.all()
    assert rotations.all()
    left, right = env.table.outline[: env.table.ends[-1], 0].min(), env.table.outline[: env.table.ends[-1], 0].max()
    assert np.array_equal(columns, [left - 1 <= 2 * column <= right + 1 for column in range(51)])
    assert 0 < rows.sum() < 51
    assert not any(mask.any() for mask in env.observe("player_1")["action_mask"])


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ([0, 0, 25, 0], "0 is none of"),
        ([0, 25, 25, -1], "-1 is none of"),
        ([0.5, 25, 25, 0], "4 whole numbers"),
        (None, "4 whole numbers"),
    ],
)
def test_a_bad_choice_on_the_grid_is_refused_and_changes_nothing(action, said):
    env = fresh(action="grid")
    before = env.state().tobytes()
    with pytest.raises(ValueError, match=said):
        env.step(action)
    assert env.state().tobytes() == before
