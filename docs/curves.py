"""Records the learning curves on the games' pages, two seeds each: ``python docs/curves.py [GAME …]``, minutes a game.

The runs are short: a fraction of the presets' budgets, on one core. It needs the extras train and plot.
"""

import argparse
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parent
SEEDS = 1, 2
RECORDED = {
    "kuhn": ("--total-timesteps 200000 --checkpoint-every 25000 --evaluate-against equilibrium", "eval/nash_conv"),
    "liars_dice": (
        "--algorithm selfplay --total-timesteps 800000 --checkpoint-every 100000 --evaluate-against careful",
        "eval/careful",
    ),
    "auction": (
        "--algorithm selfplay --total-timesteps 800000 --checkpoint-every 100000 --evaluate-against equilibrium",
        "eval/equilibrium",
    ),
    "multi_issue_bargaining": (
        "--total-timesteps 800000 --checkpoint-every 100000 --evaluate-against random",
        "eval/random",
    ),
    "bargaining": ("--total-timesteps 200000 --checkpoint-every 25000 --evaluate-against conceder", "eval/conceder"),
}
"""The options of the runs by game, and the metric that is drawn."""


def picture(game: str) -> Path:
    """Return the file of a game's curve."""
    return DOCS / "games" / f"{game}-curve.svg"


def main() -> None:
    """Train and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", default=list(RECORDED), help="default: all")
    for game in parser.parse_args().games:
        options, metric = RECORDED[game]
        runs = [f"{game}-{seed}" for seed in SEEDS]
        for seed, run in zip(SEEDS, runs, strict=True):
            if not Path("runs", run).exists():
                parlour("train", game, *options.split(), "--seed", str(seed), "--run", run)
        parlour("compare", *runs, "--metric", metric, "--picture", str(picture(game)))


def parlour(*args: str) -> None:
    """Run a command of parlour; a failure ends this program."""
    subprocess.run([sys.executable, "-m", "parlour.training.cli", *args], check=True)


if __name__ == "__main__":
    main()
