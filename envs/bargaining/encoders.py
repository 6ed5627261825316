"""The observation, version 0. Seats are relative to the observer: 0 is the observer.

Amounts are observed as shares of the total.
"""

from typing import Any

from ..core import structured_talk
from ..core.compiled import compiled, inlined
from ..core.encoder import Encoder, Layout, per_seat, shares
from ..core.structured_talk import observe_talk
from .rules import OFFER

LAST = 4
"""The number of past moves in the observation."""


def v0(table: Any) -> Encoder:
    """Return the encoder for the options of `table`; with public reservation values it shows the opponent's."""
    public, talks = bool(table.public), bool(table.talk)
    opponent = shares("game_state.opponent_reservation_value", (1,), "the opponent's")
    layout = Layout(
        [
            shares("agent_id", (1,), "1: the observer is player_0, who moves first"),
            shares("phase", (1,), "always 1: negotiation"),
            shares("is_my_turn", (1,), "whether the observer decides next"),
            per_seat("current_turn_agent_id", 2, "one-hot by relative seat; all 0 when it is over"),
            shares("game_state.current_offer", (1,), "the observer's share in the current offer; 0 without one"),
            per_seat("game_state.last_offer_by", 2, "who made the current offer, one-hot by relative seat"),
            shares("game_state.my_reservation_value", (1,), "the observer's own"),
            *((opponent,) if public else ()),
            shares("game_state.action_history.moves_left", (1,), "share of all moves, this one included"),
            shares(
                "game_state.action_history.last",
                (LAST, 3),
                f"the last {LAST} moves, newest first: whether it was an offer, the observer's share in it, "
                "whether it was a rejection or a pass",
                axes=("move", ("offer", "share", "rejection or pass")),
            ),
            *(structured_talk.slices(2) if talks else ()),
            shares("game_over", (1,), "whether the negotiation is over"),
            per_seat("outcome.payoffs", 2, "utilities by relative seat", -1, 1),
        ]
    )
    return Encoder(layout, OBSERVE[public, talks])


@inlined
def observe(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write what `seat` may know into `out` (float32[layout.size])."""
    other = 1 - seat
    out[:] = 0
    out[at.agent_id] = other
    out[at.phase] = 1
    out[at.is_my_turn] = table.turn == seat
    out[at.current_turn_agent_id] = table.turn == seat
    out[at.current_turn_agent_id + 1] = table.turn == other
    if table.last_offer_by >= 0:
        mine = table.last_offer_by == seat
        out[at.current_offer] = _received(table, table.current_offer, mine)
        out[at.last_offer_by] = mine
        out[at.last_offer_by + 1] = not mine
    out[at.my_reservation_value] = table.my_reservation_value[seat] * table.per_total
    out[at.action_history_moves_left] = (2 * table.rounds - table.moves) * table.per_move
    for age in range(min(LAST, table.moves)):
        move = table.moves - 1 - age
        k = at.action_history_last + 3 * age
        if table.log_kind[move] == OFFER:
            out[k] = 1
            out[k + 1] = _received(table, table.log_share[move], move & 1 == seat)
        else:
            out[k + 2] = 1
    if table.done:
        out[at.game_over] = 1
        out[at.outcome_payoffs] = table.rewards[seat] * table.per_total
        out[at.outcome_payoffs + 1] = table.rewards[other] * table.per_total


@compiled
def _received(table: Any, share: float, mine: bool) -> float:
    """Return the observer's part of the pie when the proposer gets `share`."""
    return (share if mine else table.total - share) * table.per_total


@inlined
def _observe_public(table: Any, seat: int, at: Any, out: Any) -> None:
    observe(table, seat, at, out)
    out[at.opponent_reservation_value] = table.my_reservation_value[1 - seat] * table.per_total


@compiled
def _observe_talking(table: Any, seat: int, at: Any, out: Any) -> None:
    observe(table, seat, at, out)
    observe_talk(table, 2, seat, at, out)


@compiled
def _observe_public_talking(table: Any, seat: int, at: Any, out: Any) -> None:
    _observe_public(table, seat, at, out)
    observe_talk(table, 2, seat, at, out)


OBSERVE = {
    (False, False): observe,
    (True, False): _observe_public,
    (False, True): _observe_talking,
    (True, True): _observe_public_talking,
}
"""The `observe` functions, by whether the reservation values are public, and whether there is talk."""


def full(table: Any) -> Encoder:
    """Full information: the slices of version 0, and the opponent's reservation value."""
    slices = [shares("hidden.opponent_reservation_value", (1,), "the opponent's, as a share of the total")]
    return v0(table).extended(slices, observe_hidden, full_information=True)


@compiled
def observe_hidden(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write the hidden slice."""
    out[at.hidden_opponent_reservation_value] = table.my_reservation_value[1 - seat] * table.per_total


ENCODERS = {"v0": v0, "full": full}
