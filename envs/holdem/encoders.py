"""The observation, version 0. Seats are relative to the observer: 0 is the observer, 1 the seat to its left.

Chips are observed as ``sqrt(chips / 100 big blinds)``: a small bet is visible beside a deep stack, and
different amounts have different values.
"""

from dataclasses import replace
from math import sqrt
from typing import Any

from ..core.compiled import compiled
from ..core.encoder import Encoder, Layout, Slice, per_seat, relative, shares
from .hands import _COUNT, _SUIT, RANKS, card_name, card_set, pocket_strength, set_strength
from .rules import entry_bet, entry_kind, entry_seat, log_first
from .table import FOLD, KEPT, PHASES

DECK, CATEGORIES = 52, 9
CARDS = tuple(map(card_name, range(DECK)))
"""The cards in the order of the observation's indices."""
CATEGORY_NAMES = (
    "high card", "pair", "two pair", "three of a kind", "straight", "flush", "full house", "four of a kind",
    "straight flush",
)  # fmt: skip
"""The categories of hands, from the lowest."""


def v0(table: Any) -> Encoder:
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
    # In one function with local names: a call with an array costs 5 ns, of some 60.
    seats, turn = int(table.seats), table.turn
    unit = 1.0 / (100.0 * table.big_blind)
    mine = turn == seat
    out[:] = 0
    out[at.phase + table.phase] = 1
    out[at.is_my_turn] = mine
    if turn >= 0:
        out[at.current_turn_agent_id + relative(turn, seat, seats)] = 1
    out[at.hand] = max(0.0, (table.hands - table.hand + 1) / table.hands)
    shown = table.board_count
    if shown > 0:
        for i in range(shown):
            out[at.board + table.board[i]] = street_mark(i)
        out[at.board_rank + table.board_rank] = 1
    first, second = table.cards[seat, 0], table.cards[seat, 1]
    if first >= 0:
        out[at.players_cards + first] = 1
        out[at.players_cards + second] = 1
        if shown > 0:
            strength = set_strength(table.board_set | card_set(table.cards[seat], 2))
        else:
            strength = pocket_strength(first, second)
        out[at.players_rank + (strength >> 26)] = 1
        out[at.players_rank + CATEGORIES] = (strength & 0x3FFFFFF) / 0x4000000
    out[at.pot] = sqrt(table.pot * unit)
    stack, bet, committed = at.players_stack, at.players_bet, at.players_committed
    folded, all_in, seated = at.players_folded, at.players_allIn, at.players_seated
    for other in range(seats):
        player = relative(other, seat, seats)
        behind, gone, dealt = table.stack[other], table.folded[other], table.seated[other]
        out[stack + player] = sqrt(behind * unit)
        out[bet + player] = sqrt(table.bet[other] * unit)
        out[committed + player] = sqrt(table.committed[other] * unit)
        out[folded + player] = gone
        out[all_in + player] = (dealt != 0) & (gone == 0) & (behind == 0)
        out[seated + player] = dealt
    out[at.dealer + relative(table.dealer, seat, seats)] = 1
    if mine:
        out[at.toCall] = sqrt(table.to_call * unit)
        out[at.actions_raiseTo] = sqrt(table.raise_min * unit)
        out[at.actions_raiseTo + 1] = sqrt(table.raise_max * unit)
    slots, slot = history_slots(seats), at.history
    share = 1.0 / seats
    for street in range(4):
        end = table.log_end[street]
        begin = max(log_first(table, street), end - slots)
        for i in range(begin, end):
            entry, place = table.log[i], slot + 2 * (i - begin)
            out[place] = (relative(entry_seat(entry), seat, seats) + 1) * share
            out[place + 1] = -1.0 if entry_kind(entry) == FOLD else sqrt(entry_bet(entry) * unit)
        slot += 2 * slots
    if table.done:
        out[at.game_over] = 1
        for other in range(seats):
            out[at.outcome_payoffs + relative(other, seat, seats)] = table.total[other] * unit


@compiled
def street_mark(place: int) -> float:
    """Return the mark of a card of the board, by its place on the board: flop, turn or river."""
    return 1.0 if place < 3 else 0.75 if place == 3 else 0.5


OWN_CARDS = tuple(f"{rank} of suit {suit}" for rank in RANKS for suit in range(4))
"""The cards in the order of the observation's indices."""
CARD_SLICES = ("game_state.board", "game_state.players.cards")
COMPARED = ("worse", "equal", "better")


def v1(table: Any) -> Encoder:
    """The observation, version 1: that of version 0, with suits in their own order and what cards are worth.

    Suits are interchangeable in poker. The observation names them by what they hold, so that hands which differ in the
    names of the suits alone look the same. The further numbers are those that players count: the hands that are worse
    or better, what they are, what the next card can make, and the price of a call.
    """
    return Encoder(Layout(slices_v1(table)), observe_v1)


