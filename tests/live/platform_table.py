"""A table as the public poker platform runs it, its own ways included, for the double in `poker_platform`.

Where it differs from the rules of poker: heads-up the dealer posts the big blind; all that is put in makes one pot, so
that a short all-in hand can win more than it put in from each; chips nobody called are not returned but played for;
every raise reopens the betting; the odd chip goes to the lowest seat.
"""

import itertools
from dataclasses import dataclass, field

import numpy as np
from parlour.envs.holdem.hands import card_name, describe, strength

STREETS = ("preflop", "flop", "turn", "river")
BOARD = {"preflop": 0, "flop": 3, "turn": 4, "river": 5}


@dataclass
class Player:
    agent_id: str
    name: str | None
    stack: int
    bet: int = 0
    folded: bool = False
    active: bool = False
    gone: bool = False
    cards: list = field(default_factory=list)

    @property
    def all_in(self):
        return self.active and not self.folded and self.stack == 0


class PlatformTable:
    """Seats, stacks and one hand after another. `seq`, `turn` and `token` are those of the wire."""

    def __init__(self, rng, blinds=(1, 2), raise_cap=4):
        self.rng, self.blinds, self.raise_cap = rng, blinds, raise_cap
        self.players = {}
        self.hand = self.seq = self.pot = self.high = self.least = 0
        self.dealer, self.turn, self.token = -1, None, None
        self.phase, self.board, self.last = "waiting", [], None
        self.dealt = []  # streets that the latest action opened: name and cards
        self._tokens = itertools.count(1)

    # The hand.

    def start_hand(self):
        """Deal; return False where fewer than two have chips: the table is over."""
        self.players = {seat: player for seat, player in self.players.items() if not player.gone}
        if sum(player.stack > 0 for player in self.players.values()) < 2:
            return False
        for player in self.players.values():
            player.bet, player.folded, player.cards = 0, player.stack == 0, []
            player.active = player.stack > 0
        self.hand += 1
        self.pot, self.last, self.phase, self.board = 0, None, "preflop", []
        deck = list(self.rng.permutation(52))
        self._board = [int(deck.pop()) for _ in range(5)]
        for player in self.players.values():
            player.cards = [int(deck.pop()), int(deck.pop())] if player.active else []
        self.dealer = self._after(self.dealer, self._live())
        small = self._after(self.dealer, self._live())
        big = self._after(small, self._live())
        for seat, blind in zip((small, big), self.blinds, strict=True):
            self._put_in(seat, min(blind, self.players[seat].stack))
        self.high = self.least = self.blinds[1]
        self.raises = 1
        self.waiting_for = set(self._able())
        self.seq += 1
        self._next(big)
        return True

    def legal(self, seat):
        player = self.players[seat]
        owed = self.high - player.bet
        actions = [{"kind": "fold"}]
        if owed == 0:
            actions.append({"kind": "check"})
        else:
            price = min(owed, player.stack)
            actions.append({"kind": "call", "min": price, "max": price})
        if self.raises < self.raise_cap and player.stack > owed:
            most = player.stack + player.bet
            actions.append({"kind": "raiseTo", "min": min(self.high + self.least, most), "max": most})
        return actions

    def act(self, seat, kind, amount=None):
        """Play an action; return why it is refused, or None."""
        offer = next((one for one in self.legal(seat) if one["kind"] == kind), None)
        if offer is None:
            return f"{kind} is not possible now"
        if kind == "raiseTo" and (amount or 0) not in range(offer["min"], offer["max"] + 1):
            return f"a raise is from {offer['min']} to {offer['max']}"
        player = self.players[seat]
        self.waiting_for.discard(seat)
        if kind == "fold":
            player.folded = True
        elif kind == "call":
            self._put_in(seat, min(self.high - player.bet, player.stack))
        elif kind == "raiseTo":
            self._put_in(seat, amount - player.bet)
            self.least = max(self.least, amount - self.high)
            self.high = amount
            self.raises += 1
            self.waiting_for = set(self._able()) - {seat}
        self.last = {"seat": seat, "kind": kind, **({"amount": amount} if amount is not None else {})}
        self.seq += 1
        self.dealt = []
        self._next(seat)
        return None

    def withdraw(self, seat):
        """Fold a player who leaves, in its turn or out of it; its seat is free after the hand."""
        player = self.players[seat]
        player.gone = player.folded = True
        self.waiting_for.discard(seat)
        if self.turn == seat or len(self._live()) == 1:
            self.seq += 1
            self._next(seat)

    def results(self):
        """`hand_complete`: the cards of all, also of those who folded, and no winnings at a showdown."""
        alone = len(self._live()) == 1
        return [
            {
                "seat": seat,
                "cards": names(player.cards),
                **({} if alone else {"rank": describe(self._strength(player))}),
                "won": self.pot if alone and not player.folded else 0,
            }
            for seat, player in sorted(self.players.items())
            if player.active
        ]

    # Small steps.

    def _next(self, seat):
        if len(self._live()) == 1:
            return self._end()
        self.waiting_for &= set(self._able())
        if self.waiting_for and (len(self._able()) > 1 or self._owes(self._able()[0])):
            self.turn = self._after(seat, sorted(self.waiting_for))
            self.token = f"turn-{self.hand}-{next(self._tokens)}"
            return None
        self._collect()
        while self.phase != "river":
            self.phase = STREETS[STREETS.index(self.phase) + 1]
            opened = self._board[len(self.board) : BOARD[self.phase]]
            self.board += opened
            self.dealt.append((self.phase, opened))
            if len(self._able()) > 1:
                self.high, self.least, self.raises = 0, self.blinds[1], 0
                self.waiting_for = set(self._able())
                self.seq += 1
                self.turn = self._after(self.dealer, sorted(self.waiting_for))
                self.token = f"turn-{self.hand}-{next(self._tokens)}"
                return None
        return self._end()

    def _end(self):
        self._collect()
        live = self._live()
        if len(live) > 1:
            best = max(self._strength(self.players[seat]) for seat in live)
            live = [seat for seat in live if self._strength(self.players[seat]) == best]
        share, odd = divmod(self.pot, len(live))
        for position, seat in enumerate(live):
            self.players[seat].stack += share + (odd if position == 0 else 0)
        self.phase, self.turn, self.token = "ended", None, None
        self.seq += 1

    def _strength(self, player):
        return int(strength(np.array([*player.cards, *self._board], np.int8), 7))

    def _put_in(self, seat, chips):
        self.players[seat].stack -= chips
        self.players[seat].bet += chips

    def _collect(self):
        for player in self.players.values():
            self.pot += player.bet
            player.bet = 0

    def _live(self):
        return [seat for seat, player in sorted(self.players.items()) if player.active and not player.folded]

    def _able(self):
        return [seat for seat in self._live() if self.players[seat].stack > 0]

    def _owes(self, seat):
        return self.players[seat].bet < self.high

    @staticmethod
    def _after(seat, seats):
        return next((other for other in seats if other > seat), seats[0] if seats else None)


def names(cards):
    return [card_name(int(number)) for number in cards]
