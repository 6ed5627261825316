"""The wire types of a TurnState arena beyond TurnState itself.

The calls are those of Strategic Agent Games, for agents behind HTTP: the arena posts a TurnState to ``{endpoint}/act``
and gets an `AgentResponse`; ``/match_start`` and ``/match_end`` say when a match begins and ends; ``POST
{arena}/api/register`` adds an agent to the arena.
"""

from typing import Annotated, Any

import msgspec

from ....envs.core.turn_state import Wire

ANSWER_SECONDS = 30.0
"""Seconds that an arena gives an agent for its turn."""
ANSWER_LIMIT = 2**19
"""Bytes of an answer: ten messages of 4,000 characters fit, however they are escaped."""
STATE_LIMIT = 2**23
"""Bytes of a TurnState, which carries the whole chat."""

AgentId = Annotated[str, msgspec.Meta(min_length=1, max_length=64, pattern=r"^[^\x00-\x1f\x7f]+\Z")]


class Register(Wire):
    """The body of ``POST /api/register``: where an agent is found. Other fields are the platform's own."""

    agent_id: AgentId
    endpoint: Annotated[str, msgspec.Meta(max_length=500, pattern=r"^https?://[^\s/?#]+[^\s?#]*\Z")]


class MatchStart(Wire):
    """The body of ``POST {endpoint}/match_start``; the agents are in the order of their seats."""

    match_id: str
    game_id: str
    agent_ids: list[str]


class MatchEnd(Wire):
    """The body of ``POST {endpoint}/match_end``."""

    match_id: str
    outcome: dict[str, Any] | None = None
