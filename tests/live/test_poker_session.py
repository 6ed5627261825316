"""The agent's protocol without sockets: law 1 through the wire, dialects, gaps, rejections, garbage."""

import json
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parlour import envs
from parlour.envs import Action, AgentResponse
from parlour.envs.holdem import rules
from parlour.wrappers.live.poker import messages
from parlour.wrappers.live.poker.session import AgentSession, Decision, Ended, Fatal, HandOver, Note, Seated, Send



@dataclass
class Host:
    """A small host: hold'em's record as the messages of poker.md, in one of the dialects of the notes."""

    game: envs.Game
    seed: int = 0
    envelope: bool = False
    omit: bool = False  # turn, toCall and last are left out where null or 0; call carries its amount
    pot_of_finished_streets: bool = False
    unpaid: bool = False  # the last state of a hand shows the stacks before the pots are paid
    seq: int = 0
    hand: int = 0
    rng: np.random.Generator = field(init=False)

    def __post_init__(self):
        self.rng = np.random.default_rng(self.seed)
        self.tables = self.game.tables(1)
        self.table = self.tables[0]
        self.table.stream = self.seed
        self.table.stack[:] = self.table.stacks
        self.table.dealer = self.rng.integers(self.game.seats)
        self.stacks = []

    def deal(self):
        """Begin a hand; return its end if blinds and antes already decided it."""
        self.stacks = self.table.stack.tolist()
        self.table.dealer = rules.next_dealer(self.table)
        self.table.hand = 0  # every hand is an episode of one
        self.hand += 1
        self.seq += 1
        rules.deal(self.table)
        return self.ending() if self.table.done else []

    @property
    def over(self):
        return int((self.table.stack > 0).sum()) < 2

    def wrap(self, message):
        if self.envelope:
            message = {
                "type": message.pop("type"),
                "table_id": "t",
                "seq": message.pop("seq", 0),
                "ts": 1,
                "payload": message,
            }
        return json.dumps(message)

    def state(self, seat, **changes):
        full = self.game.game_state(self.table, seat)
        players = [
            {key: player[key] for key in ("seat", "name", "stack", "bet", "cards", "folded", "allIn") if key in player}
            for player in full["players"]
        ]
        bets = sum(player["bet"] for player in players)
        message = {
            "type": "game_state",
            "seq": self.seq,
            "hand": self.hand,
            "phase": full["phase"],
            "board": full["board"],
            "pot": full["pot"] - (bets if self.pot_of_finished_streets else 0),
            "players": players,
            "dealer": full["dealer"],
            "turn": full["turn"],
            "last": full["last"],
            "toCall": full["toCall"],
            "somethingNew": {"a": [1]},
        }
        if full["turn"] == seat:
            message["actions"] = full["actions"]
            message["turn_token"] = self.token
        if self.omit:
            message = {key: value for key, value in message.items() if value not in (None, 0) or key in ("seq", "pot")}
            message["dealer"] = full["dealer"]
            if full["turn"] is not None:
                message["turn"] = full["turn"]
            for action in message.get("actions", ()):
                if action["kind"] == "call":
                    action["min"] = action["max"] = full["toCall"]
            if "last" in message and message["last"]["kind"] == "call":
                del message["last"]["amount"]
            for player in players:
                player["name"] = None
        return self.wrap({**message, **changes})

    @property
    def token(self):
        return f"token-{self.seq}"

    def play(self, number=None):
        """Play a number (random if none); return what ends the hand if it has ended."""
        phase = int(self.table.phase)
        mask = self.game.mask(self.table, int(self.table.turn))
        if number is None:
            weights = mask * np.array([0.15, 3, *[0.6] * (len(mask) - 3), 0.15])
            number = int(self.rng.choice(len(mask), p=weights / weights.sum()))
        self.game.play(self.table, number)
        self.seq += 1 + int(self.table.phase != phase)
        return self.ending() if self.table.done else []

    def ending(self):
        table, seats = self.table, range(self.game.seats)
        stacks = [int(table.stack[s] - (table.won[s] if self.unpaid else 0)) for s in seats]
        players = [{"seat": s, "name": None, "stack": stacks[s], "bet": 0} for s in seats]
        last = {"seat": 0, "kind": "call"}
        state = {"type": "game_state", "seq": self.seq, "hand": self.hand, "phase": "ended", "board": [], "pot": 0}
        rows = [{"seat": s, "won": int(table.won[s])} for s in seats if table.seated[s]]
        hand = {"type": "hand_complete", "hand": self.hand, "results": rows[::-1], "showdown": bool(table.showdown)}
        return [self.wrap({**state, "players": players, "dealer": 0, "last": last}), self.wrap(hand)]


