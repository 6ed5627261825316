"""Which games an arena plays, and which agents play each of them."""

from collections.abc import Callable, Sequence
from pathlib import Path

from ... import zoo
from ...envs import GAMES, Game, find
from ...envs.core.counted import counted
from ...wrappers.agents.base import Agent
from ...wrappers.live.arena.agent import ArenaAgent
from ..terminal.console import Console
from .lookup import (
    LLM,
    ZOO,
    bots_of,
    game_with,
    located,
    names_seats,
    reason_against,
    trained_for,
    warn_about_differences,
)

ALL = "all"
"""The name of all games."""

Seated = tuple[Game, list[ArenaAgent]]
Make = Callable[[str, Game, int], Agent]
"""Makes the agent that a name stands for in a game, by its number among the agents."""


def games_named(name: str) -> list[str]:
    """Return the games that a name, several names with commas, or ``all`` name.

    Raises:
        ValueError: for a game that is unknown, or named twice.
    """
    names = list(dict.fromkeys(one.rpartition("-v")[0] for one in GAMES)) if name == ALL else name.split(",")
    for game in names:
        find(game)
    if twice := [one for one in names if names.count(one) > 1]:
        raise ValueError(f"{twice[0]}: named twice")
    return names


def one_game(
    name: str, options: Sequence[str], seats: int | None, specs: Sequence[str], others: int, make: Make
) -> Seated:
    """Return a game with the agents that play it.

    Args:
        name: the game.
        options: its options as ``name=value``.
        seats: the number of seats; None: the game's default, or one per agent if there are fewer.
        specs: our agents (see `located`).
        others: number of agents over HTTP.
        make: makes an agent.

    Raises:
        ValueError: for an unknown game, option or agent.
    """
    game = _game(name, options, seats, len(specs) + others)
    return game, _seated([(one, _own_spec(one, game) or one) for one in specs], game, game.words, make)


def several_games(
    names: Sequence[str], specs: Sequence[str], others: int, make: Make, console: Console
) -> list[Seated]:
    """Return the games that enough agents know, each with these agents; name the games that are left out, and why.

    An agent has one name in all games.

    Raises:
        ValueError: for an unknown game, an agent that no game knows, or if no game is left.
    """
    bots = {"random", *(bot for name in names for bot in bots_of(name))}
    for spec in specs:
        if spec not in (ZOO, LLM):
            located(spec, bots)
    tables: list[tuple[Game, list[tuple[str, str]]]] = []
    for name in names:
        default = game_with(name)
        able = [(spec, own) for spec in specs if (own := _own_spec(spec, default))]
        try:
            game, able = _able(name, able, others, console)
        except ValueError as error:
            console.print(f"{name} is left out: {error}", markup=False)
            continue
        if len(able) + others < game.seats:
            why = f"{counted(len(able) + others, 'agents')} for {counted(game.seats, 'seats')}"
            console.print(f"{name} is left out: {why}", markup=False)
            continue
        tables.append((game, able))
    if not tables:
        raise ValueError(f"no game has enough agents; name more --agents or --remote (there are {len(specs) + others})")
    reserved = frozenset[str]().union(*(game.words for game, _ in tables))
    return [(game, _seated(able, game, reserved, make)) for game, able in tables]


def _able(name: str, able: list[tuple[str, str]], others: int, console: Console) -> tuple[Game, list[tuple[str, str]]]:
    """Return a game, and those of the agents that can play it with its seats; the others are named, with the reason.

    With fewer agents the game may have fewer seats, at which others cannot play: then it is asked again.

    Raises:
        ValueError: if the game does not have so few seats.
    """
    while True:
        game = _game(name, (), None, len(able) + others)
        reasons = {spec: reason for spec, own in able if (reason := reason_against(own, game))}
        if not reasons:
            return game, able
        for reason in reasons.values():
            console.print(f"{name}: {reason}", markup=False)
        able = [(spec, own) for spec, own in able if spec not in reasons]


def _own_spec(spec: str, game: Game) -> str | None:
    if spec == ZOO:
        return zoo.PREFIX + game.name if game.name in zoo.names() else None
    if spec in ("random", LLM) or spec in game.bots:
        return spec
    trained = trained_for(spec) if spec not in bots_of(game.name) else None
    return spec if trained is not None and trained.name == game.name else None


def _game(name: str, options: Sequence[str], seats: int | None, coming: int) -> Game:
    """Return the game; if its default has more seats than there are agents, with one seat per agent."""
    if seats is not None:
        return game_with(name, options, seats=seats)
    game = game_with(name, options)
    if 2 <= coming < game.seats and not names_seats(options):
        return game_with(name, options, seats=coming)
    return game


def _seated(specs: Sequence[tuple[str, str]], game: Game, reserved: frozenset[str], make: Make) -> list[ArenaAgent]:
    """Return the agents, with different names that are not words of the game.

    Args:
        specs: of each agent what the user wrote, and what it is in this game.
        game: the game.
        reserved: texts that no agent may be called.
        make: makes an agent.
    """
    taken = set(reserved)
    seated = []
    for number, (spec, own) in enumerate(specs):
        name = label = Path(spec).stem[:48] or spec
        count = 1
        while name in taken:
            count += 1
            name = f"{label}-{count}"
        taken.add(name)
        seated.append(ArenaAgent(name, make(own, game, number)))
    warn_about_differences([(one.agent_id, one.agent) for one in seated], game)
    return seated
