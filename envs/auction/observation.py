"""What a bidder sees, as slices of one flat float32 vector. Seats are counted from the observer: 0 is itself.

Money is observed as a share of the highest valuation that any seat can have.
"""

from typing import Any

from ..core import talk
from ..core.compiled import compiled
from ..core.layout import Layout, Slice
from ..core.talk import observe_talk


def layout(bidders: int, most: float, talks: bool) -> Layout:
    """Return the slices for `bidders` seats; `most`: the highest bid, as a share of the highest valuation."""
    return Layout(
        [
            Slice("agent_id", (bidders,), 0, 1, "own seat, one-hot: distributions may differ by seat"),
            Slice("phase", (1,), 0, 1, "always 1: auction"),
            Slice("is_my_turn", (1,), 0, 1, "whether the observer decides next"),
            Slice("current_turn_agent_id", (bidders,), 0, 1, "one-hot by relative seat; all 0 when it is over"),
            Slice("game_state.my_valuation", (1,), 0, 1, "what the good is worth to the observer"),
            Slice("game_state.my_bid", (2,), 0, max(most, 1), "whether there is one, and its amount"),
            Slice("game_state.opponents_with_bid", (bidders - 1,), 0, 1, "by relative seat, from 1"),
            Slice("game_state.action_history.rounds_left", (1,), 0, 1, "share of the rounds, this one included"),
            *(talk.slices(bidders) if talks else ()),
            Slice("game_over", (1,), 0, 1, "whether the auction is over"),
            Slice("outcome.payoffs", (bidders,), -most, 1, "utilities by relative seat"),
            Slice("outcome.winner", (bidders,), 0, 1, "one-hot by relative seat; all 0 without one"),
        ]
    )


@compiled
def observe(table: Any, seat: int, out: Any) -> None:
    """Write what `seat` may know into `out` (float32[layout.size]), in the layout's order."""
    bidders = table.num_bidders
    out[:] = 0
    out[seat] = 1
    k = bidders
    out[k] = 1
    if table.turn >= 0:
        out[k + 1] = table.turn == seat
        out[k + 2 + _relative(table.turn, seat, bidders)] = 1
    k += 2 + bidders
    out[k] = table.valuation[seat] * table.per_money
    out[k + 1] = table.bid_round[seat] > 0
    out[k + 2] = table.bid[seat] * table.per_money
    k += 2
    if table.num_bids_submitted > 0:
        for other in range(bidders):
            if other != seat:
                out[k + _relative(other, seat, bidders)] = table.bid_round[other] > 0
    k += bidders
    out[k] = (table.rounds - table.round_number + 1) * table.per_round
    k += 1
    if table.talk:
        observe_talk(table, bidders, seat, out, k)
        k += 5 * bidders
    if table.done:
        out[k] = 1
        for other in range(bidders):
            out[k + 1 + _relative(other, seat, bidders)] = table.rewards[other] * table.per_money
        if table.winner >= 0:
            out[k + 1 + bidders + _relative(table.winner, seat, bidders)] = 1


@compiled
def _relative(other: int, seat: int, bidders: int) -> int:
    """Count seats from `seat` onwards. (A remainder would do; division is slow.)"""
    away = other - seat
    return away + bidders if away < 0 else away
