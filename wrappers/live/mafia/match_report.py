"""The report of a hosted match: events for observers, turns for the match log, and faults, in order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ....envs.core.turn_state import Action
from .messages import NIGHT_ACTIONS, Method, Phase

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
