"""Our agents on the platforms' games, with the platforms' quirks (see `arena_platform`)."""

import logging
import random

import pytest
from live.arena_platform import Action, AgentResponse, MessageIntent, PlatformMatch, Runner
from parlour import envs
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.arena.agent import ArenaAgent
from parlour.wrappers.live.arena.platform_games import PLATFORM_GAMES, hosted_games, supported_games
from parlour.wrappers.policies.loading import make_policy

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


def test_one_message_does_not_disable_the_negotiator():
    """After one `message_only` row, it read nothing any more and passed to the end."""
    match = PlatformMatch("unfair-split", ["me", "you"], [20, 30], original=True)
    agent = ours("me", "unfair-split", "fair")
    agent.on_match_start(match.match_id, match.game_id, match.agent_ids)
    match.apply("me", Action(action_type="message_only"))
    assert agent.act(match.state("me")).action == Action(action_type="submit_offer", payload={"my_share": 50.0})


def test_a_bidder_bids_once_though_its_turns_go_on():
    """It bid again until the match was void."""
    match = PlatformMatch("first-price-auction", ["me", "you"], [80, 30])
    agent = ours("me", "first-price-auction", "shade")
    agent.on_match_start(match.match_id, match.game_id, match.agent_ids)
    kinds = []
    for _ in range(3):
        answer = agent.act(match.state("me")).action
        assert match.apply("me", answer) is None
        match.apply("you", Action(action_type="pass"))
        kinds.append(answer.action_type)
    assert kinds == ["submit_bid", "pass", "pass"] and agent.statistics.replaced == 0


def test_an_all_pay_bidder_says_nothing_in_the_chat_phase_and_then_bids():
    match = PlatformMatch("all-pay-auction", ["me", "you"], [80, 30])
    agent = ours("me", "all-pay-auction", "equilibrium")
    kinds = []
    while match.outcome is None and "submit_bid" not in kinds:
        answer = agent.act(match.state("me")).action
        kinds.append(answer.action_type)
        assert match.apply("me", answer) is None
        match.apply("you", Action(action_type="message_only"))
    assert kinds == ["pass"] * 4 + ["submit_bid"]
    assert match.bids["me"] == pytest.approx(32)  # v² / 200


def test_three_share_a_pie():
    match = PlatformMatch("ultimatum", ["a", "me", "b"], [30, 30])
    agent = ours("me", "ultimatum", "fair")
    match.apply("a", Action(action_type="submit_offer", payload={"shares": {"a": 50, "me": 30, "b": 20}}))
    answer = agent.act(match.state("me")).action
    assert answer.payload["shares"] == pytest.approx({"a": 100 / 3, "me": 100 / 3, "b": 100 / 3}, abs=0.7)
    assert sum(answer.payload["shares"].values()) == pytest.approx(100)
    match.apply("me", answer)
    match.apply("b", Action(action_type="submit_offer", payload={"shares": {"a": 30, "me": 40, "b": 30}}))
    match.apply("a", Action(action_type="pass"))
    assert agent.act(match.state("me")).action == Action(action_type="accept")


def divider(name, bot="equal", seats=3):
    known = {"reservations": (30, 30)} if bot == "equilibrium" else {}
    game = envs.game("ultimatum", seats=seats, **known)
    return ArenaAgent(name, PolicyAgent(game, make_policy(bot, game, seed=1)))


@pytest.mark.parametrize("bot", ["equal", "equilibrium", "concede", "random"])
@pytest.mark.parametrize("count", [2, 3, 4])
def test_no_ultimatum_is_lost_beside_agents_that_talk_and_pass(bot, count, caplog):
    runner = Runner()
    for number in range(4):
        agents = [
            divider("zoe", bot, count),
            *(Chatty(name, number) for name in ("player_0", "accept", "b")[: count - 1]),
        ]
        agents = agents[number % count :] + agents[: number % count]
        match = PlatformMatch("ultimatum", [one.agent_id for one in agents], [30, 30], number=number)
        with caplog.at_level(logging.WARNING):
            runner.play(match, agents)
        assert not caplog.records
    assert [one for one in runner.wrong if one[0] == "zoe"] == []


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


def test_what_an_agent_tells_about_itself():
    agent = ours("me", "unfair-split", "fair")
    assert agent.get_metadata() == {"agent_id": "me", "type": "BargainingBot", "game": "bargaining-v0"}


def test_the_platforms_ids_of_our_games():
    assert supported_games(envs.game("bargaining")) == ["unfair-split", "ultimatum"]
    assert supported_games(envs.game("auction")) == ["first-price-auction"]
    assert supported_games(envs.game("auction", rule="all-pay")) == ["all-pay-auction"]
    assert supported_games(envs.game("holdem")) == hosted_games(envs.game("holdem")) == ["holdem-v0"]
    assert hosted_games(envs.game("bargaining")) == ["unfair-split"]  # where shares for all are no payload
    assert hosted_games(envs.game("auction")) == ["first-price-auction"]
    assert hosted_games(envs.game("auction", units=2, seats=3)) == ["auction-v0"]  # the platform sells one good
