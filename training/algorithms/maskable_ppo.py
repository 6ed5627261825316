"""MaskablePPO of sb3-contrib: PPO with action masks."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import KVWriter, Logger

from ...envs import Game, Layout
from ...envs.core.files import replacing
from ...envs.core.options import named, one_of
from ...wrappers.policies.base import TrainedFor
from ...wrappers.policies.mlp import MlpPolicy
from ...wrappers.rl.sb3 import ColumnSelector, SB3VecEnv
from ...wrappers.rl.tables import SingleAgentTables
from ..learning.league import League
from ..learning.learner import Demonstrations, Monitor
from ..learning.networks import torch_threads
from ..learning.settings import CHECKPOINT_SLOTS, Count, Positive, Share, Sizes, TrainConfig, Weight, at_least, between

MODEL = "model.zip"
"""The file in which Stable-Baselines3 saves a model, in the run folder."""
OF_SB3 = (
    "learning_rate", "n_steps", "batch_size", "n_epochs", "gamma", "gae_lambda", "clip_range", "ent_coef", "vf_coef",
    "max_grad_norm", "seed",
)  # fmt: skip
"""The settings that go to Stable-Baselines3 as they are."""


@dataclass(frozen=True, kw_only=True)
class MaskablePPOConfig(TrainConfig):
    """Settings of a run with MaskablePPO. Those of the algorithm have the names of Stable-Baselines3."""

    self_play: Share = 0.0
    """Share of the opponents that are the learner itself, copied at the beginning of each rollout. Change it to 1 for
    one policy that learns in all seats."""
    checkpoint_slots: Annotated[int, at_least(0)] = CHECKPOINT_SLOTS
    """Number of past checkpoints among the opponents: the newest one, and others drawn at random. Change it to more if
    the policy loses to old versions."""
    cloning_learning_rate: Annotated[float | None, between(0, above=True)] = None
    """Learning rate of cloning; None: `learning_rate`. It falls linearly to 0 in the second half. Change it to more if
    the teacher is copied too slowly."""
    cloning_batch_size: Count = 1_024
    """Batch size of cloning. Change it to less if the teacher is copied too slowly."""
    net_arch: Sizes = (64, 64)
    """Sizes of the hidden layers of the policy, and of the value function if critic_net_arch is empty. Change it to
    larger ones for long observations; they are slower in play too."""
    critic_net_arch: Sizes = ()
    """Sizes of the hidden layers of the value function. Empty: those of the policy. Change it to larger ones if the
    value loss stays high."""
    activation_fn: Annotated[str, one_of(("ReLU", "Tanh"))] = "ReLU"
    """Activation function of the hidden layers: ReLU or Tanh. Change it to compare with results of others."""
    observation_slices: tuple[str, ...] = ()
    """The slices of the observation that the networks get, by their paths in the layout. Empty: all. Change it to
    leave out what does not help."""
    learning_rate: Positive = 2e-3
    """Learning rate at the start. It falls linearly to 0. Change it to less if the loss jumps."""
    n_steps: Count = 64
    """Decisions per table in each rollout. Change it to more for long episodes."""
    batch_size: Count = 4096
    """Decisions per gradient step. Change it to less for more updates with each decision."""
    n_epochs: Count = 2
    """Number of epochs per rollout. Change it to more where decisions are expensive."""
    gamma: Share = 1.0
    """Discount factor. Change it to less if learners wait too long."""
    gae_lambda: Share = 0.95
    """Lambda of generalised advantage estimation. Change it to less if returns are noisy."""
    clip_range: Positive = 0.2
    """Clipping range of PPO. Change it to less if the policy jumps."""
    ent_coef: Weight = 0.01
    """Weight of the entropy bonus at the start. It falls linearly to 0. Change it to more if the policy settles early
    on few actions."""
    vf_coef: Weight = 0.5
    """Weight of the value loss. Change it to compare with results of others."""
    max_grad_norm: Positive = 0.5
    """Gradients are clipped to this norm. Change it to compare with results of others."""

    def league(self) -> League:
        """Return the league of a run with these settings; see `TrainConfig.league`."""
        return League(self.checkpoint_slots, self.past_checkpoints, self.bots, self.seed, self.self_play)

    def __post_init__(self) -> None:
        """Check settings that would fail late or without an error."""
        super().__post_init__()
        if (self.n_envs * self.n_steps) % self.batch_size == 1:
            raise ValueError(
                f"batch_size={self.batch_size} leaves a batch of 1 of {self.n_envs * self.n_steps} decisions"
            )


class Learner:
    """MaskablePPO at single-agent tables; see `parlour.training.learning.learner.Learner`."""

    Config: ClassVar[type[TrainConfig]] = MaskablePPOConfig

    def __init__(self, config: MaskablePPOConfig, game: Game, league: League) -> None:
        self.config = config
        most = config.random_start_steps
        self.tables = SingleAgentTables(
            game, config.n_envs, league.pool(), random_start_steps=(most, most), encoder=config.encoder or None
        )
        self.env = SB3VecEnv(self.tables, config.reward_scale)
        columns = _columns(config.observation_slices, self.env.seats.layout)
        selector = {"features_extractor_class": ColumnSelector, "features_extractor_kwargs": {"columns": columns}}
        networks = {
            "net_arch": {"pi": list(config.net_arch), "vf": list(config.critic_net_arch or config.net_arch)},
            "activation_fn": getattr(torch.nn, config.activation_fn),
            **(selector if columns else {}),
        }
        settings = {name: getattr(config, name) for name in OF_SB3}
        self.model = _Model("MlpPolicy", self.env, policy_kwargs=networks, device="cpu", **settings)
        self.model.first_ent_coef = config.ent_coef

    @property
    def timesteps(self) -> int:
        """The number of decisions used for learning so far."""
        return int(self.model.num_timesteps)

    def fit(self, monitor: Monitor) -> None:
        """Learn until the timesteps of the config are reached or the monitor stops it."""
        self.model.set_logger(Logger(None, [_MetricsWriter(monitor)]))
        steps = self.config.total_timesteps - self.timesteps
        with _torch_settings():
            self.model.learn(steps, callback=_Reporter(monitor), reset_num_timesteps=False)

    def clone(self, demonstrations: Demonstrations, rate: float, random: np.random.Generator) -> float:
        """Fit actor and critic to a teacher's decisions, each used once; see `base.Learner.clone`."""
        policy, size = self.model.policy, self.config.cloning_batch_size
        policy.set_training_mode(True)
        for group in policy.optimizer.param_groups:
            group["lr"] = rate * (self.config.cloning_learning_rate or self.config.learning_rate)
        order = random.permutation(len(demonstrations.actions))
        with _torch_settings():
            for start in range(0, len(order), size):
                seen, masks, actions, gained = (column[order[start : start + size]] for column in demonstrations)
                given = torch.as_tensor(seen), torch.as_tensor(actions)
                values, log_prob, _entropy = policy.evaluate_actions(*given, masks != 0)
                returns = torch.as_tensor(gained * np.float32(self.config.reward_scale))
                value_loss = torch.nn.functional.mse_loss(values[:, 0], returns)
                policy.optimizer.zero_grad()
                (self.model.vf_coef * value_loss - log_prob.mean()).backward()  # type: ignore[no-untyped-call]
                torch.nn.utils.clip_grad_norm_(policy.parameters(), self.model.max_grad_norm)
                policy.optimizer.step()
        return float(log_prob.detach().mean().exp())

    def policy(self, seed: int | None = None) -> MlpPolicy:
        """Return a copy of the current policy, in NumPy."""
        copy = MlpPolicy.from_model(self.model, seed=seed)
        encoder = self.tables.tables.encoder
        copy.set_trained_for(TrainedFor.of(self.tables.game, encoder, self.config.preset, self.config.reward_scale))
        return copy

    def save(self, folder: Path) -> None:
        """Write ``model.zip``."""
        with replacing(folder / MODEL) as unfinished:
            self.model.save(unfinished)

    def close(self) -> None:
        """Nothing to end: it has no other processes."""

    @classmethod
    def load(cls, folder: Path, config: MaskablePPOConfig, game: Game, league: League) -> Self:
        """Return the learner of ``model.zip``, with its optimiser.

        Raises:
            FileNotFoundError: if the folder has no such file.
        """
        file = folder / MODEL
        if not file.is_file():
            raise FileNotFoundError(f"{file} is missing")
        learner = cls(config, game, league)
        model = _Model.load(file, env=learner.env, device="cpu")
        model.set_random_seed(config.seed + model.num_timesteps)
        model.first_ent_coef = config.ent_coef
        learner.model = model
        return learner


