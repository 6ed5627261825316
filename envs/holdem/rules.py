"""The rules of no-limit hold'em over one record, compiled.

They are the rules of Robert's Rules of Poker (no-limit) and of Moltpoker: a short all-in does not reopen the betting,
odd chips go to the first winners left of the button, and uncalled chips are returned. `reset` begins an episode and
`step` applies the acting seat's move, up to the next decision. `deal` begins a single hand with the current stacks, for
a caller that runs a table itself; `deal_known` and `deal_posted` begin one that was played before.

The file has more than 400 lines: betting, dealing and the showdown change the same record, and are compiled together.
"""

from typing import Any, NamedTuple

import numpy as np

from ..core.compiled import compiled
from ..core.rng import draw
from .hands import card_set, set_strength
from .table import (
    CALL,
    CALL_ACTION,
    CHECK,
    ENDED,
    FIRST_FRACTION,
    FOLD,
    FOLD_ACTION,
    KEPT,
    LEAST_RAISE,
    LOG,
    PREFLOP,
    RAISE,
    RIVER,
)


class Move(NamedTuple):
    """A move: `FOLD`; `CALL`, which is a check if there is nothing to call; `RAISE` to a total of `amount` chips."""

    kind: int
    amount: int


@compiled
def reset(table: Any) -> None:
    """Begin an episode: initial stacks, hand 1, the button drawn or set by the option."""
    open_episode(table)
    deal(table)


@compiled
def open_episode(table: Any) -> None:
    """Set the stacks and the button of an episode; no hand has begun."""
    for seat in range(table.seats):
        table.stack[seat] = table.stacks[seat]
        table.total[seat] = 0
        table.rewards[seat] = 0
    if table.fewest > 0:
        _empty_seats(table)
    table.hand = 0
    table.dealer = table.button if table.button >= 0 else draw(table, table.seats)
    if table.stack[table.dealer] == 0:
        table.dealer = next_dealer(table)


@compiled
def _empty_seats(table: Any) -> None:
    """Draw how many seats are empty in this episode, and which."""
    empty = draw(table, table.seats - table.fewest + 1)
    for seat in range(table.seats):  # each set of seats is equally likely
        if draw(table, table.seats - seat) < empty:
            table.stack[seat] = 0
            empty -= 1


@compiled
def left_of(table: Any, seat: int) -> int:
    """Return the seat to the left. (`%` does the same, but is slower.)"""
    return seat + 1 if seat + 1 < table.seats else 0


@compiled
def next_dealer(table: Any) -> int:
    """Return the next seat left of the dealer that has chips."""
    return _next_with_chips(table, table.dealer)


@compiled
def _next_with_chips(table: Any, seat: int) -> int:
    for _ in range(table.seats):
        seat = left_of(table, seat)
        if table.stack[seat] > 0:
            break
    return seat


@compiled
def move_button(table: Any) -> None:
    """Give button and blinds of the next hand to their seats.

    The moving button goes to the next seat with chips, and the blinds are those left of it. By the rule of the dead
    button (Robert's Rules of Poker, section 15) the big blind goes to the next seat with chips, so that nobody pays it
    twice or never. The small blind is due from the last big blind, and the button goes to the last small blind, also
    where that seat has no chips left. Of two players, the one without the big blind has both.
    """
    if not table.dead_button:
        table.dealer = next_dealer(table)
        return
    last = _big_blind_seat(table)
    big = _next_with_chips(table, last)
    other = _next_with_chips(table, big)
    if _next_with_chips(table, other) == big:
        table.dealer = other
        table.small_seat = other
    else:
        table.dealer = table.small_seat
        table.small_seat = last


@compiled
def deal(table: Any) -> None:
    """Begin a hand with the current stacks and dealer. Every seat with chips plays; there must be at least two."""
    table.done = False
    open_hand(table)
    _go_on(table, _big_blind_seat(table))


@compiled
def deal_known(table: Any, cards: Any, board: Any) -> None:
    """Do the same as `deal` with given cards, int8[seats, 2] and int8[5], to replay a hand; −1: not known.

    At the showdown, cards that are not known lose to those that are.
    """
    table.done = False
    open_hand(table)
    _set_cards(table, cards, board)
    _go_on(table, _big_blind_seat(table))


