"""What only some games have, each a small protocol of its own: talk, teams, hidden turn, public view, chance, setup."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .checks import require_functions, require_names, require_type
from .record import Tables
from .turn_state import Action, Message, MessageIntent


@dataclass(frozen=True, kw_only=True)
class Talk:
    """Messages are a part of the game. Every function may be left out.

    Attributes:
        record_message: ``record_message(table, seat, intent)`` notes in the record a message that `seat` sends.
        messages_for: ``messages_for(table, seat) -> list[Message]``: what `seat` heard, as far as the record holds it.
        action_messages: ``action_messages(table, action) -> list[MessageIntent]``: what others hear of an accepted
            `Action`. They are sent before it is played.
        interpret: ``interpret(table, action, names) -> Action``: the same action with the meaning of its words written
            out, where players call the seats by `names`.
        message_violation: ``message_violation(table, seat, intent) -> str | None``: why the rules do not let `seat`
            send this message now; None where they do.
    """

    record_message: Callable[[Any, int, MessageIntent], None] | None = None
    messages_for: Callable[[Any, int], list[Message]] | None = None
    action_messages: Callable[[Any, Action], list[MessageIntent]] | None = None
    interpret: Callable[[Any, Action, Sequence[str]], Action] | None = None
    message_violation: Callable[[Any, int, MessageIntent], str | None] | None = None

    def __post_init__(self) -> None:
        """Check the parts."""
        require_functions("Talk", optional=vars(self), **vars(self))


@dataclass(frozen=True)
class Teams:
    """The seats of a team win and lose together.

    Attributes:
        names: of the teams; a team's number is its place here.
        of: ``of(tables) -> int8[N, seats]``: the team of every seat in the episode under way.
    """

    names: tuple[str, ...]
    of: Callable[[Tables], NDArray[np.int8]]

    def __post_init__(self) -> None:
        """Check the parts."""
        require_names("Teams", "names", self.names, least=2)
        require_functions("Teams", of=self.of)


@dataclass(frozen=True)
class HiddenTurn:
    """Not every seat may know whose turn it is.

    Attributes:
        visible_turn: ``visible_turn(table, seat) -> int``: whose turn it is; −1 where `seat` may not know (seat −1
            stands for observers). `table` may be a copy that is no record.
    """

    visible_turn: Callable[[Any, int], int]

    def __post_init__(self) -> None:
        """Check the part."""
        require_functions("HiddenTurn", visible_turn=self.visible_turn)


@dataclass(frozen=True)
class PublicView:
    """Observers without a seat may watch.

    Attributes:
        game_state: ``game_state(table) -> dict``: what every seat knows. `table` may be a copy that is no record.
    """

    game_state: Callable[[Any], dict[str, Any]]

    def __post_init__(self) -> None:
        """Check the part."""
        require_functions("PublicView", game_state=self.game_state)


@dataclass(frozen=True, kw_only=True)
class Chance:
    """Random events one by one, so that a tree of the game can be walked exactly (`parlour.envs.core.chance`).

    `begin` and `step` do what those of the rules do, but stop before a random event: there `outcomes` is above 0,
    nobody has the turn, and `play` goes on from it. The rules' own `reset` and `step` are these functions, and `play`
    with outcomes drawn from the record's stream (``while outcomes(table): play(table, draw(table, outcomes(table)))``).

    Mafia, Kuhn poker, Leduc hold'em and liar's dice have it. Hold'em's deck, the auction's and the bargaining game's
    draws of real numbers, and tangram's figures are drawn in one piece today: these games do not have it.

    Attributes:
        begin: ``begin(table)`` begins an episode.
        step: ``step(table, move)`` applies the acting seat's exact move.
        outcomes: ``outcomes(table) -> int``: how many outcomes the random event has that is due now; 0: none is due.
        play: ``play(table, outcome)`` lets it happen, and goes on to the next random event or decision.
        probability: ``probability(table, outcome) -> float``: of one of them, from 0 up to `outcomes`, exclusive. By
            default they are equally likely.
    """

    begin: Callable[[Any], None]
    step: Callable[[Any, Any], None]
    outcomes: Callable[[Any], int]
    play: Callable[[Any, int], None]
    probability: Callable[[Any, int], float] | None = None

    def __post_init__(self) -> None:
        """Check the parts."""
        require_functions("Chance", optional=("probability",), **vars(self))


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
        require_functions("Setup", apply=self.apply)

    def chosen(self, options: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return what of `options` this game knows. What it does not know is ignored, as PettingZoo does.

        Raises:
            ValueError: if an unknown name is nearly a known one.
        """
        given = dict(options or {})
        for name in given:
            near = get_close_matches(str(name), self.names, 1, 0.7)
            if near and name not in self.names:
                raise ValueError(f"nothing called {name!r} can be given; did you mean {near[0]!r}?")
        return {name: value for name, value in given.items() if name in self.names}


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """What a game has besides rules, encoders and a view; None: it has not."""

    talk: Talk | None = None
    teams: Teams | None = None
    hidden_turn: HiddenTurn | None = None
    public_view: PublicView | None = None
    chance: Chance | None = None
    setup: Setup | None = None

    def __post_init__(self) -> None:
        """Check the parts."""
        kinds = {
            "talk": Talk,
            "teams": Teams,
            "hidden_turn": HiddenTurn,
            "public_view": PublicView,
            "chance": Chance,
            "setup": Setup,
        }
        for name, kind in kinds.items():
            if getattr(self, name) is not None:
                require_type("Capabilities", name, getattr(self, name), kind)
