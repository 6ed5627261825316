"""Poker under faults: `parlour host poker --state` and our agents, each in processes of their own.

A turn opens when the host's state with its turn token reaches the proxy, and closes with the host's ack (it was
answered) or with a later state without it (it was forfeited). It is *held* if, while it was open, the proxy took away,
broke or delayed a frame of its connection, or if it was open before the connection was. An agent is *away* from the
fault that ended its connection until its next connection, or until it gives the seat back.
"""

import asyncio
import contextlib
import json
import os
import socket
import sqlite3
import sys
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import aiohttp
import msgspec
from aiohttp import web
from parlour.wrappers.live.common.client import CONNECTION_ERRORS
from parlour.wrappers.live.common.limits import bearer_token

from .claims import Claims
from .proxy import FaultProxy, FaultRates, Side, clock

PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class RestartableProcess:
    """One process, and those that took its place.

    Args:
        name: for the report and the names of its files.
        command: the arguments of Python.
        folder: where its output goes, as ``NAME.out`` and ``NAME.err``.

    Attributes:
        starts: how often it was started. started: when last, on `clock`.
        samples: times, and resident memory in MB since that start; none where the system does not tell.
    """

    def __init__(self, name: str, command: Sequence[str], folder: Path) -> None:
        self.name = name
        self.starts, self.started = 0, 0.0
        self.samples: list[tuple[float, float]] = []
        self.errors = folder / f"{name}.err"
        self._command = list(command)
        self._output = folder / f"{name}.out"
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start it."""
        self.starts, self.started, self.samples = self.starts + 1, clock(), []
        with self._output.open("ab") as output, self.errors.open("ab") as errors:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, *self._command, stdin=asyncio.subprocess.DEVNULL, stdout=output, stderr=errors
            )

    @property
    def exit_code(self) -> int | None:
        """With what it has ended; None while it runs."""
        return None if self._process is None else self._process.returncode

    async def kill(self) -> None:
        """End it at once, as a power cut would."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()

    async def stop(self, seconds: float = 20.0) -> None:
        """Ask it to end (SIGTERM), and kill it if it does not."""
        if self._process is None or self._process.returncode is not None:
            return
        self._process.terminate()
        try:
            async with asyncio.timeout(seconds):
                await self._process.wait()
        except TimeoutError:
            await self.kill()

    def sample(self) -> None:
        """Measure its memory now, where the system tells it."""
        if self.exit_code is None and self._process is not None:
            with suppress(OSError):
                pages = Path(f"/proc/{self._process.pid}/statm").read_text().split()[1]
                self.samples.append((clock(), int(pages) * PAGE / 1e6))

    @property
    def latest(self) -> float | None:
        """The latest sample in MB."""
        return round(self.samples[-1][1], 1) if self.samples else None


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
    """What the proxy sees of poker: who sits where, whose turn is open, and which fault holds it.

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

    def open_line(self, request: web.Request) -> "PokerLine":
        """An agent has opened a WebSocket."""
        agent_id, table, seat = self._tokens.get(request.query.get("token", ""), ("", "", -1))
        self.came_back(agent_id)
        return PokerLine(self, agent_id, table, seat)

    def answered(self, request: web.Request, body: bytes, status: int, answer: bytes) -> None:
        """The host has answered an HTTP request."""
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
        """A fault comes to a request. An agent whose join is lost or doubled gives its seat back, and joins again."""
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
    """One agent's connection."""

    def __init__(self, watch: PokerWatch, agent_id: str, table: str, seat: int) -> None:
        self._watch = watch
        self._claims = watch.claims
        self._agent_id = agent_id
        self._table = table
        self._seat = seat
        self._turn: WatchedTurn | None = None
        self._stated = False  # whether a state has come

    def arrived(self, sender: Side, text: str | bytes) -> None:
        """A frame has come from its sender."""
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
        """A frame has gone out, unbroken, to the other side."""
        turn = self._turn
        if sender == "host" and turn is not None and turn.delivered is None and decode(text).turn_token == turn.token:
            turn.delivered = clock()

    def fault(self, kind: str) -> None:
        """A fault holds a frame of this connection, or has taken it away."""
        self._claims.counts[f"fault {kind}"] += 1
        if self._turn is not None and kind in HOLDING:
            self._turn.held.add(kind)

    def closed(self, by: Side | Literal["cut"], code: int | None) -> None:
        """The connection is over: closed by a side (with the code of its close frame; None: without one) or cut."""
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