@compiled
def deal_posted(table: Any, cards: Any, board: Any, antes: Any, blinds: Any, after: int, shared: bool) -> None:
    """Do the same as `deal_known` for a hand in which the seats posted other chips than our rules ask for.

    Args:
        table: its `big_blind` is the least bet.
        cards, board: as in `deal_known`.
        antes, blinds: int64[seats]. A blind is a bet, an ante is not.
        after: the seat left of which the betting begins.
        shared: whether antes go into the main pot whole, and not as far as every player can match them. A big blind's
            ante for the whole table does.
    """
    table.done = False
    _begin_hand(table)
    _set_cards(table, cards, board)
    table.current_bet = 0
    for seat in range(table.seats):
        table.total[seat] = 0
        paid = _pay(table, seat, antes[seat])
        if shared:
            table.committed[seat] -= paid
            table.total[seat] -= paid
    for seat in range(table.seats):
        table.bet[seat] = _pay(table, seat, blinds[seat])
        table.current_bet = max(table.current_bet, blinds[seat])  # also where a short blind posted less
    _go_on(table, after)


@compiled
def _set_cards(table: Any, cards: Any, board: Any) -> None:
    for seat in range(table.seats):
        for k in range(2):
            table.cards[seat, k] = cards[seat, k]
    for k in range(5):
        table.board[k] = board[k]


@compiled
def step(table: Any, move: Any) -> None:
    """Apply the acting seat's legal move, up to the next decision: through streets, showdown and further hands."""
    seat = table.turn
    kind = move.kind
    amount = 0
    for other in range(table.seats):
        table.rewards[other] = 0
    if kind == FOLD:
        table.folded[seat] = True
    elif kind == RAISE:
        amount = move.amount
        raised_by = amount - table.current_bet
        _pay(table, seat, amount - table.bet[seat])
        table.bet[seat] = amount
        table.current_bet = amount
        table.raises += 1
        if raised_by >= table.full_raise:  # a short all-in does not reopen the betting
            table.full_raise = raised_by
            for other in range(table.seats):
                table.acted[other] = False
    else:
        kind = CALL if table.to_call > 0 else CHECK
        amount = _pay(table, seat, table.to_call)
        table.bet[seat] += amount
    table.acted[seat] = True
    _write_log(table, seat, kind, amount)
    _go_on(table, seat)


@compiled
def card_bits(cards: Any, count: int) -> int:
    """Return the first `count` of `cards` as a set (int64) with the bit ``1 << card``."""
    bits = np.int64(0)
    for i in range(count):
        bits |= np.int64(1) << np.int64(cards[i])
    return bits  # type: ignore[return-value]


@compiled
def deal_rest(table: Any, used: int, given: Any, board: Any) -> None:
    """Deal the cards that are not given, from the shuffled deck.

    Args:
        table: a hand that `open_hand` has begun.
        used: the given cards, a set of `card_bits`.
        given: the seats whose cards are given.
        board: the given cards of the board, its first ones.
    """
    next_card = 0
    for seat in range(table.seats):
        drawn = bool(table.seated[seat])
        for other in given:
            drawn = drawn and other != seat
        for k in range(2 * drawn):
            while used >> np.int64(table.deck[next_card]) & 1:
                next_card += 1
            table.cards[seat, k] = table.deck[next_card]
            next_card += 1
    for k in range(5):
        if k < len(board):
            table.board[k] = board[k]
        else:
            while used >> np.int64(table.deck[next_card]) & 1:
                next_card += 1
            table.board[k] = table.deck[next_card]
            next_card += 1


@compiled
def begin_on_street(table: Any, phase: int) -> None:
    """Go on to the first decision of a hand on the street `phase`, if need be after every seat has called."""
    table.done = False
    if phase == PREFLOP:
        _go_on(table, _big_blind_seat(table))
        return
    for seat in range(table.seats):
        if table.seated[seat]:
            _pay(table, seat, table.big_blind - table.bet[seat])
    while table.phase < phase:
        _next_street(table)
    _go_on(table, table.dealer)


