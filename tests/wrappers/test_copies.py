"""Copies of environments continue as the original: of the upper half here, and of all in other processes."""

from itertools import cycle

import numpy as np
import pytest
from forking import in_another_process
from parlour import envs
from parlour.envs.testing import Trial
from parlour.envs.testing import copies as environment_copies
from parlour.envs.testing.copies import SEED, Kind, continues, play, undisturbed
from parlour.wrappers.rl.gymnasium_env import SingleAgentEnv, SingleAgentVectorEnv, TablesVectorEnv
from parlour.wrappers.rl.sb3 import SB3VecEnv
from parlour.wrappers.rl.tables import SelfPlayTables, SingleAgentTables
from parlour.wrappers.text import TextGame


def reset(env):
    env.action_space.seed(SEED)
    return env.reset(seed=SEED)


def step_seat(env):
    mask = env.action_masks()
    if not mask.any():
        return env.reset(), False
    results = env.step(env.action_space.sample(mask))
    return (results, env.render()), results[2] or results[3]


def step_vector(env):
    results = env.step(env.action_space.sample(mask=tuple(env.action_masks())))
    return (results, env.render() if env.render_mode else None), bool((results[2] | results[3]).any())


def reset_sb3(env):
    env.action_space.seed(SEED)
    env.seed(SEED)
    return env.reset()


def step_sb3(env):
    actions = np.array([env.action_space.sample(mask.astype(np.int8)) for mask in env.action_masks()])
    observations, rewards, dones, infos = env.step(actions)
    for table in np.flatnonzero(dones):
        del infos[table]["episode"]["t"]  # the clock's
    return (observations, rewards, dones, infos), bool(dones.any())


def step_self_play(env):
    env.step(env.tables.sample())
    tables = env.tables
    arrays = tables.observations, tables.action_masks, tables.turn, tables.rewards, tables.dones, env.learner_acts
    return ([array.copy() for array in arrays], env.episodes, env.winnings), bool(tables.dones.any())


def step_text(game):
    turn = game.reset() if game.match.done else game.step(game._answers()[game.match.decisions % len(game._answers())])
    return vars(turn), turn.done


KINDS = {
    "gymnasium.make": Kind(lambda game: SingleAgentEnv(game, render_mode="svg"), reset, step_seat),
    "gymnasium.make_vec": Kind(lambda game: SingleAgentVectorEnv(game, 3, render_mode="ansi"), reset, step_vector),
    "TablesVectorEnv": Kind(lambda game: TablesVectorEnv(game, 3), reset, step_vector),
    "SB3VecEnv": Kind(lambda game: SB3VecEnv(SingleAgentTables(game, 3)), reset_sb3, step_sb3),
    "SelfPlayTables": Kind(
        lambda game: SelfPlayTables(game, 3, opponent_tables=1, mixed_tables=1),
        lambda env: env.reset(SEED),
        step_self_play,
    ),
    "TextGame": Kind(TextGame, lambda game: vars(game.reset(SEED)), step_text),
}


@pytest.mark.parametrize("name", KINDS)
def test_a_copy_continues_as_the_original(game_id, name):
    continues(Trial("copies", envs.game(game_id), 1), name, KINDS[name])


ALL = {**environment_copies.KINDS, **KINDS}


def rest(copies):
    """Return what the rest of the runs brings: `copies` are a name in `ALL`, an environment, and the calls to come."""
    return [play(ALL[name], env, first, stop) for name, env, first, stop in copies]


def half_played(game, name):
    expected, moments = undisturbed(game, ALL[name])
    env = ALL[name].make(game)
    play(ALL[name], env, 0, moments[-1])
    return (name, env, moments[-1], len(expected)), expected[moments[-1] :]


@pytest.mark.parametrize("name", ALL)
def test_a_forked_child_continues_as_its_parent(name):
    copy, expected = half_played(envs.game("kuhn"), name)
    assert in_another_process("fork", rest, [copy]) == [expected]
    assert rest([copy]) == [expected]


@pytest.mark.slow
def test_pickles_continue_in_another_process():
    games = [game_id for game_id in envs.GAMES if game_id != "three_cards-v0"]  # its functions are local
    runs = [half_played(envs.game(game_id), name) for game_id, name in zip(games, cycle(ALL), strict=False)]
    there = in_another_process("spawn", rest, [copy for copy, _ in runs])
    for (copy, expected), results in zip(runs, there, strict=True):
        assert results == expected, copy[0]
