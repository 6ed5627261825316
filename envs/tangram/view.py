"""Record ──► TurnState of a player, and back. Only the random stream is hidden."""

from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any

import numpy as np
from msgspec import UNSET, Struct, UnsetType, field
from numpy.typing import NDArray

from ..core.record import Tables
from ..core.turn_state import GameState, TurnState, about, or_else, payoffs_in
from .corners import clear_places, measure, survey
from .geometry import place
from .lattice import ASPECTS, CORNERS, PIECES, RINGS, VERTICES, rings_of
from .picture import board_image, drawer_image, words
from .rules import begin, hold, normal, put
from .silhouettes import Silhouette, objective
from .table import BOUNDARY, OWN, SOLVED

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


ANY_FIGURE = "a figure"
"""The objective of a figure without a name."""


def phase(table: Any) -> str:
    """Return ``"play"`` at the beginning of a turn, ``"feedback"`` after a play in it."""
    return "feedback" if table.moved >= 0 else "play"


def game_state(title: str, names: Sequence[str], table: Any, seat: int) -> TangramState:
    """Return the board, which every seat sees; see `render.words` for `title` and `names`."""
    there = table.on_board.tolist()
    return TangramState(
        objective=words(title, names, table),
        on_board={name: _placed(table, piece) for piece, name in enumerate(PIECES) if there[piece]},
        off_board={
            name: DrawerPiece(vertices=shape.tolist())
            for piece, (name, shape) in enumerate(zip(PIECES, _drawer(*table.scale.tolist()), strict=True))
            if not there[piece]
        },
        silhouette=rings_of(table.outline, table.ends),
        iou=float(table.iou),
        turn_number=int(table.turn_number),
        turns=int(table.turns),
        plays_left=int(table.plays_left),
        passes=int(table.passes),
        moved=_moved(table),
        board_img=board_image(table) if table.images else UNSET,
        drawer_img=drawer_image(table) if table.images else UNSET,
    )


def public(title: str, names: Sequence[str], table: Any) -> TangramState:
    """Return the public view of the board, which is that of the players."""
    return game_state(title, names, table, 0)


def _placed(table: Any, piece: int) -> BoardPiece:
    hits = int(table.hits[piece])
    collisions = [name for other, name in enumerate(PIECES) if hits >> other & 1]
    return BoardPiece(
        position=vector(float(table.x[piece]), float(table.y[piece])),
        vertices=table.vertices[piece, : CORNERS[piece]].tolist(),
        rotation=float(table.rotation[piece]),
        collisions=collisions + ["BOUNDARY"] * (hits >> BOUNDARY),
    )


@cache
def _drawer(right: float, up: float) -> list[NDArray[np.float64]]:
    """Return the vertices of each piece around its centre, for this scale."""
    shapes = np.empty((7, 4, 2))
    for piece in range(7):
        place(piece, 0.0, 0.0, 0.0, np.array([right, up]), shapes[piece])
    return [shape[:corners] for shape, corners in zip(shapes, CORNERS, strict=True)]


def _moved(table: Any) -> Moved | None:
    if table.moved < 0:
        return None
    x, y, rotation = table.was.tolist()
    return Moved(PIECES[int(table.moved)], Place(vector(x, y), rotation) if table.was_on_board else None)


def outcome(table: Any, seat: int) -> dict[str, Any]:
    """Return the outcome: every seat's return, the reason, and the intersection over union."""
    return {
        "payoffs": [{"agent_id": _name(i), "utility": float(table.score)} for i in range(int(table.seats))],
        "reason": "solved" if table.iou >= SOLVED else "max_turns_exceeded",
        "iou": float(table.iou),
    }


def _name(seat: int) -> str:
    return f"player_{seat}"


