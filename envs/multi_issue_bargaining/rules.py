"""The rules of stacked alternating offers over one record, compiled.

Aydoğan, Festen, Hindriks and Jonker, "Alternating offers protocols for multilateral negotiation" (2017). In its turn a
seat makes an offer, accepts the current one, walks away or passes. An offer replaces the one before. It is agreed on
when all other seats have accepted it. When a seat walks away, and after the last round, there is no agreement.

The utility of an outcome is the sum of what its values are worth to a seat. A seat gets its utility less its
reservation value, times the discount for every round before the agreement; without an agreement it gets 0.
"""

from math import floor, log
from typing import Any, NamedTuple

from ..core.compiled import compiled
from ..core.record import record
from ..core.rng import uniform

SEATS = 5
"""The most seats."""
ISSUES = 5
"""The most issues."""
VALUES = 10
"""The most values of an issue."""
OUTCOMES = 1024
"""The most outcomes: each has an action index."""
ROUNDS = 50
"""The most rounds."""

KINDS = ("submit_offer", "accept", "walk_away", "pass")
OFFER, ACCEPT, WALK_AWAY, PASS = range(4)
RANDOM, OPPOSED, FIXED = range(3)
"""How preferences are made: see `game`."""
NONE = -1

TABLE = record(
    ("stream", "u8"),
    ("turn", "i1"),
    ("last_offer_by", "i1"),  # −1: there is no current offer
    ("accepted", "u1"),  # one bit per seat that has accepted the current offer
    ("left_by", "i1"),  # who walked away; −1: nobody
    ("done", "?"),
    ("agreed", "?"),
    ("current_offer", "i2"),  # an outcome; −1: none
    ("moves", "i2"),  # number of moves so far; the next one is in round moves // seats + 1
    # options
    ("public", "?"),  # all see all preferences
    ("kind", "i1"),  # of preferences
    ("seats", "i1"),
    ("issues", "i1"),
    ("rounds", "i1"),
    ("values", "i1", ISSUES),  # numbers of values
    ("outcomes", "i2"),
    ("discount", "f8"),
    ("per_move", "f8"),  # 1 / all moves
    ("low", "f8", SEATS),  # the range of the reservation values
    ("high", "f8", SEATS),
    # the seats
    ("worth", "f8", (SEATS, ISSUES, VALUES)),  # what each value of each issue is worth; an outcome's utility is the sum
    ("reservation", "f8", SEATS),
    ("latest", "i2", SEATS),  # each seat's latest offer; −1: none
    ("rewards", "f8", SEATS),
    ("log_kind", "i1", ROUNDS * SEATS),
    ("log_offer", "i2", ROUNDS * SEATS),
)


class Step(NamedTuple):
    """A move: `OFFER` (`outcome`: its index), `ACCEPT`, `WALK_AWAY` or `PASS`."""

    kind: int
    outcome: int


@compiled
def reset(table: Any) -> None:
    """Begin a negotiation: draw preferences and reservation values."""
    for seat in range(table.seats):
        if table.kind != FIXED:
            draw_preferences(table, seat)
        draw_reservation(table, seat)
        table.latest[seat] = NONE
        table.rewards[seat] = 0.0
    table.turn = 0
    table.moves = 0
    table.current_offer = NONE
    table.last_offer_by = NONE
    table.left_by = NONE
    table.accepted = 0
    table.agreed = False
    table.done = False


@compiled
def rounded(value: float) -> float:
    """Round to ten-thousandths; a half rounds up."""
    return floor(10_000.0 * value + 0.5) / 10_000.0


@compiled
def draw_reservation(table: Any, seat: int) -> None:
    """Draw a reservation value uniformly from the seat's range."""
    table.reservation[seat] = rounded(table.low[seat] + uniform(table) * (table.high[seat] - table.low[seat]))


@compiled
def draw_preferences(table: Any, seat: int) -> None:
    """Draw the weights of the issues, uniform on the simplex, and what each value is worth.

    The best value of an issue is worth its weight and the worst one 0. With opposed preferences the others lie evenly
    between them, and seats with an even number prefer the opposite of the others; else they are random.
    """
    whole = 0.0
    for issue in range(table.issues):
        weight = -log(1.0 - uniform(table))
        table.worth[seat, issue, 0] = weight
        whole += weight
    for issue in range(table.issues):
        weight = table.worth[seat, issue, 0] / whole
        count = table.values[issue]
        low, high = 0.0, count - 1.0
        for value in range(count):
            table.worth[seat, issue, value] = value
        if table.kind != OPPOSED:
            low, high = 1.0, 0.0
            for value in range(count):
                drawn = uniform(table)
                table.worth[seat, issue, value] = drawn
                low, high = min(low, drawn), max(high, drawn)
        elif seat % 2 == 1:
            low, high = high, low
        for value in range(count):
            share = 1.0 if low == high else (table.worth[seat, issue, value] - low) / (high - low)
            # Rounded down, so that no outcome is worth more than 1. `share` may be −0.0.
            table.worth[seat, issue, value] = int(10_000.0 * weight * share) / 10_000.0


@compiled
def utility(table: Any, seat: int, outcome: int) -> float:
    """Return the value of an outcome for a seat, its reservation value not subtracted."""
    total = 0.0
    for k in range(table.issues):
        issue = table.issues - 1 - k
        total += table.worth[seat, issue, outcome % table.values[issue]]
        outcome //= table.values[issue]
    return total


@compiled
def step(table: Any, move: Any) -> None:
    """Apply the acting seat's legal move, up to the next decision."""
    seat, kind = table.turn, move.kind
    table.log_kind[table.moves] = kind
    table.log_offer[table.moves] = move.outcome if kind == OFFER else 0
    if kind == OFFER:
        table.current_offer = move.outcome
        table.latest[seat] = move.outcome
        table.last_offer_by = seat
        table.accepted = 0
    elif kind == ACCEPT:
        table.accepted |= 1 << seat
        table.agreed = (table.accepted | 1 << table.last_offer_by) == (1 << table.seats) - 1
    elif kind == WALK_AWAY:
        table.left_by = seat
    if table.agreed:
        _agree(table)
    table.moves += 1
    table.turn = table.moves % table.seats
    if table.agreed or table.left_by != NONE or table.moves == table.seats * table.rounds:
        table.turn = NONE
        table.done = True


@compiled
def _agree(table: Any) -> None:
    weight = table.discount ** (table.moves // table.seats)
    for seat in range(table.seats):
        gain = utility(table, seat, table.current_offer) - table.reservation[seat]
        table.rewards[seat] = rounded(weight * gain)


@compiled
def decode(table: Any, action: int) -> Step:
    """Return the move of an action index: all outcomes as offers, accept, walk away, pass."""
    if action < table.outcomes:
        return Step(OFFER, action)
    return Step(ACCEPT + action - table.outcomes, 0)


@compiled
def legal(table: Any, mask: Any) -> None:
    """Write the action mask of the acting seat; it may accept an offer of another once."""
    mask[:] = 1
    theirs = table.last_offer_by != NONE and table.last_offer_by != table.turn
    mask[table.outcomes] = theirs and (table.accepted >> table.turn) & 1 == 0
