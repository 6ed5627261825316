"""`parlour train`: MaskablePPO against a league of the learner's past selves and bots.

A run folder explains itself: ``config.toml`` (every setting, the game's options included), ``command.txt``,
``model.zip`` (Stable-Baselines3), ``policy.npz`` (the same policy for play without torch), ``metrics.jsonl`` (a line
per iteration), ``tensorboard/``, ``snapshots/`` (the learner's past selves, by steps).
"""

import argparse
import dataclasses
import json
import os
import re
import shlex
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import torch
import tyro
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import KVWriter, Logger, TensorBoardOutputFormat
from threadpoolctl import threadpool_limits

from ..envs import Game
from ..envs import game as make_game
from ..envs.core.options import named, number, whole
from ..wrappers.policy import MlpPolicy, SB3Policy, make_policy
from ..wrappers.sb3 import Parts, SB3VecEnv, sb3_env
from .imitation import TEACHER, imitate, taught
from .league import League

CONFIGS = Path(__file__).parent / "configs"
"""Parlour's own settings, by game."""


def _pair(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"{text!r} is no key=value")
    try:
        return key, tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return key, value


_PAIRS = tyro.constructors.PrimitiveConstructorSpec(
    nargs="*",
    metavar="KEY=VALUE",
    instance_from_str=lambda texts: dict(map(_pair, texts)),
    is_instance=lambda instance: isinstance(instance, dict),
    str_from_instance=lambda pairs: [f"{key}={json.dumps(value)}" for key, value in pairs.items()],
)


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """Settings of a training run."""

    game: str = "holdem"
    """The game, by name."""
    options: Annotated[dict[str, Any], _PAIRS] = field(default_factory=dict)
    """Its options, such as seats=2 stacks=200."""

    steps: int = 20_000_000
    """Decisions of the learner, all tables together."""
    minutes: float | None = None
    """End after so many minutes at the latest; the learning rate falls to 0 by the end of steps or minutes."""
    seed: int = 0
    """Of everything random. With one thread and no time limit, the same seed gives the same policy."""
    threads: int = 1
    """Threads of torch and NumPy. With more, another busy process slows small batches down many times."""
    num_envs: int = 256
    """Tables played side by side."""

    snapshots: int = 4
    """Places for past selves in the pool of opponents."""
    snapshot_every: int = 250_000
    """Steps after which the learner as it is becomes one of them; the model is saved, too."""
    self_play: float = 0.5
    """Share of the opponents that are past selves."""
    mirror: float = 0.0
    """Share of the opponents that are the learner itself, as it is at the beginning of each rollout."""
    bots: Annotated[dict[str, float], _PAIRS] = field(default_factory=lambda: {"random": 1.0})
    """The other opponents, with their shares relative to each other."""
    imitate: str = ""
    """A bot whose play the learner copies before it learns by itself; empty: none. Tangram also has a "teacher", who
    knows how every figure was made, and corrects the learner in its own matches."""
    lessons: int = 1_000_000
    """Decisions of that bot, in all seats, from which it is copied."""
    lesson_minutes: float | None = None
    """End the lessons after so many minutes at the latest; `minutes` begin when they have ended."""
    lesson_rate: float | None = None
    """Learning rate in the lessons, where it is another; it falls linearly to 0 in their second half."""
    lesson_batch: int = 1_024
    """Decisions per gradient step in the lessons."""
    opening: int = 0
    """Most decisions that chance makes when an episode begins. The least falls from as many to 0 by the middle of the
    budget: the end of the game is learned first, and good play need not lead there (reverse curriculum)."""

    inputs: tuple[str, ...] = ()
    """The parts of the observation that the networks see, by their paths in its layout; empty: all."""
    hidden: tuple[int, ...] = (64, 64)
    """Sizes of the hidden layers, of policy and value alike."""
    critic: tuple[int, ...] = ()
    """Sizes of the hidden layers of the value, where they are others."""
    activation: str = "ReLU"
    """Between the layers: ReLU or Tanh."""
    learning_rate: float = 2e-3
    """At the start; it falls linearly to 0."""
    rollout: int = 64
    """Decisions per table between two updates."""
    batch_size: int = 4096
    """Decisions per gradient step."""
    epochs: int = 2
    """Times that each decision is used."""
    gamma: float = 1.0
    """Discount."""
    gae_lambda: float = 0.95
    """Of generalised advantage estimation."""
    clip: float = 0.2
    """PPO's clipping range."""
    entropy: float = 0.01
    """Weight of the entropy bonus at the start; it falls linearly to 0."""
    value: float = 0.5
    """Weight of the value loss."""
    max_grad_norm: float = 0.5
    """Gradients are clipped to this norm."""
    reward_scale: float = 0.01
    """Rewards (in the game's unit: big blinds) are multiplied by it; results should lie between about −1 and 1."""

    name: str = ""
    """Of the run folder; empty: the game and the time."""
    runs: Path = Path("runs")
    """The folder of all run folders."""
    progress: bool = True
    """Show a progress bar."""

    def __post_init__(self) -> None:
        """Check what would fail late or silently."""
        for name in ("steps", "threads", "num_envs", "snapshot_every", "rollout", "batch_size", "epochs", "lessons"):
            whole(name, getattr(self, name), 1)
        whole("lesson_batch", self.lesson_batch, 1)
        whole("opening", self.opening, 0)
        for name in ("hidden", "critic"):
            if not isinstance(getattr(self, name), tuple):
                raise ValueError(f"{name}={getattr(self, name)!r}: need the sizes of the layers, such as [64, 64]")
            for size in getattr(self, name):
                whole(name, size, 1)
        if not isinstance(self.inputs, tuple):
            raise ValueError(f"inputs={self.inputs!r}: need parts of the observation, such as ['phase']")
        for name in ("minutes", "lesson_minutes", "lesson_rate"):
            if getattr(self, name) is not None:
                number(name, getattr(self, name), 0, 1e9, above=True)
        if self.name and not re.fullmatch(r"\w[\w.-]*", self.name):
            raise ValueError(f"name={self.name!r}: need letters, digits, . - _, not beginning with . or -")
        if self.activation not in ("ReLU", "Tanh"):
            raise ValueError(f"activation={self.activation!r}: known are ReLU and Tanh")
        if (self.num_envs * self.rollout) % self.batch_size == 1:
            raise ValueError(
                f"batch_size={self.batch_size} leaves a batch of 1 of {self.num_envs * self.rollout} decisions"
            )


