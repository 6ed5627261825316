"""Cross-play: every policy with every other, and their ladder."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...envs import Game
from ...envs.core.rollout import Policy
from ..parallel.tasks import HERE, Task, Tick, Workers
from .duplicate import Score, results_of_deals, unit_per_game
from .team_matches import Mixed, team_sizes, teams_of, winners

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Matrix:
    """Results of every policy with every policy.

    Attributes:
        title: what the row's policy does and what the column's does.
        names: the policies.
        results: float64[policies, policies, deals], the result of the row's policy of each deal. All cells have the
            same deals.
        unit: the unit of a result.
        shares: whether the results are 1 for a win and 0 for none.
        games: matches of each deal.
        mirrored: whether a policy has 0 with itself, but for luck: the row's seat loses what the column's wins.
    """

    title: str
    names: tuple[str, ...]
    results: Floats
    unit: str
    shares: bool = False
    games: int = 1
    mirrored: bool = False

    def score(self, row: int, column: int) -> Score:
        """Return one cell with its interval: Wilson's for shares, else Student's."""
        of = self.results[row, column]
        if not self.shares:
            return Score.of(of, self.unit, len(of) * self.games)
        return Score.share(int(of.sum()), len(of), self.unit)

    @property
    def self_play(self) -> Score:
        """The mean of the policies with themselves."""
        return self._of(self.results.diagonal().mean(axis=1))

    @property
    def cross_play(self) -> Score:
        """The mean of the policies with others."""
        return self._of(self._others())

    @property
    def gap(self) -> Score:
        """Self-play less cross-play, on the same deals. Its interval covers these policies' deals, not further seeds of
        training."""
        return self._of(self.results.diagonal().mean(axis=1) - self._others())

    @property
    def worst(self) -> tuple[int, int]:
        """Row and column of the lowest mean; of a policy with others, where it has 0 with itself."""
        means = self.results.mean(axis=2)
        if self.mirrored and len(means) > 1:
            np.fill_diagonal(means, np.inf)
        row, column = np.unravel_index(means.argmin(), means.shape)
        return int(row), int(column)

    def to_dict(self) -> dict[str, Any]:
        """Return cells and means for JSON."""
        count = len(self.names)
        row, column = self.worst
        cells = [
            {"row": self.names[i], "column": self.names[j], **self.score(i, j).to_dict()}
            for i, j in product(range(count), repeat=2)
        ]
        means = {"self_play": self.self_play, "cross_play": self.cross_play, "gap": self.gap} if count > 1 else {}
        return {
            "title": self.title,
            "cells": cells,
            **{name: score.to_dict() for name, score in means.items()},
            "worst": {"row": self.names[row], "column": self.names[column]},
        }

    def _others(self) -> Floats:
        count = len(self.names)
        if count < 2:
            raise ValueError("cross-play needs at least two policies")
        diagonal = self.results.diagonal().sum(axis=1)
        return np.asarray((self.results.sum(axis=(0, 1)) - diagonal) / (count * (count - 1)))

    def _of(self, per_deal: Floats) -> Score:
        return Score.of(per_deal, self.unit, len(per_deal) * self.games)


def count_of_matches(game: Game, policies: int, mixed: bool = True) -> int:
    """Return how many times `cross_play` plays all deals with that many policies."""
    if game.capabilities.teams is None:
        return policies * (policies + 1) // 2 if mirrored(game) else policies**2
    teams = len(game.capabilities.teams.names)
    pure = policies**2 if teams == 2 else teams * policies**2 - (teams - 1) * policies
    shared = sum(size > 1 for size in team_sizes(game))
    return pure + 2 * shared * policies * (policies - 1) * mixed


def mirrored(game: Game) -> bool:
    """Return whether one seat loses what the other wins."""
    return game.seats == 2 and game.payoffs.zero_sum


def cross_play(
    game: Game,
    players: Mapping[str, Policy],
    *,
    deals: int = 2_000,
    seed: int = 0,
    mixed: bool = True,
    progress: Tick | None = None,
    workers: Workers = HERE,
) -> list[Matrix]:
    """Play every policy with every policy.

    Every cell is a task, with copies of its policies: it depends neither on the other cells nor on where it is played.

    Without teams there is one matrix over all seats, in which the row's policy sits in one seat and the column's in
    all others, and one for each seat. With teams there is one matrix for each team, in which the row's policy plays
    the team and the column's all other teams; and with `mixed` two more, in which the column's policy has half of the
    seats of the row's team, or one seat, and the row's policy all other seats of the game.

    Args:
        game: the game with its options.
        players: the policies by name, at least one.
        deals: number of deals (matches of teams) of each cell, at least 2; without teams each is played in every seat.
        seed: seed of the deals.
        mixed: whether to play mixed teams.
        progress: called with the number of deals just played.
        workers: where the cells are played.
    """
    if game.capabilities.teams is not None:
        run = partial(workers.run, progress=progress)
        return _of_teams(game, players, {"matches": deals, "seed": seed}, mixed, run)
    names, policies = tuple(players), list(players.values())
    mirror, settings = mirrored(game), {"deals": deals, "seed": seed}
    cells = [(i, j) for i, j in product(range(len(names)), repeat=2) if i <= j or not mirror]
    tasks = [Task(results_of_deals, (policies[i], game, [policies[j]]), settings, deals) for i, j in cells]
    results = np.zeros((len(names), len(names), deals, game.seats))
    for (i, j), result in zip(cells, workers.run(tasks, progress), strict=True):
        results[i, j] = result
        if mirror and i < j:  # the same matches, seen from the other seat
            results[j, i] = -result[:, ::-1]
    unit = unit_per_game(game)
    others = "the other seat" if game.seats == 2 else "all other seats"
    matrices = [
        Matrix(
            f"return of the row in one seat, column in {others}",
            names,
            results.mean(axis=3),
            unit,
            games=game.seats,
            mirrored=mirror,
        )
    ]
    for seat, agent in enumerate(game.agents):
        matrices.append(Matrix(f"return of the row as {agent}, column in {others}", names, results[..., seat], unit))
    return matrices


Seated = tuple[tuple[int, int, int | None], ...]
"""What plays each team: the number of the policy, of the newcomer, and of the newcomer's seats (None: half)."""


