"""A hosted poker table and what every seat has been sent, for tests without a socket."""

import json
from collections import defaultdict
from itertools import count

from live.poker_options import rules
from parlour.envs.holdem.hands import card_number
from parlour.wrappers.live.poker import messages as m
from parlour.wrappers.live.poker.host import PokerHostSession


class Room:
    """A table and what every seat has been sent."""

    def __init__(self, players=0, **options):
        tokens = count()
        self.table = PokerHostSession(
            **rules(
                **{
                    "seats": 6,
                    "seed": 7,
                    "token": lambda: f"token-{next(tokens)}",
                    "min_players": max(2, players),
                    **options,
                }
            )
        )
        self.inbox = defaultdict(list)
        for i in range(players):
            self.table.join(f"agent-{i}", f"name-{i}")
        for i in range(players):
            self.take(self.table.connect(i))

    def take(self, sends):
        """Note what is sent, as it would travel."""
        sends = [(send.receiver, json.loads(m.encode(send.message))) for send in sends]
        for seat, message in sends:
            self.inbox[seat].append(message)
        return sends

    def join(self, agent_id, preferred=None):
        seat, sends = self.table.join(agent_id, agent_id, preferred)
        self.take(sends)
        return seat

    def connect(self, seat):
        return self.take(self.table.connect(seat))

    def send(self, seat, **message):
        return self.take(self.table.receive(seat, json.dumps(message)))

    def act(self, kind, amount=None, **changes):
        """Let the seat to act do something; `changes` to what an honest client would send."""
        seat = changes.pop("seat", self.turn)
        action = {"turn_token": changes.pop("turn_token") if "turn_token" in changes else self.token, "kind": kind}
        if amount is not None:
            action["amount"] = amount
        return self.send(seat, type="action", action=action, **{"expected_seq": self.table.seq, **changes})

    def check_down(self):
        """Check and call to the end of the hand."""
        while self.table.due.what == "act":
            self.act("call" if self.table.table.to_call else "check")

    def deal(self):
        return self.take(self.table.next_hand())

    def state(self, seat):
        """The newest game_state of a seat."""
        return next(message for message in reversed(self.inbox[seat]) if message["type"] == "game_state")

    def last(self, seat, kind):
        return next(message for message in reversed(self.inbox[seat]) if message["type"] == kind)

    @property
    def turn(self):
        return int(self.table.table.turn)

    @property
    def token(self):
        return self.table.due.token

    @property
    def chips(self):
        """Stacks and what lies in the middle."""
        table = self.table.table
        behind = sum(self.table.stack(seat) for seat in self.table.seats)
        return behind + (int(table.pot) if self.table.due and self.table.due.what == "act" else 0)


def kinds(sends):
    return [(seat, message["type"]) for seat, message in sends]


def error_code(sends):
    (_, message), = sends  # fmt: skip
    assert message["type"] == "error" and message["message"]
    assert message["code"] in m.ERROR_CODES
    return message["code"]


def room_card(card):
    return "23456789TJQKA"[card // 4] + next(s for s in "cdhs" if card_number("A" + s) % 4 == card % 4)


def pass_turn(table):
    """Let a turn pass, of a player who has said something since the turn before."""
    table.seats[table.due.seat].missed = 0
    return table.timeout(table.due.seat, table.due.token)


def hands_of(table):
    for name in "abc":
        table.connect(table.join(name)[0])
    cards = []
    for _ in range(3):
        cards.append(table.table.cards.tolist())
        while table.due.what == "act":
            pass_turn(table)
        table.next_hand()
    return cards


def whole(table):
    """All chips that have ever come to the table."""
    playing = table.status == "running" and not table.table.done
    behind = int(table.table.stack.sum()) + sum(seat.chips for seat in table.seats.values())
    return behind + (int(table.table.pot) if playing else 0) + sum(table._left.values())
