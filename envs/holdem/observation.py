"""What a seat sees, as slices of one flat float32 vector. Seats are counted from the observer: 0 is itself, 1 its left.

Chips are observed as ``sqrt(chips / 100 big blinds)``: a small bet stays visible beside a deep stack, and no two
amounts coincide.
"""

from math import sqrt
from typing import Any

from ..core.compiled import compiled
from ..core.layout import Layout, Slice
from .hands import card_set, pocket_strength, set_strength
from .table import FOLD, LOG, PHASES

DECK, CATEGORIES = 52, 9

# Where the slices begin. `_TURN` is one number per seat; the next are counted from its end.
_MY_TURN = len(PHASES)
_TURN = _MY_TURN + 1
_HAND = 0
_BOARD = _HAND + 1
_BOARD_RANK = _BOARD + DECK
_POT = _BOARD_RANK + CATEGORIES
_CARDS = _POT + 1
_RANK = _CARDS + DECK
_PLACE = _RANK + CATEGORIES  # within the category
_PLAYERS = _PLACE + 1
# Slices of one number per seat, counted from `_PLAYERS` in seats.
_STACK, _BET, _COMMITTED, _FOLDED, _ALL_IN, _SEATED, _DEALER, _AFTER_PLAYERS = range(8)
# From their end.
_TO_CALL, _RAISE_TO, _HISTORY = 0, 1, 3


def layout(seats: int, most_chips: float) -> Layout:
    """Return the slices for a table of `seats`; `most_chips`: all chips on it, in hundreds of big blinds."""
    high = sqrt(most_chips)
    slots = history_slots(seats)
    return Layout(
        [
            Slice("phase", (len(PHASES),), 0, 1, "one-hot: " + ", ".join(PHASES)),
            Slice("is_my_turn", (1,), 0, 1, "whether the observer decides next"),
            Slice("current_turn_agent_id", (seats,), 0, 1, "one-hot by relative seat; all 0 when the episode is over"),
            Slice("game_state.hand", (1,), 0, 1, "share of the episode's hands still to be played, this one included"),
            Slice("game_state.board", (DECK,), 0, 1, "by card: 1 on the flop, 3/4 the turn, 1/2 the river"),
            Slice(
                "game_state.board_rank",
                (CATEGORIES,),
                0,
                1,
                "category of the board alone, one-hot; before the flop all 0",
            ),
            Slice("game_state.pot", (1,), 0, high, "all chips put in"),
            Slice("game_state.players.cards", (DECK,), 0, 1, "own two cards"),
            Slice(
                "game_state.players.rank",
                (CATEGORIES + 1,),
                0,
                1,
                "own best hand so far: category one-hot, place within it",
            ),
            Slice("game_state.players.stack", (seats,), 0, high, "chips behind"),
            Slice("game_state.players.bet", (seats,), 0, high, "chips put in on this street"),
            Slice("game_state.players.committed", (seats,), 0, high, "chips put in in this hand"),
            Slice("game_state.players.folded", (seats,), 0, 1, "gave up this hand"),
            Slice("game_state.players.allIn", (seats,), 0, 1, "in this hand with no chips behind"),
            Slice("game_state.players.seated", (seats,), 0, 1, "dealt into this hand"),
            Slice("game_state.dealer", (seats,), 0, 1, "the button, one-hot by relative seat"),
            Slice("game_state.toCall", (1,), 0, high, "own turn only"),
            Slice("game_state.actions.raiseTo", (2,), 0, high, "least and greatest amount; 0 if no raise is open"),
            Slice(
                "game_state.history",
                (4, slots, 2),
                -1,
                max(high, 1),
                f"the last {slots} actions of each street in order: (relative seat + 1) / seats, and the actor's bet "
                "afterwards or −1 for a fold",
            ),
            Slice("game_over", (1,), 0, 1, "whether the episode is over"),
            Slice("outcome.payoffs", (seats,), -most_chips, most_chips, "net hundreds of big blinds of the episode"),
        ]
    )


