"""An agent that takes its time, so that people can follow."""

import time

from ...envs.core.turn_state import AgentResponse, TurnState
from .base import Agent


class DelayedAgent:
    """An agent that waits before every answer; in a thread of its own, as every agent of a live table is.

    Args:
        agent: what answers.
        seconds: how long it waits.
    """

    def __init__(self, agent: Agent, seconds: float) -> None:
        self._agent = agent
        self._seconds = seconds

    def respond(self, state: TurnState) -> AgentResponse:
        """Answer a turn, after a while."""
        time.sleep(self._seconds)
        return self._agent.respond(state)

    def warm_up(self) -> None:
        """Have the agent rehearse, if it can."""
        warm_up = getattr(self._agent, "warm_up", None)
        if warm_up is not None:
            warm_up()
