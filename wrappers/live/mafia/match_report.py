"""The report of a hosted match, in order: events for observers, turns for the match log, and faults."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import msgspec

from ....envs.core.counted import counted
from ....envs.core.game import Game
from ....envs.core.turn_state import Action
from ...logs.safe_match_log import SafeMatchLog
from .messages import NIGHT_ACTIONS, Event, Method, Phase, encode

NAME_LENGTH = 64
"""Most characters of an id or name."""


def check_players(game: Game, ids: Sequence[str], names: Sequence[str]) -> None:
    """Check the players' ids and names, seat by seat.

    Raises:
        ValueError: if their number is not that of the seats, or they are not all different and printable.
    """
    if len(ids) != game.seats:
        raise ValueError(f"{counted(len(ids), 'agents')} for a game of {game.seats}")
    for kind, values in (("id", ids), ("name", names)):
        for value in values:
            if not isinstance(value, str) or not 1 <= len(value) <= NAME_LENGTH or not value.isprintable():
                raise ValueError(f"{kind} {value!r}: give 1 to {NAME_LENGTH} printable characters")
        if len(set(values)) != len(values):
            raise ValueError(f"{kind}s {', '.join(values)}: no two agents may have the same")
    for name, agent_id in zip(names, ids, strict=True):
        if name in ids and name != agent_id:
            raise ValueError(f"{agent_id} cannot be called {name!r}, which is another agent's id")


BY_SCRIPT = {"by": "a scripted agent"}
"""The field of a statement's events if the statement is not the agent's own."""


class MatchEvent(NamedTuple):
    """An event for observers; private events, and the fields of `admin`, are for admins only."""

    event_type: str
    payload: dict[str, Any]
    private: bool = False
    admin: Mapping[str, Any] | None = None


class ActionTaken(NamedTuple):
    """A played action, for match logs.

    `agent` is the game's name of the player; `replaced` is why the action is not the player's own, None: it is.
    """

    agent: str
    action: Action
    replaced: str | None = None


@dataclass(frozen=True)
class Fault:
    """A missing or illegal answer of an agent.

    Attributes:
        agent_id: the agent.
        phase, round_number: the time of the fault.
        method: the called method.
        problem: the reason.
        instead: the replacement; "": none.
    """

    agent_id: str
    phase: str
    round_number: int
    method: str
    problem: str
    instead: str = ""


Happened = MatchEvent | ActionTaken | Fault


class MatchReport:
    """Collects the report of one match.

    Args:
        ids, names, roles: the players' ids, names and roles, seat by seat.

    Attributes:
        phase: the current phase.
        round_number: the current round, from 1.
        faults: the faults so far, in order.
    """

    def __init__(self, ids: Sequence[str], names: Sequence[str], roles: Sequence[str]) -> None:
        self.phase: Phase = "SETUP"
        self.round_number = 1
        self.faults: list[Fault] = []
        self._ids, self._names, self._roles = ids, names, roles
        self._happened: list[Happened] = []

    def take(self) -> list[Happened]:
        """Return the report since the last call."""
        happened, self._happened = self._happened, []
        return happened

    def created(self) -> None:
        """Report the players."""
        players = [{"id": i, "name": n} for i, n in zip(self._ids, self._names, strict=True)]
        self._report("GAME_CREATED", {"players": players})

    def roles_assigned(self) -> None:
        """Report the roles, to admins."""
        self._report("ROLES_ASSIGNED", {"roles": dict(zip(self._ids, self._roles, strict=True))}, private=True)

    def enter(self, phase: Phase, round_number: int) -> None:
        """Enter a phase, and report it if it is a new one."""
        if phase == self.phase:
            return
        before, self.phase, self.round_number = self.phase, phase, round_number
        day = round_number - (phase == "NIGHT_ACTIONS")
        self._report("PHASE_CHANGED", {"from": before, "to": phase, "dayNumber": day, "roundNumber": round_number})

    def stream(self, method: Method, seat: int, speech: int) -> dict[str, str]:
        """Return the fields of every event of a stream. `speech` is the discussion round of the day, from 0."""
        part = {"NIGHT_ACTIONS": "night", "DAY_DISCUSSION": "day", "DAY_VOTING": "vote"}[self.phase]
        again = f"-{speech + 1}" if speech and part == "day" else ""
        turn_id = f"{method}-{part}-{self.round_number}-{self._ids[seat]}{again}"
        return {"agentId": self._ids[seat], "agentName": self._names[seat], "turnId": turn_id}

    def chunk(self, method: Method, stream: Mapping[str, str], chunk: str) -> None:
        """Report a chunk of a stream; an empty one ends the stream."""
        if method == "think":
            self._report("AGENT_THINK_STREAM", {**stream, "chunk": chunk}, private=True)
        else:
            self._report("AGENT_SAY_STREAM", {**stream, "chunk": chunk})

    def night_action(self, seat: int, target: int, beside: Mapping[str, Any]) -> None:
        """Report the target of a seat, to admins; `beside` has its ``metadata``. Report a sheriff's result too."""
        agent_id, target_id, kind = self._ids[seat], self._ids[target], NIGHT_ACTIONS[self._roles[seat]]
        submitted = {"agentId": agent_id, "actionType": kind, "targetId": target_id, **beside}
        self._report("NIGHT_ACTION_SUBMITTED", submitted, private=True)
        if kind == "INVESTIGATE":
            result = {"agentId": agent_id, "targetId": target_id, "isMafia": self._roles[target] == "mafia"}
            self._report("INVESTIGATION_RESULT", result, private=True)

    def turn(self, agent: str, action: Action, replaced: str | None = None) -> None:
        """Add a played action; `replaced`: why it is not the player's own, None: it is."""
        self._happened.append(ActionTaken(agent, action, replaced))

    def night_resolved(self, killed: int, prevented: bool) -> None:
        """Report the result of the night. Seat −1: no death."""
        self._report("NIGHT_RESOLVED", {"killed": self._id(killed), "prevented": prevented})
        if killed >= 0:
            self._eliminated(killed, "night_kill")

    def votes_cast(self, votes: Mapping[int, int], beside: Mapping[int, Mapping[str, Any]]) -> None:
        """Report the votes: targets by seat, −1 for an abstention.

        The ``reason`` of a vote is for admins only, because it may reveal the voter's role.
        """
        for seat, target in votes.items():
            cast = {"voterId": self._ids[seat], "targetId": self._id(target)}
            self._report("VOTE_CAST", cast, admin=beside.get(seat))

    def vote_result(self, votes: Mapping[int, int], eliminated: int) -> None:
        """Report the result of the vote. Seat −1: no elimination."""
        result = {
            "eliminatedPlayerId": self._id(eliminated),
            "votes": {self._ids[seat]: self._id(target) for seat, target in votes.items()},
            "tie": _tied(list(votes.values())),
        }
        self._report("VOTE_RESULT", result)
        if eliminated >= 0:
            self._eliminated(eliminated, "vote")

    def ended(self, winner: str | None) -> None:
        """Report the winner."""
        self._report("GAME_ENDED", {"winner": winner})

    def fault(self, seat: int, method: str, problem: str, instead: str = "") -> None:
        """Add a missing or illegal answer of an agent."""
        fault = Fault(self._ids[seat], self.phase, self.round_number, method, problem, instead)
        self.faults.append(fault)
        self._happened.append(fault)

    def _eliminated(self, seat: int, by: str) -> None:
        """Report a death and the role."""
        payload = {"playerId": self._ids[seat], "role": self._roles[seat], "eliminatedBy": by}
        self._report("PLAYER_ELIMINATED", {**payload, "roundNumber": self.round_number})

    def _report(
        self,
        event_type: str,
        payload: dict[str, Any],
        *,
        private: bool = False,
        admin: Mapping[str, Any] | None = None,
    ) -> None:
        self._happened.append(MatchEvent(event_type, payload, private, admin))

    def _id(self, seat: int) -> str | None:
        return self._ids[seat] if seat >= 0 else None


