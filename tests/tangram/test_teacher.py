"""The teacher: its figures, its plans, and what it says where a player has left them."""

import numpy as np
from parlour.envs import game as make
from parlour.envs.core.rollout import tables_with_seed
from parlour.envs.tangram.bots import advise_batch, begin_batch
from parlour.envs.tangram.table import SOLVED

GAME = make("tangram")
COUNT = 64


def test_who_follows_the_teacher_solves_every_figure_in_seven_turns():
    tables, plans = tables_with_seed(GAME, COUNT, 2), np.zeros((COUNT, 7, 4, 2))
    begin_batch(tables.view(np.ndarray), plans)
    while not tables.done.all():
        actions = np.full(COUNT, -1)
        advise_batch(tables.view(np.ndarray), plans, GAME.tables(8).view(np.ndarray), actions)
        for table, action in zip(tables, np.where(tables.done, -1, actions), strict=True):
            if action >= 0:
                assert GAME.mask(table, int(table.turn))[action]
                GAME.rules.play(table, int(action))
    assert (tables.iou >= SOLVED).all()
    assert (tables.turn_number == 7).all()