CLAIMS = {
    "forfeits": "no turn is forfeited that no fault held",
    "deadlines": "every turn that reached its agent is answered within the deadline less 20 %",
    "connections": "no connection ends without a fault, but by a close of its side",
    "back": "after a cut or a restart of the host, agents have a connection again in time",
    "chips": "chips are conserved: in every hand, from hand to hand, and over all tables in the saved state",
    "tables": "no table is abandoned or stopped",
    "messages": "what the two ends send can be read",
    "replaced": "no agent's answer is replaced by the safe action",
    "running": "no process ends by itself",
    "logs": "no process logs an error",
    "memory": "the memory of no process grows by more than the limit (where the interval decides it)",
}
BOTS = ("tight", "call", "maniac", "random")
REPLACED = "instead of the agent's answer"
"""What the driver logs where the safe action replaces an answer."""
START_SECONDS = 90.0
SAVED = msgspec.json.Decoder()


@dataclass(frozen=True, kw_only=True)
class SoakSettings:
    """A soak test.

    Attributes:
        tables: how many.
        seats: agents at each.
        stack: chips of a new player.
        think: seconds before each answer.
        timeout: seconds to act.
        hand_delay: seconds between hands.
        processes: of agents.
        back_within: seconds in which an agent must have a connection again.
        hours: how long it runs.
        rates: how often each fault happens.
        restarts: share of the time in which processes are killed; afterwards memory is measured.
        warm_up: seconds after a start that do not count for memory.
        growth_limit: MB an hour by which the memory of a process may grow.
        seed: of the faults and of the bots.
        folder: for logs and the host's state; it should be empty. None: a temporary one.
        report_every: seconds between status lines.
    """

    tables: int = 50
    seats: int = 3
    stack: int = 200
    think: float = 1.0
    timeout: float = 10.0
    hand_delay: float = 1.0
    processes: int = 3
    back_within: float = 30.0
    hours: float = 8.0
    rates: FaultRates = field(default_factory=FaultRates)
    restarts: float = 0.5
    warm_up: float = 600.0
    growth_limit: float = 2.0
    seed: int = 0
    folder: Path | None = None
    report_every: float = 60.0


