"""Planning before acting: a beam search with the environment's own step."""

import time

import numpy as np
import pytest
from parlour import envs
from parlour.envs.core.rng import streams
from parlour.envs.tangram.bots import TangramPlanning
from parlour.envs.tangram.corners import measure, survey
from parlour.envs.tangram.rules import lift, put
from parlour.envs.tangram.table import SOLVED
from parlour.training.evaluation.games.tangram import SETS, built
from parlour.wrappers.agents.search import SearchAgent, SearchPolicy
from parlour.wrappers.policies.loading import make_policy

GAME = envs.game("tangram", split="test")


def searching(game, guide="greedy", **settings):
    return SearchPolicy(game, make_policy(guide, game, seed=1), TangramPlanning(game), **settings)


def spoilt(count, seed):
    """Return boards of test figures on which one piece lies anywhere, colliding with nothing."""
    tables, draw = GAME.tables(count), np.random.default_rng(seed)
    tables.stream = streams(seed, count)
    for table in tables:
        GAME.rules.reset(table)
        piece = int(draw.integers(7))
        put(table, piece, *draw.uniform(20, 80, 2).tolist(), float(draw.choice([0, 45, 90, 17])))
        while table.hits[piece]:
            lift(table, piece)
            put(table, piece, *draw.uniform(20, 80, 2).tolist(), float(draw.choice([0, 45, 90, 17])))
        measure(table)
        survey(table)
    return tables


@pytest.mark.parametrize("name", SETS)
def test_every_held_out_figure_is_solved(name):
    game = envs.game("tangram", **SETS[name])
    found = built(game, searching(game), games=31)
    assert found["solved"].mean == 1
    assert found["turns"] == 7


def test_a_board_with_a_stray_piece_is_mended_and_solved():
    agent = SearchAgent(GAME, make_policy("greedy", GAME, seed=1), TangramPlanning(GAME))
    tables = spoilt(40, seed=3)
    for table in tables:
        while not table.done:
            answer = agent.respond(GAME.turn_state(table, int(table.turn)))
            GAME.rules.step(table, GAME.view.parse(table, answer.action))
    assert (tables.iou >= SOLVED).mean() >= 0.95


def test_a_search_ends_when_its_time_is_over():
    tables = spoilt(12, seed=6)
    agent = SearchAgent(GAME, make_policy("greedy", GAME, seed=1), TangramPlanning(GAME), seconds=0.02)
    agent.warm_up()
    for table in tables:
        began = time.monotonic()
        agent.respond(GAME.turn_state(table, int(table.turn)))
        assert time.monotonic() - began < 1.0  # a depth is looked at once more, and this machine may be busy
