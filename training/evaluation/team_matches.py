"""Matches between teams, with one policy in all seats of a team: win rates, and statistics of the play."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ...envs import Game, play_until_done
from ...envs.core.capabilities import Teams
from ...envs.core.record import Tables
from ...envs.core.rng import streams
from ...envs.core.rollout import Policy
from .duplicate import Score

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
    """Return what plays each team where `policy` plays one and `opponent` all others."""
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
            if isinstance(player, Mixed):
                seated += _newcomers(of == team, player.count, random)
        return seated

    return tables, play_until_done(game, playing, tables, who=who)


def team_sizes(game: Game) -> list[int]:
    """Return how many seats each team of a game has."""
    teams, tables = teams_of(game), game.tables(1)
    game.rules.reset(tables[0])
    return [int(size) for size in np.bincount(teams.of(tables)[0], minlength=len(teams.names))]


def _newcomers(own: NDArray[np.bool_], count: int | None, random: np.random.Generator) -> NDArray[np.bool_]:
    """Draw the seats of newcomers among a team's `own` seats, bool[N, seats]: bool[N, seats]."""
    sizes = own.sum(axis=1)
    wanted = np.maximum(sizes // 2, 1) if count is None else np.minimum(count, sizes)
    order = np.where(own, random.random(own.shape), 2.0).argsort(axis=1).argsort(axis=1)
    return np.asarray(order < wanted[:, None]) & own


def play_teams(
    game: Game,
    policies: Mapping[str, Policy | Mixed],
    *,
    matches: int = 5_000,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
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
    game: Game,
    policies: Mapping[str, Policy | Mixed],
    *,
    matches: int,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
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
        if progress is not None:
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
