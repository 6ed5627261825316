"""What plays at a port, and how an agent is asked: deadlines, failures, thoughts, counters, errors of ours."""

import asyncio
import logging
from dataclasses import dataclass

import msgspec
import pytest
from live.event_loops import FakeWorker
from parlour.envs import Action, AgentResponse, AllowedAction, TurnState
from parlour.envs.core.aec import GameEnv
from parlour.envs.core.turn_state import NOTHING
from parlour.training.commands.activity import Activity
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.common.client import LiveError
from parlour.wrappers.live.common.clock import Deadline
from parlour.wrappers.live.common.player import Codec, Note, Over, Played, Player, Turn, read_response, run
from parlour.wrappers.logs.match_log import MatchLog, SafeMatchLog, read
from parlour.wrappers.policies.base import RandomPolicy

pytestmark = pytest.mark.virtual_time


class Said(msgspec.Struct):
    """A message of the protocol."""

    text: str


class Table(Codec):
    """A protocol of its own: what comes in are the events; an exception is raised."""

    name = "table 1"

    def __init__(self, *fails):
        self.turn, self.fails = None, fails

    def may_fail(self, name):
        if name in self.fails:
            raise ZeroDivisionError(f"in {name}")

    def receive(self, events):
        if isinstance(events, Exception):
            raise events
        for event in events:
            if isinstance(event, Turn):
                self.turn = event.id
            elif event == "passed":
                self.turn = None
        return events

    def waits(self, turn):
        self.may_fail("waits")
        return self.turn == turn.id

    def reply(self, turn, played):
        self.may_fail("reply")
        return [Said(f"{played.response.action.action_type} in turn {turn.id}")] if self.waits(turn) else []

    def give_up(self, turn=None, data=None):
        self.may_fail("give_up")
        return [Said("gave up")]


class Script:
    """A port: what comes in, and how many seconds after what came before; keeps what is sent, and when."""

    def __init__(self, *script):
        self.script, self.sent, self.redialled = script, [], []

    async def incoming(self):
        for seconds, data in self.script:
            await asyncio.sleep(seconds)
            yield data

    async def send(self, message):
        if message.text == UNSENT:
            raise ZeroDivisionError("in send")
        self.sent.append((asyncio.get_running_loop().time(), message.text))

    async def redial(self, reason, level):
        self.redialled.append((reason, level))


UNSENT = "bet in turn 1"
STATE = TurnState("m", "nim", "ann", "play", True)
TAKE = AgentResponse(Action("take", {"stones": 2}))


class Scripted:
    """An agent that gives one answer, or raises it."""

    def __init__(self, answer=TAKE):
        self.answer = answer

    def respond(self, state):
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer

    def thoughts(self):
        return {"value": 0.5}


def turn(number=1, again=False, seconds=10.0):
    return Turn(TurnState("m", "nim", "ann", "play", True), number, again, seconds=seconds, name="table 1")


async def played(*script, answer=TAKE, seconds=1.0, codec=None, watch=lambda event: None):
    """Play what comes in; return what was sent, and the player."""
    worker = FakeWorker()
    worker.seconds = seconds
    player, port = Player(Scripted(answer), worker=worker), Script(*script, (30, []))
    await run(port, codec or Table(), player, watch)
    return port.sent, player


@pytest.mark.parametrize(
    ("seconds", "answer", "at", "why"),
    [(11.0, TAKE, 10.0, "no answer within 10 s"), (1.0, 3, 1.0, "Expected `object`, got `int`")],
)
async def test_a_late_answer_and_an_unplayable_one_are_replaced_by_the_safe_action(seconds, answer, at, why, caplog):
    sent, player = await played((0, [turn()]), seconds=seconds, answer=answer)
    assert sent == [(at, "pass in turn 1")] and player.statistics.replaced == 1
    assert [text.rpartition(": ")[2] for text in caplog.messages] == [why]


async def test_a_newer_turn_takes_the_place_of_the_one_under_way(caplog):
    sent, _ = await played((0, [turn()]), (1, [turn(2)]), seconds=3.0)
    assert [text for _, text in sent] == ["take in turn 2"]


async def test_a_turn_that_has_passed_is_not_answered_and_told_in_the_log(caplog):
    sent, player = await played((0, [turn()]), (1, ["passed"]), seconds=3.0)
    assert (sent, player.statistics.decisions) == ([], 0)
    assert caplog.messages == ["table 1: the turn has passed before the agent answered"]


async def test_a_second_answer_in_a_turn_keeps_the_clock_of_the_first():
    rejected = Note("no", rejected=True)
    sent, player = await played((0, [turn()]), (8.5, [rejected, turn(again=True)]), seconds=8.0)
    assert sent == [(8.0, "take in turn 1"), (10.0, "pass in turn 1")]
    assert player.statistics.rejected == 1