def _tied(votes: list[int]) -> bool:
    """Return whether two or more targets have the most votes, and more than one each."""
    counts = sorted((votes.count(target) for target in {vote for vote in votes if vote >= 0}), reverse=True)
    return len(counts) > 1 and counts[0] == counts[1] > 1


View = Literal["public", "admin"]


def now() -> int:
    """Return milliseconds since 1970."""
    return time.time_ns() // 1_000_000


class EventFeed:
    """The events of one match as two streams of JSON: all events for admins, those that are not private for the public.

    Each stream counts its events from 1, so that the public cannot count the private events by the gaps.

    Args:
        game_id: the id of the match.
        on_event: called with every event, with the number that admins see.
        clock: returns milliseconds since 1970.

    Attributes:
        admin, public: the events so far, as JSON.
        closed: whether the feed is closed.
    """

    def __init__(
        self, game_id: str, on_event: Callable[[Event], None] | None = None, clock: Callable[[], int] = now
    ) -> None:
        self.game_id = game_id
        self.admin: list[bytes] = []
        self.public: list[bytes] = []
        self.closed = False
        self._on_event = on_event
        self._clock = clock
        self._waiting: list[asyncio.Future[None]] = []

    def emit(
        self, event_type: str, payload: dict[str, Any], private: bool = False, admin: Mapping[str, Any] | None = None
    ) -> None:
        """Add an event and notify subscribers.

        Args:
            event_type: one of `messages.EVENTS`.
            payload: the fields of the event.
            private: whether the event is for admins only.
            admin: further fields for admins of a public event.
        """
        event = Event(
            event_type=event_type,
            game_id=self.game_id,
            sequence=len(self.admin) + 1,
            timestamp=self._clock(),
            private=private,
            payload={**payload, **admin} if admin else payload,
        )
        self.admin.append(encode(event))
        if self._on_event is not None:
            self._on_event(event)
        if not private:
            shown = msgspec.structs.replace(event, sequence=len(self.public) + 1, payload=payload)
            self.public.append(encode(shown))
        if self._waiting:
            self._wake()

    def close(self) -> None:
        """Close the feed and notify subscribers."""
        self.closed = True
        self._wake()

    def _wake(self) -> None:
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_result(None)
        self._waiting.clear()

    async def follow(self, view: View, after: int = 0) -> AsyncIterator[bytes]:
        """Yield a view's events after the sequence number `after`, and each new one until the feed is closed."""
        events = self.admin if view == "admin" else self.public
        taken = max(after, 0)
        while True:
            while taken < len(events):
                taken += 1
                yield events[taken - 1]
            if self.closed:
                return
            waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(waiting)
            await waiting


