"""Common parts of play, watch and record: a match of the named agents."""

from ...envs import Game
from ...wrappers.agents.base import Agent
from ..terminal.match import TerminalMatch
from .arguments import AgentsArguments, GameArguments
from .lookup import agent, game_with, has_seats, warn_about_differences


def check(hands: int, delay: float) -> None:
    """Raise ValueError for a wrong number of hands or delay."""
    if hands < 1 or not 0 <= delay < 3600:
        raise ValueError(f"hands={hands}, delay={delay}: need at least 1 hand, and a delay from 0 up")


def seated(game: GameArguments, players: AgentsArguments, seed: int | None) -> tuple[Game, list[Agent]]:
    """Return the game, with one seat per agent if it has the option `seats`, and the agents."""
    if seed is not None and seed < 0:
        raise ValueError(f"seed {seed} is negative; give one from 0 up")
    specs, model = players.agents, players.language_model()
    chosen = game_with(game.game, game.options, seats=len(specs) if has_seats(game.game) else None)
    seeds = [None] * len(specs) if seed is None else range(seed + 1, seed + 1 + len(specs))
    agents = [agent(spec, chosen, one, model) for spec, one in zip(specs, seeds, strict=True)]
    warn_about_differences(zip(specs, agents, strict=True), chosen)
    return chosen, agents


def finish(match: TerminalMatch, hands: int, seed: int | None) -> None:
    """Play the match to its end.

    Raises:
        ValueError: if a person's input ends before the match.
    """
    try:
        match.play(hands, seed)
    except EOFError:
        raise ValueError("the input ended before the match") from None
