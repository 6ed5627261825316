"""Our agents on the platforms' games, with the platforms' quirks (see `arena_platform`): bounds, refusals, limits."""

import logging
import random
from copy import deepcopy
from itertools import islice

import numpy as np
import pytest
from live.arena_platform import (
    Action,
    AgentResponse,
    BilateralTrade,
    Dictator,
    EnglishAuction,
    MessageIntent,
    PlatformMatch,
    Runner,
)
from parlour import envs
from parlour.envs import Action as OurAction
from parlour.envs import AllowedAction, TurnState
from parlour.training.commands.lookup import agent as named_agent
from parlour.training.commands.lookup import of_the_zoo, rivals
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.arena.agent import ArenaAgent
from parlour.wrappers.live.arena.platform_games import PLATFORM_GAMES, hosted_games, supported_games
from parlour.wrappers.policies.base import RandomPolicy
from parlour.wrappers.policies.loading import make_policy
from random_play import states

OPTIONS = {"all-pay-auction": {"rule": "all-pay"}}
BOTS = {"bargaining": ("fair", "conceder", "tit-for-tat", "random"), "auction": ("shade", "equilibrium", "random")}
PLAYED = [
    (game_id, count, original)
    for game_id in PLATFORM_GAMES
    for count in ((2,) if game_id == "unfair-split" else (2, 3))
    for original in (True, False)
    if not original or (game_id in ("unfair-split", "first-price-auction") and count == 2)
]


def ours(name, game_id, bot, seats=2, seed=1):
    kind = PLATFORM_GAMES[game_id].name
    options = {"seats": seats} if kind == "auction" else {}
    game = envs.game(kind, **OPTIONS.get(game_id, {}), **options)
    return ArenaAgent(name, PolicyAgent(game, make_policy(bot, game, seed=seed)))


class Chatty:
    """An agent of others: it talks, also to nobody, passes, and now and then does something else that is offered."""

    def __init__(self, name, seed):
        self.agent_id, self.random = name, random.Random(seed)

    def get_metadata(self):
        return {"agent_id": self.agent_id}

    def on_match_start(self, match_id, game_id, agent_ids):
        self.agent_ids = agent_ids

    def on_match_end(self, match_id, outcome):
        self.agent_ids = None

    def act(self, state):
        said = [MessageIntent(scope="private", content="psst", to_agent_ids=["nobody", self.agent_ids[0]])]
        offers = [offer.action_type for offer in state.allowed_actions]
        kind = self.random.choice(offers)
        if kind == "accept" and state.game_state.get("current_offer") is None:
            kind = "reject"
        payload = {
            "submit_bid": lambda: {"bid": self.random.uniform(0, 50)},
            "submit_offer": lambda: self._offer(state),
        }.get(kind, dict)()
        return AgentResponse(messages=said, action=Action(action_type=kind, payload=payload))

    def _offer(self, state):
        if state.game_id == "unfair-split":
            return {"my_share": self.random.uniform(0, 100)}
        return {"shares": {agent: 100 / len(self.agent_ids) for agent in self.agent_ids}}


@pytest.mark.parametrize("game_id, count, original", PLAYED)
def test_no_match_is_lost_beside_agents_that_talk_and_pass(game_id, count, original, caplog):
    runner, chance = Runner(), random.Random(3)
    for number, bot in enumerate(BOTS[PLATFORM_GAMES[game_id].name] * 6):
        names = ["zoe", "Bob B.", "player_1"][:count]
        agents = [ours(names[0], game_id, bot, count), *(Chatty(name, number) for name in names[1:])]
        chance.shuffle(agents)
        values = [round(chance.uniform(0, 40 if "auction" not in game_id else 100), 2) for _ in names]
        values = values[:2] if game_id == "ultimatum" else values
        match = PlatformMatch(game_id, [one.agent_id for one in agents], values, original=original, number=number)
        with caplog.at_level(logging.WARNING):
            runner.play(match, agents)
        assert not caplog.records
        mine = next(one for one in agents if one.agent_id == "zoe")
        assert mine.statistics.decisions and mine.statistics.replaced == 0
    assert [one for one in runner.wrong if one[0] == "zoe"] == []


@pytest.mark.parametrize("game_id, count, original", PLAYED)
def test_our_agents_come_to_an_end_with_each_other(game_id, count, original):
    runner = Runner()
    bot = "fair" if PLATFORM_GAMES[game_id].name == "bargaining" else "equilibrium"
    agents = [ours(f"agent {i}", game_id, bot, count) for i in range(count)]
    match = PlatformMatch(game_id, [one.agent_id for one in agents], [20, 30, 10][:count], original=original)
    outcome = runner.play(match, agents)
    assert outcome["reason"] in ("agreement", "auction_resolved") and not runner.wrong
    if "split" in outcome:
        assert outcome["split"] == pytest.approx([100 / count] * count)


