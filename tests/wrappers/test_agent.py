"""Agents: policies at tables of every size, and people."""

import asyncio
import io
import re
import threading
import time
from functools import partial

import numpy as np
import pytest
from beginnings import episode, record
from parlour import envs
from parlour.envs import Action, AgentResponse, AllowedAction, MessageScope
from parlour.envs.core.turn_state import Message
from parlour.training.commands.lookup import searching_agent, where_possible
from parlour.wrappers.agents.answers import choices, for_people, help_text, parse_typed
from parlour.wrappers.agents.base import Agent, sentence
from parlour.wrappers.agents.human import HumanAgent
from parlour.wrappers.agents.policy import PolicyAgent, ReadyAgent
from parlour.wrappers.live.common.clock import Deadline
from parlour.wrappers.live.common.player import Player, Turn
from parlour.wrappers.policies.loading import make_policy
from policies import Acting, Always


def test_a_policy_agent_plays_what_the_policy_would_play_in_the_environment():
    env = envs.make("holdem", seats=3)
    bots = [env.game.bots["random"](env.game, seed) for seed in (5, 5)]
    agent = PolicyAgent(env.game, bots[0])
    assert isinstance(agent, Agent)
    for seed in range(30):
        env.reset(seed=seed)
        while not env.table.done:
            seat = int(env.table.turn)
            response = agent.respond(env.turn_state(env.agent_selection))
            observation = env.game.observation(env.table, seat)[None]
            number = int(bots[1].act(observation, env.game.mask(env.table, seat)[None])[0])
            assert response == env.game.view.encode(env.table, number)
            assert env.submit(env.agent_selection, response).ok


@pytest.mark.parametrize("number", [3, -1, 99])
def test_a_masked_action_is_named(number):
    env = envs.make("holdem", seats=2, pot_fractions=(0.01,))  # number 3 is below the least raise
    env.reset(seed=1)
    agent = PolicyAgent(env.game, Acting(lambda observations, masks: np.full(len(masks), number)))
    with pytest.raises(ValueError, match=rf"action {number}, which is masked; open are \[0, 1"):
        agent.respond(env.turn_state(env.agent_selection))


def test_turns_that_are_not_ours():
    env = episode("holdem", seats=2)
    agent = PolicyAgent(env.game, Always(1))
    waiting = env.turn_state(f"player_{1 - int(env.table.turn)}")
    with pytest.raises(ValueError, match="not its turn"):
        agent.respond(waiting)
    waiting.game_id = "chess-v0"
    with pytest.raises(ValueError, match="cannot play 'chess-v0'"):
        agent.respond(waiting)


def human(text, state):
    screen = io.StringIO()
    return HumanAgent(io.StringIO(text), screen).respond(state), screen.getvalue()


@pytest.fixture
def turn():
    env = episode("holdem", seats=2)
    return env.turn_state(env.agent_selection)


def test_a_person_sees_the_turn_and_is_asked_until_the_answer_fits(turn):
    wrong = "bat 5, bet, the 3, 200 6, bet 5 6, raiseTo, raiseTo 3, raiseTo x, raiseTo 5.5, raiseTo true, raiseTo 5 6"
    response, shown = human("\n" + wrong.replace(", ", "\n") + "\nraiseTo 137\n", turn)
    assert response == AgentResponse(Action("raiseTo", {"amount": 137}))
    assert "raise <amount: a whole number from 4 to 200>" in shown
    assert all(card in shown for player in turn.game_state["players"] for card in player.get("cards", ()))
    assert shown.count("\n> ") == 12 and "\n> > " in shown  # an empty line is no answer
    for words in ("must be a whole number from 4 to 200, not 3", "amount is missing", "'6' is too much"):
        assert words in shown


def offer(action_type, description="", required=None, **properties):
    needed = [*properties] if required is None else required
    return AllowedAction(action_type, description, {"properties": properties, "required": needed})


