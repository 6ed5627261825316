"""``allowed_actions`` binds: with any subset of them offered, every policy and bot answers with one of them."""

from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from live.table_people import Program
from msgspec import structs
from parlour import envs
from parlour.envs import Action, AgentResponse, AllowedAction
from parlour.training.commands.lookup import rivals
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.agents.schemas import quiet_action
from parlour.wrappers.live.arena.agent import ArenaAgent
from parlour.wrappers.policies.base import RandomPolicy
from parlour.wrappers.policies.loading import make_policy
from parlour.zoo import names
from policies import Always
from random_play import states

DECISIONS = 12


@pytest.mark.slow
def test_every_player_keeps_to_what_is_offered(game):
    chance = np.random.default_rng(5)
    bots = [make_policy(name, game, seed=1) for name in rivals(game)]
    steady = [Always(action) for action in (0, game.rules.num_actions - 1)]
    for number, policy in enumerate([*bots, RandomPolicy(seed=2), *steady]):
        agent = PolicyAgent(game, policy)
        for state in states(game, number, DECISIONS):
            whole = state.allowed_actions
            kept = [offer for offer in whole if chance.random() < 0.5] or [whole[int(chance.integers(len(whole)))]]
            state.allowed_actions = kept
            assert agent.respond(state).action.action_type in [offer.action_type for offer in kept]


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
    agent = ArenaAgent("me", Program(lambda state: AgentResponse(Action(kind, {"my_share": 50.0}))))
    assert agent.act(state).action.action_type in offered
    assert agent.statistics.replaced == (kind not in offered)


NUMBER = {"type": "number"}
BIDS = {"type": "array", "minItems": 2**53}
FIELDS = {"bid": NUMBER | {"minimum": 5}, "more": {"type": "string"}}
TWO = {"type": "array", "items": {"type": "integer"}, "minItems": 2}
MIXED = {"on": {"type": "boolean"}, "text": {"type": "string"}, "all": {"type": "object"}, "odd": 3}


@pytest.mark.parametrize(
    ("schema", "payload"),
    [
        ({}, {}),
        ({"bid": NUMBER}, {"bid": 0}),
        ({"properties": FIELDS, "required": ["bid"]}, {"bid": 5}),
        ({"who": {"enum": ["ann", "bob"]}, "at": TWO}, {"who": "ann", "at": [0, 0]}),
        (MIXED, {"on": False, "text": "", "all": {}}),
        # Nonsense makes no error, and no long list.
        ({"properties": {"bid": NUMBER}, "required": 1e308}, {}),
        ({"properties": {"bid": NUMBER}, "required": [[], None, {}]}, {}),
        ({"properties": {"bids": BIDS}, "required": ["bids"]}, {"bids": []}),
        ({"properties": {"bids": BIDS | {"minItems": float("inf")}}, "required": ["bids"]}, {"bids": []}),
        ({"bid": NUMBER | {"minimum": {"a": 1}}}, {"bid": 0}),
    ],
    ids=repr,
)
def test_the_least_payload_of_a_schema(schema, payload):
    assert quiet_action([AllowedAction("play", "", schema)]) == Action("play", payload)


SEATS = {"ultimatum": (2, 3), "auction": (2, 4)}
AMOUNTS = {
    "auction": "my_valuation my_bid bid",
    "bargaining": "total current_offer my_reservation_value my_share",
    "bilateral_trade": "my_reservation_value price",
    "common_agency": "benefit_low benefit_high effort_cost w_low w_high total_w_low total_w_high exp_payoff_low_effort "
    "exp_payoff_high_effort",
    "cournot": "a my_marginal_cost my_quantity quantity quantities",
    "cournot/b": "my_quantity quantity quantities",
    "dictator": "pie my_reservation_value allocator_share recipient_share",
    "dutch_auction": "start_price decrement min_price current_price my_valuation",
    "english_auction": "current_bid bids start_price min_increment min_next_bid my_valuation amount",
    "hold_up": "surplus_base investments surplus current_offer amount split",
    "insurance_moral_hazard": "base_income loss effort_cost premium transfer_good transfer_bad",
    "provision_point": "threshold my_reservation_value my_commitment amount total_committed commitments",
    "public_project": "project_cost reports total_reported my_valuation report",
    "sequential_investment": "investment_cost investments leader_invested follower_invested amount",
    "trust": "endowment sent returned amount",
    "ultimatum": "total current_offer my_reservation_value shares",
    "voluntary_contribution": "endowment contribs total_contributions amount",
    "war_of_attrition": "prize max_time my_time times t equilibrium_t",
}
"""By game the fields of its states and payloads that are amounts, or have amounts by agent; behind a slash the field
that is divided where they are multiplied."""
UNMEASURED = ("auction", "bilateral_trade", "english_auction", "hold_up")
"""Games none of whose fields tells the size; the highest number that is offered does. Of hold-up's bargaining it is
told by an investment above a tenth of the highest one: a state with less is also one of a smaller table. A tenth of
such a table is also one of the own size, where less was invested."""


