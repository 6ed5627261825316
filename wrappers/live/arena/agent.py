"""Agents in the arena's process: objects with `act`.

An arena calls ``act(state)`` with its own types and gets the types that it needs. If the agent raises an exception, or
its answer cannot be read, the safe action is returned. The log has one warning per match.
"""

import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

from ....envs.core.turn_state import AgentResponse, TurnState
from ...agents.base import Agent
from ...agents.policy import PolicyAgent
from ..common.agent_statistics import AgentStatistics
from ..common.agent_turn import Played
from ..common.foreign_types import convert_to, read_state
from .agent_session import ArenaAgentSession, out_of_turn
from .platform_games import supported_games


class ArenaAgent:
    """An agent in the form that arenas expect.

    Args:
        agent_id: the agent's name in the arena.
        agent: the agent that decides: a `PolicyAgent`, or any object with `respond`.
        response_type: what `act` returns: a pydantic model, dataclass or struct. None: a dict for a dict, else the
            `AgentResponse` of the module that defines the state's class, else ours.

    Attributes:
        statistics: counters of the answered turns.
    """

    def __init__(self, agent_id: str, agent: Agent, response_type: Any = None) -> None:
        self.agent_id = agent_id
        self.agent = agent
        self.statistics = AgentStatistics()
        self.session = ArenaAgentSession(agent.game if isinstance(agent, PolicyAgent) else None)
        self._response_type = response_type

    def act(self, state: Any) -> Any:
        """Answer a turn in the caller's own types. An exception of the agent is never raised here.

        Raises:
            ValueError, TypeError: if `state` is no TurnState, naming the field.
        """
        return _as_caller(self.respond(read_state(state)), state, self._response_type)

    def respond(self, state: TurnState) -> AgentResponse:
        """Answer a turn; with the safe action if the agent raises an exception or its answer cannot be read."""
        if not state.is_my_turn:
            return out_of_turn(state)
        turn = self.session.turn(state)
        began = time.monotonic()
        response, problem = turn.settle(lambda: self.agent.respond(turn.shown()))
        self.count(Played(response, problem, seconds=time.monotonic() - began), state.match_id)
        return response

    def count(self, played: Played, match_id: str) -> None:
        """Count an answered turn. The first turn of a match that the safe action answered is logged as a warning."""
        warns = played.problem is not None and self.session.is_first_problem(match_id)
        played.count(self.statistics, f"match {match_id}", warns)

    @property
    def supported_games(self) -> list[str] | None:
        """The platforms' ids of the games that the agent plays; None if they are not known."""
        return supported_games(self.agent.game) if isinstance(self.agent, PolicyAgent) else None

    def get_metadata(self) -> dict[str, Any]:
        """Return what platforms write into a match's log: the agent's id, the type of its policy, and its game."""
        metadata = {"agent_id": self.agent_id, "type": type(self.agent).__name__}
        if isinstance(self.agent, PolicyAgent):
            metadata |= {"type": type(self.agent.policy).__name__, "game": self.agent.game.id}
        return metadata

    def on_match_start(self, match_id: str, game_id: str, agent_ids: Sequence[str]) -> None:
        """Store the agents of a match in the order of their seats."""
        self.session.match_started(match_id, agent_ids)

    def on_match_end(self, match_id: str, outcome: Mapping[str, Any] | None) -> None:
        """Remove what is stored of the match."""
        self.session.match_ended(match_id)


def _as_caller(response: AgentResponse, state: Any, response_type: Any) -> Any:
    if response_type is None:
        if isinstance(state, TurnState):
            return response
        if isinstance(state, Mapping):
            return response.to_dict()
        response_type = getattr(sys.modules.get(type(state).__module__), "AgentResponse", None)
    return convert_to(response, response_type)
