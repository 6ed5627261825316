"""Capabilities: what only some games have. Talk, teams, hidden turns, a public view, chance, private hands, setup,
symmetry, an outside option, results without luck, options that TurnStates show, and an expert."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .checks import require_functions, require_names, require_type
from .encoder import Layout
from .record import Tables
from .turn_state import Action, GameState, Message, MessageIntent, TurnState


@dataclass(frozen=True, kw_only=True)
class Talk:
    """The functions of a game whose messages are a part of it. Every function may be None.

    Attributes:
        record_message: ``record_message(table, seat, intent)`` writes a message into the record.
        messages_for: ``messages_for(table, seat) -> list[Message]``: the messages in the record that `seat` can read.
        action_messages: ``action_messages(table, action) -> list[MessageIntent]``: the messages that an accepted
            `Action` sends to the others, before it is played.
        interpret: ``interpret(table, action, names) -> Action``: the same action, with the meaning of its text as
            structured data. `names` are the names by which the text calls the seats.
        message_violation: ``message_violation(table, seat, intent) -> str | None``: why the rules forbid `seat` to send
            this message now; None if they allow it.
        statements: the action indices that say something. Where one of them is legal, so is an index outside of them:
            a seat can always be silent. Empty: no action index says anything.
    """

    record_message: Callable[[Any, int, MessageIntent], None] | None = None
    messages_for: Callable[[Any, int], list[Message]] | None = None
    action_messages: Callable[[Any, Action], list[MessageIntent]] | None = None
    interpret: Callable[[Any, Action, Sequence[str]], Action] | None = None
    message_violation: Callable[[Any, int, MessageIntent], str | None] | None = None
    statements: range = range(0)

    def __post_init__(self) -> None:
        """Check the parts."""
        functions = {name: part for name, part in vars(self).items() if name != "statements"}
        require_functions("Talk", functions, optional=functions)
        require_type("Talk", "statements", self.statements, range)


@dataclass(frozen=True)
class Teams:
    """The seats of a team win and lose together.

    Attributes:
        names: the teams' names; a team's number is its index here.
        of: ``of(tables) -> int8[N, seats]``: the team number of every seat in the current episode.
        facts: ``facts(tables) -> dict``: means over finished matches, by name. None: there are none.
        habits: ``habits(tables, team) -> dict``: statistics of a team's play in finished matches, as shares by name.
            None: there are none.
    """

    names: tuple[str, ...]
    of: Callable[[Tables], NDArray[np.int8]]
    facts: Callable[[Tables], dict[str, float]] | None = None
    habits: Callable[[Tables, str], dict[str, float]] | None = None

    def __post_init__(self) -> None:
        """Check the parts."""
        require_names("Teams", "names", self.names, least=2)
        functions = {"of": self.of, "facts": self.facts, "habits": self.habits}
        require_functions("Teams", functions, optional=("facts", "habits"))


@dataclass(frozen=True)
class HiddenTurn:
    """The function of a game in which a seat may not know whose turn it is.

    Attributes:
        visible_turn: ``visible_turn(table, seat) -> int``: the seat whose turn it is; −1 if `seat` may not know it.
            Seat −1 is an observer. `table` may be a copy made by `record.plain`.
    """

    visible_turn: Callable[[Any, int], int]

    def __post_init__(self) -> None:
        """Check the part."""
        require_functions("HiddenTurn", {"visible_turn": self.visible_turn})


@dataclass(frozen=True)
class PublicView:
    """The function of a game that observers without a seat may watch.

    Attributes:
        game_state: ``game_state(table)``: what every seat knows, of the type of the view's `game_state`. `table` may
            be a copy made by `record.plain`.
    """

    game_state: Callable[[Any], GameState | dict[str, Any]]

    def __post_init__(self) -> None:
        """Check the part."""
        require_functions("PublicView", {"game_state": self.game_state})


@dataclass(frozen=True, kw_only=True)
class Chance:
    """Random events one at a time, so that the game tree can be enumerated exactly (`parlour.envs.core.chance`).

    `begin` and `step` do the same as `reset` and `step` of the rules, but they stop before a random event. There
    `outcomes` is above 0, no seat has the turn, and `play` continues with one outcome. The rules' `reset` and `step`
    call these functions, and then `play` with outcomes from the record's stream
    (``while outcomes(table): play(table, draw(table, outcomes(table)))``).

    Mafia, Kuhn poker, Leduc hold'em, liar's dice and games in phases have this capability, and hold'em if its options
    leave few deals. The auction and the bargaining games draw real numbers, and tangram draws a whole figure; these
    games do not have it.

    Attributes:
        begin: ``begin(table)`` begins an episode.
        step: ``step(table, move)`` applies the acting seat's exact move.
        outcomes: ``outcomes(table) -> int``: how many outcomes the next random event has; 0: no random event is next.
        play: ``play(table, outcome)`` applies one outcome and continues to the next random event or decision.
        probability: ``probability(table, outcome) -> float``: the probability of an outcome (0 to `outcomes` − 1). By
            default all outcomes have the same probability.
    """

    begin: Callable[[Any], None]
    step: Callable[[Any, Any], None]
    outcomes: Callable[[Any], int]
    play: Callable[[Any, int], None]
    probability: Callable[[Any, int], float] | None = None

    def __post_init__(self) -> None:
        """Check the parts."""
        require_functions("Chance", vars(self), optional=("probability",))


@dataclass(frozen=True, kw_only=True)
class PrivateHands:
    """What is private and what is public, in a small game with the capability `Chance`: two seats, payoffs sum to zero.

    A hand is all that one seat alone knows; both are dealt before the first decision. All actions are public, and what
    is legal does not depend on hands.

    Attributes:
        hands: how many hands a seat can have.
        events: how many outcomes the public random events after that have together; 1: there are none.
        hand: ``hand(table, seat) -> int``: a seat's hand.
        event: ``event(table) -> int``: the outcome; −1: it has not come.
    """

    hands: int
    events: int = 1
    hand: Callable[[Any, int], int]
    event: Callable[[Any], int]

    def __post_init__(self) -> None:
        """Check the functions."""
        require_functions("PrivateHands", {"hand": self.hand, "event": self.event})


@dataclass(frozen=True)
class Symmetry:
    """The names in a game that mean nothing by themselves: other-play learns under random ones.

    Attributes:
        relabelling: ``relabelling(layout, random) -> (columns, actions)`` draws other names for one agent: int64[D]
            and int64[A]. Instead of `observation` and `mask` it sees ``observation[columns]`` and ``mask[actions]``,
            and its action k means ``actions[k]``.
    """

    relabelling: Callable[[Layout, np.random.Generator], tuple[NDArray[np.int64], NDArray[np.int64]]]

    def __post_init__(self) -> None:
        """Check the part."""
        require_functions("Symmetry", {"relabelling": self.relabelling})


@dataclass(frozen=True)
class OutsideOption:
    """What a seat has without an agreement: an agent of ours agrees to nothing that is worth less.

    Attributes:
        worth: ``worth(table) -> float64[A]``: for every action index, what the acting seat gets beyond its outside
            option if this action is the last word: an offer that is accepted, or an acceptance. Infinite for an action
            that binds it to nothing. It depends only on what the seat knows.
    """

    worth: Callable[[Any], NDArray[np.float64]]

    def __post_init__(self) -> None:
        """Check the part."""
        require_functions("OutsideOption", {"worth": self.worth})


class ExpectedRewards(Protocol):
    """Replaces rewards that chance decided by their expectation. It is saved with the tables, as a pickle."""

    def __call__(self, before: Tables, actions: NDArray[np.int64], rewards: NDArray[np.float32]) -> None:
        """Write the expected rewards of the episodes whose rest was only chance.

        Args:
            before: recarray (K,), the tables before the last decision of their episodes.
            actions: int64[K], that decision.
            rewards: float32[K, seats], those that were played; rows may be replaced.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class VarianceReduction:
    """The functions of a game that take luck out of results: the mean stays the same, the variance shrinks.

    Attributes:
        expected_rewards: ``expected_rewards(samples, seed)`` makes the function that replaces the rewards of episodes
            whose rest was only chance by their mean over at most `samples` random continuations.
        without_luck: ``without_luck(tables, returns)``: the returns of finished episodes, float64[N, seats], with the
            same mean and less variance, such as equities in place of the cards that came.
    """

    expected_rewards: Callable[[int, int], ExpectedRewards]
    without_luck: Callable[[Tables, NDArray[np.float64]], NDArray[np.float64]]

    def __post_init__(self) -> None:
        """Check the parts."""
        require_functions("VarianceReduction", vars(self))


