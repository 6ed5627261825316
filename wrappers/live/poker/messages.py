"""The messages of the poker platform (moltpoker), both directions, as structs tagged by ``type``.

Attributes have Python's names, the wire has the platform's (``to_call`` travels as ``toCall``). What we send is the
agent format of the platform's protocol: a field with a default travels only where it differs from the default. What we
read may have unknown fields, lack the optional ones, hold null for them, or come in the platform's envelope ``{type,
table_id, seq, ts, payload}``.
"""

from contextlib import suppress
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from ..common.player import Unknown, decoded

REAL_MONEY = "REAL_MONEY"
"""Our own code, for a table that plays for real money without our leave."""
ERROR_CODES = (
    OUTDATED_CLIENT := "OUTDATED_CLIENT",
    INVALID_ACTION := "INVALID_ACTION",
    NOT_YOUR_TURN := "NOT_YOUR_TURN",
    STALE_SEQ := "STALE_SEQ",
    UNAUTHORIZED := "UNAUTHORIZED",
    TABLE_FULL := "TABLE_FULL",
    TABLE_NOT_FOUND := "TABLE_NOT_FOUND",
    INVALID_TABLE_STATE := "INVALID_TABLE_STATE",
    TABLE_ENDED := "TABLE_ENDED",
    NOT_SEATED := "NOT_SEATED",
    SESSION_EXPIRED := "SESSION_EXPIRED",
    INVALID_SESSION := "INVALID_SESSION",
    ALREADY_SEATED := "ALREADY_SEATED",
    INTERNAL_ERROR := "INTERNAL_ERROR",
    VALIDATION_ERROR := "VALIDATION_ERROR",
    RATE_LIMIT_EXCEEDED := "RATE_LIMIT_EXCEEDED",
    AGENT_NOT_FOUND := "AGENT_NOT_FOUND",
    INVALID_API_KEY := "INVALID_API_KEY",
)
"""Every code that an `Error` may hold."""

FATAL_CODES = (UNAUTHORIZED, INVALID_SESSION, SESSION_EXPIRED, TABLE_NOT_FOUND, TABLE_ENDED)
"""The codes after which reconnecting is of no use."""

ENDS = {
    "admin_stopped": "the server stopped the table",
    "insufficient_players": "fewer than two players with chips are at the table",
    "game_complete": "the game is over",
    "ended": "the table has ended",
    "closed": "the server closed the connection without a word",
    "busted": "no chips are left",
    "stalled": "nothing was heard of the table for a long time",
    "hands": "as many as were asked for",
    "until": "the time has come",
}
"""Why play at a table ends, in words; a server may have more words of its own."""


def in_words(reason: str) -> str:
    """Return why play ended, as the server or the agent names it, with words.

    >>> in_words("busted")
    'busted (no chips are left)'
    """
    return f"{reason} ({ENDS[reason]})" if reason in ENDS else reason


Whole = Annotated[int, Meta(ge=0, lt=2**53)]
"""A whole, non-negative number, such as chips, a seat, a sequence number."""

Phase: TypeAlias = Literal["waiting", "preflop", "flop", "turn", "river", "showdown", "ended"]
"""Where a hand is."""


# Parts of messages.


class Player(Struct, omit_defaults=True, kw_only=True):
    """A seat in `GameState.players`; ``cards`` only of the receiver's own."""

    seat: Whole
    name: str | UnsetType | None = UNSET  # null travels
    stack: Whole
    bet: Whole
    cards: list[str] | None = None
    folded: bool | None = False
    all_in: bool | None = field(default=False, name="allIn")


class Last(Struct, omit_defaults=True, kw_only=True):
    """The latest action of the hand; ``amount`` of a call or raise."""

    seat: Whole
    kind: str
    amount: Whole | None = None


class Option(Struct, omit_defaults=True, kw_only=True):
    """An action that is open to the receiver now; ``min`` and ``max`` of a raiseTo."""

    kind: str
    min: Whole | None = None
    max: Whole | None = None


class Result(Struct, omit_defaults=True, kw_only=True):
    """A seat in `HandComplete.results`; ``cards`` and ``rank`` only of hands shown."""

    seat: Whole
    cards: list[str] | None = None
    rank: str | None = None
    won: Whole


class FinalStack(Struct, omit_defaults=True, kw_only=True):
    """A seat's chips when the table ended."""

    seat_id: Whole
    agent_id: str | None
    stack: Whole