def divider(name, bot="equal", seats=3):
    known = {"reservations": (30, 30)} if bot == "equilibrium" else {}
    game = envs.game("ultimatum", seats=seats, **known)
    return ArenaAgent(name, PolicyAgent(game, make_policy(bot, game, seed=1)))


@pytest.mark.parametrize("names", [("me", "ann", "joe"), ("ann", "me", "accept"), ("player_2", "total", "me")])
@pytest.mark.parametrize("is_told", [True, False], ids=["told of the start", "not told"])
def test_shares_name_the_agents_of_the_match(names, is_told):
    """Also of a match whose start the agent was not told, and beside an agent whose id is a word of the game."""
    agent, match = divider("me"), PlatformMatch("ultimatum", names, [30, 30, 30])
    if is_told:
        agent.on_match_start(match.match_id, match.game_id, list(names))
    match.turn = names.index("me")
    answer = agent.act(match.state("me")).action
    assert answer.payload["shares"] == pytest.approx(dict.fromkeys(names, 33.5) | {"me": 33})
    assert match.apply("me", answer) is None


@pytest.mark.parametrize("names", [("me", "ann"), ("me", "ann", "joe", "bob")])
def test_shares_for_another_number_of_agents_are_never_sent(names, caplog):
    agent, match = divider("me"), PlatformMatch("ultimatum", names, [30, 30])
    agent.on_match_start(match.match_id, match.game_id, list(names))
    with caplog.at_level(logging.WARNING):
        assert agent.act(match.state("me")).action.action_type == "pass"
    assert "--seats" in caplog.text


WRONG = {
    "total": "much",
    "current_offer": float("nan"),
    "my_reservation_value": [1],
    "action_history": [{"agent_id": "you", "action": "submit_offer", "my_share": "a lot"}],
}


@pytest.mark.parametrize("field", WRONG)
def test_what_cannot_be_read_costs_safe_actions_and_one_warning(field, caplog):
    agent = ours("me", "unfair-split", "fair")
    match = PlatformMatch("unfair-split", ["me", "you"], [20, 30], original=True)
    state = match.state("me")
    state.game_state[field] = WRONG[field]
    with caplog.at_level(logging.WARNING):
        answers = [agent.act(state).action.action_type for _ in range(3)]
    assert answers == ["pass"] * 3 and agent.statistics.replaced == 3
    (record,) = caplog.records
    assert "which is no number" in record.getMessage() and match.match_id in record.getMessage()
    assert agent.act(match.state("me")).action.action_type == "submit_offer"  # the match goes on


@pytest.mark.parametrize(
    "offered, wanted",
    [("accept message_only", "message_only"), ("accept reject", "reject"), ("submit_offer", "submit_offer")],
)
def test_the_safe_action_is_one_that_is_offered(offered, wanted):
    agent = ours("me", "unfair-split", "fair")
    state = PlatformMatch("unfair-split", ["me", "you"], [20, 30]).state("me")
    state.game_state["total"] = None
    state.allowed_actions = [one for one in state.allowed_actions if one.action_type in offered.split()]
    assert agent.act(state).action.action_type == wanted


def test_a_policy_for_another_game_says_so_once_and_passes(caplog):
    agent = ours("me", "first-price-auction", "shade")
    with caplog.at_level(logging.WARNING):
        for game_id in ("unfair-split", "all-pay-auction"):
            match = PlatformMatch(game_id, ["me", "you"], [20, 30])
            assert agent.act(match.state("me")).action.action_type == "pass"
            assert agent.act(match.state("me")).action.action_type == "pass"
    texts = [record.getMessage() for record in caplog.records]
    assert len(texts) == 2 and "cannot play 'unfair-split'" in texts[0] and "'all-pay-auction'" in texts[1]


def test_the_platforms_ids_of_our_games():
    assert supported_games(envs.game("bargaining")) == ["unfair-split", "ultimatum"]
    assert supported_games(envs.game("auction")) == ["first-price-auction"]
    assert supported_games(envs.game("auction", rule="all-pay")) == ["all-pay-auction"]
    assert supported_games(envs.game("holdem")) == hosted_games(envs.game("holdem")) == ["holdem-v0"]
    assert hosted_games(envs.game("bargaining")) == ["unfair-split"]  # where shares for all are no payload
    assert hosted_games(envs.game("auction")) == ["first-price-auction"]
    assert hosted_games(envs.game("auction", units=2, seats=3)) == ["auction-v0"]  # the platform sells one good


TWO = ("zoe", "Bob B.")


def player(name, spec, game, seed=1):
    return ArenaAgent(name, named_agent(spec, game, seed))


def specs(game):
    """Return every bot that can play the game's options, and the policy of the zoo."""
    return [*rivals(game), *of_the_zoo(game)[:1]]


# Bounds.


