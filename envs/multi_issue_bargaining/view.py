"""Record ──► TurnState of a negotiator."""

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from msgspec import UNSET, Struct, UnsetType

from ..core.game_state import GameState, about
from .actions import Issues, offer
from .rules import draw_preferences, draw_reservation
from .table import FIXED, KINDS, OFFER


def phase(table: Any) -> str:
    """Return the name of the only phase."""
    return "negotiation"


class Move(Struct):
    """A move."""

    agent_id: str
    action: Annotated[str, about("the action type")]
    offer: Annotated[dict[str, int] | UnsetType, about("of an offer: the value of each issue")] = UNSET
    round: Annotated[int, about("from 1")] = 0


class NegotiationState(GameState, kw_only=True):
    """The negotiation as a seat sees it."""

    agent_ids: Annotated[list[str], about("in seat order")]
    issues: Annotated[dict[str, int], about("the number of values of each issue")]
    current_offer: Annotated[dict[str, int] | None, about("the value of each issue")] = None
    last_offer_by: str | None = None
    acceptances: Annotated[dict[str, bool], about("of the current offer, by agent")]
    max_rounds: int
    discount: Annotated[float, about("of the utilities, per round")]
    action_history: list[Move]
    preferences: Annotated[
        dict[str, dict[str, list[float]]] | UnsetType, about("with the option `public`: of all agents")
    ] = UNSET
    reservation_values: Annotated[dict[str, float] | UnsetType, about("with the option `public`")] = UNSET
    my_preferences: Annotated[dict[str, list[float]] | UnsetType, about("the worth of each issue's values")] = UNSET
    my_reservation_value: Annotated[float | UnsetType, about("what the seat has without an agreement")] = UNSET


def public(issues: Issues, table: Any) -> NegotiationState:
    """Return the public view of the negotiation: the offers and who has accepted, and public preferences."""
    seats, names = range(int(table.seats)), list(issues)
    stands = table.last_offer_by >= 0
    shown = NegotiationState(
        agent_ids=[_name(seat) for seat in seats],
        issues=dict(issues),
        current_offer=offer(names, table, int(table.current_offer)) if stands else None,
        last_offer_by=_name(int(table.last_offer_by)) if stands else None,
        acceptances={_name(seat): True for seat in seats if (int(table.accepted) >> seat) & 1},
        max_rounds=int(table.rounds),
        discount=float(table.discount),
        action_history=_history(names, table),
    )
    if table.public:
        shown.preferences = {_name(seat): _preferences(issues, table, seat) for seat in seats}
        shown.reservation_values = {_name(seat): float(table.reservation[seat]) for seat in seats}
    return shown


def game_state(issues: Issues, table: Any, seat: int) -> NegotiationState:
    """Return the negotiation as `seat` may see it."""
    seen = public(issues, table)
    seen.my_preferences = _preferences(issues, table, seat)
    seen.my_reservation_value = float(table.reservation[seat])
    return seen


def _name(seat: int) -> str:
    return f"player_{seat}"


def _preferences(issues: Issues, table: Any, seat: int) -> dict[str, list[float]]:
    worth = table.worth[seat]
    return {
        name: [float(worth[issue][value]) for value in range(count)]
        for issue, (name, count) in enumerate(issues.items())
    }


def _history(names: Sequence[str], table: Any) -> list[Move]:
    seats, entries = int(table.seats), []
    for move in range(int(table.moves)):
        kind = int(table.log_kind[move])
        offered = offer(names, table, int(table.log_offer[move])) if kind == OFFER else UNSET
        entries.append(Move(_name(move % seats), KINDS[kind], offered, move // seats + 1))
    return entries


def outcome(issues: Issues, table: Any, seat: int) -> dict[str, Any]:
    """Return the outcome: all utilities, the reason, and the agreement (None without one)."""
    reason = "agreement" if table.agreed else "walked_away" if table.left_by >= 0 else "max_rounds_exceeded"
    return {
        "payoffs": [{"agent_id": _name(i), "utility": float(table.rewards[i])} for i in range(int(table.seats))],
        "reason": reason,
        "agreement": offer(list(issues), table, int(table.current_offer)) if table.agreed else None,
    }


def resample(table: Any, seat: int, generator: np.random.Generator) -> None:
    """Draw the private preferences of the other seats again, in place, and the stream.

    After an agreement nothing is drawn, because the utilities tell of the preferences.
    """
    table.stream = generator.integers(0, 2**64, dtype=np.uint64)
    if table.public or table.agreed:
        return
    for other in range(int(table.seats)):
        if other != seat:
            if table.kind != FIXED:
                draw_preferences(table, other)
            draw_reservation(table, other)
