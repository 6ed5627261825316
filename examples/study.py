"""Methods of learning beside each other, in several games, with several seeds: interquartile means of rliable.

pip install 'parlour[train]' rliable 'pandas<3'
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
from rliable.library import get_interval_estimates
from rliable.metrics import aggregate_iqm


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
    """Return the interquartile mean of runs and its 95 % bootstrap interval, as text."""
    scores = {"": np.array(values, np.float64)[:, None]}
    means, intervals = get_interval_estimates(scores, lambda drawn: np.array([aggregate_iqm(drawn)]), reps=2000)
    return f"{means[''][0]:.3f} [{intervals[''][0, 0]:.3f}, {intervals[''][1, 0]:.3f}], {len(values)}"


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
        settings = {"algorithm": "selfplay", **study["settings"], **of_game, **of_method, **more, "seed": seed}
        runs[game, method, seed] = (given.folder.absolute() / f"{game}-{method}-{seed}", game, settings)
    with multiprocessing.get_context("spawn").Pool(given.processes) as pool:
        pool.starmap(finish, runs.values(), chunksize=1)
    ends = {}
    for (game, method, _), (run, *_) in runs.items():
        values = [line[study["metrics"][game]] for line in metrics(run) if study["metrics"][game] in line]
        ends.setdefault(method, {}).setdefault(game, []).append(values[-1])
    print("interquartile mean [95 % bootstrap interval], runs")
    for method, by_game in ends.items():
        print(f"{method:20}", *(f"{game}: {interval(values):30}" for game, values in by_game.items()))
    return ends


if __name__ == "__main__":
    main()