@pytest.mark.parametrize(
    "kind, spec", [(kind, one) for kind in ("english_auction", "bilateral_trade") for one in specs(envs.game(kind))]
)
def test_no_action_is_refused_where_only_the_state_has_the_bounds(kind, spec):
    game = envs.game(kind)
    other = "equilibrium"  # the seller, who is not told the highest price
    for number in range(4):
        runner = Runner(most_turns=10)
        match = (EnglishAuction if kind == "english_auction" else BilateralTrade)(TWO, (80, 40), number)
        runner.play(match, [player(TWO[0], spec, game, number), player(TWO[1], other, game, number)])
        assert runner.wrong == [] and match.outcome is not None


@pytest.mark.parametrize("kind", ["pass", "message_only", "fold"])
def test_a_turn_without_actions_is_never_passed(kind):
    """The game knows that there is nothing left to do, such as for a player of werewolf who is ready to vote."""
    match = EnglishAuction(("me", "you"), (80, 65))
    match.folded = ["me"]
    agent = ArenaAgent("me", named_agent("equilibrium", envs.game("english_auction"), 1))
    agent.agent.respond = lambda state: AgentResponse(action=Action(action_type=kind))
    assert agent.act(match.state("me")).action.action_type == ("fold" if kind == "fold" else "none")


@pytest.mark.parametrize("value, kind", [(40, "none"), (90, "accept")])
def test_an_offer_of_losses_alone_is_not_taken(value, kind):
    """After ten turns without a move the platform's Dutch auction offers the price, and no pass."""
    told = {"start_price": 100, "decrement": 5, "current_price": 85, "my_valuation": value, "action_history": []}
    offers = [AllowedAction("accept")]
    state = TurnState("m", "dutch-auction", "me", "auction", True, "me", told, allowed_actions=offers)
    for spec in ("equilibrium", "truthful", "random"):
        agent = player("me", spec, envs.game("dutch_auction"))
        assert agent.act(state).action.action_type == kind and agent.statistics.replaced == 0


def test_who_is_asked_again_and_again_out_of_turn_ends_it():
    """Such as a dead player of werewolf, to whom a refused action of another one gave the turn."""
    state = EnglishAuction(("me", "you"), (80, 65)).state("you")
    agent = player("you", "equilibrium", envs.game("english_auction"))
    assert [agent.act(state).action.action_type for _ in range(4)] == ["message_only"] * 2 + ["none"] * 2


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
    memory = ArenaAgent("ann", None).match("m")
    assert highest(memory.offered(asked(1, []))) == np.inf
    memory.answer = OurAction("propose", {"price": 90.0})
    if why:
        memory.refused(why)
    again = memory.offered(asked(3, history))  # the log has only the other's move, so that it was refused
    assert highest(again) == most
    assert highest(memory.offered(asked(5, history, phase="other"))) == np.inf
    if most not in (None, np.inf):
        memory.offered(asked(5, history))
        memory.answer = OurAction("propose", {"price": most})
        memory.refused("")
        assert highest(memory.offered(asked(7, history))) is None


def test_what_was_taken_or_asked_twice_teaches_nothing():
    memory = ArenaAgent("ann", None).match("m")
    for state in (asked(1, []), asked(1, []), asked(3, [("ann", "propose", 90.0), ("bob", "pass", None)])):
        assert highest(memory.offered(state)) == np.inf
        memory.answer = OurAction("propose", {"price": 90.0})


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


class Broken:
    def act(self, observations, masks):
        raise RuntimeError("no answer")


def bounded(state):
    return any(True for offer in state.allowed_actions for _ in numbers(offer.payload_schema))


def decisions(game, seed, count):
    """Return some decisions whose answers have numbers."""
    return islice(filter(bounded, states(game, seed, 6 * count)), count)


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
    "name, first, second, reason",
    [
        ("bargaining", "conceder", "conceder", "agreement"),
        ("bargaining", "zoo:bargaining", "conceder", "agreement"),
        ("bargaining", "tit-for-tat", "boulware", "agreement"),
        ("ultimatum", "zoo:ultimatum", "concede", "agreement"),
        ("bilateral_trade", "linear", "gradual", "trade_completed"),
        ("bilateral_trade", "zoo:bilateral_trade", "zoo:bilateral_trade", "trade_completed"),
    ],
)
def test_agents_agree_before_the_platforms_limit_of_turns(name, first, second, reason):
    """They went on until the horizon of their own game, and got nothing."""
    game = envs.game(name)
    for number in range(4):
        match = PlatformMatch("ultimatum", TWO, (30, 30), number=number)
        if name == "bilateral_trade":
            match = BilateralTrade(TWO, (80, 40))
        agents = [player(TWO[0], first, game, number), player(TWO[1], second, game, number + 1)]
        Runner(most_turns=10).play(match, agents)
        assert match.outcome["reason"] == reason


# The reservation value.


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
