"""The rules of alternating offers over one record, compiled .

The game is `unfair-split` of agent-colosseum and Strategic Agent Games. In its turn a seat makes an offer, accepts the
other seat's current offer, rejects it or passes. An offer replaces the one before, a rejection removes it, and a pass
keeps it. Without an agreement after the last round both get 0.

The discount is per round. A round has two turns, so the factor per turn is its square root, and an agreement in turn t
(from 0) is discounted by t − 1 turns. It is Rubinstein's model (Econometrica 50, 1982) with a deadline; δ = √discount.
"""

from math import floor
from typing import Any, NamedTuple

from ..core import structured_talk
from ..core.compiled import compiled
from ..core.record import record
from ..core.rng import uniform
from ..core.structured_talk import LIMIT, NUM_ACTIONS, clear_talk, say

SEATS = 2
ROUNDS = 50
"""The most rounds."""

KINDS = ("submit_offer", "accept", "reject", "pass", "talk")
OFFER, ACCEPT, REJECT, PASS, TALK = range(5)

TABLE = record(
    # Small types, and the fields of every decision first: with less memory, many tables are faster.
    ("stream", "u8"),
    ("turn", "i1"),
    ("moves", "i1"),  # number of moves so far; the next one is in round moves // 2 + 1
    ("last_offer_by", "i1"),  # −1: there is no current offer
    ("done", "?"),
    ("agreed", "?"),
    ("public", "?"),  # option: both seats see both reservation values
    # options
    ("offers", "i2"),  # numbers on the grid of offers
    ("rounds", "i2"),
    ("offer_step", "f8"),
    ("total", "f8"),
    ("per_total", "f8"),  # 1 / total
    ("per_move", "f8"),  # 1 / all moves
    ("turn_discount", "f8"),  # the square root of the discount per round
    ("current_offer", "f8"),  # the proposer's share; 0 without an offer
    # the seats
    ("my_reservation_value", "f8", SEATS),
    ("rewards", "f8", SEATS),  # the utilities, once it is over
    ("low", "f8", SEATS),  # options: the range of the reservation values
    ("high", "f8", SEATS),
    *structured_talk.fields(SEATS),
    ("log_kind", "i1", 2 * ROUNDS),
    ("log_share", "f8", 2 * ROUNDS),  # of an offer: the proposer's share
)


# Not `Move`: Numba would confuse it with the auction's tuple of that name and types, which makes calls slow.
class Move(NamedTuple):
    """A move: `OFFER` (`value`: own share), `ACCEPT`, `REJECT`, `PASS`, `TALK` (`value`: index of the talk action)."""

    kind: int
    value: float


@compiled
def reset(table: Any) -> None:
    """Begin a negotiation: draw the reservation values."""
    for seat in range(2):
        table.my_reservation_value[seat] = draw_reservation(table, seat)
        table.rewards[seat] = 0.0
    table.turn = 0
    table.moves = 0
    table.current_offer = 0.0
    table.last_offer_by = -1
    table.agreed = False
    table.done = False
    if table.talk:
        clear_talk(table, 2)


@compiled
def cents(amount: float) -> float:
    """Round to hundredths; half a hundredth rounds up."""
    return floor(100.0 * amount + 0.5) / 100.0


@compiled
def draw_reservation(table: Any, seat: int) -> float:
    """Draw a reservation value uniformly from the seat's range."""
    return cents(table.low[seat] + uniform(table) * (table.high[seat] - table.low[seat]))


@compiled
def step(table: Any, move: Any) -> None:
    """Apply the acting seat's legal move, up to the next decision."""
    kind = move.kind
    if kind == TALK:
        say(table, 2, int(move.value))
        return
    table.spoken = 0
    if kind == ACCEPT:
        _agree(table)
    elif kind == OFFER:
        table.current_offer = move.value
        table.last_offer_by = table.turn
    elif kind == REJECT:
        table.current_offer = 0.0
        table.last_offer_by = -1
    table.log_kind[table.moves] = kind
    table.log_share[table.moves] = move.value
    table.moves += 1
    table.turn = 1 - table.turn
    if table.agreed or table.moves == 2 * table.rounds:
        table.turn = -1
        table.done = True


@compiled
def _agree(table: Any) -> None:
    """Split the pie as offered and write the utilities: (share − own reservation value), discounted."""
    proposer = table.last_offer_by
    weight = table.turn_discount ** (table.moves - 1)
    for seat in range(2):
        share = table.current_offer if seat == proposer else table.total - table.current_offer
        table.rewards[seat] = cents(weight * (share - table.my_reservation_value[seat]))
    table.agreed = True


@compiled
def decode(table: Any, action: int) -> Move:
    """Return the move of an action index: the grid of offers, accept, reject, pass, talk."""
    offers = table.offers
    if action < offers:
        return Move(OFFER, action * table.offer_step)
    if action <= offers + 2:
        return Move(ACCEPT + action - offers, 0.0)
    return Move(TALK, float(action - offers - 3))


@compiled
def legal(table: Any, mask: Any) -> None:
    """Write the action mask of the acting seat; accept and reject are legal if the other seat has a current offer."""
    offers = table.offers
    mask[:] = 1
    stands = table.last_offer_by == 1 - table.turn
    mask[offers] = stands
    mask[offers + 1] = stands
    if table.talk and table.spoken >= LIMIT:
        mask[offers + 3 : offers + 3 + NUM_ACTIONS] = 0
