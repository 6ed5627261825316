"""The running matches of an arena, by id."""

from collections.abc import Mapping
from typing import Any

from ....envs.core import turn_state as ts
from ....envs.core.turn_state import ActionResult, MessageIntent
from ..common.match_session import MatchSession

MOST_OVER = 10_000
"""Number of ended matches whose ids are remembered."""


class RunningMatches:
    """The running matches by id, and the ids of ended matches."""

    def __init__(self) -> None:
        self._running: dict[str, MatchSession] = {}
        self._over: dict[str, None] = {}

    def __len__(self) -> int:
        return len(self._running)

    def add(self, session: MatchSession) -> None:
        """Add a match."""
        self._running[session.match_id] = session

    def close(self, match_id: str) -> None:
        """Remove a match that is over."""
        if self._running.pop(match_id, None) is not None:
            self._over[match_id] = None
            if len(self._over) > MOST_OVER:
                del self._over[next(iter(self._over))]

    def act(self, match_id: str, agent_id: str, answer: Any) -> ActionResult:
        """Call `MatchSession.act` of the match with this id."""
        session = self._running.get(match_id)
        return self._missing(match_id) if session is None else session.act(agent_id, answer)

    def send(self, match_id: str, agent_id: str, intent: MessageIntent | Mapping[str, Any]) -> ActionResult:
        """Call `MatchSession.send` of the match with this id."""
        session = self._running.get(match_id)
        return self._missing(match_id) if session is None else session.send(agent_id, intent)

    def _missing(self, match_id: str) -> ActionResult:
        if match_id in self._over:
            return ts.refused(ts.MATCH_NOT_RUNNING, f"match {match_id} is over")
        return ts.refused(ts.MATCH_NOT_FOUND, f"there is no match {match_id[:80]!r}")
