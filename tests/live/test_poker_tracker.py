"""What a poker agent reads from the wire, without sockets: law 1 in every form of the messages, and gaps."""

import random

import numpy as np
import pytest
from live.poker_sessions import DIALECTS, TABLES, check_reading, decisions, sessions
from live.small_host import Host
from parlour import envs
from parlour.wrappers.live.poker.agent_session import (
    PokerAgentSession,
)


@pytest.mark.parametrize("dialect", DIALECTS, ids=["document", "platform", "unpaid"])
@pytest.mark.parametrize("options", TABLES, ids=lambda options: f"{options['seats']}-seats")
def test_every_seat_reads_from_the_wire_what_the_environment_observes(options, dialect):
    game = envs.game("holdem", **options)
    known = {key: options.get(key, default) for key, default in (("small_blind", 1), ("big_blind", 2), ("ante", 0))}
    for seed in range(6 if game.seats < 6 else 2):
        host = Host(game, seed + 6 * DIALECTS.index(dialect), **dialect)
        agents = sessions(host, **known)
        for other, stack in enumerate(host.table.stack.tolist()):
            for agent in agents:
                agent.receive(host.wrap({"type": "player_joined", "seatId": other, "stack": stack}))
        dealt = [0] * game.seats
        while not host.over and host.hand < (12 if game.seats < 6 else 8):
            dealt = [count + bool(stack) for count, stack in zip(dealt, host.table.stack.tolist(), strict=False)]
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
            assert agent.hands_played == dealt[seat]
            assert agent.net == host.table.stack[seat] - host.table.stacks[seat]


def test_blinds_and_antes_are_read_from_the_first_states():
    game = envs.game("holdem", seats=5, small_blind=3, big_blind=7, ante=2, stacks=300)
    host = Host(game, 1)
    agents = sessions(host)
    for _ in range(4):
        ending = host.deal()
        while not ending:
            for seat, agent in enumerate(agents):
                agent.receive(host.state(seat))
                check_reading(host, agent, seat)
            ending = host.play()
        for agent in agents:
            for message in ending:
                agent.receive(message)


def test_behind_a_short_big_blind_the_first_call_tells_the_full_one():
    game = envs.game("holdem", seats=3, stacks=[100, 100, 3], small_blind=2, big_blind=10)
    host = Host(game)
    host.table.dealer = 2  # the next is 0, so seat 2 posts the big blind
    host.deal()
    assert host.table.turn == 0
    agent = PokerAgentSession()
    agent.receive({"type": "welcome", "seat": 0, "timeout": 1})
    agent.receive(host.state(0))
    check_reading(host, agent, 0)


@pytest.mark.parametrize("seed", range(6))
def test_joining_in_the_middle_of_a_hand_gives_a_playable_reading(seed):
    game = envs.game("holdem", seats=6, stacks=80)
    host = Host(game, seed, pot_of_finished_streets=seed % 2 == 0, omit=seed % 3 == 0)
    while not host.over and host.hand < 20:
        ending = host.deal()
        while not ending:
            seat = int(host.table.turn)
            agent = PokerAgentSession()
            welcome = {"type": "welcome", "seat": seat, "agent_id": "a", "timeout": 30000}
            first = [welcome, host.state(seat)] if host.rng.random() < 0.5 else [host.state(seat)]
            [decision] = decisions([event for message in first for event in agent.receive(message)])
            state = decision.state.game_state
            tables, mine = game.view.load(decision.state)
            np.testing.assert_array_equal(game.mask(tables[0], mine), game.mask(host.table, seat))
            true = game.view.game_state(host.table, seat).to_dict()
            same = ["seat", "phase", "board", "dealer", "turn", "actions", "toCall", "smallBlind", "bigBlind"]
            assert {name: state[name] for name in same} == {name: true[name] for name in same}
            for player, other in zip(state["players"], true["players"], strict=True):
                assert player["committed"] >= player["bet"]
                assert player["stack"] == other["stack"]
            assert state["last"] is None or state["last"]["seat"] == true["last"]["seat"]
            if true["phase"] == "preflop" and len(true["history"]) <= true["turn"] - true["dealer"] - 3:
                assert state["history"] == true["history"]  # nobody acted twice: nothing is lost
            ending = host.play()


@pytest.mark.parametrize("seed", range(8))
def test_missed_messages_cost_no_chips_and_little_history(seed):
    """A seat that loses states in mid-hand: chips stay exact; checks and raises are the likeliest that lead there."""
    game = envs.game("holdem", seats=4, stacks=200)
    host, loss = Host(game, seed), random.Random(seed)
    agent = PokerAgentSession()
    agent.receive({"type": "welcome", "seat": 0, "timeout": 1})
    exact = total = 0
    while not host.over and host.hand < 25:
        ending = host.deal()
        first = True
        while not ending:
            mine = host.table.turn == 0
            if first or mine or loss.random() < 0.6:
                agent.receive(host.state(0))
                first = False
            if mine:
                state, true = agent.turn_state().game_state, game.view.game_state(host.table, 0).to_dict()
                assert state["players"] == true["players"]
                assert (state["pot"], state["last"]) == (true["pot"], true["last"])
                total += 1
                exact += state["history"] == true["history"]
            ending = host.play()
        for message in ending:
            agent.receive(message)
    assert exact > 0.8 * total
    assert agent.net == host.table.stack[0] - 200


def test_the_history_is_whole():
    game = envs.game("holdem", seats=2, stacks=2000)
    host = Host(game)
    host.deal()
    agents = sessions(host)
    for _ in range(40):
        for seat, agent in enumerate(agents):
            agent.receive(host.state(seat))
            check_reading(host, agent, seat)
        host.play(2)  # the least raise, again and again
    true = game.turn_state(host.table, 0, ()).game_state["history"]
    assert len(true) == 40
    assert agents[0].turn_state().game_state["history"] == true[:-1]  # the last action was not sent


def test_joining_after_the_flop_the_least_bet_tells_the_big_blind():
    host = Host(envs.game("holdem", seats=2, small_blind=50, big_blind=100, stacks=9000))
    host.deal()
    host.play(1)
    host.play(1)
    seat = int(host.table.turn)
    agent = PokerAgentSession()
    agent.receive({"type": "welcome", "seat": seat})
    agent.receive(host.state(seat))
    state = agent.turn_state().game_state
    assert (state["phase"], state["bigBlind"], state["pot"]) == ("flop", 100, 200)
    assert [player["committed"] for player in state["players"]] == [100, 100]
