"""The messages of the tangram game (TangramCollaborativeAI), both directions, as structs tagged by ``type``.

We send the form of the game's documentation, or on request the Godot game's own form. We read both: vectors as
``[x, y]``, ``"(x, y)"`` or ``{"x": …, "y": …}``, pieces nested or in a list, missing vertices, timestamps as numbers,
unknown fields.

`BoardPiece.position` is the origin of a piece, as in `Play`. The Godot game's nested form has another point,
the marker `VCenter`, which is converted in both directions.
"""

import math
import re
from contextlib import suppress
from reprlib import repr
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from ....envs.tangram.lattice import BOARD, PIECES, RASTER
from ....envs.tangram.view import BoardPiece, DrawerPiece
from ...logs.match_log import escaped
from ..common.player import Unknown, decoded

BOUNDARY = "BOUNDARY"
"""The entry of a piece's `collisions` for the edge of the board."""
MESSAGE_LIMIT = 4 * 2**20
"""Most bytes of a message of the game, the size of its outbound buffer."""
FARTHEST = 1e9
"""Largest coordinate of a position in board units; a larger one is refused."""

Dialect: TypeAlias = Literal["documented", "godot"]
"""The forms that `encode` writes: the documented one, and that of the Godot game."""
Vector: TypeAlias = tuple[float, float]
Timestamp: TypeAlias = str | float | None


# Parts of messages.


class State(Struct, kw_only=True):
    """The pieces on the board and in the drawer, by name."""

    on_board: dict[str, BoardPiece]
    off_board: dict[str, DrawerPiece]


# From the game.


class _Message(Struct, kw_only=True, tag_field="type"):
    timestamp: Timestamp = None


class _Board(_Message, kw_only=True):
    """The objective and the board. Images are base64 PNG and are not decoded."""

    objective: str = ""
    state: State
    board_img: str | None = None
    drawer_img: str | None = None


class PlayRequest(_Board, tag="playRequest"):
    """The start of the agent's turn."""


class PlayFeedback(_Board, tag="playFeedback"):
    """The board after a play."""


class ChatRequest(_Board, kw_only=True, tag="chatRequest"):
    """A message of the player, and the board; None if it cannot be read, because the message needs an answer anyway."""

    message: str
    state: State | None = None  # type: ignore[assignment]


# From the agent.


class Play(_Message, kw_only=True, tag="play"):
    """A play: the position of a piece's centre, and its rotation in degrees."""

    shape: str
    position: Vector
    rotation: float


class Finish(_Message, tag="finish"):
    """The end of the agent's turn."""


class Chat(_Message, kw_only=True, tag="chat"):
    """A chat message of the agent."""

    message: str


# From both.


class Error(_Message, kw_only=True, tag="error"):
    """The answer to a message that cannot be read or played."""

    message: str


GameMessage: TypeAlias = PlayRequest | PlayFeedback | ChatRequest | Error
AgentMessage: TypeAlias = Play | Finish | Chat | Error

_encoder = msgspec.json.Encoder()


def encode(message: GameMessage | AgentMessage, dialect: Dialect = "documented") -> str:
    """Return the message as JSON text."""
    if dialect == "godot" and isinstance(message, (PlayRequest, PlayFeedback, ChatRequest)):
        fields = msgspec.to_builtins(message)
        fields["state"] = message.state and _as_godot(message.state)
        return _encoder.encode(fields).decode()
    return _encoder.encode(message).decode()


def decode_game(data: Any) -> GameMessage | Unknown:
    """Return the message of a game from text, bytes, or parsed JSON. Never raises; see `Unknown`."""
    message: GameMessage | Unknown = decoded(data, lambda fields: msgspec.convert(_documented(fields), GameMessage))
    return message


def decode_agent(data: Any) -> AgentMessage | Unknown:
    """Return the message of an agent from text, bytes, or parsed JSON. Never raises; see `Unknown`."""
    message: AgentMessage | Unknown = decoded(data, lambda fields: msgspec.convert(_documented(fields), AgentMessage))
    return message


# Reading.


def _documented(fields: Any) -> dict[str, Any]:
    """Return a message of any dialect in the documented form."""
    if not isinstance(fields, dict):
        raise ValueError(f"a message is an object, not {_short(fields)}")
    readable = {key: value for key, value in fields.items() if value is not None and _readable(key, value)}
    match fields.get("type"):
        case "playRequest" | "playFeedback":
            readable["state"] = _state(fields.get("state"))
        case "chatRequest":
            with suppress(ValueError):
                readable["state"] = _state(readable.pop("state", None))
        case "play":
            readable["position"] = _vector(fields.get("position"), "position")
            readable["rotation"] = _number(fields.get("rotation"), "rotation")
    return readable


def _readable(key: str, value: Any) -> bool:
    """Return True if the value of an optional field can be read."""
    if key == "timestamp":
        return isinstance(value, (str, float)) or (isinstance(value, int) and abs(value) < 2**63)
    return key not in ("objective", "board_img", "drawer_img") or isinstance(value, str)


