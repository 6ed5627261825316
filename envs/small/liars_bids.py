"""The bids of liar's dice: action index ◄─► payload. A move is an action index: the bids by quantity and face, then the
challenge."""

from reprlib import repr
from typing import Annotated, Any

import msgspec

from ..core import turn_state as ts
from ..core.compiled import compiled
from ..core.game_state import about
from ..core.turn_state import NOTHING, Action, ActionResult, AgentResponse, AllowedAction


@compiled
def last_bid(table: Any) -> int:
    """Return the index of the current bid; −1 if there is none."""
    return table.log[table.bids - 1] if table.bids > 0 else -1


@compiled
def liar(table: Any) -> int:
    """Return the action index of the challenge: it follows those of the bids."""
    return 2 * table.dice * table.faces


class Bid(msgspec.Struct):
    """A bid."""

    quantity: Annotated[int, about("the least number of dice")]
    face: Annotated[int, about("from 1")]


class BidPayload(Bid, forbid_unknown_fields=True):
    """The payload of `bid`."""


def bid_of(table: Any, move: int) -> Bid:
    """Return a bid by its index; `table` is a record or a `game_state`, as for `index_of`."""
    faces = int(table.faces)
    return Bid(int(move) // faces + 1, int(move) % faces + 1)


def index_of(table: Any, bid: Any) -> int:
    """Return the index of a bid, which has `quantity` and `face`.

    Raises:
        ValueError: if it is none of the game's.
    """
    quantity, face = bid.quantity, bid.face
    most, faces = 2 * int(table.dice), int(table.faces)
    if not (1 <= quantity <= most and 1 <= face <= faces):
        raise ValueError(
            f"a bid of {repr(quantity)} times {repr(face)}: quantity is from 1 to {most}, face from 1 to {faces}"
        )
    return (quantity - 1) * faces + face - 1


def allowed(game_state: Any, seat: int, phase: str) -> list[AllowedAction]:
    """Return the legal actions of the acting seat, with bounds. A bid must also be higher than the current one."""
    bid, most, faces = game_state.current_bid, 2 * game_state.dice, game_state.faces
    actions = []
    if bid is None or (bid.quantity, bid.face) < (most, faces):
        least = bid_of(game_state, 0 if bid is None else index_of(game_state, bid) + 1)
        quantity = {"type": "integer", "minimum": least.quantity, "maximum": most}
        face = {"type": "integer", "minimum": 1, "maximum": faces}
        meaning = f"at least {least.quantity} times {least.face}, by quantity, then by face"
        actions.append(AllowedAction("bid", meaning, ts.payload_schema({"quantity": quantity, "face": face})))
    if bid is not None:
        meaning = f"challenge: you win if there are fewer than {bid.quantity} dice of face {bid.face}"
        actions.append(AllowedAction("liar", meaning, NOTHING))
    return actions


def encode(table: Any, action: int) -> AgentResponse:
    """Return the payload of a legal action index."""
    if action == liar(table):
        return AgentResponse(Action("liar"))
    return AgentResponse(Action("bid", msgspec.structs.asdict(bid_of(table, action))))


def parse(table: Any, action: Action) -> int | ActionResult:
    """Return the move of a payload, or a refusal that names the right values."""
    standing = int(last_bid(table))
    if action.action_type == "liar":
        if action.payload:
            return ts.unwanted_payload(action)
        if standing < 0:
            return ts.refused(ts.GAME_RULE_VIOLATION, "there is no bid to challenge yet")
        return int(liar(table))
    if action.action_type != "bid":
        return ts.unknown_action(action, ("bid", "liar"))
    try:
        bid = msgspec.convert(action.payload, BidPayload)
        move = index_of(table, bid)
    except (ValueError, OverflowError) as error:  # msgspec's are ValueErrors
        return ts.refused(ts.INVALID_PAYLOAD, f"bid needs {{'quantity': integer, 'face': integer}}: {error}")
    if move <= standing:
        before = bid_of(table, standing)
        low = f"{bid.quantity} times {bid.face} is not higher than {before.quantity} times {before.face}"
        return ts.refused(ts.GAME_RULE_VIOLATION, f"{low}: bid more dice, or as many of a higher face")
    return move


def nearest(table: Any, move: int) -> int:
    """Return the action index of `move`, which is the move itself."""
    return int(move)


def safe(table: Any) -> int:
    """Return the action index of the safe action: the challenge, or the lowest bid if there is no bid."""
    return int(liar(table)) if table.bids > 0 else 0
