"""AgentsAsPolicy: agents as one policy, so that evaluations play people's agents and language models as any policy."""

import asyncio
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...envs.core.game import Game
from ...envs.core.turn_state import ActionResult, AgentResponse, TurnState
from .base import Agent
from .llm import LLMAgent, finished
from .model_calls import ModelError, ModelStatistics
from .prompt import decisions_only

FAILURES = 5
"""Requests in a row that may fail beside those that are under way; then the endpoint is asked no more."""


class AgentsAsPolicy:
    """Agents that play records: every table and seat has an agent of its own, language models at the same time.

    An action between those that have an index counts as the nearest one. In place of an answer that is not legal, or of
    none, the game's safe action is played, as at a table. Nobody talks beside its actions.

    Args:
        game: the game.
        make: makes an agent.
        parallel: number of requests to language models at the same time.

    Attributes:
        statistics: what the answers of the language models came to, seat by seat.
        faulty: the rows of the tables at which the safe action was played since `begin`.
    """

    def __init__(self, game: Game, make: Callable[[], Agent], parallel: int = 1) -> None:
        self.game, self.parallel = game, parallel
        self.statistics = [ModelStatistics() for _ in game.agents]
        self.faulty: set[int] = set()
        self._make = make
        self._agents: dict[tuple[int, int], Agent] = {}
        self._failed = 0

    def begin(self) -> None:
        """Begin new matches at all tables."""
        self.faulty, self._agents = set(), {}

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Raise ValueError: agents play on records alone (see `act_on`)."""
        raise ValueError("agents play on records: call act_on")

    def act_on(
        self, tables: Any, rows: NDArray[np.int64], observations: NDArray[np.float32], masks: NDArray[np.int8]
    ) -> NDArray[np.int64]:
        """Return a legal action index for the acting seat at each of the tables `rows`: int64[M].

        Args:
            tables: the records.
            rows: int64[M], indices of tables.
            observations: not used.
            masks: int8[M, A], the action masks there.

        Raises:
            ModelError: if the endpoint fails, or gives no answer in time, again and again.
        """
        responses = finished(self._responses(tables, rows))
        return np.array(
            [
                self._index(tables[row], int(row), response, mask)
                for row, response, mask in zip(rows, responses, masks, strict=True)
            ],
            np.int64,
        )

    async def _responses(self, tables: Any, rows: NDArray[np.int64]) -> list[AgentResponse | None]:
        turns = asyncio.Semaphore(self.parallel)

        async def respond(row: int) -> AgentResponse | None:
            seat = int(tables[row].turn)
            state = decisions_only(self.game.turn_state(tables[row], seat, match_id=f"{row}"))
            agent = self._agent(row, seat)
            if not isinstance(agent, LLMAgent):
                return agent.respond(state)
            async with turns:
                return await self._answer(agent, state)

        return await asyncio.gather(*(respond(row) for row in rows.tolist()))

    async def _answer(self, agent: LLMAgent, state: TurnState) -> AgentResponse | None:
        """Return a language model's answer; None: there is none."""
        try:
            response = await agent.answer(state)
        except ModelError as error:
            self._failed = self._failed + 1 if error.fault in ("failed", "late") else 0
            if self._failed >= FAILURES + self.parallel:
                raise
            return None
        self._failed = 0
        return response

    def _agent(self, row: int, seat: int) -> Agent:
        if (row, seat) not in self._agents:
            agent = self._agents[row, seat] = self._make()
            if isinstance(agent, LLMAgent):
                agent.statistics = self.statistics[seat]
        return self._agents[row, seat]

    def _index(self, table: Any, row: int, response: AgentResponse | None, mask: NDArray[np.int8]) -> int:
        view = self.game.view
        if response is not None:
            move = view.parse(table, response.action)
            index = -1 if isinstance(move, ActionResult) else int(view.nearest(table, move))
            if index >= 0 and mask[index]:
                return index
            if isinstance(self._agent(row, int(table.turn)), LLMAgent):
                self.statistics[int(table.turn)].illegal_here()
        self.faulty.add(row)
        return int(view.safe(table))
