"""A double of the public poker platform, impolite where the platform is, for tests of our agent over real sockets.

Written from what its public sources and runs against it show. A table starts when enough have joined, connected or not;
a table that has started is joined by nobody. `pong`, the status of a waiting table and the errors of connecting come in
the envelope even in the agent format. `turn`, `toCall` and `last` are left out, names may be null, `pot` holds finished
streets. A retry of an action gets STALE_SEQ. A showdown reports 0 winnings. A table that is over closes with 1000, and
what `restart` forgets gets INVALID_SESSION; a restart with the database kept ends what was running. Two who join at one
moment may get one seat. A connection that comes while a table starts sees hand 0 with dealer -1, and not the first
hand. A connection that closes takes a newer one of the same seat off the table.
"""

import asyncio
import json
from contextlib import asynccontextmanager

import numpy as np
from aiohttp import WSMsgType, web
from live.platform_table import PlatformTable, Player, names
from live.small_server import served


class Refused(Exception):
    def __init__(self, code, status=400):
        super().__init__(code)
        self.code, self.status = code, status


class Table(PlatformTable):
    """A table with its sockets and its clock."""

    def __init__(self, platform, table_id):
        super().__init__(platform.rng, platform.blinds)
        self.platform, self.table_id = platform, table_id
        self.status = "waiting"
        self.sockets = {}  # by seat
        self.spike = 0  # added to the seq of the next states, and to none after them
        self.clock = None

    # What is said.

    def state(self, seat):
        turn = self.turn == seat
        owed = self.high - self.players[seat].bet
        players = [
            {"seat": other, "name": player.name, "stack": player.stack, "bet": player.bet}
            | ({"folded": True} if player.folded else {})
            | ({"allIn": True} if player.all_in else {})
            | ({"cards": names(player.cards)} if other == seat and player.cards else {})
            for other, player in sorted(self.players.items())
        ]
        state = {"seq": self.seq + self.spike, "hand": self.hand, "phase": self.phase, "board": names(self.board)}
        may_be_left_out = {
            "turn": self.turn,
            "last": self.last,
            "toCall": owed if owed > 0 else None,
            "actions": self.legal(seat) if turn else None,
            "turn_token": self.token if turn else None,
        }
        told = {name: value for name, value in may_be_left_out.items() if value is not None}
        return {**state, "pot": self.pot, "players": players, "dealer": self.dealer, **told}

    def say(self, seat, kind, payload, raw=False):
        """Send to a seat in the agent format; `raw`: in the envelope all the same."""
        if seat in self.sockets:
            self.platform.post(self.sockets[seat], kind, payload, self.table_id, not raw)

    def to_all(self, kind, payload):
        for seat in list(self.sockets):
            self.say(seat, kind, payload)

    def states(self):
        for seat in list(self.sockets):
            self.say(seat, "game_state", self.state(seat))
        self.spike = 0

    def greet(self, seat):
        player = self.players[seat]
        timeout = round(1000 * self.platform.timeout)
        money = {"real_money": True, "deposit_status": "pending"} if "welcome" in self.platform.real_money else {}
        self.say(seat, "welcome", {"seat": seat, "agent_id": player.agent_id, "timeout": timeout, **money})
        self.say(seat, "game_state", self.state(seat))

    # What happens.

    def join(self, agent_id, name):
        if any(player.agent_id == agent_id for player in self.players.values()):
            raise Refused("ALREADY_SEATED")
        seat = next((one for one in range(9) if one not in self.players), None)
        if seat is None:
            raise Refused("TABLE_FULL")
        self.players[seat] = Player(agent_id, name, self.platform.stack)
        if len(self.players) == self.platform.min_players:
            self.status = "running"
            asyncio.get_running_loop().call_later(self.platform.start_delay, self.start, list(self.sockets))
        return seat

    def start(self, waiting):
        if self.platform.together and len(self.sockets) < len(self.players):
            asyncio.get_running_loop().call_later(0.01, self.start, list(self.sockets))
            return
        self.next_hand()
        for seat in waiting:
            self.greet(seat)

    def next_hand(self):
        if self.status != "running":
            return
        if not self.start_hand():
            return self.end("insufficient_players")
        if self.hand > 1:
            self.states()
        self.wind()

    def wind(self):
        """Set the clock: for the seat to act, or for the next hand."""
        if self.clock is not None:
            self.clock.cancel()
        loop, platform = asyncio.get_running_loop(), self.platform
        if self.turn is None:
            self.clock = loop.call_later(platform.hand_delay, self.next_hand)
        else:
            self.clock = loop.call_later(platform.timeout, self.time_out, self.turn, self.token)

    def time_out(self, seat, token):
        if self.token == token:
            self.platform.timeouts += 1
            kinds = [one["kind"] for one in self.legal(seat)]
            self.act(seat, "check" if "check" in kinds else "fold")
            self.tell()

    def tell(self):
        self.states()
        self.wind()
        if self.turn is None:
            showdown = len(self._live()) > 1
            self.to_all("hand_complete", {"hand": self.hand, "results": self.results(), "showdown": showdown})
            self.platform.hands += 1
        for street, cards in self.dealt:
            self.to_all("street_dealt", {"hand": self.hand, "street": street, "cards": names(cards)})
        self.dealt = []

    def heard(self, seat, message):
        if message["type"] == "ping":
            return self.say(seat, "pong", {"timestamp": message["payload"]["timestamp"]}, raw=True)
        action, expected = message["action"], message.get("expected_seq")
        if expected not in (None, self.seq):
            return self.refuse(seat, "STALE_SEQ", "Game state has changed. Please refresh.")
        if self.turn != seat:
            return self.refuse(seat, "NOT_YOUR_TURN", "It is not your turn to act")
        problem = self.act(seat, action["kind"], action.get("amount"))
        if problem is not None:
            return self.refuse(seat, "INVALID_ACTION", problem)
        self.say(seat, "ack", {"turn_token": action["turn_token"], "seq": self.seq})
        return self.tell()

    def refuse(self, seat, code, text):
        self.platform.refused.append(code)
        self.say(seat, "error", {"code": code, "message": text})

    def shown(self):
        seats = [{"seatId": seat, "agentId": player.agent_id} for seat, player in self.players.items()]
        money = "page" in self.platform.real_money
        return {"id": self.table_id, "status": self.status, "seats": seats, "realMoney": money, "bucket_key": "default"}

    def leave(self, seat):
        agent_id = self.players[seat].agent_id
        if self.turn is None or len(self._live()) < 2:
            del self.players[seat]
        else:
            self.withdraw(seat)
            self.tell()
        self.to_all("player_left", {"seatId": seat, "agentId": agent_id})

    def end(self, reason):
        self.status = "ended"
        self.stop()
        stacks = [{"seat_id": s, "agent_id": p.agent_id, "stack": p.stack} for s, p in sorted(self.players.items())]
        self.to_all("table_status", {"status": "ended", "reason": reason, "final_stacks": stacks})
        for socket in self.sockets.values():
            self.platform.post(socket, "close", "Table ended")

    def stop(self):
        if self.clock is not None:
            self.clock.cancel()


