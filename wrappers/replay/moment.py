"""Moment: the data of one decision in a replay: states, action, messages and thoughts."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from html import unescape

from ... import envs
from ...envs.core.default_view import default_parts
from ...envs.core.game import Game
from ...envs.core.turn_state import MessageIntent, TurnState
from ...envs.render.svg import escape
from ..live.arena.platform_games import PLATFORM_GAMES
from ..live.common.seat_names import SeatNames

ALL = "all"
"""The name of the view with all hidden information."""


@dataclass
class Moment:
    """A decision, or the end of a match.

    Attributes:
        match: the number of the match in the log, from 0.
        title: the match's title.
        states: each agent's TurnState, by name, in seat order.
        agent: the agent that decides; None at the end.
        action: its action as text; "" at the end.
        said: the messages sent with the action.
        think: the agent's thoughts, if the log has them.
        probabilities: the probability of every legal answer, if the log has them.
        value: the expected return, if the log has it.
        note: other information: a refusal, a late answer, who won and why.
        details: facts of the match, by name.
        results: what each player won in the match, where `states` do not tell it.
        unit: what its results are counted in; empty: what the game's rewards are.
        names: the players' names in `states`; None: these have the game's own.
        game: the game with its options; None: only its id is known.
    """

    match: int
    title: str
    states: dict[str, TurnState]
    agent: str | None = None
    action: str = ""
    said: list[MessageIntent] = field(default_factory=list)
    think: str = ""
    probabilities: dict[str, float] = field(default_factory=dict)
    value: float | None = None
    note: str = ""
    details: dict[str, str] = field(default_factory=dict)
    results: dict[str, float] = field(default_factory=dict)
    unit: str = ""
    names: SeatNames | None = None
    game: Game | None = None

    @property
    def views(self) -> dict[str, list[TurnState]]:
        """The TurnStates of each view, as `Renderer.picture` takes them: one view with all seats, and one per seat."""
        every = {ALL: list(self.states.values())} if len(self.states) > 1 else {}
        return every | {agent: [state] for agent, state in self.states.items()}


def picture(states: Sequence[TurnState], names: SeatNames | None = None, game: Game | None = None) -> str:
    """Draw a view of a moment, for any game; None: the game of the states' id, with its default options.

    A small game's picture gets the game's own names of agents, as at a table, and `names` are written over them.

    Raises:
        ValueError: if the game is unknown, or its picture cannot be drawn from these states.
    """
    game_id = states[0].game_id
    try:
        game = game or game_of(game_id)
        if names is None or default_parts(game.view) is None:
            return game.renderer.picture(states)
        drawn = game.renderer.picture([names.state_for_game(state) for state in states])
        return re.sub(r"(?<=>)[^<]*\w[^<]*", lambda text: _renamed(text[0], names), drawn)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(f"a state of {game_id} that cannot be drawn: {error!r}") from error


def _renamed(words: str, names: SeatNames) -> str:
    """Return the text of an element with the players' names."""
    renamed = names.words_for_agents(unescape(words))
    return words if renamed == unescape(words) else escape(renamed)


@cache
def game_of(game_id: str) -> Game:
    """Return the game of a TurnState, with default options."""
    platform = PLATFORM_GAMES.get(game_id)
    return envs.game(platform.name if platform else game_id)


def distinct(names: Sequence[str]) -> list[str]:
    """Return the names, repeated ones with a number. No name is that of the view with all information."""
    taken = [ALL]
    for name in names:
        count, unique = 1, name
        while unique in taken:
            count += 1
            unique = f"{name}-{count}"
        taken.append(unique)
    return taken[1:]
