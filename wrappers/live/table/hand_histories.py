"""The hands that a poker table has played, as each player may take them home, with the notes of the programs.

By the custom of poker, a hand history has its reader's cards and those that were shown; what others folded or mucked
stays theirs. Programs have nothing to hide from the table that has ended: then it has their cards and notes too.
"""

from collections import deque
from collections.abc import Mapping
from typing import Any

from ....envs.core.turn_state import AgentResponse, TurnState
from ...agents.base import Agent, thoughts
from ...logs.match_log import safe_thoughts
from .ended_matches import log_of

MOST_HANDS = 500
"""The latest hands that are kept of a table."""
NOTES = ("probabilities", "value", "think")
"""The notes of a program that a hand has."""


class NotingAgent:
    """An agent whose notes on its answers are kept by hand, and by the number of actions before in the hand.

    Args:
        agent: the agent.
    """

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._hand = 0
        self._notes: dict[int, dict[str, Any]] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._agent, name)  # what else it can do, such as to be warmed up

    def respond(self, state: TurnState) -> AgentResponse:
        """Answer the turn, and keep the notes."""
        response = self._agent.respond(state)
        game = state.game_state
        if game.get("hand", 0) != self._hand:
            self._hand, self._notes = game.get("hand", 0), {}
        notes = safe_thoughts(lambda: thoughts(self._agent))
        self._notes[len(game.get("history", ()))] = {name: notes[name] for name in NOTES if name in notes}
        return response

    def notes(self, hand: int) -> Mapping[int, Mapping[str, Any]]:
        """Return the notes on a hand, by the number of the action; those of an earlier hand are gone."""
        return self._notes if hand == self._hand else {}


class PokerHands:
    """The hands of one table.

    Args:
        programs: the programs, by seat.

    Attributes:
        ended: whether the table has ended.
    """

    def __init__(self, programs: Mapping[int, tuple[str, NotingAgent]]) -> None:
        self._programs = programs
        self._hands: deque[dict[str, Any]] = deque(maxlen=MOST_HANDS)
        self._logs: dict[str | None, tuple[Any, bytes]] = {}  # by reader: of which hands, and the log
        self.ended = False

    def __len__(self) -> int:
        return len(self._hands)

    def add(self, entry: Mapping[str, Any]) -> None:
        """Keep a hand that has ended, as the match log has it; the notes of programs are added to its actions."""
        names = {row["seat"]: row["name"] for row in entry["players"]}
        noted = {
            seat: agent.notes(entry["hand"])
            for seat, (name, agent) in self._programs.items()
            if names.get(seat) == name
        }
        actions = [
            {**action, **noted.get(action["seat"], {}).get(number, {})}
            for number, action in enumerate(entry["actions"])
        ]
        self._hands.append({**entry, "actions": actions, "programs": list(noted)})

    def log(self, reader: str | None) -> bytes:
        """Return the hands as an agent may see them; None: as everybody may."""
        state = self._hands[-1]["hand"] if self._hands else 0, self.ended
        if self._logs.get(reader, (None, b""))[0] != state:
            self._logs = {one: kept for one, kept in self._logs.items() if kept[0] == state}
            self._logs[reader] = state, log_of(_seen(entry, reader, self.ended) for entry in self._hands)
        return self._logs[reader][1]


def _seen(entry: Mapping[str, Any], reader: str | None, ended: bool) -> dict[str, Any]:
    shown = {row["seat"] for row in entry["results"] if "cards" in row}
    open_ = {row["seat"] for row in entry["players"] if row["agent_id"] == reader}
    if ended:
        open_ |= set(entry["programs"])
    hidden = {*NOTES, "reasoning"}
    return {
        "kind": "hand",
        **{name: value for name, value in entry.items() if name != "programs"},
        "players": [row if row["seat"] in shown | open_ else {**row, "cards": []} for row in entry["players"]],
        "actions": [
            action if action["seat"] in open_ else {name: action[name] for name in action.keys() - hidden}
            for action in entry["actions"]
        ],
    }
