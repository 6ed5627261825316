"""A connection without a socket: what waits to go out, what may come in; and the small pieces around it."""

import asyncio
from types import SimpleNamespace

import msgspec
import pytest
from aiohttp import WSMsgType
from live.event_loops import in_virtual_time
from parlour.envs import Action, AgentResponse
from parlour.wrappers.live.common.agent_turn import read_response
from parlour.wrappers.live.common.clock import EndCounter, SessionTimer
from parlour.wrappers.live.common.connection import Connection, ConnectionLimits, Excess
from parlour.wrappers.live.common.limits import RateLimit
from parlour.wrappers.live.common.tokens import bearer_token, same_token
from parlour.wrappers.logs.match_log import describe_error, escaped


def test_a_rate_allows_twice_as_many_at_once_and_fills_up_with_time():
    limit = RateLimit(2.0, now=0.0)
    assert [limit.take(0.0) for _ in range(5)] == [True, True, True, True, False]
    assert [limit.take(0.5), limit.take(0.5)] == [True, False]
    assert [limit.take(1000.0) for _ in range(5)] == [True, True, True, True, False]
    limit.give_back()
    assert limit.take(1000.0)


class Socket:
    """A WebSocket that sends nothing while it is blocked."""

    def __init__(self, *incoming):
        self.incoming = list(incoming)
        self.sent = []
        self.free = asyncio.Event()
        self.free.set()

    async def send_str(self, text):
        await self.free.wait()
        self.sent.append(text)

    async def pong(self, payload):
        await self.send_str(("pong", payload))

    async def close(self, *, code, message):
        await self.send_str((code, message))

    async def receive(self, timeout):
        if not self.incoming:
            return SimpleNamespace(type=WSMsgType.CLOSED, data=None)
        item = self.incoming.pop(0)
        if isinstance(item, float):
            await asyncio.sleep(item)
            return await self.receive(timeout)
        kind = WSMsgType.TEXT if isinstance(item, str) else WSMsgType.BINARY
        return SimpleNamespace(type=WSMsgType.PING if item is None else kind, data=item)


class Transport:
    aborted = False

    def abort(self):
        self.aborted = True


@in_virtual_time
async def test_messages_go_out_in_order_and_the_close_comes_last():
    socket = Socket()
    async with Connection(socket, Transport()) as connection:
        for text in "abc":
            connection.send(text)
        connection.close(1001, b"bye")
        connection.close(1000)  # it closes already
    assert socket.sent == ["a", "b", "c", (1001, b"bye")]


@in_virtual_time
async def test_a_peer_that_does_not_read_is_dropped_when_the_queue_is_full(caplog):
    socket, transport = Socket(*"xyz"), Transport()
    socket.free.clear()
    async with Connection(socket, transport, ConnectionLimits(queue=4)) as connection:
        for number in range(20):
            connection.send(f"{number}")
        assert transport.aborted
        assert [data async for data in connection.messages()] == []  # nothing of it is read any longer
    assert caplog.messages == ["dropping a connection that is 4 messages behind"]


@in_virtual_time
async def test_a_peer_that_does_not_answer_a_close_is_waited_for_so_long_only():
    socket = Socket()
    socket.free.clear()
    async with Connection(socket, Transport(), ConnectionLimits(closing=2.0)) as connection:
        connection.close()
    assert asyncio.get_running_loop().time() == 2.0


@in_virtual_time
async def test_a_burst_of_messages_is_answered_though_it_is_longer_than_the_queue():
    socket, transport = Socket(*["ping"] * 1_000), Transport()
    async with Connection(socket, transport, ConnectionLimits(queue=16)) as connection:
        async for data in connection.messages():
            connection.send(data)
        connection.close()
    assert len(socket.sent) == 1_001
    assert not transport.aborted


@in_virtual_time
async def test_long_messages_are_refused_and_other_frames_are_left_out():
    refused = []
    connection = Connection(Socket("short", "x" * 11, None, b"bytes"), Transport(), ConnectionLimits(message=10))
    taken = [data async for data in connection.messages(lambda *why: refused.append(why))]
    assert taken == ["short", b"bytes"]
    assert refused == [(Excess.LENGTH, "a message of 11 bytes; at most 10")]


