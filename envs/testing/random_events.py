"""Random events: the capability `Chance` enumerates the events that the rules draw."""

from collections import Counter
from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np

from ..core import chance
from ..core.capabilities import Chance
from ..core.rng import streams
from ..core.vector import VectorGame
from .trial import NotTried, Trial

MOST_RECORDS = 200
"""The most records after random events for which frequencies are compared."""
MOST_IN_TREE = 5_000
"""The most records of a game tree that is enumerated."""
SAMPLES_PER_RECORD, LEAST_SAMPLES = 50, 1_500
DEVIATIONS = 5
"""The most standard deviations between a frequency or mean and its exact value."""


def _chance(trial: Trial) -> Chance:
    capability = trial.game.capabilities.chance
    if capability is None:
        raise NotTried("the game has no random events that can be enumerated (no capability chance)")
    return capability


def probabilities(trial: Trial) -> None:
    """The probabilities of every random event are above 0 and sum to 1."""
    game, events = trial.game, _chance(trial)
    generator = np.random.default_rng(6)
    for seed in trial.seeds():
        table = game.tables(1)[0]
        trial.decision = 0
        events.begin(table)
        _settle(trial, table, generator)
        for before in trial.decisions(seed):
            if not before.done:
                table = before.copy()
                events.step(
                    table, game.rules.decode(table, int(np.flatnonzero(game.mask(before, int(before.turn)))[0]))
                )
                _settle(trial, table, generator)


def _settle(trial: Trial, table: Any, generator: np.random.Generator) -> None:
    """Play random outcomes until no random event is next."""
    events = _chance(trial)
    while weights := chance.probabilities(trial.game, table):
        trial.require(min(weights) > 0 and abs(sum(weights) - 1) < 1e-9, f"the probabilities of an event are {weights}")
        events.play(table, int(generator.choice(len(weights), p=np.array(weights) / sum(weights))))


def frequencies(trial: Trial) -> None:
    """The rules draw the enumerated records, with frequencies that fit their probabilities."""
    game, events = trial.game, _chance(trial)
    blank = game.tables(1)[0]
    dealt = blank.copy()
    events.begin(dealt)
    _compare(trial, dealt, blank, game.rules.reset)
    for seed in trial.seeds(2):
        for before in trial.decisions(seed):
            if not before.done:
                action = int(np.flatnonzero(game.mask(before, int(before.turn)))[-1])
                moved = before.copy()
                events.step(moved, game.rules.decode(moved, action))
                _compare(trial, moved, before, lambda table, action=action: game.rules.play(table, action))  # type: ignore[misc]


def _compare(trial: Trial, stopped: Any, before: Any, play: Callable[[Any], None]) -> None:
    """Compare the branches of `stopped`, where a random event may be next, with samples of `play` on `before`."""
    due = _chance(trial).outcomes(stopped)
    try:
        branches = chance.settled(trial.game, stopped, MOST_RECORDS)
    except ValueError:
        return  # too many
    samples = max(SAMPLES_PER_RECORD * len(branches), LEAST_SAMPLES) if due else 1
    counts: Counter[bytes] = Counter()
    for stream in streams(7, samples):
        table = before.copy()
        table.stream = stream
        play(table)
        table.stream = 0
        counts[table.tobytes()] += 1
    expected = {branch.table.tobytes(): branch.probability for branch in branches}
    trial.require(
        counts.keys() <= expected.keys(), "the rules lead to a record that none of the enumerated outcomes leads to"
    )
    for record, probability in expected.items():
        off = abs(counts[record] - samples * probability)
        trial.require(
            off <= DEVIATIONS * sqrt(samples * probability * (1 - probability)) + 1e-9,
            f"an outcome of probability {probability:.4g} was drawn {counts[record]} times of {samples}",
        )


def value(trial: Trial) -> None:
    """The exact value of uniformly random play is the mean of sampled play."""
    game = trial.game
    _chance(trial)
    try:
        exact = chance.expected_returns(game, most=MOST_IN_TREE)
    except ValueError as error:
        raise NotTried(str(error)) from None
    returns: list[list[float]] = []
    tables = VectorGame(game, 1_000)
    tables.reset(seed=8)
    total = np.zeros((tables.num_envs, game.seats))
    episodes = np.zeros(tables.num_envs, np.int64)
    while episodes.min() < 20:  # as many of every table: the first ones to end are short ones
        tables.step(tables.sample())
        total += tables.rewards
        returns += total[tables.dones & (episodes < 20)].tolist()
        episodes += tables.dones
        total[tables.dones] = 0
    mean, deviation = np.mean(returns, axis=0), np.std(returns, axis=0) / sqrt(len(returns))
    trial.require(
        (np.abs(mean - exact) <= DEVIATIONS * deviation + 1e-9).all(),
        f"uniformly random play is worth {exact.tolist()} by the tree and {mean.tolist()} in {len(returns)} episodes",
    )
