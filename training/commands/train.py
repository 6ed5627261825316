"""`parlour train`: begins or resumes a training run."""

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

SAME = ("algorithm", "total_timesteps", "minutes", "seed", "checkpoint_every", "n_envs", "engine", "device")
"""Options that are settings of the same name and type."""


def command(
    source: Annotated[str | None, Parameter(name="GAME")] = None,
    *,
    options: tuple[str, ...] = (),
    algorithm: str | None = None,
    total_timesteps: int | None = None,
    minutes: float | None = None,
    seed: int | None = None,
    run: str | None = None,
    bots: tuple[str, ...] | None = None,
    checkpoint_every: int | None = None,
    evaluate_against: tuple[str, ...] | None = None,
    n_envs: int | None = None,
    engine: str | None = None,
    device: str | None = None,
    settings: Annotated[tuple[str, ...], Parameter(name="--set")] = (),
    config: Path | None = None,
    platform: Annotated[str | None, Parameter(name="--for")] = None,
    resume: str | None = None,
    game: str | None = None,
) -> None:
    """Train a policy by self-play against its past checkpoints and bots. Ctrl-C and SIGTERM save the run.

    What is not given is as in the game's preset. The reference of the site describes every setting.

    Args:
        source: The name of the game or of another preset (see `parlour list presets`); or module:function of your own.
        options: The game's options as name=value, such as seats=2. Change it to the rules that you will play by.
        algorithm: The learning algorithm: maskable_ppo, with the files of Stable-Baselines3, or selfplay, one policy in
            all seats.
        total_timesteps: Number of decisions of the learner, at all tables together.
        minutes: The run ends after this many minutes at the latest.
        seed: Seed of all random numbers.
        run: Name of the run: its folder, runs/NAME, holds the policy, the settings and the checkpoints; other commands
            take the name. Or the path of the folder. Default: the game and the time.
        bots: The bots among the opponents, with their relative shares, such as call=1 tight=2.
        checkpoint_every: Timesteps between two checkpoints. The model is saved with each.
        evaluate_against: Opponents of the evaluations at each checkpoint and at the end: bots, runs, policy files, or
            best_response.
        n_envs: Number of tables that are played at the same time.
        engine: What collects decisions for selfplay: local, process, ray or gpu.
        device: The device of selfplay's networks: auto, cpu or cuda.
        settings: Any other settings as name=value, such as learning_rate=1e-3 net_arch=[64,64].
        config: TOML file with settings, in place of the preset.
        platform: Train for a platform, with its options, such as moltpoker (see `parlour list presets`). Name the game
            if the platform has several.
        resume: The run to continue: its folder or its name below runs/. It takes --total-timesteps (in total) and
            --minutes (from now on).
        game: The game of the run to continue, if it is your own, as module:function.
    """
    given = {name: value for name, value in locals().items() if name in SAME and value is not None}
    from ...envs import find
    from ..learning.settings import pair, run_path
    from ..runs.config import load_config, preset_for, settings_from
    from ..runs.run import resume as resume_run
    from ..runs.run import train
    from .lookup import require_known, trained_for

    given |= dict(map(pair, settings))
    given |= {} if bots is None else {"bots": dict(map(pair, bots))}
    given |= {} if evaluate_against is None else {"evaluate_against": evaluate_against}
    given |= {} if run is None else {"run": run_path(run)}
    if sum(one is not None for one in (platform, config, resume)) > 1:
        raise ValueError("give --for, --config or --resume, not two of them")
    words = ["parlour", *sys.argv[1:]]
    if resume is not None:
        if source is not None or options:
            raise ValueError("a run is resumed with its own game and options")
        if game is not None:
            find(game)
        require_known(resume, trained_for(resume))
        _tell_next(resume_run(resume, command=words, **given))
        return
    if config is not None and config.suffix != ".toml":
        raise ValueError(f"--config {config}: need a TOML file, *.toml")
    preset = str(config) if config is not None else source if platform is None else preset_for(platform, source)
    if preset is None:
        raise ValueError("give a game, as in `parlour train holdem`, a --config FILE, or a run to --resume")
    if config is not None and source is not None:
        given["game"] = source
    if options:
        given["options"] = settings_from(preset, algorithm).get("options", {}) | dict(map(pair, options))
    _tell_next(train(load_config(preset, **given), words))


def _tell_next(folder: Path) -> None:
    """Print the command that comes next: it measures the policy, or shows it play where all seats share one reward."""
    from ...wrappers.policies.loading import run_settings
    from ..learning.run_folder import RUNS
    from ..terminal.console import Console
    from .lookup import next_command, rivals

    game, name = run_settings(folder).make_game(), str(folder if folder.parent != RUNS else folder.name)
    bots = [bot for bot in rivals(game) if bot != "random"][:2]
    words = ["evaluate", name, "--against", *(bots or ["random"])]
    if game.payoffs.shared:
        words = ["play", "GAME", "--agents", *[name] * game.seats]
    Console().say(f"next: {next_command(game, *words)}")
