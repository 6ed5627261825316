"""The type of tangram's `game_state`, which simulated and live games build and `load` reads."""

from typing import Annotated, Any

from msgspec import UNSET, Struct, UnsetType, field

from ..core.game_state import GameState, about

Vector = tuple[float, float]
"""x and y in board units."""


def vector(x: float, y: float) -> Any:
    """Return a `Vector` as JSON has it, which a `game_state` shows: a list."""
    return [x, y]


class BoardPiece(Struct, kw_only=True):
    """A piece on the board."""

    position: Annotated[Vector, about("of its centre")]
    vertices: list[Vector] = []
    rotation: Annotated[float, about("in degrees")] = 0.0
    collisions: Annotated[list[str], about("the pieces that it overlaps, and BOUNDARY")] = []


class DrawerPiece(Struct, kw_only=True):
    """A piece in the drawer."""

    vertices: Annotated[list[Vector], about("relative to its centre")] = []
    rotation: Annotated[float, about("in degrees")] = 0.0


class Place(Struct):
    """Where a piece was."""

    position: Vector
    rotation: Annotated[float, about("in degrees")] = 0.0


class Moved(Struct):
    """The piece that was played in this turn."""

    shape: str
    origin: Annotated[Place | None, about("null: it came from the drawer")] = field(default=None, name="from")


class TangramState(GameState, kw_only=True):
    """The board, which all seats see as a whole.

    The fields are those of ``state`` in TangramCollaborativeAI's messages, and more.
    """

    objective: Annotated[str, about("the figure in words")] = ""
    on_board: Annotated[dict[str, BoardPiece], about("by name")] = field(default_factory=dict)
    off_board: Annotated[dict[str, DrawerPiece], about("by name")] = field(default_factory=dict)
    silhouette: Annotated[
        list[list[Vector]] | UnsetType, about("its outline: outer rings counter-clockwise, holes clockwise")
    ] = UNSET
    iou: Annotated[float, about("intersection over union of pieces and silhouette when the turn began")] = 0.0
    turn_number: Annotated[int, about("from 1")] = 1
    turns: Annotated[int | UnsetType, about("of the game")] = UNSET
    plays_left: Annotated[int | UnsetType, about("in this turn")] = UNSET
    passes: Annotated[int, about("turns skipped in a row")] = 0
    moved: Moved | None = None
    board_img: Annotated[str | UnsetType, about("with the option `images`: base64 PNG")] = UNSET
    drawer_img: Annotated[str | UnsetType, about("the same of the drawer")] = UNSET
