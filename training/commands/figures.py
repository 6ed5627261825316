"""`parlour figures`: how many tangram figures a policy solves, of sets that it was not trained on, beside the bots."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..evaluation.figures import SETS, Built, built
from ..evaluation.scores import Score, progress_bar
from .arguments import RUNS, game_of, game_with, player

# The command.


def command(
    run: tyro.conf.Positional[str],
    *,
    beside: tuple[str, ...] = ("random", "greedy", "solver"),
    options: tuple[str, ...] = (),
    games: int = 2_000,
    deterministic: bool = False,
    seed: int = 0,
    as_json: Annotated[bool, tyro.conf.arg(name="json")] = False,
) -> None:
    """Tell how many tangram figures a policy solves when it plays all seats, beside others on the same figures.

    The figures are held out: random silhouettes of the test split, the hard ones among them, and the library's.

    Args:
        run: a run folder or its name below runs/, a saved policy, or a bot.
        beside: others: bots, runs or policy files.
        options: the game's options as key=value; default: the run's.
        games: games of each set; the library's figures are played equally often.
        deterministic: learned policies play their most likely action instead of drawing one.
        seed: of figures and policies.
        as_json: print JSON instead of a table.
    """
    folder = Path(run).is_dir() or (RUNS / run).is_dir()
    trained = game_of(run, None if folder else "tangram", options)
    if trained.name != "tangram":
        raise ValueError(f"{run} plays {trained.name}, not tangram")
    results: list[tuple[str, str, Built]] = []
    for name, settings in SETS.items():
        game = game_with("tangram", (), **{**trained.options, **settings})
        for number, one in enumerate(dict.fromkeys((run, *beside)), 1):
            policy = player(one, game, seed + number, deterministic)
            with progress_bar(f"{one}, {name}", games) as done:
                results.append((name, one, built(game, policy, games=games, seed=seed, progress=done)))
    if as_json:
        print(json.dumps([{"figures": name, "policy": one, **asdict(found)} for name, one, found in results], indent=2))
    else:
        Console().print(_table(results))


def _table(results: list[tuple[str, str, Built]]) -> Table:
    table = Table("figures", "policy", "IoU", "solved", "turns", title="held-out tangram figures (95 % intervals)")
    table.columns[-1].justify = "right"
    for name, one, found in results:
        cells = (escape(_cell(score)) for score in (found.iou, found.solved))
        table.add_row(f"{name} ({found.iou.deals:,})", one, *cells, f"{found.turns:.1f}")
    return table


def _cell(score: Score) -> str:
    return f"{score.mean:.3f} [{max(0.0, score.low):.3f}, {min(1.0, score.high):.3f}]"
