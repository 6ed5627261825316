"""Moment: what a replay shows of one decision. Who saw what, who decided what, and what it thought and said."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ... import envs
from ...envs.core.turn_state import MessageIntent, TurnState
from ..live.arena.platform_games import PLATFORM_GAMES

ALL = "all"
"""The view of an observer who sees every seat's secrets."""


@dataclass
class Moment:
    """A decision, or the end of a match.

    Attributes:
        match: which match of the log, from 0.
        title: of the match.
        states: what each agent saw, by name, in order of seats.
        agent: who decides; None at the end.
        action: what it does, in words; "" at the end.
        said: the messages that it sends with it.
        think: what it thought, where the log has it.
        probabilities: of every answer that was open to it, where the log has them.
        value: what it expected to win, where the log has it.
        note: what else is to be told: a refusal, a late answer, the outcome.
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

    @property
    def views(self) -> dict[str, list[TurnState]]:
        """The TurnStates that make each view, as `Game.picture` takes them: all seats', and every seat's own."""
        every = {ALL: list(self.states.values())} if len(self.states) > 1 else {}
        return every | {agent: [state] for agent, state in self.states.items()}


def picture(states: Sequence[TurnState]) -> str:
    """Draw a view of a moment, whatever the game.

    Raises:
        ValueError: if the game is not known here, or its picture is not of such a state.
    """
    game_id = states[0].game_id
    try:
        return _artist(game_id)(states)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(f"a state of {game_id} that cannot be drawn: {error!r}") from error


_artists: dict[str, Callable[[Sequence[TurnState]], str]] = {}


def _artist(game_id: str) -> Callable[[Sequence[TurnState]], str]:
    if game_id not in _artists:
        platform = PLATFORM_GAMES.get(game_id)
        _artists[game_id] = envs.game(platform.name if platform else game_id).renderer.picture
    return _artists[game_id]


def distinct(names: Sequence[str]) -> list[str]:
    """Return the names, those that came before with a number behind; none is that of the view of everything."""
    taken = [ALL]
    for name in names:
        count, one = 1, name
        while one in taken:
            count += 1
            one = f"{name}-{count}"
        taken.append(one)
    return taken[1:]
