"""Chance: the exact game tree of a game whose random events can be enumerated. It works on copies of a record.

    for probability, table in starts(game):                 # every first decision that can be dealt
        ...
    for probability, child in after(game, table, action):   # every result of an action
        ...

Every outcome is visited with its probability. Nothing is drawn: the random streams of the copies are not used.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .capabilities import Chance
from .game import Game


class Branch(NamedTuple):
    """A record that a random event can lead to.

    Attributes:
        probability: the probability of this record.
        table: the record, a copy.
    """

    probability: float
    table: Any


def starts(game: Game, most: int | None = None) -> list[Branch]:
    """Return the records with which an episode can begin, each at its first decision.

    Args:
        game: a game with the capability `Chance`.
        most: how many records there may be; None: any number.

    Raises:
        ValueError: if the game's random events cannot be enumerated, or there are more than `most` records.
    """
    table = game.tables(1)[0]
    required_chance(game).begin(table)
    return settled(game, table, most)


def after(game: Game, table: Any, action: int, most: int | None = None) -> list[Branch]:
    """Return the records that a legal action index can lead to, each at the next decision or at the end.

    `table` is not changed. In the records, ``rewards`` are those of the action and of the random events after it.

    Raises:
        ValueError: as `starts` does.
    """
    child = table.copy()
    required_chance(game).step(child, game.rules.decode(child, action))
    return settled(game, child, most)


def settled(game: Game, table: Any, most: int | None = None) -> list[Branch]:
    """Return the records at the next decision, or at the end, that follow from `table` by the next random events.

    Records that differ only in the random stream are merged. Without a random event the only record is `table`.

    Raises:
        ValueError: as `starts` does.
    """
    chance = required_chance(game)
    open_, ends = {b"": Branch(1.0, table)}, dict[bytes, Branch]()
    while open_:
        next_open = dict[bytes, Branch]()
        for branch in open_.values():
            if chance.outcomes(branch.table):
                _merge(next_open, [Branch(branch.probability * p, t) for p, t in outcomes(game, branch.table)])
            else:
                _merge(ends, [branch])
            if most is not None and len(next_open) + len(ends) > most:
                raise ValueError(f"the next random events lead to more than {most} records")
        open_ = next_open
    return list(ends.values())


def outcomes(game: Game, table: Any) -> list[Branch]:
    """Return the results of the next random event alone: a copy of `table` per outcome.

    Raises:
        ValueError: if the game's random events cannot be enumerated.
    """
    chance, branches = required_chance(game), []
    for outcome, probability in enumerate(probabilities(game, table)):
        child = table.copy()
        chance.play(child, outcome)
        branches.append(Branch(probability, child))
    return branches


def probabilities(game: Game, table: Any) -> list[float]:
    """Return the probability of every outcome of the next random event; empty if no random event is next.

    Raises:
        ValueError: if the game's random events cannot be enumerated.
    """
    chance = required_chance(game)
    count = chance.outcomes(table)
    if chance.probability is None:
        return [1 / count for _ in range(count)]
    return [chance.probability(table, outcome) for outcome in range(count)]


Strategy = Callable[[Any, NDArray[np.int8]], NDArray[np.floating[Any]]]
"""``strategy(table, mask)``: the acting seat's probability of every action index, float[A], 0 where `mask` is 0."""


def uniform(table: Any, mask: NDArray[np.int8]) -> NDArray[np.float64]:
    """Play every legal action with the same probability: a `Strategy`."""
    chances: NDArray[np.float64] = mask / mask.sum()
    return chances


def expected_returns(game: Game, strategy: Strategy = uniform, most: int | None = None) -> NDArray[np.float64]:
    """Return the expected return of every seat when all play by `strategy`: float64[seats], exact but for rounding.

    Args:
        game: a game with the capability `Chance`.
        strategy: how every seat plays.
        most: how many records the tree may have; None: any number.

    Raises:
        ValueError: if the game's random events cannot be enumerated, or the tree has more than `most` records.
    """
    left = np.inf if most is None else most

    def value(table: Any) -> NDArray[np.float64]:
        nonlocal left
        total = np.zeros(game.seats)
        left -= 1
        if left < 0:
            raise ValueError(f"the tree has more than {most} records")
        if table.done:
            return total
        chances = strategy(table, game.mask(table, int(table.turn)))
        for action in np.flatnonzero(chances).tolist():
            for probability, child in after(game, table, action, most):
                total += chances[action] * probability * (child.rewards[: game.seats] + value(child))
        return total

    returns: NDArray[np.float64] = np.sum([p * value(table) for p, table in starts(game, most)], axis=0)
    return returns


def required_chance(game: Game) -> Chance:
    """Return the chance moves of a game.

    Raises:
        ValueError: if the game does not list it with its options.
    """
    chance = game.capabilities.chance
    if chance is None:
        raise ValueError(
            f"{game.id} with these options does not list all that chance may deal or draw, so its tree cannot be "
            "walked: exact answers are for small games that do"
        )
    return chance


def _merge(into: dict[bytes, Branch], branches: list[Branch]) -> None:
    """Add branches, those with equal records together."""
    for probability, table in branches:
        table.stream = 0  # nothing is drawn from it, so records that differ only here are equal
        key = table.tobytes()
        before = into[key].probability if key in into else 0.0
        into[key] = Branch(before + probability, table)
