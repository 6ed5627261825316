"""Game: rules, encoders, view and renderer of one game, for fixed options. It is data and functions, no subclass."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from math import isfinite
from numbers import Real
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..render.renderer import Renderer
from . import loops
from .capabilities import Capabilities, PublicView
from .checks import Immutable, require_arguments, require_mapping, require_names, require_type
from .encoder import Encoder, Layout
from .loops import Batch
from .plain_python import in_python
from .plain_start import PLAIN_START
from .record import Tables, plain
from .rules import Rules
from .turn_state import AllowedAction, Message, TurnState, as_dict
from .view import Hidden, View, default_parts, default_view

Part = TypeVar("Part", Rules, View)


def made_of(kind: type[Part], module: ModuleType, **own: Any) -> Part:
    """Return rules or a view of the functions that a module defines by the names of their parts, and of `own` parts."""
    defined = {name: part for name, part in vars(module).items() if getattr(part, "__module__", 0) == module.__name__}
    return kind(**{part.name: defined[part.name] for part in fields(kind) if part.name in defined} | own)


@dataclass(frozen=True)
class Payoffs:
    """The range and the unit of the returns.

    Attributes:
        low: the lowest return of a seat in one episode.
        high: the highest return of a seat in one episode.
        zero_sum: whether all seats' rewards sum to zero.
        shared: whether all seats always get the same reward, so that nobody wins from another.
        unit: the reward that reports show as 1 (hold'em: the big blind).
        unit_name: the name of this unit, plural.
        reward_name: what a reward of 1 is, plural (hold'em: chips); empty: `unit_name`.
        episode_name: what people call an episode, singular, with a plural in s or es (hold'em with one hand: hand).
    """

    low: float
    high: float
    zero_sum: bool = False
    unit: float = 1.0
    unit_name: str = "points"
    shared: bool = False
    reward_name: str = ""
    episode_name: str = "game"

    def __post_init__(self) -> None:
        """Check the bounds."""
        numbers = isinstance(self.low, Real) and isinstance(self.high, Real)
        if not (numbers and isfinite(self.low) and isfinite(self.high) and self.low <= self.high):
            raise ValueError(f"Payoffs: low={self.low!r}, high={self.high!r}: give two finite numbers, low first")
        if not (isinstance(self.unit, Real) and isfinite(self.unit) and self.unit > 0):
            raise ValueError(f"Payoffs: unit={self.unit!r} needs to be above 0")
        for name in ("unit_name", "episode_name"):
            if not (isinstance(word := getattr(self, name), str) and word.strip()):
                raise ValueError(f"Payoffs: {name}={word!r} needs to be a word, such as {getattr(Payoffs, name)!r}")
        if not self.reward_name:
            object.__setattr__(self, "reward_name", self.unit_name)
        if self.zero_sum and self.shared:
            raise ValueError("Payoffs: zero_sum and shared: what all seats share sums to zero only if it is 0; set one")


class Loops(NamedTuple):
    """The loops over many tables, compiled with a game's functions (see `parlour.envs.core.loops`).

    ``reset(tables, batch, ended)`` begins an episode on every table, or only where one is over if `ended` is true, and
    writes its observations into `batch`.
    ``step(tables, actions, batch, again)`` plays one decision on every table whose action is not −1. Where an episode
    ends, the next one begins if `again` is true; else its observation and mask are not written.
    ``one(tables, action, observation, mask, offsets)`` is `loops.step_one`.
    """

    reset: Callable[[Any, Batch, bool], None]
    step: Callable[[Any, NDArray[np.int64], Batch, bool], None]
    one: Callable[[Any, int, NDArray[np.float32], NDArray[np.int8], NDArray[Any]], int]


EPISODES = 20
"""The number of random episodes that are played to collect the words."""


def _collect(state: TurnState, texts: set[str]) -> None:
    stack: list[Any] = [state.game_state, state.outcome, [allowed.payload_schema for allowed in state.allowed_actions]]
    while stack:
        part = stack.pop()
        if isinstance(part, str):
            texts.add(part)
        elif isinstance(part, dict):
            texts.update(part)
            stack.extend(part.values())
        elif isinstance(part, list):
            stack.extend(part)


@dataclass(frozen=True, kw_only=True)
class Game(Immutable):
    """A game with its options fixed.

    Attributes:
        name: such as ``"holdem"``.
        agents: the agents' names, seat by seat.
        rules: the compiled functions that play it.
        encoders: the encoders by name: ``"v0"``, ``"v1"``, …, and ``"full"`` for critics.
        payoffs: the range and the unit of the returns.
        encoder: the name of the default encoder. It is also the game's version.
        view: the TurnState that agents see, and the payloads that they answer with. By default they see every field of
            the record but the random stream and the `hidden` fields, and answer with `actions`.
        actions: a name for every action index, which players see, such as ``("fold", "call")``, or names with their
            descriptions; empty: they see the indices. It is for the default view.
        hidden: the fields that the default view hides up to the end of the episode: of a field with an entry per seat
            the entries of the other seats, any other field as a whole. For other rules give a function for each:
            ``{"choice": hides}`` (see `default_view.default_view`).
        renderer: text and pictures.
        bots: scripted players by name; ``bots[name](game, seed)`` makes a policy.
        options: the options this game was made with, by name.
        platform_id: the game's id on platforms that play it with the same payloads; None: none does.
        capabilities: talk, teams, hidden turns, a public view, chance; each may be None. See also `public_view`.
        how_to_play: the template of the rules in words (see `how_to_play.how_to_play`); empty: that of the suite for
            this name, if there is one.
        registered: the id with which the registry makes this game again from its options; empty: it does not.

    Raises:
        ValueError: in one sentence, if a part is missing, has a wrong type, or does not fit the others: two agents with
            the same name, too few rewards in the record, a default encoder that is missing or shows hidden
            information, action ranges that do not cover the action indices, hidden fields or names of actions beside
            a view.
    """

    name: str
    agents: tuple[str, ...]
    rules: Rules
    encoders: Mapping[str, Encoder]
    payoffs: Payoffs
    encoder: str = "v0"
    view: View = None  # type: ignore[assignment]  # filled in below
    actions: Sequence[str] | Mapping[str, str] = ()
    hidden: Hidden = ()
    renderer: Renderer = field(default_factory=Renderer)
    bots: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    platform_id: str | None = None
    capabilities: Capabilities = field(default_factory=Capabilities)
    how_to_play: str = ""
    registered: str = ""

    def __post_init__(self) -> None:
        """Check the parts against each other, and fill in the defaults."""
        if not (isinstance(self.name, str) and re.fullmatch(r"[A-Za-z]\w*", self.name, re.ASCII)):
            raise ValueError(f"Game: the name {self.name!r} needs to be letters, digits and _, such as 'my_game'")
        require_names("Game", "agents", self.agents)
        require_type("Game", "rules", self.rules, Rules)
        require_mapping("Game", "encoders", self.encoders, "encoders by name")
        require_type("Game", "payoffs", self.payoffs, Payoffs)
        require_mapping("Game", "bots", self.bots, "functions by name")
        require_arguments("Game, bots", self.bots, dict.fromkeys(self.bots, ("game", "seed")))
        if self.platform_id is not None:
            require_type("Game", "platform_id", self.platform_id, str)
        require_mapping("Game", "options", self.options, "options by name")
        require_type("Game", "capabilities", self.capabilities, Capabilities)
        room = self.rules.blank.rewards[0].size
        if room < self.seats:
            raise ValueError(f"the field rewards has room for {room} of {self.seats} seats")
        if not (self.encoder[:1] == "v" and self.encoder[1:].isdecimal()):
            raise ValueError(f"encoder={self.encoder!r}: the default encoder is a version, such as 'v0'")
        self.check_encoder(self.encoder)
        if self.view is None:
            for name, encoder in self.encoders.items():
                if encoder.full_information and not self.hidden:
                    raise ValueError(
                        f"Game: the encoder {name!r} shows hidden information, and the default view hides nothing: "
                        "name the hidden fields (hidden=…), or give the game a View of its own"
                    )
            object.__setattr__(self, "view", default_view(self.rules, self.agents, self.actions, self.hidden))
        elif self.actions and tuple(self.actions) != tuple(self.view.action_spaces):
            raise ValueError(f"Game: actions={self.actions!r} is for the default view; this view names its own")
        require_type("Game", "view", self.view, View)
        default = default_parts(self.view)
        if self.hidden and (default is None or default.hidden != self.hidden):
            raise ValueError(f"Game: hidden={self.hidden!r} is for the default view; this view hides fields by itself")
        if self.view.action_ranges and self.view.action_ranges[-1].stop != self.num_actions:
            stop = self.view.action_ranges[-1].stop
            raise ValueError(f"Game: the action ranges end at {stop}; there are {self.num_actions} action indices")
        require_type("Game", "renderer", self.renderer, Renderer)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the compiled loops, which are compiled again after loading."""
        return {name: value for name, value in self.__dict__.items() if name != "_loops"}

    @property
    def id(self) -> str:
        """Name and version, such as ``"holdem-v0"``."""
        return f"{self.name}-{self.encoder}"

    @property
    def seats(self) -> int:
        """The number of seats."""
        return len(self.agents)

    @property
    def num_actions(self) -> int:
        """The number of action indices."""
        return self.rules.num_actions

    @property
    def layout(self) -> Layout:
        """The layout of the default encoder."""
        return self.encoders[self.encoder].layout

    @property
    def versions(self) -> dict[str, Encoder]:
        """The encoders that a policy may play with, by name: all that show no hidden information."""
        return {name: encoder for name, encoder in self.encoders.items() if not encoder.full_information}

    def check_encoder(self, name: str) -> None:
        """Raise ValueError unless a policy may play with this encoder.

        Raises:
            ValueError: if the game does not have the encoder, or the encoder shows hidden information.
        """
        encoder = self._encoder(name)
        require_type(f"encoder {name!r}", "it", encoder, Encoder)
        if encoder.full_information:
            raise ValueError(f"the encoder {name!r} shows hidden information: it is for critics, not for players")

    def _encoder(self, name: str | None) -> Encoder:
        name = name or self.encoder
        if name not in self.encoders:
            raise ValueError(f"{self.name} has no encoder {name!r}; it has {', '.join(self.encoders) or 'none'}")
        return self.encoders[name]

    # Many tables.

    def tables(self, count: int) -> Tables:
        """Return `count` new tables with this game's options (recarray of shape (count,))."""
        return self.rules.tables(count)

    def batch(self, count: int, encoder: str | None = None) -> Batch:
        """Return a blank batch for `count` tables, for the observations of `encoder` (None: the default)."""
        layout = self._encoder(encoder).layout
        return Batch(
            np.zeros((count, layout.size), np.float32),
            np.zeros((count, self.num_actions), np.int8),
            np.zeros(count, np.int64),
            np.zeros((count, self.seats), np.float32),
            np.zeros(count, np.bool_),
            layout.offsets,
        )

    def loops(self, encoder: str | None = None) -> Loops:
        """Return the loops over many tables, compiled with this game's functions and those of `encoder`."""
        name = encoder or self.encoder
        if name not in self._loops:
            rules, observe = self.rules, self._encoder(name).observe
            functions: dict[str, Any] = {"legal": rules.legal, "observe": observe, "reset": rules.reset}
            self._loops[name] = Loops(
                loops.compile_loop(loops.reset_batch, **functions),
                loops.compile_loop(loops.step_batch, **functions, play=rules.play),
                loops.compile_loop(loops.step_one, **functions, play=rules.play),
            )
        return self._loops[name]

    @cached_property
    def _loops(self) -> dict[str, Loops]:
        return {}

    @cached_property
    def words(self) -> frozenset[str]:
        """The texts that occur in its TurnStates, but for the agents' names: no player at a table may be called so.

        They come from some random episodes, which are played once.
        """
        texts = {"pass", "message_only", *self.view.action_spaces}
        generator, table = np.random.default_rng(0), self.tables(1)[0]
        with PLAIN_START.loading():
            for _ in range(EPISODES):
                table.stream = generator.integers(0, 2**63)
                self.rules.reset(table)
                while not table.done:
                    _collect(self.turn_state(table, int(table.turn)), texts)
                    self.rules.play(table, int(generator.choice(self.mask(table, int(table.turn)).nonzero()[0])))
                for seat in range(self.seats):
                    _collect(self.turn_state(table, seat), texts)
        return frozenset(texts - set(self.agents))

    # One table.

    def observation(self, table: Any, seat: int) -> NDArray[np.float32]:
        """Return the observation of `seat` by the default encoder, in a new array: float32[layout.size]."""
        return self.encoders[self.encoder].observation(table, seat)

    def mask(self, table: Any, seat: int) -> NDArray[np.int8]:
        """Return the action mask of `seat`, int8[num_actions]: 1 where legal; all 0 if it is not its turn."""
        return self.rules.mask(table, seat)

    def load(self, state: TurnState) -> tuple[Tables, int]:
        """Return the record of a seat's state, and the seat (see `View.load`).

        A default view loads any values, and compiled code does not check the bounds of arrays. So there the mask and
        the observation of the seat are made in plain Python first.

        Raises:
            ValueError: if the state is not of this game with its options.
            KeyError, TypeError: if it lacks a field.
        """
        tables, seat = self.view.load(state)
        if default_parts(self.view) is not None and (problem := self._strange(tables[0], seat)):
            options = ", ".join(f"{name}={value}" for name, value in self.options.items())
            raise ValueError(f"this is no state of {self.id}{options and f' with {options}'}: {problem}")
        return tables, seat

    def _strange(self, table: Any, seat: int) -> str:
        """Return why no table of this game can be like this; empty: nothing was found."""
        for encoder in (one for one in self.encoders.values() if not one.full_information):
            layout, seen = encoder.layout, np.zeros(encoder.layout.size, np.float32)
            try:
                in_python(encoder.observe)(table, seat, layout.offsets[0], seen)
                if not table.done and table.turn == seat:
                    in_python(self.rules.legal)(table, np.zeros(self.num_actions, np.int8))
            except IndexError as error:
                return str(error)
            for part in layout.outside(seen):
                values = ", ".join(f"{value:g}" for value in seen[part.start : part.stop])
                return f"{part.path} is {values}, and has {part.low:g} to {part.high:g}"
        return ""

    def turn_state(
        self, table: Any, seat: int, messages: Sequence[Message] | None = None, match_id: str = ""
    ) -> TurnState:
        """Return the table as `seat` may see it. After the end of the match, the last phase and state stay visible.

        Args:
            table: the record.
            seat: whose view it is.
            messages: the messages that `seat` can read; None takes those that the record holds.
            match_id: the match's identifier.
        """
        talk, view = self.capabilities.talk, self.view
        if messages is None:
            messages = talk.messages_for(table, seat) if talk is not None and talk.messages_for is not None else ()
        copy = plain(table)
        over = bool(copy.done)
        mine = not over and copy.turn == seat
        phase, game_state = view.phase(copy), view.game_state(copy, seat)
        return TurnState(
            match_id=match_id,
            game_id=self.id,
            agent_id=self.agents[seat],
            phase=phase,
            is_my_turn=mine,
            current_turn_agent_id=self.visible_turn(copy, seat),
            game_state=as_dict(game_state),
            messages=list(messages),
            allowed_actions=self._allowed(copy, game_state, seat, phase) if mine else [],
            game_over=over,
            outcome=view.outcome(copy, seat) if over else None,
        )

    def allowed_actions(self, table: Any) -> list[AllowedAction]:
        """Return the legal actions of the acting seat, as its TurnState has them."""
        copy, view = plain(table), self.view
        return self._allowed(copy, view.game_state(copy, int(copy.turn)), int(copy.turn), view.phase(copy))

    def _allowed(self, copy: Any, game_state: Any, seat: int, phase: str) -> list[AllowedAction]:
        view = self.view
        return view.allowed(game_state, seat, phase) if view.legal is None else view.legal(copy)

    @property
    def public_view(self) -> PublicView | None:
        """The public view: the capability, or what the default view shows if it hides nothing; None: there is none."""
        default = default_parts(self.view)
        if self.capabilities.public_view is None and default is not None and not default.hidden:
            return PublicView(partial(default.game_state, seat=0))
        return self.capabilities.public_view

    def public_turn_state(self, table: Any, messages: Sequence[Message] = (), match_id: str = "") -> TurnState:
        """Return the table as observers without a seat see it. `agent_id` is empty and no action is allowed.

        Args:
            table: the record.
            messages: the public messages.
            match_id: the match's identifier.

        Returns:
            The public state. Its outcome has the payoffs and the reason, and nothing else.

        Raises:
            ValueError: if the game has no public view.
        """
        public_view = self.public_view
        if public_view is None:
            raise ValueError(f"{self.id} has no public view")
        copy = plain(table)
        over = bool(copy.done)
        outcome = self.view.outcome(copy, 0) if over else {}
        payoffs = [{"agent_id": row["agent_id"], "utility": row["utility"]} for row in outcome.get("payoffs", ())]
        return TurnState(
            match_id=match_id,
            game_id=self.id,
            agent_id="",
            phase=self.view.phase(copy),
            is_my_turn=False,
            current_turn_agent_id=self.visible_turn(copy, -1),
            game_state=as_dict(public_view.game_state(copy)),
            messages=list(messages),
            game_over=over,
            outcome={"payoffs": payoffs, "reason": outcome["reason"]} if over else None,
        )

    def visible_turn(self, table: Any, seat: int) -> str | None:
        """Return the agent whose turn it is; None if `seat` (−1: an observer) may not know it, or the match is over."""
        hidden = self.capabilities.hidden_turn
        turn = int(table.turn) if hidden is None or table.done else hidden.visible_turn(table, seat)
        return None if table.done or turn < 0 else self.agents[turn]
