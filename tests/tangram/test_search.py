"""Planning before acting: a beam search with the environment's own step."""

import time

import numpy as np
import pytest
from figures import spoilt
from parlour import envs
from parlour.envs.tangram.bots import TangramPlanning
from parlour.envs.tangram.table import SOLVED
from parlour.training.evaluation.games.tangram import SETS, built
from parlour.wrappers.agents.policy import SearchAgent, SearchPolicy
from parlour.wrappers.policies.loading import make_policy

GAME = envs.game("tangram", split="test")


@pytest.mark.parametrize("name", SETS)
def test_every_held_out_figure_is_solved(name):
    game = envs.game("tangram", **SETS[name])
    policy = SearchPolicy(game, make_policy("greedy", game, seed=1), TangramPlanning(game))
    found = built(game, policy, games=31)
    assert found["solved"].mean == 1
    assert found["turns"] == 7


def test_a_board_with_a_stray_piece_is_mended_and_solved():
    agent = SearchAgent(GAME, make_policy("greedy", GAME, seed=1), TangramPlanning(GAME))
    tables = [spoilt(GAME, seed, 1) for seed in range(40)]
    for table in tables:
        while not table.done:
            answer = agent.respond(GAME.turn_state(table, int(table.turn)))
            GAME.rules.step(table, GAME.view.parse(table, answer.action))
    assert np.mean([table.iou >= SOLVED for table in tables]) >= 0.95


def test_a_search_ends_when_its_time_is_over():
    agent = SearchAgent(GAME, make_policy("greedy", GAME, seed=1), TangramPlanning(GAME), seconds=0.02)
    agent.warm_up()
    for table in (spoilt(GAME, seed, 1) for seed in range(12)):
        began = time.monotonic()
        agent.respond(GAME.turn_state(table, int(table.turn)))
        assert time.monotonic() - began < 1.0  # a depth is looked at once more, and this machine may be busy
