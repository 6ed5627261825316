"""A double of the public poker platform, impolite where the platform is, for tests of our agent over real sockets.

Written from what its public sources and runs against it show. A table starts when enough have joined, connected or not;
a table that has started is joined by nobody. `pong`, the status of a waiting table and the errors of connecting come in
the envelope even in the agent format. `turn`, `toCall` and `last` are left out, names may be null, `pot` holds finished
streets. A retry of an action gets STALE_SEQ. A showdown reports 0 winnings. A table that is over closes with 1000, and
what `restart` forgets gets INVALID_SESSION; a restart with the database kept ends what was running. Two who join at one
moment may get one seat. A connection that comes while a table starts sees hand 0 with dealer -1, and not the first
hand. A connection that closes takes a newer one of the same seat off the table.

Where its table differs from the rules of poker: heads-up the dealer posts the big blind; all that is put in makes one
pot, so that a short all-in hand can win more than it put in from each; chips nobody called are not returned but played
for; every raise reopens the betting; the odd chip goes to the lowest seat.
"""

import asyncio
import itertools
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import numpy as np
from aiohttp import WSMsgType, web
from live.small_server import served
from parlour.envs.holdem.hands import card_name, describe, strength


class Refused(Exception):
    def __init__(self, code, status=400):
        super().__init__(code)
        self.code, self.status = code, status


STREETS = ("preflop", "flop", "turn", "river")
BOARD = {"preflop": 0, "flop": 3, "turn": 4, "river": 5}


@dataclass
class Player:
    agent_id: str
    name: str | None
    stack: int
    bet: int = 0
    folded: bool = False
    active: bool = False
    gone: bool = False
    cards: list = field(default_factory=list)

    @property
    def all_in(self):
        return self.active and not self.folded and self.stack == 0


