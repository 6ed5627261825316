"""High card: both seats get a hidden card, and in turn fold or stay; where both stay, the higher card wins."""

from typing import Annotated

import numpy as np
from parlour import envs

FOLD, STAY = range(2)


class HighCard(envs.Options, frozen=True, kw_only=True):
    """The options of high card."""

    ranks: Annotated[int, envs.within(2, 13)] = 5
    """number of ranks, {}. Both cards may have the same one."""
    stake: Annotated[float, envs.within(1, 100)] = 4.0
    """what the lower card loses, {}. A fold loses 1."""


def begin(table):
    table.card[:], table.turn, table.done, table.rewards[:] = -1, -1, False, 0


def outcomes(table):
    return 0 if table.card[1] >= 0 else table.ranks


def deal(table, card):
    seat = int(table.card[0] >= 0)
    table.card[seat], table.turn = card, seat - 1  # the first seat acts when both have a card


def reset(table):
    begin(table)
    while outcomes(table) > 0:
        deal(table, envs.draw(table, outcomes(table)))


def step(table, action):
    seat = table.turn
    if action == STAY and seat == 0:
        table.turn = 1
        return
    won = -1.0 if action == FOLD else table.stake * np.sign(table.card[1] - table.card[0])
    table.rewards[seat], table.rewards[1 - seat] = won, -won
    table.done, table.turn = True, -1


def legal(table, mask):
    mask[:] = 1


def observe(table, seat, at, out):
    out[:] = 0
    out[at.is_my_turn], out[at.card + table.card[seat]] = table.turn == seat, 1


@envs.from_options(HighCard)
def game(given):
    """Return high card with these options."""
    blank = envs.new_table(
        envs.with_required_fields(2, ("card", "i1", 2), ("ranks", "i1"), ("stake", "f8")), turn=-1, card=-1
    )
    blank.ranks, blank.stake = given.ranks, given.stake
    card = envs.Slice("game_state.card", (given.ranks,), 0, 1, "own card, one-hot")
    layout = envs.Layout([envs.Slice("is_my_turn", (1,), 0, 1, "whether the observer decides"), card])
    return envs.Game(
        name="high_card",
        agents=("first", "second"),
        rules=envs.Rules(blank=blank, num_actions=2, reset=reset, step=step, legal=legal),
        encoders={"v0": envs.Encoder(layout, observe)},
        payoffs=envs.Payoffs(-given.stake, given.stake, zero_sum=True),
        actions=("fold", "stay"),
        hidden=("card",),
        capabilities=envs.Capabilities(chance=envs.Chance(begin=begin, step=step, outcomes=outcomes, play=deal)),
    )
