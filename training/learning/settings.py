"""TrainConfig: the settings of a training run that every learning algorithm has."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import tyro

from ...envs.core.options import number, whole
from .run_folder import RUNS

ALGORITHM = "maskable_ppo"
"""The learning algorithm of a run that names none."""


def pair(text: str) -> tuple[str, Any]:
    """Return the name and the value of ``name=value``, where the value is JSON, or else a word.

    Raises:
        ValueError: if there is no ``=``.
    """
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"{text!r}: write name=value")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value


_PAIRS = tyro.constructors.PrimitiveConstructorSpec(
    nargs="*",
    metavar="NAME=VALUE",
    instance_from_str=lambda texts: dict(map(pair, texts)),
    is_instance=lambda instance: isinstance(instance, dict),
    str_from_instance=lambda pairs: [f"{name}={json.dumps(value)}" for name, value in pairs.items()],
)


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """Settings of a training run. A learning algorithm adds its own (see `parlour.training.algorithms`)."""

    game: tyro.conf.Suppress[str]
    """The game, by name."""
    options: Annotated[dict[str, Any], _PAIRS] = field(default_factory=dict)
    """The game's options, such as seats=2 stacks=200."""
    encoder: str = ""
    """The version of the game's encoder with which the policy observes, such as v0. Empty: the game's own."""
    preset: tyro.conf.Suppress[str] = ""
    """Where the settings come from: a game's name or the name of another preset. It is saved with the policy."""
    algorithm: str = ALGORITHM
    """The learning algorithm, by name. Some of the settings below are its own."""

    total_timesteps: int = 20_000_000
    """Decisions of the learner, all tables together."""
    minutes: float | None = None
    """The run ends after this many minutes at the latest. The learning rate falls to 0 by the end."""
    seed: int = 0
    """Seed of everything random. With one thread and no time limit, the same seed gives the same policy."""
    threads: int = 1
    """Threads of torch and NumPy. With more than one, another busy process slows small batches down many times."""
    n_envs: int = 256
    """Tables that are played side by side."""
    reward_scale: float = 0.01
    """Rewards (in the game's unit, such as big blinds) are multiplied by it. Results should lie between about -1 and
    1."""

    self_play: float = 0.0
    """Share of the opponents that are the learner itself, as it is at the beginning of each rollout."""
    past_checkpoints: float = 0.5
    """Share of the opponents that are past checkpoints of the learner."""
    checkpoint_slots: int = 4
    """How many past checkpoints are among the opponents at a time: the newest one, and others drawn at random."""
    checkpoint_every: int = 250_000
    """Timesteps between two checkpoints. The model is saved with each."""
    bots: Annotated[dict[str, float], _PAIRS] = field(default_factory=lambda: {"random": 1.0})
    """The other opponents by name, with their shares relative to each other."""
    random_start_steps: int = 0
    """The most random decisions with which an episode begins. The least falls from this to 0 by the middle of the
    budget: the end of the game is learned first (a reverse curriculum)."""

    teacher: str = ""
    """Whose play the learner copies before it learns by itself: a bot, or an expert of the game. Empty: nobody's. An
    expert knows more than a seat may, and corrects the learner in its own matches, too (DAgger)."""
    demonstrations: int = 1_000_000
    """Decisions of the teacher, in all seats, that the learner copies."""
    cloning_minutes: float | None = None
    """Copying ends after this many minutes at the latest. `minutes` begin when it has ended."""
    cloning_learning_rate: float | None = None
    """Learning rate of copying; None: `learning_rate`. It falls linearly to 0 in the second half."""
    cloning_batch_size: int = 1_024
    """Decisions per gradient step of copying."""

    name: str = ""
    """Name of the run folder. Empty: the game and the time."""
    runs: Path = RUNS
    """The folder of all run folders."""
    progress: bool = True
    """Show a progress bar."""

    def __post_init__(self) -> None:
        """Check what would fail late or silently."""
        for name in (
            "total_timesteps",
            "threads",
            "n_envs",
            "checkpoint_every",
            "demonstrations",
            "cloning_batch_size",
        ):
            whole(name, getattr(self, name), 1)
        for name in ("random_start_steps", "checkpoint_slots"):
            whole(name, getattr(self, name), 0)
        for name in ("minutes", "cloning_minutes", "cloning_learning_rate"):
            if getattr(self, name) is not None:
                number(name, getattr(self, name), 0, 1e9, above=True)
        if self.name and not re.fullmatch(r"\w[\w.-]*", self.name):
            raise ValueError(f"name={self.name!r}: need letters, digits, . - _, not beginning with . or -")
