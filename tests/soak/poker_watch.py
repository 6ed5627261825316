"""What the proxy sees of poker: who sits where, whose turn is open, and which fault holds it.

A turn opens when the host's state with its turn token reaches the proxy, and closes with the host's ack (it was
answered) or with a later state without it (it was forfeited). It is *held* if, while it was open, the proxy took away,
broke or delayed a frame of its connection, or if it was open before the connection was. An agent is *away* from the
fault that ended its connection until its next connection, or until it gives the seat back.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec
from aiohttp import web
from parlour.wrappers.live.common.tokens import bearer_token

from .claims import Claims
from .proxy import Line, Side, clock

HOLDING = ("drop", "break", "delay", "cut")
"""Faults that may cost a turn; a frame that comes twice or is overtaken may not."""
JOINING = "a disturbed join"
KEPT_SECONDS = 300.0
"""For how long it is known that an agent was away, and when a hand began."""


class Frame(msgspec.Struct):
    """What is read of a message, of either side."""

    type: str = ""
    hand: int = 0
    turn_token: str | None = None
    code: str = ""
    action: dict[str, Any] | None = None


decode = msgspec.json.Decoder(Frame).decode


@dataclass
class WatchedTurn:
    """An open turn.

    Attributes:
        token: the host's name for it.
        hand: the number of the hand.
        delivered: when the agent was sent it; None before.
        answered: whether an action for it has come from the agent.
        held: the faults that hold it.
    """

    token: str
    hand: int
    delivered: float | None = None
    answered: bool = False
    held: set[str] = field(default_factory=set)


@dataclass
class WatchedPlayer:
    """An agent.

    Attributes:
        end: the name of its process.
        seated: whether it has ever had a seat.
        since, why: since when it is away, and for which fault; None while it is not.
        away: the times from and to which it was away, the latest.
    """

    end: str
    seated: bool = False
    since: float | None = None
    why: str = ""
    away: list[tuple[float, float]] = field(default_factory=list)

    def was_away(self, begin: float, end: float) -> bool:
        """Return whether it was away at some time between two."""
        if self.since is not None and self.since <= end:
            return True
        return any(left <= end and back >= begin for left, back in self.away)


class PokerWatch:
    """See the module.

    Args:
        claims: is told what holds and what does not.
        deadline: seconds in which a turn must be answered.
        back_within: seconds after a fault in which an agent must have a connection again.

    Attributes:
        players: the agents by id.
        down: the ends that are killed at the moment. up_since: when others came back, on `clock`.
        forfeits: forfeited turns that a fault held, by table, hand and seat.
        hands: when a hand was first seen, by table and hand.
        closing: whether the run is over, so that nothing more is judged.
    """

    def __init__(self, claims: Claims, deadline: float, back_within: float) -> None:
        self.claims = claims
        self.deadline = deadline
        self.back_within = back_within
        self.players: dict[str, WatchedPlayer] = {}
        self.down: set[str] = set()
        self.up_since: dict[str, float] = {}
        self.forfeits: defaultdict[tuple[str, int, int], int] = defaultdict(int)
        self.hands: dict[tuple[str, int], float] = {}
        self.closing = False
        self._keys: dict[str, str] = {}  # agent by API key
        self._tokens: dict[str, tuple[str, str, int]] = {}  # agent, table and seat by session token

    def seat(self, api_key: str, agent_id: str, end: str) -> None:
        """Note an agent with its key and its process."""
        self._keys[api_key] = agent_id
        self.players[agent_id] = WatchedPlayer(end)

    def open_line(self, request: web.Request) -> Line:
        """See `Watch`."""
        agent_id, table, seat = self._tokens.get(request.query.get("token", ""), ("", "", -1))
        self.came_back(agent_id)
        return PokerLine(self, agent_id, table, seat)

    def answered(self, request: web.Request, body: bytes, status: int, answer: bytes) -> None:
        """See `Watch`."""
        if status != 200:
            self.claims.counts[f"http {status}"] += 1
            return
        if request.path.endswith("join"):
            seat = msgspec.json.decode(answer)
            self._tokens[seat["session_token"]] = seat["agent_id"], seat["table_id"], seat["seat_id"]
            self.players[seat["agent_id"]].seated = True
            self.claims.counts["joins"] += 1
        elif request.path.endswith("/leave"):
            self.gave_seat_back(self._keys.get(bearer_token(request), ""))

    def disturbed(self, request: web.Request, kind: str) -> None:
        """See `Watch`. An agent whose join is lost or doubled gives its seat back, and joins again."""
        self.claims.counts[f"fault http {kind}"] += 1
        if request.path.endswith("join"):
            self.went_away(self._keys.get(bearer_token(request), ""), JOINING)

    def went_away(self, agent_id: str, why: str) -> None:
        """Note that an agent has lost its connection for a fault."""
        player = self.players.get(agent_id)
        if player is not None and player.since is None:
            player.since, player.why = clock(), why

    def killed(self, end: str) -> None:
        """Note that an end is killed. Agents of it that are away already come back later for that."""
        self.down.add(end)
        for player in self.players.values():
            if player.end == end and player.since is not None:
                player.why = end

    def gave_seat_back(self, agent_id: str) -> None:
        """Note that an agent has left its table. If it was away, it stays so: the host folds its hand for it."""
        player = self.players.get(agent_id)
        if player is not None and player.since is not None:
            player.why = JOINING

    def came_back(self, agent_id: str) -> None:
        """Note that an agent has a connection again."""
        player = self.players.get(agent_id)
        if player is None or player.since is None:
            return
        now, since, why = clock(), player.since, player.why
        player.away = [one for one in player.away if now - one[1] < KEPT_SECONDS] + [(since, now)]
        player.since = None
        self.claims.counts["reconnects"] += 1
        seconds = now - max(since, self.up_since.get("host", 0.0))
        self.claims.measure(f"back after {why}", seconds)
        if why not in (player.end, JOINING):  # these must first find a free seat
            case = f"{agent_id} was back {seconds:.1f} s after {why}"
            self.claims.check("back", seconds <= self.back_within, case)

    def forget(self, before: float) -> None:
        """Forget the hands that were first seen before this time, and their forfeits."""
        old = [key for key, seen in self.hands.items() if seen < before]
        for key in old:
            del self.hands[key]
        for forfeit in [key for key in self.forfeits if key[:2] not in self.hands]:
            del self.forfeits[forfeit]


class PokerLine:
    """One agent's connection; see `Line`."""

    def __init__(self, watch: PokerWatch, agent_id: str, table: str, seat: int) -> None:
        self._watch = watch
        self._claims = watch.claims
        self._agent_id = agent_id
        self._table = table
        self._seat = seat
        self._turn: WatchedTurn | None = None
        self._stated = False  # whether a state has come

    def arrived(self, sender: Side, text: str | bytes) -> None:
        """See `Line`."""
        try:
            frame = decode(text)
        except msgspec.MsgspecError as error:
            self._claims.check("messages", False, f"{sender} of {self._agent_id} sent what cannot be read: {error}")
            return
        self._claims.check("messages", True, "")
        self._claims.counts[f"frames from {sender}"] += 1
        if sender == "agent":
            self._hear_agent(frame)
        else:
            self._hear_host(frame)

    def left(self, sender: Side, text: str | bytes) -> None:
        """See `Line`."""
        turn = self._turn
        if sender == "host" and turn is not None and turn.delivered is None and decode(text).turn_token == turn.token:
            turn.delivered = clock()

    def fault(self, kind: str) -> None:
        """See `Line`."""
        self._claims.counts[f"fault {kind}"] += 1
        if self._turn is not None and kind in HOLDING:
            self._turn.held.add(kind)

    def closed(self, by: Side | Literal["cut"], code: int | None) -> None:
        """See `Line`."""
        watch = self._watch
        player = watch.players.get(self._agent_id)
        if watch.closing or player is None:
            return
        if by == "cut":
            watch.went_away(self._agent_id, "cut")
        elif by == "host" and "host" in watch.down:
            watch.went_away(self._agent_id, "host")
        elif by == "agent" and player.end in watch.down:
            watch.went_away(self._agent_id, player.end)
        else:
            self._claims.counts[f"closed by {by} with {code}"] += 1
            case = f"{self._agent_id} at {self._table}: closed by {by} with {code}"
            self._claims.check("connections", code == 1000, case)

    def _hear_agent(self, frame: Frame) -> None:
        turn = self._turn
        token = (frame.action or {}).get("turn_token")
        if turn is None or turn.answered or token != turn.token:
            return
        turn.answered = True
        if turn.delivered is not None:
            self._measure(clock() - turn.delivered, "answered")

    def _hear_host(self, frame: Frame) -> None:
        match frame.type:
            case "game_state":
                key = self._table, frame.hand
                if key not in self._watch.hands:
                    self._watch.hands[key] = clock()
                if self._turn is not None and self._turn.token != frame.turn_token:
                    self._forfeited(self._turn)
                if frame.turn_token is not None and self._turn is None:
                    self._turn = WatchedTurn(frame.turn_token, frame.hand)
                    if not self._stated:
                        self._turn.held.add("away")
                self._stated = True
            case "ack" if self._turn is not None and frame.turn_token == self._turn.token:
                self._claims.check("forfeits", True, "")
                self._claims.counts["turns held and answered"] += bool(self._turn.held)
                self._turn = None
            case "error":
                self._claims.counts[f"error {frame.code}"] += 1

    def _forfeited(self, turn: WatchedTurn) -> None:
        self._turn = None
        self._watch.forfeits[self._table, turn.hand, self._seat] += 1
        self._claims.counts["forfeits for a fault"] += bool(turn.held)
        case = f"{self._agent_id}, {self._table}, hand {turn.hand}, seat {self._seat}: {turn}"
        self._claims.check("forfeits", bool(turn.held), case)
        if turn.delivered is not None and not turn.answered:
            self._measure(clock() - turn.delivered, "not answered")

    def _measure(self, seconds: float, how: str) -> None:
        """Check the agent's own time, from the state's leaving for it to its action's coming from it."""
        if how == "answered":
            self._claims.measure("answer", seconds)
        case = f"{self._agent_id}, {self._table}: a turn was {how} in {seconds:.2f} s"
        self._claims.check("deadlines", seconds <= self._watch.deadline, case)