class _Model(MaskablePPO):
    """MaskablePPO whose learning rate and entropy bonus fall to 0 as the budget (timesteps or time) is used up."""

    remaining = 1.0  # of the budget; set before every rollout
    first_ent_coef = 0.0  # weight of the entropy bonus at the start

    def _update_learning_rate(self, optimizers: Any) -> None:
        self.ent_coef = self.first_ent_coef * self.remaining
        rate = self.lr_schedule(1.0) * self.remaining
        self.logger.record("train/learning_rate", rate)
        for group in optimizers.param_groups:
            group["lr"] = rate

    def _excluded_save_params(self) -> list[str]:
        return [*super()._excluded_save_params(), "remaining", "first_ent_coef"]


def _columns(slices: tuple[str, ...], layout: Layout) -> list[int]:
    """Return the indices of the observation that the networks get, in order; empty: all."""
    for path in slices:
        named("slice of the observation", path, [part.path for part in layout])
    return [column for part in layout if part.path in slices for column in range(part.start, part.stop)]


class _Reporter(BaseCallback):
    """Calls the monitor from the callbacks of Stable-Baselines3."""

    model: _Model

    def __init__(self, monitor: Monitor) -> None:
        super().__init__()
        self._monitor = monitor

    def _on_training_start(self) -> None:
        self._monitor.on_start()

    def _on_rollout_start(self) -> None:
        self._monitor.on_rollout_start()
        self.model.remaining = self._monitor.remaining

    def _on_step(self) -> bool:
        return self._monitor.goes_on()

    def _on_rollout_end(self) -> None:
        for name, value in self._monitor.on_rollout_end().items():
            self.logger.record(name, value)


class _MetricsWriter(KVWriter):
    """Writes the metrics of Stable-Baselines3 to the monitor."""

    def __init__(self, monitor: Monitor) -> None:
        self._monitor = monitor

    def write(self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0) -> None:
        self._monitor.write(key_values)

    def close(self) -> None:
        """Nothing to close."""


@contextmanager
def _torch_settings() -> Iterator[None]:
    """Set torch's threads, and switch off the checks of torch's distributions (a tenth of the time)."""
    checks = torch.distributions.Distribution._validate_args
    torch.distributions.Distribution.set_default_validate_args(False)
    try:
        with torch_threads():
            yield
    finally:
        torch.distributions.Distribution.set_default_validate_args(checks)
