"""A run folder: where it lies, what is in it, and the lock that keeps other processes out.

======================  ==================================================================================
``config.toml``         every setting, the game's options included (see `parlour.training.learning.config`)
``command.txt``         the command lines that began and resumed the run
``model.zip``           the learner with its optimiser (its name depends on the algorithm)
``policy.npz``          the same policy for play without torch
``metrics.jsonl``       a line per iteration
``tensorboard/``        the same for TensorBoard
``checkpoints/``        past policies by timesteps; version 0.1 wrote ``snapshots/``
======================  ==================================================================================
"""

import json
import os
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ...envs.core.options import did_you_mean
from ...wrappers.policies.loading import CHECKPOINTS

RUNS = Path("runs")
"""Where run folders are, below the current folder."""


def new_folder(runs: Path, name: str, game: str) -> Path:
    """Make the folder of a new run and return it.

    Args:
        runs: the folder of all run folders.
        name: of the run; empty: the game and the time.
        game: its id.

    Raises:
        FileExistsError: if there is one of that name.
    """
    folder = runs / (name or f"{game.partition('-')[0]}-{time.strftime('%Y%m%d-%H%M%S')}")
    if folder.exists():
        raise FileExistsError(f"the run {folder} exists: resume it, or give another name")
    (folder / CHECKPOINTS[0]).mkdir(parents=True)
    return folder


def existing(run: str | Path, runs: Path = RUNS) -> Path | None:
    """Return the folder of a run: `run` itself, or the folder of that name below `runs`; None if there is none."""
    return next((folder for folder in (Path(run), runs / run) if folder.is_dir()), None)


def find_folder(run: str | Path, runs: Path = RUNS) -> Path:
    """Return the folder of a run: `run` itself, or the folder of that name below `runs`.

    Raises:
        FileNotFoundError: if there is none, with the nearest name.
    """
    found = existing(run, runs)
    if found is None:
        raise FileNotFoundError(f"there is no run {str(run)!r}; {did_you_mean(str(run), names(runs))}")
    return found


def names(runs: Path = RUNS) -> list[str]:
    """Return the names of all folders in `runs`."""
    return sorted(folder.name for folder in runs.iterdir() if folder.is_dir()) if runs.is_dir() else []


def checkpoint_file(folder: Path, timesteps: int) -> Path:
    """Return the path of the checkpoint that is made after so many timesteps."""
    (folder / CHECKPOINTS[0]).mkdir(exist_ok=True)
    return folder / CHECKPOINTS[0] / f"{timesteps}.npz"


def checkpoint_files(folder: Path) -> list[Path]:
    """Return the checkpoints of a run, the oldest first."""
    files = [file for name in CHECKPOINTS for file in (folder / name).glob("*.npz")]
    return sorted(files, key=lambda file: int(file.stem))


def timesteps(folder: Path) -> int:
    """Return how many timesteps a run has had, by its metrics; 0 where it has none."""
    file = folder / "metrics.jsonl"
    lines = file.read_text("utf-8").splitlines() if file.is_file() else []
    return int(json.loads(lines[-1])["steps"]) if lines else 0


def add_command(folder: Path, command: Sequence[str]) -> None:
    """Note the command line that began the run, or goes on with it; empty: that of this process."""
    with (folder / "command.txt").open("a", encoding="utf-8") as file:
        file.write(shlex.join(command or sys.argv) + "\n")


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes from writing to a run. The lock of a process that has died is ignored.

    Raises:
        ValueError: if another process is writing to the run.
    """
    lock = folder / "lock"
    writer = _running(lock.read_text()) if lock.is_file() else None
    if writer is not None:
        raise ValueError(f"process {writer} is writing to {folder}: wait for it, or end it (else delete {lock})")
    lock.write_text(str(os.getpid()))
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)


def _running(pid: str) -> int | None:
    """Return the number of a process, other than this one, that runs; else None."""
    if not pid.isdecimal() or int(pid) == os.getpid():
        return None
    try:
        os.kill(int(pid), 0)
    except PermissionError:  # it runs, and is somebody else's
        return int(pid)
    except OSError:
        return None
    return int(pid)
