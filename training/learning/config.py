"""`parlour train`: MaskablePPO against a league of the learner's past selves and bots.

A run folder explains itself: ``config.toml`` (every setting, the game's options included), ``command.txt``,
``model.zip`` (Stable-Baselines3), ``policy.npz`` (the same policy for play without torch), ``metrics.jsonl`` (a line
per iteration), ``tensorboard/``, ``snapshots/`` (the learner's past selves, by steps).
"""

import dataclasses
import json
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import tyro

from ...envs.core.options import named, number, whole

CONFIGS = Path(__file__).parents[1] / "configs"
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
