"""A small poker host for tests of the agent's end: hold'em's record as the platform's messages, nothing refused."""

import json
from dataclasses import dataclass, field

import numpy as np
from parlour import envs
from parlour.envs.core.record import plain
from parlour.envs.holdem import rules


@dataclass
class Host:
    """A small host: hold'em's record as the platform's messages, in one of the forms that it was seen to send."""

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
        full = self.game.view.game_state(plain(self.table), seat).to_dict()
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
        self.game.rules.play(self.table, number)
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
