"""The teacher: its figures, its plans, and what it says where a player has left them."""

import numpy as np
from parlour.envs import game as make
from parlour.envs import play_until_done
from parlour.envs.core.rollout import tables_with_seed
from parlour.envs.tangram.bots import advise_batch, begin_batch, search
from parlour.envs.tangram.geometry import covered_area
from parlour.envs.tangram.lattice import AREAS, CORNERS
from parlour.envs.tangram.table import PLACES, SOLVED

GAME = make("tangram")
COUNT = 64


def begun(seed):
    tables, plans = tables_with_seed(GAME, COUNT, seed), np.zeros((COUNT, 7, 4, 2))
    begin_batch(tables.view(np.ndarray), plans)
    return tables, plans


def advice(tables, plans):
    actions = np.full(COUNT, -1)
    advise_batch(tables.view(np.ndarray), plans, GAME.tables(8).view(np.ndarray), actions)
    return np.where(tables.done, -1, actions)


def follow(tables, plans):
    while not tables.done.all():
        for table, action in zip(tables, advice(tables, plans), strict=True):
            if action >= 0:
                assert GAME.mask(table, int(table.turn))[action]
                GAME.rules.play(table, int(action))


def test_a_plan_fills_its_figure():
    tables, plans = begun(1)
    for table, plan in zip(tables, plans, strict=True):
        inside = [covered_area(shape[: CORNERS[piece]], table.outline, table.ends) for piece, shape in enumerate(plan)]
        np.testing.assert_allclose(inside, AREAS * table.scale.prod(), rtol=1e-9)


def test_who_follows_the_teacher_solves_every_figure_in_seven_turns():
    tables, plans = begun(2)
    follow(tables, plans)
    assert (tables.iou >= SOLVED).all()
    assert (tables.turn_number == 7).all()


def test_it_finds_another_solution_where_a_player_has_left_its_own():
    """After two turns at random, every figure that still has a solution is solved without a skipped turn."""
    tables, plans = begun(5)
    random = np.random.default_rng(3)
    for _turn in range(2):
        for table in tables:
            open_ = np.flatnonzero(GAME.mask(table, int(table.turn))[:PLACES])
            GAME.rules.play(table, int(random.choice(open_)))
            GAME.rules.play(table, PLACES)
    boards = GAME.tables(8).view(np.ndarray)
    solvable = np.zeros(COUNT, bool)
    for i, table in enumerate(tables.view(np.ndarray)):
        boards[0] = table
        solvable[i] = search(boards, 10_000)[0] >= 0
    left = [any(not _among(shape, plan) for piece, shape in enumerate(table.vertices) if table.on_board[piece])
            for table, plan in zip(tables, plans, strict=True)]  # fmt: skip
    assert (solvable & left).any()
    assert (~solvable).any()
    follow(tables, plans)
    assert (tables.iou[solvable] >= SOLVED).all()
    assert (tables.turn_number[solvable] == 7).all()


def _among(shape, plan):
    middles = plan.mean(1)
    return np.abs(middles - shape.mean(0)).max(1).min() < 0.05


def test_it_puts_some_figures_right_that_are_lost():
    tables, plans = begun(4)
    greedy = GAME.bots["greedy"](GAME)
    play_until_done(GAME, [greedy], tables, begin=False, steps=6)
    dead = ~tables.done & (tables.dead > 0)
    assert dead.any()
    follow(tables, plans)
    assert (tables.iou[dead] >= SOLVED).mean() > 0.3
