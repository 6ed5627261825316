"""How an agent is asked: deadlines, failures, thoughts, counters and warnings, in virtual time."""

import asyncio
import logging

import pytest
from live.event_loops import FakeWorker, in_virtual_time
from parlour.envs import Action, AgentResponse, AllowedAction, TurnState
from parlour.envs.core.turn_state import NOTHING
from parlour.wrappers.live.common.agent_turn import RECENT, AgentStatistics, Played, Turn
from parlour.wrappers.live.common.clock import Deadline
from parlour.wrappers.live.common.player import Player
from parlour.wrappers.logs.match_log import MatchLog, SafeMatchLog, read

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


def driver(agent=None, seconds=0.0, **options):
    made = Player(agent or Scripted(), worker=FakeWorker(), **options)
    made._worker.seconds = seconds
    return made


@in_virtual_time
async def test_an_answer_in_time_is_returned_with_its_latency():
    answer = await driver(seconds=3.0).answer(Turn(STATE), Deadline.after(10))
    assert (answer.response, answer.problem, answer.seconds) == (TAKE, None, 3.0)


@in_virtual_time
async def test_an_answer_after_the_deadline_is_a_problem_that_names_the_time():
    answer = await driver(seconds=11.0).answer(Turn(STATE), Deadline.after(10))
    assert answer.problem == "no answer within 10 s"
    assert answer.seconds == 10.0
    assert answer.response == AgentResponse(Action("pass"))


@in_virtual_time
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


@in_virtual_time
@pytest.mark.parametrize(
    ("payload", "taken", "warned"),
    [
        ({"amount": 6}, {"amount": 6}, None),
        ({"amount": 6.0}, {"amount": 6}, None),
        ({"amount": 12}, {"amount": 9}, "m: raiseTo 9 instead of {'amount': 12}, to keep the bounds"),
        ({"amount": 3.0}, {"amount": 4}, "m: raiseTo 4 instead of {'amount': 3.0}, to keep the bounds"),
        ({"at": [101.5, 3]}, {"at": [100, 3]}, "m: raiseTo [100, 3] instead of {'at': [101.5, 3]}, to keep the bounds"),
        ({"other": 12}, {"other": 12}, None),
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
    ],
    ids=repr,
)
@in_virtual_time
async def test_an_answer_that_is_not_offered_is_replaced_by_what_commits_to_least(action, problem):
    schema = {**BOUNDED, "required": ["amount"]}
    offers = [AllowedAction("call", "", NOTHING), AllowedAction("raiseTo", "", schema)]
    state = TurnState("m", "nim", "ann", "play", True, allowed_actions=offers)
    answer = await driver(Scripted(action)).answer(Turn(state))
    assert (answer.problem, answer.response) == (problem, AgentResponse(Action("call")))


@in_virtual_time
async def test_a_pass_that_is_not_offered_plays_the_safe_action_and_replaces_nothing():
    offers = [AllowedAction("raiseTo", "", BOUNDED), AllowedAction("check", "", NOTHING)]
    state = TurnState("m", "nim", "ann", "play", True, allowed_actions=offers)
    answer = await driver(Scripted(Action("pass"))).answer(Turn(state))
    assert (answer.problem, answer.response) == (None, AgentResponse(Action("check")))


@in_virtual_time
async def test_a_turn_with_a_problem_is_not_asked():
    answer = await driver(Scripted(RuntimeError("never asked"))).answer(Turn(STATE, problem="unreadable"))
    assert (answer.problem, answer.response) == ("unreadable", AgentResponse(Action("pass")))


@in_virtual_time
async def test_without_a_deadline_an_agent_may_take_hours():
    assert (await driver(seconds=36_000.0).answer(Turn(STATE))).problem is None


@in_virtual_time
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


@in_virtual_time
async def test_an_agent_may_be_waited_for_until_the_next_deadline():
    slow = driver(seconds=15.0, waits=True)
    assert (await slow.answer(Turn(STATE), Deadline.after(10))).problem is not None
    slow._worker.seconds = 1.0
    answer = await slow.answer(Turn(STATE), Deadline.after(10))
    assert (answer.problem, answer.seconds) == (None, 6.0)


