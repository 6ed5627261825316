"""View: how a table becomes a TurnState, and how documented payloads become moves."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from reprlib import repr
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from . import turn_state as ts
from .checks import Immutable, require_arguments, require_functions, require_mapping, require_names, require_type
from .record import REQUIRED_FIELDS, Tables
from .rng import streams
from .rules import Rules
from .turn_state import NOTHING, Action, ActionResult, AgentResponse, AllowedAction, GameState, TurnState


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


def as_loaded(table: Any) -> None:
    """Leave a record as it was loaded."""


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
        familiar: ``familiar(table)`` cuts what a loaded record has beyond all episodes of the game, in place, before a
            policy sees it; `as_loaded` cuts nothing.
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
    familiar: Callable[[Any], None] = as_loaded
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


PLAY = "play"
"""The only action type, with the payload ``{"action": index}``."""


Hides = Callable[[Any, int], Any]
"""``hides(table, seat)``: bool, or bool of a field's shape: which of its entries `seat` may not know."""
Hidden = Sequence[str] | Mapping[str, Hides]
"""Names of hidden fields, or the function `Hides` of each."""

EPISODES = 500
"""The number of random episodes whose hidden fields `resample` draws from."""


def default_view(
    rules: Rules, agents: Sequence[str], actions: Sequence[str] | Mapping[str, str] = (), hidden: Hidden = ()
) -> View:
    """Return the view that shows everything but hidden fields, and takes actions by name, or action indices.

    Args:
        rules: the game's rules.
        agents: the agents' names, seat by seat.
        actions: a name for every action index, such as ``("fold", "call")``, or names with their descriptions. Each is
            an action type without a payload. Empty: there is one action type, ``play``, with the action index.
        hidden: the fields that are hidden, up to the end of the episode: of a field with an entry per seat the entries
            of the other seats, any other field as a whole. Or a function for each field: ``hides(table, seat)`` returns
            which of its entries `seat` may not know. TurnState shows None in their place, and `load` leaves them as
            they are in ``rules.blank``.

    Raises:
        ValueError: if the record has no field of a hidden name, or it is one of `record.REQUIRED_FIELDS`; if `actions`
            are not as many different names as there are action indices.
    """
    parts = _DefaultView(rules, tuple(agents), hidden)
    functions: dict[str, Any] = {
        name: getattr(parts, name) for name in ("safe", "phase", "game_state", "outcome", "load", "resample")
    }
    if not actions:
        return View(
            action_spaces={PLAY: spaces.Dict({"action": spaces.Box(0, rules.num_actions - 1, (), np.int64)})},
            action_ranges=tuple(ActionRange(i, i + 1, (PLAY,), f"action {i}") for i in range(rules.num_actions)),
            encode=parts.encode,
            parse=parts.parse,
            nearest=rules.action_of,
            allowed=parts.allowed,
            **functions,
        )
    require_names("default_view", "actions", tuple(actions))
    if len(actions) != rules.num_actions:
        raise ValueError(f"actions: {len(actions)} names ({', '.join(actions)}) for {rules.num_actions} action indices")
    meanings = actions if isinstance(actions, Mapping) else {name: name.replace("_", " ") for name in actions}
    return NamedActions(rules, meanings, partial(parts.legal_names, tuple(meanings))).view(**functions)


def default_parts(view: View) -> "_DefaultView | None":
    """Return the parts of a default view: its `fields`, `hidden` and `hides`; None for any other view."""
    parts = getattr(view.game_state, "__self__", None)
    return parts if isinstance(parts, _DefaultView) else None


@dataclass(frozen=True)
class _UpToTheEnd:
    """Hides a field of this shape from a seat, except its own entry, if there is one for each of the `seats`."""

    shape: tuple[int, ...]
    seats: int

    def __call__(self, table: Any, seat: int) -> NDArray[np.bool_]:
        hidden = np.full(self.shape, not table.done)
        if self.shape[:1] == (self.seats,):
            hidden[seat] = False
        return hidden


