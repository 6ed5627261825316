"""What bounds an answer: a number in a platform's state, its limit of turns, and the own reservation value."""

import random
from copy import deepcopy

import numpy as np
import pytest
from live.arena_platform import Action, AgentResponse, PlatformMatch, Runner
from live.arena_platform_games import BilateralTrade, Dictator, EnglishAuction, WarOfAttrition
from parlour import envs
from parlour.envs import Action as OurAction
from parlour.envs import AllowedAction, TurnState
from parlour.training.commands.lookup import agent as named_agent
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.arena.agent import ArenaAgent, ArenaAgentSession
from parlour.wrappers.policies.base import RandomPolicy
from parlour.zoo import names

TWO = ("zoe", "Bob B.")


def player(name, spec, game, seed=1):
    return ArenaAgent(name, named_agent(spec, game, seed))


def specs(game):
    """Return every bot that can play the game's options, and the policy of the zoo."""
    able = []
    for name in game.bots:
        try:
            game.bots[name](game, 0)
        except ValueError:
            continue
        able.append(name)
    return [*able, *(["zoo:" + game.name] if game.name in names() else [])]


def games_with_bots(*kinds, **options):
    made = {kind: envs.game(kind, **options.get(kind, {})) for kind in kinds}
    return [(kind, spec) for kind, game in made.items() for spec in specs(game)]


# Bounds.


@pytest.mark.parametrize("kind, spec", games_with_bots("english_auction", "war_of_attrition", "bilateral_trade"))
def test_no_action_is_refused_where_only_the_state_has_the_bounds(kind, spec):
    game = envs.game(kind)
    make = {
        "english_auction": lambda number: EnglishAuction(TWO, (80, 65), number),
        "war_of_attrition": lambda number: WarOfAttrition(TWO, 10.0, number),
        "bilateral_trade": lambda number: BilateralTrade(TWO, (80, 40), number),
    }[kind]
    other = "equilibrium"  # the seller, who is not told the highest price
    for number in range(4):
        runner, match = Runner(most_turns=10), make(number)
        runner.play(match, [player(TWO[0], spec, game, number), player(TWO[1], other, game, number)])
        assert runner.wrong == [] and match.outcome is not None


@pytest.mark.parametrize("spec", ["equilibrium", "jumper", "zoo:english_auction", "random"])
def test_who_has_folded_answers_a_turn_without_actions_with_a_game_action(spec):
    """The platform asks again after a refused `pass`, without end; a refused game action gives the turn on."""
    match = EnglishAuction(("me", "you", "joe"), (80, 65, 50))
    agent = player("me", spec, envs.game("english_auction", seats=3))
    match.folded, match.history = ["me"], [{"agent_id": "me", "action": "fold", "phase": "auction"}]
    assert match.state("me").allowed_actions == []
    for _ in range(3):
        answer = agent.act(match.state("me")).action
        assert answer.action_type in ("raise_bid", "fold")


@pytest.mark.parametrize("spec", ["equilibrium", "zoo:english_auction", "jumper"])
def test_a_match_of_three_ends_though_one_has_folded(spec):
    game = envs.game("english_auction", seats=3)
    agents = [player(f"agent {seat}", spec, game, seat) for seat in range(3)]
    match, runner = EnglishAuction([one.agent_id for one in agents], (80, 65, 50)), Runner(most_turns=50)
    match.apply("agent 0", Action(action_type="fold"))
    match.turn = 0  # as after a refused action of the last agent
    runner.play(match, agents)
    assert match.outcome["reason"] == "last_standing" and runner.calls < 30


class Refused:
    """An agent whose first answers no platform takes."""

    def __init__(self, agent, count):
        self.agent, self.agent_id, self.count = agent, agent.agent_id, count
        self.get_metadata, self.on_match_start, self.on_match_end = dict, agent.on_match_start, agent.on_match_end

    def act(self, state):
        self.count -= 1
        return AgentResponse(action=Action(action_type="dance")) if self.count >= 0 else self.agent.act(state)


@pytest.mark.parametrize("count", [1, 3, 1000])
@pytest.mark.parametrize("spec", ["equal", "zoo:dictator"])
def test_turns_that_only_ask_for_messages_end(spec, count):
    """After a refused action of the allocator, the recipient is asked to talk until an action of its own is refused."""
    game = envs.game("dictator")
    match, runner = Dictator(TWO), Runner(most_turns=10)
    runner.play(match, [Refused(player(TWO[0], spec, game), count), player(TWO[1], spec, game)])
    assert match.outcome["reason"] == ("max_turns_exceeded" if count == 1000 else "dictator_allocated")
    assert runner.calls < 40


# Refusals.


def asked(round_, history, phase="negotiate", **game):
    told = {"buyer": "bob", "seller": "ann", "my_reservation_value": 40, "current_round": round_, **game}
    price = {"price": {"type": "number", "minimum": 0}}
    offers = [AllowedAction("propose", "", price), *map(AllowedAction, ("accept_proposal", "pass", "message_only"))]
    told["action_history"] = [{"agent_id": name, "action": kind, "price": at} for name, kind, at in history]
    return TurnState("m", "bilateral-trade", "ann", phase, True, "ann", told, allowed_actions=offers)


