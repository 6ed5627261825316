"""The prompt of a language model: a TurnState as a conversation."""

import json
from collections.abc import Mapping, Sequence

from ...envs.core.turn_state import TurnState

Chat = Sequence[Mapping[str, str]]
"""Messages of a conversation: ``{"role": "system" | "user" | "assistant", "content": …}``."""


def chat_of(state: TurnState, instructions: str = "", messages: int = 30) -> Chat:
    """Return the conversation that asks for an action: a system prompt, and the state as JSON.

    Args:
        state: the agent's TurnState.
        instructions: the end of the system prompt.
        messages: number of latest messages of the match in the prompt.
    """
    system = (
        f"You are {state.agent_id} in a game of {state.game_id}. You see the state as JSON and choose one of the "
        f"allowed actions. {instructions}"
    )
    offers = [
        {"action_type": offer.action_type, "description": offer.description, "payload": offer.payload_schema}
        for offer in state.allowed_actions
    ]
    seen = {
        "phase": state.phase,
        "game_state": state.game_state,
        "messages": [f"{m.sender_id}: {m.content[:500]}" for m in state.messages[-messages:]],
        "allowed_actions": offers,
    }
    return [{"role": "system", "content": system}, {"role": "user", "content": json.dumps(seen, default=str)}]
