"""Matches between teams; and cross-play: every policy with every other, and their ladder."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...envs import Game, Policy, Teams, play_until_done, streams
from ...envs.core.record import Tables
from ..parallel.tasks import HERE, Task, Tick, Workers, ignore
from .duplicate import Score, results_of_deals, unit_per_game

TABLES = 4_096
"""Number of matches played at the same time."""


WON, LOST = "share of the matches won", "share of the matches lost"
"""The units of a team's results."""


@dataclass(frozen=True)
class Mixed:
    """Two policies in one team. Which seats of the team each one plays is drawn for every match.

    Attributes:
        policy: plays most seats.
        newcomer: plays the others.
        count: how many seats the newcomer plays; None: half of the team, rounded down, but at least one.
    """

    policy: Policy
    newcomer: Policy
    count: int | None = None

    def __post_init__(self) -> None:
        """Check the count."""
        if self.count is not None and self.count < 0:
            raise ValueError(f"count={self.count}: a number of seats is 0 or more")


@dataclass(frozen=True)
class TeamResult:
    """The result of matches between teams.

    Attributes:
        wins: the share of matches won, by team. The other matches had no winner.
        facts: means over all matches, such as the number of days in mafia.
        habits: statistics of each team's play, as shares.
    """

    wins: dict[str, Score]
    facts: dict[str, float] = field(default_factory=dict)
    habits: dict[str, dict[str, float]] = field(default_factory=dict)

    def lost(self, team: str) -> Score:
        """Return the share of the matches that other teams than `team` won."""
        matches = self.wins[team].games
        lost = sum(round(won.mean * matches) for name, won in self.wins.items() if name != team)
        return Score.share(lost, matches, LOST)


def teams_of(game: Game) -> Teams:
    """Return the teams of a game.

    Raises:
        ValueError: if it has none.
    """
    if game.capabilities.teams is None:
        raise ValueError(f"{game.id} has no teams: every seat plays for itself")
    return game.capabilities.teams


PolicyOrMixed = TypeVar("PolicyOrMixed")


def against_team(game: Game, team: str, policy: PolicyOrMixed, opponent: PolicyOrMixed) -> dict[str, PolicyOrMixed]:
    """Return the player of each team: `policy` of one, `opponent` of all others."""
    return {name: policy if name == team else opponent for name in teams_of(game).names}