WHOLE = {"type": "integer", "minimum": 4, "maximum": 9}
NUMBER = {"type": "number"}
PLACE = {"type": "array", "items": NUMBER | {"minimum": 0, "maximum": 100}, "minItems": 2, "maxItems": 2}
TEXT = {"type": ["string", "null"]}
SAY = {"type": {"type": ["string", "null"], "enum": [None, "claim"]}, "isMafia": {"type": ["boolean", "null"]}}
SHARE = offer("allocate_split", "keep this share and give the rest", allocator_share=NUMBER)
TYPED = {  # an offer; how it is shown; lines, and the payload that each gives; a line that is refused, and why
    "words of the description name it": (
        SHARE, "keep <allocator_share: a number>  (keep this share and give the rest)",
        ("keep 30", "1 30"), {"allocator_share": 30}, ("give 30", "^'give' is not one of keep <"),
    ),
    "a text": (
        offer("say", "make a statement: an act, or a text", [], **SAY, text=TEXT), "say <text>  (make a statement)",
        ("say I am the doctor",), {"text": "I am the doctor"}, ("say", ""),
    ),
    "a text that looks like a value": (
        offer("say", "", [], **SAY, text=TEXT), None, ("say I think p2 = mafia", "1 I think p2 = mafia"),
        {"text": "I think p2 = mafia"}, ("say", ""),
    ),
    "values before a text": (
        offer("say", "", [], **SAY, text=TEXT), None, ("say claim true I = the law",),
        {"type": "claim", "isMafia": True, "text": "I = the law"}, ("say", ""),
    ),
    "a schema of fields alone": (
        AllowedAction("submit_offer", "", {"my_share": NUMBER}), "submit_offer <my_share: a number>",
        ("submit_offer 40", "SUBMIT_OFFER my_share=40"), {"my_share": 40}, ("submit_offer x", "must be a number"),
    ),
    "no value that fits": (
        offer("vote", target={"enum": []}), "vote <target: no value at all>", (), {},
        ("vote a", "target must be no value at all, not a"),
    ),
    "points": (
        offer("move", place=PLACE, turn=NUMBER), "move <place: 2 numbers from 0 to 100, such as 0,0> <turn: a number>",
        ("move 40,60.5 90", "1 [40,60.5] 90"), {"place": [40, 60.5], "turn": 90}, ("move", "is missing"),
    ),
    "the only action": (
        offer("play", action={"type": "integer", "enum": [1]}), "play [1]",
        ("play", "play 1", "1"), {"action": 1}, ("play b", "must be|is too much"),
    ),
    "the only word": (
        offer("vote", target={"enum": ["a"]}), "vote [a]",
        ("vote", "vote a", "a", "1", "1 a", "vote target=a"), {"target": "a"}, ("vote b", "must be|is too much"),
    ),
    "the only number": (
        offer("raise", amount=WHOLE | {"maximum": 4}), "raise [4]",
        ("raise", "raise 4", "4", "raise to 4"), {"amount": 4}, ("raise b", "must be|is too much"),
    ),
    "the only word before a number": (
        offer("kill", kind={"enum": ["K"]}, n=WHOLE), "kill [K] <n: a whole number from 4 to 9>",
        ("kill 5", "kill K 5", "5", "K 5", "kill n=5"), {"kind": "K", "n": 5}, ("kill b", "must be|is too much"),
    ),
    "a value that is not described": (
        AllowedAction("do", "", {"properties": {}, "required": ["x"]}), "do <x: a value>",
        ("do 5",), {"x": 5}, ("do", "x is missing"),
    ),
    "a list of anything": (
        offer("do", x={"type": "array"}), "do <x: a value>",
        ("do [[1,2],[3,4]]", "do [1,2],[3,4]"), {"x": [[1, 2], [3, 4]]}, ("do", "x is missing"),
    ),
    "a list of two": (
        offer("do", x=PLACE | {"items": WHOLE}), "do <x: 2 whole numbers from 4 to 9, such as 4,4>",
        ("do 4,5",), {"x": [4, 5]}, ("do", "x is missing"),
    ),
    "a choice of which nothing is there": (
        offer("say", "", ["type"], **SAY, text=TEXT), None, ("say claim",), {"type": "claim"},
        ("say", r"type is missing: write say <type: null or claim> \[isMafia: true or false\] \[text: text\]"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", TYPED)
def test_what_a_person_may_type_is_shown_and_read(kind):
    choice, shown, lines, payload, (refused, complaint) = TYPED[kind]
    if shown is not None:
        assert choices([choice]) == f" 1 {shown}"
    if kind == "a text":
        assert "[isMafia: true or false] [text: text]" in choices([choice], described=True)
    for line in lines:
        assert parse_typed(line, [choice]) == Action(choice.action_type, payload)
        if line[0] in choice.action_type[0] + "1":
            assert parse_typed(line, [choice, AllowedAction("pass")]) == Action(choice.action_type, payload)
    if complaint:
        with pytest.raises(ValueError, match=complaint):
            parse_typed(refused, [choice])


@pytest.mark.parametrize(("types", "word"), [(("call", "raise"), "check"), (("fold", "call", "raise"), "call")])
def test_a_call_where_nothing_is_owed_is_a_check(types, word):
    offers = [AllowedAction(one, "") for one in types]
    assert choices(offers).splitlines()[types.index("call")].split()[1] == word
    assert parse_typed(word, offers) == parse_typed("call", offers) == Action("call")
    assert parse_typed("call", [AllowedAction("fold", ""), AllowedAction("check", "")]) == Action("check")


def test_all_in_is_a_number_of_a_raise_and_of_nothing_else():
    bet = offer("raiseTo", "raise to 4 to 9 (9 is all-in)", amount=WHOLE)
    say = offer("say", "say (9 is all-in)", text={"type": "string"})
    for line in ("raise all-in", "raise to all in", "all in", "Allin", "1 all in", "raise amount=all-in"):
        assert parse_typed(line, [bet, say]) == Action("raiseTo", {"amount": 9})
    for text in ("I am all in", "all in", "to all"):
        assert parse_typed(f"say {text}", [bet, say]) == Action("say", {"text": text})
    with pytest.raises(ValueError, match=r"^'all-in' is not one of call, fold$"):
        parse_typed("all in", [AllowedAction("call"), AllowedAction("fold")])


def test_words_that_several_choices_share_name_none_of_them():
    offers = [offer(name, f"{name} an amount of chips", amount=NUMBER) for name in ("stake", "insure")]
    with pytest.raises(ValueError, match=r"stake.*insure") as refused:
        parse_typed("amount 5", [*offers, AllowedAction("leave", "leave the table")])
    assert "leave" not in str(refused.value)


@pytest.mark.parametrize("name", ["holdem", "kuhn", "mafia", "tangram", "ultimatum", "multi_issue_bargaining"])
def test_the_example_of_help_is_a_choice_that_is_offered(name):
    env = episode(name)
    offers = for_people(env.turn_state(env.agent_selection).allowed_actions)
    actions = [parse_typed(line, offers) for line in re.search(r'as in "(.*)" or "(.*)"', help_text(offers)).groups()]
    assert actions[0] == actions[1] and env.submit(env.agent_selection, actions[0]).ok


class Tty(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self):
        return True


def test_quit_below_a_text_leaves_and_between_matches_a_command_is_obeyed(turn):
    person = HumanAgent(io.StringIO("help\nquit\n"), Tty())
    person.redraw = lambda: None
    with pytest.raises(KeyboardInterrupt):
        person.respond(turn)
    person = HumanAgent(io.StringIO("call\nrules\n\n"), io.StringIO())
    person.rules = lambda: "a rule"
    person.wait("Enter: next > ")
    shown = person._screen.getvalue()
    assert shown.count("Enter: next > ") == 3
    assert "'call' is no answer here: press Enter, or type rules or quit" in shown and "a rule" in shown


def test_the_compact_view_has_the_choices_and_every_message_once(turn):
    screen = io.StringIO()
    person = HumanAgent(io.StringIO("call\n" * 3), screen, compact=True)
    message = Message("1", "player_1", MessageScope.PUBLIC, "good luck")
    for messages in ([], [message], [message]):
        turn.messages = messages
        person.respond(turn)
    shown = screen.getvalue()
    assert shown.count("Your turn") == shown.count(" 1 call") == 3
    assert shown.count("player_1: good luck") == 1
    assert "smallBlind" not in shown
    turn.match_id += " again"
    person._source = io.StringIO("call\n" * 2)
    person.respond(turn)
    assert screen.getvalue().count("good luck") == 2
    turn.messages = [Message("1", "player_1", MessageScope.PUBLIC, "once more"), message]  # ids repeat after a seed
    person.respond(turn)
    assert screen.getvalue().count("good luck") == 3


def test_actions_are_written_as_people_write_them_and_read_back():
    env = episode("bargaining", total=33.33, offers=5)
    allowed = env.turn_state(env.agent_selection).allowed_actions
    actions = [env.game.view.encode(env.table, number).action for number in np.flatnonzero(env.game.mask(env.table, 0))]
    lines = [sentence(action) for action in actions]
    assert [parse_typed(line, allowed) for line in lines] == actions
    assert "submit_offer 8.3325" in lines


@pytest.mark.parametrize(("word", "error"), [("quit", KeyboardInterrupt), ("Q", KeyboardInterrupt), ("bat", EOFError)])
def test_quit_leaves_as_ctrl_c_does_and_a_person_may_have_gone(turn, word, error):
    with pytest.raises(error):
        human(f"{word}\n", turn)


GAME = envs.game("leduc")


RAISES = Acting(lambda observations, masks: np.flatnonzero(masks[0])[-1:])


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
    table = record(GAME)
    return GAME.turn_state(table, int(table.turn))


def fail():
    raise RuntimeError("no plan")


@pytest.mark.parametrize(("how", "answer"), [(lambda: None, "call"), (fail, "raise")])
def test_the_search_answers_and_the_policy_does_where_it_fails(how, answer):
    agent = ReadyAgent(PolicyAgent(GAME, RAISES), Searches(how))
    assert agent.respond(state()).action.action_type == answer


def test_a_search_that_never_ends_misses_no_deadline_and_the_policys_action_is_played():
    ends = threading.Event()
    search = Searches(ends.wait)
    agent = ReadyAgent(PolicyAgent(GAME, RAISES), search)
    agent._most = None
    own = PolicyAgent(GAME, RAISES).respond(state())

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


@pytest.mark.slow
def test_those_that_can_search_do():
    game = envs.game("holdem", seats=2)
    policies = [PolicyAgent(game, make_policy(name, game, seed=1)) for name in ("zoo:holdem", "call")]
    names, search = ["zoo:holdem", "call", "human"], partial(searching_agent, seed=1)
    agents = where_possible(names, [*policies, HumanAgent()], search)
    assert [type(one) for one in agents] == [ReadyAgent, PolicyAgent, HumanAgent]


@pytest.mark.parametrize(("name", "reason"), [("holdem", "does not tell its probabilities"), ("leduc", "leduc")])
def test_who_cannot_search_is_named(name, reason):
    game = envs.game(name, seats=2) if name == "holdem" else GAME
    with pytest.raises(ValueError, match=reason):
        agents = [PolicyAgent(game, make_policy("call", game, seed=1)), HumanAgent()]
        where_possible(["call", "human"], agents, partial(searching_agent, seed=1))
