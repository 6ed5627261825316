"""How an agent is asked: deadlines, failures, thoughts, counters and warnings, in virtual time."""

import asyncio
import logging

import pytest
from live.event_loops import FakeWorker, in_virtual_time
from parlour.envs import Action, AgentResponse, AllowedAction, TurnState
from parlour.wrappers.live.common.agent_driver import AgentAnswer, AgentBusy, AgentDriver, Deadline
from parlour.wrappers.live.common.agent_statistics import RECENT, AgentStatistics
from parlour.wrappers.logs.match_log import MatchLog, read
from parlour.wrappers.logs.safe_match_log import SafeMatchLog

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
    made = AgentDriver(agent or Scripted(), worker=FakeWorker(), **options)
    made._worker.seconds = seconds
    return made


@in_virtual_time
async def test_an_answer_in_time_is_returned_with_its_latency():
    answer = await driver(seconds=3.0).ask(STATE, Deadline.after(10))
    assert (answer.response, answer.problem, answer.seconds) == (TAKE, None, 3.0)


@in_virtual_time
async def test_an_answer_after_the_deadline_is_a_problem_that_names_the_time():
    answer = await driver(seconds=11.0).ask(STATE, Deadline.after(10))
    assert answer.problem == "no answer within 10 s"
    assert answer.seconds == 10.0
    assert answer.response is None


@in_virtual_time
async def test_an_agent_that_plans_is_told_the_time_left():
    agent = Scripted()
    told = agent.told = []
    agent.set_seconds_left = told.append
    deadline = Deadline.after(10)
    await driver(agent).ask(STATE, deadline)
    await asyncio.sleep(4)
    await driver(agent).ask(STATE, deadline)
    await driver(agent).ask(STATE)
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
        ({"amount": "much"}, {"amount": "much"}, None),
        ({"amount": True}, {"amount": True}, None),
        ({"at": [101.5, 3]}, {"at": [100, 3]}, "m: raiseTo [100, 3] instead of {'at': [101.5, 3]}, to keep the bounds"),
        ({"other": 12}, {"other": 12}, None),
    ],
    ids=repr,
)
async def test_numbers_out_of_the_bounds_of_their_offer_go_to_the_nearest_bound(payload, taken, warned, caplog):
    schema = PLACED if "at" in payload else BOUNDED
    state = TurnState("m", "nim", "ann", "play", True, allowed_actions=[AllowedAction("raiseTo", "", schema)])
    answer = await driver(Scripted(Action("raiseTo", payload))).ask(state)
    assert answer.problem is None
    assert repr(answer.response.action.payload) == repr(taken)  # 6.0 equals 6
    assert [record.getMessage() for record in caplog.records] == ([] if warned is None else [warned])


@in_virtual_time
async def test_without_a_deadline_an_agent_may_take_hours():
    assert (await driver(seconds=36_000.0).ask(STATE)).problem is None


@in_virtual_time
async def test_after_a_late_answer_the_next_call_fails_at_once_until_the_agent_is_back():
    slow = driver(seconds=30.0)
    await slow.ask(STATE, Deadline.after(10))
    answer = await slow.ask(STATE, Deadline.after(10))
    assert (answer.problem, answer.seconds) == ("still busy with an earlier turn", 0.0)
    with pytest.raises(AgentBusy):
        await slow.call(slow._agent.respond, STATE)
    await asyncio.sleep(25)
    slow._worker.seconds = 1.0
    assert (await slow.ask(STATE, Deadline.after(10))).problem is None


@in_virtual_time
async def test_an_agent_may_be_waited_for_until_the_next_deadline():
    slow = driver(seconds=15.0, fail_when_busy=False)
    assert (await slow.ask(STATE, Deadline.after(10))).problem is not None
    slow._worker.seconds = 1.0
    answer = await slow.ask(STATE, Deadline.after(10))
    assert (answer.problem, answer.seconds) == (None, 6.0)


@in_virtual_time
async def test_a_call_that_is_dropped_does_not_make_the_next_one_fail():
    slow = driver(seconds=5.0)
    dropped = asyncio.create_task(slow.ask(STATE, Deadline.after(10)))
    await asyncio.sleep(1)
    dropped.cancel()
    assert (await slow.ask(STATE, Deadline.after(10))).problem is None


@pytest.mark.parametrize("error", [ValueError("boom"), StopIteration("boom"), SystemExit("boom")], ids=repr)
@in_virtual_time
async def test_whatever_an_agent_raises_is_a_problem_with_its_words(error):
    answer = await driver(Scripted(error)).ask(STATE)
    assert type(error).__name__ in answer.problem and "boom" in answer.problem


@in_virtual_time
async def test_an_answer_that_is_refused_is_a_problem_and_so_is_one_that_cannot_be_looked_at():
    assert (await driver().ask(STATE, refusal=lambda response: "not now")).problem == "not now"
    assert "ZeroDivisionError" in (await driver().ask(STATE, refusal=lambda response: 1 / 0)).problem


@in_virtual_time
async def test_thoughts_are_asked_for_only_where_there_is_a_log(tmp_path):
    assert (await driver().ask(STATE)).thoughts == {}
    with MatchLog(tmp_path / "log.jsonl") as log:
        assert (await driver(log=SafeMatchLog(log)).ask(STATE)).thoughts == {"value": 0.5}


@in_virtual_time
async def test_a_turn_is_written_with_its_thoughts_or_with_what_it_was_replaced_for(tmp_path):
    with MatchLog(tmp_path / "log.jsonl") as log:
        writing = driver(log=SafeMatchLog(log))
        told = {"value": 0.5, "kind": "no kind", "response": "no response"}
        writing.write_turn(AgentAnswer(TAKE, thoughts=told), STATE, TAKE, hand=3)
        writing.write_turn(AgentAnswer(problem="late", thoughts=told), STATE, TAKE)
    first, second = read(tmp_path / "log.jsonl")
    assert (first["kind"], first["hand"], first["value"]) == ("turn", 3, 0.5)
    assert first["response"] == second["response"] == TAKE.to_dict()
    assert second["replaced"] == "late" and "value" not in second


@in_virtual_time
async def test_pictures_are_not_written(tmp_path):
    seen = TurnState("m", "tangram", "ann", "play", True, game_state={"board_img": "A" * 1000, "iou": 0.5})
    with MatchLog(tmp_path / "log.jsonl") as log:
        driver(log=SafeMatchLog(log)).write_turn(AgentAnswer(TAKE), seen, TAKE)
    (line,) = read(tmp_path / "log.jsonl")
    assert line["turn_state"]["game_state"] == {"iou": 0.5}


@in_virtual_time
async def test_a_replaced_turn_is_counted_and_warned_of_once(caplog):
    counting = driver()
    counting.count(AgentAnswer(TAKE, seconds=0.2), "match 7", "take")
    assert caplog.messages == []
    counting.count(AgentAnswer(problem="no idea", seconds=0.4), "match 7", "pass")
    assert caplog.messages == ["match 7: pass instead of the agent's answer: no idea"]
    assert (counting.statistics.decisions, counting.statistics.replaced) == (2, 1)
    assert counting.statistics.latency(1.0) == 0.4


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
