"""Agent: an object that answers TurnStates, such as a policy, a person or a language model.

`SeatNames` translates TurnStates and answers between the names of a game's seats and the ids of the agents in them.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from msgspec.structs import replace

from ...envs.core.turn_state import Action, AgentResponse, MessageIntent, TurnState

SEARCH_SHARE = 0.5
"""The share of the time for an answer that a search takes: the rest is for what lies around it."""


@runtime_checkable
class Agent(Protocol):
    """Plays one seat of one match at a time.

    An agent that plans may have a method ``set_seconds_left(seconds)``: it is called before `respond` with the time
    left for the answer, or None if there is no limit.
    """

    def respond(self, state: TurnState) -> AgentResponse:
        """Answer a turn; called only if ``state.is_my_turn``."""


def search_seconds(most: float | None, left: float | None, share: float = SEARCH_SHARE) -> float | None:
    """Return the time limit of a search in seconds: at most `most`, and this share of the rest; None: no limit."""
    limits = (most, None if left is None else share * left)
    return min((limit for limit in limits if limit is not None), default=None)


def call_optional(owner: Any, method: str, *args: Any) -> Any:
    """Return the result of a method that an object may have; None if it has none."""
    call = getattr(owner, method, None)
    return call(*args) if callable(call) else None


def thoughts(agent: Agent) -> dict[str, Any]:
    """Return an agent's notes on its latest answer, for logs: ``agent.thoughts()`` if it has this method, else {}.

    Replays show these keys: ``probabilities`` (of every legal answer, as `sentence` writes it), ``value`` (the expected
    return, in `Payoffs.unit`), ``think`` (text).
    """
    return dict(call_optional(agent, "thoughts") or {})


def sentence(action: Action, written: Callable[[Any], str] | None = None) -> str:
    """Return an action as text: its type and the values of its payload that are not null.

    `written` converts a value to text; None: in full, and whole numbers without decimals.

    >>> sentence(Action("raiseTo", {"amount": 137}))
    'raiseTo 137'
    >>> sentence(Action("submit_offer", {"share": 96.0}))
    'submit_offer 96'
    """
    values = (value for value in action.payload.values() if value is not None)
    whole = (int(value) if isinstance(value, float) and value.is_integer() else value for value in values)
    return " ".join([action.action_type, *map(written or str, values if written else whole)])


def printable(text: str) -> str:
    """Return a text on one line, without control characters.

    >>> printable("Take\\nit \\x1b[2J")
    'Take it [2J'
    """
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


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
        for_agents: the translation for the agents.
        for_game: the translation for the game.
    """

    def __init__(self, agent_ids: Sequence[str], seats: Sequence[str]) -> None:
        self.agent_of = dict(zip(seats, agent_ids, strict=True))
        self.seat_of = dict(zip(agent_ids, seats, strict=True))
        self.for_agents, self.for_game = Translation(self.agent_of), Translation(self.seat_of)
        self._seat = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(seats, key=len, reverse=True)))})(?!\w)")

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

    def without_strangers(self, intents: Sequence[MessageIntent]) -> list[MessageIntent]:
        """Return messages without the recipients that are not in the match."""
        known = self.seat_of
        return [
            replace(one, to_agent_ids=one.to_agent_ids and [reader for reader in one.to_agent_ids if reader in known])
            for one in intents
        ]


class Translation:
    """The translation in one direction. The ``text`` of an action is not changed."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def state(self, state: TurnState) -> TurnState:
        """Return a translated copy of a state, which an agent may change."""
        return replace(
            state,
            agent_id=self._data(state.agent_id),
            current_turn_agent_id=self._data(state.current_turn_agent_id),
            game_state=self._data(state.game_state),
            messages=[
                replace(one, sender_id=self._data(one.sender_id), to_agent_ids=self._data(list(one.to_agent_ids or ())))
                for one in state.messages
            ],
            allowed_actions=[replace(a, payload_schema=self._data(a.payload_schema)) for a in state.allowed_actions],
            outcome=self._data(state.outcome),
        )

    def response(self, response: AgentResponse) -> AgentResponse:
        """Return a translated answer."""
        payload = response.action.payload
        named = self._data({key: part for key, part in payload.items() if key != "text"})
        named |= {"text": payload["text"]} if "text" in payload else {}
        return AgentResponse(Action(response.action.action_type, named), self.intents(response.messages))

    def intents(self, intents: Sequence[MessageIntent]) -> list[MessageIntent]:
        """Return messages to the same recipients."""
        return [replace(one, to_agent_ids=self._data(one.to_agent_ids)) for one in intents]

    def _data(self, value: Any) -> Any:
        """Return a copy of plain data."""
        if isinstance(value, str):
            return self._names.get(value, value)
        if isinstance(value, dict):
            name, data = self._names.get, self._data
            return {name(key, key): data(part) if type(part) in _NESTED else part for key, part in value.items()}
        return [self._data(part) for part in value] if isinstance(value, list) else value