async def test_messages_are_sent_notes_written_and_all_events_shown(caplog):
    seen = []
    events = ["news", Said("hello"), Note("one"), Note("two", problem=True)]
    with caplog.at_level(logging.INFO):
        sent, _ = await played((0, events), watch=seen.append)
    assert [text for _, text in sent] == ["hello"] and seen == events
    assert [(one.levelname, one.message) for one in caplog.records] == [
        ("INFO", "table 1: one"),
        ("WARNING", "table 1: two"),
    ]


async def test_it_is_over_when_the_codec_says_so_by_a_message_or_by_the_clock():
    class Leaving(Table):
        def tick(self, now):
            return [Over("late")] if now > 5 else []

    port = Script((1, [Over("soon")]), (99, []))
    assert (await run(port, Table(), Player(Scripted(), worker=FakeWorker()))).reason == "soon"
    began = asyncio.get_running_loop().time()
    port = Script((99, []))
    assert (await run(port, Leaving(), Player(Scripted(), worker=FakeWorker()))).reason == "late"
    assert asyncio.get_running_loop().time() - began < 7
    with pytest.raises(LiveError, match="NO: go away"):
        await run(
            Script((0, [Over(error=LiveError("NO", "go away"))])), Table(), Player(Scripted(), worker=FakeWorker())
        )
    port = Script((0, [Over("silence", again=True, problem=False)]))
    await run(port, Table(), Player(Scripted(), worker=FakeWorker()))
    assert port.redialled == [("silence", logging.INFO)]


# Errors of ours.


def healthy(player):
    return Activity(statistics=player.statistics).problem() is None


async def test_an_error_in_receive_costs_no_further_turn_and_shows_in_the_health(caplog):
    sent, player = await played((0, ZeroDivisionError("oops")))
    assert [text for _, text in sent] == ["gave up"] and "oops" in caplog.text
    assert not healthy(player)
    sent, player = await played((0, ZeroDivisionError("oops")), (1, [turn()]))
    assert [text for _, text in sent] == ["gave up", "take in turn 1"]
    assert healthy(player)


@pytest.mark.parametrize("fails", [["reply"], ["reply", "give_up"], ["waits"], ["send"], ["record"]], ids=str)
async def test_an_error_of_ours_is_given_up_and_counted_each_time(fails, caplog, monkeypatch):
    if fails == ["record"]:
        monkeypatch.setattr(Turn, "warns", lambda self: 1 / 0)
    answer = Action("bet") if fails == ["send"] else None if fails == ["record"] else TAKE
    sent, player = await played(*[(2, [turn()])] * 10, codec=Table(*fails), answer=answer)
    given_up = [] if "give_up" in fails else ["pass in turn 1" if "record" in fails else "gave up"] * 10
    assert [text for _, text in sent] == given_up
    assert (player.statistics.decisions, player.statistics.replaced) == (10, 0 if fails == ["send"] else 10)
    assert not healthy(player) and caplog.text.count("ZeroDivisionError: ") >= 10


@pytest.mark.parametrize("error", [OSError(28, "no space left"), KeyError("x")], ids=repr)
async def test_who_watches_may_fail_and_nothing_else_does(error, caplog):
    def watch(event):
        raise error

    sent, player = await played((0, [turn()]), (5, [Said("hello"), turn(2)]), watch=watch)
    assert [text for _, text in sent] == ["take in turn 1", "hello", "take in turn 2"]
    assert healthy(player) and [bool(one.exc_info) for one in caplog.records] == [isinstance(error, KeyError)] * 3


def driver(agent=None, seconds=0.0, **options):
    made = Player(agent or Scripted(), worker=FakeWorker(), **options)
    made._worker.seconds = seconds
    return made


async def test_an_agent_that_plans_is_told_the_time_left():
    agent = Scripted()
    told = agent.told = []
    agent.set_seconds_left = told.append
    deadline = Deadline.after(10)
    await driver(agent).answer(Turn(STATE), deadline)
    await asyncio.sleep(4)
    await driver(agent).answer(Turn(STATE), deadline)
    await driver(agent).answer(Turn(STATE))
    assert told == [10.0, 6.0, None]


BOUNDED = {"type": "object", "properties": {"amount": {"type": "integer", "minimum": 4, "maximum": 9}}}
PLACED = {"type": "object", "properties": {"at": {"type": "array", "items": {"type": "number", "maximum": 100}}}}