def highest(state):
    """Return the highest price that is offered; None: no price is."""
    found = [offer.payload_schema for offer in state.allowed_actions if offer.action_type == "propose"]
    return found[0]["price"].get("maximum", np.inf) if found else None


@pytest.mark.parametrize(
    "why, history, most",
    [
        ("price 90.0 exceeds max_budget 80", [], 80),
        ("", [("bob", "propose", 30.0)], 30),
        ("", [("bob", "pass", None)], None),
        ("price 90 is too low: at least 95", [], np.inf),
    ],
)
def test_a_refusal_teaches_the_bound_that_it_names_or_implies(why, history, most):
    memory = ArenaAgentSession(None).match("m")
    assert highest(memory.offered(asked(1, []))) == np.inf
    memory.answered(OurAction("propose", {"price": 90.0}))
    if why:
        memory.refused(why)
    again = memory.offered(asked(3, history))  # the log has only the other's move, so that it was refused
    assert highest(again) == most
    assert highest(memory.offered(asked(5, history, phase="other"))) == np.inf
    if most not in (None, np.inf):
        memory.offered(asked(5, history))
        memory.answered(OurAction("propose", {"price": most}))
        memory.refused("")
        assert highest(memory.offered(asked(7, history))) is None


def test_what_was_taken_or_asked_twice_teaches_nothing():
    memory = ArenaAgentSession(None).match("m")
    for state in (asked(1, []), asked(1, []), asked(3, [("ann", "propose", 90.0), ("bob", "pass", None)])):
        assert highest(memory.offered(state)) == np.inf
        memory.answered(OurAction("propose", {"price": 90.0}))


def test_who_is_refused_for_want_of_questions_asks_no_more():
    game = envs.game("principal_agent")
    agent, kinds = player("ann", "thorough", game), []
    told = {"principal": "bob", "worker": "ann", "contract": {"outcome_levels": []}, "action_history": []}
    offers = [AllowedAction(kind) for kind in ("ask_clarification", "skip_clarify", "message_only")]
    for number in (1, 2):
        seen = {**told, "current_round": 2 * number}
        state = TurnState("m", "principal-agent", "ann", "clarify", True, "ann", seen, allowed_actions=offers)
        kinds.append(agent.act(state).action.action_type)
    assert kinds == ["ask_clarification", "skip_clarify"]


def numbers(schema, path=()):
    for name, part in schema.get("properties", {}).items():
        if part.get("type") in ("number", "integer") and "enum" not in part:
            yield (*path, name), part
        elif part.get("type") == "object":
            yield from numbers(part, (*path, name))


