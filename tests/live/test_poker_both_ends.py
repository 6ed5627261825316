"""Both ends of the poker protocol together: law 1 through the wire, chips, no rejected action, broken messages."""

import asyncio
import json
import random

import numpy as np
import pytest
from live.fuzzing import MESSAGES, WORKERS, fuzzed, mutated
from live.poker_options import grouped, play
from live.poker_options import rules as session_options
from live.poker_room import Room, pass_turn, whole
from live.settled import act
from live.small_host import Host
from parlour import envs
from parlour.envs.holdem import game as holdem
from parlour.envs.testing.trial import in_observations
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.common.player import Turn
from parlour.wrappers.live.poker import messages
from parlour.wrappers.live.poker import messages as m
from parlour.wrappers.live.poker.agent import PokerAgentSession
from parlour.wrappers.live.poker.host import PokerHost, PokerHostSession


def same_observation(table, seat, turn_state):
    """Law 1: what the agent rebuilt from the wire is what the rules show that seat, bit for bit."""
    game = table.game
    loaded, number = game.view.load(turn_state)
    assert number == seat
    assert in_observations(game.versions, (loaded[0], seat), (table.table, seat)) is None
    assert game.mask(loaded[0], seat).tobytes() == game.mask(table.table, seat).tobytes()


class Ends:
    """A table and agents, joined by text instead of sockets."""

    def __init__(self, seats, seed, all_in=0.2, **options):
        self.all_in = all_in  # how much players like to go all-in
        self.random = np.random.default_rng(seed)
        self.table = PokerHostSession(**session_options(seats=seats, seed=seed, **options))
        self.agents = {}
        self.decisions = 0

    def sit_down(self, agent_id):
        seat, sends = self.table.join(agent_id, agent_id)
        self.agents[seat] = PokerAgentSession()
        self.deliver(sends)
        self.deliver(self.table.connect(seat))

    def deliver(self, sends):
        """Carry messages to the agents, their answers back, and so on until nobody has anything to say."""
        while sends:
            answers = []
            for seat, message in sends:
                assert not isinstance(message, m.Error), message
                for event in self.agents[seat].receive(m.encode(message)):
                    if isinstance(event, Turn):
                        answers.append((seat, event))
            sends = []
            for seat, decision in answers:
                self.decisions += 1
                same_observation(self.table, seat, decision.state)
                for action in act(self.agents[seat], self.choose(seat, decision), decision):
                    sends += self.table.receive(seat, m.encode(action))

    def choose(self, seat, decision):
        game = self.table.game
        loaded, _ = game.view.load(decision.state)
        numbers = np.flatnonzero(game.mask(loaded[0], seat))
        weights = np.full(len(numbers), 0.2)
        weights[:2], weights[-1] = (0.2, 1), self.all_in if numbers[-1] > 1 else 1
        return game.view.encode(loaded[0], int(self.random.choice(numbers, p=weights / weights.sum())))

    def chips(self):
        return sum(self.table.stack(seat) for seat in self.table.seats) + sum(self.table._left.values())


@pytest.mark.parametrize("seats", [2, 3, 6, 10])
def test_law_1_through_the_wire(seats):
    for seed in range(4):
        ends = Ends(seats, seed, min_players=seats, hands=20, raise_cap=None if seed % 2 else 4)
        for i in range(seats):
            ends.sit_down(f"agent-{i}")
        while ends.table.status == "running":
            assert ends.chips() == 100 * seats
            ends.deliver(ends.table.next_hand())
        assert ends.decisions > 0
        assert not any(agent.rejected for agent in ends.agents.values())


@pytest.mark.slow
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
                    if isinstance(event, Turn):
                        pending[seat] = event
                        same_observation(ends.table, seat, event.state)

        for _ in range(600):
            if ends.table.status == "ended":
                break
            lot = ends.random.random()
            due = ends.table.due
            if came < 3 or (lot < 0.02 and len(ends.table.seats) < 6):
                seat, sends = ends.table.join(f"agent-{came}", None)
                ends.agents[seat] = PokerAgentSession()
                came += 1
                carry(sends)
                carry(ends.table.connect(seat))
            elif due is None or due.what == "wait":  # all but one were silent: one is back
                carry(ends.table.connect(next(one for one, seat in ends.table.seats.items() if seat.sits_out)))
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
                assert decision.id == due.token
                for action in act(ends.agents[due.seat], ends.choose(due.seat, decision), decision):
                    carry(ends.table.receive(due.seat, m.encode(action)))
        hands += ends.table.hand
    assert hands > 200


# Over real sockets.


