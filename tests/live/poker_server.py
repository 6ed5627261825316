"""A poker server for one client, for tests of the agent; subclasses misbehave."""

import asyncio
from contextlib import asynccontextmanager

from aiohttp import WSMsgType, web
from live.poker_options import play
from live.small_host import Host
from live.small_server import served
from parlour import envs
from parlour.envs import Action, AgentResponse

TOKEN = "s3cret-session"

KEY = "s3cret-key"

SEAT = 0


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
        async with served(web.get("/v1/ws", self.websocket), web.post("/v1/{call:.*}", self.rest)) as address:
            yield int(address.split(":")[1])


FAST = {"retry_after": 0.01}


def stay(server, agent=CALLER, *, rest=False, **options):
    async def go():
        async with server.serve() as port:
            address = f"http://127.0.0.1:{port}" if rest else f"ws://127.0.0.1:{port}/v1/ws?token={TOKEN}"
            return await asyncio.wait_for(play(address, agent, **{**FAST, **options}), 20)

    return asyncio.run(go())


def actions(server):
    return [message["action"]["kind"] for message in server.received if message["type"] == "action"]


class Silent:
    """A socket into the void."""

    def __init__(self):
        self.texts = []

    async def send_str(self, text):
        self.texts.append(text)