def sessions(host, **options):
    made = [AgentSession(**options) for _ in range(host.game.seats)]
    for seat, session in enumerate(made):
        session.receive(host.wrap({"type": "welcome", "seat": seat, "agent_id": "a", "timeout": 30000}))
    return made


def decisions(events):
    return [event for event in events if isinstance(event, Decision)]


TABLES = [
    dict(seats=2),
    dict(seats=3, stacks=[30, 200, 90], ante=1),
    dict(seats=6, stacks=60, small_blind=1, big_blind=2, ante=1),
    dict(seats=6, pot_fractions=(0.5, 1), raise_cap=4),
    dict(seats=9, stacks=[40, 0, 35, 7, 400, 1, 60, 80, 25]),
    dict(seats=10, small_blind=5, big_blind=10, stacks=1000, ante=3),
    dict(seats=4, small_blind=0, big_blind=3, stacks=40),
]
DIALECTS = [{}, {"envelope": True, "omit": True, "pot_of_finished_streets": True}, {"omit": True, "unpaid": True}]


def check_reading(host, agent, seat):
    """Law 1 through the wire, for one seat at one moment."""
    game, table, state = host.game, host.table, agent.turn_state()
    loaded, mine = game.load(state)
    assert mine == seat
    expected, seen = game.observation(table, seat), game.observation(loaded[0], mine)
    np.testing.assert_array_equal(seen, expected, strict=True)
    np.testing.assert_array_equal(game.mask(loaded[0], mine), game.mask(table, seat))
    view = game.view(table, seat)
    assert state.game_state == {**view.game_state, "hand": host.hand}
    assert state.allowed_actions == view.allowed_actions
    for name in ("agent_id", "phase", "is_my_turn", "current_turn_agent_id", "game_over", "outcome"):
        assert getattr(state, name) == getattr(view, name)


@pytest.mark.parametrize("dialect", DIALECTS, ids=["document", "platform", "unpaid"])
@pytest.mark.parametrize("options", TABLES, ids=lambda options: f"{options['seats']}-seats")
def test_every_seat_reads_from_the_wire_what_the_environment_observes(options, dialect):
    game = envs.game("holdem", **options)
    known = {key: options.get(key, default) for key, default in (("small_blind", 1), ("big_blind", 2), ("ante", 0))}
    for seed in range(8):
        host = Host(game, seed, **dialect)
        agents = sessions(host, **known)
        for other, stack in enumerate(host.table.stack.tolist()):
            for agent in agents:
                agent.receive(host.wrap({"type": "player_joined", "seatId": other, "stack": stack}))
        while not host.over and host.hand < 12:
            ending = host.deal()
            while not ending:
                for seat, agent in enumerate(agents):
                    events = agent.receive(host.state(seat))
                    assert len(decisions(events)) == (seat == host.table.turn)
                    check_reading(host, agent, seat)
                ending = host.play()
            for message in ending:
                for agent in agents:
                    agent.receive(message)
        for seat, agent in enumerate(agents):
            assert agent.hands_played == host.hand
            assert agent.net == host.table.stack[seat] - host.table.stacks[seat]
