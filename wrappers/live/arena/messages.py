"""The wire types of a TurnState arena beyond TurnState itself, and how foreign types and names are read.

The calls are those of turnstate-notes.md, Matches: the arena posts TurnState to ``{endpoint}/act`` and gets an
`AgentResponse`; ``/match_start`` and ``/match_end`` tell of the match; ``POST {arena}/api/register`` seats an agent.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Annotated, Any

import msgspec
import numpy as np

from ....envs.core.game import Game
from ....envs.core.turn_state import Action, AgentResponse, AllowedAction, Message, MessageIntent, TurnState, Wire

ANSWER_WITHIN = 30.0
"""Seconds that an arena gives an agent for its turn."""
ANSWER_LIMIT = 2**19
"""Bytes an answer may have: ten messages of 4,000 characters fit, however they are escaped."""
GAMES = {"unfair-split": "bargaining", "first-price-auction": "auction"}
"""The platforms' names for games of ours."""

AgentId = Annotated[str, msgspec.Meta(min_length=1, max_length=64, pattern=r"^[^\x00-\x1f\x7f]+\Z")]


class Register(Wire):
    """The body of ``POST /api/register``: where an agent is found. Other fields are the platform's own."""

    agent_id: AgentId
    endpoint: Annotated[str, msgspec.Meta(max_length=500, pattern=r"^https?://[^\s/?#]+[^\s?#]*\Z")]


class MatchStart(Wire):
    """The body of ``POST {endpoint}/match_start``; the agents are in the order of their seats."""

    match_id: str
    game_id: str
    agent_ids: list[str]


class MatchEnd(Wire):
    """The body of ``POST {endpoint}/match_end``."""

    match_id: str
    outcome: dict[str, Any] | None = None


FIELDS = ("action", "messages", "action_type", "payload", "scope", "content", "to_agent_ids")
"""The fields of an answer, by which an object of a foreign type is read."""


def plain(value: Any) -> Any:
    """Return an answer of any kind as plain data: dicts, pydantic models, dataclasses, structs, like-named attributes.

    What is none of these comes back as it is, for validation to refuse.
    """
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, msgspec.Struct):
        return msgspec.to_builtins(value)
    if hasattr(value, "model_dump"):
        return plain(value.model_dump())
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    found = {name: getattr(value, name) for name in FIELDS if hasattr(value, name)}
    return {name: plain(part) for name, part in found.items()} if found else value


def read_response(answer: Any) -> AgentResponse:
    """Read plain data as an answer; a bare action is one without messages.

    Raises:
        ValueError, TypeError, RecursionError: saying what does not fit.
    """
    if isinstance(answer, Mapping) and "action_type" in answer:
        return AgentResponse(Action.from_dict(answer))
    return AgentResponse.from_dict(answer)


def read_state(state: Any) -> TurnState:
    """Read a TurnState of any kind: ours, a dict, a pydantic model, a dataclass, an object with its attributes.

    Raises:
        ValueError, TypeError: naming the field that does not fit.
    """
    if isinstance(state, TurnState):
        return state
    if not isinstance(state, Mapping) and not hasattr(state, "model_dump") and not is_dataclass(state):
        state = {name: getattr(state, name) for name in TurnState.__struct_fields__ if hasattr(state, name)}
    # Some send null for what they leave out.
    return TurnState.from_dict({name: part for name, part in _foreign(state).items() if part is not None})


def _foreign(value: Any) -> Any:
    """Return the parts of a foreign TurnState as plain data; their classes have all their attributes in `__dict__`."""
    if isinstance(value, (list, tuple)):
        return [_foreign(part) for part in value]
    if isinstance(value, Mapping):
        return {key: _foreign(part) for key, part in value.items()}
    if isinstance(value, (str, int, float, Enum, msgspec.Struct)) or value is None:
        return plain(value)
    return _foreign(plain(value) if hasattr(value, "model_dump") or is_dataclass(value) else vars(value))


def native(state: TurnState) -> TurnState:
    """Return a platform's TurnState with our game's name and fields (turnstate-notes.md: the two-bidder auction)."""
    if state.game_id in GAMES:
        state = msgspec.structs.replace(state, game_id=GAMES[state.game_id])
    if state.game_id.startswith("auction") and "opponents_with_bid" not in state.game_state:
        state = msgspec.structs.replace(state, game_state=_two_bidders(state))
    return state