@pytest.mark.parametrize(
    ("payload", "taken", "warned"),
    [
        ({"amount": 6}, {"amount": 6}, None),
        ({"amount": 6.0}, {"amount": 6}, None),
        ({"amount": 12}, {"amount": 9}, "m: raiseTo 9 instead of {'amount': 12}, to keep the bounds"),
        ({"at": [101.5, 3]}, {"at": [100, 3]}, "m: raiseTo [100, 3] instead of {'at': [101.5, 3]}, to keep the bounds"),
    ],
    ids=repr,
)
async def test_numbers_out_of_the_bounds_of_their_offer_go_to_the_nearest_bound(payload, taken, warned, caplog):
    schema = PLACED if "at" in payload else BOUNDED
    state = TurnState("m", "nim", "ann", "play", True, allowed_actions=[AllowedAction("raiseTo", "", schema)])
    answer = await driver(Scripted(Action("raiseTo", payload))).answer(Turn(state))
    assert answer.problem is None
    assert repr(answer.response.action.payload) == repr(taken)  # 6.0 equals 6
    assert [record.getMessage() for record in caplog.records] == ([] if warned is None else [warned])


@pytest.mark.parametrize(
    ("action", "problem"),
    [
        (Action("raiseTo", {"amount": "much"}), "raiseTo: amount is a whole number from 4 to 9, got much"),
        (Action("raiseTo", {"amount": True}), "raiseTo: amount is a whole number from 4 to 9, got True"),
        (Action("raiseTo"), "raiseTo: amount is missing"),
        (Action("call", {"amount": 4}), "call: it takes no payload, got {'amount': 4}"),
        (Action("bet", {"amount": 4}), "'bet' is not offered, but call, raiseTo"),
        ("bet", "this is not an AgentResponse: Expected `object`, got `str`"),
        (b"<p>", "this is not JSON: b'<p>'"),
    ],
    ids=repr,
)
async def test_an_answer_that_is_not_offered_is_replaced_by_what_commits_to_least(action, problem):
    schema = {**BOUNDED, "required": ["amount"]}
    offers = [AllowedAction("call", "", NOTHING), AllowedAction("raiseTo", "", schema)]
    state = TurnState("m", "nim", "ann", "play", True, allowed_actions=offers)
    answer = await driver(Scripted(action)).answer(Turn(state))
    assert (answer.problem, answer.response) == (problem, AgentResponse(Action("call")))


async def test_a_pass_that_is_not_offered_plays_the_safe_action_and_replaces_nothing():
    offers = [AllowedAction("raiseTo", "", BOUNDED), AllowedAction("check", "", NOTHING)]
    state = TurnState("m", "nim", "ann", "play", True, allowed_actions=offers)
    answer = await driver(Scripted(Action("pass"))).answer(Turn(state))
    assert (answer.problem, answer.response) == (None, AgentResponse(Action("check")))


async def test_after_a_late_answer_the_next_call_fails_at_once_until_the_agent_is_back():
    slow = driver(seconds=30.0)
    await slow.answer(Turn(STATE), Deadline.after(10))
    answer = await slow.answer(Turn(STATE), Deadline.after(10))
    assert (answer.problem, answer.seconds) == ("still busy with an earlier turn", 0.0)
    with pytest.raises(RuntimeError, match="still busy"):
        await slow.call(slow._agent.respond, STATE)
    await asyncio.sleep(25)
    slow._worker.seconds = 1.0
    assert (await slow.answer(Turn(STATE), Deadline.after(10))).problem is None


async def test_an_agent_may_be_waited_for_until_the_next_deadline():
    slow = driver(seconds=15.0, waits=True)
    assert (await slow.answer(Turn(STATE), Deadline.after(10))).problem is not None
    slow._worker.seconds = 1.0
    answer = await slow.answer(Turn(STATE), Deadline.after(10))
    assert (answer.problem, answer.seconds) == (None, 6.0)


async def test_a_call_that_is_dropped_does_not_make_the_next_one_fail():
    slow = driver(seconds=5.0)
    dropped = asyncio.create_task(slow.answer(Turn(STATE), Deadline.after(10)))
    await asyncio.sleep(1)
    dropped.cancel()
    assert (await slow.answer(Turn(STATE), Deadline.after(10))).problem is None


@pytest.mark.parametrize("error", [ValueError("boom"), StopIteration("boom"), SystemExit("boom")], ids=repr)
async def test_whatever_an_agent_raises_is_a_problem_with_its_words(error):
    answer = await driver(Scripted(error)).answer(Turn(STATE))
    assert type(error).__name__ in answer.problem and "boom" in answer.problem


async def test_thoughts_are_asked_for_only_where_there_is_a_log(tmp_path):
    assert (await driver().answer(Turn(STATE))).thoughts == {}
    with MatchLog(tmp_path / "log.jsonl") as log:
        assert (await driver(log=SafeMatchLog(log)).answer(Turn(STATE))).thoughts == {"value": 0.5}


