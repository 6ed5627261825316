"""`parlour evaluate teams`: how often each team of a game wins, with one policy per team, and how it plays."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from math import nan
from typing import Annotated

from cyclopts import Parameter
from rich.table import Table

from ...envs import Game
from ...envs.core.options import named
from ...wrappers.policies.base import Policy
from ..evaluation.team_matches import Mixed, Ratio, Share, TeamResult, play_teams, team_sizes, teams_of
from ..runs.config import settings_from
from ..terminal.console import Console
from ..terminal.progress import counting_bar
from .arguments import GameArguments, ReportArguments
from .lookup import game_with, located, policy, silenced, warn_about_differences

COLUMNS = 4
"""The most statistics per table, for 80 columns."""


@dataclass(frozen=True)
class TeamsRow:
    """One combination of policies.

    Attributes:
        seats: number of seats.
        policies: the name of the policy of each team.
        result: the result.
    """

    seats: int
    policies: Mapping[str, str]
    result: TeamResult


def command(
    game: GameArguments,
    policies: Annotated[tuple[str, ...], Parameter(name="TEAM")] = (),
    *,
    seats: tuple[int, ...] = (),
    deals: int = 5_000,
    mute: tuple[str, ...] = (),
    scramble: tuple[str, ...] = (),
    report: ReportArguments,
) -> None:
    """Measure how often each team of a game wins, with one policy in all seats of a team, and how it plays.

    With several policies for a team, print also how often each one loses against the first policies of the other
    teams, compared with the team's first policy.

    Args:
        policies: The policies of the teams, as team=policy, such as mafia=mixed town=first. A team may have several
            policies; two joined by +, as in town=first+mixed, share the team half and half; town=first+mixed:1 gives
            the second one seat. Default of a team: the first bot of the game's preset.
        seats: Numbers of seats; each one is measured. Default: the game's own.
        deals: Matches per combination.
        mute: Teams that cannot say anything.
        scramble: Teams whose statements are replaced by random ones.
    """
    pairings, rows = [], []
    for team in (*mute, *scramble):
        named("team", team, teams_of(game_with(game.game, game.options)).names)
    for count in seats or (None,):
        table = game_with(game.game, game.options, seats=count)
        for chosen in _combinations(table, policies):
            players = {
                team: _player(name, table, report.seed + number, team in mute, team in scramble)
                for number, (team, name) in enumerate(chosen.items(), 1)
            }
            _check_counts(table, chosen, players)
            pairings.append((table, chosen, players))  # all of them first: a mistake is an error before any play
    for table, chosen, players in pairings:
        task = f"{' against '.join(chosen.values())}, {table.seats} seats"
        with counting_bar(task, deals) as done:
            result = play_teams(table, players, matches=deals, seed=report.seed, progress=done)
        rows.append(TeamsRow(table.seats, chosen, result))
    if report.as_json:
        print(
            json.dumps([{"seats": row.seats, "policies": row.policies, **asdict(row.result)} for row in rows], indent=2)
        )
    else:
        Console().print(*tables(rows))


def _player(name: str, game: Game, seed: int, mute: bool, scramble: bool) -> Policy | Mixed:
    """Return the policy of a team, or the two of ``one+two`` or ``one+two:count``."""
    bots = {"random": None, **game.bots}
    try:
        parts, count = [located(name, bots)], ""
    except ValueError:
        first, plus, rest = name.partition("+")
        if not plus:
            raise
        if "+" in rest:
            raise ValueError(f"{name!r}: a team has one policy, or two that share it") from None
        second, _, count = rest.rpartition(":")
        if second in ("", "zoo"):  # "one+two", "one+zoo:two"
            second, count = rest, ""
        parts = [located(first, bots), located(second, bots)]
        if count and not count.isdecimal():
            raise ValueError(f"{name!r}: after the colon stands the number of seats of {second}") from None
    players = []
    for number, part in enumerate(parts):
        player = policy(part, game, seed + 1_000 * number)
        warn_about_differences([(part, player)], game)
        players.append(silenced(player, game, mute, scramble, seed + number))
    return players[0] if len(players) == 1 else Mixed(players[0], players[1], int(count) if count else None)


def _check_counts(game: Game, chosen: Mapping[str, str], players: Mapping[str, Policy | Mixed]) -> None:
    """Raise ValueError for a number of seats that leaves one of a team's two policies without a seat."""
    for team, player in players.items():
        if isinstance(player, Mixed):
            _require_share(team, player.count, chosen[team], game)


