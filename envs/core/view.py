"""View: how a table becomes a TurnState, and how documented payloads become moves."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from .checks import Immutable, require_arguments, require_functions, require_mapping, require_type
from .game_state import GameState
from .record import Tables
from .turn_state import Action, ActionResult, AgentResponse, AllowedAction, TurnState


class ActionRange(NamedTuple):
    """Action indices that belong together: from `start` up to `stop` (exclusive), their action types, and a
    description."""

    start: int
    stop: int
    action_types: tuple[str, ...]
    meaning: str


@dataclass(frozen=True)
class ActionGrid(Immutable):
    """A second action space, of several choices at once (`spaces.MultiDiscrete`).

    Attributes:
        sizes: the number of values of each choice.
        legal: ``legal(table) -> (int8[sizes[0]], int8[sizes[1]], …)``: the acting seat's legal values of each choice.
        decode: ``decode(table, values) -> move``: the move of one legal value per choice.
    """

    sizes: tuple[int, ...]
    legal: Callable[[Any], tuple[NDArray[np.int8], ...]]
    decode: Callable[[Any, Sequence[int]], Any]

    def __post_init__(self) -> None:
        """Check the parts."""
        if not self.sizes or not all(isinstance(size, (int, np.integer)) and size > 0 for size in self.sizes):
            raise ValueError(f"ActionGrid: sizes is {self.sizes!r}; it needs whole numbers from 1 up")
        require_functions("ActionGrid", {"legal": self.legal, "decode": self.decode})


@dataclass(frozen=True, kw_only=True)
class View:
    """What agents see of a table, and how they answer. The functions are plain Python and take one record `table`.

    Raises:
        ValueError: if a part is missing or wrong, or the action ranges do not follow one another from 0 on.

    `phase`, `game_state` and `outcome` only read attributes of `table`, which may be a copy made by `record.plain`.

    Attributes:
        action_spaces: every action type of the documented protocol, with the space of its payload.
        action_ranges: descriptions of all action indices, in order; empty: there are no descriptions.
        grid: a second action space, of several choices at once; None: there is none.
        encode: ``encode(table, action) -> AgentResponse``: a legal action index as documented messages and payload.
        parse: ``parse(table, action) -> move``, or the `ActionResult` that refuses an `Action`. It never raises
            and does not change the table.
        nearest: ``nearest(table, move) -> int``: the action index of a move, or the nearest one.
        safe: ``safe(table) -> int``: the action index that is played for an agent that does not answer.
        allowed: ``allowed(game_state, seat, phase) -> list[AllowedAction]`` of the acting seat, with the bounds of this
            turn. It follows from what `seat` sees: `game_state` as `state_type` (a dict if there is none), `phase`.
        legal: ``legal(table)``: the same from the record, where a host's table may have other bounds; None: `allowed`.
        phase: ``phase(table) -> str``.
        game_state: ``game_state(table, seat)``: what `seat` may see, as `state_type`, or as a dict if there is none.
        outcome: ``outcome(table, seat) -> dict`` of a finished episode, as `seat` may see it.
        load: ``load(turn_state) -> (tables, seat)``: the record (recarray of shape (1,)) with what that seat may know,
            and the seat. The state may have more or fewer seats than the game.
        resample: ``resample(table, seat, generator)`` draws the information hidden from `seat` again, in place.
        state_type: the type of `game_state`, a subclass of `GameState`; None: it is a dict of any fields.
    """

    action_spaces: Mapping[str, spaces.Dict]
    action_ranges: tuple[ActionRange, ...] = ()
    grid: ActionGrid | None = None
    encode: Callable[[Any, int], AgentResponse]
    parse: Callable[[Any, Action], Any | ActionResult]
    nearest: Callable[[Any, Any], int]
    safe: Callable[[Any], int]
    allowed: Callable[[Any, int, str], list[AllowedAction]]
    phase: Callable[[Any], str]
    game_state: Callable[[Any, int], GameState | dict[str, Any]]
    outcome: Callable[[Any, int], dict[str, Any]]
    load: Callable[[TurnState], tuple[Tables, int]]
    resample: Callable[[Any, int, np.random.Generator], None]
    state_type: type[GameState] | None = None
    legal: Callable[[Any], list[AllowedAction]] | None = None

    def __post_init__(self) -> None:
        """Check the parts."""
        arguments = {
            "encode": ("table", "action"),
            "parse": ("table", "action"),
            "nearest": ("table", "move"),
            "safe": ("table",),
            "allowed": ("game_state", "seat", "phase"),
            "phase": ("table",),
            "game_state": ("table", "seat"),
            "outcome": ("table", "seat"),
            "load": ("turn_state",),
            "resample": ("table", "seat", "generator"),
        }
        require_arguments("View", {name: getattr(self, name) for name in arguments}, arguments)
        require_mapping("View", "action_spaces", self.action_spaces, "action types and the spaces of their payloads")
        for kind, space in self.action_spaces.items():
            require_type("View", f"the space of {kind!r}", space, spaces.Dict)
        stop = 0
        for part in self.action_ranges:
            if part.start != stop or part.stop <= part.start:
                raise ValueError(
                    f"View: the action range {part} needs to begin at {stop}, where the one before it ends"
                )
            stop = part.stop
