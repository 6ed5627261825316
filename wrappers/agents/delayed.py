"""DelayedAgent: an agent that waits before it answers, so that people can follow."""

import time
from typing import Any

from ...envs.core.turn_state import AgentResponse, TurnState
from .base import Agent, thoughts


class DelayedAgent:
    """An agent that waits before every answer. It blocks: run it in a thread, as live tables do.

    Args:
        agent: the agent that answers.
        seconds: the time to wait.

    Attributes:
        agent: the agent.
    """

    def __init__(self, agent: Agent, seconds: float) -> None:
        self.agent = agent
        self._seconds = seconds

    def set_seconds_left(self, seconds: float | None) -> None:
        """Tell the agent the time left after the wait; None: no limit."""
        set_seconds_left = getattr(self.agent, "set_seconds_left", None)
        if callable(set_seconds_left):
            set_seconds_left(None if seconds is None else max(0.0, seconds - self._seconds))

    def respond(self, state: TurnState) -> AgentResponse:
        """Wait, then answer the turn."""
        time.sleep(self._seconds)
        return self.agent.respond(state)

    def thoughts(self) -> dict[str, Any]:
        """Return the agent's notes on its latest answer."""
        return thoughts(self.agent)

    def warm_up(self) -> None:
        """Warm the agent up, if it can."""
        warm_up = getattr(self.agent, "warm_up", None)
        if warm_up is not None:
            warm_up()
