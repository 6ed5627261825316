"""LLMAgent: a language model as an agent (``pip install 'parlour[llm]'``)."""

import asyncio
import json
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from ...envs.core.turn_state import Action, AgentResponse, MessageIntent, MessageScope, TurnState
from .base import Agent

if TYPE_CHECKING:
    pass
from .language_model import Chat, Model, ModelError, library, logger


def _finished(answer: Coroutine[Any, Any, AgentResponse]) -> AgentResponse:
    """Run `answer` to its end: in another thread where this one has a running event loop, which takes no second one."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(answer)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, answer).result()


class LLMAgent:
    """A language model that answers TurnStates of any game.

    Args:
        model: what answers.
        fallback: answers where the model does not, such as a bot's `PolicyAgent`; None: nothing does.
        instructions: what the model is told first, besides what it sees.
        talks: whether it may say something beside its action; not where the rules keep that for actions of their own.
        messages: how many messages of the match's chat it is shown, the latest ones.

    Attributes:
        replaced: turns that `fallback` answered.

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
        """Answer a turn. Blocks until the model has answered, a running event loop (of a notebook) included.

        Connections last for one call; `answer` keeps them as long as its event loop runs.

        Raises:
            ModelError: if the model does not answer, and there is no fallback.
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
            ModelError: if the model does not.
        """
        offers = {offer.action_type: offer for offer in state.allowed_actions}
        if not offers:
            raise ModelError(f"nothing is open to {state.agent_id}")
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

        answer = await self.model.choose(self._chat(state), {"anyOf": variants}, fits)
        said = answer.get("say") if self._talks else None
        messages = [MessageIntent(MessageScope.PUBLIC, said[:300])] if isinstance(said, str) and said.strip() else []
        return AgentResponse(Action(answer["action_type"], answer.get("payload", {})), messages)

    def _chat(self, state: TurnState) -> Chat:
        system = (
            f"You are {state.agent_id} in a game of {state.game_id}. You see the state as JSON and choose one of the "
            f"allowed actions. {self._instructions}"
        )
        offers = [
            {"action_type": offer.action_type, "description": offer.description, "payload": offer.payload_schema}
            for offer in state.allowed_actions
        ]
        seen = {
            "phase": state.phase,
            "game_state": state.game_state,
            "messages": [f"{m.sender_id}: {m.content[:500]}" for m in state.messages[-self._messages :]],
            "allowed_actions": offers,
        }
        return [{"role": "system", "content": system}, {"role": "user", "content": json.dumps(seen, default=str)}]
