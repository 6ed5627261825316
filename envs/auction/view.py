"""Record ──► TurnState of a bidder, and back. `game_state` and `outcome` are those of the TurnState platforms."""

import math
from collections.abc import Mapping
from math import isfinite
from typing import Annotated, Any

import msgspec
import numpy as np
from gymnasium import spaces
from msgspec import UNSET, Struct, UnsetType
from numpy.typing import NDArray

from ..core import turn_state as ts
from ..core.record import Tables
from ..core.structured_talk import LIMIT, StructuredTalk, spoken
from ..core.turn_state import (
    NOTHING,
    Action,
    ActionResult,
    AgentResponse,
    AllowedAction,
    GameState,
    MessageIntent,
    MessageScope,
    TurnState,
    about,
    amount,
    fitting_size,
    moves_in,
    named_order,
    offered_size,
    own_turns_left,
    payoffs_in,
    round_of,
)
from ..core.view import ActionRange
from .rules import BID, COMMON, KINDS, PASS, TALK, VALUES, cents, decode, draw_valuation
from .rules import Move as RuleMove


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
    options = dict[str, Any]()
    for name, (field, usual) in TERMS.items():
        value = VALUES[int(table.values)] if name == "values" else type(usual)(getattr(table, name))
        if value != usual:
            options[field] = value
    return options


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
    result: dict[str, Any] = {
        "payoffs": [{"agent_id": _name(i), "utility": float(table.rewards[i])} for i in range(bidders)],
        "reason": "auction_resolved" if resolved else unsold,
        "winner": _name(int(table.winner)) if resolved else None,
    }
    if table.units > 1:
        result["winners"] = [_name(i) for i in range(bidders) if table.won[i]]
    return result


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


def load(blank: Tables, talk: StructuredTalk, state: TurnState) -> tuple[Tables, int]:
    """Rebuild the record with what the seat of `state` may know; the rest is blank.

    Agents may have any names (see `_seating`). What a host adds is left out: unknown fields, and rows of the history
    that are no moves. Rounds may count from 0 or 1, and passes may not be logged. With more bidders than the game was
    made for, the last ones are not seen (the agent itself always is); with fewer, the seats that are left over have not
    bid. Amounts of another size are seen in proportion: in the power of ten of the highest bid that is offered, or in
    which the valuation fits the game.

    Args:
        blank: a table with the options that TurnState does not have.
        talk: the words of this game.
        state: the auction's TurnState.

    Returns:
        The record (recarray of shape (1,)) and the seat in it.

    Raises:
        ValueError: naming a field that should hold a number and does not.
    """
    game = state.game_state
    tables = blank.copy().view(np.recarray)
    table = tables[0]
    history = moves_in(game.get("action_history"), KINDS[:TALK], state.phase)
    others = _others_with_bid(state)
    seats = _seating(state, int(table.num_bidders), [*others, *(row["agent_id"] for row in history)])
    seat = seats[state.agent_id]
    table.valuation[seat] = amount(game.get("my_valuation") or 0.0, "my_valuation")
    offered = offered_size(state, {KINDS[BID]: ("bid", highest(table))})
    share, step = float(table.valuation[seat] * table.per_money), float(table.bid_step * table.per_money)
    size = fitting_size(state, offered, share, step)
    for name in ("bid_step", "quantiles", "noise", "reserve", "entry_fee", "per_money"):
        table[name] *= 1 / size if name == "per_money" else size
    for agent in others:
        if agent in seats:
            table.bid_round[seats[agent]] = 1
    if game.get("my_bid") is not None:
        table.bid[seat], table.bid_round[seat] = amount(game["my_bid"], "my_bid"), 1
    origin = 0 if any(round_of(row) == 0 for row in history) else 1
    for row in history:
        if row["action"] == KINDS[BID] and row["agent_id"] in seats:
            table.bid_round[seats[row["agent_id"]]] = max(1, round_of(row) - origin + 1)
    if game.get("opponent_has_bid") and "opponents_with_bid" not in game and not table.bid_round[1 - seat]:
        table.bid_round[1 - seat] = 1  # the form for two bidders, without names
    table.num_bids_submitted = np.count_nonzero(table.bid_round)
    table.turn, table.winner = -1, -1
    latest = max((round_of(row) - origin + 1 for row in history), default=1)
    if state.game_over:
        _load_end(table, state, seats)
    else:
        acting = state.agent_id if state.is_my_turn else state.current_turn_agent_id
        table.turn = seats.get(acting or "", -1)
        # It acted once in each round before.
        latest = max(latest, 1 + sum(row["agent_id"] == acting for row in history))
        left = own_turns_left(state, int(table.num_bidders))
        if left is not None:  # the host ends the match earlier
            latest = max(latest, int(table.rounds) - left + 1)
    table.round_number = min(max(latest, 1), int(table.rounds))
    if table.talk:
        talk.load(table, seat, state.messages, seats)
        if state.is_my_turn:
            table.spoken = spoken(state.messages, state.agent_id, game.get("messages_left"))
    return tables, seat


