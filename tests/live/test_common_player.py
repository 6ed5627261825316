"""What plays at a port: turns under way and passed, rejections, notes, and errors of ours in every place."""

import asyncio
import logging

import msgspec
import pytest
from live.event_loops import FakeWorker, in_virtual_time
from parlour.envs import Action, TurnState
from parlour.wrappers.live.common.activity import Activity
from parlour.wrappers.live.common.agent_turn import AgentStatistics, Turn
from parlour.wrappers.live.common.client import LiveError
from parlour.wrappers.live.common.player import Codec, Note, Over, Player, run

TAKE = Action("take")


class Said(msgspec.Struct):
    """A message of the protocol."""

    text: str


class Table(Codec):
    """A protocol of its own: what comes in are the events; an exception is raised."""

    name = "table 1"

    def __init__(self):
        self.turn = None
        self.reply_fails = self.give_up_fails = False

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
        return self.turn == turn.id

    def reply(self, turn, played):
        if self.reply_fails:
            raise ZeroDivisionError("in reply")
        return [Said(f"{played.response.action.action_type} in turn {turn.id}")] if self.waits(turn) else []

    def give_up(self, turn=None, data=None):
        if self.give_up_fails:
            raise ZeroDivisionError("in give_up")
        return [Said("gave up")]


class Played:
    """A port: what comes in, and how many seconds after what came before; keeps what is sent, and when."""

    def __init__(self, *script):
        self.script, self.sent, self.redialled = script, [], []

    async def incoming(self):
        for seconds, data in self.script:
            await asyncio.sleep(seconds)
            yield data

    async def send(self, message):
        self.sent.append((asyncio.get_running_loop().time(), message.text))

    async def redial(self, reason, level):
        self.redialled.append((reason, level))


class Agent:
    """Answers so."""

    def __init__(self, answer=TAKE):
        self.answer = answer

    def respond(self, state):
        return self.answer


def turn(number=1, again=False, seconds=10.0):
    return Turn(TurnState("m", "nim", "ann", "play", True), number, again, seconds=seconds, name="table 1")


async def played(*script, answer=TAKE, seconds=1.0, codec=None, watch=lambda event: None):
    """Play what comes in; return what was sent, and the player."""
    worker = FakeWorker()
    worker.seconds = seconds
    player, port = Player(Agent(answer), worker=worker), Played(*script, (30, []))
    await run(port, codec or Table(), player, watch)
    return port.sent, player


@in_virtual_time
async def test_a_turn_is_answered_and_counted():
    sent, player = await played((0, [turn()]))
    assert sent == [(1.0, "take in turn 1")]
    assert player.statistics.decisions == 1


@pytest.mark.parametrize(
    ("seconds", "answer", "at", "why"),
    [(11.0, TAKE, 10.0, "no answer within 10 s"), (1.0, 3, 1.0, "Expected `object`, got `int`")],
)
@in_virtual_time
async def test_a_late_answer_and_an_unplayable_one_are_replaced_by_the_safe_action(seconds, answer, at, why, caplog):
    sent, player = await played((0, [turn()]), seconds=seconds, answer=answer)
    assert sent == [(at, "pass in turn 1")] and player.statistics.replaced == 1
    assert [text.rpartition(": ")[2] for text in caplog.messages] == [why]


@in_virtual_time
async def test_a_newer_turn_takes_the_place_of_the_one_under_way(caplog):
    sent, _ = await played((0, [turn()]), (1, [turn(2)]), seconds=3.0)
    assert [text for _, text in sent] == ["take in turn 2"]


@in_virtual_time
async def test_a_turn_that_has_passed_is_not_answered_and_told_in_the_log(caplog):
    sent, player = await played((0, [turn()]), (1, ["passed"]), seconds=3.0)
    assert (sent, player.statistics.decisions) == ([], 0)
    assert caplog.messages == ["table 1: the turn has passed before the agent answered"]


@in_virtual_time
async def test_a_second_answer_in_a_turn_keeps_the_clock_of_the_first():
    rejected = Note("no", rejected=True)
    sent, player = await played((0, [turn()]), (8.5, [rejected, turn(again=True)]), seconds=8.0)
    assert sent == [(8.0, "take in turn 1"), (10.0, "pass in turn 1")]
    assert player.statistics.rejected == 1


@in_virtual_time
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


@in_virtual_time
async def test_it_is_over_when_the_codec_says_so_by_a_message_or_by_the_clock():
    class Leaving(Table):
        def tick(self, now):
            return [Over("late")] if now > 5 else []

    port = Played((1, [Over("soon")]), (99, []))
    assert (await run(port, Table(), Player(Agent(), worker=FakeWorker()))).reason == "soon"
    began = asyncio.get_running_loop().time()
    port = Played((99, []))
    assert (await run(port, Leaving(), Player(Agent(), worker=FakeWorker()))).reason == "late"
    assert asyncio.get_running_loop().time() - began < 7
    with pytest.raises(LiveError, match="NO: go away"):
        await run(Played((0, [Over(error=LiveError("NO", "go away"))])), Table(), Player(Agent(), worker=FakeWorker()))
    port = Played((0, [Over("silence", again=True, problem=False)]))
    await run(port, Table(), Player(Agent(), worker=FakeWorker()))
    assert port.redialled == [("silence", logging.INFO)]


# Errors of ours.


def healthy(player):
    return Activity(statistics=player.statistics).problem() is None


@in_virtual_time
async def test_an_error_in_receive_costs_no_further_turn_and_shows_in_the_health(caplog):
    sent, player = await played((0, ZeroDivisionError("oops")))
    assert [text for _, text in sent] == ["gave up"] and "oops" in caplog.text
    assert not healthy(player)
    sent, player = await played((0, ZeroDivisionError("oops")), (1, [turn()]))
    assert [text for _, text in sent] == ["gave up", "take in turn 1"]
    assert healthy(player)


@pytest.mark.parametrize("give_up_fails", [False, True])
@in_virtual_time
async def test_an_error_in_every_reply_is_given_up_and_counted_each_time(give_up_fails, caplog):
    table = Table()
    table.reply_fails, table.give_up_fails = True, give_up_fails
    sent, player = await played(*[(2, [turn(number)]) for number in range(10)], codec=table)
    assert [text for _, text in sent] == ([] if give_up_fails else ["gave up"] * 10)
    assert (player.statistics.decisions, player.statistics.replaced) == (10, 10)
    assert not healthy(player)


@pytest.mark.parametrize("error", [OSError(28, "no space left"), KeyError("x")], ids=repr)
@in_virtual_time
async def test_who_watches_may_fail_and_nothing_else_does(error, caplog):
    def watch(event):
        raise error

    sent, player = await played((0, [turn()]), (5, [Said("hello"), turn(2)]), watch=watch)
    assert [text for _, text in sent] == ["take in turn 1", "hello", "take in turn 2"]
    assert healthy(player) and caplog.text.count("who watches failed") == 3


def test_an_error_of_ours_is_forgotten_by_the_next_answer_of_the_agent():
    statistics = AgentStatistics(broken=True)
    statistics.decided(0.1, replaced=True)
    assert Activity(statistics=statistics).problem() == "an error of ours: see the log"
    statistics.decided(0.1, replaced=False)
    assert Activity(statistics=statistics).problem() is None
