"""`parlour train`: begin a training run, or go on with one."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import tyro

from ..algorithms import find
from ..learning.config import load_config
from ..learning.run import resume as resume_run
from ..learning.run import train
from ..learning.settings import ALGORITHM, TrainConfig


def command_for(args: Sequence[str]) -> Callable[..., None]:
    """Return the command for these arguments: which settings there are, and their defaults, follows from them.

    Raises:
        ValueError: if they name neither a game nor a file nor a run, or what they name cannot be read.
    """
    game = args[0] if args and not args[0].startswith("-") else None
    sources = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    for name in ("--config", "--resume", "--algorithm"):
        sources.add_argument(name)
    given, rest = sources.parse_known_args(list(args))
    if given.resume:
        return _resume_command(args)
    if given.config and not given.config.endswith(".toml"):
        raise ValueError(f"--config {given.config}: need a TOML file, *.toml")
    if game or given.config:
        chosen = {"algorithm": given.algorithm} if given.algorithm else {}
        default = load_config(given.config or game or "", **chosen, **({"game": game} if given.config and game else {}))
    elif {"-h", "--help"} & set(rest):
        default = find(given.algorithm or ALGORITHM).Config(game="")
    else:
        raise ValueError("give a game, as in `parlour train holdem`, a --config FILE, or a run to --resume")
    return _train_command(default, args)


def _train_command(default: TrainConfig, args: Sequence[str]) -> Callable[..., None]:
    kind: Any = type(default)

    def command(
        *,
        source: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="GAME")] = default.game,
        config: Path | None = None,
        resume: str | None = None,
        settings: kind = default,
    ) -> None:
        """Train a policy by self-play against its past checkpoints and bots. Ctrl-C and SIGTERM save the run.

        Every setting has its default from the game's preset; `--resume RUN` goes on with a run.

        Args:
            source: The game, or another preset, by name (see `parlour list presets`).
            config: TOML file with settings, in place of the preset.
            resume: Go on with this run, by its folder or its name below runs/. Beside it there are --total-timesteps
                (in all), --minutes (from now on) and --no-progress.
        """
        train(replace(settings, options={**default.options, **settings.options}), ["parlour", "train", *args])

    return command


def _resume_command(args: Sequence[str]) -> Callable[..., None]:
    def command(
        *, resume: str, total_timesteps: int | None = None, minutes: float | None = None, progress: bool = True
    ) -> None:
        """Go on with a run where it was last saved.

        Args:
            resume: The run folder, or its name below runs/.
            total_timesteps: Decisions in all. Default: as the run began.
            minutes: The run ends after this many minutes from now on. Default: as the run began.
            progress: Show a progress bar.
        """
        more = {"total_timesteps": total_timesteps, "minutes": minutes}
        overrides = {name: value for name, value in more.items() if value is not None}
        resume_run(resume, progress=progress, command=["parlour", "train", *args], **overrides)

    return command
