"""Records the learning curves on the games' pages: ``python docs/curves.py [GAME …]``, minutes a game.

A curve is the interquartile mean over the seeds, with a bootstrap interval, too narrow for few. The runs are short: a
fraction of the presets' budgets, on one core. ``--results`` draws the measures of the zoo's cards instead, which takes
seconds. It needs the extras train and plot.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from parlour import zoo
from parlour.envs.core.registry import packages

DOCS = Path(__file__).parent
SEEDS = 1, 2, 3, 4, 5
RECORDED = {
    **{game: (400_000, "equilibrium", "") for game, package in packages().items() if package == "economics"},
    "kuhn": (200_000, "equilibrium", ""),
    "leduc": (1_000_000, "tight", "--algorithm selfplay"),
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
SHOWN, OF_GAME, COLUMNS, WIDE, LINE, BAR_AT, BAR = 7, 12, 2, 430, 16, 190, 160
"""Of the picture of results: opponents of a policy, the same in the picture of a game, policies in a row, and widths
and heights in pixels."""
FURTHER = {"kuhn": ["eval/nash_conv"], "leduc": ["eval/nash_conv"]}
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


def caption(game: str) -> str:
    """Return what a game's curve shows."""
    shown = " and ".join(metrics(game))
    return f"{shown} by timesteps; dotted: {opponent(game)}"


def main() -> None:
    """Train and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", default=list(RECORDED), help="default: all")
    parser.add_argument("--results", action="store_true", help="draw the measures of the zoo, and nothing else")
    given = parser.parse_args()
    if given.results:
        (DOCS / "results.svg").write_text(results(), encoding="utf-8")
        return
    for game in given.games:
        runs = [f"{game}-{seed}" for seed in SEEDS]
        for seed, run in zip(SEEDS, runs, strict=True):
            if not Path("runs", run).exists():
                parlour(*command(game, seed).split(), "--run", run)
        draw(game, [Path("runs", run) for run in runs])


def results(game_id: str = "") -> str:
    """Return a picture of what opponents win from each policy of the zoo, or of a game, with the intervals of its card.

    A policy without opponents has its held-out figures, in the picture of its game.
    """
    cards = {name: card for name in zoo.names() if game_id in ("", (card := zoo.card(name)).game)}
    shown = {name: [one for one in card.measures if one.kind != "held out"] for name, card in cards.items()}
    shown = {
        name: (some or list(cards[name].measures) * bool(game_id))[: OF_GAME if game_id else SHOWN]
        for name, some in shown.items()
    }
    shown = {name: some for name, some in shown.items() if some}
    columns, tall = min(COLUMNS, len(shown)), (max(map(len, shown.values())) + 3) * LINE
    parts = []
    for place, (name, measures) in enumerate(shown.items()):
        ends = [end for one in measures for end in (one.low, one.high, 0.0)]
        low, scale = min(ends), BAR / (max(ends) - min(ends) or 1)
        x, y = place % columns * WIDE, place // columns * tall
        zero = BAR_AT - low * scale
        what = "held-out figures" if measures[0].kind == "held out" else f"wins from it, {measures[0].unit}"
        rows = [f'<text y="0" class="t">zoo:{name}: {what}</text>']
        rows.append(f'<path d="M{zero:.0f} 6V{len(measures) * LINE + 8}" class="z"/>')
        for row, one in enumerate(measures, 1):
            label = "another seed" if one.kind == "run" else re.sub(r",? [\d,/]{5,} .*", "", one.name)
            label = label.replace("local best response, ", "local: ")
            shown, at = f"{label} ({one.team})" if one.team else label, row * LINE
            left, middle, right = (BAR_AT + (value - low) * scale for value in (one.low, one.mean, one.high))
            rows.append(f'<text y="{at + 4}">{shown}</text><path d="M{left:.1f} {at}H{right:.1f}"/>')
            rows.append(f'<circle cx="{middle:.1f}" cy="{at}" r="3"/>')
            rows.append(f'<text x="{BAR_AT + BAR + 10}" y="{at + 4}">{one.mean + 0.0:+.2f}</text>')
        parts.append(f'<g transform="translate({x + 10} {y + 20})">{"".join(rows)}</g>')
    height = -(-len(parts) // columns) * tall
    style = (
        "text{font:12px sans-serif}.t{font-weight:bold}"
        "path{stroke:#1b5e4b;stroke-width:2}.z{stroke:#bbb}circle{fill:#1b5e4b}"
    )
    size = f'viewBox="0 0 {columns * WIDE} {height}" width="{columns * WIDE}" height="{height}"'
    background = '<rect width="100%" height="100%" fill="#fff"/>'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}><style>{style}</style>{background}'
    return "\n".join([head, *parts, "</svg>", ""])


def save(figure: Any, file: Path) -> None:
    """Write a figure as SVG with text, the same at each time."""
    from matplotlib import rc_context

    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "parlour"}):
        figure.savefig(file, dpi=120, metadata={"Date": None})


def draw(game: str, runs: Sequence[Path]) -> None:
    """Draw the interquartile mean of the runs for each metric, its interval, and as a dotted line the opponent."""
    import numpy as np
    from matplotlib.figure import Figure
    from parlour.envs import game as make_game
    from parlour.training import load_config
    from parlour.training.learning import run_folder
    from parlour.training.runs.run import Evaluations
    from parlour.wrappers import make_policy
    from scipy.stats import bootstrap, trim_mean

    config = load_config(runs[0] / "config.toml")
    table = make_game(config.game, **config.options)
    beside = Evaluations(config, table).run(make_policy(opponent(game), table, seed=config.seed))
    figure = Figure(figsize=(6 * len(metrics(game)), 4.5), layout="constrained")
    for axes, metric in zip(np.atleast_1d(figure.subplots(1, len(metrics(game)))), metrics(game), strict=True):
        lines = [[line for line in run_folder.read_metrics(run) if metric in line] for run in runs]
        steps = [line["steps"] for line in lines[0]]
        values = np.array([[line[metric] for line in of_run] for of_run in lines])
        quartiles = partial(trim_mean, proportiontocut=0.25)
        found = bootstrap((values,), quartiles, method="percentile", n_resamples=2000, random_state=0)
        axes.plot(steps, quartiles(values), label=f"interquartile mean of {len(runs)} runs")
        axes.fill_between(steps, *found.confidence_interval, alpha=0.25, linewidth=0)
        if metric in beside:
            axes.axhline(beside[metric], linestyle=":", color="0.2", label=opponent(game))
        axes.set(xlabel="timesteps", ylabel=metric)
        axes.legend(frameon=False, fontsize="small")
        axes.grid(alpha=0.3)
    save(figure, picture(game))


def parlour(*args: str) -> None:
    """Run a command of parlour; a failure ends this program."""
    subprocess.run([sys.executable, "-m", "parlour.training.cli", *args], check=True)


if __name__ == "__main__":
    main()