class Choice(Struct, omit_defaults=True, kw_only=True):
    """The action of an `Action` message: one of the offered kinds; ``amount`` (total of the bet) of a raiseTo.

    ``reasoning`` is what an agent may say of it to those who run the table; the other players never see it.
    """

    turn_token: str
    kind: Literal["fold", "check", "call", "raiseTo"]
    amount: Whole | None = None
    reasoning: Annotated[str, Meta(max_length=2000)] | None = None


class Timestamp(Struct, omit_defaults=True, kw_only=True):
    """Milliseconds since 1970."""

    timestamp: float | int


# Server messages.


class Welcome(Struct, omit_defaults=True, kw_only=True, tag_field="type", tag="welcome"):
    """The receiver's seat; ``timeout`` is the time to act, in milliseconds.

    ``real_money``, and the ``deposit_status`` of the receiver, come from tables that play for real money.
    """

    seat: Whole
    agent_id: str | None = None
    timeout: Whole | None = None
    real_money: bool | None = None
    deposit_status: str | None = None


class GameState(Struct, omit_defaults=True, kw_only=True, tag_field="type", tag="game_state"):
    """The table as the receiver sees it; ``actions`` and ``turn_token`` only when it is its turn."""

    seq: Whole
    hand: Whole
    phase: Phase
    board: list[str]
    pot: Whole
    players: list[Player]
    dealer: Annotated[int, Meta(ge=-1, lt=2**53)] | None = None  # -1: before the first hand
    turn: Whole | UnsetType | None = UNSET  # null travels, and so does a 0 to call
    last: Last | None = None
    actions: list[Option] | None = None
    to_call: Whole | UnsetType | None = field(default=UNSET, name="toCall")
    turn_token: str | None = None


class Ack(Struct, omit_defaults=True, kw_only=True, tag_field="type", tag="ack"):
    """The action with this token was accepted."""

    turn_token: str
    seq: Whole


class Error(Struct, omit_defaults=True, kw_only=True, tag_field="type", tag="error"):
    """A refusal: one of `ERROR_CODES` and a sentence."""

    code: str
    message: str = ""


class HandComplete(Struct, omit_defaults=True, kw_only=True, tag_field="type", tag="hand_complete"):
    """The end of a hand."""

    hand: Whole
    results: list[Result]
    showdown: bool


class TableStatus(Struct, omit_defaults=True, kw_only=True, tag_field="type", tag="table_status"):
    """The table's status: ``waiting``, ``ended`` (with ``reason`` and ``final_stacks``), or the platform's others."""

    status: str
    seat_id: Whole | None = None
    agent_id: str | None = None
    min_players_to_start: Whole | None = None
    current_players: Whole | None = None
    reason: str | None = None
    final_stacks: list[FinalStack] | None = None
    real_money: bool | None = None


class DepositConfirmed(Struct, omit_defaults=True, kw_only=True, tag_field="type", tag="deposit_confirmed"):
    """A seat's deposit has arrived, at a table that plays for real money."""

    amount_usdc: float | None = None


class PayoutInitiated(Struct, omit_defaults=True, kw_only=True, tag_field="type", tag="payout_initiated"):
    """What a seat has won is being paid, by a table that played for real money."""

    amount_usdc: float | None = None
    status: str | None = None


class PlayerJoined(Struct, omit_defaults=True, kw_only=True, tag_field="type", tag="player_joined"):
    """An agent took a seat."""

    seat_id: Whole = field(name="seatId")
    agent_name: str | None = field(default=None, name="agentName")
    stack: Whole | None = None
    agent_id: str | None = field(default=None, name="agentId")


class PlayerLeft(Struct, omit_defaults=True, kw_only=True, tag_field="type", tag="player_left"):
    """An agent left its seat."""

    seat_id: Whole = field(name="seatId")
    agent_id: str | None = field(default=None, name="agentId")


class Pong(Struct, omit_defaults=True, kw_only=True, tag_field="type", tag="pong"):
    """The answer to a `Ping`."""

    payload: Timestamp | None = None


# Client messages.


class Action(Struct, omit_defaults=True, kw_only=True, tag_field="type", tag="action"):
    """The sender's action; ``expected_seq`` is the seq of the state in which it was chosen."""

    action: Choice
    expected_seq: Whole | None = None


class Ping(Struct, omit_defaults=True, kw_only=True, tag_field="type", tag="ping"):
    """Keeps the connection alive."""

    payload: Timestamp | None = None


