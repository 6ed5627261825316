"""The types of the TurnState protocol: what an agent sees each turn, and what it answers.

The protocol is that of agent-colosseum (https://github.com/March-08/agent-colosseum, "Type Reference") and Strategic
Agent Games (https://github.com/saskia-jungen/strategic-agent-games). Every game makes a `TurnState` and takes an
`AgentResponse`; policies, people and live bridges use these types for all games. Every type converts both ways with
`to_dict`/`from_dict` and `to_json`/`from_json`. Reading ignores unknown fields and fills in the documented defaults.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from reprlib import repr
from typing import Any, Self

import msgspec

MATCH_NOT_FOUND = "match_not_found"
MATCH_NOT_RUNNING = "match_not_running"
NOT_YOUR_TURN = "not_your_turn"
INVALID_ACTION_TYPE = "invalid_action_type"
INVALID_PAYLOAD = "invalid_payload"
GAME_RULE_VIOLATION = "game_rule_violation"
AGENT_NOT_IN_MATCH = "agent_not_in_match"

ERROR_CODES = (
    MATCH_NOT_FOUND,
    MATCH_NOT_RUNNING,
    NOT_YOUR_TURN,
    INVALID_ACTION_TYPE,
    INVALID_PAYLOAD,
    GAME_RULE_VIOLATION,
    AGENT_NOT_IN_MATCH,
)
"""Every code that `ActionResult.error` may hold."""


MESSAGES_PER_TURN = 10
"""The most messages that an agent may send in one turn, as on the TurnState platforms."""
MESSAGE_LENGTH = 4_000
"""The most characters of a message."""


class Wire(msgspec.Struct, kw_only=False):
    """A type of the protocol, which converts to and from dicts and JSON."""

    def to_dict(self) -> dict[str, Any]:
        """Return the same content as plain dicts, lists, strings and numbers."""
        return msgspec.to_builtins(self)  # type: ignore[no-any-return]

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """Read from a dict (or an object with the same attributes).

        Raises:
            msgspec.ValidationError: if a field does not fit; the error names it.
        """
        return msgspec.convert(data, cls, from_attributes=True)

    def to_json(self) -> bytes:
        """Return the same content as UTF-8 JSON."""
        return msgspec.json.encode(self)

    @classmethod
    def from_json(cls, data: bytes | str) -> Self:
        """Read from JSON.

        Raises:
            msgspec.DecodeError: if `data` is not JSON (its subclass ValidationError: if a field does not fit).
        """
        return msgspec.json.decode(data, type=cls)


class MessageScope(StrEnum):
    """Who can read a message."""

    PUBLIC = "public"
    PRIVATE = "private"


class Message(Wire):
    """A delivered message. `timestamp_ns` is null without a clock; environments have no clock."""

    message_id: str
    sender_id: str
    scope: MessageScope
    content: str
    to_agent_ids: list[str] | None = []
    timestamp_ns: int | None = None


class MessageIntent(Wire):
    """A message to send; `to_agent_ids` names the readers of a private one (null, missing or a list)."""

    scope: MessageScope
    content: str
    to_agent_ids: list[str] | None = None


class Action(Wire):
    """A game action: its name and the action-specific data."""

    action_type: str
    payload: dict[str, Any] = {}


class AgentResponse(Wire):
    """What an agent returns: messages, delivered first, and then the action."""

    action: Action
    messages: list[MessageIntent] = []


class ActionResult(Wire):
    """The environment's answer to an action: ok, or an error code of `ERROR_CODES` and a sentence that explains it."""

    ok: bool
    error: str | None = None
    error_detail: str | None = None


def payload_schema(properties: Mapping[str, Any], required: Sequence[str] | None = None) -> dict[str, Any]:
    """Return the JSON schema of a payload with these properties and no others; None: all of them are required."""
    needed = list(properties if required is None else required)
    return {"type": "object", "properties": dict(properties), "required": needed, "additionalProperties": False}


NOTHING = payload_schema({})
"""The JSON schema of an empty payload."""


class AllowedAction(Wire):
    """A legal action type, with the JSON schema of its payload. The schema's bounds are those of this turn."""

    action_type: str
    description: str = ""
    payload_schema: dict[str, Any] = {}

    def __post_init__(self) -> None:
        """Copy the schema: games return constants, and the caller may change it."""
        self.payload_schema = msgspec.to_builtins(self.payload_schema)


class TurnState(Wire):
    """What an agent sees. The fields are those of the protocol, in its order."""

    match_id: str
    game_id: str
    agent_id: str
    phase: str
    is_my_turn: bool
    current_turn_agent_id: str | None = None
    game_state: dict[str, Any] = {}
    messages: list[Message] = []
    allowed_actions: list[AllowedAction] = []
    game_over: bool = False
    outcome: dict[str, Any] | None = None


def accepted() -> ActionResult:
    """Return the result of an accepted action."""
    return ActionResult(ok=True)


def refused(error: str, detail: str) -> ActionResult:
    """Return the result of a refused action: one of `ERROR_CODES`, and a sentence about it."""
    # The detail quotes what was sent: without lone surrogates, which JSON cannot hold, and at most 500 characters.
    return ActionResult(ok=False, error=error, error_detail=detail.encode(errors="replace").decode()[:500])


def unknown_action(action: Action, names: Iterable[str]) -> ActionResult:
    """Refuse an action whose type is none of `names`."""
    return refused(INVALID_ACTION_TYPE, f"{repr(action.action_type)} is not an action here: {', '.join(names)}")


def unwanted_payload(action: Action) -> ActionResult:
    """Refuse an action that takes no payload and has one."""
    return refused(INVALID_PAYLOAD, f"{action.action_type} takes no payload, got {repr(action.payload)}")