class Platform:
    """The server. `async with platform.serve() as url`.

    Attributes that tests change or read: `blinds`, `stack`, `min_players`, `timeout`, `hand_delay` and `start_delay` in
    seconds; `together`: a table starts when all its players are connected; `one_seat`: the next to join gets the seat
    of who joined before; `real_money`: where it says so;
    `hands` played, `timeouts` of seats, `refused` codes of actions, `registered` names, `tables` by id.
    """

    def __init__(self, *, seed=0, stack=100, min_players=2, timeout=5.0, hand_delay=0.0, blinds=(1, 2)):
        self.rng = np.random.default_rng(seed)
        self.stack, self.min_players, self.timeout, self.hand_delay = stack, min_players, timeout, hand_delay
        self.blinds, self.start_delay, self.one_seat, self.real_money = blinds, 0.0, False, ()
        self.together = False
        self.hands = self.timeouts = 0
        self.refused, self.registered = [], []
        self.tables, self.keys, self.sessions = {}, {}, {}
        self.queues = {}

    def restart(self, kept="keys"):
        """Lose every connection and end what was running, and lose tables and sessions too, or also the keys."""
        for table in self.tables.values():
            table.stop()
            table.status = "ended" if table.status == "running" else table.status
        for socket in list(self.queues):
            socket._req.transport.abort()
        if kept != "database":
            self.tables, self.sessions = {}, {}
        if kept == "nothing":
            self.keys = {}

    # Out.

    def post(self, socket, kind, payload, table_id=None, agent=False):
        if kind == "close":
            self.queues[socket].put_nowait(payload.encode())
        elif agent:
            self.queues[socket].put_nowait(json.dumps({"type": kind, **payload}))
        else:
            envelope = {"type": kind, "table_id": table_id, "ts": 1_700_000_000_000, "payload": payload}
            seq = {"seq": payload["seq"]} if "seq" in payload else {}
            self.queues[socket].put_nowait(json.dumps({**envelope, **seq}))

    async def _write(self, socket):
        while True:
            item = await self.queues[socket].get()
            if isinstance(item, bytes):
                return await socket.close(code=1000, message=item)
            await socket.send_str(item)

    # In.

    async def _socket(self, request):
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        table, seat = self.sessions.get(request.query["token"], (None, None))
        if table is None or table.status == "ended":
            code = "INVALID_SESSION" if table is None else "TABLE_ENDED"
            await socket.send_json({"type": "error", "ts": 1, "payload": {"code": code, "message": "no"}})
            await socket.close(code=1008, message=b"no")
            return socket
        self.queues[socket] = asyncio.Queue()
        writer = asyncio.create_task(self._write(socket))
        assert request.query["format"] == "agent"
        table.sockets[seat] = socket
        if table.status == "running":
            table.greet(seat)
        else:
            status = {"status": "waiting", "seat_id": seat, "agent_id": table.players[seat].agent_id}
            people = {"min_players_to_start": self.min_players, "current_players": len(table.players)}
            table.say(seat, "table_status", {**status, **people}, raw=True)
        async for frame in socket:
            if frame.type is WSMsgType.TEXT and table.sockets.get(seat) is socket:
                table.heard(seat, frame.json())
        table.sockets.pop(seat, None)
        writer.cancel()
        del self.queues[socket]
        return socket

    async def _rest(self, request):
        try:
            return web.json_response(self._answer(request, await request.json()), status=self._status(request))
        except Refused as refusal:
            return web.json_response({"error": {"code": refusal.code, "message": "no"}}, status=refusal.status)

    def _status(self, request):
        return 201 if request.path == "/v1/agents" else 200

    def _answer(self, request, body):
        if request.path == "/v1/agents":
            self.registered.append(body.get("name"))
            key = f"key-{len(self.registered)}"
            self.keys[key] = (f"agt-{len(self.registered)}", body.get("name"))
            return {"agent_id": self.keys[key][0], "api_key": key, "protocol_version": "0.1"}
        key = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if key not in self.keys:
            raise Refused("UNAUTHORIZED", 401)
        agent_id, name = self.keys[key]
        where, call = request.match_info["call"].rpartition("/")[::2]
        if call == "leave":
            return self._leave(where, agent_id)
        table = self._waiting() if call == "auto-join" else self.tables.get(where)
        if table is None:
            raise Refused("TABLE_NOT_FOUND", 404)
        if table.status != "waiting":
            raise Refused("TABLE_ENDED" if table.status == "ended" else "INVALID_TABLE_STATE")
        if self.one_seat and table.players:
            self.one_seat, seat = False, max(table.players)
        else:
            seat = table.join(agent_id, name)
        token = f"session-{len(self.sessions)}"
        self.sessions[token] = (table, seat)
        url = f"ws://{request.host}/v1/ws"
        money = {"deposit": {"amount_usdc": 1.0}} if "join" in self.real_money else {}
        return {"table_id": table.table_id, "seat_id": seat, "session_token": token, "ws_url": url, **money}

    def _leave(self, table_id, agent_id):
        table = self.tables.get(table_id)
        if table is None:
            raise Refused("TABLE_NOT_FOUND", 404)
        if table.status != "ended":
            seated = {player.agent_id: seat for seat, player in table.players.items() if not player.gone}
            seat = seated.get(agent_id)
            if seat is None:
                raise Refused("NOT_SEATED")
            table.leave(seat)
        return {"success": True, "message": "left"}

    async def _tables(self, request):
        shown = [table.shown() for table in self.tables.values()]
        if "id" in request.match_info:
            return web.json_response(next(table for table in shown if table["id"] == request.match_info["id"]))
        status = request.query.get("status")
        return web.json_response({"tables": [table for table in shown if status in (None, table["status"])]})

    def _waiting(self):
        waiting = next((table for table in self.tables.values() if table.status == "waiting"), None)
        if waiting is None:
            waiting = Table(self, f"tbl-{len(self.tables)}")
            self.tables[waiting.table_id] = waiting
        return waiting

    @asynccontextmanager
    async def serve(self):
        gets = {"/v1/ws": self._socket, "/v1/tables": self._tables, "/v1/tables/{id}": self._tables}
        posts = {"/v1/agents": self._rest, "/v1/tables/{call:.*}": self._rest}
        routes = [*(web.get(*one) for one in gets.items()), *(web.post(*one) for one in posts.items())]
        async with served(*routes) as address:
            try:
                yield f"http://{address}"
            finally:
                for table in self.tables.values():
                    table.stop()
