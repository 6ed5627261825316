"""Records the learning curves on the games' pages, two seeds each: ``python docs/curves.py [GAME …]``, minutes a game.

The runs are short: a fraction of the presets' budgets, on one core. It needs the extras train and plot.
"""

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from parlour.envs.core.registry import packages

DOCS = Path(__file__).parent
SEEDS = 1, 2
RECORDED = {
    **{game: (400_000, "equilibrium", "") for game, package in packages().items() if package == "economics"},
    "kuhn": (200_000, "equilibrium", ""),
    "liars_dice": (800_000, "careful", "--algorithm selfplay"),
    "auction": (800_000, "equilibrium", "--algorithm selfplay"),
    "multi_issue_bargaining": (800_000, "random", ""),
    "bargaining": (200_000, "conceder", ""),
    "holdem": (2_000_000, "tight", ""),
    "mafia": (2_000_000, "mixed", ""),
    "werewolf": (400_000, "mixed", ""),
    "tangram": (400_000, "greedy", "--set demonstrations=1000000"),
    "ultimatum": (400_000, "equal", ""),
}
"""The decisions of a run by game, its opponent in the evaluations, and further options."""
FURTHER = {"kuhn": ["eval/nash_conv"]}
"""Metrics that are drawn too."""


def picture(game: str) -> Path:
    """Return the file of a game's curve."""
    return DOCS / "games" / f"{game}-curve.svg"


def opponent(game: str) -> str:
    """Return the bot that the runs of a game are evaluated against, and that is drawn as a dotted line."""
    return RECORDED[game][1]


def metrics(game: str) -> list[str]:
    """Return the metrics that are drawn: first the return against the opponent."""
    return [f"eval/{opponent(game)}", *FURTHER.get(game, [])]


def command(game: str, seed: int) -> str:
    """Return the command of a run, with eight evaluations."""
    steps, against, options = RECORDED[game]
    every = f"--total-timesteps {steps} --checkpoint-every {steps // 8} --evaluate-against {against}"
    return " ".join(["train", game, *options.split(), every, "--seed", str(seed)])


def main() -> None:
    """Train and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", default=list(RECORDED), help="default: all")
    for game in parser.parse_args().games:
        runs = [f"{game}-{seed}" for seed in SEEDS]
        for seed, run in zip(SEEDS, runs, strict=True):
            if not Path("runs", run).exists():
                parlour(*command(game, seed).split(), "--run", run)
        draw(game, [Path("runs", run) for run in runs])


def draw(game: str, runs: Sequence[Path]) -> None:
    """Draw the mean of the runs for each metric, and as a dotted line what their evaluations find for the opponent."""
    import numpy as np
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from parlour.envs import game as make_game
    from parlour.training import load_config
    from parlour.training.learning import run_folder
    from parlour.training.runs.evaluations import Evaluations
    from parlour.wrappers import make_policy

    config = load_config(runs[0] / "config.toml")
    table = make_game(config.game, **config.options)
    beside = Evaluations(config, table).run(make_policy(opponent(game), table, seed=config.seed))
    figure = Figure(figsize=(6 * len(metrics(game)), 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    for axes, metric in zip(np.atleast_1d(figure.subplots(1, len(metrics(game)))), metrics(game), strict=True):
        lines = [[line for line in run_folder.read_metrics(run) if metric in line] for run in runs]
        values = np.mean([[line[metric] for line in of_run] for of_run in lines], axis=0)
        axes.plot([line["steps"] for line in lines[0]], values, label=f"mean of {len(runs)} runs")
        if metric in beside:
            axes.axhline(beside[metric], linestyle=":", color="0.2", label=opponent(game))
        axes.set(xlabel="timesteps", ylabel=metric)
        axes.legend(frameon=False, fontsize="small")
        axes.grid(alpha=0.3)
    with rc_context({"svg.fonttype": "none"}):
        figure.savefig(picture(game), dpi=120, metadata={"Date": None})


def parlour(*args: str) -> None:
    """Run a command of parlour; a failure ends this program."""
    subprocess.run([sys.executable, "-m", "parlour.training.cli", *args], check=True)


if __name__ == "__main__":
    main()
