"""The bots: how good they are, and that they see no more than they should."""

import numpy as np
import pytest
from parlour import envs
from parlour.envs import Action, GameEnv
from parlour.envs.core.vector import VectorGame
from parlour.envs.tangram.rules import FIGURES
from parlour.wrappers.policies.loading import make_policy


def played(game, bots, episodes, seed=0):
    """Play one episode on each of so many boards; return each one's IoU and whether it was solved."""
    tables = VectorGame(game, episodes)
    tables.reset(seed=seed)
    policies = [make_policy(bot, game, seed=i) for i, bot in enumerate(bots)]
    iou, open_ = np.zeros(episodes), np.ones(episodes, bool)
    while open_.any():
        actions = np.full(episodes, -1)
        for seat, policy in enumerate(policies):
            rows = np.flatnonzero(open_ & (tables.turn == seat))
            if rows.size:
                actions[rows] = policy.act(tables.observations[rows], tables.action_masks[rows])
        before = tables.tables.copy()
        tables.step(actions)
        for row in np.flatnonzero(tables.dones & open_):
            game.rules.play(before[row], int(actions[row]))
            iou[row] = before[row].iou
        open_ &= ~tables.dones
    return iou, iou >= 0.95


@pytest.mark.parametrize("aspect", ["square", "godot"])
def test_the_solver_solves_the_whole_library(aspect):
    game = envs.game("tangram", figure="library", split=None, aspect=aspect, turns=7, plays=1)
    solver = make_policy("solver", game)
    tables = VectorGame(game, len(FIGURES))
    for number in range(len(FIGURES)):
        tables.tables[number].first_figure, tables.tables[number].figures = number, 1
    records = tables.tables.copy()
    done = np.zeros(len(FIGURES), bool)
    tables.reset(seed=0)
    tables.tables[:] = records
    tables.game.loops().reset(tables.tables.view(np.ndarray), tables._batch, False)
    for _ in range(7):
        tables.step(solver.act(tables.observations, tables.action_masks))
        done |= tables.dones & (tables.rewards[:, 0] > 1)
    assert done.all(), [FIGURES[i].name for i in np.flatnonzero(~done)]


def test_the_solver_mostly_solves_what_somebody_began_wrong():
    game = envs.game("tangram", figure="library", split=None, turns=30)
    solver, generator = make_policy("solver", game), np.random.default_rng(2)
    reached = []
    for seed in range(10):
        env = GameEnv(game, "flat")
        env.reset(seed=seed)
        x, y = generator.uniform(35, 65, 2).tolist()
        wrong = {"shape": "Brown", "position": [x, y], "rotation": float(generator.choice([17, 45, 90]))}
        for action in (Action("play", wrong), Action("finish")):
            assert env.submit(env.agent_selection, action).ok
        assert env.table.on_board.any()
        while env.agents and not env.table.done:
            seen = env.observe(env.agent_selection)
            env.step(int(solver.act(seen["observation"][None], seen["action_mask"][None])[0]))
        reached.append(float(env.table.iou))
    assert np.mean(np.array(reached) >= 0.95) >= 0.6 and np.mean(reached) > 0.8


def test_greedy_is_better_than_random_and_the_solver_is_best():
    game = envs.game("tangram", split="test")
    random, greedy, solver = (played(game, [bot, bot], 60, seed=1) for bot in ("random", "greedy", "solver"))
    assert random[0].mean() < greedy[0].mean() - 0.05
    assert solver[1].all()