# A hand, up to its first decision.


@compiled
def open_hand(table: Any) -> None:
    """Begin a hand: ante, blinds and shuffled cards. Nobody has the turn yet."""
    _begin_hand(table)
    for seat in range(table.seats):
        if table.seated[seat]:
            _pay(table, seat, table.ante)
    if not table.dead_button or table.hand == 1:
        table.small_seat = _small_blind_seat(table)
    small = table.small_seat
    big = _big_blind_seat(table)
    if table.seated[small]:
        table.bet[small] = _pay(table, small, table.small_blind)
    table.bet[big] = _pay(table, big, table.big_blind)
    table.current_bet = table.big_blind  # also where a short blind posted less


@compiled
def _begin_hand(table: Any) -> None:
    """Begin a hand with shuffled cards, before anybody posts."""
    table.hand += 1
    table.phase = PREFLOP
    open_board(table, 0)
    table.pot = 0
    table.showdown = False
    table.last_seat = -1
    for street in range(4):
        table.log_end[street] = 0
    table.log_dropped = 0
    for seat in range(table.seats):
        table.seated[seat] = table.stack[seat] > 0
        table.folded[seat] = False
        table.acted[seat] = False
        table.bet[seat] = 0
        table.committed[seat] = 0
    _shuffle(table)
    table.full_raise = table.big_blind
    table.raises = 0


@compiled
def _shuffle(table: Any) -> None:
    for i in range(2 * table.seats + 5):
        j = i + draw(table, 52 - i)
        card = table.deck[j]
        table.deck[j] = table.deck[i]
        table.deck[i] = card
    for seat in range(table.seats):
        for k in range(2):
            table.cards[seat, k] = table.deck[2 * seat + k] if table.seated[seat] else -1
    for k in range(5):
        table.board[k] = table.deck[2 * table.seats + k]


@compiled
def _small_blind_seat(table: Any) -> int:
    players = 0
    for seat in range(table.seats):
        players += table.seated[seat]
    return table.dealer if players == 2 else _next_player(table, table.dealer)  # heads-up, the dealer posts it


@compiled
def _big_blind_seat(table: Any) -> int:
    return _next_player(table, table.small_seat)


@compiled
def _next_player(table: Any, seat: int) -> int:
    for _ in range(table.seats):
        seat = left_of(table, seat)
        if table.seated[seat]:
            break
    return seat


@compiled
def _pay(table: Any, seat: int, amount: int) -> int:
    paid = min(amount, table.stack[seat])
    table.stack[seat] -= paid
    table.committed[seat] += paid
    table.pot += paid
    return paid


# From one decision to the next.


@compiled
def log_entry(seat: int, kind: int, bet: int) -> int:
    """Return an entry of the log: who acted, how (an index of `KINDS`), and the actor's bet on this street afterwards.

    It is one number, so that a record is small and the actions of a street lie side by side.
    """
    return bet << 6 | kind << 4 | seat


@compiled
def entry_seat(entry: int) -> int:
    """Return who acted."""
    return entry & 15


@compiled
def entry_kind(entry: int) -> int:
    """Return the kind of action, an index of `KINDS`."""
    return entry >> 4 & 3


@compiled
def entry_bet(entry: int) -> int:
    """Return the actor's bet afterwards."""
    return entry >> 6


@compiled
def log_first(table: Any, street: int) -> int:
    """Return the place in the log of a street's first action; its last one is before ``table.log_end[street]``."""
    return table.log_end[street - 1] if street > 0 else 0


@compiled
def _write_log(table: Any, seat: int, kind: int, amount: int) -> None:
    street = table.phase - PREFLOP
    if table.log_end[street] == LOG:
        _drop_oldest(table)
    k = table.log_end[street]
    table.log[k] = log_entry(seat, kind, table.bet[seat])
    for later in range(street, 4):
        table.log_end[later] = k + 1
    table.last_seat = seat
    table.last_kind = kind
    table.last_amount = amount


