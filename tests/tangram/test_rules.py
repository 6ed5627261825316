"""Turns, collisions, rewards and ends by named situation."""

import pytest
from beginnings import episode
from figures import drawn
from parlour import envs
from parlour.envs import Action
from parlour.envs.tangram.lattice import PIECES
from parlour.envs.tangram.silhouettes import library, text_of
from parlour.envs.tangram.table import BONUS, SKIP


def tangram(**options):
    return episode("tangram", **{"figure": "A square", "seats": 2, **options}, seed=0)


def play(env, shape, x, y, rotation=0):
    assert env.submit(
        env.agent_selection, Action("play", {"shape": shape, "position": [x, y], "rotation": rotation})
    ).ok


def finish(env):
    assert env.submit(env.agent_selection, Action("finish")).ok
    return env.rewards["player_0"]


def on_board(env):
    state = env.turn_state("player_0").game_state
    return {name: (*piece["position"], piece["rotation"]) for name, piece in state["on_board"].items()}


def solution(figure="A square"):
    poses = library()[figure].poses()
    return {name: tuple(pose.tolist()) for name, pose in zip(PIECES, poses, strict=True)}


def test_naming_another_piece_puts_the_earlier_one_back_where_it_was():
    env = tangram()
    play(env, "Red", 30, 30)
    finish(env)
    play(env, "Red", 70, 70, 45)
    play(env, "Red", 72, 70, 45)
    play(env, "Blue", 60, 20)
    assert on_board(env) == {"Red": (30, 30, 0), "Blue": (60, 20, 0)}
    finish(env)
    assert on_board(env) == {"Red": (30, 30, 0), "Blue": (60, 20, 0)}


@pytest.mark.parametrize("where", [(32, 30), (1, 50)], ids=["a piece", "the boundary"])
def test_finishing_on_a_collision_undoes_the_move_and_skips_the_turn(where):
    env = tangram()
    play(env, "Red", 30, 30)
    finish(env)
    play(env, "Blue", *where)
    assert finish(env) == -SKIP
    assert on_board(env) == {"Red": (30, 30, 0)}
    play(env, "Blue", 70, 70)
    finish(env)
    play(env, "Blue", *where)
    assert finish(env) == -SKIP
    assert on_board(env) == {"Red": (30, 30, 0), "Blue": (70, 70, 0)}


def test_the_last_play_of_a_turn_finishes_it():
    env = tangram(plays=2)
    play(env, "Red", 30, 30)
    play(env, "Red", 50, 50)
    assert env.agent_selection == "player_1"
    assert on_board(env) == {"Red": (50, 50, 0)}
    play(env, "Blue", 70, 70)
    play(env, "Blue", 50, 50)
    assert env.agent_selection == "player_0"
    assert env.rewards == {"player_0": -SKIP, "player_1": -SKIP}
    assert on_board(env) == {"Red": (50, 50, 0)}


@pytest.mark.parametrize("seats", [1, 2, 3, 4])
def test_solving_rewards_all_seats_with_the_figure_and_the_bonus_and_ends_the_game(seats):
    env = tangram(seats=seats)
    total = 0.0
    for name, pose in solution().items():
        assert not env.table.done
        play(env, name, *pose)
        total += finish(env)
        assert len(set(env.rewards.values())) == 1
    assert env.table.done
    assert total == pytest.approx(1 + BONUS)
    assert all(env.terminations.values())
    outcome = env.turn_state("player_0").outcome
    assert outcome["reason"] == "solved"
    assert outcome["iou"] == pytest.approx(1)
    assert [payoff["utility"] for payoff in outcome["payoffs"]] == [pytest.approx(1 + BONUS)] * seats


def test_a_figure_is_solved_from_an_iou_of_0_95():
    env = tangram()
    for name, (x, y, rotation) in solution().items():
        play(env, name, x + 0.6, y, rotation)  # all of them a little to the right
        finish(env)
    assert env.table.done
    assert 0.95 <= env.turn_state("player_0").game_state["iou"] < 1
    env.reset(seed=0)
    for name, (x, y, rotation) in solution().items():
        play(env, name, x + 1.5, y, rotation)
        finish(env)
    assert not env.table.done
    assert env.turn_state("player_0").game_state["iou"] < 0.95


def test_the_reward_is_the_change_of_the_iou():
    env = tangram()
    poses = solution()
    play(env, "Red", *poses["Red"])
    assert finish(env) == pytest.approx(4 / 16)
    play(env, "Purple", *poses["Purple"])
    assert finish(env) == pytest.approx(2 / 16)
    play(env, "Red", 82, 12)  # off the figure
    assert finish(env) == pytest.approx(2 / 20 - 6 / 16)


def test_after_the_last_turn_the_game_is_over_by_the_rules():
    env = tangram(turns=3)
    play(env, "Red", *solution()["Red"])
    finish(env)
    finish(env)
    assert not env.table.done
    finish(env)
    assert env.terminations == {"player_0": True, "player_1": True}
    assert env.truncations == {"player_0": False, "player_1": False}
    outcome = env.turn_state("player_1").outcome
    assert outcome["reason"] == "max_turns_exceeded"
    assert outcome["payoffs"][1]["utility"] == pytest.approx(4 / 16 - 2 * SKIP)


def test_sparse_rewards_are_one_for_a_solved_figure_and_nothing_else():
    env = tangram(sparse=True)
    rewards = [finish(env)]
    for name, pose in solution().items():
        play(env, name, *pose)
        rewards.append(finish(env))
    assert rewards == [0] * 7 + [1]


# Where figures come from.


def figures_of(count=12, **options):
    env = envs.make("tangram", **options)
    seen = []
    for seed in range(count):
        env.reset(seed=seed)
        state = env.turn_state("player_0").game_state
        seen.append((state["objective"], str(state["silhouette"])))
    return seen


@pytest.mark.parametrize("split", ["train", "validation", "test"])
def test_library_figures_are_of_the_split(split):
    for objective, _ in figures_of(figure="library", split=split):
        assert library()[objective].split == split


def test_a_figure_by_its_name_and_by_its_text_is_the_same():
    by_name = figures_of(1, figure="the house")
    by_text = figures_of(1, figure=text_of(library()["A house"]))
    assert by_name == by_text
    assert by_name[0][0] == "A house"
    own = drawn(1, seed=3)[0]
    assert figures_of(1, figure=text_of(own))[0][0] == own.name