class _DefaultView:
    """The functions of the default view. See `default_view`.

    Attributes:
        fields: the names of the record's own fields.
        hidden: the option of this name.
        hides: the function of every hidden field.
    """

    def __init__(self, rules: Rules, agents: tuple[str, ...], hidden: Hidden = ()) -> None:
        self.rules = rules
        self.agents = agents
        names = rules.blank.dtype.names or ()
        self.fields = [name for name in names if name not in REQUIRED_FIELDS and not name.startswith("_gap")]
        unknown = [name for name in hidden if name not in self.fields]
        if isinstance(hidden, str) or unknown:
            wrong = repr(hidden) if isinstance(hidden, str) else ", ".join(map(repr, unknown))
            raise ValueError(f"hidden: {wrong}: give names of the game's own fields, such as ('{self.fields[-1]}',)")
        if isinstance(hidden, Mapping):
            require_arguments("hidden", hidden, dict.fromkeys(hidden, ("table", "seat")))
        self.hidden = hidden
        until: dict[str, Hides] = {name: _UpToTheEnd(rules.blank.dtype[name].shape, len(agents)) for name in hidden}
        self.hides = dict(hidden) if isinstance(hidden, Mapping) else until

    def hidden_from(self, table: Any, seat: int, name: str) -> NDArray[np.bool_]:
        """Return True for the entries of a field that a seat may not know: bool of the field's shape."""
        hides = self.hides.get(name)
        return np.broadcast_to(False if hides is None else hides(table, seat), self.rules.blank.dtype[name].shape)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_episodes"}

    # Actions.

    def encode(self, table: Any, action: int) -> AgentResponse:
        return AgentResponse(Action(PLAY, {"action": int(action)}))

    def parse(self, table: Any, action: Action) -> Any | ActionResult:
        if action.action_type != PLAY:
            return ts.refused(ts.INVALID_ACTION_TYPE, f"{repr(action.action_type)} is not an action here; use {PLAY}")
        index = action.payload.get("action")
        if action.payload.keys() != {"action"} or not isinstance(index, int) or isinstance(index, bool):
            wanted = "{'action': index}"
            return ts.refused(ts.INVALID_PAYLOAD, f"{PLAY} needs {wanted}, got {repr(action.payload)}")
        legal = self._legal(table)
        if index not in legal:
            return ts.refused(ts.GAME_RULE_VIOLATION, f"action {repr(index)} is not legal; legal are {legal}")
        return self.rules.decode(table, index)

    def safe(self, table: Any) -> int:
        return self._legal(table)[0]

    def allowed(self, game_state: dict[str, Any], seat: int, phase: str) -> list[AllowedAction]:
        schema = ts.payload_schema({"action": {"type": "integer", "enum": self.legal(game_state, seat)}})
        return [AllowedAction(PLAY, "play a legal action index", schema)]

    def legal(self, game_state: dict[str, Any], seat: int) -> list[int]:
        """Return the acting seat's legal action indices, from what it sees."""
        table = self._known(game_state)[0]
        table.turn = seat
        return self._legal(table)

    def legal_names(self, names: Sequence[str], game_state: dict[str, Any], seat: int) -> list[str]:
        """Return the names of the acting seat's legal actions, of those of all action indices."""
        return [names[index] for index in self.legal(game_state, seat)]

    def _legal(self, table: Any) -> list[int]:
        mask = np.zeros(self.rules.num_actions, np.int8)
        self.rules.legal(table, mask)
        return [int(action) for action in np.flatnonzero(mask)]

    # The table.

    def phase(self, table: Any) -> str:
        return "ended" if table.done else "play"

    def game_state(self, table: Any, seat: int) -> dict[str, Any]:
        shown: dict[str, Any] = {name: np.asarray(getattr(table, name)) for name in self.fields}
        for name in self.hides:
            values = shown[name].astype(object)
            shown[name] = np.where(self.hidden_from(table, seat, name), None, values)
        return {name: values.tolist() for name, values in shown.items()}

    def outcome(self, table: Any, seat: int) -> dict[str, Any]:
        payoffs = [
            {"agent_id": agent, "utility": float(reward)}
            for agent, reward in zip(self.agents, table.rewards, strict=False)
        ]
        return {"payoffs": payoffs, "reason": "finished"}

    def load(self, state: TurnState) -> tuple[Tables, int]:
        tables = self._known(state.game_state)
        table = tables[0]
        seat = self.agents.index(state.agent_id)
        table.turn = -1 if state.current_turn_agent_id is None else self.agents.index(state.current_turn_agent_id)
        table.done = state.game_over
        if state.outcome is not None:
            for row in state.outcome["payoffs"]:
                table.rewards[self.agents.index(row["agent_id"])] = row["utility"]
        return tables, seat

    def _known(self, game_state: dict[str, Any]) -> Tables:
        """Return a new record with the fields of a `game_state`, as far as they are shown."""
        tables = self.rules.tables(1)
        for name in self.fields:
            shown: Any = np.array(game_state[name], object)
            if shown.shape != tables[name].shape[1:]:
                raise ValueError(f"{name} has the shape {shown.shape}, not {tables[name].shape[1:]}")
            visible = shown != np.array(None)
            tables[name][0, ...][visible] = shown[visible]
        return tables

    def resample(self, table: Any, seat: int, generator: np.random.Generator) -> None:
        """Take the hidden fields of another random episode that looks the same to `seat`, if there is one."""
        alike = self._episodes[self._seen(table, seat)] if self.hides else []
        if alike:
            other = alike[int(generator.integers(len(alike)))]
            for name in self.hides:
                table[name] = other[name]
        table.stream = generator.integers(0, 2**64, dtype=np.uint64)

    def _seen(self, table: Any, seat: int) -> str:
        return str((seat, int(table.turn), bool(table.done), table.rewards.tolist(), self.game_state(table, seat)))

    @cached_property
    def _episodes(self) -> dict[str, list[Any]]:
        """The records of random episodes, by what a seat sees of them."""
        alike, generator = defaultdict(list), np.random.default_rng(0)
        for stream in streams(0, EPISODES):
            table = self.rules.tables(1)[0]
            table.stream = stream
            self.rules.reset(table)
            while True:
                for seat in range(len(self.agents)):
                    alike[self._seen(table, seat)].append(table.copy())
                if table.done:
                    break
                self.rules.play(table, int(generator.choice(self._legal(table))))
        return alike