def require_room_for(policies: int, name: str, game: Game) -> None:
    """Raise ValueError if `policies` cannot share every team of a game; `name` is what the user wrote for them."""
    if policies > 2:
        raise ValueError(f"{name!r}: a team has one policy, or two that share it")
    for team in teams_of(game).names if policies == 2 else ():
        _require_share(team, None, name, game)


def _require_share(team: str, count: int | None, name: str, game: Game) -> None:
    size = dict(zip(teams_of(game).names, team_sizes(game), strict=True))[team]
    if not 1 <= (size // 2 if count is None else count) < size:
        wanted = "half of the" if count is None else count
        fits = f"1 to {size - 1} can be given" if size > 1 else "two policies cannot share one"
        raise ValueError(f"{name!r}: {wanted} seats; at {game.seats} seats {team} has {size}, of which {fits}")


def _combinations(game: Game, policies: Sequence[str]) -> Iterator[dict[str, str]]:
    """Yield the policy of each team, for every combination of the given ones."""
    names = teams_of(game).names
    chosen: dict[str, list[str]] = {team: [] for team in names}
    for text in policies:
        team, equals, name = text.partition("=")
        if not equals:
            raise ValueError(f"{text!r}: write team=policy; the teams of {game.name} are {', '.join(names)}")
        chosen[named("team", team, names)].append(name)
    default = next(iter(settings_from(game.name).get("bots", {"random": 1})))
    for combination in product(*(chosen[team] or [default] for team in names)):
        yield dict(zip(names, combination, strict=True))


def tables(rows: Sequence[TeamsRow]) -> list[Table]:
    """Return the tables that the command prints, for 80 columns even with long names."""
    habits = next(iter(rows[0].result.habits.values()), {})
    parts = [_wins(rows), _places(rows)]
    names = list(habits)
    parts += [_habits(rows, names[start : start + COLUMNS]) for start in range(0, len(names), COLUMNS)]
    parts = [table for table in parts if table.row_count]
    for table in parts:
        for column in table.columns:
            column.overflow = "fold"
    return parts


def _wins(rows: Sequence[TeamsRow]) -> Table:
    teams, facts = list(rows[0].policies), list(rows[0].result.facts)
    table = Table("seats", *teams, *(f"{team} wins" for team in teams), *facts, title="wins by team (95 % intervals)")
    for column in table.columns[len(teams) + 1 :]:
        column.justify = "right"
    for row in rows:
        wins = [_folded(share) for share in row.result.wins.values()]
        means = [f"{row.result.facts[name]:.1f}" for name in facts]
        table.add_row(str(row.seats), *row.policies.values(), *wins, *means)
    return table


def _places(rows: Sequence[TeamsRow]) -> Table:
    """Return how often each policy loses, compared with the first policy of its team."""
    table = Table("seats", "team", "loses", "in its place", "ratio", title="compared with the first policy")
    for team in rows[0].policies:
        first: dict[int, TeamsRow] = {}
        for row in rows:
            before = first.setdefault(row.seats, row)
            rivals = {other: name for other, name in row.policies.items() if other != team}
            if row.policies[team] != before.policies[team] and rivals.items() <= before.policies.items():
                lost, reference = row.result.lost(team), before.result.lost(team)
                table.add_row(
                    str(row.seats),
                    f"{team}, against {', '.join(rivals.values())}",
                    f"{row.policies[team]}\n{_folded(lost)}",
                    f"{before.policies[team]}\n{_folded(reference)}",
                    _folded(Ratio.of(lost, reference)),
                )
    return table


def _habits(rows: Sequence[TeamsRow], names: Sequence[str]) -> Table:
    table = Table("seats", "team", *names, title="how they play")
    for column in table.columns[2:]:
        column.justify = "right"
    for row in rows:
        for team, name in row.policies.items():
            habits = row.result.habits[team]
            table.add_row(str(row.seats), f"{name} ({team})", *(f"{habits.get(habit, nan):.0%}" for habit in names))
    return table


def _folded(interval: Share | Ratio) -> str:
    return str(interval).replace(" [", "\n[")