@in_virtual_time
async def test_pings_are_answered_up_to_their_limit_and_then_read_more_slowly():
    socket = Socket(*[None] * 7, "text")
    connection = Connection(socket, Transport(), ConnectionLimits(controls=2.0))
    assert [data async for data in connection.messages()] == ["text"]
    assert socket.sent == [("pong", None)] * 5
    assert asyncio.get_running_loop().time() == 1.0


@in_virtual_time
async def test_too_many_messages_are_refused_and_read_more_slowly():
    refused = []
    connection = Connection(Socket(*"abcdef"), Transport(), ConnectionLimits(rate=2.0))
    taken = [data async for data in connection.messages(lambda *why: refused.append(why))]
    assert taken == ["a", "b", "c", "d", "f"]
    assert refused == [(Excess.RATE, "more than 2 messages a second")]
    assert asyncio.get_running_loop().time() == 0.5


@in_virtual_time
async def test_messages_that_are_spared_do_not_count():
    connection = Connection(Socket(*"abcdef"), Transport(), ConnectionLimits(rate=1.0))
    taken = []
    async for data in connection.messages():
        taken.append(data)
        connection.spare()
    assert taken == list("abcdef")


# A host's timer.


@in_virtual_time
async def test_an_equal_due_value_lets_the_timer_go_on_and_another_one_restarts_it():
    rung = []
    timer = SessionTimer(lambda due: rung.append((due, asyncio.get_running_loop().time())))
    assert timer.follow(("act", 1), 10.0)
    await asyncio.sleep(6)
    assert not timer.follow(("act", 1), 10.0)
    assert timer.left == 4.0
    await asyncio.sleep(6)
    assert timer.follow(("act", 2), 10.0)
    await asyncio.sleep(11)
    assert rung == [(("act", 1), 10.0), (("act", 2), 22.0)]


@in_virtual_time
async def test_a_timer_that_is_stopped_does_not_ring():
    rung = []
    timer = SessionTimer(rung.append)
    timer.follow("a", 1.0)
    timer.follow(None, 1.0)
    assert timer.left is None
    timer.follow("a", 1.0)
    timer.stop()
    await asyncio.sleep(5)
    assert rung == []


@in_virtual_time
async def test_waiting_for_ends_counts_those_that_came_before():
    counter = EndCounter()
    counter.add()
    waiting = asyncio.create_task(counter.reached(3))
    for _ in range(2):
        await asyncio.sleep(1)
        assert not waiting.done()
        counter.add()
    await asyncio.wait_for(waiting, 1)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(counter.reached(), 1)


# Tokens and texts.


@pytest.mark.parametrize(
    ("header", "token"),
    [(None, ""), ("Bearer abc", "abc"), ("bearer  abc ", "abc"), ("Basic abc", ""), ("abc", ""), ("Bearer", "")],
)
def test_the_bearer_token_of_a_request(header, token):
    assert bearer_token(SimpleNamespace(headers={} if header is None else {"Authorization": header})) == token


def test_tokens_are_compared_whatever_they_hold():
    assert same_token("sésame", "sésame")
    assert not same_token("\udc80", "sésame")
    assert not same_token(None, "sésame")


def test_texts_of_others_are_one_line_without_what_steers_a_terminal():
    assert escaped("a\nb\x1b[2J\u202e", 100) == "a\\nb\\x1b[2J\\u202e"
    assert escaped("x" * 1_000) == "x" * 300

    class Broken(Exception):
        def __str__(self):
            raise ValueError

    assert describe_error(Broken()) == "Broken: (no text)"
    assert len(describe_error(ValueError("\x00" * 1_000))) == 300


# Answers.


@pytest.mark.parametrize("response", [None, 3, {}, {"action": 3}, AgentResponse(action=None), Action(3), object()])
def test_what_is_no_answer_is_refused(response):
    with pytest.raises(ValueError, match="this is not an AgentResponse: ") as caught:
        read_response(response)
    assert not isinstance(caught.value, msgspec.ValidationError)
