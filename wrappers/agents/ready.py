"""ReadyAgent: an agent that searches, and whose policy's own action stands ready in case the search is late."""

import logging
import queue
import threading

from ...envs.core.turn_state import AgentResponse, TurnState
from ..logs.log_text import describe_error
from .policy import PolicyAgent

logger = logging.getLogger(__name__)

WAIT_SHARE = 0.75
"""The share of the time for an answer after which the policy's own action is played, whatever the search does."""


class ReadyAgent(PolicyAgent):
    """Answers by a search in a thread of its own, or as the policy does.

    The policy answers first. Its answer is played if the search fails or is late; while a search goes on that was late,
    no other one is begun.

    Args:
        plain: the agent without search.
        search: the agent with it. It has a policy of its own, because both are asked at the same time.
        seconds: most time to wait for a search; None: no limit.
    """

    def __init__(self, plain: PolicyAgent, search: PolicyAgent, seconds: float | None = None) -> None:
        super().__init__(plain.game, plain.policy)
        self.search = search
        self._seconds = self._most = seconds
        self._searching: threading.Thread | None = None

    def set_seconds_left(self, seconds: float | None) -> None:
        """Wait at most `WAIT_SHARE` of the seconds left for the next answer; None: only the own limit counts."""
        self.search.set_seconds_left(seconds)
        limits = [
            limit for limit in (self._seconds, None if seconds is None else WAIT_SHARE * seconds) if limit is not None
        ]
        self._most = min(limits, default=None)

    def warm_up(self) -> None:
        """Warm both up."""
        super().warm_up()
        self.search.warm_up()

    def respond(self, state: TurnState) -> AgentResponse:
        """Answer a turn.

        Raises:
            ValueError, KeyError, TypeError: as `PolicyAgent.respond` does.
        """
        ready = super().respond(state)
        if self._searching is not None and self._searching.is_alive():
            return ready
        answers: queue.SimpleQueue[AgentResponse | Exception] = queue.SimpleQueue()
        self._searching = threading.Thread(target=self._search, args=(state, answers), daemon=True, name="search")
        self._searching.start()
        try:
            answer = answers.get(timeout=self._most)
        except queue.Empty:
            logger.warning("%s: the search is late, and the policy's own action is played", state.game_id)
            return ready
        if isinstance(answer, Exception):
            logger.warning("%s: the search raised %s; the policy plays", state.game_id, describe_error(answer))
            return ready
        return answer

    def _search(self, state: TurnState, answers: "queue.SimpleQueue[AgentResponse | Exception]") -> None:
        try:
            answers.put(self.search.respond(state))
        except Exception as error:  # whatever a search does, the game goes on
            answers.put(error)
