"""The bots, the teacher and the planner: how good they are, and that they see no more than they should."""

import time

import numpy as np
import pytest
from figures import spoilt
from parlour import envs
from parlour.envs import Action, GameEnv
from parlour.envs.core.rollout import tables_with_seed
from parlour.envs.tangram.bots import TangramPlanning, advise_batch, begin_batch, completion, useful_moves
from parlour.envs.tangram.rules import FIGURES, put
from parlour.envs.tangram.table import SOLVED
from parlour.training.evaluation.games.tangram import SETS, built
from parlour.wrappers.agents.policy import SearchAgent, SearchPolicy
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


COUNT = 64


def test_who_follows_the_teacher_solves_every_figure_in_seven_turns():
    game = envs.game("tangram")
    tables, plans = tables_with_seed(game, COUNT, 2), np.zeros((COUNT, 7, 4, 2))
    begin_batch(tables.view(np.ndarray), plans)
    while not tables.done.all():
        actions = np.full(COUNT, -1)
        advise_batch(tables.view(np.ndarray), plans, game.tables(8).view(np.ndarray), actions)
        for table, action in zip(tables, np.where(tables.done, -1, actions), strict=True):
            if action >= 0:
                assert game.mask(table, int(table.turn))[action]
                game.rules.play(table, int(action))
    assert (tables.iou >= SOLVED).all()
    assert (tables.turn_number == 7).all()


GAME = envs.game("tangram", split="test", turns=30, plays=1)


@pytest.mark.parametrize("strays", [0, 1, 2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_useful_moves_lead_to_the_solution(seed, strays):
    table = spoilt(GAME, seed, strays)
    found = completion(GAME, table)
    assert found.solved.iou >= SOLVED
    assert len(found.lifted) <= strays
    for _ in range(7 + strays):
        move = next(useful_moves(GAME, table), None)
        if move is None:
            break
        put(table, move.piece, move.x, move.y, move.rotation)
        assert not table.hits[move.piece]
        table.iou = GAME.view.load(GAME.turn_state(table, 0))[0][0].iou
    assert table.iou >= SOLVED


def test_nothing_is_found_without_steps():
    assert completion(GAME, spoilt(GAME, 1, 1), steps=1) is None


HELD_OUT = envs.game("tangram", split="test")


@pytest.mark.parametrize("name", SETS)
def test_every_held_out_figure_is_solved(name):
    game = envs.game("tangram", **SETS[name])
    policy = SearchPolicy(game, make_policy("greedy", game, seed=1), TangramPlanning(game))
    found = built(game, policy, games=31)
    assert found["solved"].mean == 1
    assert found["turns"] == 7


def test_a_board_with_a_stray_piece_is_mended_and_solved():
    agent = SearchAgent(HELD_OUT, make_policy("greedy", HELD_OUT, seed=1), TangramPlanning(HELD_OUT))
    tables = [spoilt(HELD_OUT, seed, 1) for seed in range(40)]
    for table in tables:
        while not table.done:
            answer = agent.respond(HELD_OUT.turn_state(table, int(table.turn)))
            HELD_OUT.rules.step(table, HELD_OUT.view.parse(table, answer.action))
    assert np.mean([table.iou >= SOLVED for table in tables]) >= 0.95


def test_a_search_ends_when_its_time_is_over():
    agent = SearchAgent(HELD_OUT, make_policy("greedy", HELD_OUT, seed=1), TangramPlanning(HELD_OUT), seconds=0.02)
    agent.warm_up()
    for table in (spoilt(HELD_OUT, seed, 1) for seed in range(12)):
        began = time.monotonic()
        agent.respond(HELD_OUT.turn_state(table, int(table.turn)))
        assert time.monotonic() - began < 1.0  # a depth is looked at once more, and this machine may be busy
