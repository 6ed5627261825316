"""Studies: several methods of learning in several games with several seeds, from one file; finished runs are kept."""

import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass, replace
from io import StringIO
from pathlib import Path
from typing import Any

import msgspec

from ...wrappers.policies.trained_for import read_settings
from ..evaluation.curves import bootstrapped, read_curve, read_metrics
from ..learning import run_folder
from ..learning.settings import TrainConfig
from ..parallel.tasks import HERE, Task, Tick, Workers
from .config import PRESETS, load_config
from .run import completed, resume, train
from .signals import stopped_by_sigterm

STUDIES = PRESETS / "studies"
"""Parlour's own studies."""


class Study(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """What is compared: a row for each method, a column for each game.

    Attributes:
        metrics: by game, the metric of ``metrics.jsonl`` whose last value counts, such as ``"eval/nash_conv"``.
        games: by game, settings of its runs, such as its options.
        methods: by name, settings of its runs.
        settings: settings of all runs.
        seeds: the seeds.
    """

    metrics: dict[str, str]
    games: dict[str, dict[str, Any]]
    methods: dict[str, dict[str, Any]]
    settings: dict[str, Any]
    seeds: list[int]


@dataclass(frozen=True)
class Cell:
    """One method in one game.

    Attributes:
        game: the game.
        method: the method.
        values: the metric at the end of each finished run.
        mean: their interquartile mean; nan without a run.
        low: the lower end of its 95 % bootstrap interval; nan with less than two runs.
        high: the upper end.
    """

    game: str
    method: str
    values: list[float]
    mean: float
    low: float
    high: float


def read_study(source: str) -> Study:
    """Return a study of Parlour, by its name, or of a TOML file.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: for a file of another form.
    """
    file = Path(source) if source.endswith(".toml") else STUDIES / f"{source}.toml"
    if not file.is_file():
        raise FileNotFoundError(f"there is no study {source!r}: name a TOML file, or one of {', '.join(_own())}")
    try:
        study = msgspec.convert(read_settings(file), Study)
    except msgspec.ValidationError as error:
        raise ValueError(f"{file}: {error}") from error
    if missing := set(study.games) - set(study.metrics):
        raise ValueError(f"{file}: metrics has none for {', '.join(sorted(missing))}")
    for name in (*study.games, *study.methods):
        if Path(name).name != name:
            raise ValueError(f"{file}: {name!r} is a part of a folder's name: write it without /")
    return study


def _own() -> list[str]:
    return sorted(file.stem for file in STUDIES.glob("*.toml"))


Plans = Mapping[tuple[str, str, int], TrainConfig]
"""The settings of runs by game, method and seed."""


def plans(study: Study, folder: Path, more: Mapping[str, Any]) -> Plans:
    """Return the settings of every run, by game, method and seed; first all methods with the first seed.

    Args:
        study: the study.
        folder: the folder of the runs.
        more: settings in place of the study's, such as total_timesteps.
    """
    return {
        (game, method, seed): completed(
            load_config(
                game,
                **{
                    "algorithm": "selfplay",
                    **study.settings,
                    **own,
                    **settings,
                    **more,
                    "seed": seed,
                    "run": folder.absolute() / f"{game}-{method}-{seed}",
                },
            )
        )[0]
        for seed in study.seeds
        for game, own in study.games.items()
        for method, settings in study.methods.items()
    }


def run_study(runs: Plans, workers: Workers = HERE, progress: Tick | None = None) -> None:
    """Train what is not finished. A run that was stopped goes on. Ctrl-C and SIGTERM save the runs in progress.

    Args:
        runs: see `plans`.
        workers: what trains.
        progress: called with the number of runs that are finished already, and when one is finished.

    Raises:
        KeyboardInterrupt: after Ctrl-C or SIGTERM, when the runs are saved.
        ValueError: if a run in the folder has other settings, or another process trains it.
    """
    unfinished = [config for config in runs.values() if not _finished(config)]
    if progress is not None:
        progress(len(runs) - len(unfinished))
    try:
        with stopped_by_sigterm():
            workers.run([Task(_finish, (config,)) for config in unfinished], progress)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("stopped; the same command goes on") from None


def _finish(config: TrainConfig, *, progress: Tick) -> None:
    """Train a run to its end."""
    assert config.run is not None
    if not _finished(config):  # another study in this folder may have trained it meanwhile
        with redirect_stdout(StringIO()):
            if (config.run / "policy.npz").is_file():
                resume(config.run, reraise=True)
            else:
                train(replace(config, run=_free(config.run)), reraise=True)
    progress(1)


def _free(run: Path) -> Path:
    """Return the folder of a run that was ended before it saved anything; its old files are kept under another name.

    Raises:
        ValueError: if another process trains it.
    """
    if run.exists():
        with run_folder.locked(run):
            pass
        number = next(number for number in range(1, 10**6) if not run.with_name(f"{run.name}.ended{number}").exists())
        run.rename(run.with_name(f"{run.name}.ended{number}"))
    return run


def _finished(config: TrainConfig) -> bool:
    """Return whether a run has had all its timesteps.

    Raises:
        ValueError: if it has other settings. Its folder may have been moved.
    """
    assert config.run is not None
    if not (config.run / "metrics.jsonl").is_file():
        return False
    settings = msgspec.to_builtins(asdict(replace(config, run=None)))
    own = msgspec.to_builtins(asdict(replace(load_config(config.run / "config.toml"), run=None)))
    if different := sorted(name for name in {*settings, *own} if settings.get(name) != own.get(name)):
        raise ValueError(
            f"{config.run} has other settings than the study: {', '.join(different)}; choose another --folder"
        )
    lines = read_metrics(config.run)
    return bool(lines) and bool(lines[-1]["steps"] >= config.total_timesteps)


def cells(study: Study, runs: Plans) -> list[Cell]:
    """Return what the finished runs (see `plans`) show, game by game. A run without the metric is named on stderr."""
    ends: dict[tuple[str, str], list[float]] = {(game, one): [] for game in study.games for one in study.methods}
    for (game, method, _), config in runs.items():
        if config.run is None or not _finished(config):
            continue
        try:
            ends[game, method].append(float(read_curve(config.run, study.metrics[game]).values[-1]))
        except ValueError as error:
            print(error, file=sys.stderr)
    return [Cell(*names, values, *bootstrapped(values)) for names, values in ends.items()]