class NamedActions:
    """The actions of a game of which each has a name and no payload.

    Its methods are the functions of the same names of `View`.

    Args:
        rules: of the game.
        meanings: a description of every action, by name, in the order of the action indices.
        legal: ``legal(game_state, seat)``: the names of the acting seat's legal actions, from what it sees.
    """

    def __init__(self, rules: Rules, meanings: Mapping[str, str], legal: Callable[[Any, int], Collection[str]]) -> None:
        self._rules = rules
        self._seen_as_legal = legal
        self._meanings = dict(meanings)
        self.names = tuple(meanings)
        self.action_spaces = {name: spaces.Dict({}) for name in self.names}
        self.action_ranges = tuple(
            ActionRange(index, index + 1, (name,), meaning) for index, (name, meaning) in enumerate(meanings.items())
        )

    def _legal(self, table: Any) -> list[str]:
        mask = self._rules.mask(table, int(table.turn))
        return [name for name, open_ in zip(self.names, mask, strict=True) if open_]

    def allowed(self, game_state: Any, seat: int, phase: str) -> list[AllowedAction]:
        """Return the legal actions of the acting seat."""
        legal = self._seen_as_legal(game_state, seat)
        return [AllowedAction(name, self._meanings[name], NOTHING) for name in self.names if name in legal]

    def encode(self, table: Any, action: int) -> AgentResponse:
        """Return the payload of a legal action index."""
        return AgentResponse(Action(self.names[action]))

    def parse(self, table: Any, action: Action) -> Any | ActionResult:
        """Return the move of a payload, or a refusal that names the right values."""
        name, legal = action.action_type, self._legal(table)
        if name not in self.names:
            return ts.unknown_action(action, self.names)
        if action.payload:
            return ts.unwanted_payload(action)
        if name not in legal:
            return ts.refused(ts.GAME_RULE_VIOLATION, f"cannot {name} now; legal: {', '.join(legal)}")
        return self._rules.decode(table, self.names.index(name))

    def view(self, **functions: Any) -> View:
        """Return the game's `View`: these actions, and the other functions by name."""
        return View(
            action_spaces=self.action_spaces,
            action_ranges=self.action_ranges,
            encode=self.encode,
            parse=self.parse,
            nearest=self._rules.action_of,
            allowed=self.allowed,
            **functions,
        )
