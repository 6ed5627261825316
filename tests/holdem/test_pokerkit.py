"""PokerKit as an independent oracle: random hands, every set of legal actions, every bound, every payoff.

Where the two differ, by rule and nowhere else:

- A short blind: with us the bet to call stays the full blind (as on Moltpoker), with PokerKit it is the largest bet on
  the table. Every stack here can pay ante and big blind.
- The first bet or raise of a street, all-in by less than the big blind: PokerKit takes it for a full one, which reopens
  the betting to those who acted; with us it does not, as no short all-in does. (`opened_short`)
- Several short all-ins that add up to a full raise, and then one more: PokerKit counts anew after each full sum, and
  keeps those who acted from raising; with us they face at least a full raise and may. (`more_than_full`)
- Where all opponents are all-in for no more than one's own bet, PokerKit may ask for a check; we ask for nothing.
- Odd chips: PokerKit first merges the pots that the same winners share and then gives all odd chips to the first of
  them; with us every side pot is split by itself, and each winner from the button's left gets one of its odd chips
  (`by_the_book`). The two may differ by as many chips as are odd, and only there.

Not compared: folding where a check is free (legal with us, not with PokerKit), and blinds of equal size (PokerKit tells
the first to act by their sizes).
"""

import os
from typing import ClassVar

import numpy as np
import phevaluator
import pytest
from parlour.envs.core.rng import streams
from parlour.envs.holdem import rules
from parlour.envs.holdem.hands import card_name
from parlour.envs.holdem.rules import Move
from parlour.envs.holdem.table import CALL, FOLD, RAISE, TABLE
from pokerkit import Automation, Card, NoLimitTexasHoldem, Rank, Suit

