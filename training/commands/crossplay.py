"""`parlour evaluate crossplay`: every policy against every other, mixed teams, ratings and their page."""

import json
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.table import Table

from ...envs import Game
from ...wrappers.logs.match_log import MatchLog
from ...wrappers.replay.log_reader import moments
from ...wrappers.replay.page import page
from ..evaluation.cross_play import Matrix, count_of_matches, cross_play
from ..evaluation.cross_play import ladder as ladder_of
from ..evaluation.duplicate import in_two_lines
from ..evaluation.pages import ladder_columns, ladder_page, provenance
from ..terminal.console import Console, counting_bar
from ..terminal.match import TerminalMatch
from .arguments import PolicyNames, ReportArguments, WorkerArguments
from .lookup import agent, game_of, policies_of, require_opponents, searching_policies, silenced, warn_about_differences


def command(
    runs: PolicyNames,
    *,
    game: str | None = None,
    seats: int | None = None,
    options: tuple[str, ...] = (),
    deals: int = 2_000,
    mixed: bool = True,
    by_seat: bool = False,
    ladder: Path | None = None,
    samples: int = 3,
    mute: bool = False,
    scramble: bool = False,
    deterministic: bool = False,
    search: bool = False,
    work: WorkerArguments,
    report: ReportArguments,
) -> None:
    """Let every policy play with every policy, and print the matrix of results with 95 % intervals.

    A cell is the return of the row's policy in one seat, with the column's in all others; in a game with teams, the
    share of the matches that the row's policy wins as one team, with the column's in the others. On the diagonal a
    policy plays with itself. With --ladder the policies are sorted by what they win from all others on average.

    Args:
        game: The game by name. Default: that of the first policy.
        seats: Number of seats. Default: that of the first policy.
        options: The game's options as name=value. Default: those of the first policy.
        deals: Deals (matches of teams) per cell; without teams, each is played in every seat.
        mixed: In a game with teams, also let two policies share a team: half and half, and with one newcomer. Not with
            --ladder.
        by_seat: Also print a table for each seat.
        ladder: Sort the policies, and write this page (.html) with their means, the matrix and sample games.
        samples: Sample games on that page, between the best policies; 0: none.
        mute: Nobody can say anything. What this changes is what talk is worth.
        scramble: Every statement is replaced by a random one.
        deterministic: Play the most likely actions instead of random draws.
        search: The policies that can search do so before they act, without a time limit.
    """
    if len(runs) < 2:
        raise ValueError("name at least two policies")
    if samples < 0:
        raise ValueError(f"samples={samples}: need 0 or more")
    if ladder is not None and ladder.suffix != ".html":
        raise ValueError(f"ladder={str(ladder)!r}: a page ends in .html")
    table = game_of(runs[0], game, options, seats)
    if ladder is not None:
        require_opponents(table)
    players = policies_of(runs, table, report.seed, deterministic)
    warn_about_differences(players.items(), table)
    if search:
        players = searching_policies(players, table, report.seed)
    heard = {
        name: silenced(player, table, mute, scramble, report.seed + number)
        for number, (name, player) in enumerate(players.items())
    }
    mixed = mixed and ladder is None
    lots = count_of_matches(table, len(heard), mixed)
    with counting_bar("cross-play", lots * deals) as done:
        matrices = cross_play(
            table, heard, deals=deals, seed=report.seed, mixed=mixed, progress=done, workers=work.workers
        )
    if ladder is not None:
        scores, payoffs = ladder_of(table, matrices)
        replay = sample_games(table, list(scores), samples, report.seed) if samples else None
        ladder.parent.mkdir(parents=True, exist_ok=True)
        about = provenance() | {"seed": report.seed, "deals": deals, "options": table.options}
        ladder.write_text(ladder_page(f"Ladder of {table.id}", scores, payoffs, replay, about), "utf-8")
    if report.as_json:
        about = {"game": table.id, "options": dict(table.options), "seed": report.seed, "deals": deals}
        about |= {"mute": mute, "scramble": scramble, "search": search}
        about |= {"matrices": [matrix.to_dict() for matrix in matrices]}
        if ladder is not None:
            standings = [{"name": name, **score.to_dict()} for name, score in scores.items()]
            matrix = {"policies": list(scores), "payoffs": payoffs.tolist()}
            about["ladder"] = {"standings": standings, "matrix": matrix, "page": str(ladder)}
        print(json.dumps(about, indent=2))
        return
    console = Console()
    printed = matrices if table.capabilities.teams is not None or by_seat else matrices[:1]
    for matrix in printed:
        console.print(matrix_table(matrix))
        console.print(*summary(matrix, table), sep="\n", markup=False)
    if ladder is not None:
        heads, rows = ladder_columns(scores)
        lines = Table(*heads, title=f"ladder of {table.id}")
        for row in rows:
            lines.add_row(*row)
        console.print(lines)
        console.print(f"written: {ladder}", markup=False, soft_wrap=True)


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


def sample_games(game: Game, names: Sequence[str], count: int, seed: int) -> str:
    """Play games between the first pairs of policies, seated in turns around the table, and return their replay.

    Args:
        game: the game with its options.
        names: the policies, the best first.
        count: number of games, at most one for each pair.
        seed: seed of the games and the policies.
    """
    pairs = sorted(combinations(range(len(names)), 2), key=sum)[:count]
    with TemporaryDirectory() as folder:
        file = Path(folder) / "samples.jsonl"
        with MatchLog(file) as log:
            for number, pair in enumerate(pairs):
                seated = [names[pair[seat % 2]] for seat in range(game.seats)]
                agents = [agent(name, game, seed + number + seat) for seat, name in enumerate(seated)]
                TerminalMatch(game, agents, seated, Console(quiet=True), 0.0, log).play(1, seed + number)
        return page(moments(file), f"{game.id}: sample games")
