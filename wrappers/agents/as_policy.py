"""AgentsAsPolicy: agents as one policy, so that evaluations play people's agents and language models as any policy."""

import asyncio
import math
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...envs.core.game import Game
from ...envs.core.turn_state import ActionResult, AgentResponse, TurnState
from .base import Agent
from .llm import LLMAgent, finished
from .model_calls import ModelCall, ModelError
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
        calls: the seat and the statistics of every answer of a language model since `begin`, by row of the tables.
        faulty: the rows of the tables at which the safe action was played since `begin`.
        unplayed: the rows at which nobody was asked any more: the time was over, or there is a `problem`.
        failing: the requests in a row that failed.
        problem: why the endpoint is asked no more; None: it is.
    """

    def __init__(self, game: Game, make: Callable[[], Agent], parallel: int = 1) -> None:
        self.game, self.parallel = game, parallel
        self._make, self.failing = make, 0
        self.problem: str | None = None
        self.begin()

    def begin(self, until: float = math.inf) -> None:
        """Begin new matches at all tables; nobody is asked after the time `until` of `time.monotonic`."""
        self.faulty, self.unplayed = set[int](), set[int]()
        self.calls = defaultdict[int, list[tuple[int, ModelCall]]](list)
        self._until = until
        self._agents: dict[tuple[int, int], Agent] = {}

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
            async with turns:
                if self.problem is not None or time.monotonic() >= self._until:
                    self.unplayed.add(row)
                    return None
                return await self._answer(row, seat, state)

        return await asyncio.gather(*(respond(row) for row in rows.tolist()))

    async def _answer(self, row: int, seat: int, state: TurnState) -> AgentResponse | None:
        """Return an agent's answer; None: there is none."""
        if (row, seat) not in self._agents:
            agent = self._agents[row, seat] = self._make()
            if isinstance(agent, LLMAgent):
                agent.on_call = lambda call: self.calls[row].append((seat, call))
        agent = self._agents[row, seat]
        if not isinstance(agent, LLMAgent):
            return agent.respond(state)
        try:
            async with asyncio.timeout_at(None if self._until == math.inf else self._until):
                response = await agent.answer(state)
        except TimeoutError:
            self.unplayed.add(row)
            return None
        except ModelError as error:
            self.failing = self.failing + 1 if error.fault in ("failed", "late") else 0
            if self.failing >= FAILURES + self.parallel:
                self.problem = str(error)
            return None
        self.failing = 0
        return response

    def _index(self, table: Any, row: int, response: AgentResponse | None, mask: NDArray[np.int8]) -> int:
        view = self.game.view
        if response is not None:
            move = view.parse(table, response.action)
            index = -1 if isinstance(move, ActionResult) else int(view.nearest(table, move))
            if index >= 0 and mask[index]:
                return index
            if self.calls[row]:
                call = self.calls[row][-1][1]
                call.problem = "the game refuses the action"
                call.faults.append("illegal")
        self.faulty.add(row)
        return int(view.safe(table))
