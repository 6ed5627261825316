"""`parlour evaluate held-out`: a policy on the held-out sets of its game, such as tangram's figures."""

import json
from dataclasses import asdict
from typing import Any

from rich.markup import escape
from rich.table import Table

from ..evaluation.games import games_with, measures
from ..evaluation.scores import Score
from ..terminal.console import Console
from ..terminal.progress import counting_bar
from .arguments import PolicyArguments, ReportArguments
from .lookup import game_of, game_with, policy
from .searching import searching

Results = list[tuple[str, str, dict[str, Score | float]]]
"""The results: held-out set, policy, and its results by name."""


def command(
    evaluated: PolicyArguments,
    *,
    against: tuple[str, ...] | None = None,
    deals: int = 2_000,
    deterministic: bool = False,
    search: bool = False,
    report: ReportArguments,
) -> None:
    """Measure a policy on the held-out sets of its game, such as tangram's figures, which are not used in training.

    The policy plays all seats, and the others play the same sets.

    Args:
        against: The others: bots, runs or policy files. Default: every bot of the game.
        deals: The least number of games per set.
        deterministic: Play the most likely action instead of a random draw.
        search: The policy searches before it acts, without a time limit.
    """
    run, among = evaluated.run, games_with("held_out")
    trained = game_of(run, evaluated.game, evaluated.options, evaluated.seats, among=among)
    held_out = measures(trained.name).held_out
    if held_out is None:
        raise ValueError(f"{run} plays {trained.name}, which has no held-out sets; {', '.join(among)} has some")
    results: Results = []
    for name, settings in held_out.sets(trained).items():
        game = game_with(trained.id, (), **{**trained.options, **settings})
        for number, spec in enumerate(dict.fromkeys((run, *(trained.bots if against is None else against))), 1):
            player = policy(spec, game, report.seed + number, deterministic)
            label = spec
            if search and spec == run:
                player, label = searching(spec, player, game, report.seed), f"{spec} with search"
            with counting_bar(f"{label}, {name}", deals) as done:
                scores = held_out.score(game, player, games=deals, seed=report.seed, progress=done)
            results.append((name, label, scores))
    if report.as_json:
        print(json.dumps([{"set": name, "policy": one, **_plain(scores)} for name, one, scores in results], indent=2))
    else:
        Console().print(_table(results))


def _plain(scores: dict[str, Score | float]) -> dict[str, Any]:
    return {name: asdict(value) if isinstance(value, Score) else value for name, value in scores.items()}


def _table(results: Results) -> Table:
    names = list(results[0][2])
    table = Table("held-out set", "policy", *names, title="held-out sets (95 % intervals)")
    for name, label, scores in results:
        games = next((value.deals for value in scores.values() if isinstance(value, Score)), None)
        cells = (escape(_cell(scores[column])) for column in names)
        table.add_row(name if games is None else f"{name} ({games:,})", label, *cells)
    return table


def _cell(value: Score | float) -> str:
    if isinstance(value, Score):
        return f"{value.mean:.3f} [{max(0.0, value.low):.3f}, {min(1.0, value.high):.3f}]"
    return f"{value:.1f}"
