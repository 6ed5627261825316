"""Both ends of the poker bridge together: law 1 through the wire, chips, and no rejected action."""

import numpy as np
import pytest
from parlour.wrappers.live.poker import messages as m
from parlour.wrappers.live.poker.session import AgentSession, Decision
from parlour.wrappers.live.poker.table_session import TableSession


def same_observation(table, seat, turn_state):
    """Law 1: what the agent rebuilt from the wire is what the rules show that seat, bit for bit."""
    game = table.game
    loaded, number = game.load(turn_state)
    assert number == seat
    expected, got = game.observation(table.table, seat), game.observation(loaded[0], seat)
    assert got.tobytes() == expected.tobytes(), differences(game, expected, got)
    assert game.mask(loaded[0], seat).tobytes() == game.mask(table.table, seat).tobytes()


def differences(game, expected, got):
    parts = [(part.path, slice(part.start, part.stop)) for part in game.layout]
    return {path: (expected[at].tolist(), got[at].tolist()) for path, at in parts if any(expected[at] != got[at])}


class Ends:
    """A table and agents, joined by text instead of sockets."""

    def __init__(self, seats, seed, all_in=0.2, **options):
        self.all_in = all_in  # how much players like to go all-in
        self.random = np.random.default_rng(seed)
        self.table = TableSession(seats=seats, seed=seed, **options)
        self.agents = {}
        self.decisions = 0

    def sit_down(self, agent_id):
        seat, sends = self.table.join(agent_id, agent_id)
        self.agents[seat] = AgentSession()
        self.deliver(sends)
        self.deliver(self.table.connect(seat))

    def deliver(self, sends):
        """Carry messages to the agents, their answers back, and so on until nobody has anything to say."""
        while sends:
            answers = []
            for seat, message in sends:
                assert not isinstance(message, m.Error), message
                for event in self.agents[seat].receive(m.encode(message)):
                    if isinstance(event, Decision):
                        answers.append((seat, event))
            sends = []
            for seat, decision in answers:
                self.decisions += 1
                same_observation(self.table, seat, decision.turn_state)
                for action in self.agents[seat].act(self.choose(seat, decision)):
                    sends += self.table.receive(seat, m.encode(action))

    def choose(self, seat, decision):
        game = self.table.game
        loaded, _ = game.load(decision.turn_state)
        numbers = np.flatnonzero(game.mask(loaded[0], seat))
        weights = np.full(len(numbers), 0.2)
        weights[:2], weights[-1] = (0.2, 1), self.all_in if numbers[-1] > 1 else 1
        return game.encode(loaded[0], int(self.random.choice(numbers, p=weights / weights.sum())))

    def chips(self):
        return sum(self.table.stack(seat) for seat in self.table.seats) + sum(self.table._left.values())


@pytest.mark.parametrize("seats", [2, 3, 6, 10])
def test_law_1_through_the_wire(seats):
    for seed in range(8):
        ends = Ends(seats, seed, min_players=seats, max_hands=20, raise_cap=None if seed % 2 else 4)
        for i in range(seats):
            ends.sit_down(f"agent-{i}")
        while ends.table.status == "running":
            assert ends.chips() == 100 * seats
            ends.deliver(ends.table.next_hand())
        assert ends.decisions > 0
        assert not any(agent.rejected for agent in ends.agents.values())


def test_law_1_with_players_coming_and_going():
    ends = Ends(6, 5, all_in=0.02, raise_cap=None)
    ends.sit_down("agent-0")
    ends.sit_down("agent-1")
    came = 2
    for _ in range(300):
        if ends.table.status == "ended":
            break
        taken = list(ends.table.seats)
        if len(taken) < 6 and ends.random.random() < 0.4:
            ends.sit_down(f"agent-{came}")
            came += 1
        elif len(taken) > 3:
            poorest = min(taken, key=ends.table.stack)
            if ends.table.stack(poorest) == 0 or ends.random.random() < 0.2:
                ends.deliver(ends.table.leave(poorest))
        assert ends.chips() == 100 * came
        ends.deliver(ends.table.next_hand())
    assert came > 20 and ends.table.hand > 100


def test_law_1_with_clocks_ringing_and_players_coming_in_the_middle_of_hands():
    """Nobody answers at once here: at each turn one thing happens, drawn by lot."""
    hands = 0
    for seed in range(15):
        ends = Ends(6, seed, all_in=0.01, raise_cap=None, min_players=3)
        pending = {}
        came = 0

        def carry(sends, ends=ends, pending=pending):
            for seat, message in sends:
                assert not isinstance(message, m.Error), message
                for event in ends.agents[seat].receive(m.encode(message)):
                    if isinstance(event, Decision):
                        pending[seat] = event
                        same_observation(ends.table, seat, event.turn_state)

        for _ in range(600):
            lot = ends.random.random()
            due = ends.table.due
            if came < 3 or (lot < 0.02 and len(ends.table.seats) < 6):
                seat, sends = ends.table.join(f"agent-{came}", None)
                ends.agents[seat] = AgentSession()
                came += 1
                carry(sends)
                carry(ends.table.connect(seat))
            elif due is None:
                break
            elif lot < 0.03 and len(ends.table.seats) > 3:
                leaving = int(ends.random.choice(list(ends.table.seats)))
                if not ends.table.seats[leaving].leaving:
                    carry(ends.table.leave(leaving))
            elif due.what == "hand":
                carry(ends.table.next_hand())
            elif lot < 0.2:
                carry(ends.table.timeout(due.seat, due.token))
            else:
                decision = pending[due.seat]
                assert decision.turn == due.token
                for action in ends.agents[due.seat].act(ends.choose(due.seat, decision)):
                    carry(ends.table.receive(due.seat, m.encode(action)))
        hands += ends.table.hand
    assert hands > 200
