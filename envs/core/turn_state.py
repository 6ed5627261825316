"""The types of the TurnState protocol: what an agent sees each turn, and what it answers.

The protocol is that of agent-colosseum (https://github.com/March-08/agent-colosseum, "Type Reference") and Strategic
Agent Games (https://github.com/saskia-jungen/strategic-agent-games). Every game makes a `TurnState` and takes an
`AgentResponse`; policies, people and live bridges use these types for all games. Every type converts both ways with
`to_dict`/`from_dict` and `to_json`/`from_json`. Reading ignores unknown fields and fills in the documented defaults.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from math import ceil, isfinite, log10
from reprlib import repr
from typing import Any, Self, TypeVar

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


T = TypeVar("T")


class GameState(Wire):
    """What a seat sees of one game. A game's own type names the fields, each with its type and what it is `about`.

    A field that is left out where it is empty has the type ``… | UnsetType`` and the default `msgspec.UNSET`. Any other
    default is what is read where a host leaves the field out.
    """

    @classmethod
    def of(cls, state: TurnState) -> Self:
        """Read the `game_state` of a TurnState. Unknown fields are ignored; numbers may be text, or whole floats; null
        may stand for a field that may be left out.

        Raises:
            ValueError: if a field is missing or holds what cannot be; the error names it.
        """
        try:
            return msgspec.convert(state.game_state, cls, strict=False)
        except msgspec.ValidationError as error:
            first = error
        for nulls in (True, False):
            with suppress(msgspec.ValidationError):
                return msgspec.convert(_tidy(state.game_state, nulls), cls, strict=False)
        raise first


def or_else(value: T | msgspec.UnsetType, otherwise: T) -> T:
    """Return the value of a field, or `otherwise` where it was left out."""
    return otherwise if isinstance(value, msgspec.UnsetType) else value


def about(meaning: str) -> msgspec.Meta:
    """Return the description of a field for JSON Schema and the pages: ``pot: Annotated[int, about("in chips")]``."""
    return msgspec.Meta(description=meaning)


def _tidy(value: Any, nulls: bool) -> Any:
    """Return plain data with whole floats as integers, and without `nulls` in objects."""
    match value:
        case float() if value.is_integer():
            return int(value)
        case dict():
            return {key: _tidy(part, nulls) for key, part in value.items() if nulls or part is not None}
        case list() | tuple():
            return [_tidy(part, nulls) for part in value]
    return value


def as_dict(game_state: GameState | dict[str, Any]) -> dict[str, Any]:
    """Return the `game_state` of a view as plain dicts and lists; a view without a type returns such a dict."""
    return game_state.to_dict() if isinstance(game_state, GameState) else game_state


MOST_POWER = 3
"""A highest number that is larger by a higher power of ten is a mere formality, and no size."""
ROUNDING = 1e-9


def amount(value: Any, name: str) -> float:
    """Return a finite number; text that holds one is read.

    Raises:
        ValueError: naming the field, if it holds anything else.
    """
    try:
        number = float("nan") if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if not isfinite(number):
        raise ValueError(f"{name} is {value!r:.80}, which is no number")
    return number


def moves_in(history: Any, kinds: Container[str], phase: str) -> list[Mapping[str, Any]]:
    """Return the rows of an ``action_history`` that are moves of the game.

    A host may add rows of other kinds (``message_only``), rows that did not move the turn (``advances_turn`` is
    false), and rows of another phase of its match. None of them is a move here.

    Args:
        history: the list; None or anything else holds no rows.
        kinds: the values of ``action`` that are moves.
        phase: of the match; rows that name another one are left out.
    """
    if not isinstance(history, list):
        return []
    return [
        row
        for row in history
        if isinstance(row, Mapping)
        and isinstance(row.get("agent_id"), str)
        and isinstance(row.get("action"), str)
        and row["action"] in kinds
        and row.get("advances_turn") is not False
        and row.get("phase", phase) == phase
    ]


def round_of(row: Mapping[str, Any]) -> int:
    """Return the round of a row, counted from 0 or from 1 as in the row; −1 if there is none that can be."""
    number = row.get("round")
    return number if isinstance(number, int) and 0 <= number < 2**30 else -1


def named_order(state: TurnState) -> list[str]:
    """Return the agents in seat order, if the host sends it as ``agent_ids``; else an empty list."""
    order = state.game_state.get("agent_ids")
    if isinstance(order, list) and state.agent_id in order and all(isinstance(one, str) for one in order):
        return order
    return []


def own_turns_left(state: TurnState, seats: int) -> int | None:
    """Return the number of the agent's turns until the host ends the match, this one included; None: it does not say.

    A host may end a match after ``max_rounds`` turns of all agents together, and count this one as ``current_round``,
    from 1. A game ends without a result there, however many turns its own rules would allow.

    Args:
        state: the state, in a turn of the agent.
        seats: the number of agents, if the state tells neither ``num_agents`` nor ``agent_ids``.
    """
    game = state.game_state
    current, most = game.get("current_round"), game.get("max_rounds")
    if not state.is_my_turn or current is None or most is None:
        return None
    count = game.get("num_agents")
    agents = count if isinstance(count, int) and count > 0 else len(named_order(state)) or seats
    left = amount(most, "max_rounds") - amount(current, "current_round") + 1
    return max(1, ceil(left / agents))


def offered_size(state: TurnState, numbers: Mapping[str, tuple[str, float]]) -> float | None:
    """Return the power of ten by which the amounts that are offered are larger than a game's own; None: it is not told.

    Args:
        state: the state; a host may offer a part of the range, so that only the power counts.
        numbers: by action type the key of its number, and the highest one of the game's own size.
    """
    for offer in state.allowed_actions:
        key, highest = numbers.get(offer.action_type, ("", 0.0))
        schema = offer.payload_schema
        properties = schema.get("properties", schema)
        part = properties.get(key) if isinstance(properties, Mapping) else None
        most = part.get("maximum") if isinstance(part, Mapping) else None
        if isinstance(most, int | float) and isfinite(most) and most > 0 and highest > 0:
            power = round(log10(most / highest))
            return 10.0**power if abs(power) <= MOST_POWER else None
    return None


def fitting_size(state: TurnState, size: float | None, largest: float, step: float) -> float:
    """Return the power of ten by which a host's amounts are larger than a game's own, so that those of a state fit.

    Args:
        state: the state.
        size: by what was offered (`offered_size`).
        largest: the largest amount of the state, as a share of the highest one of the game's own size.
        step: the least step between amounts, as such a share.
    """
    share = largest / (size or 1.0)
    if share > 1 + ROUNDING or (size is None and state.allowed_actions and 0 < share < step):
        return (size or 1.0) * 10.0 ** ceil(log10(share) - ROUNDING)
    return size or 1.0


def payoffs_in(state: TurnState) -> list[tuple[str, float]]:
    """Return the agents with their utilities, as the outcome lists them."""
    rows = (state.outcome or {}).get("payoffs")
    return [
        (row["agent_id"], amount(row.get("utility", 0.0), "utility"))
        for row in (rows if isinstance(rows, list) else ())
        if isinstance(row, Mapping) and isinstance(row.get("agent_id"), str)
    ]
