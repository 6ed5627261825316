"""`parlour evaluate` with its subcommands teams, held-out, crossplay and exploit: measures of policies."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import combinations, count, product
from math import nan
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from cyclopts.types import NonNegativeInt
from rich.markup import escape
from rich.table import Table

from ...envs import Game
from ...envs.core.counted import counted
from ...envs.core.options import named
from ...wrappers.policies.base import Policy
from ...wrappers.policies.solved import SolvedPolicy
from ...wrappers.replay.log_reader import moments
from ...wrappers.replay.page import page
from ..evaluation import cross_play
from ..evaluation.duplicate import Score, evaluate, score_table
from ..evaluation.exact import Probable
from ..evaluation.exploit import Estimated, Win, exact_win, reply_of, thinned, tree_of, wins_of, worst_of
from ..evaluation.games import compare, games_with, measures
from ..evaluation.pages import ladder_columns, ladder_page, provenance
from ..learning.settings import LearnerArguments, TrainConfig
from ..parallel.tasks import HERE, Task, Tick, Workers
from ..runs.config import settings_from
from ..solving.problems import sampled_response
from ..terminal.console import counting_bar, table_of
from ..terminal.match import recorded
from . import lookup
from .arguments import DealsArguments, GameArguments, PolicyArguments, ReportArguments


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
    """Return the times that `measure` plays its deals: once where the opponent wins what the policy loses.

    Args:
        game: the game with its options.
        opponents: number of policies of the opponent.
    """
    if game.capabilities.teams is not None:
        return 1 + len(game.capabilities.teams.names)
    return 1 if opponents > 1 or game.payoffs.shared or cross_play.mirrored(game) else 2


def measure(name: str, opponents: Sequence[Policy], policy: Policy, game: Game, **played: Any) -> list[Result]:
    """Play a policy against an opponent, and return one result, or one for each team.

    Args:
        name: the name of the opponent.
        opponents: one; or several, which take turns around the table, and share a team half and half.
        policy: the policy to measure.
        game: the game with its options.
        played: ``deals``, with teams once for each team, ``seed``, ``adjusted`` and ``progress`` of `evaluate`.
    """
    if game.capabilities.teams is not None:
        return _by_team(name, opponents, policy, game, **played)
    around = [opponents[place % len(opponents)] for place in range(game.seats - 1)]
    result = Result(name, evaluate(policy, game, around, **played))
    if len(opponents) > 1 or game.payoffs.shared:
        return [result]
    if cross_play.mirrored(game):  # the same matches, seen from the other seat
        return [replace(result, wins=result.score.reversed())]
    return [replace(result, wins=wins_of(opponents[0], name, "", policy, game, **played)[0].score)]


def _by_team(
    name: str, opponents: Sequence[Policy], policy: Policy, game: Game, deals: int, adjusted: bool = True, **played: Any
) -> list[Result]:
    opponent = opponents[0] if len(opponents) == 1 else cross_play.Mixed(opponents[0], opponents[1])
    teams = cross_play.teams_of(game).names
    among_themselves = cross_play.play_teams(game, dict.fromkeys(teams, opponent), matches=deals, **played)
    results = []
    for team in teams:
        seated = cross_play.against_team(game, team, policy, opponent)
        result = cross_play.play_teams(game, seated, matches=deals, **played)
        results.append(Result(name, result.wins[team], result.lost(team), team, among_themselves.wins[team]))
    return results


MIRRORED = "+: {} wins. What the opponent wins from it is the same number with the other sign."
"""Below the results of a game in which two seats have the same sum every time."""


def evaluate_policy(
    evaluated: PolicyArguments, played: DealsArguments, workers: Workers, report: ReportArguments
) -> None:
    """Measure a policy over duplicate deals: the command `parlour evaluate`."""
    run, seed, deals, search = evaluated.run, report.seed, played.deals, played.search
    game = lookup.game_of(run, evaluated.game, evaluated.options, evaluated.seats)
    trained = lookup.policy(run, game, seed)
    player = lookup.searching(run, trained, game, seed) if search else trained
    player = lookup.silenced(player, game, played.mute, played.scramble, seed)
    opponents = _opponents(played.against or lookup.rivals(game), game)
    seeds = count(seed + 1)
    around = {name: [lookup.policy(part, game, next(seeds)) for part in parts] for name, parts in opponents.items()}
    seated = [(name, one) for name, parts in around.items() for one in parts]
    lookup.warn_about_differences([(run, trained), *seated], game)
    settings: dict[str, Any] = {"deals": deals, "seed": seed, "adjusted": not played.raw}
    tasks = [
        Task(partial(measure, name, parts, player, game, **settings), plays(game, len(parts)) * deals)
        for name, parts in around.items()
    ]
    with counting_bar("evaluate", sum(task.size for task in tasks)) as done:
        results = [result for of_opponent in workers.run(tasks, done) for result in of_opponent]
    again = lookup.policy(run, game, seed)  # so that its draws do not depend on the evaluation before
    beside = compare(lookup.searching(run, again, game, seed) if search else again, game, matches=deals, seed=seed)
    record = {"policy": run, "game": game.id, "options": dict(game.options), "seed": seed}
    record |= {"results": [result.to_dict() for result in results]}
    record |= {"search": search, "mute": played.mute, "scramble": played.scramble}
    record["theory"] = beside and beside.to_dict()
    how = {"with search": search, "mute": played.mute, "with scrambled statements": played.scramble}
    name = ", ".join([run, *(words for words, wanted in how.items() if wanted)])
    title, output = f"{name} at {game.name}, {counted(game.seats, 'seats')}", list[Any]()
    if (teams := game.capabilities.teams) is not None:
        rows = []
        for result in sorted(results, key=lambda result: list(teams.names).index(result.team or "")):
            figures = [
                one.in_two_lines() for one in (result.score, result.in_its_place, result.wins) if one is not None
            ]
            rows.append([result.team or "", result.against, *figures, f"{result.score.deals:,}"])
        heads = ["team", "against", "wins", "who is in its place wins", "wins from it", "matches"]
        output.append(table_of(heads, rows, title, texts=2))
    else:
        wins = {one.against: one.wins for one in results if one.wins is not None}
        output.append(score_table({one.against: one.score for one in results}, title, wins or None))
        output += [MIRRORED.format(name)] if wins and cross_play.mirrored(game) else []
    report.show(record, *output, *([beside.table(f"{name} in all seats, beside theory")] if beside is not None else []))


def _opponents(names: Sequence[str], game: Game) -> dict[str, list[str]]:
    """Return the policies of each opponent; a mistyped name is an error before any play.

    Raises:
        ValueError: for an unknown name, or more policies than seats.
    """
    opponents = {name: _parts(name, game) for name in names}
    for name, called in opponents.items():
        if len(called) > game.seats - 1:
            raise ValueError(f"--against {name}: {len(called)} policies for {game.seats - 1} other seats")
        if game.capabilities.teams is not None and len(called) == 2:
            for team in game.capabilities.teams.names:
                _require_share(team, None, name, game)
    return opponents


def _parts(name: str, game: Game) -> list[str]:
    """Return the policies of ``one+two``; a name that exists as it is counts as one.

    Raises:
        ValueError: for an unknown name, or more than two policies in a game with teams.
    """
    try:
        return [lookup.located_for(game, name)]
    except ValueError:
        if "+" not in name:
            raise
    parts = [lookup.located_for(game, part) for part in name.split("+")]
    if game.capabilities.teams is not None and len(parts) > 2:
        raise ValueError(f"{name!r}: a team has one policy, or two that share it")
    return parts


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
    result: cross_play.TeamResult


def evaluate_teams(
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
        named("team", team, cross_play.teams_of(lookup.game_with(game.game, game.options)).names)
    for number in seats or (None,):
        table = lookup.game_with(game.game, game.options, seats=number)
        for chosen in _combinations(table, policies):
            players = {
                team: _player(name, table, report.seed + place, team in mute, team in scramble)
                for place, (team, name) in enumerate(chosen.items(), 1)
            }
            for team, player in players.items():
                if isinstance(player, cross_play.Mixed):
                    _require_share(team, player.count, chosen[team], table)
            pairings.append((table, chosen, players))  # all of them first: a mistake is an error before any play
    for table, chosen, players in pairings:
        task = f"{' against '.join(chosen.values())}, {table.seats} seats"
        with counting_bar(task, deals) as done:
            result = cross_play.play_teams(table, players, matches=deals, seed=report.seed, progress=done)
        rows.append(TeamsRow(table.seats, chosen, result))
    record = [{"seats": row.seats, "policies": row.policies, **asdict(row.result)} for row in rows]
    report.show(record, *tables(rows))


def _player(name: str, game: Game, seed: int, mute: bool, scramble: bool) -> Policy | cross_play.Mixed:
    """Return the policy of a team, or the two of ``one+two`` or ``one+two:count``."""
    players, count = list[Policy](), None
    try:
        parts = _parts(name, game)
    except ValueError:
        both, _, seats = name.rpartition(":")
        if "+" not in both or not seats.isdecimal():
            raise
        parts, count = _parts(both, game), int(seats)
    for number, part in enumerate(parts):
        player = lookup.policy(part, game, seed + 1_000 * number)
        lookup.warn_about_differences([(part, player)], game)
        players.append(lookup.silenced(player, game, mute, scramble, seed + number))
    return players[0] if len(players) == 1 else cross_play.Mixed(players[0], players[1], count)


def _require_share(team: str, count: int | None, name: str, game: Game) -> None:
    size = dict(zip(cross_play.teams_of(game).names, cross_play.team_sizes(game), strict=True))[team]
    if not 1 <= (size // 2 if count is None else count) < size:
        wanted = "half of the" if count is None else count
        fits = f"1 to {size - 1} can be given" if size > 1 else "two policies cannot share one"
        raise ValueError(f"{name!r}: {wanted} seats; at {game.seats} seats {team} has {size}, of which {fits}")


def _combinations(game: Game, policies: Sequence[str]) -> Iterator[dict[str, str]]:
    """Yield the policy of each team, for every combination of the given ones."""
    names = cross_play.teams_of(game).names
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
    teams, facts = list(rows[0].policies), list(rows[0].result.facts)
    habits = list(next(iter(rows[0].result.habits.values()), {}))
    heads = ["seats", *teams, *(f"{team} wins" for team in teams), *facts]
    lines = []
    for row in rows:
        wins = (won.in_two_lines() for won in row.result.wins.values())
        lines.append(
            [str(row.seats), *row.policies.values(), *wins, *(f"{row.result.facts[one]:.1f}" for one in facts)]
        )
    parts = [table_of(heads, lines, "wins by team (95 % intervals)", texts=len(teams) + 1), _places(rows)]
    for columns in (habits[start : start + COLUMNS] for start in range(0, len(habits), COLUMNS)):
        lines = [
            [str(row.seats), f"{name} ({team})", *(f"{row.result.habits[team].get(one, nan):.0%}" for one in columns)]
            for row in rows
            for team, name in row.policies.items()
        ]
        parts.append(table_of(["seats", "team", *columns], lines, "how they play", texts=2))
    return [table for table in parts if table.row_count]


def _places(rows: Sequence[TeamsRow]) -> Table:
    lines = []
    for team in rows[0].policies:
        first: dict[int, TeamsRow] = {}
        for row in rows:
            before = first.setdefault(row.seats, row)
            others = {other: name for other, name in row.policies.items() if other != team}
            if row.policies[team] != before.policies[team] and others.items() <= before.policies.items():
                lost, reference = row.result.lost(team), before.result.lost(team)
                places = (
                    f"{one.policies[team]}\n{share.in_two_lines()}" for one, share in ((row, lost), (before, reference))
                )
                against = f"{team}, against {', '.join(others.values())}"
                lines.append([str(row.seats), against, *places])
    heads = ["seats", "team", "loses", "in its place"]
    return table_of(heads, lines, "compared with the first policy", texts=4)


def evaluate_held_out(
    evaluated: PolicyArguments,
    *,
    against: tuple[str, ...] | None = None,
    deals: int = 2_000,
    search: bool = False,
    report: ReportArguments,
) -> None:
    """Measure a policy on the held-out sets of its game, such as tangram's figures, which are not used in training.

    The policy plays all seats, and the others play the same sets.

    Args:
        against: The others: bots, runs or policy files. Default: every bot of the game.
        deals: The least number of games per set.
        search: The policy searches before it acts, without a time limit.
    """
    run, among = evaluated.run, games_with("held_out")
    trained = lookup.game_of(run, evaluated.game, evaluated.options, evaluated.seats, among=among)
    held_out = measures(trained.name).held_out
    if held_out is None:
        raise ValueError(f"{run} plays {trained.name}, which has no held-out sets; {', '.join(among)} has some")
    record, rows = list[dict[str, Any]](), list[list[str]]()
    for name, settings in held_out.sets(trained).items():
        game = lookup.game_with(trained.id, (), **{**trained.options, **settings})
        for number, spec in enumerate(dict.fromkeys((run, *(trained.bots if against is None else against))), 1):
            player = lookup.policy(spec, game, report.seed + number)
            label = spec
            if search and spec == run:
                player, label = lookup.searching(spec, player, game, report.seed), f"{spec} with search"
            with counting_bar(f"{label}, {name}", deals) as done:
                scores = held_out.score(game, player, games=deals, seed=report.seed, progress=done)
            plain = {key: asdict(value) if isinstance(value, Score) else value for key, value in scores.items()}
            record.append({"set": name, "policy": label, **plain})
            games = next((f" ({value.deals:,})" for value in scores.values() if isinstance(value, Score)), "")
            rows.append([f"{name}{games}", label, *(escape(_cell(value)) for value in scores.values())])
    heads = ["held-out set", "policy", *scores]
    report.show(record, table_of(heads, rows, "held-out sets (95 % intervals)", texts=len(heads)))


def _cell(value: Score | float) -> str:
    if isinstance(value, Score):
        return f"{value.mean:.3f} [{max(0.0, value.low):.3f}, {min(1.0, value.high):.3f}]"
    return f"{value:.1f}"


def crossplay(
    runs: Annotated[tuple[str, ...], Parameter(name="RUN", help="Two or more runs, policy files or bots.")],
    *,
    game: str | None = None,
    seats: int | None = None,
    options: tuple[str, ...] = (),
    deals: int = 2_000,
    by_seat: bool = False,
    ladder: Path | None = None,
    samples: NonNegativeInt = 3,
    mute: bool = False,
    scramble: bool = False,
    search: bool = False,
    workers: Workers,
    report: ReportArguments,
) -> None:
    """Let every policy play with every policy, and print the matrix of results with 95 % intervals.

    A cell is the return of the row's policy in one seat, with the column's in all others; in a game with teams, the
    share of the matches that the row's policy wins as one team, with the column's in the others. On the diagonal a
    policy plays with itself. In a game with teams two policies also share a team: half and half, and with one
    newcomer; not with --ladder. With --ladder the policies are sorted by what they win from all others on average.

    Args:
        game: The game by name. Default: that of the first policy.
        seats: Number of seats. Default: that of the first policy.
        options: The game's options as name=value. Default: those of the first policy.
        deals: Deals (matches of teams) per cell; without teams, each is played in every seat.
        by_seat: Also print a table for each seat.
        ladder: Sort the policies, and write this page (.html) with their means, the matrix and sample games.
        samples: Sample games on that page, between the best policies; 0: none.
        mute: Nobody can say anything. What this changes is what talk is worth.
        scramble: Every statement is replaced by a random one.
        search: The policies that can search do so before they act, without a time limit.
    """
    if len(runs) < 2:
        raise ValueError("name at least two policies")
    table = lookup.game_of(runs[0], game, options, seats)
    if ladder is not None:
        if ladder.suffix != ".html":
            raise ValueError(f"ladder={str(ladder)!r}: a page ends in .html")
        lookup.require_opponents(table)
    players = lookup.policies_of(runs, table, report.seed)
    lookup.warn_about_differences(players.items(), table)
    if search:
        search_with = partial(lookup.searching, game=table, seed=report.seed)
        found = lookup.where_possible(players, players.values(), search_with)
        players = dict(zip(players, found, strict=True))
    heard = {
        name: lookup.silenced(player, table, mute, scramble, report.seed + number)
        for number, (name, player) in enumerate(players.items())
    }
    played: dict[str, Any] = {"deals": deals, "seed": report.seed, "mixed": ladder is None}
    with counting_bar("cross-play", cross_play.count_of_matches(table, len(heard), ladder is None) * deals) as done:
        matrices = cross_play.cross_play(table, heard, **played, progress=done, workers=workers)
    record = {"game": table.id, "options": dict(table.options), "seed": report.seed, "deals": deals}
    record |= {"mute": mute, "scramble": scramble, "search": search}
    record["matrices"] = [matrix.to_dict() for matrix in matrices]
    output: list[Any] = []
    for matrix in matrices if table.capabilities.teams is not None or by_seat else matrices[:1]:
        places = range(len(matrix.names))
        rows = [[matrix.names[i], *(matrix.score(i, j).in_two_lines() for j in places)] for i in places]
        row, column = matrix.worst
        worst = f"worst: {matrix.names[row]} with {matrix.names[column]}: {matrix.score(row, column)}"
        output += [table_of([matrix.unit, *matrix.names], rows, matrix.title), worst]
        if matrix.shares or not table.payoffs.zero_sum:  # else every policy has 0 with itself, and all have 0 together
            means = f"self-play {matrix.self_play}, cross-play {matrix.cross_play}, gap {matrix.gap}"
            output.append(f"{means}; intervals cover deals, not seeds of training")
    if ladder is not None:
        scores, payoffs = cross_play.ladder(table, matrices)
        replay = sample_games(table, list(scores), samples, report.seed) if samples else None
        ladder.parent.mkdir(parents=True, exist_ok=True)
        about = provenance() | {"seed": report.seed, "deals": deals, "options": table.options}
        ladder.write_text(ladder_page(f"Ladder of {table.id}", scores, payoffs, replay, about), "utf-8")
        ranks = [{"name": name, **score.to_dict()} for name, score in scores.items()]
        matrix_of = {"policies": list(scores), "payoffs": payoffs.tolist()}
        record["ladder"] = {"standings": ranks, "matrix": matrix_of, "page": str(ladder)}
        output += [table_of(*ladder_columns(scores), f"ladder of {table.id}"), f"written: {ladder}"]
    report.show(record, *output)


def sample_games(game: Game, names: Sequence[str], count: int, seed: int) -> str:
    """Play games between the first pairs of policies, seated in turns around the table, and return their replay.

    Args:
        game: the game with its options.
        names: the policies, the best first.
        count: number of games, at most one for each pair.
        seed: seed of the games and the policies.
    """
    logs = []
    for number, pair in enumerate(sorted(combinations(range(len(names)), 2), key=sum)[:count]):
        seated = [names[pair[seat % 2]] for seat in range(game.seats)]
        players = [(name, lookup.agent(name, game, seed + number + seat)) for seat, name in enumerate(seated)]
        logs.append(recorded(game, players, seed + number))
    return page(moments(b"".join(logs)), f"{game.id}: sample games")


@dataclass(frozen=True, kw_only=True)
class BatteryArguments:
    """The battery of opponents, and how the policy plays."""

    against: tuple[str, ...] = ()
    """More opponents: runs or policy files."""
    deals: int = 10_000
    """Deals per opponent, each played in every seat; matches for each team."""
    hands: int = 1_000
    """Hands of each local best response."""
    solver_seconds: float = 60.0
    """Seconds of the sampled best response to a policy of `parlour solve holdem`, half for each seat; 0: none."""
    buckets: tuple[int, ...] = (20, 20, 40)
    """Its places by equity on flop, turn and river; none: the buckets of the policy."""
    search: bool = False
    """The policy searches before it acts, without a time limit. In hold'em that takes half a second for each decision
    on the river between two players, five on the turn: take few deals and hands, and --decisions 0."""


def exploit(
    exploited: PolicyArguments,
    *,
    opponents: BatteryArguments,
    learned: LearnerArguments,
    workers: Workers,
    report: ReportArguments,
) -> None:
    """Find the worst known opponent of a policy: the one that wins most from it, with the 95 % interval.

    What an opponent wins from the policy is what it has in one seat, with the policy in all others; in a game that is
    not zero-sum, more than the policy itself has there, on the same deals; with teams, the share of the matches that
    the policy's team loses.

    The opponents are all bots of the game, its best responses (an exact one, where the game tree is small; local ones
    in all settings for heads-up hold'em), a learner that is trained against the policy, and the given ones. In a game
    with teams there is one result for each team.
    """
    run, seed, search = exploited.run, report.seed, opponents.search
    game = lookup.game_of(run, exploited.game, exploited.options, exploited.seats)
    wins = battery(run, game, opponents, learned, seed, workers)
    record = {"policy": run, "game": game.id, "options": dict(game.options), "seed": seed, "search": search}
    record["worst"] = [win.to_dict() for win in worst_of(wins).values()]
    record["opponents"] = [win.to_dict() for win in wins]
    report.show(record, *_tables(f"{run} with search" if search else run, game, wins))


def battery(
    run: str,
    game: Game,
    opponents: BatteryArguments,
    learned: LearnerArguments,
    seed: int = 0,
    workers: Workers = HERE,
    zoo: bool = True,
) -> list[Win]:
    """Return the win of each opponent from the policy that `run` names.

    Every opponent is a task, with copies of the policies. With `zoo`, the policy of the zoo is one of them.
    """
    deals, hands = opponents.deals, opponents.hands
    lookup.require_opponents(game)
    if hands < 4 and measures(game.name).best_responses:
        raise ValueError(f"hands={hands}: an interval needs at least 4")
    trained = lookup.policy(run, game, seed)
    # A mistake in these settings is an error before hours of play.
    learner = None
    if learned.decisions:
        from ..runs.run import response_config  # loads torch

        learner = response_config(trained, game, learned, seed)
    player = lookup.searching(run, trained, game, seed) if opponents.search else trained
    specs = [*lookup.rivals(game), *(lookup.of_the_zoo(game) if zoo else ()), *opponents.against]
    others = lookup.policies_of([*dict.fromkeys(specs)], game, seed)
    others.pop(run, None)  # without teams nobody wins from itself
    if game.capabilities.teams is not None:
        others[run] = lookup.policy(run, game, seed + 1_000)
    lookup.warn_about_differences([(run, trained), *others.items()], game)
    played: dict[str, Any] = {"deals": deals, "seed": seed}
    teams = game.capabilities.teams
    games, tasks = deals * (1 if teams is None else len(teams.names)), []
    for name, other in others.items():
        kind = "itself" if name == run else "bot" if name in game.bots or name == "random" else "run"
        tasks.append(Task(partial(wins_of, other, name, kind, player, game, **played), games))
    tasks.append(Task(partial(_exact, player, game, **played), deals))
    for name in measures(game.name).best_responses:
        tasks.append(Task(partial(_best_response, player, game, name, hands=hands, seed=seed), hands))
    if isinstance(player, SolvedPolicy) and opponents.solver_seconds > 0:
        spent: dict[str, Any] = {"buckets": opponents.buckets, "seconds": opponents.solver_seconds, **played}
        tasks.append(Task(partial(_sampled, player, game, **spent), deals))
    if learner is not None:
        tasks.append(Task(partial(_learned, player, game, learner, **played), learned.decisions + games))
    with counting_bar("exploit", sum(task.size for task in tasks)) as done:
        results = workers.run(tasks, done)
    for line in dict.fromkeys(one for one in results if isinstance(one, str)):
        print(f"left out: {line}", file=sys.stderr)
    return [win for one in results if not isinstance(one, str) for win in one]


def _exact(player: Policy, game: Game, *, deals: int, seed: int, progress: Tick) -> list[Win] | str:
    """Return the win of an exact best response; in play, if the policy has no probabilities.

    A sentence for a policy that plays on records: what it plays at a node of the tree is not known from observations.
    """
    tree = tree_of(player, game)
    if tree is None:
        return []
    if hasattr(player, "act_on"):
        return "exact best response: it replies to observations, and a policy with search plays on whole tables"
    if isinstance(player, Probable):
        return [exact_win(tree, player)]
    reply = reply_of(tree, Estimated(player), seed)
    name = "exact best response to its estimated play"
    return wins_of(reply, name, "estimated", player, game, deals=deals, seed=seed, progress=progress)


def _best_response(player: Policy, game: Game, name: str, *, hands: int, seed: int, progress: Tick) -> list[Win] | str:
    """Return the win of a best response; a sentence if it does not support the game's options."""
    try:
        win = measures(game.name).best_responses[name](player, game, hands=hands, seed=seed, progress=progress)
    except ValueError as error:
        return f"{name.partition(',')[0]}: {error}"
    return [replace(win, opponent=name.replace("exact", "approximate") if win.kind == "approximate" else name)]


def _sampled(player: SolvedPolicy, game: Game, *, progress: Tick, **spent: Any) -> list[Win] | str:
    """Return the win of a sampled best response; a sentence if the policy was solved for another game."""
    try:
        return [sampled_response(player, game, **spent)]
    except ValueError as error:
        return str(error)
    finally:
        progress(spent["deals"])


def _learned(player: Policy, game: Game, learner: TrainConfig, *, deals: int, seed: int, progress: Tick) -> list[Win]:
    from ..runs.run import learned_response  # loads torch

    learned, curve = learned_response(player, game, learner, progress)
    name = "learned best response, "
    name += f"{curve[-1][0]:,} decisions" if curve else "whose time was over before an episode ended"
    wins = wins_of(learned, name, "learned", player, game, deals=deals, seed=seed + 1, progress=progress)
    return [replace(win, curve=thinned(curve)) for win in wins]


def _tables(run: str, game: Game, wins: Sequence[Win]) -> list[Any]:
    """Return the tables of the wins, and below them learning curves and the worst opponents."""
    teams = game.capabilities.teams is not None
    sign, rows = "" if teams else "+", []
    for win in sorted(wins, key=lambda win: -win.score.mean):
        score, opponent = win.score, win.opponent if win.kind != "itself" else "itself"
        interval = "exact" if win.kind == "exact" else f"{score.low:{sign}.3f} to {score.high:{sign}.3f}"
        rows.append([opponent, *([win.team or ""] if teams else []), f"{score.mean:{sign}.3f}", interval])
    heads = ["opponent", *(["team"] if teams else []), "wins from it", "95 % interval"]
    output: list[Any] = [table_of(heads, rows, f"{run}, {game.id} ({wins[0].score.unit})", texts=len(heads) - 2)]
    if split := [win for win in wins if win.parts]:  # a row for each place in the game, a column for each way to end
        ways = list(next(iter(split[0].parts.values())))
        rows = [
            [win.opponent if number == 0 else "", place, *(f"{value:+.3f}" for value in row.values())]
            for win in split
            for number, (place, row) in enumerate(win.parts.items())
        ]
        title = "what they win, luck included, by where and how the game ends"
        output.append(table_of(["best response", "street", *ways], rows, title, texts=2))
    for win in wins:
        if win.curve and (win.team is None or win is next(one for one in wins if one.curve)):
            points = ", ".join(f"{steps:,}: {mean:+.2f}" for steps, mean in thinned(win.curve, 8))
            what = "iterations for each seat: mean win" if win.kind == "sampled" else "decisions: mean return"
            output.append(f"learning curve ({what} while learning): {points}")
    for team, win in worst_of(wins).items():
        whom = "" if team is None else f" of {team}"
        output.append(f"worst known opponent{whom}: {win.opponent} wins from it {win.score} {win.score.unit}")
    return output
