"""Self-play PPO: one policy plays all seats and learns from every decision. The critic may use full information.

It is proximal policy optimisation (Schulman et al. 2017) with additions for games of imperfect information: a schedule
of the entropy bonus, a penalty for the Kullback-Leibler divergence from the policy before the update (magnetic mirror
descent, Sokota et al. 2023), optionally values of all actions from the critic, so that a decision teaches something
about each of them, and averaged weights for the saved policy. With the setting `update` it is mirror descent instead
(see `parlour.training.learning.mirror_descent`).
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from ...envs import Game
from ...envs.core.files import replacing
from ...wrappers.policies.base import TrainedFor
from ...wrappers.policies.mlp import MlpPolicy
from ..learning import collector
from ..learning.league import League
from ..learning.learner import Demonstrations, Monitor
from ..learning.mirror_descent import MirrorDescent
from ..learning.networks import Forward, Recorded, capture_on, copy_of, move, numpy_network, torch_threads
from ..learning.settings import SelfPlayConfig, TrainConfig

MODEL = "selfplay.pt"
"""The file with the networks, the optimiser, the averages and the random states, in the run folder."""
STATEFUL = "actor", "critic", "average", "optimizer"
"""What has a state of PyTorch in it."""
VF_COEF = 0.5
"""Weight of the value loss."""
STATISTICS = "policy_loss", "value_loss", "entropy", "kl", "clip_fraction"
"""The statistics of a gradient step."""
MAX_GRAD_NORM = 0.5
"""Gradients are clipped to this norm."""
CLONING_BATCH_SIZE = 1_024
"""Decisions per gradient step of behavioural cloning."""


class Learner:
    """Self-play PPO; see `parlour.training.learning.learner.Learner`."""

    Config: ClassVar[type[TrainConfig]] = SelfPlayConfig

    def __init__(self, config: SelfPlayConfig, game: Game, league: League) -> None:
        if config.exploration and not collector.only_two_compete(game):
            raise ValueError(
                f"exploration={config.exploration}: need 0 in {game.id}, where a seat's returns would keep the random "
                "actions of the others: they are weighed out only where one of two seats wins what the other loses"
            )
        self.config = config
        self.game = game
        self.engine = collector.find_engine(config.engine)(config, game, league.pool())
        self.timesteps = 0
        self._version = 0
        self._actor, self._critic = (net.to(config.device) for net in collector.make_networks(config, game))
        self._average = copy_of(self._actor)
        self._averaged = 0  # gradient steps in the average
        self._parameters = [*self._actor.parameters(), *self._critic.parameters()]
        betas = (float(config.adam_beta1), 0.999)
        self._random = np.random.default_rng(config.seed)
        self._mirror: MirrorDescent | None = None
        if config.update == "mirror_descent":
            nets = self._actor, self._critic, self._average.requires_grad_()
            self._mirror = MirrorDescent(config, nets, self._step, self._random)
        learned = [*self._parameters, *(self._average.parameters() if self._mirror else ())]
        self._optimizer = torch.optim.Adam(learned, config.learning_rate.start, betas, eps=1e-5, fused=True)
        self._forward = Forward(config.device)
        device = torch.device(config.device)
        # Only the engine gpu brings minibatches that have the same size in every rollout.
        self._update = Recorded(self._gradient_step, device, capture_on(device) if config.engine == "gpu" else None)
        self._rate = torch.zeros((), device=device) if device.type == "cuda" else None
        self._types: torch.Tensor | None = None  # which actions are of which type, float32[A, T]
        if config.ent_prior == "action_types":  # without descriptions all actions are of one type
            types = [each.action_types for each in game.view.action_ranges for _ in range(each.start, each.stop)]
            columns = torch.tensor([sorted(set(types)).index(each) for each in types] or [0] * game.num_actions)
            self._types = nn.functional.one_hot(columns).float().to(config.device)
        self._mean_square = 0.0  # of the advantages, a running mean
        self._resumed = False

    @property
    def tables(self) -> collector.Engine:
        """Where it learns."""
        return self.engine

    def fit(self, monitor: Monitor) -> None:
        """Learn until the timesteps of the config are reached or the monitor stops it."""
        self.engine.begin()
        monitor.on_start()
        if self._resumed:
            self.engine.keep_opponents()
        with torch_threads():
            while self.timesteps < self.config.total_timesteps and monitor.goes_on():
                monitor.on_rollout_start()
                metrics = self._iterate(1 - monitor.remaining)
                monitor.write(metrics | monitor.on_rollout_end())

    def rollout(self, used: float = 0.0) -> int:
        """Collect a rollout, learn from it, and return its decisions' number. `used`: share of the budget, 0 to 1."""
        before = self.timesteps
        self._iterate(used)
        return self.timesteps - before

    def close(self) -> None:
        """End the actors."""
        self.engine.close()

    def _iterate(self, used: float) -> dict[str, float]:
        """Collect batches, learn from them, and return the metrics."""
        began = time.perf_counter()
        batches = self.engine.rollout(self._version, self._weights())
        collected = time.perf_counter()
        self.timesteps += sum(batch.played for batch in batches)
        learned = any(batch.decisions for batch in batches)  # there may be only random first steps
        metrics = self._learn(batches, used) if learned else {}
        self._version += 1
        whole = time.perf_counter() - began
        tables = sum(batch.seconds for batch in batches) / sum(batch.total_seconds for batch in batches)
        metrics["time/environment_share"] = tables * (collected - began) / whole
        metrics["time/learning_share"] = 1 - (collected - began) / whole
        return metrics | self.engine.metrics()

    def _weights(self) -> dict[str, NDArray[np.float32]]:
        return {
            f"{prefix}.{name}": weights.detach().cpu().numpy()
            for prefix, net in (("actor", self._actor), ("critic", self._critic))
            for name, weights in net.state_dict().items()
        }

    # Updates.

    def _learn(self, batches: Sequence[collector.RolloutBatch], used: float) -> dict[str, float]:
        """Update the networks with batches. `used` is the share of the budget that has been used, 0 to 1."""
        config, batch = self.config, collector.shuffled(batches, self._random)
        rate, ent_coef, kl_coef = (
            schedule.at(used) for schedule in (config.learning_rate, config.ent_coef, config.kl_coef)
        )
        square = float((batch["advantages"] ** 2).mean())
        self._mean_square = square if self._mean_square == 0 else 0.95 * self._mean_square + 0.05 * square
        scale = max(self._mean_square**0.5, 1e-8)
        if self._mirror is not None:
            metrics = self._mirror.learn(batch, scale, rate, kl_coef, ent_coef)
        else:
            metrics = self._epochs(batch, (scale, ent_coef, kl_coef, rate))
        return metrics | {
            "train/learning_rate": rate,
            "train/ent_coef": ent_coef,
            "train/kl_coef": kl_coef,
            "train/entropy_price": ent_coef * scale / config.reward_scale,  # the value of one nat in the game's unit
            "train/advantage_scale": scale / config.reward_scale,
        }

    def _epochs(self, batch: dict[str, torch.Tensor], coefficients: tuple[float, ...]) -> dict[str, float]:
        """Make the gradient steps of PPO, and return the means of their statistics."""
        config = self.config
        totals = torch.zeros(len(STATISTICS), dtype=torch.float64, device=config.device)
        count = len(batch["actions"])
        parts = max(1, round(count / config.batch_size))
        ends = [count * part // parts for part in range(parts + 1)]
        for _ in range(config.n_epochs):  # the decisions are shuffled already, the minibatches in every epoch
            for number in self._random.permutation(parts):
                rows = slice(ends[number], ends[number + 1])
                part = {name: values[rows].to(config.device) for name, values in batch.items()}
                self._averaged += 1
                # At first a mean in which the n-th step weighs n, so that the random first weights have no share.
                pace = max(1 - config.average_decay, 2 / (1 + self._averaged))
                totals += self._update(*coefficients, pace, **part)
        means = (totals / (parts * config.n_epochs)).tolist()
        metrics = {f"train/{name}": value for name, value in zip(STATISTICS, means, strict=True)}
        metrics["train/value_loss"] /= config.reward_scale**2
        return metrics

    def _gradient_step(
        self, scale: float, ent_coef: float, kl_coef: float, rate: float, pace: float, **part: torch.Tensor
    ) -> torch.Tensor:
        """Make one gradient step and return its `STATISTICS`, float32[5].

        Args:
            scale: the standard deviation of the advantages.
            ent_coef: the weight of the entropy bonus.
            kl_coef: the weight of the divergence from the policy before.
            rate: the learning rate.
            pace: the share of the way by which the averaged weights move.
            part: the minibatch; see `RolloutBatch.arrays`.
        """
        config = self.config
        log_probs = self._forward.log_probs(self._actor, part["observations"], part["masks"])
        probabilities = log_probs.exp()
        legal = part["masks"] != 0
        taken = part["actions"][:, None]
        ratio = (log_probs.gather(1, taken) - part["log_probs"].gather(1, taken)).exp()[:, 0]
        valued = self._forward(self._critic, part["critic_observations"])
        values = valued[:, 0]
        value_loss = nn.functional.mse_loss(values, part["returns"])
        advantages = part["advantages"] / scale
        expected: torch.Tensor | float = 0.0
        if config.action_values:
            of_taken = valued[:, 1:].gather(1, taken)[:, 0]
            value_loss = value_loss + nn.functional.mse_loss(of_taken, part["returns"])
            # The values of all actions are a control variate: the sampled part is only what they do not explain.
            advantages = (part["returns"] - of_taken.detach()) / scale
            better = (valued[:, 1:] - values[:, None]).detach() / scale
            expected = _expected(probabilities, better, legal)
        clipped = ratio.clamp(1 - config.ratio_clip, 1 + config.ratio_clip)
        policy_loss = -torch.minimum(ratio * advantages, clipped * advantages).mean() - expected
        entropy = -_expected(probabilities, log_probs, legal)
        bonus = entropy
        if self._types is not None:  # the logarithm of the number of legal actions of its type, of every action
            log_sizes = (legal.float() @ self._types).clamp(min=1).log() @ self._types.T
            bonus = bonus - _expected(probabilities, log_sizes, legal)
        loss = policy_loss - ent_coef * bonus + VF_COEF * value_loss / scale**2
        before = _expected(probabilities, log_probs - part["log_probs"], legal)
        if any(config.kl_coef[:2]):
            loss = loss + kl_coef * before
        self._step(loss, rate)
        move(self._average, self._actor, pace)
        clipped_share = ((ratio - 1).abs() > config.ratio_clip).float().mean()
        return torch.stack([policy_loss, value_loss, entropy, before, clipped_share]).detach()

    def _step(self, loss: torch.Tensor, rate: float) -> None:
        # A recorded step reads the rate from a tensor. It may be none of those of a loaded optimiser.
        lr = rate if self._rate is None else self._rate.fill_(rate)
        for group in self._optimizer.param_groups:
            group.update(lr=lr, capturable=self._rate is not None)
        self._optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self._actor.parameters(), MAX_GRAD_NORM)
        nn.utils.clip_grad_norm_(self._critic.parameters(), MAX_GRAD_NORM)
        self._optimizer.step()

    def clone(self, demonstrations: Demonstrations, rate: float, random: np.random.Generator) -> float:
        """Fit the policy to a teacher's decisions, each used once; see `base.Learner.clone`.

        With the setting `relabel` it sees them under names of its own, as in self-play.
        """
        config, order = self.config, random.permutation(len(demonstrations.actions))
        names = collector.Relabelling(self.game, config.encoder, 1, config.seed) if config.relabel else None
        with torch_threads():
            for start in range(0, len(order), CLONING_BATCH_SIZE):
                rows = order[start : start + CLONING_BATCH_SIZE]
                decisions = (
                    demonstrations.observations[rows],
                    demonstrations.masks[rows],
                    demonstrations.actions[rows],
                )
                if names is not None:
                    decisions = names.of_decisions(*decisions, random)
                observations, masks, actions = decisions
                log_probs = self._forward.log_probs(self._actor, observations, masks)
                taken = torch.as_tensor(actions).to(log_probs.device)[:, None]
                mean = log_probs.gather(1, taken).mean()
                self._step(-mean, rate * config.learning_rate.start)
        move(self._average, self._actor, 1)
        self._averaged = 1
        return float(mean.detach().exp())

    # The policy.

    def policy(self, seed: int | None = None) -> MlpPolicy:
        """Return a copy of the current policy, in NumPy, of the averaged weights with `average_decay`, the
        average policy with mirror descent, and with the `temperature` of the settings."""
        net = self._average if self.config.average_decay or self._mirror else self._actor
        hidden = self.game.encoders[collector.critic_encoder(self.config, self.game)].full_information
        critic = () if hidden else numpy_network(self._critic)
        actor = numpy_network(net).divided(self.config.temperature)
        copy = MlpPolicy(actor, seed=seed, critic=critic)
        encoder = self.config.encoder or self.game.encoder
        copy.set_trained_for(TrainedFor.of(self.game, encoder, self.config.preset, self.config.reward_scale))
        return copy

    def save(self, folder: Path) -> None:
        """Write ``selfplay.pt`` and the files of the engine."""
        state = {
            "timesteps": self.timesteps,
            **{name: getattr(self, f"_{name}").state_dict() for name in STATEFUL},
            "averaged": self._averaged,
            "mean_square": self._mean_square,
            "random": self._random.bit_generator.state,
            "version": self._version,
            "engine": self.engine.save(folder),
            "mirror": None if self._mirror is None else self._mirror.state(),
        }
        with replacing(folder / MODEL) as unfinished:
            torch.save(state, unfinished)

    @classmethod
    def load(cls, folder: Path, config: SelfPlayConfig, game: Game, league: League) -> Self:
        """Return the learner that `save` wrote; it continues as if it had not stopped.

        Raises:
            FileNotFoundError: if the folder has no such files.
        """
        if not (folder / MODEL).is_file():
            raise FileNotFoundError(f"{folder / MODEL} is missing")
        learner = cls(config, game, league)
        state = torch.load(folder / MODEL, map_location=config.device, weights_only=True)
        learner.timesteps, learner._mean_square = state["timesteps"], state["mean_square"]
        for name in STATEFUL:
            getattr(learner, f"_{name}").load_state_dict(state[name])
        if learner._mirror is not None:
            learner._mirror.load(state["mirror"])
        learner._random.bit_generator.state = state["random"]
        learner._version, learner._averaged = state["version"], state["averaged"]
        learner.engine.load(folder, state["engine"])
        learner._resumed = True
        return learner


def _expected(probabilities: torch.Tensor, values: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
    """Return the mean over rows of the expectation of `values` over the legal actions."""
    return torch.where(legal, probabilities * values, 0.0).sum(1).mean()
