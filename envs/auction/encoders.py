"""The observation, version 0. Seats are relative to the observer: 0 is the observer.

Money is observed as a share of the highest valuation that any seat can see.
"""

from typing import Any

from ..core import structured_talk
from ..core.compiled import compiled, inlined
from ..core.encoder import Encoder, Layout, Slice, per_seat, relative, shares
from ..core.structured_talk import observe_talk
from .rules import COMMON
from .view import highest


def v0(table: Any) -> Encoder:
    """Return the encoder for the options of `table`."""
    bidders, talks = int(table.num_bidders), bool(table.talk)
    bid, scale = highest(table), float(table.quantiles.max() + table.noise)
    most, least = bid / scale, -(bid + float(table.entry_fee)) / scale
    winner = "one-hot by relative seat; all 0 without one"
    if table.units > 1:
        winner = "1 for each winner, by relative seat"
    layout = Layout(
        [
            shares("agent_id", (bidders,), "own seat, one-hot: distributions may differ by seat", axes=("seat",)),
            shares("phase", (1,), "always 1: auction"),
            shares("is_my_turn", (1,), "whether the observer decides next"),
            per_seat("current_turn_agent_id", bidders, "one-hot by relative seat; all 0 when it is over"),
            shares("game_state.my_valuation", (1,), "what the good is worth to the observer"),
            Slice(
                "game_state.my_bid",
                (2,),
                0,
                max(most, 1),
                "whether there is one, and its amount",
                axes=(("is there", "amount"),),
            ),
            shares(
                "game_state.opponents_with_bid",
                (bidders - 1,),
                "by relative seat, from 1",
                axes=(tuple(f"relative seat {one}" for one in range(1, bidders)),),
            ),
            shares("game_state.action_history.rounds_left", (1,), "share of the rounds, this one included"),
            *(structured_talk.slices(bidders) if talks else ()),
            shares("game_over", (1,), "whether the auction is over"),
            per_seat("outcome.payoffs", bidders, "utilities by relative seat", least, 1),
            per_seat("outcome.winner", bidders, winner),
        ]
    )
    return Encoder(layout, observe_with_talk if talks else observe)


@inlined
def observe(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write what `seat` may know into `out` (float32[layout.size])."""
    bidders = table.num_bidders
    out[:] = 0
    out[at.agent_id + seat] = 1
    out[at.phase] = 1
    if table.turn >= 0:
        out[at.is_my_turn] = table.turn == seat
        out[at.current_turn_agent_id + relative(table.turn, seat, bidders)] = 1
    out[at.my_valuation] = table.valuation[seat] * table.per_money
    out[at.my_bid] = table.bid_round[seat] > 0
    out[at.my_bid + 1] = table.bid[seat] * table.per_money
    if table.num_bids_submitted > 0:
        for other in range(bidders):
            if other != seat:
                out[at.opponents_with_bid + relative(other, seat, bidders) - 1] = table.bid_round[other] > 0
    out[at.action_history_rounds_left] = (table.rounds - table.round_number + 1) * table.per_round
    if table.done:
        out[at.game_over] = 1
        for other in range(bidders):
            place = relative(other, seat, bidders)
            out[at.outcome_payoffs + place] = table.rewards[other] * table.per_money
            out[at.outcome_winner + place] = table.won[other]


@compiled
def observe_with_talk(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write the slices of `observe`, and those of the talk."""
    observe(table, seat, at, out)
    observe_talk(table, table.num_bidders, seat, at, out)


def full(table: Any) -> Encoder:
    """Full information: the slices of version 0, and all valuations and bids."""
    bidders, most = int(table.num_bidders), highest(table) / float(table.quantiles.max() + table.noise)
    slices = [
        per_seat("hidden.valuations", bidders, "by relative seat: what the good is worth to it"),
        per_seat("hidden.bids", bidders, "by relative seat: its bid; 0 before it bids", 0, max(most, 1)),
    ]
    if table.values < COMMON:
        return v0(table).extended(slices, observe_hidden, full_information=True)
    slices.append(shares("hidden.centre", (1,), "what the valuations are drawn around"))
    return v0(table).extended(slices, observe_with_centre, full_information=True)


@inlined
def observe_hidden(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write the hidden slices."""
    for other in range(table.num_bidders):
        place = relative(other, seat, table.num_bidders)
        out[at.hidden_valuations + place] = table.valuation[other] * table.per_money
        out[at.hidden_bids + place] = table.bid[other] * table.per_money


@compiled
def observe_with_centre(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write the hidden slices, and the centre."""
    observe_hidden(table, seat, at, out)
    out[at.hidden_centre] = table.centre * table.per_money


ENCODERS = {"v0": v0, "full": full}
