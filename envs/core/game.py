"""Game: what a game supplies. Data plus functions, no class hierarchy.

Everything about one table is in one record (a NumPy structured dtype, see `record`). The environments need these
fields of it:

==============  ========================  ==========================================================
``stream``      uint64                    the record's random stream (`rng`)
``turn``        integer                   the seat that decides next; −1 when the episode is over
``done``        bool                      the episode is over
``truncated``   bool                      it is over by a limit, not by the rules
``rewards``     float64[≥ seats]          what the latest move brought each seat
==============  ========================  ==========================================================
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from keyword import iskeyword
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from . import loops, svg
from .layout import Layout
from .turn_state import Action, ActionResult, AgentResponse, AllowedAction, Message, MessageIntent, TurnState

Tables = np.recarray
"""An array of records, made with ``array.view(np.recarray)``."""


def record(*fields: tuple[Any, ...]) -> np.dtype[np.void]:
    """Return the dtype of a table's record: aligned for speed, and without gaps.

    NumPy leaves what lies between the fields of an aligned dtype as it comes when it copies. Here every byte belongs to
    a field, so that the same game always has the same bytes.

    Raises:
        ValueError: for a name that is none in Python, or that every record has already (``size``, ``round``, …).
    """
    for name, *_ in fields:
        if not str(name).isidentifier() or iskeyword(name):
            raise ValueError(f"a record's field cannot be called {name!r}: Python could not write table.{name}")
        if hasattr(np.record, name):
            raise ValueError(f"a record's field cannot be called {name!r}: every NumPy record has that already")
    aligned = np.dtype(list(fields), align=True)
    whole: list[tuple[Any, ...]] = []
    end = 0
    for name, *rest in fields:
        offset = aligned.fields[name][1]  # type: ignore[index]
        if offset > end:
            whole.append((f"_gap{end}", "u1", offset - end))
        whole.append((name, *rest))
        end = offset + aligned[name].itemsize
    if aligned.itemsize > end:
        whole.append((f"_gap{end}", "u1", aligned.itemsize - end))
    # A record dtype from the start: a view as recarray would make a new one each time, and Numba then compares all
    # fields of every record that it is given.
    return np.dtype((np.record, np.dtype(whole, align=True)))


def plain(table: Any) -> SimpleNamespace:
    """Return a copy of a record with plain attributes: a record takes a microsecond to look one up."""
    return SimpleNamespace(**dict(zip(table.dtype.names, table.item(), strict=True)))


NEEDED = ("stream", "turn", "done", "truncated", "rewards")
"""Fields that every table's record has."""


class Batch(NamedTuple):
    """What the batch functions of a game write, one row per table.

    ``observations`` float32[N, D] and ``masks`` int8[N, A] belong to the seat ``turn`` int64[N] that decides next;
    ``rewards`` float32[N, seats], ``dones`` and ``truncations`` bool[N] to the step just made.
    """

    observations: NDArray[np.float32]
    masks: NDArray[np.int8]
    turn: NDArray[np.int64]
    rewards: NDArray[np.float32]
    dones: NDArray[np.bool_]
    truncations: NDArray[np.bool_]

    @staticmethod
    def of(game: "Game", count: int) -> "Batch":
        """Return a blank batch for `count` tables."""
        return Batch(
            np.zeros((count, game.layout.size), np.float32),
            np.zeros((count, game.num_actions), np.int8),
            np.zeros(count, np.int64),
            np.zeros((count, game.seats), np.float32),
            np.zeros(count, np.bool_),
            np.zeros(count, np.bool_),
        )


class Numbers(NamedTuple):
    """Action numbers that belong together, for people: from `start` up to `stop` (not among them), the action types for
    which they stand, and what they mean."""

    start: int
    stop: int
    action_types: tuple[str, ...]
    meaning: str


