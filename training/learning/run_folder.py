"""Run folders: their location, their files, and the lock against other processes.

======================  ==================================================================================
``config.toml``         every setting, the game's options included (see `parlour.training.runs.config`)
``command.txt``         the command lines that began and resumed the run
``model.zip``           the learner with its optimiser (its name depends on the algorithm)
``policy.npz``          the same policy for play without torch
``league.json``         the random states of the opponents, the timesteps of the save and of the next checkpoint
``metrics.jsonl``       a line per iteration
``tensorboard/``        the same for TensorBoard
``checkpoints/``        past policies by timesteps
======================  ==================================================================================
"""

import json
import os
import shlex
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...envs.core.files import parsed, replacing
from ...wrappers.policies.loading import CHECKPOINTS

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

RUNS = Path("runs")
"""The default folder of run folders, below the current folder."""


def new_folder(run: Path | None, game: str) -> Path:
    """Make the folder of a new run and return it.

    Args:
        run: the run's name below ``runs/``, or the path of its folder; None: the game and the time.
        game: the game's id.

    Raises:
        FileExistsError: if the folder exists.
    """
    run = run or Path(f"{game.partition('-')[0]}-{time.strftime('%Y%m%d-%H%M%S')}")
    folder = run if len(run.parts) > 1 else RUNS / run
    if folder.exists():
        raise FileExistsError(f"the run {folder} exists: resume it, or give another name")
    (folder / CHECKPOINTS).mkdir(parents=True)
    return folder


def existing(run: str | Path, runs: Path = RUNS) -> Path | None:
    """Return the folder of a run: `run` itself, or the folder of that name below `runs`; None if there is none."""
    return next((folder for folder in (Path(run), runs / run) if str(run) and folder.is_dir()), None)


def of_policy(file: Path) -> Path:
    """Return the real path of a run or policy file: of a run's policy, its folder."""
    real = file.resolve()
    of_run = real.name in ("policy.npz", "model.zip") and (real.parent / "config.toml").exists()
    return real.parent if of_run else real


def names(runs: Path = RUNS) -> list[str]:
    """Return the names of all folders in `runs`."""
    return sorted(folder.name for folder in runs.iterdir() if folder.is_dir()) if runs.is_dir() else []


def checkpoint_files(folder: Path) -> list[Path]:
    """Return the checkpoints of a run, the oldest first."""
    files = [file for file in (folder / CHECKPOINTS).glob("*.npz") if file.stem.isdecimal()]
    return sorted(files, key=lambda file: int(file.stem))


def write_state(folder: Path, state: Mapping[str, Any]) -> None:
    """Write ``league.json``. If the process dies meanwhile, the old file stays complete."""
    with replacing(folder / "league.json") as unfinished:
        unfinished.write_text(json.dumps(state), "utf-8")


def read_state(folder: Path) -> dict[str, Any] | None:
    """Return the state of `write_state`; None for a run that was saved without it."""
    file = folder / "league.json"
    state: dict[str, Any] | None = parsed(file.read_bytes(), file) if file.is_file() else None
    return state


def timesteps(folder: Path) -> int:
    """Return the number of timesteps of a run, of its latest save or its metrics, whichever is later; 0: none yet.

    A run that is stopped within a rollout saves more timesteps than its metrics have.
    """
    lines = read_metrics(folder) if (folder / "metrics.jsonl").is_file() else []
    saved = (read_state(folder) or {}).get("timesteps", 0)
    return max(int(saved), int(lines[-1]["steps"]) if lines else 0)


def read_metrics(run: Path) -> list[dict[str, Any]]:
    """Return the lines of a run's ``metrics.jsonl``, without a last one that was cut off by a crash.

    Raises:
        FileNotFoundError: if the run has no metrics.
        ValueError: if another line is not JSON.
    """
    file = run / "metrics.jsonl"
    if not file.is_file():
        raise FileNotFoundError(f"{file} is missing: {run} has not been trained")
    lines = file.read_text("utf-8").splitlines(keepends=True)
    return [parsed(line, f"{file}, line {n}") for n, line in enumerate(lines, 1) if line.endswith("\n")]


def begin_session(folder: Path, settings: str, command: Sequence[str]) -> None:
    """Write the settings of a run, as TOML, and append the command line that began or resumed it.

    An empty command is that of this process.
    """
    (folder / "config.toml").write_text(settings, "utf-8")
    with (folder / "command.txt").open("a", encoding="utf-8") as file:
        file.write(shlex.join(command or sys.argv) + "\n")


@contextmanager
def locked(where: Path) -> Iterator[None]:
    """Lock a folder, or a file, against other processes. The lock of a process that has died is ignored.

    Raises:
        ValueError: if another process is writing to it.
    """
    lock = where / "lock" if where.is_dir() else where.with_name(f"{where.name}.lock")
    folder = os.open(lock.parent, os.O_RDONLY) if fcntl else None
    try:
        if folder is not None:
            fcntl.flock(folder, fcntl.LOCK_EX)  # else two processes could both find it free, and both write
        writer = _running(lock.read_text()) if lock.is_file() else None
        if writer is not None:
            raise ValueError(
                f"process {writer} is writing to {where}: wait for it or stop it; if it does not exist, delete {lock}"
            )
        lock.write_text(str(os.getpid()))
    finally:
        if folder is not None:
            os.close(folder)
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)


def _running(pid: str) -> int | None:
    """Return the id of a running process other than this one; else None."""
    if not pid.isdecimal() or int(pid) == os.getpid():
        return None
    try:
        os.kill(int(pid), 0)
    except PermissionError:  # it runs, and belongs to another user
        return int(pid)
    except OSError:
        return None
    return int(pid)