def _others_with_bid(state: TurnState) -> list[str]:
    opponents = state.game_state.get("opponents_with_bid")
    return [name for name in opponents if isinstance(name, str)] if isinstance(opponents, list) else []


def _load_end(table: Any, state: TurnState, seats: dict[str, int]) -> None:
    table.done = True
    for agent, utility in payoffs_in(state):
        if agent in seats:
            table.rewards[seats[agent]] = utility
    winner = (state.outcome or {}).get("winner")
    if isinstance(winner, str):
        table.winner = seats.get(winner, -1)
    winners = (state.outcome or {}).get("winners")
    for one in winners if isinstance(winners, list) else [winner]:
        if isinstance(one, str) and one in seats:
            table.won[seats[one]] = 1


def _seating(state: TurnState, bidders: int, acted: list[str]) -> dict[str, int]:
    """Give agents their seats: by the host's order; else by their own names, and strangers the free ones as named."""
    order = named_order(state)
    if order:
        kept = [agent for agent in order if agent == state.agent_id or order.index(agent) < bidders]
        if len(kept) > bidders:  # the agent itself is among those that would not be seen
            del kept[-2]
        return {agent: seat for seat, agent in enumerate(kept)}
    ours = {f"player_{seat}": seat for seat in range(bidders)}
    named = [state.agent_id, *acted, *(agent for agent, _ in payoffs_in(state))]
    if state.current_turn_agent_id is not None:
        named.append(state.current_turn_agent_id)
    named += [message.sender_id for message in state.messages]
    strangers = [agent for agent in dict.fromkeys(named) if agent not in ours]
    if not strangers:
        return ours
    taken = {ours[agent] for agent in named if agent in ours}
    free = [seat for seat in range(bidders) if seat not in taken]
    if state.agent_id not in ours and not free:  # the agent itself is always seen
        del ours[f"player_{bidders - 1}"]
        free = [bidders - 1]
    return ours | dict(zip(strangers, free, strict=False))


TERMS: dict[str, tuple[str, Any]] = {
    "reserve": ("reserve_price", 0.0),
    "entry_fee": ("entry_fee", 0.0),
    "units": ("units", 1),
    "values": ("values", "private"),
    "noise": ("noise", 0.0),
    "risk_aversion": ("risk_aversion", 0.0),
}
"""By option: its field in `game_state`, and the value where that is missing."""


def differences(options: Mapping[str, Any], state: TurnState, first: bool) -> dict[str, Any]:
    """Return the options that differ at a live table: the number of bidders, the terms, and the range of valuations."""
    game_state = state.game_state
    different: dict[str, Any] = {}
    if game_state["num_bidders"] != options["seats"]:
        different["seats"] = game_state["num_bidders"]
    for name, (field, usual) in TERMS.items():
        if game_state.get(field, usual) != options[name]:
            different[name] = game_state.get(field, usual)
    highest = float(max(map(np.max, options["valuations"]))) + options["noise"]
    if game_state["my_valuation"] > highest:
        different["valuations"] = [0, math.ceil(game_state["my_valuation"])]
    return different


TYPES = ("submit_bid", "pass", "message_only")
HIGHEST = 10
"""The highest exact bid, as a multiple of the highest bid on the grid."""


class SubmitBid(msgspec.Struct, forbid_unknown_fields=True):
    """The payload of `submit_bid`."""

    bid: float