@dataclass(frozen=True)
class Grid:
    """A second space of actions: several choices at once (`spaces.MultiDiscrete`).

    Attributes:
        sizes: how many values each choice has.
        legal: ``legal(table) -> (int8[sizes[0]], int8[sizes[1]], …)``: the acting seat's open values of each choice.
        move: ``move(table, values) -> move``: what one open value of each choice stands for.
    """

    sizes: tuple[int, ...]
    legal: Callable[[Any], tuple[NDArray[np.int8], ...]]
    move: Callable[[Any, Sequence[int]], Any]


@dataclass(frozen=True, kw_only=True)
class Game:
    """A game with its options fixed. The functions take one record `table` of `blank`'s dtype.

    Compiled functions write where they are told to without looking whether there is room; `NUMBA_DISABLE_JIT=1` looks.

    Attributes:
        name: such as ``"holdem"``.
        version: changes whenever an observation, a mask or a reward does.
        agents: the agents' names, seat by seat.
        options: the options this game was made with, by name.
        blank: one table with its options filled in and nothing dealt (recarray of shape (1,)).
        layout: the observation.
        num_actions: how many action numbers there are.
        numbers: what they mean, one block after the other, all of them; empty: nobody tells.
        reward_range: lowest and highest sum of a seat's rewards over one episode.
        zero_sum: whether all seats' rewards sum to zero.
        unit: the reward that reports call 1 (hold'em: the big blind), and `unit_name` its name.
        action_spaces: every action type of the documented protocol, with the space of its payload.
        grid: a second space of actions, of several choices at once; None: there is none.
        bots: scripted opponents by name; each makes a policy (see `parlour.wrappers.policy.Policy`).

        reset: ``reset(table)`` begins an episode, chance included, drawn from ``table.stream``. Compiled.
        play: ``play(table, number)`` applies the acting seat's number and goes on to the next decision. Compiled.
        step: ``step(table, move)`` does the same for an exact move. Compiled.
        menu: ``menu(table, number) -> move``. Compiled.
        legal: ``legal(table, mask)`` writes 1 for the acting seat's legal numbers into int8[num_actions], and 0 for all
            others: it is not blank. Compiled.
        observe: ``observe(table, seat, out)`` writes what `seat` may know into float32[layout.size], which is not blank
            either. Compiled.

        encode: ``encode(table, number) -> AgentResponse``: a legal action number as documented messages and payload.
        decode: ``decode(table, action) -> move``, or the `ActionResult` that refuses it. Never raises, changes nothing.
        nearest: ``nearest(table, move) -> int``: the number that stands for a move, or the nearest one.
        safe: ``safe(table) -> int``: the number played in place of an agent that gives no answer.
        allowed: ``allowed(table) -> list[AllowedAction]`` for the acting seat, with live bounds.
        phase: ``phase(table) -> str``. It only reads attributes: `table` may be a copy with the record's fields that
            is no record.
        game_state: ``game_state(table, seat) -> dict``: what `seat` may see; reads as `phase`.
        outcome: ``outcome(table, seat) -> dict`` of a finished episode, as `seat` may see it; reads as `phase`.
        load: ``load(turn_state) -> (tables, seat)``: the record (recarray of shape (1,)) with what that seat may know.
            A run may be asked to play at a table with more seats or fewer than its own game has.
        redeal: ``redeal(table, seat, generator)`` draws anew, in place, everything that `seat` cannot know.
        render: ``render(table, seat) -> str``: the table as text; `seat` None shows everything, −1 what all may see.
        picture: ``picture(states) -> str``: the table as SVG (see `svg`), drawn from what the given TurnStates of one
            moment tell together: from one what that agent may see (or those who only look on), from those of all seats
            everything.
        hear: ``hear(table, seat, intent)`` notes a message in the record; None where talk is no part of the game.
        said: ``said(table, seat) -> list[Message]``: what `seat` heard, as far as the record holds it; None where the
            record holds none.
        public: ``public(table) -> dict``: `game_state` of those who only look on: what every seat knows; reads as
            `phase`. None where nobody may look on.
        sides: ``sides(tables) -> int8[N, seats]``: the side of every seat in the episode under way, for learning:
            those of a side win and lose together. None where every seat plays for itself.
        acting: ``acting(table, seat) -> int``: whose turn it is, −1 where `seat` (−1: who looks on) may not
            know; reads as `phase`. None where all may.
        aloud: ``aloud(table, action) -> list[MessageIntent]``: what others hear of an accepted action, sent before it
            is played; None where actions are silent.
        interpret: ``interpret(table, action, names) -> Action``: the same action with what its words say written out,
            where players call the seats by other names (by seat); None where no words count.
        forbids: ``forbids(table, seat, intent) -> str | None``: why the rules do not let `seat` send this message now;
            None where talk is free.

    Raises:
        ValueError: if `blank` is not one record with the fields that it needs, or has no room for every seat's reward.
    """

    name: str
    version: int = 0
    agents: tuple[str, ...]
    options: Mapping[str, Any]
    blank: Tables
    layout: Layout
    num_actions: int
    numbers: tuple[Numbers, ...] = ()
    reward_range: tuple[float, float]
    zero_sum: bool
    unit: float = 1.0
    unit_name: str = "points"
    action_spaces: Mapping[str, spaces.Dict]
    grid: Grid | None = None
    bots: Mapping[str, Callable[..., Any]] = field(default_factory=dict)

    reset: Callable[[Any], None]
    play: Callable[[Any, int], None]
    step: Callable[[Any, Any], None]
    menu: Callable[[Any, int], Any]
    legal: Callable[[Any, NDArray[np.int8]], None]
    observe: Callable[[Any, int, NDArray[np.float32]], None]

    encode: Callable[[Any, int], AgentResponse]
    decode: Callable[[Any, Action], Any | ActionResult]
    nearest: Callable[[Any, Any], int]
    safe: Callable[[Any], int]
    allowed: Callable[[Any], list[AllowedAction]]
    phase: Callable[[Any], str]
    game_state: Callable[[Any, int], dict[str, Any]]
    outcome: Callable[[Any, int], dict[str, Any]]
    load: Callable[[TurnState], tuple[Tables, int]]
    redeal: Callable[[Any, int, np.random.Generator], None]
    render: Callable[[Any, int | None], str]
    picture: Callable[[Sequence[TurnState]], str] = svg.plain
    hear: Callable[[Any, int, MessageIntent], None] | None = None
    said: Callable[[Any, int], list[Message]] | None = None
    public: Callable[[Any], dict[str, Any]] | None = None
    sides: Callable[[Tables], NDArray[np.int8]] | None = None
    acting: Callable[[Any, int], int] | None = None
    aloud: Callable[[Any, Action], list[MessageIntent]] | None = None
    interpret: Callable[[Any, Action, Sequence[str]], Action] | None = None
    forbids: Callable[[Any, int, MessageIntent], str | None] | None = None

    def __post_init__(self) -> None:
        """Check the record: compiled functions would not."""
        missing = [name for name in NEEDED if name not in (self.blank.dtype.names or ())]
        if missing:
            raise ValueError(f"the record has no {', '.join(missing)}; it needs {', '.join(NEEDED)}")
        if self.blank.shape != (1,) or not isinstance(self.blank, Tables):
            what = f"{type(self.blank).__name__} of shape {self.blank.shape}"
            raise ValueError(f"blank is a {what}; it needs to be one record: array.view(np.recarray) of shape (1,)")
        if self.blank.rewards[0].size < self.seats:
            raise ValueError(f"the field rewards has room for {self.blank.rewards[0].size} of {self.seats} seats")

    def __getstate__(self) -> dict[str, Any]:
        """Return what makes the game; the loops are made anew."""
        return {name: value for name, value in self.__dict__.items() if name not in ("reset_batch", "step_batch")}

    @property
    def id(self) -> str:
        """Name and version, such as ``"holdem-v0"``."""
        return f"{self.name}-v{self.version}"

    @property
    def seats(self) -> int:
        """How many seats."""
        return len(self.agents)

    @cached_property
    def reset_batch(self) -> Callable[[Any, Batch], None]:
        """``reset_batch(tables, batch)`` begins an episode on every table and shows it."""
        return self._loop(loops.reset_batch)

    @cached_property
    def step_batch(self) -> Callable[[Any, NDArray[np.int64], Batch, bool], None]:
        """``step_batch(tables, actions, batch, again)`` plays one decision on every table whose action is not −1.

        Where an episode ends, the next one begins if `again`, else the table is not shown.
        """
        return self._loop(loops.step_batch)

    def _loop(self, loop: Callable[..., None]) -> Callable[..., None]:
        return loops.batch_loop(loop, reset=self.reset, play=self.play, legal=self.legal, observe=self.observe)

    def tables(self, count: int) -> Tables:
        """Return `count` fresh tables with this game's options (recarray of shape (count,))."""
        return np.repeat(self.blank, count).view(np.recarray)

    def view(self, table: Any, seat: int, messages: Sequence[Message] | None = None, match_id: str = "") -> TurnState:
        """Return the table as `seat` may see it. When the match is over, the last phase and state stay visible.

        `messages` are those that `seat` can read; None takes what the record holds of them.
        """
        if messages is None:
            messages = self.said(table, seat) if self.said is not None else ()
        copy = plain(table)
        over = bool(copy.done)
        mine = not over and copy.turn == seat
        return TurnState(
            match_id=match_id,
            game_id=self.id,
            agent_id=self.agents[seat],
            phase=self.phase(copy),
            is_my_turn=mine,
            current_turn_agent_id=self.turn_seen(copy, seat),
            game_state=self.game_state(copy, seat),
            messages=list(messages),
            allowed_actions=self.allowed(table) if mine else [],
            game_over=over,
            outcome=self.outcome(copy, seat) if over else None,
        )

    def look(self, table: Any, messages: Sequence[Message] = (), match_id: str = "") -> TurnState:
        """Return the table as those see it who only look on: no agent's, so that nothing is allowed.

        `messages` are the public ones. Of the outcome they see payoffs and reason.

        Raises:
            ValueError: where nobody may look on.
        """
        if self.public is None:
            raise ValueError(f"nobody may look on at {self.id}")
        copy = plain(table)
        over = bool(copy.done)
        outcome = self.outcome(copy, 0) if over else {}
        payoffs = [{"agent_id": row["agent_id"], "utility": row["utility"]} for row in outcome.get("payoffs", ())]
        return TurnState(
            match_id=match_id,
            game_id=self.id,
            agent_id="",
            phase=self.phase(copy),
            is_my_turn=False,
            current_turn_agent_id=self.turn_seen(copy, -1),
            game_state=self.public(copy),
            messages=list(messages),
            game_over=over,
            outcome={"payoffs": payoffs, "reason": outcome["reason"]} if over else None,
        )

    def turn_seen(self, table: Any, seat: int) -> str | None:
        """Return whose turn it is; None where `seat` may not know, or the match is over."""
        turn = int(table.turn) if self.acting is None or table.done else self.acting(table, seat)
        return None if table.done or turn < 0 else self.agents[turn]

    def observation(self, table: Any, seat: int) -> NDArray[np.float32]:
        """Return `observe` in a new array: float32[layout.size]."""
        out = np.zeros(self.layout.size, np.float32)
        self.observe(table, int(seat), out)  # not compiled anew for narrower whole numbers
        return out

    def mask(self, table: Any, seat: int) -> NDArray[np.int8]:
        """Return `seat`'s legal action numbers, int8[num_actions]; none when it is not its turn."""
        out = np.zeros(self.num_actions, np.int8)
        if not table.done and int(table.turn) == seat:
            self.legal(table, out)
        return out
