"""`parlour evaluate crossplay`: every policy against every other, mixed teams, ratings and their page."""

from collections.abc import Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from cyclopts.types import NonNegativeInt
from rich.table import Table

from ...envs import Game
from ...wrappers.replay.log_reader import moments
from ...wrappers.replay.page import page
from ..evaluation.cross_play import Matrix, count_of_matches, cross_play
from ..evaluation.cross_play import ladder as ladder_of
from ..evaluation.duplicate import in_two_lines
from ..evaluation.pages import ladder_columns, ladder_page, provenance
from ..terminal.console import counting_bar, table_of
from ..terminal.match import recorded
from . import lookup
from .arguments import ReportArguments, WorkerArguments


def command(
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
    work: WorkerArguments,
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
    if ladder is not None and ladder.suffix != ".html":
        raise ValueError(f"ladder={str(ladder)!r}: a page ends in .html")
    table = lookup.game_of(runs[0], game, options, seats)
    if ladder is not None:
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
    mixed = ladder is None
    with counting_bar("cross-play", count_of_matches(table, len(heard), mixed) * deals) as done:
        matrices = cross_play(
            table, heard, deals=deals, seed=report.seed, mixed=mixed, progress=done, workers=work.workers
        )
    record = {"game": table.id, "options": dict(table.options), "seed": report.seed, "deals": deals}
    record |= {"mute": mute, "scramble": scramble, "search": search}
    record["matrices"] = [matrix.to_dict() for matrix in matrices]
    shown: list[Any] = []
    for matrix in matrices if table.capabilities.teams is not None or by_seat else matrices[:1]:
        shown += [matrix_table(matrix), *summary(matrix, table)]
    if ladder is not None:
        scores, payoffs = ladder_of(table, matrices)
        replay = sample_games(table, list(scores), samples, report.seed) if samples else None
        ladder.parent.mkdir(parents=True, exist_ok=True)
        about = provenance() | {"seed": report.seed, "deals": deals, "options": table.options}
        ladder.write_text(ladder_page(f"Ladder of {table.id}", scores, payoffs, replay, about), "utf-8")
        ranks = [{"name": name, **score.to_dict()} for name, score in scores.items()]
        matrix_of = {"policies": list(scores), "payoffs": payoffs.tolist()}
        record["ladder"] = {"standings": ranks, "matrix": matrix_of, "page": str(ladder)}
        shown += [table_of(*ladder_columns(scores), f"ladder of {table.id}"), f"written: {ladder}"]
    report.show(record, *shown)


def matrix_table(matrix: Matrix) -> Table:
    """Return a matrix as a table: means, with the intervals below them."""
    rows = [[name, *(_cell(matrix, i, j) for j in range(len(matrix.names)))] for i, name in enumerate(matrix.names)]
    return table_of([f"{matrix.unit}", *matrix.names], rows, matrix.title)


def _cell(matrix: Matrix, row: int, column: int) -> str:
    score = matrix.score(row, column)
    return in_two_lines(score.mean, score.low, score.high, "" if matrix.shares else "+")


def summary(matrix: Matrix, game: Game) -> list[str]:
    """Return the lines below a matrix: the worst cell and, where they tell something, self-play and cross-play."""
    row, column = matrix.worst
    lines = [f"worst: {matrix.names[row]} with {matrix.names[column]}: {matrix.score(row, column)}"]
    if matrix.shares or not game.payoffs.zero_sum:  # else every policy has 0 with itself, and all have 0 together
        lines.append(f"self-play {matrix.self_play}, cross-play {matrix.cross_play}, gap {matrix.gap}")
    return lines


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