def slices_v1(table: Any) -> list[Slice]:
    """Return the slices of the observation for the options of `table`."""
    return [
        *(own_suits(each) if each.path in CARD_SLICES else each for each in slices(table)),
        shares(
            "strength.others",
            (3,),
            "shares of the pairs of cards that another player can hold, by the board so far; before the flop all 0",
            axes=(COMPARED,),
        ),
        shares(
            "strength.categories",
            (CATEGORIES,),
            "of the same pairs, shares by category; before the flop all 0",
            axes=(CATEGORY_NAMES,),
        ),
        shares(
            "strength.next",
            (CATEGORIES,),
            "shares of the next card of the board by the own category that it makes; flop and turn only",
            axes=(CATEGORY_NAMES,),
        ),
        shares("odds.call", (1,), "own turn only: chips to call / (pot + chips to call)"),
        shares(
            "odds.stack",
            (1,),
            "chips that can still be won or lost / (pot + these chips): the observer's stack, or the largest of the "
            "other players' stacks that have not folded, if that is smaller",
        ),
    ]


def own_suits(cards: Slice) -> Slice:
    """Return the slice of the same cards with suits in the order of `suit_place`."""
    axes = *cards.axes[:-1], OWN_CARDS
    return replace(cards, meaning=f"{cards.meaning}; suits by their cards, the first has the highest", axes=axes)