def narrowed(offer, chance):
    """Return the same offer with a third of every number's range."""
    schema = deepcopy(offer.payload_schema)
    for _, part in numbers(schema):
        low, high = part.get("minimum", 0), part.get("maximum", 100)
        least = low + (high - low) * chance.random() * 2 / 3
        limits = (least, least + (high - low) / 3)
        whole = part["type"] == "integer"
        part["minimum"], part["maximum"] = (int(-(-limits[0] // 1)), int(limits[1])) if whole else limits
        if part["minimum"] > part["maximum"]:
            part["minimum"] = part["maximum"]
    return AllowedAction(offer.action_type, offer.description, schema)


class Deaf:
    """A policy that always wants the same action index, open or not."""

    def __init__(self, action):
        self.action = action

    def act(self, observations, masks):
        return np.full(len(masks), self.action)


class Broken:
    def act(self, observations, masks):
        raise RuntimeError("no answer")


def bounded(state):
    return any(True for offer in state.allowed_actions for _ in numbers(offer.payload_schema))


def decisions(game, seed, count):
    env, chance = envs.GameEnv(game, "flat"), np.random.default_rng(seed)
    env.reset(seed=seed)
    for _ in range(6 * count):
        if env.table.done or not count:
            return
        state = env.turn_state(game.agents[int(env.table.turn)])
        if bounded(state):
            count -= 1
            yield state
        env.step(int(chance.choice(game.mask(env.table, int(env.table.turn)).nonzero()[0])))


@pytest.mark.parametrize("name", list(envs.GAMES))
def test_every_answer_lies_within_narrowed_bounds(name):
    game, chance = envs.game(name), random.Random(name)
    agents = [named_agent(spec, game, 1) for spec in specs(game)]
    agents += [PolicyAgent(game, policy) for policy in (RandomPolicy(seed=2), Broken())]
    for seed, agent in enumerate(agents):
        for state in decisions(game, seed, 3):
            state.allowed_actions = [narrowed(offer, chance) for offer in state.allowed_actions]
            answer = ArenaAgent(state.agent_id, agent).act(state).action
            schema = {offer.action_type: offer.payload_schema for offer in state.allowed_actions}[answer.action_type]
            for path, part in numbers(schema):
                value = answer.payload
                for key in path:
                    value = value[key]
                assert part["minimum"] - 1e-6 <= value <= part["maximum"] + 1e-6, (agent, path)


@pytest.mark.parametrize("spec", specs(envs.game("war_of_attrition")))
def test_bounds_between_two_action_indices_are_kept(spec):
    state = next(decisions(envs.game("war_of_attrition"), 1, 1))
    schema = {"properties": {"t": {"type": "number", "minimum": 7.1, "maximum": 7.4}}, "required": ["t"]}
    state.allowed_actions = [AllowedAction("submit_time", "", schema)]
    agent = player(state.agent_id, spec, envs.game("war_of_attrition"))
    assert 7.1 <= agent.act(state).action.payload["t"] <= 7.4 and agent.statistics.replaced == 0


LIMITS = {
    "war_of_attrition": ("max_time", "submit_time", "t"),
    "voluntary_contribution": ("endowment", "contribute", "amount"),
    "trust": ("endowment", "send", "amount"),
    "dictator": ("pie", "allocate_split", "allocator_share"),
    "bilateral_trade": ("max_budget", "propose", "price"),
}


@pytest.mark.parametrize("name", LIMITS)
def test_a_field_of_the_state_bounds_the_answer(name):
    """Schemas of the platform say nothing about it."""
    game, (field, kind, key) = envs.game(name), LIMITS[name]
    for spec in specs(game):
        agent = player("player_0", spec, game)
        for seed, most in enumerate((0.25, 3.0, 7.7)):
            env = envs.GameEnv(game)
            env.reset(seed=seed)
            state = env.turn_state("player_0")
            state.game_id, state.game_state[field] = game.platform_id, most
            for offer in state.allowed_actions:
                offer.payload_schema = {key: {"type": "number", "minimum": 0}} if offer.action_type == kind else {}
            answer = agent.act(state).action
            assert answer.action_type != kind or 0 <= answer.payload[key] <= most
            if name == "dictator" and answer.action_type == kind:
                assert sum(answer.payload.values()) == pytest.approx(most)


# The limit of turns.


@pytest.mark.parametrize(
    "spec, other",
    [("conceder", "conceder"), ("boulware", "conceder"), ("zoo:bargaining", "conceder"), ("tit-for-tat", "boulware")],
)
def test_negotiators_agree_before_the_platforms_limit_of_turns(spec, other):
    """They went on until the horizon of their own game, and got nothing."""
    game = envs.game("bargaining")
    for number in range(4):
        match = PlatformMatch("ultimatum", TWO, (30, 30), number=number)
        Runner(most_turns=10).play(match, [player(TWO[0], spec, game, number), player(TWO[1], other, game, number)])
        assert match.outcome["reason"] == "agreement", spec


@pytest.mark.parametrize("spec", ["concede", "zoo:ultimatum"])
def test_dividers_agree_before_the_platforms_limit_of_turns(spec):
    game = envs.game("ultimatum")
    match = PlatformMatch("ultimatum", TWO, (30, 30))
    Runner(most_turns=10).play(match, [player(TWO[0], spec, game), player(TWO[1], "concede", game, 2)])
    assert match.outcome["reason"] == "agreement"


@pytest.mark.parametrize("spec, other", [("gradual", "gradual"), ("linear", "gradual"), ("zoo:bilateral_trade",) * 2])
def test_traders_trade_before_the_platforms_limit_of_turns(spec, other):
    game = envs.game("bilateral_trade")
    match = BilateralTrade(TWO, (80, 40))
    Runner(most_turns=10).play(match, [player(TWO[0], spec, game), player(TWO[1], other, game, 2)])
    assert match.outcome["reason"] == "trade_completed"


# The reservation value.


@pytest.mark.parametrize("spec", [*specs(envs.game("bargaining"))])
@pytest.mark.parametrize("other", ["conceder", "zoo:bargaining"])
def test_nobody_agrees_to_less_than_its_reservation_value(spec, other):
    """One platform draws reservation values from the whole pie, so that many a deal hurts somebody."""
    game, chance = envs.game("bargaining"), random.Random(4)
    for number in range(12):
        values = [round(chance.uniform(0, 100), 2) for _ in TWO]
        match = PlatformMatch("unfair-split", TWO, values, original=True, number=number)
        Runner().play(match, [player(TWO[0], spec, game, number), player(TWO[1], other, game, number)])
        assert min(row["utility"] for row in match.outcome["payoffs"]) >= 0, values


@pytest.mark.parametrize("name", [name for name in envs.GAMES if envs.game(name).capabilities.outside_option])
def test_no_answer_is_worth_less_than_the_outside_option(name):
    """Offers and acceptances of every bot and policy, wherever something else is offered."""
    game = envs.game(name)
    for seed, spec in enumerate(specs(game)):
        agent = named_agent(spec, game, 1)
        for state in decisions(game, seed, 8):
            tables, seat = game.view.load(state)
            worth, mask = game.capabilities.outside_option.worth(tables[0]), game.mask(tables[0], seat)
            index = game.view.nearest(tables[0], game.view.parse(tables[0], agent.respond(state).action))
            assert worth[index] >= min(0.0, worth[mask > 0].max()) - 1e-6, spec
