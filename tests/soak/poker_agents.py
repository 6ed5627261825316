"""``python poker_agents.py FILE``: plays with the agents that a JSON file names, until stopped.

The file holds ``url``, ``think`` (seconds before each answer), ``retry_after``, and ``agents``: a list of ``name``,
``api_key``, ``bot`` and ``seed``.
"""

import asyncio
import json
import logging
import sys
import time
from pathlib import Path
from typing import Any

from parlour.envs import AgentResponse, TurnState, game
from parlour.training.commands.activity import trim_memory
from parlour.training.commands.supervisor import until_done
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.poker.agent import ClientSettings, PlayLength, SeatRequest, play
from parlour.wrappers.policies.loading import make_policy

SEATS = 10
"""Seats of the game with which the bots were made: they play at every smaller table."""


class Thinks(PolicyAgent):
    """A policy that waits before every answer, in the agent's thread."""

    def __init__(self, *args: Any, seconds: float) -> None:
        super().__init__(*args)
        self._pause = seconds

    def respond(self, state: TurnState) -> AgentResponse:
        """Wait, then answer the turn."""
        time.sleep(self._pause)
        return super().respond(state)


async def run(config: dict[str, Any]) -> None:
    """Play with every agent, in one event loop."""
    holdem = game("holdem", seats=SEATS)

    async def one(agent: dict[str, Any]) -> None:
        bot = make_policy(agent["bot"], holdem, seed=agent["seed"])
        result = await play(
            config["url"],
            Thinks(holdem, bot, seconds=config["think"]),
            seat=SeatRequest(name=agent["name"], api_key=agent["api_key"]),
            length=PlayLength(keep_playing=True),
            client=ClientSettings(retry_after=config["retry_after"]),
        )
        logging.error("%s has ended: %s", agent["name"], result.reason)

    trimming = asyncio.create_task(trim_memory())
    await asyncio.gather(*map(one, config["agents"]))
    trimming.cancel()


if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    until_done(run(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))))
