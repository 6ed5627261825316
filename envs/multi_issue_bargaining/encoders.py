"""The observation, version 0. Seats are relative to the observer: 0 is the observer."""

from typing import Any

from ..core.compiled import compiled, inlined
from ..core.encoder import Encoder, Layout, Slice, per_seat, shares
from .rules import NONE, utility


def v0(table: Any) -> Encoder:
    """Return the encoder for the options of `table`; with public preferences it shows those of the others."""
    seats, issues = int(table.seats), int(table.issues)
    values = max(int(count) for count in table.values[:issues])
    offer, axes = (issues, values), ("issue", "value")
    slices = [
        shares("agent_id", (seats,), "the observer's seat, one-hot; player_0 moves first", axes=("player",)),
        shares("is_my_turn", (1,), "whether the observer decides next"),
        per_seat("current_turn_agent_id", seats, "one-hot by relative seat; all 0 at the end"),
        shares("game_state.current_offer", offer, "the current offer, one-hot per issue", axes=axes),
        per_seat("game_state.last_offer_by", seats, "who made it, one-hot by relative seat"),
        per_seat("game_state.acceptances", seats, "who has accepted it, by relative seat"),
        shares("game_state.my_preferences", offer, "what each value is worth to the observer", axes=axes),
        shares("game_state.my_reservation_value", (1,), "the observer's own"),
        shares("game_state.my_utility", (1,), "of the current offer to the observer; 0 without one"),
        shares("game_state.action_history.moves_left", (1,), "share of all moves, this one included"),
        shares(
            "game_state.action_history.latest_offers",
            (seats, *offer),
            "each seat's latest offer, one-hot per issue",
            axes=("relative seat", *axes),
        ),
        per_seat(
            "game_state.action_history.my_utilities",
            seats,
            "of each seat's latest offer to the observer; 0 without one",
        ),
        *(other_preferences("game_state", seats, offer) if table.public else ()),
        shares("game_over", (1,), "whether the negotiation is over"),
        per_seat("outcome.payoffs", seats, "utilities by relative seat", -1, 1),
    ]
    return Encoder(Layout(slices), _observe_public if table.public else observe)


def other_preferences(where: str, seats: int, offer: tuple[int, int]) -> list[Slice]:
    """Return the slices that show the preferences of the other seats."""
    axes = ("next seat", "issue", "value")
    return [
        shares(f"{where}.preferences", (seats - 1, *offer), "of the others, from the next seat on", axes=axes),
        shares(f"{where}.reservation_values", (seats - 1,), "of the others", axes=("next seat",)),
    ]


@inlined
def observe(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write what `seat` may know into `out` (float32[layout.size])."""
    seats, width = table.seats, _width(table)
    size = table.issues * width
    out[:] = 0
    out[at.agent_id + seat] = 1
    out[at.is_my_turn] = table.turn == seat
    if table.turn != NONE:
        out[at.current_turn_agent_id + (table.turn - seat) % seats] = 1
    if table.last_offer_by != NONE:
        _write_offer(table, table.current_offer, out, at.current_offer, width)
        out[at.last_offer_by + (table.last_offer_by - seat) % seats] = 1
        out[at.my_utility] = utility(table, seat, table.current_offer)
    for k in range(seats):
        other = (seat + k) % seats
        out[at.acceptances + k] = (table.accepted >> other) & 1
        if table.latest[other] != NONE:
            _write_offer(table, table.latest[other], out, at.action_history_latest_offers + k * size, width)
            out[at.action_history_my_utilities + k] = utility(table, seat, table.latest[other])
    _write_worth(table, seat, out, at.my_preferences, width)
    out[at.my_reservation_value] = table.reservation[seat]
    out[at.action_history_moves_left] = (seats * table.rounds - table.moves) * table.per_move
    if table.done:
        out[at.game_over] = 1
        for k in range(seats):
            out[at.outcome_payoffs + k] = table.rewards[(seat + k) % seats]


@compiled
def _width(table: Any) -> int:
    """Return the number of values of the issue that has most."""
    most = 0
    for issue in range(table.issues):
        most = max(most, table.values[issue])
    return most


@compiled
def _write_offer(table: Any, outcome: int, out: Any, start: int, width: int) -> None:
    for k in range(table.issues):
        issue = table.issues - 1 - k
        out[start + issue * width + outcome % table.values[issue]] = 1
        outcome //= table.values[issue]


@compiled
def _write_worth(table: Any, seat: int, out: Any, start: int, width: int) -> None:
    for issue in range(table.issues):
        for value in range(table.values[issue]):
            out[start + issue * width + value] = table.worth[seat, issue, value]


@compiled
def write_others(table: Any, seat: int, out: Any, preferences: int, reservations: int) -> None:
    """Write the preferences and reservation values of the other seats."""
    width = _width(table)
    for k in range(table.seats - 1):
        other = (seat + 1 + k) % table.seats
        _write_worth(table, other, out, preferences + k * table.issues * width, width)
        out[reservations + k] = table.reservation[other]


@compiled
def _observe_public(table: Any, seat: int, at: Any, out: Any) -> None:
    observe(table, seat, at, out)
    write_others(table, seat, out, at.preferences, at.reservation_values)


def full(table: Any) -> Encoder:
    """Full information: the slices of version 0, and the preferences of the other seats."""
    base = v0(table)
    shape = base.layout["game_state.my_preferences"].shape
    slices = other_preferences("hidden", int(table.seats), (shape[0], shape[1]))
    return base.extended(slices, observe_hidden, full_information=True)


@compiled
def observe_hidden(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write the hidden slices."""
    write_others(table, seat, out, at.hidden_preferences, at.hidden_reservation_values)


ENCODERS = {"v0": v0, "full": full}