@compiled
def _drop_oldest(table: Any) -> None:
    """Drop the first action of the first street that has more than `KEPT`: encoders see the last ones of each."""
    street = 0
    while table.log_end[street] - log_first(table, street) <= KEPT:
        street += 1
    for k in range(log_first(table, street), LOG - 1):
        table.log[k] = table.log[k + 1]
    for later in range(street, 4):
        table.log_end[later] -= 1
    table.log_dropped += 1


@compiled
def _go_on(table: Any, after: int) -> None:
    """Find the next decision, left of seat `after`; deal streets and hands until there is one."""
    while True:
        # One pass over the seats without branches, which the processor would mispredict; a bit for every seat.
        current = np.int64(table.current_bet)
        seats = np.int64(table.seats)
        left, behind, waiting, callers, most = np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(0)
        for seat in range(seats):
            stack, bet = table.stack[seat], table.bet[seat]
            plays = (table.seated[seat] != 0) & (table.folded[seat] == 0)
            able = plays & (stack > 0)
            left |= np.int64(plays) << seat
            behind |= np.int64(able) << seat
            waiting |= np.int64(able & ((bet < current) | (table.acted[seat] == 0))) << seat
            callers |= np.int64(able & (bet + stack > current)) << seat
            most = max(most, bet if plays else np.int64(0))
        if left & (left - 1):  # more than one
            seat = after
            for _ in range(seats):
                seat = left_of(table, seat)
                if waiting >> seat & 1:
                    bet = table.bet[seat]
                    # No decision if all others are all-in for no more than this seat's bet.
                    if behind & ~(1 << seat) or (bet < current and most > bet):
                        table.turn = seat
                        _set_bounds(table, seat, callers & ~(1 << seat))
                        return
            if table.phase < RIVER:
                _next_street(table)
                after = table.dealer
                continue
            table.showdown = True
        _pay_out(table)
        if table.done:
            return
        move_button(table)
        open_hand(table)
        after = _big_blind_seat(table)


@compiled
def _set_bounds(table: Any, seat: int, callers: Any) -> None:
    """Set what the seat may do; `callers`: a bit for every other seat that could call a raise."""
    owed = table.current_bet - table.bet[seat]
    stack = table.stack[seat]
    table.to_call = min(owed, stack)
    table.raise_min = 0
    table.raise_max = 0
    if stack <= owed or table.raises == table.raise_cap or callers == 0:
        return
    if table.acted[seat] and owed < table.full_raise:  # only short all-ins since its last action
        return
    table.raise_max = table.bet[seat] + stack
    table.raise_min = min(table.current_bet + table.full_raise, table.raise_max)


@compiled
def _next_street(table: Any) -> None:
    table.phase += 1
    open_board(table, table.phase + 1)  # flop 3, turn 4, river 5
    table.current_bet = 0
    table.full_raise = table.big_blind
    table.raises = 0
    for seat in range(table.seats):
        table.bet[seat] = 0
        table.acted[seat] = False


@compiled
def open_board(table: Any, count: int) -> None:
    """Turn up the first `count` cards of the board (0, 3, 4 or 5)."""
    table.board_count = count
    table.board_set = card_set(table.board, count)
    table.board_rank = set_strength(table.board_set) >> 26 if count > 0 else 0


# The end of a hand.


@compiled
def _pay_out(table: Any) -> None:
    """Return uncalled chips, pay the pots, and end the episode unless another hand is due."""
    left = 0
    for seat in range(table.seats):
        table.won[seat] = 0
        table.strength[seat] = -1
        if table.seated[seat] and not table.folded[seat]:
            left = seat
            if table.showdown and table.cards[seat, 0] >= 0:
                table.strength[seat] = set_strength(card_set(table.cards[seat], 2) | table.board_set)
    _return_uncalled(table)
    if table.showdown:
        pay_pots(table)
    else:
        table.won[left] = table.pot
    playing = 0
    for seat in range(table.seats):
        table.stack[seat] += table.won[seat]
        table.rewards[seat] += table.won[seat] - table.committed[seat]  # a step may end two hands
        table.total[seat] += table.won[seat] - table.committed[seat]
        playing += table.stack[seat] > 0
    if table.hand >= table.hands or playing < 2:
        table.phase = ENDED
        table.turn = -1
        table.to_call = 0
        table.raise_min = 0
        table.raise_max = 0
        table.done = True