class LogQueue:
    """Writes concurrent matches into one log, match after match, in the order of their starts.

    The first match writes at once. The lines of the others are kept until the earlier matches are over.

    Args:
        log: the log.
    """

    def __init__(self, log: SafeMatchLog) -> None:
        self._log = log
        self._parts: deque[LogPart] = deque()

    def begin(self) -> "LogPart":
        """Return the part of a new match."""
        part = LogPart(self)
        self._parts.append(part)
        return part

    def write(self, part: "LogPart", kind: str, fields: dict[str, Any]) -> None:
        """Write a line of a match, or keep it while an earlier match is running."""
        if self._parts and part is self._parts[0]:
            self._log.write(kind, **fields)
        else:
            part.lines.append((kind, fields))

    def go_on(self) -> None:
        """Write the kept lines of the first running match and of ended ones before it."""
        while self._parts:
            first = self._parts[0]
            for kind, fields in first.lines:
                self._log.write(kind, **fields)
            first.lines.clear()
            if not first.over:
                return
            self._parts.popleft()


class LogPart:
    """The lines of one match.

    Attributes:
        lines: the kept lines.
        over: whether the match is over.
    """

    def __init__(self, queue: LogQueue) -> None:
        self.lines: list[tuple[str, dict[str, Any]]] = []
        self.over = False
        self._queue = queue

    def write(self, kind: str, **fields: Any) -> None:
        """Write a line, or keep it while an earlier match is running."""
        self._queue.write(self, kind, fields)

    def end(self) -> None:
        """End the part, so that the next match writes."""
        self.over = True
        self._queue.go_on()
