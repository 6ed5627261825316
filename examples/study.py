"""Methods of learning beside each other, in several games, with several seeds: means with intervals by Student's t.

pip install 'parlour[train]'
python examples/study.py --total-timesteps 200000 --processes 2

The same command again goes on with what is not finished. Another file than study.toml describes a study of your own.
"""

import argparse
import json
import multiprocessing
import tomllib
from itertools import product
from pathlib import Path

import numpy as np
from parlour.training import load_config, resume, train
from scipy.stats import t


def metrics(run):
    """Return the lines of a run's metrics.jsonl."""
    file = run / "metrics.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.is_file() else []


def finish(run, game, settings):
    """Train a run, or what is left of it."""
    config = load_config(game, **settings, run=run)
    if not (run / "policy.npz").is_file():
        train(config, reraise=True)
    elif metrics(run)[-1]["steps"] < config.total_timesteps:
        resume(run, total_timesteps=config.total_timesteps, reraise=True)


def interval(values):
    """Return the mean of runs and its 95 % interval, as text. Few runs need Student's t: a bootstrap is too narrow."""
    mean, half = np.mean(values), t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / len(values) ** 0.5
    return f"{mean:.3f} [{mean - half:.3f}, {mean + half:.3f}], {len(values)}"


def main(args=None):
    """Train the runs of the study, print a row for each method, and return the metric at the end of every run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", type=Path, nargs="?", default=Path(__file__).with_name("study.toml"))
    parser.add_argument("--folder", type=Path, default=Path("runs/study"), help="the folder of the runs")
    parser.add_argument("--total-timesteps", type=int, help="decisions of each run, in place of the study's")
    parser.add_argument("--processes", type=int, default=1, help="runs at the same time")
    given = parser.parse_args(args)
    study = tomllib.loads(given.study.read_text())
    more = {} if given.total_timesteps is None else {"total_timesteps": given.total_timesteps}
    runs = {}
    for seed, (game, of_game), (method, of_method) in product(
        study["seeds"], study["games"].items(), study["methods"].items()
    ):
        settings = {"algorithm": "selfplay", **study["settings"], **of_method, **of_game, **more, "seed": seed}
        runs[game, method, seed] = (given.folder.absolute() / f"{game}-{method}-{seed}", game, settings)
    with multiprocessing.get_context("spawn").Pool(given.processes) as pool:
        pool.starmap(finish, runs.values(), chunksize=1)
    ends = {}
    for (game, method, _), (run, *_) in runs.items():
        values = [line[study["metrics"][game]] for line in metrics(run) if study["metrics"][game] in line]
        ends.setdefault(method, {}).setdefault(game, []).append(values[-1])
    print("mean [95 % interval by Student's t], runs")
    for method, by_game in ends.items():
        print(f"{method:20}", *(f"{game}: {interval(values):30}" for game, values in by_game.items()))
    return ends


if __name__ == "__main__":
    main()