@compiled
def _return_uncalled(table: Any) -> None:
    """Return to the player who put in most the chips that nobody matched."""
    most = 0
    second = 0
    holder = 0
    for seat in range(table.seats):
        if table.seated[seat]:
            if table.committed[seat] > most:
                second = most
                most = table.committed[seat]
                holder = seat
            elif table.committed[seat] > second:
                second = table.committed[seat]
    if not table.folded[holder]:
        table.stack[holder] += most - second
        table.committed[holder] -= most - second
        table.pot -= most - second


@compiled
def pay_pots(table: Any) -> None:
    """Pay main and side pots. A pot holds the chips between two commitment levels of the players still in.

    The main pot also holds the antes that are not committed (see `deal_posted`).
    """
    floor = -1
    unpaid = table.pot
    shared = table.pot
    for seat in range(table.seats):
        shared -= table.committed[seat] if table.seated[seat] else 0
    while unpaid > 0:
        level = -1
        best = -1
        for seat in range(table.seats):
            if table.seated[seat] and not table.folded[seat] and table.committed[seat] > floor:
                best = max(best, table.strength[seat])
                if level < 0 or table.committed[seat] < level:
                    level = table.committed[seat]
        amount = shared
        shared = 0
        higher = False
        winners = 0
        for seat in range(table.seats):
            if table.seated[seat]:
                amount += max(0, min(table.committed[seat], level) - max(floor, 0))
                if not table.folded[seat] and table.committed[seat] > floor:
                    winners += table.strength[seat] == best
                    higher = higher or table.committed[seat] > level
        if not higher:
            amount = unpaid  # with what folded players put in above the last level
        share = amount // winners if winners > 1 else amount  # a division takes as long as all else here
        odd = amount - share * winners
        seat = table.dealer
        for _ in range(table.seats):  # odd chips go to the first winners left of the dealer
            seat = left_of(table, seat)
            inside = table.seated[seat] and not table.folded[seat] and table.committed[seat] > floor
            if inside and table.strength[seat] == best:
                table.won[seat] += share
                if odd > 0:
                    table.won[seat] += 1
                    odd -= 1
        unpaid -= amount
        floor = level


@compiled
def decode(table: Any, action: int) -> Move:
    """Return the move of an action index: fold, check or call, least raise, pot fractions, all-in."""
    if action == FOLD_ACTION:
        return Move(FOLD, 0)
    if action == CALL_ACTION:
        return Move(CALL, 0)
    if action == LEAST_RAISE:
        return Move(RAISE, table.raise_min)
    if action < FIRST_FRACTION + table.num_fractions:
        return Move(RAISE, _fraction_of_pot(table, action - FIRST_FRACTION))
    return Move(RAISE, table.raise_max)


@compiled
def _fraction_of_pot(table: Any, index: int) -> int:
    """Return the total of a raise by a fraction of the pot after the call; half a chip rounds up."""
    return table.current_bet + int(table.fractions[index] * (table.pot + table.to_call) + 0.5)


@compiled
def legal(table: Any, mask: Any) -> None:
    """Write the action mask of the acting seat. Of several raises to one amount, only one is legal."""
    least, most = table.raise_min, table.raise_max
    bet, pot = table.current_bet, np.float64(table.pot + table.to_call)
    mask[FOLD_ACTION] = 1
    mask[CALL_ACTION] = 1
    mask[LEAST_RAISE] = least < most
    before = least
    count = np.int64(table.num_fractions)
    for index in range(count):  # the fractions rise. No branch: the processor would mispredict it
        amount = bet + np.int64(table.fractions[index] * pot + 0.5)
        mask[FIRST_FRACTION + index] = (amount > max(before, least)) & (amount < most)
        before = amount
    mask[FIRST_FRACTION + count] = most > 0
