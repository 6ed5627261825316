"""The parts of a match in the terminal: the named agents in their seats."""

import sys
from dataclasses import replace

from ...envs import Game
from ...wrappers.agents.base import Agent
from ..runs.config import preset_options
from ..terminal.match import TerminalMatch
from .arguments import AgentsArguments, GameArguments, PlayersArguments
from .lookup import HUMAN, agent, game_with, has_seats, names_seats, of_the_zoo, rivals, warn_about_differences


def check(matches: int, delay: float) -> None:
    """Raise ValueError for a wrong number of matches or delay."""
    if matches < 1 or not 0 <= delay < 3600:
        raise ValueError(f"matches={matches}, delay={delay}: need at least 1 match, and a delay from 0 up")


def with_you(game: GameArguments, players: PlayersArguments) -> PlayersArguments:
    """Return the players of a match without named ones: a person, and the zoo's policy or a bot in all other seats."""
    seats = None if names_seats(game.options) or not has_seats(game.game) else preset_options(game.game).get("seats")
    chosen = game_with(game.game, game.options, seats=seats)
    rival = next(iter((*of_the_zoo(chosen), *rivals(chosen))))
    others = [rival] * (chosen.seats - 1)
    if others:
        print(f"you are {chosen.agents[0]}; {rival} plays the others (--agents names other players)", file=sys.stderr)
    return replace(players, agents=(HUMAN, *others))


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


def finish(match: TerminalMatch, matches: int, seed: int | None) -> None:
    """Play the match to its end.

    Raises:
        ValueError: if a person's input ends before the match.
    """
    try:
        match.play(matches, seed)
    except EOFError:
        raise ValueError("the input ended before the match") from None