def _two_bidders(state: TurnState) -> dict[str, Any]:
    game = state.game_state
    others = ["opponent"] if game.get("opponent_has_bid") else []
    history = [row for row in game.get("action_history") or () if isinstance(row, Mapping) and "round" in row]
    for row in history:
        if row["agent_id"] != state.agent_id:
            others = [row["agent_id"]] if others else []
    bids = len(others) + (game.get("my_bid") is not None)
    return {
        "num_bidders": 2,
        "num_bids_submitted": bids,
        **game,
        "opponents_with_bid": others,
        "action_history": history,
    }


TREE = frozenset((str, dict, list))
"""The types of plain data in which a name may stand."""


class Names:
    """The agents' ids in an arena ◄─► the names of an environment's seats.

    Whatever is exactly a name is renamed, wherever it stands in a TurnState, but for what people wrote. In the words of
    an action of ours (its ``text``) every seat is renamed; in those of others nothing, but the game hears both names.

    Args:
        agent_ids: seat by seat; none of them may be a word of the game (see `words`).
        seats: the environment's names, as many.
    """

    def __init__(self, agent_ids: Sequence[str], seats: Sequence[str]) -> None:
        self.out = dict(zip(seats, agent_ids, strict=True))
        self.back = dict(zip(agent_ids, seats, strict=True))
        self._outward, self._inward = _Renaming(self.out), _Renaming(self.back)
        self._seat = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(seats, key=len, reverse=True)))})(?!\w)")

    def outward(self, state: TurnState) -> TurnState:
        """Return the environment's TurnState with the arena's ids: a copy, which the agent may do with as it likes."""
        return self._outward.state(state)

    def inward(self, state: TurnState) -> TurnState:
        """Return the arena's TurnState with the seats' names."""
        return self._inward.state(state)

    def response_outward(self, response: AgentResponse) -> AgentResponse:
        """Return an answer that names seats with the arena's ids."""
        return self.named_outward(self.spoken_outward(response))

    def named_outward(self, response: AgentResponse) -> AgentResponse:
        """Return an answer that names seats with the arena's ids, but for its words."""
        return self._outward.response(response)

    def spoken_outward(self, response: AgentResponse) -> AgentResponse:
        """Return an answer whose words name seats with the arena's ids, but for the rest of it."""
        action = response.action
        text = action.payload.get("text")
        if not isinstance(text, str):
            return response
        said = {**action.payload, "text": self.words_outward(text)}
        return AgentResponse(Action(action.action_type, said), response.messages)

    def words_outward(self, words: str) -> str:
        """Return words in which seats are spoken of, with the arena's ids instead."""
        return self._seat.sub(lambda found: self.out[found[0]], words)

    def response_inward(self, response: AgentResponse) -> AgentResponse:
        """Return an answer that names agents with the seats' names."""
        return self._inward.response(response)

    def intent_inward(self, intent: MessageIntent) -> MessageIntent:
        """Return a message to agents as one to seats."""
        return self._inward.intent(intent)

    def strangers(self, intents: Sequence[MessageIntent]) -> list[str]:
        """Return the recipients that are no agents of the match."""
        return [reader for intent in intents for reader in intent.to_agent_ids or () if reader not in self.back]


class _Renaming:
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
        words = {"text": payload["text"]} if "text" in payload else {}
        named = self._data({key: part for key, part in payload.items() if key != "text"})
        return AgentResponse(Action(kind, named | words), [self.intent(intent) for intent in response.messages])

    def _data(self, value: Any) -> Any:
        """Return a copy of plain data."""
        if isinstance(value, str):
            return self._names.get(value, value)
        if isinstance(value, dict):
            name, data = self._names.get, self._data
            return {name(key, key): data(part) if type(part) in TREE else part for key, part in value.items()}
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


def words(game: Game) -> frozenset[str]:
    """Return the words that the game's TurnStates use, which are no agents' ids: they could not be told apart."""
    found = {"pass", "message_only", *game.view.action_spaces}
    generator, table = np.random.default_rng(0), game.tables(1)[0]
    for _ in range(20):
        table.stream = generator.integers(0, 2**63)
        game.rules.reset(table)
        while not table.done:
            _collect(game.turn_state(table, int(table.turn)), found)
            game.rules.play(table, int(generator.choice(game.mask(table, int(table.turn)).nonzero()[0])))
        for seat in range(game.seats):
            _collect(game.turn_state(table, seat), found)
    return frozenset(found - set(game.agents))


def _collect(state: TurnState, found: set[str]) -> None:
    stack: list[Any] = [state.game_state, state.outcome, [allowed.payload_schema for allowed in state.allowed_actions]]
    while stack:
        part = stack.pop()
        if isinstance(part, str):
            found.add(part)
        elif isinstance(part, dict):
            found.update(part)
            stack.extend(part.values())
        elif isinstance(part, list):
            stack.extend(part)
