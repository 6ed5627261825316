"""``allowed_actions`` binds: with any subset of them offered, every policy and bot answers with one of them."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from parlour import envs
from parlour.envs import Action, AgentResponse, AllowedAction
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.agents.schemas import quiet_action
from parlour.wrappers.live.arena.agent import ArenaAgent
from parlour.wrappers.policies.base import RandomPolicy
from parlour.wrappers.policies.loading import make_policy

DECISIONS = 12


class Deaf:
    """A policy that always wants the same action index, open or not."""

    def __init__(self, action):
        self.action = action

    def act(self, observations, masks):
        return np.where(masks[:, self.action], self.action, masks.argmax(axis=1))


def players(game):
    for name in game.bots:
        try:
            yield make_policy(name, game, seed=1)
        except ValueError:  # a bot that does not play these options
            continue
    yield RandomPolicy(seed=2)
    yield from (Deaf(action) for action in (0, game.rules.num_actions - 1))


def states(game, seed):
    """Yield what the acting seat sees at decisions of a match of random actions."""
    env, chance = envs.GameEnv(game, "flat"), np.random.default_rng(seed)
    env.reset(seed=seed)
    for _ in range(DECISIONS):
        if env.table.done:
            return
        seat = int(env.table.turn)
        yield env.turn_state(game.agents[seat])
        env.step(int(chance.choice(game.mask(env.table, seat).nonzero()[0])))


def test_every_player_keeps_to_what_is_offered(game):
    chance = np.random.default_rng(5)
    for number, policy in enumerate(players(game)):
        agent = PolicyAgent(game, policy)
        for state in states(game, number):
            whole = state.allowed_actions
            kept = [offer for offer in whole if chance.random() < 0.5] or [whole[int(chance.integers(len(whole)))]]
            state.allowed_actions = kept
            assert agent.respond(state).action.action_type in [offer.action_type for offer in kept]


class Answering:
    def __init__(self, answer):
        self.answer = answer

    def respond(self, state):
        return self.answer


@given(
    offered=st.sets(st.sampled_from(["submit_offer", "accept", "reject", "pass", "message_only", "wave"]), min_size=1),
    kind=st.sampled_from(["submit_offer", "accept", "shout", ""]),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_an_agent_answers_the_arena_gets_what_it_offers(offered, kind):
    env = envs.make("bargaining")
    env.reset(seed=1)
    state = env.turn_state("player_0")
    state.allowed_actions = [AllowedAction(name, "", {"my_share": {"type": "number"}}) for name in sorted(offered)]
    agent = ArenaAgent("me", Answering(AgentResponse(Action(kind, {"my_share": 50.0}))))
    assert agent.act(state).action.action_type in offered
    assert agent.statistics.replaced == (kind not in offered)


def test_a_policy_that_breaks_the_rules_is_still_told():
    env = envs.make("bargaining")
    env.reset(seed=1)

    class Accepts:
        def act(self, observations, masks):
            return np.array([101])

    with pytest.raises(ValueError, match="which is masked"):
        PolicyAgent(env.game, Accepts()).respond(env.turn_state("player_0"))


@pytest.mark.parametrize(
    "schema, payload",
    [
        ({}, {}),
        ({"bid": {"type": "number"}}, {"bid": 0}),
        ({"properties": {"bid": {"type": "number", "minimum": 5}, "more": {"type": "string"}}, "required": ["bid"]},
         {"bid": 5}),
        ({"who": {"enum": ["ann", "bob"]}, "at": {"type": "array", "items": {"type": "integer"}, "minItems": 2}},
         {"who": "ann", "at": [0, 0]}),
        ({"on": {"type": "boolean"}, "text": {"type": "string"}, "all": {"type": "object"}, "odd": 3},
         {"on": False, "text": "", "all": {}}),
    ],
)  # fmt: skip
def test_the_least_payload_of_a_schema(schema, payload):
    assert quiet_action([AllowedAction("play", "", schema)]) == Action("play", payload)


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"bid": {"type": "number"}}, "required": 1e308},
        {"properties": {"bid": {"type": "number"}}, "required": [[], None, {}]},
        {"properties": {"bids": {"type": "array", "minItems": 2**53}}, "required": ["bids"]},
        {"properties": {"bids": {"type": "array", "minItems": float("inf")}}, "required": ["bids"]},
        {"bid": {"type": "number", "minimum": {"a": 1}}},
    ],
    ids=repr,
)
def test_a_schema_of_nonsense_makes_no_error_and_no_long_list(schema):
    payload = quiet_action([AllowedAction("play", "", schema)]).payload
    assert payload in ({}, {"bids": []}, {"bid": 0})
