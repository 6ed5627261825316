"""The observation, version 0. Seats are relative to the observer: 0 is the observer, 1 the seat to its left.

Chips are observed as ``sqrt(chips / 100 big blinds)``: a small bet is visible beside a deep stack, and
different amounts have different values.
"""

from math import sqrt
from typing import Any

from ...core.compiled import compiled
from ...core.encoder import Encoder
from ...core.layout import Layout, Slice, per_seat, relative, shares
from ..hands import card_name, card_set, pocket_strength, set_strength
from ..rules import entry_bet, entry_kind, entry_seat, log_first
from ..table import FOLD, KEPT, PHASES

DECK, CATEGORIES = 52, 9
CARDS = tuple(map(card_name, range(DECK)))
"""The cards in the order of the observation's indices."""
CATEGORY_NAMES = (
    "high card", "pair", "two pair", "three of a kind", "straight", "flush", "full house", "four of a kind",
    "straight flush",
)  # fmt: skip
"""The categories of hands, from the lowest."""


def encoder(table: Any) -> Encoder:
    """Return the encoder for the options of `table`."""
    return Encoder(Layout(slices(table)), observe)


def slices(table: Any) -> list[Slice]:
    """Return the slices of the observation for the options of `table`."""
    seats = int(table.seats)
    most_chips = int(table.stacks[:seats].sum()) / (100 * int(table.big_blind))  # in hundreds of big blinds
    high = sqrt(most_chips)
    slots = history_slots(seats)
    return [
        shares("phase", (len(PHASES),), "one-hot: " + ", ".join(PHASES), axes=(PHASES,)),
        shares("is_my_turn", (1,), "whether the observer decides next"),
        per_seat("current_turn_agent_id", seats, "one-hot by relative seat; all 0 when the episode is over"),
        shares("game_state.hand", (1,), "share of the episode's hands still to be played, this one included"),
        shares("game_state.board", (DECK,), "by card: 1 on the flop, 3/4 the turn, 1/2 the river", axes=(CARDS,)),
        shares(
            "game_state.board_rank",
            (CATEGORIES,),
            "category of the board alone, one-hot; before the flop all 0",
            axes=(CATEGORY_NAMES,),
        ),
        Slice("game_state.pot", (1,), 0, high, "all chips put in"),
        shares("game_state.players.cards", (DECK,), "own two cards", axes=(CARDS,)),
        shares(
            "game_state.players.rank",
            (CATEGORIES + 1,),
            "own best hand so far: category one-hot, place within it",
            axes=((*CATEGORY_NAMES, "place within the category"),),
        ),
        per_seat("game_state.players.stack", seats, "chips behind", 0, high),
        per_seat("game_state.players.bet", seats, "chips put in on this street", 0, high),
        per_seat("game_state.players.committed", seats, "chips put in in this hand", 0, high),
        per_seat("game_state.players.folded", seats, "gave up this hand"),
        per_seat("game_state.players.allIn", seats, "in this hand with no chips behind"),
        per_seat("game_state.players.seated", seats, "dealt into this hand"),
        per_seat("game_state.dealer", seats, "the button, one-hot by relative seat"),
        Slice("game_state.toCall", (1,), 0, high, "own turn only"),
        Slice(
            "game_state.actions.raiseTo",
            (2,),
            0,
            high,
            "least and greatest amount; 0 if no raise is open",
            axes=(("least", "greatest"),),
        ),
        Slice(
            "game_state.history",
            (4, slots, 2),
            -1,
            max(high, 1),
            f"the last {slots} actions of each street in order: (relative seat + 1) / seats, and the actor's bet "
            "afterwards or −1 for a fold",
            axes=(PHASES[1:5], "action", ("seat", "bet")),
        ),
        shares("game_over", (1,), "whether the episode is over"),
        per_seat("outcome.payoffs", seats, "net hundreds of big blinds of the episode", -most_chips, most_chips),
    ]


@compiled
def history_slots(seats: int) -> int:
    """Return the number of observed actions per street."""
    return min(KEPT, max(6, 2 * seats))


@compiled
def observe(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write what `seat` may know into `out` (float32[layout.size])."""
    seats = table.seats
    unit = 1.0 / (100.0 * table.big_blind)
    mine = table.turn == seat
    out[:] = 0
    out[at.phase + table.phase] = 1
    out[at.is_my_turn] = mine
    if table.turn >= 0:
        out[at.current_turn_agent_id + relative(table.turn, seat, seats)] = 1
    out[at.hand] = max(0.0, (table.hands - table.hand + 1) / table.hands)
    _observe_cards(table, seat, at, out)
    out[at.pot] = sqrt(table.pot * unit)
    for other in range(seats):
        player = relative(other, seat, seats)
        out[at.players_stack + player] = sqrt(table.stack[other] * unit)
        out[at.players_bet + player] = sqrt(table.bet[other] * unit)
        out[at.players_committed + player] = sqrt(table.committed[other] * unit)
        out[at.players_folded + player] = table.folded[other]
        out[at.players_allIn + player] = table.seated[other] and not table.folded[other] and table.stack[other] == 0
        out[at.players_seated + player] = table.seated[other]
    out[at.dealer + relative(table.dealer, seat, seats)] = 1
    if mine:
        out[at.toCall] = sqrt(table.to_call * unit)
        out[at.actions_raiseTo] = sqrt(table.raise_min * unit)
        out[at.actions_raiseTo + 1] = sqrt(table.raise_max * unit)
    _observe_history(table, seat, unit, at.history, out)
    if table.done:
        out[at.game_over] = 1
        for other in range(seats):
            out[at.outcome_payoffs + relative(other, seat, seats)] = table.total[other] * unit


@compiled
def street_mark(place: int) -> float:
    """Return how a card of the board is marked, by its place on the board: flop, turn or river."""
    return 1.0 if place < 3 else 0.75 if place == 3 else 0.5


@compiled
def _observe_cards(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write the board, its category, the observer's cards, and the category and rank of the observer's hand."""
    if table.board_count > 0:
        for i in range(table.board_count):
            out[at.board + table.board[i]] = street_mark(i)
        out[at.board_rank + table.board_rank] = 1
    if table.cards[seat, 0] >= 0:
        out[at.players_cards + table.cards[seat, 0]] = 1
        out[at.players_cards + table.cards[seat, 1]] = 1
        if table.board_count > 0:
            strength = set_strength(table.board_set | card_set(table.cards[seat], 2))
        else:
            strength = pocket_strength(table.cards[seat, 0], table.cards[seat, 1])
        out[at.players_rank + (strength >> 26)] = 1
        out[at.players_rank + CATEGORIES] = (strength & 0x3FFFFFF) / 0x4000000


@compiled
def _observe_history(table: Any, seat: int, unit: float, start: int, out: Any) -> None:
    slots = history_slots(table.seats)
    share = 1.0 / table.seats
    for street in range(4):
        end = table.log_end[street]
        first = max(log_first(table, street), end - slots)
        for i in range(first, end):
            slot = start + 2 * (street * slots + i - first)
            entry = table.log[i]
            out[slot] = (relative(entry_seat(entry), seat, table.seats) + 1) * share
            out[slot + 1] = -1.0 if entry_kind(entry) == FOLD else sqrt(entry_bet(entry) * unit)