def highest(table: Any) -> float:
    """Return the highest bid that is accepted."""
    return HIGHEST * float(table.bid_step * (table.bids - 1))


def action_spaces(table: Any) -> dict[str, spaces.Dict]:
    """Return every action type with the space of its payload."""
    bid = spaces.Box(0.0, highest(table), (), np.float64)
    return {"submit_bid": spaces.Dict({"bid": bid}), "pass": spaces.Dict({}), "message_only": spaces.Dict({})}


def action_ranges(bids: int, top: float, talk: StructuredTalk | None) -> tuple[ActionRange, ...]:
    """Return the action ranges, with those of `talk` if it is not None; `top` is the grid's highest bid."""
    return (
        ActionRange(0, bids, ("submit_bid",), f"bid 0, {top / (bids - 1):g}, … {top:g}"),
        ActionRange(bids, bids + 1, ("pass",), "do not bid in this round"),
        *(talk.action_ranges(bids + 1) if talk else ()),
    )


def allowed(most: float, game_state: Any, seat: int, phase: str) -> list[AllowedAction]:
    """Return the legal actions of the acting seat, with their bounds; `most` is the `highest` bid."""
    schema = ts.payload_schema({"bid": {"type": "number", "minimum": 0, "maximum": most}})
    return [
        AllowedAction("submit_bid", "bid once, sealed and final; it may exceed your valuation", schema),
        AllowedAction("pass", "do not bid in this round", NOTHING),
        AllowedAction("message_only", "send messages and decide later in this turn", NOTHING),
    ]


def legal(table: Any) -> list[AllowedAction]:
    """Return the same from the record."""
    return allowed(highest(table), None, int(table.turn), "")


def encode(talk: StructuredTalk, table: Any, action: int) -> AgentResponse:
    """Return the payload of a legal action index; a talk action is a public message."""
    move = decode(table, action)
    if move.kind == BID:
        return AgentResponse(Action("submit_bid", {"bid": float(move.value)}))
    if move.kind == PASS:
        return AgentResponse(Action("pass"))
    said = MessageIntent(MessageScope.PUBLIC, talk.sentence(int(move.value)))
    return AgentResponse(Action("message_only"), [said])


def parse(table: Any, action: Action) -> RuleMove | ActionResult:
    """Return the exact move of a payload, or a refusal that names the right values."""
    if action.action_type == "submit_bid":
        return _parse_bid(table, action.payload)
    if action.action_type != "pass":
        return ts.unknown_action(action, TYPES)
    if action.payload:
        return ts.unwanted_payload(action)
    return RuleMove(PASS, 0.0)


def _parse_bid(table: Any, payload: dict[str, Any]) -> RuleMove | ActionResult:
    try:
        bid = msgspec.convert(payload, SubmitBid).bid
    except (msgspec.ValidationError, OverflowError) as error:
        return ts.refused(ts.INVALID_PAYLOAD, f"submit_bid needs {{'bid': number}}: {error}")
    most = highest(table)
    if not isfinite(bid) or not 0 <= bid <= most:
        return ts.refused(ts.INVALID_PAYLOAD, f"cannot bid {bid}: the bounds are 0 to {most:g}")
    return RuleMove(BID, bid + 0.0)  # no −0


def nearest(table: Any, move: RuleMove) -> int:
    """Return the action index of `move`, or of the nearest bid on the grid."""
    bids = int(table.bids)
    if move.kind == TALK:
        return bids + 1 + int(move.value)
    if move.kind == PASS:
        return bids
    return min(bids - 1, round(move.value / float(table.bid_step)))


def safe(table: Any) -> int:
    """Return the action index of the safe action: pass."""
    return int(table.bids)


def worth(num_actions: int, table: Any) -> NDArray[np.float64]:
    """Return `OutsideOption.worth`: the own valuation less a bid that takes part, float64[num_actions]; infinite where
    the good is worth something else to the bidder."""
    gains, bids = np.full(num_actions, np.inf), table.bid_step * np.arange(table.bids)
    if VALUES[table.values] in ("private", "affiliated"):
        gains[: len(bids)] = np.where(bids >= table.reserve, table.valuation[table.turn] - bids, np.inf)
    return gains