def load(blank: Tables, figures: Sequence[Silhouette], state: TurnState) -> tuple[Tables, int]:
    """Rebuild the record that the seat of `state` sees: all of it but the stream.

    Agents may have any names. Those other than ``player_0``, ``player_1``, … get the free seats, in the order in which
    `state` names them. Fields that TangramCollaborativeAI does not send may be missing: then the turn is the first one,
    no piece was moved in it, and no turn was skipped.

    Args:
        blank: a table with the options that TurnState does not have.
        figures: the figures to draw from: those of the library, or of a set of your own.
        state: tangram's TurnState.

    Returns:
        The record (recarray of shape (1,)) and the seat in it.

    Raises:
        KeyError, TypeError, ValueError: if `game_state` lacks a field, or holds what cannot be.
    """
    game = TangramState.of(state)
    tables = blank.copy().view(np.recarray)
    table = tables[0]
    figure = objective(game.objective, {figure.name: figure for figure in figures})
    table.figure = figures.index(figure) if figure in figures else -1
    if game.silhouette is not UNSET:
        _load_outline(table, game.silhouette)
    elif figure is not None:
        table.outline, table.ends = figure.outline(list(ASPECTS)[table.aspect]), figure.ends
    elif table.source != OWN:
        raise ValueError(f"the state has no silhouette, and no known figure has the objective {game.objective!r}")
    begin(table)
    there = {_piece(name): _pose(one) for name, one in game.on_board.items()}
    moved = game.moved
    before = dict(there)
    if moved is not None:
        lifted = _piece(moved.shape)
        if before.pop(lifted, None) is None:
            raise ValueError(f"{moved.shape} was moved, but is not on the board")
        if moved.origin is not None:
            before[lifted] = _pose(moved.origin)
    for piece, pose in before.items():
        put(table, piece, *pose)
    seats = _seating(state, int(table.seats))
    table.turns, table.turn_number = or_else(game.turns, table.turns), game.turn_number
    table.plays_left, table.passes = or_else(game.plays_left, table.plays), game.passes
    whose = state.current_turn_agent_id or (state.agent_id if state.is_my_turn else None)
    table.turn = -1 if whose is None else seats[whose]
    measure(table)
    survey(table)
    if state.game_over:
        table.done = True
        clear_places(table)
        table.score = dict(payoffs_in(state)).get(state.agent_id, 0.0)
    elif moved is not None:
        hold(table, lifted)
        put(table, lifted, *there[lifted])
    for name, one in game.on_board.items():
        hits = [BOUNDARY if other == "BOUNDARY" else _piece(other) for other in one.collisions]
        table.hits[_piece(name)] = sum(1 << other for other in set(hits))
    return tables, seats[state.agent_id]


def _piece(name: str) -> int:
    if name not in PIECES:
        raise ValueError(f"{name!r} is not a piece; the pieces are {', '.join(PIECES)}")
    return PIECES.index(name)


def _pose(placed: BoardPiece | Place) -> tuple[float, float, float]:
    return *placed.position, normal(placed.rotation)


def _load_outline(table: Any, rings: list[list[Vector]]) -> None:
    vertices = [vertex for ring in rings for vertex in ring]
    if not 0 < len(rings) <= RINGS or not 3 <= len(vertices) <= VERTICES:
        raise ValueError(
            f"a silhouette of {len(rings)} rings and {len(vertices)} vertices; at most {RINGS} and {VERTICES} fit"
        )
    table.outline[:] = 0.0
    table.outline[: len(vertices)] = vertices
    table.ends[:] = len(vertices)
    table.ends[: len(rings)] = np.cumsum([len(ring) for ring in rings])


def _seating(state: TurnState, count: int) -> dict[str, int]:
    """Return the seat of every agent that `state` names."""
    ours = {_name(seat): seat for seat in range(count)}
    named = dict.fromkeys([state.agent_id, *dict(payoffs_in(state)), state.current_turn_agent_id or state.agent_id])
    strangers = [agent for agent in named if agent not in ours]
    free = [seat for name, seat in ours.items() if name not in named]
    if len(strangers) > len(free):
        raise ValueError(f"{', '.join(map(repr, strangers))} have no seat: this game was made for {count}")
    return ours | dict(zip(strangers, free, strict=False))


def resample(table: Any, seat: int, generator: np.random.Generator) -> None:
    """Draw the stream again, in place: nothing else is hidden."""
    table.stream = generator.integers(0, 2**64, dtype=np.uint64)
