"""Action index ◄─► move ◄─► payload: `play` and `finish` of TangramCollaborativeAI."""

from collections.abc import Sequence
from math import isfinite
from reprlib import repr
from typing import Any

import msgspec
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from ..core import turn_state as ts
from ..core.turn_state import NOTHING, Action, ActionResult, AgentResponse, AllowedAction
from ..core.view import ActionGrid, ActionRange
from .forms import FIRST
from .lattice import BOARD, PERIODS, PIECES
from .rules import Placement, decode, normal
from .table import FINISH, PLACES, PLAY
from .view import TangramState

TYPES = ("play", "finish", "message_only")
TURNS = 1_000_000_000.0
"""The largest rotation in degrees, in both directions."""
COORDINATE = {"type": "number", "minimum": 0, "maximum": BOARD}
PLAY_SCHEMA = ts.payload_schema(
    {
        "shape": {"type": "string", "enum": list(PIECES)},
        "position": {"type": "array", "items": COORDINATE, "minItems": 2, "maxItems": 2},
        "rotation": {"type": "number", "minimum": -TURNS, "maximum": TURNS},
    }
)


class Play(msgspec.Struct, forbid_unknown_fields=True):
    """The payload of `play`."""

    shape: str
    position: tuple[float, float]
    rotation: float


class Shape(spaces.Text):
    """The space of pieces' names."""

    def __init__(self) -> None:
        super().__init__(max(map(len, PIECES)), min_length=min(map(len, PIECES)))

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """Return the name of a random piece."""
        return PIECES[int(self.np_random.integers(len(PIECES)))]

    def contains(self, x: Any) -> bool:
        """Return True if `x` is the name of a piece."""
        return isinstance(x, str) and x in PIECES


def action_spaces() -> dict[str, spaces.Dict]:
    """Return every action type with the space of its payload."""
    position = spaces.Box(0.0, BOARD, (2,), np.float64)
    play = spaces.Dict({"shape": Shape(), "position": position, "rotation": spaces.Box(-TURNS, TURNS, (), np.float64)})
    return {"play": play, "finish": spaces.Dict({}), "message_only": spaces.Dict({})}


ACTION_RANGES = (
    *(
        ActionRange(
            int(FIRST[piece]), int(FIRST[piece + 1]), ("play",), f"{name} into the focus, by each of its corners"
        )
        for piece, name in enumerate(PIECES)
    ),
    ActionRange(PLACES, PLACES + 1, ("finish",), "end the turn"),
)
"""The action ranges."""


def allowed(game_state: TangramState, seat: int, phase: str) -> list[AllowedAction]:
    """Return the legal actions of the acting seat."""
    return [
        AllowedAction(
            "play",
            f"put a piece with its centre at a position (0 to {BOARD:g}, y upwards), turned clockwise by degrees; "
            f"another piece played in this turn goes back; plays left: {game_state.plays_left}",
            PLAY_SCHEMA,
        ),
        AllowedAction("finish", "end the turn; a piece that collides goes back and the turn is skipped", NOTHING),
        AllowedAction("message_only", "send messages and decide later in this turn", NOTHING),
    ]


def encode(table: Any, action: int) -> AgentResponse:
    """Return the payload of a legal action index."""
    move = decode(table, action)
    if move.kind == FINISH:
        return AgentResponse(Action("finish"))
    payload = {
        "shape": PIECES[int(move.piece)],
        "position": [float(move.x), float(move.y)],
        "rotation": float(move.rotation),
    }
    return AgentResponse(Action("play", payload))


def parse(table: Any, action: Action) -> Placement | ActionResult:
    """Return the exact move of a payload, or a refusal that names the right values."""
    if action.action_type == "play":
        return _parse_play(action.payload)
    if action.action_type != "finish":
        return ts.unknown_action(action, TYPES)
    if action.payload:
        return ts.unwanted_payload(action)
    return Placement(FINISH, 0, 0.0, 0.0, 0.0)


def _parse_play(payload: dict[str, Any]) -> Placement | ActionResult:
    try:
        play = msgspec.convert(payload, Play)
    except (msgspec.ValidationError, OverflowError) as error:
        wanted = "{'shape': name, 'position': [x, y], 'rotation': degrees}"
        return ts.refused(ts.INVALID_PAYLOAD, f"play needs {wanted}: {error}")
    if play.shape not in PIECES:
        return ts.refused(ts.INVALID_PAYLOAD, f"shape {repr(play.shape)} is none of {', '.join(PIECES)}")
    if not all(0 <= one <= BOARD for one in play.position):
        there = "({}, {})".format(*play.position)
        return ts.refused(ts.INVALID_PAYLOAD, f"position {there} is off the board: both numbers are 0 to {BOARD:g}")
    if not isfinite(play.rotation) or abs(play.rotation) > TURNS:
        return ts.refused(ts.INVALID_PAYLOAD, f"rotation {play.rotation} is not allowed: give degrees up to {TURNS:g}")
    x, y = (one + 0.0 for one in play.position)  # no −0
    return Placement(PLAY, PIECES.index(play.shape), x, y, normal(play.rotation))


def nearest(table: Any, move: Placement) -> int:
    """Return the action index of `move`, or the nearest one that plays the same piece.

    A quarter turn has the same weight as ten board units. Legal places come before illegal ones.
    """
    if move.kind == FINISH:
        return PLACES
    places = [place for place in range(PLACES) if decode(table, place).piece == move.piece]
    return min(places, key=lambda place: _distance(table, place, move))


def _distance(table: Any, place: int, move: Placement) -> tuple[bool, float]:
    other = decode(table, place)
    period = float(PERIODS[move.piece])
    turned = abs(other.rotation - move.rotation) % period
    away = float(np.hypot(other.x - move.x, other.y - move.y)) + min(turned, period - turned) / 9.0
    return not int(table.open) >> place & 1, away


CELLS = 50
"""The number of grid steps across the board, in x and in y."""
_CELL = BOARD / CELLS
_ROTATIONS = 8


def _grid_legal(table: Any) -> tuple[NDArray[np.int8], ...]:
    """Return the masks: every piece and `finish`, the columns and rows of the figure, and every rotation are legal."""
    vertices = table.outline[: table.ends[-1]]
    lines = _CELL * np.arange(CELLS + 1)
    low, high = vertices.min(0) - _CELL / 2, vertices.max(0) + _CELL / 2
    columns, rows = (((low[axis] <= lines) & (lines <= high[axis])).astype(np.int8) for axis in range(2))
    return np.ones(len(PIECES) + 1, np.int8), columns, rows, np.ones(_ROTATIONS, np.int8)


def _grid_decode(table: Any, values: Sequence[int]) -> Placement:
    """Return the move of a piece, a column, a row and a rotation; the value after the pieces is `finish`."""
    piece, column, row, step = values
    if piece == len(PIECES):
        return Placement(FINISH, 0, 0.0, 0.0, 0.0)
    return Placement(PLAY, piece, _CELL * column, _CELL * row, 360.0 / _ROTATIONS * step)


GRID = ActionGrid((len(PIECES) + 1, CELLS + 1, CELLS + 1, _ROTATIONS), _grid_legal, _grid_decode)
"""Piece or finish, column, row, rotation; lines of the grid are 2 board units apart, from 0 to 100."""


def safe(table: Any) -> int:
    """Return the action index of the safe action: finish."""
    return PLACES
