"""The live agent over real sockets, against servers that are normal, forgetful, refusing and rude."""

import asyncio
import logging
import threading
import time
from contextlib import asynccontextmanager

import numpy as np
import pytest
from aiohttp import WSMsgType, web
from aiohttp.test_utils import TestServer
from live.small_host import Host
from parlour import envs
from parlour.envs import Action, AgentResponse
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.common.reconnecting import LiveError
from parlour.wrappers.live.poker import messages
from parlour.wrappers.live.poker.agent import play
from parlour.wrappers.logs.match_log import read, turns

TOKEN = "s3cret-session"
KEY = "s3cret-key"
SEAT = 0


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """Compile before any clock runs."""
    game = envs.game("holdem", seats=2)
    PolicyAgent(game, game.bots["maniac"](game, 1)).warm_up()
    host = Host(game)
    host.deal()
    host.play(1)
    host.state(SEAT)


class Bug(Exception):
    """What a broken policy raises."""


class Scripted:
    """An agent that answers with `answer(state)`."""

    def __init__(self, answer):
        self.answer = answer

    def respond(self, state):
        return self.answer(state)


def checks(state):
    kinds = [action.action_type for action in state.allowed_actions]
    return AgentResponse(Action("check" if "check" in kinds else "call"))


CALLER = Scripted(checks)