def _of_teams(
    game: Game, players: Mapping[str, Policy], settings: Mapping[str, int], mixed: bool, run: Callable[..., list[Any]]
) -> list[Matrix]:
    names, policies = tuple(players), list(players.values())
    teams, sizes = teams_of(game).names, team_sizes(game)
    pairs = list(product(range(len(names)), repeat=2))
    plans: list[tuple[int, str, list[Seated]]] = []  # of each matrix: its team, its title, its cells
    for team, name in enumerate(teams):
        against = [_against(team, len(teams), i, j) for i, j in pairs]
        plans.append((team, f"row as {name}, column in the other team", against))
        if mixed and len(names) > 1 and sizes[team] > 1:
            for part, count in (("half of", None), ("one seat of", 1)):
                within = [_within(team, len(teams), count, i, j) for i, j in pairs]
                plans.append((team, f"row as {name} and in the other team, column in {part} {name}", within))
    different = list(dict.fromkeys(seated for *_, cells in plans for seated in cells))
    deals = settings["matches"]
    tasks = [Task(_winner_of_each, (game, _mixed(teams, policies, one)), settings, deals) for one in different]
    won = dict(zip(different, run(tasks), strict=True))
    shape = len(names), len(names), deals
    return [
        Matrix(
            title,
            names,
            np.stack([won[seated] == team for seated in cells]).astype(np.float64).reshape(shape),
            f"share of the matches that {teams[team]} wins",
            shares=True,
        )
        for team, title, cells in plans
    ]


def _winner_of_each(game: Game, seated: Mapping[str, Policy | Mixed], **settings: Any) -> NDArray[np.int64]:
    return winners(game, seated, **settings)[0]


def _mixed(teams: Sequence[str], policies: Sequence[Policy], seated: Seated) -> dict[str, Policy | Mixed]:
    return {
        name: policies[one] if other == one else Mixed(policies[one], policies[other], count)
        for name, (one, other, count) in zip(teams, seated, strict=True)
    }


def _against(team: int, teams: int, row: int, column: int) -> Seated:
    return tuple((row, row, None) if one == team else (column, column, None) for one in range(teams))


def _within(team: int, teams: int, count: int | None, row: int, column: int) -> Seated:
    return tuple((row, column, count) if one == team and row != column else (row, row, None) for one in range(teams))


def ladder(game: Game, matrices: Sequence[Matrix]) -> tuple[dict[str, Score], Floats]:
    """Return what every policy wins from all others on average, the best first, and from each of them.

    Args:
        game: the game of `matrices`.
        matrices: those of `cross_play`, without mixed teams.

    Returns:
        The scores by policy. float64[policies, policies], antisymmetric, in the order of the scores: half the
        difference between what the row has in the column's company and the reverse, for teams on average over the
        teams.
    """
    has_teams, names = game.capabilities.teams is not None, matrices[0].names
    results = np.mean([matrix.results for matrix in (matrices if has_teams else matrices[:1])], axis=0)
    won = (results - results.transpose(1, 0, 2)) / 2
    unit = "share of matches" if has_teams else unit_per_game(game)
    scores = [Score.of(each, unit, each.size * matrices[0].games) for each in won.sum(axis=1) / (len(names) - 1)]
    order = sorted(range(len(names)), key=lambda row: -scores[row].mean)
    return {names[row]: scores[row] for row in order}, np.asarray(won.mean(axis=2)[np.ix_(order, order)])
