"""The live poker agent over real sockets: policies that fail, servers that forget or refuse."""

import asyncio
import logging
import time

import pytest
from aiohttp import web
from live.poker_options import play
from live.poker_server import CALLER, FAST, KEY, SEAT, TOKEN, Scripted, Server, Silent, actions, stay
from parlour.wrappers.live.common.client import LiveError
from parlour.wrappers.logs.match_log import read

pytestmark = pytest.mark.usefixtures("compiled_poker")


def test_registering_joining_and_leaving_by_rest():
    server = Server()
    server.hands = 50
    played = stay(server, rest=True, name="Ann", seat=0, hands=2)
    assert (played.hands, played.reason) == (2, "hands")
    bearer = f"Bearer {KEY}"
    assert server.log == [
        ("/v1/agents", {"name": "Ann"}, None),
        ("/v1/tables/auto-join", {"client_protocol_version": "0.1", "preferred_seat": 0}, bearer),
        ("/v1/tables/tbl_1/leave", {}, bearer),
    ]


class Dropping(Server):
    """Loses the connection at the client's n-th action: before playing it, or after and before the ack."""

    after = False
    drop_at = (2, 4, 5)

    async def act(self, socket, action):
        if len(actions(self)) in self.drop_at:
            if self.after and action["turn_token"] == self.host.token:
                quiet = Silent()
                await self.play_for_client(quiet, action)
                self.lost = quiet.texts
            socket._req.transport.abort()
            return False
        return await super().act(socket, action)


@pytest.mark.parametrize("after", [False, True], ids=["before-the-action", "before-the-ack"])
def test_the_agent_reconnects_in_the_middle_of_a_hand(after):
    server = Dropping(2)
    server.after = after
    played = stay(server)
    assert played.reconnects == server.connections - 1 == 3
    assert played.reason == "admin_stopped"
    assert played.replaced == played.rejected == 0
    assert played.net == server.host.table.stack[SEAT] - 500
    if not after:  # what was not acknowledged is sent again, to the letter
        sent = [message["action"] for message in server.received if message["type"] == "action"]
        assert sent[1] == sent[2]


def test_a_server_that_is_gone_is_given_up(caplog):
    with pytest.raises(LiveError, match="gave up after 4 tries") as caught:
        asyncio.run(play(f"ws://127.0.0.1:9/ws?token={TOKEN}", CALLER, retry_after=0.001))
    assert caught.value.code == "UNREACHABLE"
    assert sum("trying again" in record.message for record in caplog.records) == 3
    assert TOKEN not in caplog.text + str(caught.value)


class LosesAnswers(Server):
    """Seats the agent, but its answer to the first join is lost."""

    seated = False

    async def rest(self, request):
        answer = await super().rest(request)
        if request.path.endswith("/leave"):
            self.seated = False
        elif "join" in request.path and self.seated:
            error = {"code": "ALREADY_SEATED", "message": "no", "details": {"table_id": "tbl_1"}}
            return web.json_response({"error": error}, status=409)
        elif "join" in request.path:
            self.seated = True
            if sum("join" in path for path, _, _ in self.log) == 1:
                request.transport.abort()
        return answer


def test_a_lost_answer_to_a_join_is_recovered_from():
    server = LosesAnswers()
    assert stay(server, rest=True).reason == "admin_stopped"
    calls = [path.removeprefix("/v1/tables/") for path, _, _ in server.log]
    assert calls == ["/v1/agents", "auto-join", "auto-join", "tbl_1/leave", "tbl_1/join"]


def test_who_was_seated_before_is_not_thrown_out():
    server = LosesAnswers()
    server.seated = True
    with pytest.raises(LiveError, match="ALREADY_SEATED"):
        stay(server, rest=True, table="tbl_1", api_key=KEY)
    assert server.seated


async def test_who_is_stopped_gives_its_seat_back():
    server = Server()

    async with server.serve() as port:
        thinking = asyncio.Event()
        loop = asyncio.get_running_loop()
        agent = Scripted(lambda state: (loop.call_soon_threadsafe(thinking.set), time.sleep(0.3))[1])
        playing = asyncio.create_task(play(f"http://127.0.0.1:{port}", agent, **FAST))
        await asyncio.wait_for(thinking.wait(), 10)
        playing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await playing

    assert server.log[-1][0] == "/v1/tables/tbl_1/leave"


class Nonsense(Server):
    answer = ""

    async def rest(self, request):
        return web.Response(text=self.answer)


@pytest.mark.parametrize(
    "answer", ["[" * 100_000, "{}", '{"ws_url": "ws://[", "session_token": "t"}'], ids=["deep", "empty", "no-address"]
)
def test_a_nonsensical_answer_to_a_join_is_an_error_of_ours(answer):
    server = Nonsense()
    server.answer = answer
    with pytest.raises(LiveError):
        stay(server, rest=True, api_key=KEY)


# What is kept.


def test_the_match_log_tells_the_stay_and_no_secrets(tmp_path, caplog):
    server = Server()
    with caplog.at_level(logging.DEBUG):
        played = stay(server, rest=True, log=tmp_path / "log.jsonl")
    entries = list(read(tmp_path / "log.jsonl"))
    kinds = [entry["kind"] for entry in entries]
    assert (kinds[0], kinds[-1]) == ("joined", "ended")
    assert kinds.count("hand") == played.hands
    turns = [entry for entry in entries if entry["kind"] == "turn"]
    assert [turn["response"]["action"]["action_type"] for turn in turns] == actions(server)
    assert all(turn["turn_state"]["is_my_turn"] for turn in turns)
    text = (tmp_path / "log.jsonl").read_text()
    for secret in (TOKEN, KEY, "token-"):
        assert secret not in text
    assert TOKEN not in caplog.text
    assert KEY not in caplog.text


pytestmark = pytest.mark.usefixtures("compiled_poker")


# Servers that refuse.


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
