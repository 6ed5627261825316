"""LLMAgent: a language model as an agent (the extra `llm`)."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ...envs.core.turn_state import Action, AgentResponse, MessageIntent, MessageScope, TurnState
from .base import Agent
from .language_model import Model, ModelError, library, logger
from .prompt import chat_of


def _finished(answer: Coroutine[Any, Any, AgentResponse]) -> AgentResponse:
    """Run `answer` to its end; in another thread if this one has a running event loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(answer)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, answer).result()


class LLMAgent:
    """A language model that answers TurnStates of any game.

    Args:
        model: the language model.
        fallback: the agent that answers if the model fails, such as a bot's `PolicyAgent`; None: the error is raised.
        instructions: additional text of the system prompt.
        talks: whether the model may send a message with its action. Set it to False in games that have actions for
            messages.
        messages: number of latest messages of the match in the prompt.

    Attributes:
        replaced: number of turns that `fallback` answered.

    Raises:
        ImportError: if the extra `llm` is not installed.
    """

    def __init__(
        self, model: Model, fallback: Agent | None, *, instructions: str = "", talks: bool = True, messages: int = 30
    ) -> None:
        library()
        self.model = model
        self.fallback = fallback
        self.replaced = 0
        self._instructions = instructions
        self._talks = talks
        self._messages = messages

    def respond(self, state: TurnState) -> AgentResponse:
        """Answer a turn. It blocks until the model has answered, also inside a running event loop (of a notebook).

        A connection is used for one call; `answer` keeps connections while its event loop runs.

        Raises:
            ModelError: if the model fails, and there is no fallback.
        """
        try:
            return _finished(self.answer(state))
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
        offers = {offer.action_type: offer for offer in state.allowed_actions}
        if not offers:
            raise ModelError(f"{state.agent_id} has no legal action")
        words = {"say": {"type": "string", "maxLength": 300}} if self._talks else {}
        variants = [
            {
                "type": "object",
                "properties": {
                    "action_type": {"type": "string", "enum": [name]},
                    "payload": offer.payload_schema,
                    **words,
                },
                "required": ["action_type", "payload"],
                "additionalProperties": False,
            }
            for name, offer in offers.items()
        ]

        def fits(answer: Any) -> None:
            if not isinstance(answer, dict) or answer.get("action_type") not in offers:
                raise ValueError(f"action_type must be one of {', '.join(offers)}")
            if not isinstance(answer.get("payload", {}), dict):
                raise ValueError("payload must be an object")

        answer = await self.model.choose(chat_of(state, self._instructions, self._messages), {"anyOf": variants}, fits)
        said = answer.get("say") if self._talks else None
        messages = [MessageIntent(MessageScope.PUBLIC, said[:300])] if isinstance(said, str) and said.strip() else []
        return AgentResponse(Action(answer["action_type"], answer.get("payload", {})), messages)