class OfferedKind(Struct):
    """All that an `UnreadTurn` knows of an offer."""

    kind: str


class UnreadTurn(Struct, tag_field="type", tag="game_state"):
    """What an answer needs of a `GameState` that could not be read whole. `hand`, `seq`, `turn`: None if unreadable."""

    turn_token: str
    actions: list[OfferedKind]
    hand: Any = None
    seq: Any = None
    turn: Any = None
    reason: str = ""


ServerMessage: TypeAlias = (
    Welcome
    | GameState
    | Ack
    | Error
    | HandComplete
    | TableStatus
    | DepositConfirmed
    | PayoutInitiated
    | PlayerJoined
    | PlayerLeft
    | Pong
)
ClientMessage: TypeAlias = Action | Ping

PROTOCOL_VERSION = "0.1"
"""The version that both ends speak, and the least that they accept."""

_encoder = msgspec.json.Encoder()


def encode(message: ServerMessage | ClientMessage) -> str:
    """Return the message as the JSON text that travels."""
    return _encoder.encode(message).decode()


def decode_server(data: Any) -> ServerMessage | UnreadTurn | Unknown:
    """Read what a server sent: text, bytes, or parsed JSON. Never raises; see `UnreadTurn` and `Unknown`."""
    message: ServerMessage | Unknown = _decode(data, ServerMessage, tolerant=ServerMessage)
    if not isinstance(message, Unknown) or message.type != "game_state":
        return message
    turn: UnreadTurn | Unknown = _decode(data, UnreadTurn)
    if isinstance(turn, Unknown):
        return message
    hand, seq, seat = (_whole(value) for value in (turn.hand, turn.seq, turn.turn))
    return UnreadTurn(turn.turn_token, turn.actions, hand, seq, seat, message.reason)


def decode_client(data: Any) -> ClientMessage | Unknown:
    """Read what a client sent: text, bytes, or parsed JSON. Never raises; see `Unknown`."""
    return _decode(data, ClientMessage)  # type: ignore[no-any-return]


def _decode(data: Any, kind: Any, tolerant: Any = Any) -> Any:
    def convert(fields: Any) -> Any:
        fields = _unwrapped(fields)
        try:
            return msgspec.convert(fields, kind)
        except msgspec.ValidationError:
            return msgspec.convert(_repaired(fields, tolerant), kind)

    return decoded(data, convert)


def _whole(value: Any) -> int | None:
    with suppress(msgspec.ValidationError, RecursionError):
        return msgspec.convert(_repaired(value), Whole)
    return None


def _repaired(value: Any, kind: Any = Any) -> Any:
    """Return parsed JSON as it fits a type better: whole floats are integers (JSON has one kind of number), and fields
    that may be missing are left out where they hold null or what cannot be read, such as a bound of -1.
    """
    kinds = (kind, *get_args(kind))
    if isinstance(value, list):
        item = next((get_args(one)[0] for one in kinds if get_origin(one) is list), Any)
        return [_repaired(part, item) for part in value]
    if not isinstance(value, dict):
        return int(value) if isinstance(value, float) and value.is_integer() else value
    structs = [one for one in kinds if isinstance(one, type) and issubclass(one, Struct)]
    struct = next((one for one in structs if len(structs) == 1 or one.__struct_config__.tag == value.get("type")), None)
    types = {} if struct is None else {field.encode_name: field for field in msgspec.structs.fields(struct)}
    fields = {}
    for name, part in value.items():
        field = types.get(name)
        part = _repaired(part, Any if field is None else field.type)
        if part is not None and (field is None or field.required or _fits(part, field.type)):
            fields[name] = part
    return fields


def _fits(value: Any, kind: Any) -> bool:
    kinds = [one for one in get_args(kind) if one is not UnsetType] or [kind]
    with suppress(msgspec.ValidationError):
        msgspec.convert(value, Union[tuple(kinds)] if UnsetType in get_args(kind) else kind)  # noqa: UP007
        return True
    return False


def _unwrapped(fields: Any) -> Any:
    """Take the fields out of the platform's envelope, where `seq` may stand outside. A ping's payload is its own."""
    if not isinstance(fields, dict) or fields.get("type") in ("ping", "pong"):
        return fields
    payload = fields.get("payload")
    if not isinstance(payload, dict) or "type" not in fields:
        return fields
    outside = {"seq": fields["seq"]} if "seq" in fields else {}
    return {**outside, **payload, "type": fields["type"]}
