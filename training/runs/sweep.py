"""Sweeps: runs with many settings and seeds, in other processes; Optuna proposes the settings."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import redirect_stdout
from dataclasses import dataclass, fields
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...envs.core.options import named
from ..evaluation.curves import Group, read_curve
from ..learning.settings import pair
from ..parallel.tasks import HERE, Workers
from .config import load_config, to_toml
from .run import train
from .signals import stopped_by_sigterm

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.trial import Trial

    _Running = dict[Future[list[float]], Trial]

STUDY = "study.log"
"""The file of the sweep in its folder; a sweep of the same folder continues it."""


@dataclass(frozen=True)
class Outcome:
    """The runs with one choice of settings.

    Attributes:
        number: the number of the choice, from 0.
        settings: the settings that were searched.
        values: the metric at the end of each run, one per seed.
    """

    number: int
    settings: dict[str, Any]
    values: list[float]

    @property
    def mean(self) -> float:
        """The mean over the seeds."""
        return float(np.mean(self.values))


def space(texts: Sequence[str]) -> dict[str, "BaseDistribution"]:
    """Return what is searched, from texts such as ``learning_rate=1e-4:1e-2:log`` or ``network=mlp,residual``.

    ``LOW:HIGH`` is a range of numbers, of whole numbers if both are whole; ``:log`` behind it makes it logarithmic;
    ``A,B,C`` is a choice.

    Raises:
        ValueError: for another text.
    """
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    distributions: dict[str, BaseDistribution] = {}
    for text in texts:
        name, _, given = text.partition("=")
        parts = given.split(":")
        if len(parts) == 1 and given:
            distributions[name] = CategoricalDistribution([pair(f"{name}={choice}")[1] for choice in given.split(",")])
            continue
        bounds = [pair(f"{name}={part}")[1] for part in parts[:2]]
        numbers = all(isinstance(bound, int | float) for bound in bounds)
        if not numbers or parts[2:] not in ([], ["log"]) or len(bounds) < 2 or not bounds[0] < bounds[1]:
            raise ValueError(f"{text!r}: write name=low:high, name=low:high:log, or name=a,b,c")
        kind = IntDistribution if all(isinstance(bound, int) for bound in bounds) else FloatDistribution
        distributions[name] = kind(bounds[0], bounds[1], log=parts[2:] == ["log"])
    return distributions


def sweep(
    source: str,
    searched: Mapping[str, "BaseDistribution"],
    folder: Path,
    *,
    trials: int,
    seeds: Sequence[int] = (0,),
    metric: str = "rollout/return",
    last: float = 0.1,
    minimize: bool = False,
    workers: Workers = HERE,
    done: Callable[[Outcome], None] = lambda outcome: None,
    **settings: Any,
) -> list[Outcome]:
    """Train with settings that Optuna proposes, and return the outcomes of this call, the best first.

    The runs lie in `folder`, as ``TRIAL-SEED``. A sweep of a folder that has one continues it.

    Args:
        source: a game, a preset or a file (see `load_config`).
        searched: what is searched, by setting (see `space`).
        folder: the folder of the sweep.
        trials: number of choices of settings.
        seeds: each choice is trained with each of these seeds.
        metric: the metric of ``metrics.jsonl`` that is optimised.
        last: the share of a run, at its end, over which the metric is averaged.
        minimize: whether smaller is better.
        workers: where the runs are made, `processes` at the same time. In a cluster, `folder` is one that every node
            sees.
        done: called with every outcome.
        settings: settings of all runs.

    Raises:
        ValueError: for an unknown setting, or a metric that the runs do not have.
    """
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    config = load_config(source, **settings)
    for name in searched:
        named(f"setting of {config.algorithm}", name, [field.name for field in fields(config)])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(to_toml(config), "utf-8")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(
        study_name="parlour",
        storage=JournalStorage(JournalFileBackend(str(folder / STUDY))),
        direction="minimize" if minimize else "maximize",
        sampler=optuna.samplers.TPESampler(seed=seeds[0]),
        load_if_exists=True,
    )
    outcomes: list[Outcome] = []
    with stopped_by_sigterm(), workers.executor() as pool:
        running: _Running = {}
        for _ in range(trials):
            if len(running) == workers.processes:
                outcomes += _finished(study, running, done)
            trial = study.ask(dict(searched))
            chosen = {**settings, **trial.params}
            plans = [{**chosen, "seed": seed, "run": folder.absolute() / f"{trial.number}-{seed}"} for seed in seeds]
            running[pool.submit(_train_all, source, plans, metric, last)] = trial
        while running:
            outcomes += _finished(study, running, done)
    return sorted(outcomes, key=lambda outcome: outcome.mean if minimize else -outcome.mean)


def _finished(
    study: Any, running: "dict[Future[list[float]], Trial]", done: Callable[[Outcome], None]
) -> list[Outcome]:
    """Wait for a trial, tell Optuna of all that have ended, and return their outcomes."""
    outcomes = []
    for future in wait(running, return_when=FIRST_COMPLETED).done:
        trial = running.pop(future)
        outcome = Outcome(trial.number, dict(trial.params), future.result())
        study.tell(trial, outcome.mean)
        done(outcome)
        outcomes.append(outcome)
    return outcomes


def _train_all(source: str, plans: Sequence[dict[str, Any]], metric: str, last: float) -> list[float]:
    """Train the runs of one trial, one after the other, and return the metric at their ends."""
    ends = []
    for plan in plans:
        with redirect_stdout(StringIO()):  # the sweep itself reports
            run = train(load_config(source, **plan), reraise=True)
        ends.append(float(Group("", [read_curve(run, metric)]).ends(last)[0]))
    return ends
