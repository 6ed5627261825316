"""`parlour evaluate crossplay`: every policy against every other, mixed teams, ratings and their page."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.table import Table

from ...envs import Game
from ...wrappers.logs.match_log import MatchLog
from ...wrappers.replay.log_reader import moments
from ...wrappers.replay.page import page
from ..evaluation.cross_play import Matrix, PolicyStanding, advantages, count_of_matches, cross_play, standings
from ..evaluation.duplicate import in_two_lines, unit_per_game
from ..evaluation.pages import columns_of, ladder_page, provenance
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
    policy plays with itself. With --ladder the policies are rated by the game of choosing one of them: the Nash average
    of a policy is what it wins against the equilibrium of that game, 0 at the top.

    Args:
        game: The game by name. Default: that of the first policy.
        seats: Number of seats. Default: that of the first policy.
        options: The game's options as name=value. Default: those of the first policy.
        deals: Deals (matches of teams) per cell; without teams, each is played in every seat.
        mixed: In a game with teams, also let two policies share a team: half and half, and with one newcomer. Not with
            --ladder.
        by_seat: Also print a table for each seat.
        ladder: Rate the policies, and write this page (.html) with ratings, matrix and sample games.
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
    rating = None if ladder is None else rated(table, runs, matrices, ladder, samples, report.seed)
    if report.as_json:
        about = {"game": table.id, "options": dict(table.options), "seed": report.seed, "deals": deals}
        about |= {"mute": mute, "scramble": scramble, "search": search}
        ladders = {} if rating is None else {"ladder": rating.to_dict()}
        print(json.dumps({**about, "matrices": [matrix.to_dict() for matrix in matrices], **ladders}, indent=2))
        return
    console = Console()
    printed = matrices if table.capabilities.teams is not None or by_seat else matrices[:1]
    for matrix in printed:
        console.print(matrix_table(matrix))
        console.print(*summary(matrix, table), sep="\n", markup=False)
    if rating is not None:
        console.print(rating.table())
        console.print(f"written: {rating.page}", markup=False, soft_wrap=True)


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


@dataclass(frozen=True)
class Ladder:
    """Ratings of policies.

    Attributes:
        game: the name of the game.
        places: the policies with their ratings, the best first.
        unit: the unit of the payoffs.
        payoffs: what the policy of a row wins from that of a column, by the order of `policies`.
        policies: their names.
        page: the file of the page.
    """

    game: str
    places: Sequence[PolicyStanding]
    unit: str
    payoffs: Any
    policies: Sequence[str]
    page: Path

    def to_dict(self) -> dict[str, Any]:
        """Return the ratings as JSON."""
        matrix = {"policies": list(self.policies), "payoffs": self.payoffs.tolist()}
        rated = [asdict(place) for place in self.places]
        return {"unit": self.unit, "standings": rated, "matrix": matrix, "page": str(self.page)}

    def table(self) -> Table:
        """Return the ratings as a table."""
        heads, rows = columns_of(self.places, self.unit)
        table = Table(*heads, title=f"ladder of {self.game}")
        for column in table.columns[1:]:
            column.justify = "right"
        for row in rows:
            table.add_row(*row)
        return table


def rated(game: Game, names: Sequence[str], matrices: Sequence[Matrix], out: Path, samples: int, seed: int) -> Ladder:
    """Rate policies by the matrices of their matches, and write the page.

    Args:
        game: the game with its options.
        names: the policies.
        matrices: the results of `cross_play`, without mixed teams.
        out: file for the page.
        samples: number of sample games on the page, between the best policies.
        seed: seed of the ratings and the sample games.
    """
    payoffs, results = advantages(game, matrices)
    places = standings(names, payoffs, results, seed)
    unit = "share of matches" if game.capabilities.teams is not None else unit_per_game(game)
    replay = sample_games(game, [place.name for place in places], samples, seed) if samples else None
    out.parent.mkdir(parents=True, exist_ok=True)
    about = provenance() | {"seed": seed, "deals": results.shape[-1], "options": game.options}
    out.write_text(ladder_page(f"Ladder of {game.id}", places, names, payoffs, unit, replay, about), "utf-8")
    return Ladder(game.id, places, unit, payoffs, names, out)


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
