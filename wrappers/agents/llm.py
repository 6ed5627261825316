"""LLMAgent: a language model as an agent (the extra `llm`). AgentsAsPolicy: agents as one policy, for evaluations."""

import asyncio
import math
import time
from collections import defaultdict
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...envs import Action, AgentResponse, AllowedAction, Game, TurnState
from ...envs.core import turn_state as ts
from .answers import last_action, spoken
from .base import Agent
from .language_model import Model, ModelCall, ModelError, ModelStatistics, library, logger
from .prompt import Chat, Prompting, decisions_only
from .schemas import violation

WAIT_SHARE = 0.9
"""The share of the time for an answer after which the model is waited for no longer."""

Finished = TypeVar("Finished")


def finished(work: Coroutine[Any, Any, Finished]) -> Finished:
    """Run `work` to its end; in another thread if this one has a running event loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


def statistics_of(agents: Mapping[str, Any]) -> dict[str, ModelStatistics]:
    """Return what the answers of the language models among `agents` came to, by the names of these."""
    return {name: one.statistics for name, one in agents.items() if isinstance(one, LLMAgent)}


class LLMAgent:
    """A language model that answers TurnStates of any game.

    Args:
        model: the language model.
        fallback: the agent that answers if the model fails, such as a bot's `PolicyAgent`; None: the error is raised.
        prompting: how it is asked: rules in words, prompts, the form of the state.
        talks: whether the model may send a message with its action. Set it to False in games that have actions for
            messages.

    Attributes:
        replaced: number of turns that `fallback` answered.
        statistics: illegal, unparsable, late and refused answers, tokens, time and cost.
        on_turn: called with every state before it is answered; None: no call.
        on_call: called with the statistics of every answer; None: no call.

    Raises:
        ImportError: if the extra `llm` is not installed.
    """

    def __init__(
        self,
        model: Model,
        fallback: Agent | None,
        *,
        prompting: Prompting | None = None,
        talks: bool = True,
    ) -> None:
        library()
        self.model = model
        self.fallback = fallback
        self.replaced = 0
        self.statistics = ModelStatistics()
        self.prompting = prompting or Prompting()
        self.on_turn: Callable[[TurnState], None] | None = None
        self.on_call: Callable[[ModelCall], None] | None = None
        self._talks = talks
        self._seconds: float | None = None
        self._match = ""
        self._past: list[Mapping[str, str]] = []  # the turns of this match, and the answers

    def begin(self) -> None:
        """Forget the turns of the match before. A TurnState of another match does the same."""
        self._past = []

    @property
    def game(self) -> Game | None:
        """The game whose rules the model is told; None: none."""
        return self.prompting.game

    def set_seconds_left(self, seconds: float | None) -> None:
        """Wait for the next answer at most `WAIT_SHARE` of the seconds left; None: only the model's timeout counts."""
        self._seconds = None if seconds is None else max(WAIT_SHARE * seconds, 0.001)

    def respond(self, state: TurnState) -> AgentResponse:
        """Answer a turn. It blocks until the model has answered, also inside a running event loop (of a notebook).

        A connection is used for one call; `answer` keeps connections while its event loop runs.

        Raises:
            ModelError: if the model fails, and there is no fallback.
        """
        try:
            return finished(self.answer(state))
        except ModelError as error:
            if self.fallback is None:
                raise
            self.replaced += 1
            logger.warning("match %s: the fallback answers: %s", state.match_id, error)
            return self.fallback.respond(state)

    async def answer(self, state: TurnState) -> AgentResponse:
        """Answer a turn.

        Raises:
            ModelError: if the model fails.
        """
        if self.on_turn is not None:
            self.on_turn(state)
        state = self.prompting.shown(state)
        if state.match_id != self._match:
            self._match = state.match_id
            self.begin()
        chat, call = self.prompting.chat(state, self._past), ModelCall()
        try:
            response = await self.ask(state, chat, call)
        finally:
            self.statistics.count(call, self.model.prices)
            if self.on_call is not None:
                self.on_call(call)
        if self.prompting.conversation:
            self._past += [chat[-1], {"role": "assistant", "content": spoken(call.text)}]
            del self._past[: -2 * self.prompting.turns]
        return response

    async def ask(self, state: TurnState, chat: Chat, call: ModelCall) -> AgentResponse:
        """Answer a conversation about a turn, and keep nothing of it.

        Args:
            state: the TurnState, as the model is shown it.
            chat: the conversation.
            call: the statistics, which are filled in.

        Raises:
            ModelError: if the model fails.
        """
        offers = {offer.action_type: offer for offer in state.allowed_actions}
        if not offers:
            raise ModelError(f"{state.agent_id} has no legal action")

        def fits(answer: Any) -> None:
            if answer["action_type"] not in offers:
                listed = f"one of {', '.join(offers)}" if self.prompting.legal else "legal now"
                raise ValueError(f"action_type must be {listed}")
            if problem := violation(answer["payload"], offers[answer["action_type"]].payload_schema):
                raise ValueError(problem if self.prompting.legal else "the payload is not legal now")

        seconds = self.model.timeout if self._seconds is None else min(self.model.timeout, self._seconds)
        schema, read = self._schema(state.allowed_actions), partial(last_action, offers=state.allowed_actions)
        answer = await replace(self.model, timeout=seconds).choose(chat, schema, read, fits, call)
        said = answer.get("say") if self._talks else None
        messages = (
            [ts.MessageIntent(ts.MessageScope.PUBLIC, said[:300])] if isinstance(said, str) and said.strip() else []
        )
        action = self.prompting.action(Action(answer["action_type"], answer["payload"]))
        return AgentResponse(action, messages)

    def _schema(self, offers: Sequence[AllowedAction]) -> dict[str, Any]:
        """Return the JSON schema of an answer. It does not tell the legal actions where the prompt does not."""
        words = {"say": {"type": "string", "maxLength": 300}} if self._talks else {}
        kinds: list[tuple[dict[str, Any], dict[str, Any]]] = [({"type": "string"}, {"type": "object"})]
        if self.prompting.legal:
            kinds = [({"type": "string", "enum": [one.action_type]}, one.payload_schema) for one in offers]
        variants = [
            {
                "type": "object",
                "properties": {"action_type": name, "payload": payload, **words},
                "required": ["action_type", "payload"],
                "additionalProperties": False,
            }
            for name, payload in kinds
        ]
        return {"anyOf": variants}


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
        turns = asyncio.Semaphore(self.parallel)

        async def index(row: int, mask: NDArray[np.int8]) -> int:
            seat = int(tables[row].turn)
            state = decisions_only(self.game.turn_state(tables[row], seat, match_id=f"{row}"))
            async with turns:
                over = self.problem is not None or time.monotonic() >= self._until
                response = None if over else await self._answer(row, seat, state)
            if over:
                self.unplayed.add(row)
            return self._index(tables[row], row, response, mask)

        async def indices() -> list[int]:
            return await asyncio.gather(*(index(row, mask) for row, mask in zip(rows.tolist(), masks, strict=True)))

        return np.array(finished(indices()), np.int64)

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
            index = -1 if isinstance(move, ts.ActionResult) else int(view.nearest(table, move))
            if index >= 0 and mask[index]:
                return index
            if self.calls[row]:
                call = self.calls[row][-1][1]
                call.problem = "the game refuses the action"
                call.faults.append("illegal")
        self.faulty.add(row)
        return int(view.safe(table))
