"""Agents: policies at tables of every size, and people."""

import io

import numpy as np
import pytest
from parlour import envs
from parlour.envs import Action, AgentResponse, AllowedAction, MessageScope
from parlour.envs.core.turn_state import Message
from parlour.wrappers.agents.answers import choices, parse_typed
from parlour.wrappers.agents.base import Agent, sentence
from parlour.wrappers.agents.human import HumanAgent
from parlour.wrappers.agents.policy import PolicyAgent


class Fixed:
    """Plays the same number at every decision."""

    def __init__(self, number):
        self.number = number

    def act(self, observations, masks):
        return np.full(len(masks), self.number, np.int64)


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


@pytest.mark.parametrize("seats", [2, 3, 6, 9])
@pytest.mark.parametrize("bot", ["random", "call", "tight", "maniac"])
def test_a_heads_up_policy_plays_at_any_table(bot, seats):
    heads_up = envs.game("holdem", seats=2)
    agent = PolicyAgent(heads_up, heads_up.bots[bot](heads_up, 1))
    env = envs.make("holdem", seats=seats, stacks=100)
    for seed in range(15):
        env.reset(seed=seed)
        while not env.table.done:
            result = env.submit(env.agent_selection, agent.respond(env.turn_state(env.agent_selection)))
            assert result.ok, result


@pytest.mark.parametrize("number", [3, -1, 99])
def test_a_masked_action_is_named(number):
    env = envs.make("holdem", seats=2, pot_fractions=(0.01,))  # number 3 is below the least raise
    env.reset(seed=1)
    with pytest.raises(ValueError, match=rf"action {number}, which is masked; open are \[0, 1"):
        PolicyAgent(env.game, Fixed(number)).respond(env.turn_state(env.agent_selection))


def test_turns_that_are_not_ours():
    env = envs.make("holdem", seats=2)
    env.reset(seed=1)
    agent = PolicyAgent(env.game, Fixed(1))
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
    env = envs.make("holdem", seats=2)
    env.reset(seed=1)
    return env.turn_state(env.agent_selection)


def test_a_person_sees_the_turn_and_answers(turn):
    response, shown = human("raiseTo 137\n", turn)
    assert response == AgentResponse(Action("raiseTo", {"amount": 137}))
    assert "raise <amount: a whole number from 4 to 200>" in shown
    for card in next(player["cards"] for player in turn.game_state["players"] if "cards" in player):
        assert card in shown


def test_a_person_is_asked_again(turn):
    lines = [
        "",
        "bat 5",
        "bet",
        "the 3",
        "200 6",
        "bet 5 6",
        "raiseTo",
        "raiseTo 3",
        "raiseTo x",
        "raiseTo 5.5",
        "raiseTo true",
        "raiseTo 5 6",
        "call",
    ]
    response, shown = human("\n".join(lines) + "\n", turn)
    assert response == AgentResponse(Action("call"))
    assert shown.count("\n> ") == len(lines) - 1 and "\n> > " in shown  # an empty line is no answer
    assert "amount must be a whole number from 4 to 200, not 3" in shown
    assert "amount is missing" in shown
    assert "'6' is too much" in shown


def test_a_choice_with_values_says_what_it_does_and_these_words_name_it():
    share = {"properties": {"allocator_share": {"type": "number"}}, "required": ["allocator_share"]}
    split = AllowedAction("allocate_split", "keep this share and give the rest", share)
    offers = [split, AllowedAction("pass", "do not choose in this turn")]
    assert " 1 keep <allocator_share: a number>  (keep this share and give the rest)" in choices(offers)
    assert parse_typed("keep 30", offers) == Action("allocate_split", {"allocator_share": 30})
    with pytest.raises(ValueError, match=r"^'give' is not one of keep <"):  # it would keep 30
        parse_typed("give 30", offers)


@pytest.mark.parametrize(("types", "word"), [(("call", "raise"), "check"), (("fold", "call", "raise"), "call")])
def test_a_call_where_nothing_is_owed_is_a_check(types, word):
    offers = [AllowedAction(one, "") for one in types]
    assert choices(offers).splitlines()[types.index("call")].split()[1] == word
    assert parse_typed(word, offers) == parse_typed("call", offers) == Action("call")


def test_free_text_and_points_are_asked_for_in_few_words():
    say = {"type": {"type": ["string", "null"], "enum": [None, "claim"]}, "text": {"type": ["string", "null"]}}
    place = {"type": "array", "items": {"type": "number", "minimum": 0, "maximum": 100}, "minItems": 2, "maxItems": 2}
    turn = {"type": "number", "minimum": -1e9, "maximum": 1e9}
    offers = [
        AllowedAction("say", "make a statement: an act, or a text", {"properties": say}),
        AllowedAction("move", "", {"properties": {"place": place, "turn": turn}, "required": ["place", "turn"]}),
    ]
    assert choices(offers).splitlines() == [
        " 1 say <text>  (make a statement)",
        " 2 move <place: 2 numbers from 0 to 100, such as 0,0> <turn: a number>",
    ]
    assert " 1 say [type: null or claim] [text: text]" in choices(offers, described=True)
    assert parse_typed("say I am the doctor", offers) == Action("say", {"text": "I am the doctor"})
    for line in ("move 40,60.5 90", "2 [40,60.5] 90"):
        assert parse_typed(line, offers) == Action("move", {"place": [40, 60.5], "turn": 90})


