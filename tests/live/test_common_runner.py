"""What a runner does with a session: decisions under way, turns that pass, rejections, notes and mistakes of ours."""

import asyncio
import logging

import pytest
from live.event_loops import FakeWorker, in_virtual_time
from parlour.envs import Action, TurnState
from parlour.wrappers.live.common.agent_runner import ActionRejected, AgentDriver, AgentRunner, LogNote, SendMessage
from parlour.wrappers.live.common.agent_turn import Turn

TAKE = Action("take")
STATE = TurnState("m", "nim", "ann", "play", True)


class Session:
    """A protocol of its own: events go in, and come out."""

    def __init__(self):
        self.turn = None

    def receive(self, events):
        if isinstance(events, Exception):
            raise events
        for event in events:
            if isinstance(event, Turn):
                self.turn = event.id
            elif event == "over":
                self.turn = None
        return events

    def act(self, response, turn, problem=None):
        return [f"{response.action.action_type} in turn {turn}"] if turn == self.turn else []

    def give_up(self):
        return [SendMessage("gave up")]


class Runner(AgentRunner):
    """Keeps what is sent, and when."""

    name = "table 1"

    def __init__(self, answer=TAKE, seconds=1.0, **options):
        worker = FakeWorker()
        worker.seconds = seconds
        agent = type("Agent", (), {"respond": lambda self, state: answer})()
        super().__init__(Session(), AgentDriver(agent, worker=worker), **{"seconds": 10.0, **options})
        self.sent, self.handled = [], []

    async def send(self, message):
        self.sent.append((asyncio.get_running_loop().time(), message))

    async def handle(self, event):
        self.handled.append(event)


@in_virtual_time
async def test_a_decision_is_answered_and_counted():
    runner = Runner()
    await runner.receive([Turn(STATE, 1)])
    await asyncio.sleep(5)
    assert runner.sent == [(1.0, "take in turn 1")]
    assert runner.driver.statistics.decisions == 1


@in_virtual_time
async def test_a_late_answer_and_an_unplayable_one_are_replaced_by_the_safe_action(caplog):
    for runner, at in ((Runner(seconds=11.0), 10.0), (Runner(answer=3), 11.0)):
        await runner.receive([Turn(STATE, 1)])
        await asyncio.sleep(10.5 if at == 10.0 else 2)
        assert [message for _, message in runner.sent] == ["pass in turn 1"]
        assert runner.driver.statistics.replaced == 1
    assert [text.rpartition(": ")[2] for text in caplog.messages] == [
        "no answer within 10 s",
        "Expected `object`, got `int`",
    ]


@in_virtual_time
async def test_a_newer_decision_takes_the_place_of_the_one_under_way(caplog):
    runner = Runner(seconds=3.0)
    await runner.receive([Turn(STATE, 1)])
    await asyncio.sleep(1)
    await runner.receive([Turn(STATE, 2)])
    await asyncio.sleep(20)
    assert [message for _, message in runner.sent] == ["take in turn 2"]
    assert caplog.messages == []


@in_virtual_time
async def test_a_turn_that_has_passed_is_not_answered_and_told_in_the_log(caplog):
    runner = Runner(seconds=3.0)
    await runner.receive([Turn(STATE, 1)])
    await asyncio.sleep(1)
    await runner.receive(["over"])
    await asyncio.sleep(20)
    assert runner.sent == []
    assert caplog.messages == ["table 1: the turn has passed before the agent answered"]
    assert runner.driver.statistics.decisions == 0


@in_virtual_time
async def test_deciding_again_in_a_turn_does_not_restart_the_clock():
    runner = Runner(seconds=8.0)
    await runner.receive([Turn(STATE, 1)])
    await asyncio.sleep(8.5)
    runner.driver._worker.seconds = 5.0
    await runner.receive([ActionRejected("no"), Turn(STATE, 1, again=True)])
    await asyncio.sleep(5)
    assert runner.sent == [(8.0, "take in turn 1"), (10.0, "pass in turn 1")]
    assert runner.driver.statistics.rejected == 1


@in_virtual_time
async def test_what_only_the_protocol_knows_goes_to_the_shell_and_all_events_to_the_screen():
    screen = []
    runner = Runner(on_event=screen.append)
    events = ["news", SendMessage("hello"), LogNote("a note")]
    await runner.receive(events)
    assert runner.handled == ["news"]
    assert [message for _, message in runner.sent] == ["hello"]
    assert screen == events


@in_virtual_time
async def test_notes_are_written(caplog):
    runner = Runner()
    with caplog.at_level(logging.INFO):
        await runner.receive([LogNote("one"), LogNote("two", problem=True)])
    assert [(record.levelname, record.message) for record in caplog.records] == [
        ("INFO", "table 1: one"),
        ("WARNING", "table 1: two"),
    ]


@in_virtual_time
async def test_a_mistake_of_ours_ends_the_turn_safely(caplog):
    runner = Runner()
    await runner.receive(ZeroDivisionError("oops"))
    assert [message for _, message in runner.sent] == ["gave up"]
    assert "oops" in caplog.text


@pytest.mark.parametrize("after", [0.0, 0.5])
@in_virtual_time
async def test_a_dropped_decision_is_forgotten(after):
    runner = Runner(seconds=1.0)
    await runner.receive([Turn(STATE, 1)])
    await asyncio.sleep(after)
    runner.drop_turn()
    await asyncio.sleep(5)
    assert runner.sent == []
