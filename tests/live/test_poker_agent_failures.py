"""The live poker agent over real sockets: policies that fail, and servers that refuse or are rude."""

import logging
import threading
import time

import pytest
from aiohttp import web
from live.poker_server import KEY, TOKEN, Scripted, Server, Silent, actions, checks, stay
from parlour import envs
from parlour.envs import Action, AgentResponse
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.common.client import LiveError
from parlour.wrappers.live.poker import messages

pytestmark = pytest.mark.usefixtures("compiled_poker")


# Policies that fail.


class Bug(Exception):
    """What a broken policy raises."""


def raises(state):
    raise Bug("the policy is broken")


def raises_stop(state):
    raise StopIteration


def exits(state):
    raise SystemExit(3)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (raises, "Bug: the policy is broken"),
        (raises_stop, "StopIteration"),
        (exits, "SystemExit"),
        (lambda state: None, "not an AgentResponse"),
        (lambda state: AgentResponse(Action("raiseTo", {"amount": "much"})), "raiseTo: amount is a whole number from"),
        (lambda state: AgentResponse(Action("bet", {"amount": 3})), "'bet' is not offered"),
        (lambda state: {"action": {"action_type": "raiseTo", "payload": {"amount": float("nan")}}}, "got nan"),
    ],
    ids=["raises", "stops", "exits", "none", "no-number", "unknown", "nan"],
)
def test_a_broken_policy_plays_safe_with_one_warning_each(answer, says, caplog):
    server = Server()
    with caplog.at_level(logging.WARNING):
        played = stay(server, Scripted(answer))
    warnings = [record.message for record in caplog.records]
    assert played.replaced == played.actions == len(warnings) > 0
    assert all(says in warning for warning in warnings)
    assert set(actions(server)) <= {"check", "fold"}
    assert played.rejected == 0


def test_an_amount_beyond_all_bounds_is_all_in_with_one_warning_each(caplog):
    with caplog.at_level(logging.WARNING):
        played = stay(Server(), Scripted(lambda state: AgentResponse(Action("raiseTo", {"amount": 10**9}))))
    assert (played.replaced, played.rejected) == (0, 0)
    bounds = [record.message for record in caplog.records if "to keep the bounds" in record.message]
    assert len(bounds) >= 1 and all("instead of {'amount': 1000000000}" in warning for warning in bounds)


def test_a_masked_action_plays_safe(caplog):
    class Masked:
        def act(self, observations, masks):
            return masks.argmin(1)

    game = envs.game("holdem", seats=2, pot_fractions=(0.01,))
    played = stay(Server(), PolicyAgent(game, Masked()))
    assert played.replaced == played.actions > 0
    assert "which is masked; open are" in caplog.text


def test_a_policy_that_sleeps_past_the_deadline_plays_safe_and_its_late_answer_is_never_sent(caplog):
    woken = threading.Event()

    def sleepy(state):
        if not woken.is_set():
            woken.set()
            time.sleep(0.4)
            return AgentResponse(Action("raiseTo", {"amount": 4}))  # late
        return checks(state)

    server = Server()
    server.hands = 60
    began = time.monotonic()
    played = stay(server, Scripted(sleepy), deadline=0.1)
    assert time.monotonic() - began < 15
    assert "no answer within 0.1 s" in caplog.text
    assert "raiseTo" not in actions(server)
    assert played.rejected == 0
    # Decisions asked while the sleeper slept were late as well; afterwards the agent plays again.
    assert 1 <= played.replaced < played.actions


def test_the_deadline_lies_inside_the_servers_timeout():
    server = Server()
    server.timeout, server.hands = 200, 1
    began = time.monotonic()
    played = stay(server, Scripted(lambda state: time.sleep(3)))
    assert played.replaced > 0
    assert time.monotonic() - began < 2.5


# Servers that refuse.


class Refusing(Server):
    """Rejects the first `times` actions of every turn."""

    code = messages.INVALID_ACTION
    times = 1

    def __init__(self):
        super().__init__()
        self.refused = {}

    async def act(self, socket, action):
        count = self.refused[action["turn_token"]] = self.refused.get(action["turn_token"], 0) + 1
        if count <= self.times:
            await self.send(socket, self.host.wrap({"type": "error", "code": self.code, "message": "no"}))
            return True
        return await super().act(socket, action)


