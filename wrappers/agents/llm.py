"""LLMAgent: a language model as an agent (the extra `llm`)."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from ...envs.core.game import Game
from ...envs.core.turn_state import Action, AgentResponse, AllowedAction, MessageIntent, MessageScope, TurnState
from .answers import last_action, spoken
from .base import Agent
from .language_model import Model, library, logger
from .model_calls import ModelCall, ModelError, ModelStatistics
from .prompt import Chat, Prompting
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
        instructions: additional text of the system prompt.
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
        instructions: str = "",
        talks: bool = True,
    ) -> None:
        library()
        self.model = model
        self.fallback = fallback
        self.replaced = 0
        self.statistics = ModelStatistics()
        prompting = prompting or Prompting()
        self.prompting = replace(prompting, instructions=f"{prompting.instructions} {instructions}".strip())
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
        messages = [MessageIntent(MessageScope.PUBLIC, said[:300])] if isinstance(said, str) and said.strip() else []
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