class PlatformTable:
    """Seats, stacks and one hand after another. `seq`, `turn` and `token` are those of the wire."""

    def __init__(self, rng, blinds=(1, 2), raise_cap=4):
        self.rng, self.blinds, self.raise_cap = rng, blinds, raise_cap
        self.players = {}
        self.hand = self.seq = self.pot = self.high = self.least = 0
        self.dealer, self.turn, self.token = -1, None, None
        self.phase, self.board, self.last = "waiting", [], None
        self.dealt = []  # streets that the latest action opened: name and cards
        self._tokens = itertools.count(1)

    # The hand.

    def start_hand(self):
        """Deal; return False where fewer than two have chips: the table is over."""
        self.players = {seat: player for seat, player in self.players.items() if not player.gone}
        if sum(player.stack > 0 for player in self.players.values()) < 2:
            return False
        for player in self.players.values():
            player.bet, player.folded, player.cards = 0, player.stack == 0, []
            player.active = player.stack > 0
        self.hand += 1
        self.pot, self.last, self.phase, self.board = 0, None, "preflop", []
        deck = list(self.rng.permutation(52))
        self._board = [int(deck.pop()) for _ in range(5)]
        for player in self.players.values():
            player.cards = [int(deck.pop()), int(deck.pop())] if player.active else []
        self.dealer = self._after(self.dealer, self._live())
        small = self._after(self.dealer, self._live())
        big = self._after(small, self._live())
        for seat, blind in zip((small, big), self.blinds, strict=True):
            self._put_in(seat, min(blind, self.players[seat].stack))
        self.high = self.least = self.blinds[1]
        self.raises = 1
        self.waiting_for = set(self._able())
        self.seq += 1
        self._next(big)
        return True

    def legal(self, seat):
        player = self.players[seat]
        owed = self.high - player.bet
        actions = [{"kind": "fold"}]
        if owed == 0:
            actions.append({"kind": "check"})
        else:
            price = min(owed, player.stack)
            actions.append({"kind": "call", "min": price, "max": price})
        if self.raises < self.raise_cap and player.stack > owed:
            most = player.stack + player.bet
            actions.append({"kind": "raiseTo", "min": min(self.high + self.least, most), "max": most})
        return actions

    def act(self, seat, kind, amount=None):
        """Play an action; return why it is refused, or None."""
        offer = next((one for one in self.legal(seat) if one["kind"] == kind), None)
        if offer is None:
            return f"{kind} is not possible now"
        if kind == "raiseTo" and (amount or 0) not in range(offer["min"], offer["max"] + 1):
            return f"a raise is from {offer['min']} to {offer['max']}"
        player = self.players[seat]
        self.waiting_for.discard(seat)
        if kind == "fold":
            player.folded = True
        elif kind == "call":
            self._put_in(seat, min(self.high - player.bet, player.stack))
        elif kind == "raiseTo":
            self._put_in(seat, amount - player.bet)
            self.least = max(self.least, amount - self.high)
            self.high = amount
            self.raises += 1
            self.waiting_for = set(self._able()) - {seat}
        self.last = {"seat": seat, "kind": kind, **({"amount": amount} if amount is not None else {})}
        self.seq += 1
        self.dealt = []
        self._next(seat)
        return None

    def withdraw(self, seat):
        """Fold a player who leaves, in its turn or out of it; its seat is free after the hand."""
        player = self.players[seat]
        player.gone = player.folded = True
        self.waiting_for.discard(seat)
        if self.turn == seat or len(self._live()) == 1:
            self.seq += 1
            self._next(seat)

    def results(self):
        """`hand_complete`: the cards of all, also of those who folded, and no winnings at a showdown."""
        alone = len(self._live()) == 1
        return [
            {
                "seat": seat,
                "cards": names(player.cards),
                **({} if alone else {"rank": describe(self._strength(player))}),
                "won": self.pot if alone and not player.folded else 0,
            }
            for seat, player in sorted(self.players.items())
            if player.active
        ]

    # Small steps.

    def _next(self, seat):
        if len(self._live()) == 1:
            return self._end()
        self.waiting_for &= set(self._able())
        if self.waiting_for and (len(self._able()) > 1 or self._owes(self._able()[0])):
            self.turn = self._after(seat, sorted(self.waiting_for))
            self.token = f"turn-{self.hand}-{next(self._tokens)}"
            return None
        self._collect()
        while self.phase != "river":
            self.phase = STREETS[STREETS.index(self.phase) + 1]
            opened = self._board[len(self.board) : BOARD[self.phase]]
            self.board += opened
            self.dealt.append((self.phase, opened))
            if len(self._able()) > 1:
                self.high, self.least, self.raises = 0, self.blinds[1], 0
                self.waiting_for = set(self._able())
                self.seq += 1
                self.turn = self._after(self.dealer, sorted(self.waiting_for))
                self.token = f"turn-{self.hand}-{next(self._tokens)}"
                return None
        return self._end()

    def _end(self):
        self._collect()
        live = self._live()
        if len(live) > 1:
            best = max(self._strength(self.players[seat]) for seat in live)
            live = [seat for seat in live if self._strength(self.players[seat]) == best]
        share, odd = divmod(self.pot, len(live))
        for position, seat in enumerate(live):
            self.players[seat].stack += share + (odd if position == 0 else 0)
        self.phase, self.turn, self.token = "ended", None, None
        self.seq += 1

    def _strength(self, player):
        return int(strength(np.array([*player.cards, *self._board], np.int8), 7))

    def _put_in(self, seat, chips):
        self.players[seat].stack -= chips
        self.players[seat].bet += chips

    def _collect(self):
        for player in self.players.values():
            self.pot += player.bet
            player.bet = 0

    def _live(self):
        return [seat for seat, player in sorted(self.players.items()) if player.active and not player.folded]

    def _able(self):
        return [seat for seat in self._live() if self.players[seat].stack > 0]

    def _owes(self, seat):
        return self.players[seat].bet < self.high

    @staticmethod
    def _after(seat, seats):
        return next((other for other in seats if other > seat), seats[0] if seats else None)


def names(cards):
    return [card_name(int(number)) for number in cards]


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
        money = {"deposit": {"amount_usdc": 1.0}} if "join" in self.real_money else {"realMoney": False}
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
