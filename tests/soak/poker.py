"""Poker under faults: `parlour host poker --state` and our agents, each in processes of their own."""

import asyncio
import contextlib
import json
import socket
import sqlite3
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
from parlour.wrappers.live.common.client import CONNECTION_ERRORS

from .claims import Claims
from .poker_watch import PokerWatch
from .processes import RestartableProcess
from .proxy import FaultProxy, clock
from .soak import Soaked, SoakSettings

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
class PokerSoakSettings:
    """The tables.

    Attributes:
        tables: how many.
        seats: agents at each.
        stack: chips of a new player.
        think: seconds before each answer.
        timeout: seconds to act.
        hand_delay: seconds between hands.
        processes: of agents.
        back_within: seconds in which an agent must have a connection again.
    """

    tables: int = 50
    seats: int = 3
    stack: int = 200
    think: float = 1.0
    timeout: float = 10.0
    hand_delay: float = 1.0
    processes: int = 3
    back_within: float = 30.0


class PokerSoak(Soaked):
    """See `Soaked`."""

    def __init__(self, poker: PokerSoakSettings, settings: SoakSettings) -> None:
        self.claims = Claims(CLAIMS)
        self._poker = poker
        self._settings = settings
        self._folder = settings.folder
        self._state = settings.folder / "state.sqlite"
        self._port = _free_port()
        names = [f"agents-{number + 1}" for number in range(poker.processes)]
        host = RestartableProcess("host", self._host_command(), self._folder)
        script = str(Path(__file__).with_name("poker_agents.py"))
        agents = [
            RestartableProcess(name, [script, str(self._folder / f"{name}.json")], self._folder) for name in names
        ]
        self.ends = {end.name: end for end in (host, *agents)}
        self._watch = PokerWatch(self.claims, 0.8 * poker.timeout, poker.back_within)
        self._hands = HandLog(self._folder / "host.jsonl", self._watch)
        self._warnings = {name: _Tail(end.errors) for name, end in self.ends.items()}
        self._restarting: set[str] = set()

    def _host_command(self) -> list[str]:
        poker = self._poker
        options = {
            "tables": poker.tables,
            "seats": poker.seats,
            "stack": poker.stack,
            "timeout": poker.timeout,
            "hand-delay": poker.hand_delay,
            "port": self._port,
            "seed": self._settings.seed,
            "state": self._state,
            "log": self._folder / "host.jsonl",
            "match-log-mb": 0,  # one file, which `HandLog` reads
            "log-level": "warning",
        }
        words = [str(word) for name, value in options.items() for word in (f"--{name}", value)]
        return ["-m", "parlour.training.cli", "host", "poker", *words]

    @property
    def url(self) -> str:
        """The host's own address."""
        return f"http://127.0.0.1:{self._port}"

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """See `Soaked`."""
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
        """See `Soaked`."""
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
        """See `Soaked`."""
        self._hands.read()
        self._hands.judge(clock() - 2 * self._poker.timeout)
        for name, end in self.ends.items():
            if name not in self._restarting:
                self.claims.check("running", end.exit_code is None, f"{name} has ended with {end.exit_code}")
        for name, tail in self._warnings.items():
            for line in tail.lines():
                self.claims.counts["warnings of the host" if name == "host" else "warnings of agents"] += 1
                self.claims.check("replaced", REPLACED not in line, f"{name}: {line.strip()}")

    def status(self) -> str:
        """See `Soaked`."""
        counts, answers = self.claims.counts, self.claims.times().get("answer", {})
        faults = sum(count for name, count in counts.items() if name.startswith("fault "))
        return (
            f"{counts['hands']} hands, {answers.get('count', 0)} turns answered (p50 {answers.get('p50', 0):.2f} s, "
            f"p99 {answers.get('p99', 0):.2f} s, most {answers.get('max', 0):.2f} s), {faults} faults, "
            f"{counts['timeouts']} turns timed out under a fault, {counts['reconnects']} reconnects"
        )

    def figures(self) -> dict[str, Any]:
        """See `Soaked`."""
        counts = self.claims.counts
        return {name: counts[name] for name in ("hands", "actions", "timeouts", "left", "reconnects", "joins")}

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
        poker, agents = self._poker, []
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
            due = self._poker.stack * len({seat["agent_id"] for seat in saved["seats"].values()} | set(saved["left"]))
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
