"""An agent's end of an arena without I/O: who sits where, and each turn in the names that the agent knows."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....envs.core.game import Game
from ....envs.core.turn_state import Action, AgentResponse, TurnState
from ...logs.log_text import describe_error
from .agent_names import AgentNames
from .foreign_types import native, plain, read_response

logger = logging.getLogger(__name__)

MATCHES = 10_000
"""Matches whose order of seats is remembered."""
SAFE_ACTIONS = ("pass", "check", "fold")
"""What is safe where the game is not known, in this order."""


@dataclass
class ArenaTurn:
    """A turn of the agent.

    Attributes:
        state: as the arena sent it.
        seen: as the agent sees it: our game's name and fields, and the seats' names where they are known.
    """

    state: TurnState
    seen: TurnState
    _names: AgentNames | None
    _game: Game | None

    def response(self, answer: Any) -> AgentResponse:
        """Return the agent's answer as the arena gets it.

        Raises:
            Exception: if the answer cannot be read.
        """
        response = read_response(plain(answer))
        return response if self._names is None else self._names.response_for_agents(response)

    def refusal(self, answer: Any) -> str | None:
        """Return why an answer cannot be sent, or None if it can."""
        try:
            self.response(answer)
        except Exception as error:  # whatever a foreign object does when it is read
            return describe_error(error)
        return None

    def safe_response(self) -> AgentResponse:
        """Return the safe action: the game's, where it is known; else the first of `SAFE_ACTIONS` that is allowed."""
        if self._game is not None:
            view = self._game.view
            try:
                tables, _seat = view.load(self.seen)
                return AgentResponse(view.encode(tables[0], view.safe(tables[0])).action)
            except Exception as error:  # a state of another kind than our game's
                logger.warning("match %s: the state cannot be loaded: %s", self.state.match_id, describe_error(error))
        allowed = [one.action_type for one in self.state.allowed_actions]
        return AgentResponse(Action(next((name for name in SAFE_ACTIONS if name in allowed), "pass")))

    def thoughts(self, thoughts: Mapping[str, Any]) -> dict[str, Any]:
        """Return the agent's thoughts with the arena's names in them."""
        named = dict(thoughts)
        if self._names is not None and "probabilities" in named:
            chances = named["probabilities"].items()
            named["probabilities"] = {self._names.words_for_agents(answer): chance for answer, chance in chances}
        return named


class ArenaAgentSession:
    """One agent in any number of matches.

    Args:
        game: the game that the agent knows, in whose names it sees its matches; None: it sees states as they are.
    """

    def __init__(self, game: Game | None) -> None:
        self._game = game
        self._orders: dict[str, list[str]] = {}

    def match_started(self, match_id: str, agent_ids: Sequence[str]) -> None:
        """Learn who sits where."""
        self._orders[match_id] = list(agent_ids)
        if len(self._orders) > MATCHES:
            del self._orders[next(iter(self._orders))]

    def match_ended(self, match_id: str) -> None:
        """Forget the match."""
        self._orders.pop(match_id, None)

    def turn(self, state: TurnState) -> ArenaTurn:
        """Return a turn as the agent sees it. Never raises."""
        try:
            seen = native(state)
            names = self._names(seen)
            return ArenaTurn(state, seen if names is None else names.state_for_game(seen), names, self._game)
        except Exception as error:  # a state of another kind than its game's
            logger.warning("match %s: the state cannot be read: %s", state.match_id, describe_error(error))
            return ArenaTurn(state, state, None, self._game)

    def _names(self, state: TurnState) -> AgentNames | None:
        """Return who sits where, if it is known and the agent's game has so many seats."""
        order = self._orders.get(state.match_id)
        if self._game is None or order is None or len(order) != self._game.seats or len(set(order)) != len(order):
            return None
        return AgentNames(order, self._game.agents)