def finished(
    game: Game, policies: Mapping[str, Policy | Mixed], seeds: NDArray[np.uint64]
) -> tuple[Tables, NDArray[np.float64]]:
    """Play one match per seed, with each team's policy in all of its seats, or two policies in them.

    Args:
        game: a game with teams.
        policies: what plays each team.
        seeds: uint64[N], the random streams of the matches.

    Returns:
        The records of the matches as they ended, recarray of shape (N,), and the sum of every seat's rewards,
        float64[N, seats].
    """
    teams = teams_of(game)
    tables = game.tables(len(seeds))
    tables.stream = seeds
    playing: list[Policy] = []
    for name in teams.names:
        player = policies[name]
        playing += [player.policy, player.newcomer] if isinstance(player, Mixed) else [player, player]
    random = np.random.default_rng(seeds[:1])

    def who(tables: Tables) -> NDArray[np.int64]:
        of = np.asarray(teams.of(tables), np.int64)
        seated = 2 * of
        for team, name in enumerate(teams.names):
            player = policies[name]
            if isinstance(player, Mixed):  # the seats of the newcomers are drawn
                own = of == team
                sizes = own.sum(axis=1)
                wanted = np.maximum(sizes // 2, 1) if player.count is None else np.minimum(player.count, sizes)
                order = np.where(own, random.random(own.shape), 2.0).argsort(axis=1).argsort(axis=1)
                seated += (order < wanted[:, None]) & own
        return seated

    return tables, play_until_done(game, playing, tables, who=who)


def team_sizes(game: Game) -> list[int]:
    """Return the number of seats of each team."""
    teams, tables = teams_of(game), game.tables(1)
    game.rules.reset(tables[0])
    return [int(size) for size in np.bincount(teams.of(tables)[0], minlength=len(teams.names))]


def play_teams(
    game: Game, policies: Mapping[str, Policy | Mixed], *, matches: int = 5_000, seed: int = 0, progress: Tick = ignore
) -> TeamResult:
    """Play matches between the teams of a game.

    Args:
        game: a game with teams, with its options.
        policies: the policy of each team, which plays all of its seats, or two that share them.
        matches: number of matches, at least 1.
        seed: seed of the deals. Policies draw from their own streams.
        progress: called with the number of matches just played.

    Raises:
        ValueError: if the game has no teams, or a team has no policy.
    """
    teams = teams_of(game)
    names = teams.names
    won, done = winners(game, policies, matches=matches, seed=seed, progress=progress)
    won = np.bincount(won[won >= 0], minlength=len(names))
    wins = {name: Score.share(int(count), matches, WON) for name, count in zip(names, won, strict=True)}
    facts = {} if teams.facts is None else teams.facts(done)
    habits = {} if teams.habits is None else {name: teams.habits(done, name) for name in names}
    return TeamResult(wins, facts, habits)


def winners(
    game: Game, policies: Mapping[str, Policy | Mixed], *, matches: int, seed: int = 0, progress: Tick = ignore
) -> tuple[NDArray[np.int64], Tables]:
    """Return the number of the team that won each match (−1: none), int64[matches], and the records at the end.

    The arguments are those of `play_teams`.
    """
    if matches < 1:
        raise ValueError(f"matches={matches}: need at least 1")
    names = teams_of(game).names
    if missing := [name for name in names if name not in policies]:
        raise ValueError(f"no policy plays {', '.join(missing)}; the teams of {game.name} are {', '.join(names)}")
    seeds, done, won = streams(seed, matches), [], []
    for start in range(0, matches, TABLES):
        tables, total = finished(game, policies, seeds[start : start + TABLES])
        done.append(tables)
        won.append(winning_team(game, tables, total))
        progress(len(tables))
    return np.concatenate(won), np.concatenate(done).view(np.recarray)


def winning_team(game: Game, tables: Tables, total: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the team of each match whose mean reward was higher than that of every other team; −1: none."""
    teams = teams_of(game)
    of = teams.of(tables)
    counts = np.stack([(of == team).sum(axis=1) for team in range(len(teams.names))], axis=1)
    sums = np.stack([(total * (of == team)).sum(axis=1) for team in range(len(teams.names))], axis=1)
    means = np.where(counts > 0, sums / np.maximum(counts, 1), -np.inf)
    best = means.max(axis=1, keepdims=True)
    alone = (means == best).sum(axis=1) == 1
    return np.where(alone, means.argmax(axis=1), -1)


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
    """Return the number of times that `cross_play` plays all deals with so many policies."""
    if game.capabilities.teams is None:
        return policies * (policies + 1) // 2 if mirrored(game) else policies**2
    teams = len(game.capabilities.teams.names)
    pure = policies**2 if teams == 2 else teams * policies**2 - (teams - 1) * policies
    shared = sum(size > 1 for size in team_sizes(game))
    return pure + 2 * shared * policies * (policies - 1) * mixed


def mirrored(game: Game) -> bool:
    """Tell whether one seat loses what the other wins."""
    return game.seats == 2 and game.payoffs.zero_sum


def cross_play(
    game: Game,
    players: Mapping[str, Policy],
    *,
    deals: int = 2_000,
    seed: int = 0,
    mixed: bool = True,
    progress: Tick = ignore,
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
    mirror, settings = mirrored(game), dict[str, Any](deals=deals, seed=seed)
    cells = [(i, j) for i, j in product(range(len(names)), repeat=2) if i <= j or not mirror]
    tasks = [Task(partial(results_of_deals, policies[i], game, [policies[j]], **settings), deals) for i, j in cells]
    results = np.zeros((len(names), len(names), deals, game.seats))
    for (i, j), result in zip(cells, workers.run(tasks, progress), strict=True):
        results[i, j] = result
        if mirror and i < j:  # the same matches, seen from the other seat
            results[j, i] = -result[:, ::-1]
    unit = unit_per_game(game)
    others = "the other seat" if game.seats == 2 else "all other seats"
    title = f"return of the row in one seat, column in {others}"
    whole = Matrix(title, names, results.mean(axis=3), unit, games=game.seats, mirrored=mirror)
    by_seat = (
        Matrix(f"return of the row as {agent}, column in {others}", names, results[..., seat], unit)
        for seat, agent in enumerate(game.agents)
    )
    return [whole, *by_seat]


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
        against: list[Seated] = [
            tuple((i, i, None) if one == team else (j, j, None) for one in range(len(teams))) for i, j in pairs
        ]
        plans.append((team, f"row as {name}, column in the other team", against))
        if mixed and len(names) > 1 and sizes[team] > 1:
            for part, count in (("half of", None), ("one seat of", 1)):
                within: list[Seated] = [
                    tuple((i, j, count) if one == team and i != j else (i, i, None) for one in range(len(teams)))
                    for i, j in pairs
                ]
                plans.append((team, f"row as {name} and in the other team, column in {part} {name}", within))
    different = list(dict.fromkeys(seated for *_, cells in plans for seated in cells))
    deals = settings["matches"]
    tasks = []
    for cell in different:
        played = {
            team: policies[one] if other == one else Mixed(policies[one], policies[other], count)
            for team, (one, other, count) in zip(teams, cell, strict=True)
        }
        tasks.append(Task(partial(_winner_of_each, game, played, **settings), deals))
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
    return winners(game, seated, **settings)[0]  # no task brings the records back


def ladder(game: Game, matrices: Sequence[Matrix]) -> tuple[dict[str, Score], Floats]:
    """Return the mean win of every policy from all others, the best first, and from each of them.

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