def times(value, amounts, k, inside=False):
    """Return a value whose amounts are multiplied; those in a dict with an amount's name are."""
    if isinstance(value, dict):
        return {key: times(part, amounts, k, inside or key in amounts) for key, part in value.items()}
    if isinstance(value, list):
        return [times(part, amounts, k, inside) for part in value]
    return value * k if inside and isinstance(value, int | float) and not isinstance(value, bool) else value


def bounded(schema, amounts, k, inside=False):
    """Return a payload's schema with multiplied bounds."""
    if not isinstance(schema, dict):
        return schema
    parts = {
        key: bounded(part, amounts, k, inside or key in amounts) if isinstance(part, dict) else part
        for key, part in schema.items()
    }
    return {key: part * k if inside and key in ("minimum", "maximum") else part for key, part in parts.items()}


def tells_its_size(name, state, k):
    if state.phase == "bargain":
        return max(state.game_state["investments"].values()) > 1 and k != 0.1
    return name not in UNMEASURED or "maximum" in str([offer.payload_schema for offer in state.allowed_actions])


CASES = [(name, seats) for name in AMOUNTS for seats in SEATS.get(name, (None,))]


@pytest.mark.parametrize("k", [0.01, 0.1, 10, 1000])
@pytest.mark.parametrize("name, seats", CASES)
def test_a_table_times_k_gets_the_same_answers_times_k(name, seats, k):
    amounts = AMOUNTS[name].split()
    name, _, divided = name.partition("/")
    game = envs.game(name, **({"seats": seats} if seats else {}))
    bots = [bot for bot in game.bots if bot not in ("random", "perfect")]
    zoo = [f"zoo:{name}"] if name in names() else []
    policies = {spec: make_policy(spec, game, deterministic=True) for spec in zoo}
    for state in (state for seed in range(4) for state in states(game, seed, DECISIONS)):
        if not tells_its_size(name, state, k):
            continue
        offers = [
            AllowedAction(one.action_type, one.description, bounded(one.payload_schema, amounts, k))
            for one in state.allowed_actions
        ]
        told = times(times(state.game_state, amounts, k), [divided], 1 / k)
        larger = structs.replace(state, game_state=told, allowed_actions=offers)
        for spec in (*bots, *zoo):
            plain, scaled = (answer(game, spec, policies.get(spec), one) for one in (state, larger))
            assert scaled.action_type == plain.action_type, (spec, state, plain, scaled)
            assert flat(scaled.payload) == pytest.approx(flat(times(plain.payload, amounts, k))), (spec, plain, scaled)


def answer(game, spec, policy, state):
    """Return an answer; that of a bot is drawn with the same random numbers each time."""
    return PolicyAgent(game, policy or game.bots[spec](game, 1)).respond(state).action


def flat(payload):
    numbers = {}
    for key, part in payload.items():
        numbers |= {f"{key} {name}": one for name, one in part.items()} if isinstance(part, dict) else {key: part}
    return numbers


HOSTS = {
    "auction": {"valuations": [0, 1000]},
    "bargaining": {"total": 1000, "reservations": (200, 300)},
    "bilateral_trade": {"reservations": ((800, 800), (400, 400)), "highest": 1000},
    "dictator": {"pie": 7.5},
    "dutch_auction": {"start_price": 1000, "decrement": 50, "valuations": (500, 1000)},
    "english_auction": {"valuations": (500, 1000), "highest": 1000, "min_increment": 50},
    "hold_up": {"highest": 100},
    "ultimatum": {"total": 1000, "reservations": ((200, 200), (300, 300))},
}
"""Options of hosts at whose tables an agent for the default options plays."""


@pytest.mark.parametrize("name", HOSTS)
def test_nothing_is_refused_at_tables_of_another_size_and_nobody_ends_below_its_outside_option(name):
    host, game = envs.game(name, **HOSTS[name]), envs.game(name)
    specs = [bot for bot in game.bots if bot not in ("random", "perfect")] + [f"zoo:{name}"]
    ends = {}
    for seed, pair in enumerate(combinations_with_replacement(specs, 2)):
        env = envs.GameEnv(host, "flat")
        env.reset(seed=seed)
        agents = [PolicyAgent(game, make_policy(spec, game, seed=seed)) for spec in pair]
        for _ in range(300):
            if env.table.done:
                break
            seat = int(env.table.turn)
            answer = agents[seat].respond(env.turn_state(host.agents[seat]))
            assert env.submit(host.agents[seat], answer).ok, (pair, answer)
        assert env.table.done, pair
        won = env.table.rewards if name in ("auction", "bargaining") else env.table.total
        ends[pair] = [float(one) for one in won[:2]]
        if host.capabilities.outside_option is not None:
            assert min(ends[pair]) >= -1e-6, pair
    if name in ("bilateral_trade", "ultimatum"):
        assert max(map(max, ends.values())) > 0
