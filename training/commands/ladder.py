"""`parlour ladder`: ratings of several policies, and a page with them, the matrix and sample games."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.table import Table

from ...envs import Game
from ...wrappers.logs.match_log import MatchLog
from ...wrappers.replay.log_reader import moments
from ...wrappers.replay.page import page
from ..evaluation.cross_play import count_of_matches, cross_play
from ..evaluation.duplicate import unit_per_game
from ..evaluation.ladder_page import columns_of, ladder_page
from ..evaluation.meta_game import PolicyStanding, advantages, standings
from ..terminal.console import Console
from ..terminal.match import TerminalMatch
from ..terminal.progress import counting_bar
from .arguments import PolicyNames, ReportArguments, WorkerArguments
from .lookup import agent, game_of, policies_of, require_opponents, warn_about_differences


def command(
    *,
    runs: PolicyNames,
    game: str | None = None,
    seats: int | None = None,
    options: tuple[str, ...] = (),
    deals: int = 2_000,
    samples: int = 3,
    out: Path = Path("ladder.html"),
    work: WorkerArguments,
    report: ReportArguments,
) -> None:
    """Rate several policies by the game of choosing one of them, and write a page with sample games.

    Every policy plays every other as in `parlour crossplay`. The Nash average of a policy is what it wins against the
    equilibrium of that game: 0 at the top. openskill ratings (pip install 'parlour[arena]') and α-rank (by OpenSpiel)
    stand beside it where these packages are installed.

    Args:
        game: The game by name. Default: that of the first policy.
        seats: Number of seats. Default: that of the first policy.
        options: The game's options as name=value. Default: those of the first policy.
        deals: Deals (matches of teams) per pair of policies; without teams, each is played in every seat.
        samples: Sample games on the page, between the best policies; 0: none.
        out: File for the page.
    """
    if len(runs) < 2 or samples < 0:
        raise ValueError(f"{len(runs)} policies, samples={samples}: name at least two policies, and 0 or more samples")
    if out.suffix != ".html":
        raise ValueError(f"out={str(out)!r}: a page ends in .html")
    table = game_of(runs[0], game, options, seats)
    require_opponents(table)
    players = policies_of(runs, table, report.seed)
    warn_about_differences(players.items(), table)
    with counting_bar("ladder", count_of_matches(table, len(players), False) * deals) as done:
        matrices = cross_play(
            table, players, deals=deals, seed=report.seed, mixed=False, progress=done, workers=work.workers
        )
    payoffs, results = advantages(table, matrices)
    places = standings(runs, payoffs, results, report.seed)
    unit = "share of matches" if table.capabilities.teams is not None else unit_per_game(table)
    names = [place.name for place in places]
    replay = sample_games(table, names, samples, report.seed) if samples else None
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(ladder_page(f"Ladder of {table.id}", places, runs, payoffs, unit, replay), "utf-8")
    if report.as_json:
        about = {"game": table.id, "options": dict(table.options), "seed": report.seed, "deals": deals, "unit": unit}
        matrix = {"policies": list(runs), "payoffs": payoffs.tolist()}
        rated = [asdict(place) for place in places]
        print(json.dumps({**about, "standings": rated, "matrix": matrix, "page": str(out)}, indent=2))
        return
    console = Console()
    console.print(_shown(places, unit, f"ladder of {table.id}"))
    console.print(f"written: {out}", markup=False, soft_wrap=True)


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


def _shown(places: Sequence[PolicyStanding], unit: str, title: str) -> Table:
    heads, rows = columns_of(places, unit)
    table = Table(*heads, title=title)
    for column in table.columns[1:]:
        column.justify = "right"
    for row in rows:
        table.add_row(*row)
    return table