class Server:
    """A heads-up table for one client in seat 0; seat 1 plays at random. Subclasses misbehave."""

    hands = 5
    timeout = 5000

    def __init__(self, seed=0):
        self.host = Host(envs.game("holdem", seats=2, stacks=500), seed)
        self.connections = 0
        self.received = []
        self.log = []  # of REST calls: path, body, authorization
        self.done = {}  # tokens already played: the seq they led to

    # The table.

    async def send(self, socket, *texts):
        for text in texts:
            await socket.send_str(text)

    async def go_on(self, socket):
        """Deal, and play for the other seat, until the client is to act."""
        host = self.host
        while True:
            if host.hand == 0 or host.table.done:
                if host.hand == self.hands or host.over:
                    stacks = [{"seat_id": s, "agent_id": "a", "stack": int(host.table.stack[s])} for s in (0, 1)]
                    ended = {"type": "table_status", "status": "ended", "reason": "admin_stopped"}
                    await self.send(socket, host.wrap({**ended, "final_stacks": stacks}))
                    return False
                ending = host.deal()
            else:
                ending = host.play()
            await self.send(socket, *(ending or [host.state(SEAT)]))
            if not ending and host.table.turn == SEAT:
                return True

    async def play_for_client(self, socket, action):
        host = self.host
        token, kind = action["turn_token"], action["kind"]
        assert token == host.token
        decoded = host.game.view.parse(
            host.table, Action(kind, {"amount": action["amount"]} if "amount" in action else {})
        )
        ending = host.play(host.game.view.nearest(host.table, decoded))
        self.done[token] = host.seq
        ack = {"type": "ack", "turn_token": token, "seq": host.seq}
        await self.send(socket, host.wrap(ack), *(ending or [host.state(SEAT)]))
        if ending or host.table.turn != SEAT:
            return await self.go_on(socket)
        return True

    async def talk(self, socket):
        host = self.host
        await self.send(socket, host.wrap({"type": "welcome", "seat": SEAT, "timeout": self.timeout}))
        if host.hand == 0:
            if not await self.go_on(socket):
                return
        else:
            await self.send(socket, host.state(SEAT))
        async for frame in socket:
            if frame.type == WSMsgType.TEXT and not await self.heard(socket, frame.json()):
                return

    async def heard(self, socket, message):
        self.received.append(message)
        if message["type"] == "ping":
            await self.send(socket, self.host.wrap({"type": "pong", "payload": message["payload"]}))
            return True
        return await self.act(socket, message["action"])

    async def act(self, socket, action):
        if action["turn_token"] in self.done:
            seq = self.done[action["turn_token"]]
            await self.send(socket, self.host.wrap({"type": "ack", "turn_token": action["turn_token"], "seq": seq}))
            return True
        return await self.play_for_client(socket, action)

    # HTTP.

    async def websocket(self, request):
        self.connections += 1
        assert (request.query["token"], request.query["format"]) == (TOKEN, "agent")
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await self.talk(socket)
        await socket.close()
        return socket

    async def rest(self, request):
        self.log.append((request.path, await request.json(), request.headers.get("Authorization")))
        if request.path == "/v1/agents":
            return web.json_response({"agent_id": "agt_1", "api_key": KEY}, status=201)
        if request.path.endswith("/leave"):
            return web.json_response({})
        url = f"ws://{request.host}/v1/ws"
        return web.json_response({"table_id": "tbl_1", "seat_id": SEAT, "session_token": TOKEN, "ws_url": url})

    @asynccontextmanager
    async def serve(self):
        app = web.Application()
        app.add_routes([web.get("/v1/ws", self.websocket), web.post("/v1/{call:.*}", self.rest)])
        runner = web.AppRunner(app, shutdown_timeout=0.1, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        try:
            yield runner.addresses[0][1]
        finally:
            await runner.cleanup()


FAST = {"retry_after": 0.01, "ping_every": 30.0}


def stay(server, agent=CALLER, *, rest=False, **options):
    async def go():
        async with server.serve() as port:
            address = f"http://127.0.0.1:{port}" if rest else f"ws://127.0.0.1:{port}/v1/ws?token={TOKEN}"
            return await asyncio.wait_for(play(address, agent, **{**FAST, **options}), 20)

    return asyncio.run(go())


def actions(server):
    return [message["action"]["kind"] for message in server.received if message["type"] == "action"]


def test_a_table_is_played_to_its_end():
    server = Server()
    played = stay(server)
    assert (played.hands, played.reason, played.rejected, played.replaced, played.reconnects) == (
        5,
        "admin_stopped",
        0,
        0,
        0,
    )
    assert played.actions == len(actions(server)) > 5
    assert played.net == server.host.table.stack[SEAT] - 500


def test_a_policy_plays_live():
    game = envs.game("holdem", seats=2)
    server = Server(3)
    played = stay(server, PolicyAgent(game, game.bots["maniac"](game, 1)))
    assert played.replaced == played.rejected == 0
    assert "raiseTo" in actions(server)


def test_a_policy_rehearses_before_the_clock_runs(caplog):
    class Slow:
        def __init__(self):
            self.calls = 0

        def act(self, observations, masks):
            self.calls += 1
            time.sleep(1.0 if self.calls == 1 else 0.0)  # loading, compiling
            return np.ones(len(masks), np.int64)

    game = envs.game("holdem", seats=2)
    assert stay(Server(), PolicyAgent(game, Slow()), deadline=0.5).replaced == 0


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


def test_a_known_agent_joins_a_known_table():
    server = Server()
    stay(server, rest=True, table="tbl_9", api_key=KEY)
    assert [path for path, _, _ in server.log] == ["/v1/tables/tbl_9/join"]


def test_pings_keep_the_connection_alive():
    server = Server()
    stay(server, Scripted(lambda state: (time.sleep(0.02), checks(state))[1]), ping_every=0.03)
    pings = [message for message in server.received if message["type"] == "ping"]
    assert pings
    assert abs(pings[0]["payload"]["timestamp"] / 1000 - time.time()) < 60


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


class Silent:
    """A socket into the void."""

    def __init__(self):
        self.texts = []

    async def send_str(self, text):
        self.texts.append(text)


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


def test_a_server_that_was_there_is_waited_for_longer():
    connections = 0

    async def answer(request):
        nonlocal connections
        connections += 1
        if connections > 1:
            raise web.HTTPServiceUnavailable
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        request.transport.abort()
        return socket

    async def stay():
        app = web.Application()
        app.router.add_get("/ws", answer)
        async with TestServer(app) as server:
            await play(f"ws://{server.host}:{server.port}/ws", CALLER, retry_after=0.001, retries=5)

    with pytest.raises(LiveError, match="HTTP 503; gave up after 6 tries"):
        asyncio.run(stay())
    assert connections >= 6


class LosesAnswers(Server):
    """Seats the agent, but its answer to the first join is lost."""

    seated = False
    tells_where = True

    async def rest(self, request):
        answer = await super().rest(request)
        if request.path.endswith("/leave"):
            self.seated = False
        elif "join" in request.path and self.seated:
            details = {"details": {"table_id": "tbl_1"}} if self.tells_where else {}
            return web.json_response({"error": {"code": "ALREADY_SEATED", "message": "no", **details}}, status=409)
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


def test_a_lost_seat_at_an_unknown_table_is_told():
    server = LosesAnswers()
    server.tells_where = False
    with pytest.raises(LiveError, match="ALREADY_SEATED"):
        stay(server, rest=True)


def test_who_is_stopped_gives_its_seat_back():
    server = Server()

    async def go():
        async with server.serve() as port:
            thinking = asyncio.Event()
            loop = asyncio.get_running_loop()
            agent = Scripted(lambda state: (loop.call_soon_threadsafe(thinking.set), time.sleep(0.3))[1])
            playing = asyncio.create_task(play(f"http://127.0.0.1:{port}", agent, **FAST))
            await asyncio.wait_for(thinking.wait(), 10)
            playing.cancel()
            with pytest.raises(asyncio.CancelledError):
                await playing

    asyncio.run(go())
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


# Policies that fail.


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
        (lambda state: None, "no AgentResponse"),
        (lambda state: AgentResponse(Action("raiseTo", {"amount": 10**9})), "raiseTo needs whole chips"),
        (lambda state: AgentResponse(Action("bet", {"amount": 3})), "'bet' is not offered"),
        (lambda state: {"action": {"action_type": "raiseTo", "payload": {"amount": float("nan")}}}, "got nan"),
    ],
    ids=["raises", "stops", "exits", "none", "too-much", "unknown", "nan"],
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
    """Sends states in which the dealer is no seat."""

    async def send(self, socket, *texts):
        await super().send(socket, *(text.replace('"dealer": ', '"dealer": -1') for text in texts))