@dataclass(frozen=True)
class ShownOptions:
    """The function of a game whose TurnStates show options of the table.

    Attributes:
        differences: ``differences(options, state, first)``: the options that differ at a live table, with its values,
            as far as a player's TurnState shows them. `first`: it is the player's first turn there.
    """

    differences: Callable[[Mapping[str, Any], TurnState, bool], dict[str, Any]]

    def __post_init__(self) -> None:
        """Check the part."""
        require_functions("ShownOptions", {"differences": self.differences})


@dataclass(frozen=True)
class Setup:
    """What chance would decide at the beginning may be given: ``env.reset(options={…})``.

    Attributes:
        names: of what may be given, such as ``"cards"``.
        apply: ``apply(table, options)`` changes a record that `Rules.reset` has just made, in place; what is not given
            stays random. It raises ValueError, saying what is wrong.
    """

    names: tuple[str, ...]
    apply: Callable[[Any, Mapping[str, Any]], None]

    def __post_init__(self) -> None:
        """Check the parts."""
        require_names("Setup", "names", self.names)
        require_functions("Setup", {"apply": self.apply})

    def chosen(self, options: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return those of `options` that this game has. Others are ignored, as PettingZoo does.

        Raises:
            ValueError: if an unknown name is nearly a known one, or `options` is no dict.
        """
        given = as_options(options)
        for name in given:
            near = get_close_matches(str(name), self.names, 1, 0.7)
            if near and name not in self.names:
                raise ValueError(f"nothing called {name!r} can be given; did you mean {near[0]!r}?")
        return {name: value for name, value in given.items() if name in self.names}


class Expert(Protocol):
    """A teacher that returns its action at every table. It may use information that is hidden from the seats."""

    def begin(self, tables: Tables) -> None:
        """Begin an episode on every table (recarray of shape (N,))."""
        ...

    def advise(self, tables: Tables) -> NDArray[np.int64]:
        """Return the expert's action index for the acting seat of every table: int64[N]; any value where done."""
        ...

    def leaves_to_learner(self, tables: Tables) -> NDArray[np.bool_]:
        """Return where the learner may decide in its own matches; elsewhere the expert's action is played: bool[N]."""
        ...

    def worth_copying(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.bool_]:
        """Return True for useful demonstrations, from their observations float32[M, D] and masks int8[M, A].

        Of the others, only a few are kept: bool[M].
        """
        ...


@dataclass(frozen=True)
class Forecast:
    """What the actions of one type pay the acting seat in this round, by the rules and what the seat knows.

    Attributes:
        action_type: the action type.
        numbers: the numbers of the action, ascending; of an action without a number, one; of one with several, none.
        payoffs: by an assumption in words, such as "if the other answers accept", the utility of each number, which is
            an expected one where a random event decides. None: it depends on a later decision of the seat. The
            assumption "" is that of no further decision: the utility is certain, up to a random event. Where words in
            the payload make the action, such as an effort, they are named: "with low effort". Of an action with
            several numbers: a constant and the slopes of `keys`; the utility is constant + sum of slope × number.
        keys: of an action with several numbers, the keys of the payload that hold them.
    """

    action_type: str
    numbers: Sequence[float]
    payoffs: Mapping[str, Sequence[float | None]]
    keys: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """The capabilities of a game; None: the game does not have this one.

    Attributes:
        expert: ``expert(game, encoder, count)`` makes an `Expert` for `count` tables, for a learner with the
            observations of `encoder`.
        forecasts: ``forecasts(state) -> list``: a `Forecast` of each action type that the receiver may choose now.
    """

    talk: Talk | None = None
    teams: Teams | None = None
    hidden_turn: HiddenTurn | None = None
    public_view: PublicView | None = None
    chance: Chance | None = None
    private_hands: PrivateHands | None = None
    setup: Setup | None = None
    symmetry: Symmetry | None = None
    outside_option: OutsideOption | None = None
    variance_reduction: VarianceReduction | None = None
    shown_options: ShownOptions | None = None
    expert: Callable[[Any, str, int], Expert] | None = None
    forecasts: Callable[[TurnState], list[Forecast]] | None = None

    def __post_init__(self) -> None:
        """Check the parts."""
        kinds = {
            "talk": Talk,
            "teams": Teams,
            "hidden_turn": HiddenTurn,
            "public_view": PublicView,
            "chance": Chance,
            "private_hands": PrivateHands,
            "setup": Setup,
            "symmetry": Symmetry,
            "outside_option": OutsideOption,
            "variance_reduction": VarianceReduction,
            "shown_options": ShownOptions,
        }
        for name, kind in kinds.items():
            if getattr(self, name) is not None:
                require_type("Capabilities", name, getattr(self, name), kind)
        if self.expert is not None:
            require_functions("Capabilities", {"expert": self.expert})

    def refuse_options(self, options: Mapping[str, Any] | None) -> None:
        """Refuse options of `reset`, for environments whose tables begin by themselves.

        Raises:
            ValueError: unless `options` is None or an empty dict.
        """
        given = as_options(options)
        setup = {} if self.setup is None else self.setup.chosen(given)
        if setup:
            raise ValueError(f"{', '.join(setup)}: drawn here; they can be given to `env` and `raw_env` (PettingZoo)")
        if "reset_mask" in given:
            raise ValueError("reset_mask: a finished table begins its next episode by itself, and reset() begins all")
        if given:
            raise ValueError(f"options={given!r}: reset() takes none here; give {{}} or None")


def as_options(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the options of a `reset` as a dict, which is empty for None.

    Raises:
        ValueError: if they are anything but a dict or None.
    """
    if options is not None and not isinstance(options, Mapping):
        raise ValueError(f"options={options!r}: give a dict, such as {{}}, or None")
    return dict(options or {})
