"""What happens in a hosted match: events for observers, turns for the match log, and faults; in order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ....envs.core.turn_state import Action
from .messages import NIGHT_ACTIONS, Method, Phase

BY_SCRIPT = {"by": "a scripted agent"}
"""What the events of a statement tell where it is not the agent's own."""


class MatchEvent(NamedTuple):
    """Something that observers are told; private events, and what `admin` adds to a payload, are for admins only."""

    event_type: str
    payload: dict[str, Any]
    private: bool = False
    admin: Mapping[str, Any] | None = None


class ActionTaken(NamedTuple):
    """An action that the referee has taken, as match logs write it.

    `agent` is the game's name of the player; `replaced` tells why the action is not the player's own, None if it is.
    """

    agent: str
    action: Action
    replaced: str | None = None


@dataclass(frozen=True)
class Fault:
    """An answer that an agent did not give.

    Attributes:
        agent_id, phase, round_number: whose, and when.
        method: what was asked of it.
        problem: what went wrong.
        instead: what was done in its place; "" where nothing had to be.
    """

    agent_id: str
    phase: str
    round_number: int
    method: str
    problem: str
    instead: str = ""


Happened = MatchEvent | ActionTaken | Fault


class MatchReport:
    """Collects what happens in one match.

    Args:
        ids, names, roles: of the players, seat by seat.

    Attributes:
        phase: at which the match is.
        round_number: at which it is, from 1.
        faults: all so far, in order.
    """

    def __init__(self, ids: Sequence[str], names: Sequence[str], roles: Sequence[str]) -> None:
        self.phase: Phase = "SETUP"
        self.round_number = 1
        self.faults: list[Fault] = []
        self._ids, self._names, self._roles = ids, names, roles
        self._happened: list[Happened] = []

    def take(self) -> list[Happened]:
        """Return what has happened since the last time."""
        happened, self._happened = self._happened, []
        return happened

    def created(self) -> None:
        """Tell who plays."""
        players = [{"id": i, "name": n} for i, n in zip(self._ids, self._names, strict=True)]
        self._tell("GAME_CREATED", {"players": players})

    def roles_assigned(self) -> None:
        """Tell the roles."""
        self._tell("ROLES_ASSIGNED", {"roles": dict(zip(self._ids, self._roles, strict=True))}, private=True)

    def enter(self, phase: Phase, round_number: int) -> None:
        """Go on to a phase, if it is another one."""
        if phase == self.phase:
            return
        before, self.phase, self.round_number = self.phase, phase, round_number
        day = round_number - (phase == "NIGHT_ACTIONS")
        self._tell("PHASE_CHANGED", {"from": before, "to": phase, "dayNumber": day, "roundNumber": round_number})

    def stream(self, method: Method, seat: int, speech: int) -> dict[str, str]:
        """Return what every chunk of a stream tells. `speech` is the discussion round of the day, from 0."""
        part = {"NIGHT_ACTIONS": "night", "DAY_DISCUSSION": "day", "DAY_VOTING": "vote"}[self.phase]
        again = f"-{speech + 1}" if speech and part == "day" else ""
        turn_id = f"{method}-{part}-{self.round_number}-{self._ids[seat]}{again}"
        return {"agentId": self._ids[seat], "agentName": self._names[seat], "turnId": turn_id}

    def chunk(self, method: Method, stream: Mapping[str, str], chunk: str) -> None:
        """Tell a chunk of a stream; an empty one ends the stream."""
        if method == "think":
            self._tell("AGENT_THINK_STREAM", {**stream, "chunk": chunk}, private=True)
        else:
            self._tell("AGENT_SAY_STREAM", {**stream, "chunk": chunk})

    def night_action(self, seat: int, target: int, beside: Mapping[str, Any]) -> None:
        """Tell whom a seat has chosen, what it says beside it (``metadata``), and what a sheriff has found."""
        agent_id, target_id, kind = self._ids[seat], self._ids[target], NIGHT_ACTIONS[self._roles[seat]]
        submitted = {"agentId": agent_id, "actionType": kind, "targetId": target_id, **beside}
        self._tell("NIGHT_ACTION_SUBMITTED", submitted, private=True)
        if kind == "INVESTIGATE":
            found = {"agentId": agent_id, "targetId": target_id, "isMafia": self._roles[target] == "mafia"}
            self._tell("INVESTIGATION_RESULT", found, private=True)

    def turn(self, agent: str, action: Action, replaced: str | None = None) -> None:
        """Note an action that the referee takes, and why it is not the player's own, where it is not."""
        self._happened.append(ActionTaken(agent, action, replaced))

    def night_resolved(self, killed: int, prevented: bool) -> None:
        """Tell what the night has brought. Seat −1: nobody was killed."""
        self._tell("NIGHT_RESOLVED", {"killed": self._id(killed), "prevented": prevented})
        if killed >= 0:
            self._eliminated(killed, "night_kill")

    def votes_cast(self, votes: Mapping[int, int], beside: Mapping[int, Mapping[str, Any]]) -> None:
        """Open the votes: from seats to targets, −1 for an abstention.

        What a seat says beside its vote (``reason``) is for admins: it may tell the voter's role.
        """
        for seat, target in votes.items():
            cast = {"voterId": self._ids[seat], "targetId": self._id(target)}
            self._tell("VOTE_CAST", cast, admin=beside.get(seat))

    def vote_result(self, votes: Mapping[int, int], eliminated: int) -> None:
        """Tell what the vote has brought. Seat −1: nobody is eliminated."""
        result = {
            "eliminatedPlayerId": self._id(eliminated),
            "votes": {self._ids[seat]: self._id(target) for seat, target in votes.items()},
            "tie": _tied(list(votes.values())),
        }
        self._tell("VOTE_RESULT", result)
        if eliminated >= 0:
            self._eliminated(eliminated, "vote")

    def ended(self, winner: str | None) -> None:
        """Tell who has won."""
        self._tell("GAME_ENDED", {"winner": winner})

    def fault(self, seat: int, method: str, problem: str, instead: str = "") -> None:
        """Note an answer that an agent did not give."""
        fault = Fault(self._ids[seat], self.phase, self.round_number, method, problem, instead)
        self.faults.append(fault)
        self._happened.append(fault)

    def _eliminated(self, seat: int, by: str) -> None:
        """Reveal a death and the role."""
        payload = {"playerId": self._ids[seat], "role": self._roles[seat], "eliminatedBy": by}
        self._tell("PLAYER_ELIMINATED", {**payload, "roundNumber": self.round_number})

    def _tell(
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
    """Whether two or more have the most votes, and more than one each."""
    counts = sorted((votes.count(target) for target in {vote for vote in votes if vote >= 0}), reverse=True)
    return len(counts) > 1 and counts[0] == counts[1] > 1
