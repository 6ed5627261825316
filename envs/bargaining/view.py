"""Record ──► TurnState of a negotiator, and back. `game_state` and `outcome` are those of the TurnState platforms."""

from typing import Annotated, Any

import numpy as np
from msgspec import UNSET, Struct, UnsetType

from ..core.game_state import GameState, about
from ..core.structured_talk import LIMIT
from .rules import draw_reservation
from .table import KINDS, OFFER


class Move(Struct):
    """A move."""

    agent_id: str
    action: Annotated[str, about("the action type")]
    my_share: Annotated[float | UnsetType, about("of an offer: the proposer's")] = UNSET
    round: Annotated[int, about("from 1")] = 0


class BargainingState(GameState, kw_only=True):
    """The negotiation as a seat sees it."""

    total: Annotated[float, about("the size of the pie")]
    current_offer: Annotated[float | None, about("the proposer's share in the offer that stands")] = None
    last_offer_by: str | None = None
    my_reservation_value: Annotated[float | UnsetType, about("what the seat has without an agreement")] = UNSET
    action_history: list[Move]
    opponent_reservation_value: Annotated[float | UnsetType, about("with the option `public`")] = UNSET
    messages_left: Annotated[int | UnsetType, about("with talk: what the acting seat may still send")] = UNSET


def phase(table: Any) -> str:
    """Return the name of the only phase."""
    return "negotiation"


def public(table: Any) -> BargainingState:
    """Return the public view of the negotiation: the offers."""
    stands = table.last_offer_by >= 0
    return BargainingState(
        total=float(table.total),
        current_offer=float(table.current_offer) if stands else None,
        last_offer_by=_name(int(table.last_offer_by)) if stands else None,
        action_history=_history(table),
    )


def game_state(table: Any, seat: int) -> BargainingState:
    """Return the negotiation as `seat` may see it."""
    seen = public(table)
    seen.my_reservation_value = float(table.my_reservation_value[seat])
    if table.public:
        seen.opponent_reservation_value = float(table.my_reservation_value[1 - seat])
    if table.talk:
        seen.messages_left = LIMIT - int(table.spoken) if seat == table.turn else LIMIT
    return seen


def _name(seat: int) -> str:
    return f"player_{seat}"


def _history(table: Any) -> list[Move]:
    moves = int(table.moves)
    kinds, shares = table.log_kind[:moves].tolist(), table.log_share[:moves].tolist()
    return [
        Move(_name(move % 2), KINDS[kind], share if kind == OFFER else UNSET, move // 2 + 1)
        for move, (kind, share) in enumerate(zip(kinds, shares, strict=True))
    ]


def outcome(table: Any, seat: int) -> dict[str, Any]:
    """Return the outcome: both utilities, the reason, and the split by agent (None without agreement)."""
    split = None
    if table.agreed:
        offer, proposer = float(table.current_offer), int(table.last_offer_by)
        split = {_name(i): offer if i == proposer else float(table.total) - offer for i in range(2)}
    return {
        "payoffs": [{"agent_id": _name(i), "utility": float(table.rewards[i])} for i in range(2)],
        "reason": "agreement" if table.agreed else "max_rounds_exceeded",
        "split": split,
    }


def resample(table: Any, seat: int, generator: np.random.Generator) -> None:
    """Draw the other seat's private reservation value again, in place, and the stream.

    After an agreement nothing is drawn, because the utilities reveal the value.
    """
    table.stream = generator.integers(0, 2**64, dtype=np.uint64)
    if not table.public and not table.agreed:
        table.my_reservation_value[1 - seat] = draw_reservation(table, 1 - seat)
