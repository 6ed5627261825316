"""Milliseconds per decision of the poker protocol."""

import time
from random import Random
from typing import Any

import numpy as np
from parlour.wrappers.live.common.player import Played, Turn
from parlour.wrappers.live.poker import messages
from parlour.wrappers.live.poker.agent import PokerAgentSession
from parlour.wrappers.live.poker.host import PokerHostSession, PokerRules

from .base import Row, Seconds


def protocol(seconds: Seconds) -> list[Row]:
    """Milliseconds per decision, both ends with their JSON: 50 tables of 6 seats in one process, no sockets.

    One decision: the table applies the action, writes a state for each seat, six agents read theirs, and the one to act
    builds its TurnState and answers.
    """
    tables = [_LiveTable(number) for number in range(50)]
    spent: list[float] = []
    begun = time.perf_counter()
    while time.perf_counter() - begun < seconds or len(spent) < 50 * len(tables):
        for table in tables:
            before = time.process_time()
            table.decide()
            spent.append(1_000 * (time.process_time() - before))
    half, most = np.percentile(spent[len(tables) * 10 :], (50, 99))  # without the first hands, which load code
    note = "50 tables of 6 seats, six agents reading each state, JSON both ways, no sockets"
    return [
        Row("protocol-p50", "poker protocol, both ends, a decision: median", float(half), "ms", lower=True),
        Row("protocol-p99", "poker protocol, both ends, a decision: p99", float(most), "ms", 5, lower=True, note=note),
    ]


class _LiveTable:
    """A hosted table and its six agents, joined by JSON text."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.table = PokerHostSession(PokerRules(seats=6, stack=10**6, min_players=6), seed=seed)
        self.agents = [PokerAgentSession() for _ in range(6)]
        self.turn: tuple[int, Any] | None = None
        for _ in range(6):
            self.table.join(f"agent {len(self.table.seats)}")
        for seat in range(6):
            self._deliver(self.table.connect(seat))

    def decide(self) -> None:
        """Let the agent whose turn it is act, and deliver what follows; deal where a hand is over."""
        while self.turn is None:
            self._deliver(self.table.next_hand())
        (seat, decision), self.turn = self.turn, None
        allowed = self.random.choice(decision.state.allowed_actions[1:])
        amounts = allowed.payload_schema["properties"].get("amount")
        action = {"action_type": allowed.action_type, "payload": {"amount": amounts["minimum"]} if amounts else {}}
        for message in self.agents[seat].reply(decision, Played(decision.read(action))):
            self._deliver(self.table.receive(seat, messages.encode(message)))

    def _deliver(self, sends: list[Any]) -> None:
        for seat, message in sends:
            for event in self.agents[seat].receive(messages.encode(message)):
                if isinstance(event, Turn):
                    self.turn = seat, event