def test_a_turn_is_written_with_its_thoughts_or_with_what_it_was_replaced_for(tmp_path):
    with MatchLog(tmp_path / "log.jsonl") as log:
        told = {"value": 0.5, "kind": "no kind", "response": "no response"}
        player = driver(log=SafeMatchLog(log))
        player.record(Turn(STATE, fields={"hand": 3}), Played(TAKE, thoughts=told))
        player.record(Turn(STATE), Played(TAKE, "late", told))
    first, second = read(tmp_path / "log.jsonl")
    assert (first["kind"], first["hand"], first["value"]) == ("turn", 3, 0.5)
    assert first["response"] == second["response"] == TAKE.to_dict()
    assert second["replaced"] == "late" and "value" not in second


async def test_an_agent_warms_up_in_its_thread_and_a_failure_costs_a_warning(caplog):
    agent = Scripted()
    agent.warm_up = lambda: 1 / 0
    with caplog.at_level(logging.WARNING):
        await driver(agent).warm_up("ann")
    assert caplog.messages == ["warming up ann failed: the agent raised ZeroDivisionError: division by zero"]
    agent.warm_up = lambda: setattr(agent, "warm", True)
    await driver(agent).warm_up()
    assert agent.warm


def test_legal_answers_are_played_as_they_are(game):
    env = GameEnv(game, "flat")
    env.reset(seed=5)
    player = PolicyAgent(env.game, RandomPolicy(seed=5))
    for _ in range(60):
        if env.table.done:
            break
        agent = env.agent_selection
        state = env.turn_state(agent)
        answer = player.respond(state)
        assert Turn(state).settle(lambda answer=answer: answer) == (answer, None)
        assert env.submit(agent, answer).ok


def offered(action_type, schema, **more):
    offers = [AllowedAction(action_type, "", schema), AllowedAction("pass", "", NOTHING)]
    return Turn(TurnState("m", "g", "ann", "play", True, allowed_actions=offers), **more)


@pytest.mark.parametrize(
    ("schema", "payload", "sent"),
    [
        ({"outcome_levels": {"type": "object"}, "wage": {"type": "number"}}, {"wage": 3.0}, {"wage": 3.0}),
        ({"type": "object", "additionalProperties": {"type": "number"}}, {"x": 1}, {"x": 1}),
        ({"quantity": {"type": "number"}}, {"quantity": "30"}, {"quantity": 30.0}),
        ({"n": {"type": "integer", "maximum": 5.5}}, {"n": 9}, {"n": 5}),
        ({"n": {"type": "number", "minimum": 9, "maximum": 2}}, {"n": 5}, {"n": 2}),
        (
            {"type": "object", "properties": {"amount": {"type": "integer"}}, "additionalProperties": False},
            {"amount": 10, "reasoning": "…"},
            {"amount": 10, "reasoning": "…"},
        ),
    ],
    ids=str,
)
def test_what_a_platforms_schema_does_not_forbid_in_a_known_form_is_sent(schema, payload, sent):
    response, problem = offered("act", schema).settle(lambda: Action("act", payload))
    assert (response.action, problem) == (Action("act", sent), None)


def test_of_two_offers_of_one_action_an_answer_has_to_fit_one():
    one = {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}
    other = {"type": "object", "properties": {"k": {"type": "number"}}, "required": ["k"]}
    offers = [AllowedAction("act", "", one), AllowedAction("act", "", other)]
    turn = Turn(TurnState("m", "g", "ann", "play", True, allowed_actions=offers))
    for payload in ({"n": 1}, {"k": 1}):
        assert turn.settle(lambda payload=payload: Action("act", payload))[1] is None
    assert turn.settle(lambda: Action("act", {}))[1] == "act: n is missing"


def test_an_agent_that_changes_what_it_sees_changes_no_offer():
    turn = offered("raise", {"type": "object", "properties": {"n": {"type": "integer", "maximum": 9}}})
    seen = turn.visible_state()
    seen.allowed_actions[0].payload_schema["properties"]["n"]["maximum"] = 10**6
    seen.allowed_actions.clear()
    assert turn.read(Action("raise", {"n": 5000})).action == Action("raise", {"n": 9})
    assert turn.safe().action == Action("pass")


@dataclass
class Noted:
    """An answer with notes of its own, which are no JSON."""

    action: Action
    messages: list
    notes: object
    phase: object


def test_of_an_answer_only_its_own_fields_are_read():
    noted = Noted(Action("act"), [], object(), ValueError("no JSON"))
    for answer in (noted, vars(noted), type("Both", (), {"action": Action("act"), "action_type": "shortcut"})()):
        assert read_response(answer).action == Action("act")
