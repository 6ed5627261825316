"""The messages between our page and a table of any TurnState game: one WebSocket, JSON tagged by ``type``.

States and actions have the TurnState types: `State` contains a `TurnState`, `Act` an `AgentResponse`, `Say` a
`MessageIntent`, `Result` an `ActionResult`. The other messages are about seats. A new client is an observer until it
takes a seat.
"""

from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from ....envs.core.capabilities import Forecast
from ....envs.core.turn_state import ActionResult, AgentResponse, MessageIntent, TurnState
from ..common.limits import ChosenToken

INVALID_TOKEN = "INVALID_TOKEN"
UNAUTHORIZED = "UNAUTHORIZED"
TABLE_FULL = "TABLE_FULL"
NAME_TAKEN = "NAME_TAKEN"
ALREADY_SEATED = "ALREADY_SEATED"
NOT_SEATED = "NOT_SEATED"
VALIDATION_ERROR = "VALIDATION_ERROR"
RATE_LIMIT_EXCEEDED = "RATE_LIMIT_EXCEEDED"
INTERNAL_ERROR = "INTERNAL_ERROR"


# From the page.


class Sit(Struct, kw_only=True, tag_field="type", tag="sit"):
    """Come back to the seat of `token`; if there is none, take one with a name, `seat` if it is free.

    The seat gets the token, or without one a token of the host's choice.
    """

    name: str | None = None
    seat: int | None = None
    token: ChosenToken | None = None
    access_token: str | None = None


class Stand(Struct, tag_field="type", tag="stand"):
    """Leave the seat and become an observer."""


class Act(Struct, kw_only=True, tag_field="type", tag="act"):
    """Answer the turn with this number."""

    turn: int
    response: AgentResponse


class Say(Struct, kw_only=True, tag_field="type", tag="say"):
    """Send a message, in turn or out of it."""

    intent: MessageIntent


class SitOut(Struct, tag_field="type", tag="sit_out"):
    """Be dealt no further hand (`out`), or again: in hold'em."""

    out: bool


class Again(Struct, tag_field="type", tag="again"):
    """Be ready for the next match."""


class Ping(Struct, tag_field="type", tag="ping"):
    """Keep the connection alive."""


ClientMessage: TypeAlias = Sit | Stand | Act | Say | SitOut | Again | Ping


# To the page.


class Place(Struct, kw_only=True):
    """A seat: its agent id in TurnState, the player's name (null: free), and whether the player is a program.

    `played` is who played there in the latest match. In hold'em a player may sit `out`, or be back and wait for the big
    blind.
    """

    seat: int
    agent_id: str
    name: str | None
    played: str | None = None
    program: bool
    connected: bool
    ready: bool
    out: bool = False
    waits: bool = False


class Seating(Struct, kw_only=True, tag_field="type", tag="seating"):
    """The players of all seats; `you` is the receiver's seat, and `watchers` is the number of those without a seat.

    `timeout` is the time for a turn in milliseconds.
    """

    game_id: str
    status: Literal["waiting", "running", "over"]
    match: int
    timeout: int
    seats: list[Place]
    you: int | None
    watchers: int


class Seated(Struct, kw_only=True, tag_field="type", tag="seated"):
    """The receiver has a seat, and the token to come back to it; `key` opens hands of hold'em with its own cards."""

    seat: int
    token: str
    key: str = ""


class Unseated(Struct, kw_only=True, tag_field="type", tag="unseated"):
    """The receiver has no seat any longer."""

    reason: Literal["stood", "replaced"]


class State(Struct, kw_only=True, tag_field="type", tag="state"):
    """The receiver's state, and the number of the current turn; `left` is the turn's time left, in milliseconds.

    `bank` is what `left` counts of the acting player's time bank. If the receiver may not know whose turn it is, the
    number is −1, `left` is null and `bank` 0. `pictures` are the state as SVG: the first for wide screens, the last for
    phones; none for a game whose page draws the table. `forecasts`: what the receiver's actions pay, in its turn.
    """

    turn: int
    turn_state: TurnState
    left: int | None = None
    bank: int = 0
    pictures: list[str | None] = []
    forecasts: list[Forecast] | None = None


class Result(Struct, kw_only=True, tag_field="type", tag="result"):
    """The answer to an `Act` (its turn) or a `Say` (null)."""

    turn: int | None
    result: ActionResult


class Error(Struct, kw_only=True, tag_field="type", tag="error"):
    """A refusal: a code of this module and a sentence."""

    code: str
    message: str


class Pong(Struct, kw_only=True, tag_field="type", tag="pong"):
    """The answer to a `Ping`, with the number of clients without a seat: they may come and go often."""

    watchers: int


ServerMessage: TypeAlias = Seating | Seated | Unseated | State | Result | Error | Pong

_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[ClientMessage] = msgspec.json.Decoder(ClientMessage)


def encode(message: ServerMessage) -> str:
    """Return the message as JSON."""
    return _encoder.encode(message).decode()


def decode(data: Any) -> ClientMessage | str:
    """Return a page's message, read from text or bytes; or a sentence about why it cannot be read. It never raises."""
    try:
        return _decoder.decode(data)
    except (msgspec.MsgspecError, ValueError, TypeError, RecursionError) as error:
        return str(error)[:200]
