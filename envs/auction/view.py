"""Record ──► TurnState of a bidder, and back. `game_state` and `outcome` are those of the TurnState platforms."""

from typing import Annotated, Any

import numpy as np
from msgspec import UNSET, Struct, UnsetType

from ..core.game_state import GameState, about
from ..core.structured_talk import LIMIT
from .rules import cents, draw_valuation
from .table import COMMON, PRIVATE, VALUES


class Move(Struct):
    """A move, without its amount."""

    agent_id: str
    action: Annotated[str, about("submit_bid or pass")]
    round: Annotated[int, about("from 1")]


class AuctionState(GameState, kw_only=True):
    """The auction as a seat sees it. Options that the platforms do not have are left out where they are as usual."""

    my_valuation: Annotated[float | UnsetType, about("what the object is worth to the seat")] = UNSET
    my_bid: float | UnsetType | None = UNSET
    opponents_with_bid: list[str] | UnsetType = UNSET
    opponent_has_bid: bool | UnsetType = UNSET
    num_bidders: int
    num_bids_submitted: int
    action_history: list[Move]
    reserve_price: float | UnsetType = UNSET
    entry_fee: float | UnsetType = UNSET
    units: int | UnsetType = UNSET
    values: str | UnsetType = UNSET
    noise: float | UnsetType = UNSET
    risk_aversion: float | UnsetType = UNSET
    messages_left: Annotated[int | UnsetType, about("with talk: what the acting seat may still send")] = UNSET


def phase(table: Any) -> str:
    """Return the name of the only phase."""
    return "auction"


def public(table: Any) -> AuctionState:
    """Return the public view of the auction: who has bid, without amounts, and the options that are not as usual."""
    return AuctionState(
        num_bidders=int(table.num_bidders),
        num_bids_submitted=int(table.num_bids_submitted),
        action_history=_history(table),
        **unusual(table),
    )


def unusual(table: Any) -> dict[str, Any]:
    """Return the options that the platforms do not have, where they are not as usual."""
    told: dict[str, Any] = {}
    if table.reserve > 0:
        told["reserve_price"] = float(table.reserve)
    if table.entry_fee > 0:
        told["entry_fee"] = float(table.entry_fee)
    if table.units > 1:
        told["units"] = int(table.units)
    if table.values != PRIVATE:
        told["values"] = VALUES[int(table.values)]
    if table.noise > 0:
        told["noise"] = float(table.noise)
    if table.risk_aversion > 0:
        told["risk_aversion"] = float(table.risk_aversion)
    return told


def game_state(table: Any, seat: int) -> AuctionState:
    """Return the auction as `seat` may see it."""
    bidders = int(table.num_bidders)
    rounds = table.bid_round[:bidders].tolist()
    others = [_name(other) for other in range(bidders) if other != seat and rounds[other] > 0]
    seen = public(table)
    seen.my_valuation = float(table.valuation[seat])
    seen.my_bid = float(table.bid[seat]) if rounds[seat] > 0 else None
    seen.opponents_with_bid, seen.opponent_has_bid = others, bool(others)
    if table.talk:
        seen.messages_left = LIMIT - int(table.spoken) if seat == table.turn else LIMIT
    return seen


def _name(seat: int) -> str:
    return f"player_{seat}"


def _history(table: Any) -> list[Move]:
    """Return every action so far, without amounts. A seat has one turn per round until it bids."""
    entries = []
    last, turn, done = int(table.round_number), int(table.turn), bool(table.done)
    rounds = table.bid_round[: table.num_bidders].tolist()
    for round_ in range(1, last + 1):
        for seat, bid_round in enumerate(rounds):
            acted = round_ < last or done or seat < turn
            if bid_round == round_:
                entries.append(Move(_name(seat), "submit_bid", round_))
            elif bid_round > round_ or (bid_round == 0 and acted):
                entries.append(Move(_name(seat), "pass", round_))
    return entries


def outcome(table: Any, seat: int) -> dict[str, Any]:
    """Return the outcome of the auction: every seat's utility, the reason, the winner's id; of several units, all
    winners' too."""
    bidders, resolved = int(table.num_bidders), bool(table.winner >= 0)
    unsold = "no_sale" if table.num_bids_submitted == bidders else "max_rounds_exceeded"
    told: dict[str, Any] = {
        "payoffs": [{"agent_id": _name(i), "utility": float(table.rewards[i])} for i in range(bidders)],
        "reason": "auction_resolved" if resolved else unsold,
        "winner": _name(int(table.winner)) if resolved else None,
    }
    if table.units > 1:
        told["winners"] = [_name(i) for i in range(bidders) if table.won[i]]
    return told


def resample(table: Any, seat: int, generator: np.random.Generator) -> None:
    """Draw the other seats' valuations and bids again, in place, and the stream; a hidden centre, too."""
    table.stream = generator.integers(0, 2**64, dtype=np.uint64)
    if table.values >= COMMON:
        table.centre = _centre(table, seat, generator)
    for other in range(int(table.num_bidders)):
        if other != seat:
            table.valuation[other] = draw_valuation(table, other)
            if table.bid_round[other] > 0:
                table.bid[other] = table.bid_step * generator.integers(int(table.bids))


def _centre(table: Any, seat: int, generator: np.random.Generator) -> float:
    """Draw the centre given the seat's valuation: from its distribution within the noise of the valuation."""
    quantiles = table.quantiles[: int(table.points[0])]
    chances = np.linspace(0, 1, len(quantiles))
    own, noise = float(table.valuation[seat]), float(table.noise)
    low, high = np.interp([own - noise, own + noise], quantiles, chances)
    return float(cents(np.interp(generator.uniform(low, high), chances, quantiles)))