class Lively:
    """Plays anything legal at random, seldom much."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)

    def act(self, observations, masks):
        weights = masks * np.array([0.3, 1, 0.1, 0.03, 0.02, 0.02, 0.02, 0.01, 0.01, 0.0005])
        weights[:, 1] = np.maximum(weights[:, 1], 1e-6)
        return np.array([self.random.choice(len(row), p=row / row.sum()) for row in weights])


async def test_lost_connections_in_the_middle_of_hands():
    """Connections are cut again and again; the agents come back, and nothing is lost or played for them."""

    options = {"seats": 3, "min_players": 3, "stack": 5000, "hands": 40, "seed": 2, "rate": None}
    async with PokerHost(**grouped(hand_delay=0.01, **options)) as host:
        game = holdem(seats=3, stacks=5000)
        players = [PolicyAgent(game, Lively(seed)) for seed in range(3)]
        stays = asyncio.gather(*(play(host.url, player, retry_after=0.01) for player in players))
        random = np.random.default_rng(0)
        while not stays.done():
            await asyncio.sleep(0.05)
            for table in host.tables.values():
                for connection in list(table._connections.values()):
                    if random.random() < 0.3:
                        connection.abort()
        played = await stays

    assert sum(stay.reconnects for stay in played) > 3
    assert [stay.reason for stay in played] == ["admin_stopped"] * 3
    assert sum(stay.replaced for stay in played) == 0
    assert sum(stay.net for stay in played) == 0


KINDS = ("fold", "check", "call", "raiseTo")


@fuzzed
def test_a_host_refuses_what_is_broken_and_plays_on(worker):
    rng = random.Random(worker)
    room, sent, hands = None, 0, 0
    while sent < MESSAGES // WORKERS:
        if room is None or room.table.status == "ended":
            room = Room(4, seed=rng.randrange(2**32), stack=60)
            chips = whole(room.table)
        table = room.table
        if table.due.what == "hand":
            table.next_hand()
            hands += 1
            continue
        seat, token = table.due.seat, table.due.token
        honest = {
            "type": "action",
            "action": {"turn_token": token, "kind": rng.choice(KINDS)},
            "expected_seq": table.seq,
        }
        if honest["action"]["kind"] == "raiseTo":
            honest["action"]["amount"] = rng.choice([int(table.table.raise_min), int(table.table.raise_max), 1, 10**6])
        for _ in range(rng.randint(0, 6)):
            before, seq = table.table.tobytes(), table.seq
            receiver = rng.choice([seat, rng.randrange(6)])
            answers = table.receive(receiver, mutated(rng, honest))
            sent += 1
            assert answers
            if table.seq == seq:
                assert table.table.tobytes() == before
            for answer in answers:
                if isinstance(answer.message, messages.Error):
                    assert answer.message.code in messages.ERROR_CODES and answer.receiver == receiver
            assert whole(table) == chips
            if table.due is None or table.due.what == "hand" or table.due.token != token:
                break
        if table.due is not None and table.due == ("act", seat, token):
            seq = table.seq
            if rng.random() < 0.5:
                table.receive(seat, json.dumps(honest))
            if table.seq == seq:
                pass_turn(table)
            assert table.seq > seq
    assert hands > sent // 1000


@fuzzed
def test_an_agent_takes_whatever_comes_and_answers_its_turns(worker):
    rng = random.Random(worker)
    sent = turns = 0
    while sent < MESSAGES // WORKERS:
        host = Host(envs.game("holdem", seats=3, stacks=60), rng.randrange(2**32), envelope=rng.random() < 0.3)
        session = PokerAgentSession()
        session.receive(host.wrap({"type": "welcome", "seat": 0, "timeout": 1000}))
        while not host.over and host.hand < 20:
            ending = host.deal()
            while not ending:
                clean = host.state(0)
                for _ in range(rng.randint(0, 3)):
                    answer_all(session, session.receive(mutated(rng, json.loads(clean))), rng)
                    sent += 1
                if rng.random() < 0.05:
                    session.opened()
                events = session.receive(clean)
                if host.table.turn == 0:
                    turns += 1
                    answer_all(session, events, rng)
                ending = host.play()
            for text in ending:
                answer_all(session, session.receive(mutated(rng, json.loads(text))), rng)
                answer_all(session, session.receive(text), rng)
                sent += 1
    assert turns > 0


def answer_all(session, events, rng):
    """Answer decisions, well or badly; whatever goes out can be encoded, and names one of the platform's actions."""
    for event in events:
        out = []
        if isinstance(event, Turn):
            out = act(session, rng.choice([{"action_type": rng.choice(KINDS), "payload": {}}, None, {"a": 1}]), event)
        elif isinstance(event, messages.Action):
            out = [event]
        for message in out:
            assert message.action.kind in KINDS
            assert isinstance(messages.decode_client(messages.encode(message)), messages.Action)
    session.turn_state()
