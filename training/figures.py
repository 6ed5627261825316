"""`parlour figures`: how many tangram figures a policy solves, of sets that it was not trained on, beside the bots."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro
from numpy.typing import NDArray
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..envs.core.game import Batch, Game
from ..envs.core.rng import streams
from ..envs.core.vector import STAY
from ..envs.tangram.table import LIBRARY, SOLVED
from ..wrappers.policy import Policy
from .evaluate import Score, progress_bar
from .names import RUNS, game_of, game_with, player

TABLES = 1_024
"""Figures built side by side."""

SETS: dict[str, dict[str, Any]] = {
    "random": {"figure": "random", "split": "test", "hidden": (0.0, 1.0)},
    "random, hard": {"figure": "random", "split": "test", "hidden": (0.5, 1.0)},
    "library": {"figure": "library", "split": "test"},
}
"""Held-out figures: the options of the game that give them. The hard ones hide half of their pieces' edges or more."""


@dataclass(frozen=True)
class Built:
    """How a policy built the figures of a set.

    Attributes:
        iou: the mean intersection over union in the end, with its 95 % interval over figures.
        solved: the share of games in which the figure was solved, with its 95 % interval over figures.
        turns: the mean length of a game.
    """

    iou: Score
    solved: Score
    turns: float


def built(
    game: Game, policy: Policy, *, games: int, seed: int = 0, progress: Callable[[int], None] | None = None
) -> Built:
    """Let a policy play all seats.

    Args:
        game: tangram with its options. Random figures are played once each, those of the library equally often.
        policy: plays every seat.
        games: how many at least, 2 or more.
        seed: of the figures; policies draw from their own streams.
        progress: called with the number of games just played.
    """
    if games < 2:
        raise ValueError(f"games={games}: an interval needs at least 2")
    library = int(game.rules.blank[0].figures) if game.rules.blank[0].source == LIBRARY else 0
    times = -(-games // library) if library else 1
    tables = game.tables(library * times or games)
    tables.stream = streams(seed, len(tables))
    if library:
        tables.first_figure += np.arange(len(tables)) // times
        tables.figures = 1
    for start in range(0, len(tables), TABLES):
        play(game, policy, tables[start : start + TABLES])
        if progress is not None:
            progress(len(tables[start : start + TABLES]))
    solved = (tables.iou >= SOLVED).astype(float)
    iou, share = (values.reshape(-1, times).mean(1) for values in (tables.iou, solved))
    return Built(
        Score.of(iou, "intersection over union", len(tables)),
        Score.of(share, "solved figures per game", len(tables)),
        float(tables.turn_number.mean()),
    )


def play(game: Game, policy: Policy, tables: NDArray[Any]) -> None:
    """Play a game on every table (a recarray with streams) to its end, one policy in all seats."""
    records, batch = tables.view(np.ndarray), Batch.of(game, len(tables))
    game.reset_batch(records, batch)
    actions = np.empty(len(tables), np.int64)
    while (live := np.flatnonzero(~batch.dones)).size:
        actions[:] = STAY
        actions[live] = policy.act(batch.observations[live], batch.masks[live])
        game.step_batch(records, actions, batch, False)


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
