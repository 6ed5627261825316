"""Sessions of poker agents, for tests without sockets."""

import numpy as np
from live.small_host import Host
from parlour import envs
from parlour.envs.testing.trial import in_observations
from parlour.wrappers.live.common.player import Turn
from parlour.wrappers.live.poker.agent import PokerAgentSession, SeatTaken


def sessions(host, **known):
    """The sessions of all seats, which may know blinds and antes beforehand."""
    made = [PokerAgentSession() for _ in range(host.game.seats)]
    for seat, session in enumerate(made):
        vars(session._tracker).update(known)
        session.receive(host.wrap({"type": "welcome", "seat": seat, "agent_id": "a", "timeout": 30000}))
    return made


def decisions(events):
    return [event for event in events if isinstance(event, Turn)]


TABLES = [
    {"seats": 2},
    {"seats": 3, "stacks": [30, 200, 90], "ante": 1},
    {"seats": 6, "stacks": 60, "small_blind": 1, "big_blind": 2, "ante": 1},
    {"seats": 6, "pot_fractions": (0.5, 1), "raise_cap": 4},
    {"seats": 9, "stacks": [40, 0, 35, 7, 400, 1, 60, 80, 25]},
    {"seats": 10, "small_blind": 5, "big_blind": 10, "stacks": 1000, "ante": 3},
    {"seats": 4, "small_blind": 0, "big_blind": 3, "stacks": 40},
]

DIALECTS = [{}, {"envelope": True, "omit": True, "pot_of_finished_streets": True}, {"omit": True, "unpaid": True}]


def check_reading(host, agent, seat):
    """Law 1 through the wire, for one seat at one moment."""
    game, table, state = host.game, host.table, agent.turn_state()
    loaded, mine = game.view.load(state)
    assert mine == seat
    assert in_observations(game.versions, (loaded[0], mine), (table, seat)) is None
    np.testing.assert_array_equal(game.mask(loaded[0], mine), game.mask(table, seat))
    view = game.turn_state(table, seat)
    assert state.game_state == {**view.game_state, "hand": host.hand}
    assert state.allowed_actions == view.allowed_actions
    for name in ("agent_id", "phase", "is_my_turn", "current_turn_agent_id", "game_over", "outcome"):
        assert getattr(state, name) == getattr(view, name)


def table(seed=0, **options):
    """A heads-up host and the session of the seat that is to act."""
    host = Host(envs.game("holdem", seats=2, **options), seed)
    host.deal()
    seat = int(host.table.turn)
    session = PokerAgentSession()
    assert session.receive({"type": "welcome", "seat": seat, "timeout": 5000}) == [SeatTaken(seat, 5000)]
    return host, seat, session
