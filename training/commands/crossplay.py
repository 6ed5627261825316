"""`parlour crossplay`: every policy against every other, and mixed teams."""

import json

from rich.table import Table

from ...envs import Game
from ..evaluation.cross_play import Matrix, count_of_matches, cross_play
from ..evaluation.scores import in_two_lines
from ..terminal.console import Console
from ..terminal.progress import counting_bar
from .arguments import PolicyNames, ReportArguments, WorkerArguments
from .lookup import game_of, policies_of, silenced, warn_about_differences


def command(
    *,
    runs: PolicyNames,
    game: str | None = None,
    seats: int | None = None,
    options: tuple[str, ...] = (),
    deals: int = 2_000,
    mixed: bool = True,
    by_seat: bool = False,
    mute: bool = False,
    scramble: bool = False,
    deterministic: bool = False,
    work: WorkerArguments,
    report: ReportArguments,
) -> None:
    """Let every policy play with every policy, and print the matrix of results with 95 % intervals.

    A cell is the return of the row's policy in one seat, with the column's in all others; in a game with teams, the
    share of the matches that the row's policy wins as one team, with the column's in the others. On the diagonal a
    policy plays with itself.

    Args:
        game: The game by name. Default: that of the first policy.
        seats: Number of seats. Default: that of the first policy.
        options: The game's options as name=value. Default: those of the first policy.
        deals: Deals (matches of teams) per cell; without teams, each is played in every seat.
        mixed: In a game with teams, also let two policies share a team: half and half, and with one newcomer.
        by_seat: Also print a table for each seat.
        mute: Nobody can say anything. What this changes is what talk is worth.
        scramble: Every statement is replaced by a random one.
        deterministic: Play the most likely actions instead of random draws.
    """
    if len(runs) < 2:
        raise ValueError("name at least two policies")
    table = game_of(runs[0], game, options, seats)
    players = policies_of(runs, table, report.seed, deterministic)
    warn_about_differences(players.items(), table)
    heard = {
        name: silenced(player, table, mute, scramble, report.seed + number)
        for number, (name, player) in enumerate(players.items())
    }
    lots = count_of_matches(table, len(heard), mixed)
    with counting_bar("cross-play", lots * deals) as done:
        matrices = cross_play(
            table, heard, deals=deals, seed=report.seed, mixed=mixed, progress=done, workers=work.workers
        )
    if report.as_json:
        about = {"game": table.id, "options": dict(table.options), "seed": report.seed, "deals": deals}
        about |= {"mute": mute, "scramble": scramble}
        print(json.dumps({**about, "matrices": [matrix.to_dict() for matrix in matrices]}, indent=2))
        return
    console = Console()
    shown = matrices if table.capabilities.teams is not None or by_seat else matrices[:1]
    for matrix in shown:
        console.print(matrix_table(matrix))
        console.print(*summary(matrix, table), sep="\n", markup=False)


def matrix_table(matrix: Matrix) -> Table:
    """Return a matrix as a table: means, with the intervals below them."""
    table = Table(f"{matrix.unit}", *matrix.names, title=matrix.title)
    for column in table.columns:
        column.overflow = "fold"
    for column in table.columns[1:]:
        column.justify = "right"
    for i, name in enumerate(matrix.names):
        table.add_row(name, *(_cell(matrix, i, j) for j in range(len(matrix.names))))
    return table


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
