"""`parlour train`: MaskablePPO against a league of the learner's past selves and bots.

A run folder explains itself: ``config.toml`` (every setting, the game's options included), ``command.txt``,
``model.zip`` (Stable-Baselines3), ``policy.npz`` (the same policy for play without torch), ``metrics.jsonl`` (a line
per iteration), ``tensorboard/``, ``snapshots/`` (the learner's past selves, by steps).
"""

import dataclasses
import json
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import KVWriter, Logger, TensorBoardOutputFormat
from threadpoolctl import threadpool_limits

from ...envs import Game
from ...envs import game as make_game
from ...envs.core.options import named
from ...wrappers.policies.loading import make_policy
from ...wrappers.policies.sb3 import SB3Policy
from ...wrappers.rl.sb3 import ColumnSelector, SB3VecEnv, sb3_env
from ..learning.behavioural_cloning import TEACHER, imitate, taught
from ..learning.config import TrainConfig, load_config, to_toml
from ..learning.league import League
from ..learning.run_folder import _locked, _new_folder, save


class _Learner(MaskablePPO):
    """MaskablePPO whose learning rate and entropy bonus fall to 0 as the budget, in steps or in time, is used up."""

    remaining = 1.0  # of the budget; set by the callback
    entropy = 0.0  # weight of the bonus at the start

    def _update_learning_rate(self, optimizers: Any) -> None:
        self.ent_coef = self.entropy * self.remaining
        rate = self.lr_schedule(1.0) * self.remaining
        self.logger.record("train/learning_rate", rate)
        for group in optimizers.param_groups:
            group["lr"] = rate

    def _excluded_save_params(self) -> list[str]:
        return [*super()._excluded_save_params(), "remaining", "entropy"]


