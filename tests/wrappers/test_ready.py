"""A search that is late, that never ends, or that fails: the policy's own action is played, before the deadline."""

import asyncio
import threading
import time

import numpy as np
import pytest
from parlour import envs
from parlour.training.commands.lookup import searching_agents
from parlour.wrappers.agents.base import DelayedAgent
from parlour.wrappers.agents.human import HumanAgent
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.agents.search import ReadyAgent
from parlour.wrappers.live.common.agent_turn import Turn
from parlour.wrappers.live.common.clock import Deadline
from parlour.wrappers.live.common.player import Player
from parlour.wrappers.policies.loading import make_policy

GAME = envs.game("leduc")


class Raises:
    def act(self, observations, masks):
        return np.flatnonzero(masks[0])[-1:]


class Searches(PolicyAgent):
    """Calls, as the search says."""

    def __init__(self, how):
        super().__init__(GAME, make_policy("call", GAME, seed=1))
        self.how, self.begun = how, 0

    def respond(self, state):
        self.begun += 1
        self.how()
        return super().respond(state)


def state():
    table = GAME.tables(1)[0]
    GAME.rules.reset(table)
    return GAME.turn_state(table, int(table.turn))


def fail():
    raise RuntimeError("no plan")


@pytest.mark.parametrize(("how", "answer"), [(lambda: None, "call"), (fail, "raise")])
def test_the_search_answers_and_the_policy_does_where_it_fails(how, answer):
    agent = ReadyAgent(PolicyAgent(GAME, Raises()), Searches(how))
    searched = (
        Searches(lambda: None).respond(state()) if answer == "call" else PolicyAgent(GAME, Raises()).respond(state())
    )
    assert agent.respond(state()) == searched


def test_a_search_that_never_ends_misses_no_deadline_and_the_policys_action_is_played():
    ends = threading.Event()
    search = Searches(ends.wait)
    agent = ReadyAgent(PolicyAgent(GAME, Raises()), search)
    agent._most = None
    own = PolicyAgent(GAME, Raises()).respond(state())

    async def two_turns():
        driver = Player(agent)
        return [await driver.answer(Turn(state()), Deadline.after(0.4)) for _ in range(2)]

    began = time.monotonic()
    played = asyncio.run(two_turns())
    ends.set()
    assert [each.response.action for each in played] == [own.action] * 2
    assert [each.problem for each in played] == [None, None]
    assert search.begun == 1  # the second one is not begun while the first one goes on
    assert time.monotonic() - began < 5


def test_a_delayed_agent_tells_what_is_left_after_its_wait():
    left = []
    agent = Searches(lambda: None)
    agent.set_seconds_left = left.append
    DelayedAgent(agent, 1.0).set_seconds_left(3.0)
    DelayedAgent(agent, 1.0).set_seconds_left(None)
    assert left == [2.0, None]


def test_those_that_can_search_do():
    game = envs.game("holdem", seats=2)
    policies = [PolicyAgent(game, make_policy(name, game, seed=1)) for name in ("zoo:holdem", "call")]
    agents = searching_agents(["zoo:holdem", "call", "human"], [*policies, HumanAgent()], 1)
    assert [type(one) for one in agents] == [ReadyAgent, PolicyAgent, HumanAgent]
    with pytest.raises(ValueError, match="does not tell its probabilities"):
        searching_agents(["call", "human"], [policies[1], HumanAgent()], 1)
    with pytest.raises(ValueError, match="leduc"):
        searching_agents(["call"], [PolicyAgent(GAME, make_policy("call", GAME, seed=1))], 1)