@pytest.mark.parametrize("code", [messages.INVALID_ACTION, messages.STALE_SEQ])
def test_a_rejected_action_is_tried_again(code):
    server = Refusing()
    server.code = code
    played = stay(server)
    assert played.rejected == played.actions == len(actions(server)) / 2
    assert set(actions(server)) <= {"check", "call"}


def test_after_a_second_rejection_the_agent_plays_safe():
    server = Refusing()
    server.times = 2
    played = stay(server)
    assert played.rejected == 2 * played.actions
    assert set(actions(server)[2::3]) <= {"check", "fold"}


class Unwelcoming(Server):
    code = messages.UNAUTHORIZED

    async def talk(self, socket):
        await self.send(socket, self.host.wrap({"type": "error", "code": self.code, "message": "go away"}))
        await socket.close(code=1008)


@pytest.mark.parametrize("code", messages.FATAL_CODES)
def test_fatal_codes_stop_the_agent(code):
    server = Unwelcoming()
    server.code = code
    with pytest.raises(LiveError, match=f"{code}: go away") as caught:
        stay(server)
    assert caught.value.code == code
    assert server.connections == 1


class Forbidding(Server):
    async def websocket(self, request):
        self.connections += 1
        raise web.HTTPUnauthorized


def test_a_refused_handshake_stops_the_agent():
    server = Forbidding()
    with pytest.raises(LiveError, match=r"UNAUTHORIZED: the server answered the handshake with HTTP 401") as caught:
        stay(server)
    assert server.connections == 1
    assert TOKEN not in str(caught.value)


class Full(Server):
    async def rest(self, request):
        error = {"code": "TABLE_FULL", "message": "no seat is free"}
        return web.json_response({"error": error}, status=409)


def test_a_refused_join_names_the_servers_reason():
    with pytest.raises(LiveError, match=r"TABLE_FULL: .*no seat is free"):
        stay(Full(), rest=True, api_key=KEY)


class Closing(Server):
    async def talk(self, socket):
        await socket.close(code=1000)


def test_a_clean_close_is_an_end():
    assert stay(Closing()).reason == "closed"


class Rude(Server):
    """Sends garbage before everything it says."""

    junk = (
        "{",
        "[]",
        "null",
        '"game_state"',
        '{"type": "game_state"}',
        '{"type": "game_state", "seq": -1, "players": [[]]}',
        '{"type": ["welcome"]}',
        '{"type": "chat", "text": "hi"}',
        '{"type": "hand_complete", "hand": 1, "results": 3}',
        '{"type": "error"}',
        '{"type": "ack", "turn_token": "unknown", "seq": 1}',
        "[" * 5000,
    )

    async def send(self, socket, *texts):
        for text in texts:
            for junk in self.junk:
                await socket.send_str(junk)
            if not isinstance(socket, Silent):
                await socket.send_bytes(b"\xff\x00")
            await socket.send_str(text)


def test_garbage_changes_nothing():
    polite, rude = Server(4), Rude(4)
    played = stay(polite)
    assert stay(rude) == played
    assert rude.received == polite.received


class Unreadable(Server):
    """Sends states in which the pot is below 0."""

    async def send(self, socket, *texts):
        await super().send(socket, *(text.replace('"pot": ', '"pot": -2') for text in texts))


def test_unreadable_states_are_answered_by_the_safe_action_with_one_warning_each(caplog):
    server = Unreadable()
    played = stay(server)
    assert (played.hands, played.reason, played.rejected) == (5, "admin_stopped", 0)
    assert set(actions(server)) <= {"check", "fold"}
    warnings = [record.message for record in caplog.records if record.levelno == logging.WARNING]
    assert played.replaced == played.actions == len(actions(server)) == len(warnings) > 0
    assert all("the state cannot be read" in warning and "$.pot" in warning for warning in warnings)