class _Lines(KVWriter):
    """Metrics as JSON Lines, appended."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a")

    def write(self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0) -> None:
        values = {k: v.item() if hasattr(v, "item") else v for k, v in sorted(key_values.items())}
        self._file.write(json.dumps({"steps": step, **values}) + "\n")
        self._file.flush()

    def close(self) -> None:
        self._file.close()


class _Run(BaseCallback):
    """Keeps a run going: the league, the budget, the metrics, the saves, the progress bar."""

    def __init__(
        self, learner: _Learner, config: TrainConfig, folder: Path, league: League, env: SB3VecEnv, bar: Progress
    ) -> None:
        super().__init__()
        self.learner = learner
        self.config, self.folder, self.league, self.bar = config, folder, league, bar
        self.seats, self.unit = env.seats, env.seats.game.payoffs.unit_name
        self.started = time.monotonic()
        self.booked = (0, 0.0)

    def _on_training_start(self) -> None:
        self.started = time.monotonic()  # the first reset has compiled the game by now
        self.first = self.num_timesteps
        self.task = self.bar.add_task("training", total=self.config.steps, completed=self.first, note="")
        if self.league.past:
            self.league.seat(self.seats)
        else:
            self._take_snapshot()
        self.snapshot_due = self.num_timesteps + self.config.snapshot_every

    def _on_rollout_start(self) -> None:
        self.learner.remaining = 1 - self._used()
        self.seats.random_start_steps = (
            round(self.config.opening * max(0.0, 1 - 2 * self._used())),
            self.config.opening,
        )
        if self.num_timesteps >= self.snapshot_due:
            self._take_snapshot()
            save(self.learner, self.folder)
            self.snapshot_due += self.config.snapshot_every
        self.league.reflect(self.learner, self.seats)

    def _take_snapshot(self) -> None:
        snapshot = self.league.take(self.learner, self.seats)
        snapshot.save(self.folder / "snapshots" / f"{self.num_timesteps}.npz")

    def _on_step(self) -> bool:
        return self.config.minutes is None or self._minutes() < self.config.minutes

    def _on_rollout_end(self) -> None:
        steps, seats = self.num_timesteps, self.seats
        episodes, winnings = seats.episodes - self.booked[0], seats.winnings - self.booked[1]
        self.booked = (seats.episodes, seats.winnings)
        per_second = (steps - self.first) / (time.monotonic() - self.started)
        mean = winnings / max(1, episodes)
        self.logger.record("rollout/return", mean)
        self.logger.record("time/steps_per_second", per_second)
        note = f"{per_second:,.0f} steps/s, {mean:+.2f} {self.unit} an episode"
        self.bar.update(self.task, completed=steps, total=steps / self._used(), note=note)

    def _used(self) -> float:
        """Return the share of the budget, in steps or in time, that has been used up."""
        time_used = 0.0 if self.config.minutes is None else self._minutes() / self.config.minutes
        return min(1.0, max(self.num_timesteps / self.config.steps, time_used))

    def _minutes(self) -> float:
        return (time.monotonic() - self.started) / 60


def train(config: TrainConfig, command: Sequence[str] = ()) -> Path:
    """Train a policy; Ctrl-C ends early and saves.

    Args:
        config: the settings.
        command: the command line, for ``command.txt``.

    Returns:
        The run folder.

    Raises:
        FileExistsError: if a run of that name exists.
        ValueError: for settings or options that do not fit the game.
    """
    game = make_game(config.game, **config.options)
    config = dataclasses.replace(config, game=game.id, options=dict(game.options))
    if config.imitate:
        named("bot", config.imitate, [*game.bots, *([TEACHER] if game.name == "tangram" else [])])
    columns = _columns(config, game)
    parts = {"features_extractor_class": ColumnSelector, "features_extractor_kwargs": {"columns": columns}}
    league = _league(config)
    env = _tables(config, league)
    folder = _new_folder(config)
    config = dataclasses.replace(config, name=folder.name)
    (folder / "config.toml").write_text(to_toml(config))
    (folder / "command.txt").write_text(shlex.join(command or sys.argv) + "\n")
    with _locked(folder), _torch_settings(config.threads):
        model = _Learner(
            "MlpPolicy",
            env,
            learning_rate=config.learning_rate,
            n_steps=config.rollout,
            batch_size=config.batch_size,
            n_epochs=config.epochs,
            gamma=config.gamma,
            gae_lambda=config.gae_lambda,
            clip_range=config.clip,
            ent_coef=config.entropy,
            vf_coef=config.value,
            max_grad_norm=config.max_grad_norm,
            policy_kwargs={
                "net_arch": {"pi": list(config.hidden), "vf": list(config.critic or config.hidden)},
                "activation_fn": getattr(torch.nn, config.activation),
                **(parts if columns else {}),
            },
            seed=config.seed,
            device="cpu",
        )
        if config.imitate:
            try:
                chance = _imitate(model, config, game)
            except KeyboardInterrupt:
                save(model, folder)
                Console().print(f"stopped in the lessons; go on without them with: parlour train --resume {folder}")
                return folder
            save(model, folder)
            Console().print(f"copied {config.imitate}: its choices have probability {chance:.2f} on average")
        return _learn(model, config, folder, league, env)


def _columns(config: TrainConfig, game: Game) -> list[int]:
    """Return which numbers of the observation the networks see, in its order; none: all."""
    for path in config.inputs:
        named("part of the observation", path, [part.path for part in game.layout])
    return [column for part in game.layout if part.path in config.inputs for column in range(part.start, part.stop)]


def _imitate(model: _Learner, config: TrainConfig, game: Game) -> float:
    if config.imitate == TEACHER:
        from ..learning import dagger as tangram

        lessons = tangram.taught(game, SB3Policy(model, seed=config.seed), config.seed)
    else:
        lessons = taught(game, make_policy(config.imitate, game, seed=config.seed), config.seed)
    with _bar(Console(), shown=config.progress) as bar:
        task = bar.add_task("lessons", total=1.0, note="")
        return imitate(
            model,
            lessons,
            decisions=config.lessons,
            minutes=config.lesson_minutes,
            rate=config.lesson_rate or config.learning_rate,
            batch_size=config.lesson_batch,
            reward_scale=config.reward_scale,
            seed=config.seed,
            progress=lambda used, note: bar.update(task, completed=used, note=note),
        )


def resume(run: str | Path, *, progress: bool = True, command: Sequence[str] = (), **overrides: Any) -> Path:
    """Go on with a run where it was last saved: the settings of its folder, its model, optimiser and past selves.

    Args:
        run: the run folder, or its name below ``runs/``.
        progress: show a progress bar.
        command: the command line, added to ``command.txt``.
        overrides: ``steps`` (in all) or ``minutes`` (from now on), where more are wanted than the run was begun with.

    Returns:
        The run folder.

    Raises:
        FileNotFoundError: if the folder has no ``config.toml`` or ``model.zip``.
        ValueError: if the run has had all its steps, another process is at it, or another setting is to be overridden.
    """
    folder = Path(run) if Path(run).is_dir() else Path("runs") / run
    for name in ("config.toml", "model.zip"):
        if not (folder / name).is_file():
            raise FileNotFoundError(f"{run} cannot be resumed: {folder / name} is missing")
    if wrong := set(overrides) - {"steps", "minutes"}:
        raise ValueError(
            f"{', '.join(sorted(wrong))}: a run is resumed with its own settings, but for steps and minutes"
        )
    config = load_config(folder / "config.toml", progress=progress, **overrides)
    with _locked(folder), _torch_settings(config.threads):
        league = _league(config)
        league.load(folder / "snapshots")
        env = _tables(config, league)
        model = _Learner.load(folder / "model.zip", env=env, device="cpu")
        if model.num_timesteps >= config.steps:
            raise ValueError(
                f"{folder} has had {model.num_timesteps:,} of {config.steps:,} steps: give more with steps=…"
            )
        model.set_random_seed(config.seed + model.num_timesteps)
        (folder / "config.toml").write_text(to_toml(config))
        with (folder / "command.txt").open("a") as file:
            file.write(shlex.join(command or sys.argv) + "\n")
        return _learn(model, config, folder, league, env)


def _learn(model: _Learner, config: TrainConfig, folder: Path, league: League, env: SB3VecEnv) -> Path:
    console = Console()
    model.entropy = config.entropy
    model.set_logger(
        Logger(str(folder), [TensorBoardOutputFormat(str(folder / "tensorboard")), _Lines(folder / "metrics.jsonl")])
    )
    with _bar(console, shown=config.progress) as bar:
        run = _Run(model, config, folder, league, env, bar)
        try:
            model.learn(config.steps - model.num_timesteps, callback=run, reset_num_timesteps=False)
        except KeyboardInterrupt:
            console.print(f"stopped at {model.num_timesteps:,} steps; go on with: parlour train --resume {folder}")
        finally:
            model.logger.close()
    save(model, folder)
    console.print(f"trained {model.num_timesteps:,} steps in {run._minutes():.1f} minutes: {folder}")
    return folder


def _league(config: TrainConfig) -> League:
    return League(config.snapshots, config.self_play, config.bots, config.seed, config.mirror)


def _tables(config: TrainConfig, league: League) -> SB3VecEnv:
    return sb3_env(
        make_game(config.game, **config.options),
        num_envs=config.num_envs,
        opponents=league.pool(),
        random_start_steps=(config.opening, config.opening),
        reward_scale=config.reward_scale,
    )


@contextmanager
def _torch_settings(threads: int) -> Iterator[None]:
    """Set torch's and NumPy's threads; do without the checks of torch's distributions, a tenth of the time."""
    before, checks = torch.get_num_threads(), torch.distributions.Distribution._validate_args
    torch.set_num_threads(threads)
    torch.distributions.Distribution.set_default_validate_args(False)
    try:
        with threadpool_limits(threads, "blas"):  # the past selves play in NumPy: five times slower on busy cores
            yield
    finally:
        torch.set_num_threads(before)
        torch.distributions.Distribution.set_default_validate_args(checks)


def _bar(console: Console, shown: bool) -> Progress:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    return Progress(*columns, console=console, refresh_per_second=4, disable=not shown)
