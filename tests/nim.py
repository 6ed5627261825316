"""Nim: a complete game in plain Python, without hidden information. Who takes the last of 21 stones wins."""

import numpy as np
from parlour.envs import Encoder, Game, Layout, Payoffs, Rules, Slice, new_table, with_required_fields


def reset(table):
    table.heap, table.turn, table.done, table.rewards[:] = 21, 0, False, 0


def step(table, action):
    table.heap -= action + 1
    if table.heap == 0:
        table.rewards[table.turn], table.rewards[1 - table.turn] = 1, -1
        table.done, table.turn = True, -1
    else:
        table.turn = 1 - table.turn


def legal(table, mask):
    mask[:] = np.arange(1, 4) <= table.heap


def observe(table, seat, at, out):
    out[at.heap], out[at.is_my_turn] = table.heap, table.turn == seat


def game(actions=("take_1", "take_2", "take_3")):
    blank = new_table(with_required_fields(2, ("heap", "i4")))
    layout = Layout([Slice("game_state.heap", (1,), 0, 21, "stones"), Slice("is_my_turn", (1,), 0, 1, "whether")])
    return Game(
        name="nim",
        agents=("first", "second"),
        rules=Rules(blank=blank, num_actions=3, reset=reset, step=step, legal=legal),
        encoders={"v0": Encoder(layout, observe)},
        actions=actions,
        payoffs=Payoffs(-1, 1, zero_sum=True),
    )