ALL_HANDS = int(os.environ.get("PARLOUR_ORACLE_HANDS", "1500"))
"""`make nightly` sets a million."""
CHUNKS = max(10, ALL_HANDS // 5000)
"""Tests that run in parallel; each that passes is a line of progress."""
HANDS = ALL_HANDS // CHUNKS
"""Hands per chunk."""

AUTOMATIONS = (
    Automation.ANTE_POSTING,
    Automation.BET_COLLECTION,
    Automation.BLIND_OR_STRADDLE_POSTING,
    Automation.HOLE_CARDS_SHOWING_OR_MUCKING,
    Automation.HAND_KILLING,
    Automation.CHIPS_PUSHING,
    Automation.CHIPS_PULLING,
)
CARDS = [Card(Rank(name[0]), Suit(name[1])) for name in map(card_name, range(52))]


class Ranked(int):
    """A hand's rank. PokerKit's own takes nine tenths of the time (and `test_hands` compares it)."""

    known: ClassVar[dict[tuple[Card, ...], "Ranked"]] = {}

    @classmethod
    def from_game(cls, hole_cards, board_cards=()):
        cards = (*hole_cards, *board_cards)
        if len(cards) < 5:
            raise ValueError("too few cards")
        if cards not in cls.known:
            cls.known[cards] = cls(-phevaluator.evaluate_cards(*map(repr, cards)))
        return cls.known[cards]


class Oracle(NoLimitTexasHoldem):
    hand_types = (Ranked,)


def random_table(generator):
    """Return a dealt table: blinds, antes, seats and stacks drawn; every stack can pay what is posted."""
    table = np.zeros(1, TABLE).view(np.recarray)[0]
    table.deck[:] = np.arange(52)
    table.stream = streams(int(generator.integers(2**62)), 1)[0]
    table.seats = generator.integers(2, 11)
    table.big_blind = generator.integers(2, 11)
    table.small_blind = generator.integers(1, table.big_blind)
    table.ante = generator.choice([0, 0, 1, 7])
    deep = table.big_blind * generator.choice([2, 5, 20, 200])
    least = table.ante + table.big_blind
    table.stacks[: table.seats] = generator.integers(least, least + deep, table.seats)
    table.hands, table.button, table.raise_cap = 1, generator.integers(table.seats), -1
    rules.reset(table)
    return table


def by_the_book(table):
    """Split every pot by itself, in plain Python: the chips won, from the button's left, and how many were odd."""
    seats = [(int(table.dealer) + 1 + i) % int(table.seats) for i in range(int(table.seats))]
    put_in = {seat: int(table.committed[seat]) for seat in seats}
    ranks = {}
    for seat in seats:
        if not table.folded[seat]:
            ranks[seat] = phevaluator.evaluate_cards(*map(int, table.cards[seat]), *map(int, table.board))
    won, odd, floor = dict.fromkeys(seats, 0), 0, 0
    levels = sorted({put_in[seat] for seat in ranks})
    for level in levels:
        top = max(put_in.values()) if level == levels[-1] else level
        pot = sum(max(0, min(chips, top) - floor) for chips in put_in.values())
        inside = [seat for seat in ranks if put_in[seat] >= level]
        winners = [seat for seat in inside if ranks[seat] == min(ranks[other] for other in inside)]
        share, rest = divmod(pot, len(winners))
        for i, seat in enumerate(winners):
            won[seat] += share + (i < rest)
        odd, floor = odd + rest, level
    return [won[seat] for seat in seats], odd


class Comparison:
    """One hand on both sides. PokerKit counts seats from the left of the button."""

    def __init__(self, generator):
        self.generator = generator
        self.table = table = random_table(generator)
        seats = int(table.seats)
        self.seat_of = [(int(table.dealer) + 1 + i) % seats for i in range(seats)]
        self.state = Oracle.create_state(
            AUTOMATIONS, True, int(table.ante), (int(table.small_blind), int(table.big_blind)), int(table.big_blind),
            [int(table.stacks[seat]) for seat in self.seat_of], seats,
        )  # fmt: skip
        Ranked.known.clear()
        for i, seat in enumerate(self.seat_of):
            self.state.deal_hole([CARDS[card] for card in table.cards[seat]], i)
        self.taste = generator.dirichlet([0.5, 1, 1])

    def play(self):
        """Play the hand to its end, comparing at every decision."""
        state, dealt = self.state, 0
        while state.status:
            if state.actor_index is not None:
                self.decide()
            elif state.card_burning_status:
                state.burn_card((Card(Rank.UNKNOWN, Suit.UNKNOWN),))
            else:
                count = 3 if dealt == 0 else 1
                state.deal_board([CARDS[card] for card in self.table.board[dealt : dealt + count]])
                dealt += count
        assert self.table.done
        ours = [int(self.table.total[seat]) for seat in self.seat_of]
        won, odd = by_the_book(self.table)
        assert won == [int(self.table.won[seat]) for seat in self.seat_of]
        assert sum(ours) == sum(state.payoffs) == 0
        assert sum(abs(one - other) for one, other in zip(ours, state.payoffs, strict=True)) <= 2 * odd

    def decide(self):
        table, state = self.table, self.state
        seat = self.seat_of[state.actor_index]
        if table.done or seat != table.turn:
            others = [i for i in state.player_indices if state.statuses[i] and i != state.actor_index]
            assert not any(state.stacks[i] for i in others)
            assert state.checking_or_calling_amount == 0
            state.check_or_call()
            return
        assert len(state.board_cards) == table.board_count
        assert state.checking_or_calling_amount == table.to_call
        assert [state.stacks[i] for i in state.player_indices] == [table.stack[s] for s in self.seat_of]
        assert [state.bets[i] for i in state.player_indices] == [table.bet[s] for s in self.seat_of]
        self.compare_raises(seat)
        self.act()

    def compare_raises(self, seat):
        table, state = self.table, self.state
        least, most = (
            state.min_completion_betting_or_raising_to_amount,
            state.max_completion_betting_or_raising_to_amount,
        )
        self.may_raise = table.raise_max > 0 and least is not None
        if self.may_raise:
            assert (least, most) == (table.raise_min, table.raise_max)
        elif table.raise_max > 0:
            assert self.more_than_full(seat)
        elif least is not None:
            assert self.opened_short(seat)

    def more_than_full(self, seat):
        faced = self.table.current_bet - self.table.bet[seat]
        return self.table.acted[seat] and faced >= self.table.full_raise and self.state.consecutive_short_all_in_amounts

    def opened_short(self, seat):
        return self.table.acted[seat] and 0 < self.state.completion_betting_or_raising_amount < self.table.big_blind

    def act(self):
        table, state = self.table, self.state
        kind = self.generator.choice(3, p=self.taste)
        if kind == 0 and table.to_call > 0 and self.generator.random() < 0.5:
            state.fold()
            rules.step(table, Move(FOLD, 0))
        elif kind == 2 and self.may_raise:
            low, high = int(table.raise_min), int(table.raise_max)
            amount = int(self.generator.choice([low, high, self.generator.integers(low, high + 1)]))
            state.complete_bet_or_raise_to(amount)
            rules.step(table, Move(RAISE, amount))
        else:
            state.check_or_call()
            rules.step(table, Move(CALL, 0))


def compare(hands, seed):
    generator = np.random.default_rng([0x504B, seed])
    for _ in range(hands):
        Comparison(generator).play()


def test_a_few_hands():
    compare(150, 20)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_many_hands(chunk):
    compare(HANDS, chunk)
