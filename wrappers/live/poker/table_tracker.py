"""What follows from the successive states of a table: chips put in, blinds and antes, the betting of the hand.

The wire shows one moment at a time, and its ``pot`` may or may not hold the current bets. A `TableTracker` compares
each state with the one before. It trusts stacks, bets and ``last``. It never guesses whose turn it is and what is
allowed. After missed messages, or after joining in the middle of a hand, it takes the likeliest betting that leads to
the state.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from msgspec import UNSET

from ....envs.holdem.hands import card_number, describe, strength
from ....envs.holdem.table import KINDS, LOG
from ....envs.holdem.view import STREETS, HistoryEntry, HoldemState, LastAction, Offer
from ....envs.holdem.view import Player as ShownPlayer
from .messages import GameState, Last, Player


def read_offers(state: GameState, seat: int | None) -> tuple[list[Offer], int]:
    """Return the offers of a state in one form, without unknown kinds, and the price of staying in the hand.

    The platform may leave out the price, or a bound of the raise, and may give the amount of a call in its bounds.
    Where a check is offered, the price is 0. An all-in that is offered as a raise and raises nothing is a call.
    """
    options = {option.kind: option for option in state.actions or ()}
    offers: list[Offer] = [Offer(kind) for kind in ("fold", "check", "call") if kind in options]
    bounds, call = options.get("raiseTo"), options.get("call")
    highest = max((player.bet for player in state.players), default=0)
    if bounds is not None and bounds.max:
        if call is None and "check" not in options and bounds.max <= highest:
            offers.append(Offer("call"))
        else:
            offers.append(Offer("raiseTo", min(bounds.min or bounds.max, bounds.max), bounds.max))
    if "check" in options:
        return offers, 0
    price = state.to_call or (call is not None and call.max) or owed(state, seat)
    return offers, max(price, 1) if call is not None else price


def owed(state: GameState, seat: int | None) -> int:
    """Return the chips that a seat has to put in to stay in the hand, as the bets tell it."""
    own = next((player for player in state.players if player.seat == seat), None)
    highest = max((player.bet for player in state.players), default=0)
    return highest if own is None else min(highest - own.bet, own.stack)


def safe_kind(kinds: Sequence[str]) -> str:
    """Return the kind of the safe action: check where it is offered, else fold."""
    return "check" if "check" in kinds else "fold"


@dataclass
class ComparedState:
    """One state, in the numbers that are compared."""

    seq: int
    phase: str
    turn: int | None
    stacks: dict[int, int]
    bets: dict[int, int]
    folded: set[int]


def acted_between(now: ComparedState, was: ComparedState) -> bool:
    """Return True if somebody acted between two states, which some servers give the same seq."""
    seats = now.stacks.keys() & was.stacks.keys()
    moved = any((now.stacks[seat], now.bets[seat]) != (was.stacks[seat], was.bets[seat]) for seat in seats)
    passed = (now.phase, now.turn) != (was.phase, was.turn)
    return moved or passed or not now.folded <= was.folded | now.stacks.keys() - seats


Betting = tuple[HistoryEntry, int]
"""An action, and its amount as `LastAction` has it."""
MARK = -1
"""Stands in an order of seats between those that have acted and those that may not have."""


class TableTracker:
    """Tracks one table."""

    def __init__(self) -> None:
        self.small_blind, self.big_blind, self.ante = 1, 2, 0
        self.history: list[HistoryEntry] = []
        self._amount = 0  # of the newest action in the history
        self._missing = 0  # actions of this hand that are no longer in the history
        self.committed: dict[int, int] = {}
        self.stacks_between_hands: dict[int, int] = {}
        self._hand = -1
        self._dealer = 0
        self._saw_blinds = False
        self.start: dict[int, int] = {}
        self._put_in: dict[int, int] = {}  # chips put in in the hand that ended, its last action included
        self._unplaced = 0  # chips in the pot that no seat is known to have put in
        self._now = ComparedState(-1, "", None, {}, {}, set())

    # What comes in.

    def update(self, state: GameState) -> None:
        """Take in the next state."""
        players = {player.seat: player for player in state.players}  # a seat that comes twice counts once
        stacks = {seat: player.stack for seat, player in players.items()}
        bets = {seat: player.bet for seat, player in players.items()}
        folded = {seat for seat, player in players.items() if player.folded}
        turn = state.turn if isinstance(state.turn, int) else None
        now = ComparedState(state.seq, state.phase, turn, stacks, bets, folded)
        previous, self._now = self._now, now
        if state.dealer is not None and state.dealer >= 0:
            self._dealer = state.dealer
        if state.phase not in STREETS:  # the betting is over, and bets may lie in the pot or in the stacks
            if previous.phase in STREETS and state.hand == self._hand:
                self._put_in = self._with_last_action(previous, state.last)
            elif state.hand != self._hand:  # the blinds put players all-in, and nobody could act
                self._begin(state.hand)
                self.start = dict(self.stacks_between_hands)
            self.settle({})
            return
        if state.hand != self._hand or _street(now.phase) < _street(previous.phase):
            previous = self._open(state, now)
        for seat in now.stacks.keys() & self.start.keys():
            self.committed[seat] = max(now.bets[seat], self.start[seat] - now.stacks[seat])
        if now.seq != previous.seq or acted_between(now, previous):
            for entry, amount in self._betting(previous, now, state.last):
                self._amount = amount
                self.history.append(entry)
                if len(self.history) > LOG:
                    del self.history[0]
                    self._missing += 1

    def taken(self, seat: int) -> int | None:
        """Return a seat's winnings from the pots of the hand that ended, by the stacks; None if these do not tell."""
        start, end = self.start.get(seat), self.stacks_between_hands.get(seat)
        return None if start is None or end is None else end - start + self._put_in.get(seat, 0)

    # What the agent sees.

    def game_state(self, state: GameState, seat: int | None, offers: list[Offer], to_call: int) -> HoldemState:
        """Return `state` as hold'em's TurnState has it.

        Args:
            state: the latest state.
            seat: the receiver.
            offers: what it may do, and `to_call` what a call costs, as `read_offers` reads them from the wire. If there
                are any, it is the receiver's turn.
        """
        if offers and seat is not None:
            self._correct_big_blind(state, seat, offers, to_call)
        players = {player.seat: player for player in state.players}
        newcomers = {number for number, player in players.items() if player.stack and number not in self.start}
        listed = [player for number, player in sorted(players.items()) if number == seat or number not in newcomers]
        return HoldemState(
            seat=seat,
            hand=state.hand,
            hands=1,
            phase=state.phase,
            board=list(state.board),
            pot=sum(self.committed.values()) + self._unplaced,
            players=[self._player(player, player.seat == seat, state.board) for player in listed],
            dealer=self._dealer,
            turn=self._now.turn,
            last=self._last(state.last),
            actions=offers,
            to_call=to_call,
            small_blind=self.small_blind,
            big_blind=self.big_blind,
            ante=self.ante,
            history=list(self.history),
            history_missing=self._missing or UNSET,
        )

    def _player(self, player: Player, own: bool, board: list[str]) -> ShownPlayer:
        committed, cards = self.committed.get(player.seat, 0), list(player.cards or ()) if own else []
        folded = bool(player.folded and (player.stack or committed))
        return ShownPlayer(
            seat=player.seat,
            name=player.name or f"player_{player.seat}",
            stack=player.stack,
            bet=player.bet,
            committed=committed,
            folded=folded,
            all_in=not folded and player.stack == 0 and committed > 0,
            cards=cards,
            rank=_rank([*cards, *board]) if cards else "",
        )

    def _last(self, last: Last | None) -> LastAction | None:
        if last is None or last.kind not in KINDS:
            return None
        amount = last.amount
        if self.history and (self.history[-1].seat, self.history[-1].kind) == (last.seat, last.kind):
            amount = self._amount  # the platform may leave it out
        return LastAction(last.seat, last.kind, amount or 0)

    # Chips.

    def settle(self, won: dict[int, int]) -> None:
        """Find the stacks after a hand: the state's if they hold all chips, else with what was won and returned."""
        held = {seat: self._now.stacks.get(seat, 0) for seat in self.start}
        missing = sum(self.start.values()) - sum(held.values())
        if missing and any(won.values()):
            uncalled = missing - sum(won.values())
            most = max(self.start, key=lambda seat: self.committed.get(seat, 0))
            for seat in held:
                held[seat] += won.get(seat, 0) + (uncalled if seat == most else 0)
            missing = min(uncalled, 0)
        if missing == 0:
            self.stacks_between_hands.update(held)

    def _with_last_action(self, was: ComparedState, last: Last | None) -> dict[int, int]:
        """Return the bets of each seat at the end of the hand: the last state of a hand does not show them."""
        put_in = dict(self.committed)
        if last is None or last.seat not in put_in:
            return put_in
        if last.kind == "call":
            put_in[last.seat] = min(max(put_in.values()), self.start[last.seat])
        elif last.kind == "raiseTo" and last.amount:
            put_in[last.seat] += max(0, last.amount - was.bets.get(last.seat, 0))
        return put_in

    # The start of a hand.

    def _begin(self, hand: int) -> None:
        self._hand = hand
        self.history, self.committed, self._put_in, self._unplaced = [], {}, {}, 0
        self._missing = 0

    def _open(self, state: GameState, now: ComparedState) -> ComparedState:
        """Begin a hand, and return the moment from which its betting is to be read."""
        self._begin(state.hand)
        first = state.phase == STREETS[0] and state.last is None  # who has folded already sits out
        out = now.folded if first else set()
        dealt = sorted({p.seat for p in state.players if p.stack or p.bet or p.all_in or p.cards} - out)
        extra = state.pot - sum(now.bets.values())
        extra = state.pot if extra < 0 else extra  # the pot without the current bets
        if first:
            self._learn_blinds(now, dealt)
            antes = self._antes(now, dealt, extra)
            previous = now
        else:
            live = [seat for seat in dealt if seat not in now.folded]
            antes = dict.fromkeys(live, extra // max(1, len(live)))
            self._unplaced = extra - sum(antes.values())
            previous = self._before_street(now, dealt)
        self.start = {seat: now.stacks[seat] + now.bets[seat] + antes.get(seat, 0) for seat in dealt}
        self.stacks_between_hands = {}
        return previous

    def _learn_blinds(self, now: ComparedState, dealt: list[int]) -> None:
        """Read the blinds from the bets that were posted; a player who is all-in may have posted less."""
        self._saw_blinds = True
        after: list[int | None] = [*_round_from(self._dealer + 1, dealt)]
        if len(after) <= 2:  # heads-up, platforms differ in who posts which blind
            after.sort(key=lambda seat: now.bets.get(cast(int, seat), 0))
        small, big = after[:2] if len(after) >= 2 else (None, None)
        for seat, name in ((big, "big_blind"), (small, "small_blind")):
            if seat is not None:
                posted = now.bets[seat]
                setattr(self, name, posted if now.stacks[seat] else max(posted, getattr(self, name)))
        self.big_blind = max(self.big_blind, self.small_blind, 1)

    def _correct_big_blind(self, state: GameState, seat: int, offers: list[Offer], to_call: int) -> None:
        """Take the big blind from the price of the first call (the post may be short), or from the least bet."""
        bet, stack = self._now.bets.get(seat, 0), self._now.stacks.get(seat, 0)
        unraised = all(entry.kind != "raiseTo" for entry in self.history)
        if state.phase == STREETS[0]:
            if unraised and to_call < stack:
                self.big_blind = max(1, bet + to_call)
        elif not self._saw_blinds and not any(self._now.bets.values()):
            least = [offer.min for offer in offers if offer.kind == "raiseTo" and offer.min < stack]
            self.big_blind = max(1, *least) if least else self.big_blind

    def _antes(self, now: ComparedState, dealt: list[int], extra: int) -> dict[int, int]:
        """Return each seat's ante: by its stack before the hand if that is known, else by the pot."""
        if all(seat in self.stacks_between_hands for seat in dealt):
            antes = {seat: self.stacks_between_hands[seat] - now.stacks[seat] - now.bets[seat] for seat in dealt}
            full = {antes[seat] for seat in dealt if now.stacks[seat] or now.bets[seat]}
            if len(full) == 1 and min(antes.values()) >= 0 and max(antes.values()) == max(full):
                self.ante = full.pop()
                return antes
        payers = [seat for seat in dealt if now.stacks[seat] or now.bets[seat]]
        short = [seat for seat in dealt if seat not in payers]
        if not payers:
            return {}
        if not short or not len(payers) * self.ante <= extra <= len(dealt) * self.ante:
            self.ante = extra // len(payers) if not short else -(-extra // len(dealt))
        rest = max(0, extra - self.ante * len(payers))
        share = rest // max(1, len(short))
        return {**dict.fromkeys(payers, self.ante), **dict.fromkeys(short, share)}

    def _before_street(self, now: ComparedState, dealt: list[int]) -> ComparedState:
        """Return the likeliest start of the street in whose middle the first state came."""
        bets = dict.fromkeys(now.bets, 0)
        first = self._dealer + 1
        if now.phase == STREETS[0]:
            after = _round_from(self._dealer + 1, dealt)
            small, big = (after[-1], after[0]) if len(after) == 2 else (after[0], after[1]) if after[1:] else (0, 0)
            for seat, blind in ((small, self.small_blind), (big, self.big_blind)):
                if seat in bets:
                    bets[seat] = min(blind, now.bets[seat])
            first = big + 1
        stacks = {seat: now.stacks[seat] + now.bets[seat] - bets[seat] for seat in now.stacks}
        folded = set() if now.phase == STREETS[0] else now.folded
        start = _round_from(first, dealt)
        return ComparedState(now.seq - 2, now.phase, start[0] if start else None, stacks, bets, folded)

    # The betting.

    def _betting(self, was: ComparedState, now: ComparedState, last: Last | None) -> Iterable[Betting]:
        """Work out what was done between two moments of a hand."""
        crossed = now.phase != was.phase
        bets = now.bets
        if crossed:  # the bets on the finished street: what was put in since, without the new street's bets
            both = now.stacks.keys() & was.stacks.keys()
            bets = {one: was.bets.get(one, 0) + was.stacks[one] - now.stacks[one] - now.bets[one] for one in both}
        if last is not None and was.turn in (None, last.seat) and now.seq - was.seq == 1 + crossed:
            high = self._high(was.phase, was.bets)
            yield _entry(was.phase, last.seat, was.bets.get(last.seat, 0), bets.get(last.seat, 0), high, last.kind)
            return
        # Messages were missed. A player who matched the old street and has folded since folded on the new one.
        folded = now.folded - was.folded
        later = {seat for seat in folded if crossed and bets.get(seat, 0) >= self._high(was.phase, bets)}
        start = self._dealer + 1 if was.turn is None else was.turn
        order = self._order(was, start, MARK if crossed else now.turn, bool(folded) or bets != was.bets)
        yield from self._street(was.phase, order, was.bets, bets, folded - later)
        if crossed:
            middle = ComparedState(was.seq, now.phase, None, was.stacks, {}, was.folded | (folded - later))
            order = self._order(middle, self._dealer + 1, now.turn, bool(later) or any(now.bets.values()))
            yield from self._street(now.phase, order, {}, now.bets, later)

    def _high(self, street: str, bets: dict[int, int]) -> int:
        return max(self.big_blind if street == STREETS[0] else 0, *bets.values(), 0)

    def _order(self, was: ComparedState, start: int, stop: int | None, changed: bool) -> list[int]:
        """Return the seats that have acted, from `start` round to before `stop`, then `MARK`, then the others."""
        able = [seat for seat, stack in was.stacks.items() if stack and seat not in was.folded and seat in self.start]
        lap = _round_from(start, able)
        cut = 0 if stop is None else lap.index(stop) if stop in lap else len(lap)
        if lap and stop == lap[0] and changed:
            cut = len(lap)
        return [*lap[:cut], MARK, *lap[cut:]]

    def _street(
        self, street: str, order: list[int], before: dict[int, int], after: dict[int, int], folded: set[int]
    ) -> Iterable[Betting]:
        """Return the betting of one street from bets `before` to `after`.

        Seats behind the mark in `order` may not have acted: of them only what has changed is returned.
        """
        high = self._high(street, before)
        acted = {entry.seat for entry in self.history if entry.street == street}
        sure = True
        for seat in order:
            had, has = before.get(seat, 0), after.get(seat, 0)
            if seat == MARK:
                sure = False
            elif has > had:
                acted = {seat} if has > high else acted | {seat}
                yield _entry(street, seat, had, has, high)
                high = max(high, has)
            elif sure and seat not in folded and had >= high and seat not in acted:
                yield _entry(street, seat, had, had, high)
            if seat in folded:
                yield _entry(street, seat, has, has, high, "fold")


def _street(phase: str) -> int:
    return STREETS.index(phase) if phase in STREETS else -1


def _round_from(first: int, seats: list[int]) -> list[int]:
    """Return the seats in order of play, from `first` or the next one after it."""
    ordered = sorted(seats)
    return [seat for seat in ordered if seat >= first] + [seat for seat in ordered if seat < first]


def _entry(street: str, seat: int, had: int, has: int, high: int, kind: str = "") -> Betting:
    """Return an action that took a bet from `had` to `has`, where the highest was `high`."""
    if kind not in KINDS:
        kind = "check" if has <= had else "raiseTo" if has > high else "call"
    return HistoryEntry(street, seat, kind, has), {"raiseTo": has, "call": has - had}.get(kind, 0)


def _rank(cards: list[str]) -> str:
    """Return the name of the best hand; "" where the texts are no cards."""
    try:
        numbers = [card_number(card) for card in cards]
    except ValueError:
        return ""
    name: str = describe(strength(np.array(numbers, np.int8), len(numbers)))
    return name