@compiled
def observe_v1(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write what `seat` may know into `out` (float32[layout.size])."""
    observe(table, seat, at, out)
    for card in range(DECK):
        out[at.board + card] = 0
        out[at.players_cards + card] = 0
    for i in range(table.board_count):
        out[at.board + renamed(table, seat, table.board[i])] = street_mark(i)
    if table.cards[seat, 0] >= 0:
        for i in range(2):
            out[at.players_cards + renamed(table, seat, table.cards[seat, i])] = 1
        if table.board_count > 0:
            mine = card_set(table.cards[seat], 2)
            _observe_others(mine, table.board_set, at.strength_others, at.strength_categories, out)
            if table.board_count < 5:
                _observe_next(mine | table.board_set, at.strength_next, out)
    _observe_odds(table, seat, at, out)


@compiled
def renamed(table: Any, seat: int, card: Any) -> int:
    """Return the place of a card in the observation of `seat`."""
    return 4 * (int(card) >> 2) + suit_place(table, seat, int(card) & 3)


@compiled
def suit_place(table: Any, seat: int, suit: int) -> int:
    """Return the place of a suit, 0 to 3: by the observer's cards, then flop, turn and river, high cards first.

    Suits with the same cards in each are interchangeable.
    """
    mine, place = _key(table, seat, suit), 0
    for other in range(4):
        key = _key(table, seat, other)
        place += key > mine or (key == mine and other < suit)
    return place


@compiled
def _key(table: Any, seat: int, suit: int) -> int:
    """Return the ranks that a suit has in the observer's cards, on the flop, the turn and the river: 13 bits each."""
    key = 0
    for i in range(2):
        if table.cards[seat, i] >= 0 and table.cards[seat, i] & 3 == suit:
            key |= 1 << 39 + (table.cards[seat, i] >> 2)
    for i in range(table.board_count):
        if table.board[i] & 3 == suit:
            key |= 1 << 13 * min(2, 4 - i) + (table.board[i] >> 2)
    return key


@compiled
def _observe_others(mine: int, shown: int, others: int, categories: int, out: Any) -> None:
    """Write how many of the pairs that another player can hold are worse, equal and better, and their categories.

    One pair stands for all pairs of the same ranks. If the board has three cards or more of a suit, it stands for those
    that have the same of their cards in this suit.
    """
    ours, total = set_strength(mine | shown), 0
    flush = 0  # the suit, as a bit
    for suit in range(4):
        if _COUNT[shown >> 16 * suit & _SUIT] >= 3:
            flush = 1 << suit
    for high in range(13):
        for low in range(high + 1):
            for split in range(4 if flush else 1):
                high_suits = _suits_left(mine | shown, high) & (flush if split & 1 else ~flush)
                low_suits = _suits_left(mine | shown, low) & (flush if split & 2 else ~flush)
                count = _COUNT[high_suits] * _COUNT[low_suits]
                if high == low:
                    if split == 0:
                        count = _COUNT[high_suits] * (_COUNT[high_suits] - 1) // 2
                        low_suits ^= high_suits & -high_suits
                    elif split != 1:  # the same pairs as split 1; the suit has only one card of a rank
                        count = 0
                if count > 0:
                    theirs = set_strength(shown | _lowest(high_suits, high) | _lowest(low_suits, low))
                    out[others + (theirs >= ours) + (theirs > ours)] += count
                    out[categories + (theirs >> 26)] += count
                    total += count
    for i in range(3):
        out[others + i] /= total
    for i in range(CATEGORIES):
        out[categories + i] /= total


@compiled
def _observe_next(taken: int, start: int, out: Any) -> None:
    """Write the shares of the next card by the category that it makes with the cards `taken`."""
    total = 0
    for suit in range(4):
        for rank in range(13):
            card = 1 << 16 * suit + rank
            if taken & card == 0:
                out[start + (set_strength(taken | card) >> 26)] += 1
                total += 1
    for i in range(CATEGORIES):
        out[start + i] /= total


@compiled
def _suits_left(taken: int, rank: int) -> int:
    """Return the suits in which the card of a rank is not taken, as bits."""
    left = ~taken >> rank
    return (left & 1) | (left >> 15 & 2) | (left >> 30 & 4) | (left >> 45 & 8)


@compiled
def _lowest(suits: int, rank: int) -> int:
    """Return the set of the card of a rank in the lowest of these suits."""
    return 1 << 16 * _COUNT[(suits & -suits) - 1] + rank


@compiled
def _observe_odds(table: Any, seat: int, at: Any, out: Any) -> None:
    if table.turn == seat and table.to_call > 0:
        out[at.odds_call] = table.to_call / (table.pot + table.to_call)
    largest = 0
    for other in range(table.seats):
        if other != seat and table.seated[other] and not table.folded[other]:
            largest = max(largest, table.stack[other])
    left = min(largest, table.stack[seat])
    if left > 0:
        out[at.odds_stack] = left / (table.pot + left)


def full(table: Any) -> Encoder:
    """Full information: the slices of version 0, the other seats' cards, and the board cards that are not dealt yet."""
    return v0(table).extended(hidden_slices(table), observe_hidden, full_information=True)


def hidden_slices(table: Any) -> list[Slice]:
    """Return the hidden slices for the options of `table`."""
    return [
        shares(
            "hidden.players.cards",
            (int(table.seats), DECK),
            "by relative seat: its two cards",
            axes=("relative seat", CARDS),
        ),
        shares(
            "hidden.board", (DECK,), "by card: 1 on the flop, 3/4 the turn, 1/2 the river, open or not", axes=(CARDS,)
        ),
    ]


@compiled
def observe_hidden(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write the hidden slices."""
    for other in range(table.seats):
        if table.cards[other, 0] >= 0:
            start = at.hidden_players_cards + DECK * relative(other, seat, table.seats)
            out[start + table.cards[other, 0]] = 1
            out[start + table.cards[other, 1]] = 1
    for i in range(5):
        if table.board[i] >= 0:
            out[at.hidden_board + table.board[i]] = street_mark(i)


def full_v1(table: Any) -> Encoder:
    """Full information for critics of version 1: its slices, the hidden cards in the same suits, and what they win."""
    slices = [
        *map(own_suits, hidden_slices(table)),
        per_seat(
            "hidden.players.share",
            int(table.seats),
            "share of the pot at a showdown of all that have not folded, with the whole board; 0 if cards are unknown",
        ),
    ]
    return v1(table).extended(slices, observe_hidden_v1, full_information=True)


@compiled
def observe_hidden_v1(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write the hidden slices."""
    for other in range(table.seats):
        if table.cards[other, 0] >= 0:
            start = at.hidden_players_cards + DECK * relative(other, seat, table.seats)
            for i in range(2):
                out[start + renamed(table, seat, table.cards[other, i])] = 1
    for i in range(5):
        if table.board[i] >= 0:
            out[at.hidden_board + renamed(table, seat, table.board[i])] = street_mark(i)
    if table.board[4] >= 0:
        _observe_shares(table, seat, at.hidden_players_share, out)


@compiled
def _observe_shares(table: Any, seat: int, start: int, out: Any) -> None:
    best, winners = 0, 0
    for other in range(table.seats):
        if table.seated[other] and not table.folded[other] and table.cards[other, 0] < 0:
            return
        strength = _final_strength(table, other)
        if strength > best:
            best, winners = strength, 0
        winners += strength == best
    for other in range(table.seats):
        if _final_strength(table, other) == best:
            out[start + relative(other, seat, table.seats)] = 1.0 / winners


@compiled
def _final_strength(table: Any, seat: int) -> int:
    """Return the strength of a seat's hand with the whole board; −1 if it is not in the hand."""
    if not table.seated[seat] or table.folded[seat]:
        return -1
    return set_strength(card_set(table.board, 5) | card_set(table.cards[seat], 2))


ENCODERS = {"v0": v0, "v1": v1, "full": full, "full_v1": full_v1}
