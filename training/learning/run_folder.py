"""`parlour train`: MaskablePPO against a league of the learner's past selves and bots.

A run folder explains itself: ``config.toml`` (every setting, the game's options included), ``command.txt``,
``model.zip`` (Stable-Baselines3), ``policy.npz`` (the same policy for play without torch), ``metrics.jsonl`` (a line
per iteration), ``tensorboard/``, ``snapshots/`` (the learner's past selves, by steps).
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sb3_contrib import MaskablePPO

from ...wrappers.policies.mlp import MlpPolicy
from .config import TrainConfig


def save(model: MaskablePPO, folder: Path) -> None:
    """Write ``model.zip`` and ``policy.npz``; a crash in between leaves the former files whole."""
    model.save(folder / "model.tmp.zip")
    MlpPolicy.from_model(model).save(folder / "policy.tmp.npz")
    os.replace(folder / "model.tmp.zip", folder / "model.zip")
    os.replace(folder / "policy.tmp.npz", folder / "policy.npz")


def _new_folder(config: TrainConfig) -> Path:
    name = config.name or f"{config.game.partition('-')[0]}-{time.strftime('%Y%m%d-%H%M%S')}"
    folder = config.runs / name
    if folder.exists():
        raise FileExistsError(f"the run {folder} exists: resume it, or give another name")
    (folder / "snapshots").mkdir(parents=True)
    return folder


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep other processes from writing to a run. A lock that a process left when it died holds nobody up."""
    lock = folder / "lock"
    writer = _living(lock.read_text()) if lock.is_file() else None
    if writer is not None:
        raise ValueError(f"process {writer} is writing to {folder}: wait for it, or end it (else delete {lock})")
    lock.write_text(str(os.getpid()))
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)


def _living(pid: str) -> int | None:
    """Return the number of a process, other than this one, that lives; else None."""
    if not pid.isdecimal() or int(pid) == os.getpid():
        return None
    try:
        os.kill(int(pid), 0)
    except PermissionError:  # it lives, and is somebody else's
        return int(pid)
    except OSError:
        return None
    return int(pid)