def test_unreadable_states_are_answered_by_the_safe_action_with_one_warning_each(caplog):
    server = Unreadable()
    played = stay(server)
    assert (played.hands, played.reason, played.rejected) == (5, "admin_stopped", 0)
    assert set(actions(server)) <= {"check", "fold"}
    warnings = [record.message for record in caplog.records if record.levelno == logging.WARNING]
    assert played.replaced == played.actions == len(actions(server)) == len(warnings) > 0
    assert all("the state cannot be read" in warning and "$.dealer" in warning for warning in warnings)


# What is kept.


def test_the_match_log_tells_the_stay_and_no_secrets(tmp_path, caplog):
    server = Server()
    with caplog.at_level(logging.DEBUG):
        played = stay(server, rest=True, log=tmp_path / "log.jsonl")
    entries = list(read(tmp_path / "log.jsonl"))
    kinds = [entry["kind"] for entry in entries]
    assert (kinds[0], kinds[-1]) == ("joined", "ended")
    assert kinds.count("hand") == played.hands
    seen = list(turns(tmp_path / "log.jsonl"))
    assert [response.action.action_type for _, response in seen] == actions(server)
    assert all(state.is_my_turn for state, _ in seen)
    text = (tmp_path / "log.jsonl").read_text()
    for secret in (TOKEN, KEY, "token-"):
        assert secret not in text
    assert TOKEN not in caplog.text
    assert KEY not in caplog.text


def test_a_full_disk_costs_no_hand(tmp_path, caplog, monkeypatch):
    def full(self, kind, **fields):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("parlour.wrappers.logs.match_log.MatchLog.write", full)
    played = stay(Server(), log=tmp_path / "log.jsonl")
    assert (played.hands, played.reconnects, played.replaced) == (5, 0, 0)
    assert caplog.text.count("the match log ends here") == 1


class Impatient(Server):
    """Acts for the client before it has answered."""

    hands = 1

    async def talk(self, socket):
        await super().send(socket, self.host.wrap({"type": "welcome", "seat": SEAT, "timeout": 60000}))
        while await self.go_on(socket):
            await asyncio.sleep(0.05)
            await self.send(socket, *(self.host.play(0) or [self.host.state(SEAT)]))


def test_a_turn_that_has_passed_is_not_answered(caplog):
    server = Impatient()
    played = stay(server, Scripted(lambda state: (time.sleep(0.5), checks(state))[1]))
    assert (played.hands, played.actions, actions(server)) == (1, 0, [])
    assert "the turn has passed" in caplog.text


def test_an_address_of_another_kind_is_refused():
    with pytest.raises(ValueError, match=r"give ws://"):
        asyncio.run(play("ftp://example.org/x?token=t", CALLER))
