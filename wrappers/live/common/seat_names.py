"""Translation between the agents' ids in an arena and the names of a game's seats."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ....envs.core.turn_state import Action, AgentResponse, AllowedAction, Message, MessageIntent, TurnState

_NESTED = frozenset((str, dict, list))
"""The types of plain data that may contain a name."""


class SeatNames:
    """Translates between the names of a game's seats and the ids of the agents in them.

    Every text of a TurnState that is exactly a name is translated, except in what agents wrote. In the ``text`` of an
    action of our own agent every name inside the text is translated; the ``text`` of other agents is not changed.

    Args:
        agent_ids: seat by seat; none of them may be a word of the game (see `Game.words`).
        seats: the game's names, in the same order.

    Attributes:
        agent_of: agent ids by seat name.
        seat_of: seat names by agent id.
    """

    def __init__(self, agent_ids: Sequence[str], seats: Sequence[str]) -> None:
        self.agent_of = dict(zip(seats, agent_ids, strict=True))
        self.seat_of = dict(zip(agent_ids, seats, strict=True))
        self._to_agents, self._to_seats = _Translation(self.agent_of), _Translation(self.seat_of)
        self._seat = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(seats, key=len, reverse=True)))})(?!\w)")

    def state_for_agents(self, state: TurnState) -> TurnState:
        """Return the game's TurnState with the agents' ids: a copy, which the agent may change."""
        return self._to_agents.state(state)

    def state_for_game(self, state: TurnState) -> TurnState:
        """Return the arena's TurnState with the seats' names."""
        return self._to_seats.state(state)

    def response_for_agents(self, response: AgentResponse) -> AgentResponse:
        """Return an answer of our agent with the agents' ids, also inside its text."""
        return self.payload_for_agents(self.text_for_agents(response))

    def payload_for_agents(self, response: AgentResponse) -> AgentResponse:
        """Return an answer with the agents' ids; its text is not changed."""
        return self._to_agents.response(response)

    def text_for_agents(self, response: AgentResponse) -> AgentResponse:
        """Return an answer with the agents' ids inside its text; the rest keeps the seats' names."""
        action = response.action
        text = action.payload.get("text")
        if not isinstance(text, str):
            return response
        payload = {**action.payload, "text": self.words_for_agents(text)}
        return AgentResponse(Action(action.action_type, payload), response.messages)

    def words_for_agents(self, words: str) -> str:
        """Return a text with the seats' names replaced by the agents' ids."""
        return self._seat.sub(lambda found: self.agent_of[found[0]], words)

    def response_for_game(self, response: AgentResponse) -> AgentResponse:
        """Return an answer of an agent with the seats' names."""
        return self._to_seats.response(response)

    def intent_for_game(self, intent: MessageIntent) -> MessageIntent:
        """Return a message with the seats' names of its recipients."""
        return self._to_seats.intent(intent)

    def without_strangers(self, intents: Sequence[MessageIntent]) -> list[MessageIntent]:
        """Return messages without the recipients that are not in the match."""
        return [
            MessageIntent(
                intent.scope,
                intent.content,
                intent.to_agent_ids and [reader for reader in intent.to_agent_ids if reader in self.seat_of],
            )
            for intent in intents
        ]


class _Translation:
    """The translation in one direction."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def state(self, state: TurnState) -> TurnState:
        name = self._names.get
        return TurnState(
            state.match_id,
            state.game_id,
            name(state.agent_id, state.agent_id),
            state.phase,
            state.is_my_turn,
            self._data(state.current_turn_agent_id),
            self._data(state.game_state),
            [self._message(message) for message in state.messages],
            [AllowedAction(a.action_type, a.description, self._data(a.payload_schema)) for a in state.allowed_actions],
            state.game_over,
            self._data(state.outcome),
        )

    def response(self, response: AgentResponse) -> AgentResponse:
        kind, payload = response.action.action_type, response.action.payload
        text = {"text": payload["text"]} if "text" in payload else {}
        named = self._data({key: part for key, part in payload.items() if key != "text"})
        return AgentResponse(Action(kind, named | text), [self.intent(intent) for intent in response.messages])

    def _data(self, value: Any) -> Any:
        """Return a copy of plain data."""
        if isinstance(value, str):
            return self._names.get(value, value)
        if isinstance(value, dict):
            name, data = self._names.get, self._data
            return {name(key, key): data(part) if type(part) in _NESTED else part for key, part in value.items()}
        return [self._data(part) for part in value] if isinstance(value, list) else value

    def intent(self, intent: MessageIntent) -> MessageIntent:
        readers = intent.to_agent_ids
        return MessageIntent(intent.scope, intent.content, readers and [self._names.get(one, one) for one in readers])

    def _message(self, message: Message) -> Message:
        name = self._names.get
        readers = [name(reader, reader) for reader in message.to_agent_ids or ()]
        return Message(
            message.message_id,
            name(message.sender_id, message.sender_id),
            message.scope,
            message.content,
            readers,
            message.timestamp_ns,
        )
