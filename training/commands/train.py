"""`parlour train`: begins or resumes a training run."""

import argparse
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import tyro

from ...envs import find as find_game
from ...wrappers.policies.loading import run_settings
from ...wrappers.policies.trained_for import command_line, unshared
from ..algorithms import find
from ..learning.run_folder import RUNS
from ..learning.settings import ALGORITHM, TrainConfig
from ..runs.config import load_config, preset_for
from ..runs.run import resume as resume_run
from ..runs.run import train
from ..terminal.console import Console
from .lookup import game_with, has_seats, rivals

FIRST = (
    "options",
    "algorithm",
    "total-timesteps",
    "minutes",
    "seed",
    "run",
    "bots",
    "teacher",
    "evaluate-against",
    "resume",
)


def command_for(args: Sequence[str]) -> Callable[..., None]:
    """Return the command for these arguments, which decide the available settings and their defaults.

    Raises:
        ValueError: if they name neither a game nor a file nor a run, or if the file or run cannot be read.
    """
    game = args[0] if args and not args[0].startswith("-") else None
    sources = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    for name in ("--config", "--resume", "--algorithm", "--for"):
        sources.add_argument(name)
    given, rest = sources.parse_known_args(list(args))
    platform: str | None = getattr(given, "for")
    if platform is not None and (given.resume or given.config):
        raise ValueError("give --for, --config or --resume, not two of them")
    preset = None if platform is None else preset_for(platform, game)
    if given.resume:
        return _resume_command(args)
    if given.config and not given.config.endswith(".toml"):
        raise ValueError(f"--config {given.config}: need a TOML file, *.toml")
    if preset or game or given.config:
        chosen = {"algorithm": given.algorithm} if given.algorithm else {}
        default = load_config(
            preset or given.config or game or "", **chosen, **({"game": game} if given.config and game else {})
        )
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
        platform: Annotated[str | None, tyro.conf.arg(name="for")] = None,
        resume: str | None = None,
        settings: kind = default,
    ) -> None:
        """Train a policy by self-play against its past checkpoints and bots. Ctrl-C and SIGTERM save the run.

        The defaults of the settings are those of the game's preset. `--resume RUN` continues a run.

        Args:
            source: The name of the game or of another preset (see `parlour list presets`).
            config: TOML file with settings, in place of the preset.
            platform: Train for a platform, with its options, such as moltpoker (see `parlour list presets`). Name the
                game if the platform has several.
            resume: The run to continue: its folder or its name below runs/. It allows --total-timesteps (in total)
                and --minutes (from now on).
        """
        folder = train(replace(settings, options={**default.options, **settings.options}), ["parlour", "train", *args])
        _tell_next(folder, source)

    return command


def _tell_next(folder: Path, source: str | None) -> None:
    """Print the command that comes next: it measures the policy, or shows it play where all seats share one reward.

    A `source` module:function is named there: no file of a run imports it.
    """
    game, name = run_settings(folder).make_game(), str(folder if folder.parent != RUNS else folder.name)
    own = source if source and ":" in source else None
    if game.payoffs.shared:
        try:
            usual = game_with(own or game.name, seats=game.seats if has_seats(own or game.name) else None)
            differing = unshared(game, usual)
        except TypeError:  # a game of one's own with an option that must be given
            differing = dict(game.options)
        short = {name: value for name, value in differing.items() if "\n" not in str(value)}  # not the text of a file
        options = shlex.split(command_line(short))
        command = ["play", own or game.name, *options, "--agents", *[name] * game.seats]
    else:
        bots = [bot for bot in rivals(game) if bot != "random"][:2]
        command = ["evaluate", name, *(["--game", own] if own else []), "--against", *(bots or ["random"])]
    Console().print(f"next: {shlex.join(['parlour', *command])}", markup=False, soft_wrap=True)


def _resume_command(args: Sequence[str]) -> Callable[..., None]:
    def command(
        *,
        resume: str,
        total_timesteps: int | None = None,
        minutes: float | None = None,
        game: str | None = None,
    ) -> None:
        """Continue a run from its last save.

        Args:
            resume: The run folder, or its name below runs/.
            total_timesteps: Decisions in total. Default: the run's own setting.
            minutes: The run ends after this many minutes from now on. Default: the run's own setting.
            game: The run's game, if it is your own, as module:function.
        """
        if game is not None:
            find_game(game)
        more = {"total_timesteps": total_timesteps, "minutes": minutes}
        overrides: dict[str, Any] = {name: value for name, value in more.items() if value is not None}
        _tell_next(resume_run(resume, command=["parlour", "train", *args], **overrides), game)

    return command