def load_config(source: str | Path, **overrides: Any) -> TrainConfig:
    """Return the settings of a game (its file among Parlour's configs, else the defaults) or of a TOML file.

    Args:
        source: a game's name, the name of another of Parlour's configs (``"bargaining-public"``), or the path of a
            ``.toml``.
        overrides: settings that replace the file's.

    Raises:
        FileNotFoundError: if the path does not exist.
        ValueError: for an unknown setting, with the nearest known one, or a file that is no TOML.
    """
    if str(source).endswith(".toml"):
        settings = _settings(Path(source))
    else:
        names = (str(source), str(source).partition("-")[0])  # holdem-v0 has the settings of holdem
        file = next((file for name in names if (file := CONFIGS / f"{name}.toml").is_file()), None)
        settings = {"game": str(source)} | (_settings(file) if file else {})
    settings |= overrides
    for name in settings:
        named(f"setting of {source}", name, [part.name for part in dataclasses.fields(TrainConfig)])
    if "runs" in settings:
        settings["runs"] = Path(settings["runs"])
    for name in ("hidden", "critic", "inputs"):
        if isinstance(settings.get(name), list):
            settings[name] = tuple(settings[name])
    return TrainConfig(**settings)


def _settings(file: Path) -> dict[str, Any]:
    if not file.is_file():
        raise FileNotFoundError(f"there is no config file {file}")
    try:
        return tomllib.loads(file.read_text())
    except ValueError as error:
        raise ValueError(f"{file} is no TOML: {error}") from None


def to_toml(config: TrainConfig) -> str:
    """Return the settings as TOML; `load_config` reads it back."""
    settings = dataclasses.asdict(config)
    plain = {key: value for key, value in settings.items() if not isinstance(value, dict) and value is not None}
    lines = [f"{key} = {json.dumps(value, default=str)}" for key, value in plain.items()]
    for key, table in settings.items():
        if isinstance(table, dict):
            lines += ["", f"[{key}]"]
            lines += [f"{json.dumps(name)} = {json.dumps(value)}" for name, value in table.items() if value is not None]
    return "\n".join(lines) + "\n"


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
        self.seats.opening = (round(self.config.opening * max(0.0, 1 - 2 * self._used())), self.config.opening)
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


def save(model: MaskablePPO, folder: Path) -> None:
    """Write ``model.zip`` and ``policy.npz``; a crash in between leaves the former files whole."""
    model.save(folder / "model.tmp.zip")
    MlpPolicy.from_model(model).save(folder / "policy.tmp.npz")
    os.replace(folder / "model.tmp.zip", folder / "model.zip")
    os.replace(folder / "policy.tmp.npz", folder / "policy.npz")


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
    parts = {"features_extractor_class": Parts, "features_extractor_kwargs": {"columns": columns}}
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
        from . import lessons as tangram  # here, for other games need not load it

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
        opening=(config.opening, config.opening),
        reward_scale=config.reward_scale,
    )


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


def main(argv: Sequence[str] | None = None) -> Path:
    """Run ``parlour train GAME [--config FILE] [settings]``, or go on with a run: ``parlour train --resume RUN``.

    Args:
        argv: what follows ``parlour train``; None takes the process's arguments.

    Returns:
        The run folder.

    Raises:
        SystemExit: with the message of a mistake in the settings.
    """
    args = list(sys.argv[1:] if argv is None else argv)
    command = ["parlour", "train", *args]
    name = args.pop(0) if args and not args[0].startswith("-") else None
    sources = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    sources.add_argument("--config")
    sources.add_argument("--resume")
    given, rest = sources.parse_known_args(args)
    try:
        if given.resume:
            more = argparse.ArgumentParser("parlour train --resume RUN", description=resume.__doc__)
            more.add_argument("--steps", type=int, default=argparse.SUPPRESS, help="decisions in all")
            more.add_argument("--minutes", type=float, default=argparse.SUPPRESS, help="from now on")
            more.add_argument("--no-progress", dest="progress", action="store_false")
            return resume(given.resume, command=command, **vars(more.parse_args(rest)))
        if not (name or given.config or {"-h", "--help"} & set(rest)):
            raise ValueError("give a game, as in `parlour train holdem`, a --config FILE, or a run to --resume")
        if given.config and not given.config.endswith(".toml"):
            raise ValueError(f"--config {given.config}: need a TOML file, *.toml")
        chosen = {"game": name} if given.config and name else {}
        default = load_config(given.config or name or "holdem", **chosen)
        config = tyro.cli(
            TrainConfig,
            prog=f"parlour train {name or 'GAME'}",
            description="Train a policy. --config FILE: settings from a TOML file; --resume RUN: go on with a run.",
            default=default,
            args=rest,
        )
        return train(dataclasses.replace(config, options={**default.options, **config.options}), command)
    except (ValueError, OSError) as error:
        raise SystemExit(f"parlour train: {error}") from None