@in_virtual_time
async def test_a_call_that_is_dropped_does_not_make_the_next_one_fail():
    slow = driver(seconds=5.0)
    dropped = asyncio.create_task(slow.answer(Turn(STATE), Deadline.after(10)))
    await asyncio.sleep(1)
    dropped.cancel()
    assert (await slow.answer(Turn(STATE), Deadline.after(10))).problem is None


@pytest.mark.parametrize("error", [ValueError("boom"), StopIteration("boom"), SystemExit("boom")], ids=repr)
@in_virtual_time
async def test_whatever_an_agent_raises_is_a_problem_with_its_words(error):
    answer = await driver(Scripted(error)).answer(Turn(STATE))
    assert type(error).__name__ in answer.problem and "boom" in answer.problem


@in_virtual_time
async def test_an_answer_that_cannot_be_looked_at_is_a_problem():
    class Odd:
        @property
        def action(self):
            return 1 / 0

    assert "ZeroDivisionError" in (await driver(Scripted(Odd())).answer(Turn(STATE))).problem


@in_virtual_time
async def test_thoughts_are_asked_for_only_where_there_is_a_log(tmp_path):
    assert (await driver().answer(Turn(STATE))).thoughts == {}
    with MatchLog(tmp_path / "log.jsonl") as log:
        assert (await driver(log=SafeMatchLog(log)).answer(Turn(STATE))).thoughts == {"value": 0.5}


def test_a_turn_is_written_with_its_thoughts_or_with_what_it_was_replaced_for(tmp_path):
    with MatchLog(tmp_path / "log.jsonl") as log:
        told = {"value": 0.5, "kind": "no kind", "response": "no response"}
        Played(TAKE, thoughts=told).write(SafeMatchLog(log), Turn(STATE), hand=3)
        Played(TAKE, "late", told).write(SafeMatchLog(log), Turn(STATE))
    first, second = read(tmp_path / "log.jsonl")
    assert (first["kind"], first["hand"], first["value"]) == ("turn", 3, 0.5)
    assert first["response"] == second["response"] == TAKE.to_dict()
    assert second["replaced"] == "late" and "value" not in second


def test_pictures_are_not_written(tmp_path):
    seen = TurnState("m", "tangram", "ann", "play", True, game_state={"board_img": "A" * 1000, "iou": 0.5})
    with MatchLog(tmp_path / "log.jsonl") as log:
        Played(TAKE).write(SafeMatchLog(log), Turn(seen))
    (line,) = read(tmp_path / "log.jsonl")
    assert line["turn_state"]["game_state"] == {"iou": 0.5}


def test_a_replaced_turn_is_counted_and_warned_of_once(caplog):
    statistics = AgentStatistics()
    Played(TAKE, seconds=0.2).count(statistics, Turn(STATE, name="match 7"))
    assert caplog.messages == []
    Played(AgentResponse(Action("pass")), "no idea", seconds=0.4).count(statistics, Turn(STATE, name="match 7"))
    assert caplog.messages == ["match 7: pass instead of the agent's answer: no idea"]
    assert (statistics.decisions, statistics.replaced) == (2, 1)
    assert statistics.latency(1.0) == 0.4


@in_virtual_time
async def test_an_agent_warms_up_in_its_thread_and_a_failure_costs_a_warning(caplog):
    agent = Scripted()
    agent.warm_up = lambda: 1 / 0
    with caplog.at_level(logging.WARNING):
        await driver(agent).warm_up("ann")
    assert caplog.messages == ["warming up ann failed: the agent raised ZeroDivisionError: division by zero"]
    agent.warm_up = lambda: setattr(agent, "warm", True)
    await driver(agent).warm_up()
    assert agent.warm


def test_statistics_forget_old_latencies_and_no_counts():
    statistics = AgentStatistics()
    assert statistics.latency() is None
    for number in range(2 * RECENT):
        statistics.decided(float(number), replaced=False)
    assert statistics.decisions == 2 * RECENT
    assert statistics.latency(0.0) == RECENT
