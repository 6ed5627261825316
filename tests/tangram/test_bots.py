"""The bots: how good they are, and that they see no more than they should."""

import numpy as np
import pytest
from parlour import envs
from parlour.envs import Action, GameEnv
from parlour.envs.tangram.rules import FIGURES
from parlour.training.evaluation.games.tangram import built
from parlour.wrappers.policies.loading import make_policy


@pytest.mark.parametrize("aspect", ["square", "godot"])
def test_the_solver_solves_the_whole_library(aspect):
    game = envs.game("tangram", figure="library", split=None, aspect=aspect, turns=7, plays=1)
    assert built(game, make_policy("solver", game), games=len(FIGURES))["solved"].mean == 1


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
    random, greedy, solver = (
        built(game, make_policy(bot, game, seed=1), games=60, seed=1) for bot in ("random", "greedy", "solver")
    )
    assert random["iou"].mean < greedy["iou"].mean - 0.05
    assert solver["solved"].mean == 1