def _state(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict) or not ("on_board" in value or "off_board" in value):
        raise ValueError(f"state must hold on_board and off_board, not {_short(value)}")
    on_board = {name: _board_piece(name, piece) for name, piece in _pieces(value, "on_board")}
    off_board = {name: _drawer_piece(piece) for name, piece in _pieces(value, "off_board") if name not in on_board}
    return {"on_board": on_board, "off_board": off_board}


def _pieces(state: dict[str, Any], where: str) -> list[tuple[str, dict[str, Any]]]:
    pieces = state.get(where)
    pieces = {} if pieces in (None, []) else pieces
    if not isinstance(pieces, dict):
        raise ValueError(f"{where} must be an object of pieces, not {_short(pieces)}")
    named = []
    for name, piece in pieces.items():
        if name not in PIECES:
            raise ValueError(f"{where} holds {_short(name)}, which is none of {', '.join(PIECES)}")
        if isinstance(piece, list) and len(piece) == 1:  # documented as object[]
            piece = piece[0]
        if not isinstance(piece, dict):
            raise ValueError(f"{where}.{name} must be an object, not {_short(piece)}")
        named.append((name, piece))
    return named


def _board_piece(name: str, piece: dict[str, Any]) -> dict[str, Any]:
    position = piece.get("position")
    nested: dict[str, Any] = position if isinstance(position, dict) and "position" in position else {}
    piece = {**piece, **nested}
    place = _vector(piece.get("position"), f"{name}.position")
    rotation = _number(piece.get("rotation"), f"{name}.rotation")
    collisions = piece.get("collisions")
    named = [name for name in collisions if isinstance(name, str)] if isinstance(collisions, list) else []
    return {
        "position": _marker(name, place, rotation, -1) if nested else place,
        "vertices": _vectors(piece.get("vertices")),
        "rotation": rotation,
        # A name that is no piece is a boundary.
        "collisions": list(dict.fromkeys(name if name in PIECES else BOUNDARY for name in named)),
    }


def _drawer_piece(piece: dict[str, Any]) -> dict[str, Any]:
    turned = 0.0
    with suppress(ValueError):  # the rotation in the drawer is not used
        turned = _number(piece.get("rotation"), "rotation")
    return {"vertices": _vectors(piece.get("vertices")), "rotation": turned}


def _vectors(value: Any) -> list[Vector]:
    """Return the vertices; [] if they cannot be read, because they follow from position and rotation."""
    values = list(value.values()) if isinstance(value, dict) else value
    if not isinstance(values, list) or len(values) > 16:
        return []
    with suppress(ValueError):
        return [_vector(vertex, "a vertex") for vertex in values]
    return []


_TEXT = re.compile(r"\s*(?:Vector2)?\s*\(([^,()]{1,40}),([^,()]{1,40})\)\s*", re.ASCII)


def _vector(value: Any, what: str) -> Vector:
    match value:
        case [x, y]:
            pass
        case {"x": x, "y": y}:
            pass
        case str() if (text := _TEXT.fullmatch(value[:100])) is not None:
            x, y = text[1], text[2]
        case _:
            raise ValueError(f"{what} must be two numbers, as [x, y], not {_short(value)}")
    x, y = _number(x, what), _number(y, what)
    if max(abs(x), abs(y)) > FARTHEST:
        raise ValueError(f"{what} must be near the board, which is 0 to 100 both ways, not {_short(value)}")
    return x, y


def _number(value: Any, what: str) -> float:
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{what} must be a finite number, not {_short(value)}")
    return number


def _short(value: Any) -> str:
    try:
        return escaped(repr(value), 80)
    except (ValueError, RecursionError):  # Python converts no integer of more than 4,300 digits
        return f"such a {type(value).__name__}"


# Writing the Godot game's dialect.


def _as_godot(state: State) -> dict[str, Any]:
    on_board = {
        name: {
            "position": {
                "position": _text(_marker(name, piece.position, piece.rotation, 1)),
                "vertices": list(map(_text, piece.vertices)),
            },
            "rotation": round(piece.rotation, 2),
            "collisions": piece.collisions,
        }
        for name, piece in state.on_board.items()
    }
    off_board = {name: {"rotation": piece.rotation} for name, piece in state.off_board.items()}
    return {"on_board": on_board, "off_board": off_board}


_MARKERS = {"Red": (-0.625, 10.0), "Cream": (0.0, 8.125), "Blue": (7.51301, 3.09359)}
# From a piece's origin to its marker at rotation 0, in units of the game's scene, 0.4 pixels, y downwards.


def _marker(name: str, point: Vector, rotation: float, way: int) -> Vector:
    """Return a piece's marker from its origin (way 1), or its origin from its marker (way -1)."""
    right, down = _MARKERS.get(name, (0.0, 0.0))
    cosine, sine = math.cos(math.radians(rotation % 360.0)), math.sin(math.radians(rotation % 360.0))
    wide, high = (way * BOARD * 0.4 / pixels for pixels in RASTER)
    return point[0] + wide * (right * cosine - down * sine), point[1] - high * (right * sine + down * cosine)


def _text(vector: Vector) -> str:
    """Return a vector as Godot's text: six significant digits."""
    return f"({vector[0]:.6g}, {vector[1]:.6g})"
