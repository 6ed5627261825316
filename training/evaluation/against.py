"""A policy against an opponent: what it has, what the opponent wins from it, and by team where the game has teams."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from rich.table import Table

from ...envs import Game
from ...envs.core.rollout import Policy
from .cross_play import mirrored
from .duplicate import evaluate
from .exploit import LOST, share_score, wins_of
from .scores import Score, in_two_lines
from .team_matches import Mixed, against_team, play_teams, teams_of

WON = "share of the matches won"
"""The unit of a team's result."""


@dataclass(frozen=True)
class Result:
    """The result of a policy against an opponent.

    Attributes:
        against: the name of the opponent.
        score: the mean return of the policy in one seat, where the opponent plays all others; with teams, the share of
            the matches that the policy wins as `team`, where the opponent plays the other teams.
        wins: what the opponent wins from the policy (see `exploit`); None: all seats share one reward, or there is
            more than one opponent at the table.
        team: the policy's team; None: the game has no teams.
        in_its_place: with teams, what the opponent wins in the policy's place.
    """

    against: str
    score: Score
    wins: Score | None = None
    team: str | None = None
    in_its_place: Score | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields for JSON; those of teams are left out where there are none."""
        about: dict[str, Any] = {"against": self.against, **self.score.to_dict()}
        about["wins_from_it"] = None if self.wins is None else self.wins.to_dict()
        if self.in_its_place is not None:
            about |= {"team": self.team, "in_its_place": self.in_its_place.to_dict()}
        return about


def plays(game: Game, opponents: int) -> int:
    """Return how often `measure` plays its deals: once where the same matches say what the opponent wins, or none does.

    Args:
        game: the game with its options.
        opponents: number of policies of the opponent.
    """
    if game.capabilities.teams is not None:
        return 1 + len(game.capabilities.teams.names)
    return 1 if opponents > 1 or game.payoffs.shared or mirrored(game) else 2


def measure(
    name: str,
    opponents: Sequence[Policy],
    policy: Policy,
    game: Game,
    *,
    deals: int,
    seed: int = 0,
    adjusted: bool = True,
    progress: Any = None,
) -> list[Result]:
    """Play a policy against an opponent, and return one result, or one for each team.

    Args:
        name: the name of the opponent.
        opponents: one; or several, which take turns around the table, and share a team half and half.
        policy: the policy to measure.
        game: the game with its options.
        deals: number of deals, at least 2, each played once in every seat; with teams, once for each team.
        seed: seed of the deals.
        adjusted: see `duplicate.evaluate`.
        progress: called with the number of deals just played.
    """
    if game.capabilities.teams is not None:
        return _by_team(name, opponents, policy, game, {"matches": deals, "seed": seed, "progress": progress})
    around = [opponents[place % len(opponents)] for place in range(game.seats - 1)]
    settings: dict[str, Any] = {"deals": deals, "seed": seed, "adjusted": adjusted, "progress": progress}
    result = Result(name, evaluate(policy, game, around, **settings))
    if len(opponents) > 1 or game.payoffs.shared:
        return [result]
    if mirrored(game):  # the same matches, seen from the other seat
        return [replace(result, wins=result.score.reversed())]
    return [replace(result, wins=wins_of(opponents[0], name, "", policy, game, **settings)[0].score)]


def _by_team(
    name: str, opponents: Sequence[Policy], policy: Policy, game: Game, settings: dict[str, Any]
) -> list[Result]:
    opponent = opponents[0] if len(opponents) == 1 else Mixed(opponents[0], opponents[1])
    teams = teams_of(game).names
    among_themselves = play_teams(game, dict.fromkeys(teams, opponent), **settings)
    results = []
    for team in teams:
        result = play_teams(game, against_team(game, team, policy, opponent), **settings)
        score, other = (share_score(one.wins[team], WON) for one in (result, among_themselves))
        results.append(Result(name, score, share_score(result.lost(team), LOST), team, other))
    return results


def team_table(results: Sequence[Result], title: str) -> Table:
    """Return results of a game with teams as a table, team by team."""
    table = Table("team", "against", "wins", "who is in its place wins", "wins from it", "matches", title=title)
    for column in table.columns[2:]:
        column.justify = "right"
    for team in dict.fromkeys(one.team for one in results):
        for result in (result for result in results if result.team == team):
            shown = [result.score, result.in_its_place, result.wins]
            cells = [in_two_lines(score.mean, score.low, score.high, "") for score in shown if score is not None]
            table.add_row(team, result.against, *cells, f"{result.score.deals:,}")
    return table