@compiled
def history_slots(seats: int) -> int:
    """Return how many actions of a street are observed."""
    return min(LOG, max(6, 2 * seats))


@compiled
def _relative(other: int, seat: int, seats: int) -> int:
    """Count seats from `seat` to its left. (A remainder would do; division is slow.)"""
    away = other - seat
    return away + seats if away < 0 else away


@compiled
def observe(table: Any, seat: int, out: Any) -> None:
    """Write what `seat` may know into `out` (float32[layout.size]), in the layout's order."""
    seats = table.seats
    unit = 1.0 / (100.0 * table.big_blind)
    mine = table.turn == seat
    out[:] = 0
    out[table.phase] = 1
    out[_MY_TURN] = mine
    if table.turn >= 0:
        out[_TURN + _relative(table.turn, seat, seats)] = 1
    k = _TURN + seats
    out[k + _HAND] = max(0.0, (table.hands - table.hand + 1) / table.hands)
    _observe_cards(table, seat, out, k)
    out[k + _POT] = sqrt(table.pot * unit)
    k += _PLAYERS
    for other in range(seats):
        player = k + _relative(other, seat, seats)
        out[player + _STACK * seats] = sqrt(table.stack[other] * unit)
        out[player + _BET * seats] = sqrt(table.bet[other] * unit)
        out[player + _COMMITTED * seats] = sqrt(table.committed[other] * unit)
        out[player + _FOLDED * seats] = table.folded[other]
        out[player + _ALL_IN * seats] = table.seated[other] and not table.folded[other] and table.stack[other] == 0
        out[player + _SEATED * seats] = table.seated[other]
    out[k + _DEALER * seats + _relative(table.dealer, seat, seats)] = 1
    k += _AFTER_PLAYERS * seats
    if mine:
        out[k + _TO_CALL] = sqrt(table.to_call * unit)
        out[k + _RAISE_TO] = sqrt(table.raise_min * unit)
        out[k + _RAISE_TO + 1] = sqrt(table.raise_max * unit)
    _observe_history(table, seat, unit, out, k + _HISTORY)
    if table.done:
        k += _HISTORY + 8 * history_slots(seats)
        out[k] = 1
        for other in range(seats):
            out[k + 1 + _relative(other, seat, seats)] = table.total[other] * unit


@compiled
def _observe_cards(table: Any, seat: int, out: Any, k: int) -> None:
    """Write the board, its category, the own cards, and the own hand's category with the place within it."""
    if table.board_count > 0:
        for i in range(table.board_count):
            out[k + _BOARD + table.board[i]] = 1.0 if i < 3 else 0.75 if i == 3 else 0.5
        out[k + _BOARD_RANK + table.board_rank] = 1
    if table.cards[seat, 0] >= 0:
        out[k + _CARDS + table.cards[seat, 0]] = 1
        out[k + _CARDS + table.cards[seat, 1]] = 1
        if table.board_count > 0:
            strength = set_strength(table.board_set | card_set(table.cards[seat], 2))
        else:
            strength = pocket_strength(table.cards[seat, 0], table.cards[seat, 1])
        out[k + _RANK + (strength >> 26)] = 1
        out[k + _PLACE] = (strength & 0x3FFFFFF) / 0x4000000


@compiled
def _observe_history(table: Any, seat: int, unit: float, out: Any, k: int) -> None:
    slots = history_slots(table.seats)
    share = 1.0 / table.seats
    for street in range(4):
        count = table.log_count[street]
        if count == 0:
            continue
        first = max(0, count - slots)
        for i in range(first, count):
            slot = k + 2 * (street * slots + i - first)
            out[slot] = (_relative(table.log_seat[street, i], seat, table.seats) + 1) * share
            folded = table.log_kind[street, i] == FOLD
            out[slot + 1] = -1.0 if folded else sqrt(table.log_bet[street, i] * unit)