class PokerSoak:
    """The host and its agents, with a proxy between them."""

    def __init__(self, settings: SoakSettings) -> None:
        self.claims = Claims(CLAIMS)
        self._settings = settings
        self._folder = settings.folder
        self._state = self._folder / "state.sqlite"
        self._port = _free_port()
        names = [f"agents-{number + 1}" for number in range(settings.processes)]
        host = RestartableProcess("host", self._host_command(), self._folder)
        script = str(Path(__file__).with_name("poker_agents.py"))
        agents = [
            RestartableProcess(name, [script, str(self._folder / f"{name}.json")], self._folder) for name in names
        ]
        self.ends = {end.name: end for end in (host, *agents)}
        self._watch = PokerWatch(self.claims, 0.8 * settings.timeout, settings.back_within)
        self._hands = HandLog(self._folder / "host.jsonl", self._watch)
        self._warnings = {name: _Tail(end.errors) for name, end in self.ends.items()}
        self._restarting: set[str] = set()

    def _host_command(self) -> list[str]:
        poker = self._settings
        options = {name: getattr(poker, name) for name in ("tables", "seats", "stack", "timeout", "hand_delay", "seed")}
        options |= {"port": self._port, "state": self._state, "log": self._folder / "host.jsonl"}
        options |= {"match_log_mb": 0, "log_level": "warning"}  # one file, which `HandLog` reads
        words = [str(word) for name, value in options.items() for word in (f"--{name.replace('_', '-')}", value)]
        return ["-m", "parlour.training.cli", "host", "poker", *words]

    @property
    def url(self) -> str:
        """The host's own address."""
        return f"http://127.0.0.1:{self._port}"

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Start proxy and ends; at the exit, stop them and check what can be checked then."""
        async with FaultProxy(lambda: self.url, self._settings.rates, self._settings.seed, self._watch) as proxy:
            try:
                await self.ends["host"].start()
                await self._listening()
                await self._register(proxy.url)
                for name, end in self.ends.items():
                    if name != "host":
                        await end.start()
                await self._playing()
                yield
                self._hands.read()
                self._watch.closing = True
                await self.ends["host"].stop()
                self._hands.read()
                self._hands.judge(clock() + 1000)
                self._check_state()
            finally:
                self._watch.closing = True
                await asyncio.gather(*(end.stop(10.0) for end in self.ends.values()))

    async def restart(self, name: str, seconds: float) -> None:
        """Kill an end, and start it again after some seconds."""
        self._restarting.add(name)
        self._watch.killed(name)
        self.claims.counts[f"fault {'host' if name == 'host' else 'agents'} killed"] += 1
        await self.ends[name].kill()
        if name == "host":
            self._hands.read()
            self._check_state()
        await asyncio.sleep(0.5 + seconds)
        await self.ends[name].start()
        if name == "host":
            await self._listening()
        self._watch.up_since[name] = clock()
        self._watch.down.discard(name)
        self._restarting.discard(name)

    def look(self) -> None:
        """Read logs and check claims; called every second."""
        self._hands.read()
        self._hands.judge(clock() - 2 * self._settings.timeout)
        for name, end in self.ends.items():
            if name not in self._restarting:
                self.claims.check("running", end.exit_code is None, f"{name} has ended with {end.exit_code}")
        for name, tail in self._warnings.items():
            for line in tail.lines():
                self.claims.counts["warnings of the host" if name == "host" else "warnings of agents"] += 1
                self.claims.check("replaced", REPLACED not in line, f"{name}: {line.strip()}")

    def status(self) -> str:
        """Return the figures for a status line."""
        counts, answers = self.claims.counts, self.claims.times().get("answer", {})
        faults = sum(count for name, count in counts.items() if name.startswith("fault "))
        return (
            f"{counts['hands']} hands, {answers.get('count', 0)} turns answered (p50 {answers.get('p50', 0):.2f} s, "
            f"p99 {answers.get('p99', 0):.2f} s, most {answers.get('max', 0):.2f} s), {faults} faults, "
            f"{counts['timeouts']} turns timed out under a fault, {counts['reconnects']} reconnects"
        )

    async def _listening(self) -> None:
        """Wait until the host answers.

        Raises:
            TimeoutError: if it does not.
        """
        async with asyncio.timeout(START_SECONDS), aiohttp.ClientSession() as http:
            while True:
                try:
                    async with http.get(f"{self.url}/v1/tables?limit=1") as reply:
                        if reply.ok:
                            return
                except CONNECTION_ERRORS:
                    await asyncio.sleep(0.1)

    async def _playing(self) -> None:
        """Wait until every process of agents has a seat, or one has ended.

        Raises:
            TimeoutError: if it does not come.
        """
        waiting = {name for name in self.ends if name != "host"}
        async with asyncio.timeout(START_SECONDS):
            while waiting and all(self.ends[name].exit_code is None for name in waiting):
                await asyncio.sleep(0.1)
                waiting -= {player.end for player in self._watch.players.values() if player.seated}

    async def _register(self, url: str) -> None:
        """Register the agents with the host, and write what each process needs."""
        poker, agents = self._settings, []
        async with aiohttp.ClientSession() as http:
            for number in range(poker.tables * poker.seats):
                async with http.post(f"{self.url}/v1/agents", json={"name": f"agent-{number}"}) as reply:
                    answer = await reply.json()
                agents.append((number, answer["api_key"], answer["agent_id"]))
        names = [name for name in self.ends if name != "host"]
        for at, name in enumerate(names):
            own = agents[at :: len(names)]
            for _, key, agent_id in own:
                self._watch.seat(key, agent_id, name)
            seed = self._settings.seed
            rows = [
                {"name": f"agent-{number}", "api_key": key, "bot": BOTS[number % len(BOTS)], "seed": seed + number}
                for number, key, _ in own
            ]
            config = {"url": url, "think": poker.think, "retry_after": 1.0, "agents": rows}
            (self._folder / f"{name}.json").write_text(json.dumps(config), encoding="utf-8")

    def _check_state(self) -> None:
        """Check that the saved tables hold all chips: the stack of each agent that has ever sat there."""
        database = sqlite3.connect(self._state)
        rows = database.execute("SELECT table_id, snapshot FROM tables").fetchall()
        database.close()
        for table_id, data in rows:
            saved = SAVED.decode(data)
            chips = sum(seat["chips"] for seat in saved["seats"].values()) + sum(saved["left"].values())
            due = self._settings.stack * len(
                {seat["agent_id"] for seat in saved["seats"].values()} | set(saved["left"])
            )
            self.claims.check("chips", chips == due, f"{table_id} is saved with {chips} chips of {due}")
        self.claims.counts["saved states checked"] += 1


class HandLog:
    """Follows the host's match log, and judges every hand.

    Args:
        path: of the log.
        watch: knows which faults explain a forfeit.
    """

    def __init__(self, path: Path, watch: PokerWatch) -> None:
        self._watch = watch
        self._claims = watch.claims
        self._tail = _Tail(path)
        self._stacks: dict[str, dict[str, int]] = {}  # by table and agent, after its latest hand
        self._unjudged: deque[tuple[float, dict[str, Any]]] = deque()

    def read(self) -> None:
        """Take in the new lines."""
        for line in self._tail.lines():
            entry = msgspec.json.decode(line)
            match entry["kind"]:
                case "hand":
                    self._unjudged.append((clock(), entry))
                    self._check_chips(entry)
                case "ended":
                    self._stacks.pop(entry["table_id"], None)
                    self._claims.counts[f"ended: {entry['reason']}"] += 1
                    held = entry["reason"] == "insufficient_players"
                    self._claims.check("tables", held, f"{entry['table_id']} has ended: {entry['reason']}")

    def judge(self, until: float) -> None:
        """Judge the hands that ended before a time. (The proxy may see them later than the log has them.)"""
        while self._unjudged and self._unjudged[0][0] <= until:
            ended, hand = self._unjudged.popleft()
            self._judge_hand(ended, hand)
            self._watch.forget(ended - 600)

    def _judge_hand(self, ended: float, hand: dict[str, Any]) -> None:
        table, number = hand["table_id"], hand["hand"]
        began = self._watch.hands.get((table, number), ended - 60)
        agents = {player["seat"]: player["agent_id"] for player in hand["players"]}
        self._claims.counts["actions"] += len(hand["actions"])
        seen: dict[int, int] = {}
        for action in hand["actions"]:
            cause, seat = action.get("cause"), action["seat"]
            if cause is None:
                continue
            seen[seat] = seen.get(seat, 0) + 1
            self._claims.counts["left" if cause == "left" else "timeouts"] += 1
            player = self._watch.players[agents[seat]]
            known = cause == "timeout" and seen[seat] <= self._watch.forfeits[table, number, seat]
            case = f"{agents[seat]} ({player.end}), {table}, hand {number}, seat {seat}: {cause}"
            self._claims.check("forfeits", known or player.was_away(began, ended), case)

    def _check_chips(self, hand: dict[str, Any]) -> None:
        table, number = hand["table_id"], hand["hand"]
        self._claims.counts["hands"] += 1
        before = {player["agent_id"]: player["stack"] for player in hand["players"]}
        seats = {player["seat"]: player["agent_id"] for player in hand["players"]}
        after = {seats[row["seat"]]: row["stack"] for row in hand["results"] if row["seat"] in seats}
        known = self._stacks.setdefault(table, {})
        case = f"{table}, hand {number}: {before} became {after}, after {known}"
        self._claims.check("chips", sum(before.values()) == sum(after.values()), case)
        self._claims.check("chips", all(known.get(agent, chips) == chips for agent, chips in before.items()), case)
        known.update(after)


class _Tail:
    """The lines that were added to a file since the last look."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._at = 0

    def lines(self) -> list[str]:
        """Return the new whole lines."""
        if not self._path.exists():
            return []
        with self._path.open("rb") as file:
            file.seek(self._at)
            data = file.read()
        whole = data[: data.rfind(b"\n") + 1]
        self._at += len(whole)
        return whole.decode(errors="replace").splitlines()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
