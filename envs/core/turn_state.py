"""The types of the TurnState protocol (turnstate.md): what an agent sees each turn, and what it answers.

They are the narrow waist of Parlour: every game shows itself as a `TurnState` and takes an `AgentResponse`; every
policy, person and live bridge stands on the other side. Every type converts both ways with `to_dict`/`from_dict` and
`to_json`/`from_json`; reading ignores unknown fields and fills documented defaults.
"""

from enum import StrEnum
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
"""Every code that `ActionResult.error` may hold (turnstate-notes.md, Types)."""


MESSAGES_PER_TURN = 10
"""Messages an agent may send in one turn (turnstate-notes.md, Matches)."""
MESSAGE_LENGTH = 4_000
"""Characters a message may have."""


class Wire(msgspec.Struct, kw_only=False):
    """A type that travels: plain dicts and JSON both ways."""

    def to_dict(self) -> dict[str, Any]:
        """Return this as plain dicts, lists, strings and numbers."""
        return msgspec.to_builtins(self)  # type: ignore[no-any-return]

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """Read from a dict (or an object with the same attributes).

        Raises:
            msgspec.ValidationError: naming the field that does not fit.
        """
        return msgspec.convert(data, cls, from_attributes=True)

    def to_json(self) -> bytes:
        """Return this as UTF-8 JSON."""
        return msgspec.json.encode(self)

    @classmethod
    def from_json(cls, data: bytes | str) -> Self:
        """Read from JSON.

        Raises:
            msgspec.DecodeError: if `data` is not JSON (its subclass ValidationError: if a field does not fit).
        """
        return msgspec.json.decode(data, type=cls)


class MessageScope(StrEnum):
    """Who reads a message."""

    PUBLIC = "public"
    PRIVATE = "private"


class Message(Wire):
    """A delivered message. `timestamp_ns` is null where no clock is kept (environments keep none)."""

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
    """The environment's answer to an action: ok, or an error code of `ERROR_CODES` and a sentence for people."""

    ok: bool
    error: str | None = None
    error_detail: str | None = None


NOTHING: dict[str, Any] = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
"""The JSON schema of an empty payload."""


class AllowedAction(Wire):
    """An available action, with the JSON schema of its payload (bounds are those of this very turn)."""

    action_type: str
    description: str = ""
    payload_schema: dict[str, Any] = {}

    def __post_init__(self) -> None:
        """Take a copy of the schema: games give out constants, and who gets this may change it."""
        self.payload_schema = msgspec.to_builtins(self.payload_schema)


class TurnState(Wire):
    """What an agent sees. Fields and meaning are those of turnstate.md, in its order."""

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
    """Return the result of a refused action: one of `ERROR_CODES`, and what was wrong and would be right."""
    # A detail quotes what was sent: without half characters, which no JSON can carry, and not the whole of it.
    return ActionResult(ok=False, error=error, error_detail=detail.encode(errors="replace").decode()[:500])
