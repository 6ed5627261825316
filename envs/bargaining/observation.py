"""What a negotiator sees, as slices of one flat float32 vector. Seats are counted from the observer: 0 is itself.

Amounts are observed as shares of the total.
"""

from typing import Any

from ..core import talk
from ..core.compiled import compiled
from ..core.layout import Layout, Slice
from ..core.talk import observe_talk
from .table import OFFER

LAST = 4
"""Moves of the history that are observed."""


def layout(public: bool, talks: bool) -> Layout:
    """Return the slices; with `public` reservation values the opponent's is among them."""
    opponent = Slice("game_state.opponent_reservation_value", (1,), 0, 1, "the other's")
    return Layout(
        [
            Slice("agent_id", (1,), 0, 1, "1: the observer is player_0, who moves first"),
            Slice("phase", (1,), 0, 1, "always 1: negotiation"),
            Slice("is_my_turn", (1,), 0, 1, "whether the observer decides next"),
            Slice("current_turn_agent_id", (2,), 0, 1, "one-hot by relative seat; all 0 when it is over"),
            Slice("game_state.current_offer", (1,), 0, 1, "what the observer would get; 0 if no offer stands"),
            Slice("game_state.last_offer_by", (2,), 0, 1, "of the standing offer, one-hot by relative seat"),
            Slice("game_state.my_reservation_value", (1,), 0, 1, "the observer's own"),
            *((opponent,) if public else ()),
            Slice("game_state.action_history.moves_left", (1,), 0, 1, "share of all moves, this one included"),
            Slice(
                "game_state.action_history.last",
                (LAST, 3),
                0,
                1,
                f"the last {LAST} moves, newest first: whether it was an offer, what the observer would have got, "
                "whether it was a rejection or a pass",
            ),
            *(talk.slices(2) if talks else ()),
            Slice("game_over", (1,), 0, 1, "whether the negotiation is over"),
            Slice("outcome.payoffs", (2,), -1, 1, "utilities by relative seat"),
        ]
    )


@compiled
def observe(table: Any, seat: int, out: Any) -> None:
    """Write what `seat` may know into `out` (float32[layout.size]), in the layout's order."""
    other = 1 - seat
    out[:] = 0
    out[0] = other
    out[1] = 1
    out[2] = table.turn == seat
    out[3] = table.turn == seat
    out[4] = table.turn == other
    if table.last_offer_by >= 0:
        mine = table.last_offer_by == seat
        out[5] = _received(table, table.current_offer, mine)
        out[6] = mine
        out[7] = not mine
    out[8] = table.my_reservation_value[seat] * table.per_total
    k = 9
    if table.public:
        out[k] = table.my_reservation_value[other] * table.per_total
        k += 1
    out[k] = (2 * table.rounds - table.moves) * table.per_move
    k += 1
    for age in range(min(LAST, table.moves)):
        move = table.moves - 1 - age
        if table.log_kind[move] == OFFER:
            out[k + 3 * age] = 1
            out[k + 3 * age + 1] = _received(table, table.log_share[move], move & 1 == seat)
        else:
            out[k + 3 * age + 2] = 1
    k += 3 * LAST
    if table.talk:
        observe_talk(table, 2, seat, out, k)
        k += 10
    if table.done:
        out[k] = 1
        out[k + 1] = table.rewards[seat] * table.per_total
        out[k + 2] = table.rewards[other] * table.per_total


@compiled
def _received(table: Any, share: float, mine: bool) -> float:
    """Return the observer's part of the pie when the proposer gets `share`."""
    return (share if mine else table.total - share) * table.per_total
