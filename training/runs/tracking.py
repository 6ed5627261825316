"""Trackers: the metrics of a run in Weights & Biases or MLflow, which are extras of Parlour."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any
from uuid import uuid4

from ..learning.settings import TrainConfig

Track = Callable[[Mapping[str, float], int], object]
"""Called with metrics by name and the number of timesteps."""


@contextmanager
def tracked(config: TrainConfig, folder: Path) -> Iterator[Track]:
    """Track a run with the tracker ``config.track``; yield the function that takes the metrics.

    A resumed run continues its record, which has the name of the run folder.

    Raises:
        ImportError: if the package of the tracker is not installed.
    """
    if config.track == "wandb":
        with _wandb(config, folder) as track:
            yield track
    elif config.track == "mlflow":
        with _mlflow(config, folder) as track:
            yield track
    else:
        yield lambda metrics, timesteps: None


@contextmanager
def _wandb(config: TrainConfig, folder: Path) -> Iterator[Track]:
    import wandb

    identity = folder / "wandb_id.txt"
    if not identity.is_file():
        identity.write_text(uuid4().hex[:12], "utf-8")
    run = wandb.init(
        project="parlour",
        name=folder.name,
        id=identity.read_text("utf-8"),
        resume="allow",
        dir=folder,
        config=_settings(config),
    )
    try:
        yield lambda metrics, timesteps: run.log({**metrics, "timesteps": timesteps}, step=timesteps)
    finally:
        run.finish()


@contextmanager
def _mlflow(config: TrainConfig, folder: Path) -> Iterator[Track]:
    import mlflow

    identity = folder / "mlflow_id.txt"
    known = identity.read_text("utf-8") if identity.is_file() else None
    if known is None:
        mlflow.set_experiment("parlour")
    with mlflow.start_run(run_id=known, run_name=folder.name) as run:
        if known is None:
            identity.write_text(run.info.run_id, "utf-8")
            mlflow.log_params(_settings(config))
        yield lambda metrics, timesteps: mlflow.log_metrics(dict(metrics), step=timesteps)


def _settings(config: TrainConfig) -> dict[str, Any]:
    return {name: str(value) if isinstance(value, Path) else value for name, value in asdict(config).items()}