def offer(action_type="vote", description="", **properties):
    return AllowedAction(action_type, description, {"properties": properties, "required": [*properties]})


WHOLE = {"type": "integer", "minimum": 4, "maximum": 9}
LAST = WHOLE | {"maximum": 4}


@pytest.mark.parametrize(
    ("choice", "shown", "lines", "payload"),
    [
        (
            offer("play", "", action={"type": "integer", "enum": [1]}),
            "play [1]",
            ("play", "play 1", "1"),
            {"action": 1},
        ),
        (
            offer(target={"enum": ["a"]}),
            "vote [a]",
            ("vote", "vote a", "a", "1", "1 a", "vote target=a"),
            {"target": "a"},
        ),
        (offer("raise", "", amount=LAST), "raise [4]", ("raise", "raise 4", "4", "raise to 4"), {"amount": 4}),
        (
            offer("kill", "", kind={"enum": ["K"]}, n=WHOLE),
            "kill [K] <n: a whole number from 4 to 9>",
            ("kill 5", "kill K 5", "5", "K 5", "kill n=5"),
            {"kind": "K", "n": 5},
        ),
    ],
)
def test_a_value_that_is_the_only_one_is_shown_and_may_be_typed(choice, shown, lines, payload):
    assert choices([choice]) == f" 1 {shown}"
    for offers in ([choice], [choice, AllowedAction("pass")]):
        for line in lines if len(offers) == 1 else [line for line in lines if line[0] in choice.action_type[0] + "1"]:
            assert parse_typed(line, offers) == Action(choice.action_type, payload)
    with pytest.raises(ValueError, match=r"must be|is too much"):
        parse_typed(f"{choice.action_type} b", [choice])


@pytest.mark.parametrize(
    ("field", "line", "value", "shown"),
    [
        (None, "do 5", 5, "a value"),  # required, and not described
        ({"type": "array"}, "do [[1,2],[3,4]]", [[1, 2], [3, 4]], "a value"),
        ({"type": "array"}, "do [1,2],[3,4]", [[1, 2], [3, 4]], "a value"),
        (
            {"type": "array", "items": WHOLE, "minItems": 2, "maxItems": 2},
            "do 4,5",
            [4, 5],
            "2 whole numbers from 4 to 9, such as 4,4",
        ),
    ],
)
def test_schemas_of_other_platforms_are_read(field, line, value, shown):
    schema = {"properties": {} if field is None else {"x": field}, "required": ["x"]}
    choice = AllowedAction("do", "", schema)
    assert choices([choice]) == f" 1 do <x: {shown}>"
    assert parse_typed(line, [choice]) == Action("do", {"x": value})


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


SAY = {
    "type": "object",
    "properties": {
        "type": {"type": ["string", "null"], "enum": [None, "claim"]},
        "isMafia": {"type": ["boolean", "null"]},
        "text": {"type": ["string", "null"]},
    },
    "required": ["type"],
}


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("say", r"type is missing: write say <type: null or claim> \[isMafia: true or false\] \[text: text\]"),
        ("say lie", "type must be null or claim, not lie"),
    ],
)
def test_choices_are_named(line, complaint):
    with pytest.raises(ValueError, match=complaint):
        parse_typed(line, [AllowedAction("say", "", SAY)])


def test_a_person_who_has_gone(turn):
    with pytest.raises(EOFError):
        human("nonsense\n", turn)


@pytest.mark.parametrize(("total", "written"), [(100, "submit_offer 25"), (33.33, "submit_offer 8.3325")])
def test_actions_are_written_as_people_write_them_and_read_back(total, written):
    env = envs.make("bargaining", total=total, offers=5)
    env.reset(seed=1)
    allowed = env.turn_state(env.agent_selection).allowed_actions
    actions = [env.game.view.encode(env.table, number).action for number in np.flatnonzero(env.game.mask(env.table, 0))]
    lines = [sentence(action) for action in actions]
    assert [parse_typed(line, allowed) for line in lines] == actions
    assert written in lines


@pytest.mark.parametrize("word", ["quit", "Q", "exit"])
def test_quit_leaves_as_ctrl_c_does(turn, word):
    with pytest.raises(KeyboardInterrupt):
        human(f"{word}\n1\n", turn)
