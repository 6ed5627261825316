"""Cross-play: every policy against every other, on the same deals; and what it gains or loses beside itself."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...envs import Game
from ...envs.core.rollout import Policy
from .duplicate import results_of_deals, unit_per_game
from .scores import Score
from .teams import Mixed, Share, teams_of, winners

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
    """

    title: str
    names: tuple[str, ...]
    results: Floats
    unit: str
    shares: bool = False
    games: int = 1

    def score(self, row: int, column: int) -> Score:
        """Return one cell with its interval: Wilson's for shares, else Student's."""
        of = self.results[row, column]
        if not self.shares:
            return Score.of(of, self.unit, len(of) * self.games)
        won = Share.of(int(of.sum()), len(of))
        return Score(won.share, won.low, won.high, won.matches, won.matches, self.unit)

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
        """Self-play less cross-play, on the same deals."""
        return self._of(self.results.diagonal().mean(axis=1) - self._others())

    @property
    def worst(self) -> tuple[int, int]:
        """Row and column of the lowest mean."""
        means = self.results.mean(axis=2)
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


Tick = Callable[[int], None]
"""Called with the number of deals just played."""


def count_of_matches(game: Game, policies: int, mixed: bool = True) -> int:
    """Return how many lots of deals `cross_play` plays with that many policies."""
    if game.capabilities.teams is None:
        return policies * (policies + 1) // 2 if _mirrored(game) else policies**2
    teams = len(game.capabilities.teams.names)
    pure = policies**2 if teams == 2 else teams * policies**2 - (teams - 1) * policies
    return pure + 2 * teams * policies * (policies - 1) * mixed


def _mirrored(game: Game) -> bool:
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
) -> list[Matrix]:
    """Play every policy with every policy.

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
    """
    if game.capabilities.teams is not None:
        return _of_teams(game, players, deals, seed, mixed, progress)
    names, policies = tuple(players), list(players.values())
    results = np.zeros((len(names), len(names), deals, game.seats))
    mirrored = _mirrored(game)
    for i, j in product(range(len(names)), repeat=2):
        if mirrored and j < i:  # the same matches, seen from the other seat
            results[i, j] = -results[j, i, :, ::-1]
        else:
            results[i, j] = results_of_deals(
                policies[i], game, [policies[j]], deals=deals, seed=seed, progress=progress
            )
    unit = unit_per_game(game)
    others = "the other seat" if game.seats == 2 else "all other seats"
    matrices = [Matrix(f"row in one seat, column in {others}", names, results.mean(axis=3), unit, games=game.seats)]
    for seat, agent in enumerate(game.agents):
        matrices.append(Matrix(f"row as {agent}, column in {others}", names, results[..., seat], unit))
    return matrices


def _of_teams(
    game: Game, players: Mapping[str, Policy], deals: int, seed: int, mixed: bool, progress: Tick | None
) -> list[Matrix]:
    names, policies = tuple(players), list(players.values())
    teams = teams_of(game).names
    known: dict[tuple[Any, ...], NDArray[np.int64]] = {}

    def won(team: int, seated: Sequence[tuple[int, int, int | None]]) -> Floats:
        """Play matches, each team by (policy, newcomer, number of newcomers)."""
        key = tuple(seated)
        if key not in known:
            chosen = {
                name: Mixed(policies[one], policies[other], count) if other != one else policies[one]
                for name, (one, other, count) in zip(teams, seated, strict=True)
            }
            known[key] = winners(game, chosen, matches=deals, seed=seed, progress=progress)[0]
        return np.asarray(known[key] == team, np.float64)

    def matrix(team: int, title: str, seats_of: Callable[[int, int], list[tuple[int, int, int | None]]]) -> Matrix:
        pairs = product(range(len(names)), repeat=2)
        results = np.stack([won(team, seats_of(i, j)) for i, j in pairs]).reshape(len(names), len(names), deals)
        return Matrix(title, names, results, f"share of the matches that {teams[team]} wins", shares=True)

    matrices = []
    for team, name in enumerate(teams):
        matrices.append(matrix(team, f"row as {name}, column in the other team", _against(team, len(teams))))
        if mixed and len(names) > 1:
            for part, count in (("half of", None), ("one seat of", 1)):
                title = f"row as {name} and in the other team, column in {part} {name}"
                matrices.append(matrix(team, title, _within(team, len(teams), count)))
    return matrices


def _against(team: int, teams: int) -> Callable[[int, int], list[tuple[int, int, int | None]]]:
    def seats_of(row: int, column: int) -> list[tuple[int, int, int | None]]:
        return [(row, row, None) if one == team else (column, column, None) for one in range(teams)]

    return seats_of


def _within(team: int, teams: int, count: int | None) -> Callable[[int, int], list[tuple[int, int, int | None]]]:
    def seats_of(row: int, column: int) -> list[tuple[int, int, int | None]]:
        if row == column:
            return [(row, row, None)] * teams
        return [(row, column, count) if one == team else (row, row, None) for one in range(teams)]

    return seats_of
