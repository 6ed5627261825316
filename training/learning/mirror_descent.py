"""Mirror descent: the policy takes whole proximal steps, found in closed form, towards a reference that is replaced.

One update fits three networks, each to one row per distinct observation of the rollout, so that a small game costs few
rows. The critic learns the value of every action from returns of Expected SARSA(lambda). The policy is fitted to the
exact maximum of value minus divergences from the policy before and from the reference. The average is fitted to the
mean of all policies so far: at an observation a policy's weight is its number, times how often the observation came up
in its rollout. This is the policy that is saved. Magnetic mirror descent:
Sokota et al. 2023; replaced references: Perolat et al. 2021; a critic that sees all: McAleer et al. 2023.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from .networks import Forward, copy_of
from .settings import SelfPlayConfig

PRIOR = 5.0
"""Returns beside the critic's value count as if it had been seen this often."""
CRITIC_RATE = 2.0
"""The critic's learning rate in first rates of the policy. It does not fall: the critic's goals move to the end."""
LEAST_LOG = -6.0
"""Log-probabilities of a step are at least this, before they are normalised."""
MOST = 100_000
"""The most distinct observations whose mean policy is kept."""

Floats = NDArray[np.float64]
Rows = tuple[NDArray[np.intp], NDArray[np.intp]]
"""What `distinct` returns."""
Step = Callable[[torch.Tensor, float], None]
"""Makes a gradient step: takes the loss and the learning rate."""


def distinct(rows: NDArray[np.float32]) -> Rows:
    """Return the place of each distinct row's first copy, int64[R], and for every row which one it is, int64[K]."""
    rows = np.ascontiguousarray(rows)
    whole = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1])))[:, 0]
    _, first, which = np.unique(whole, return_index=True, return_inverse=True)
    return first, which.reshape(-1)


def summed(which: NDArray[np.intp], actions: NDArray[np.int64], values: Any, shape: tuple[int, int]) -> Floats:
    """Return the sums of `values` by row and action, float64[shape]."""
    flat = which * shape[1] + actions
    given = np.broadcast_to(np.asarray(values, np.float64), flat.shape)
    return np.asarray(np.bincount(flat, given, shape[0] * shape[1]), np.float64).reshape(shape)


class MeanPolicies:
    """The mean policy at distinct observations, at most `MOST` of them.

    When it is full, a new observation replaces one at random or is left out, as in a reservoir. One that comes again
    after it was replaced begins anew.

    Args:
        columns: the size of an observation.
        actions: the number of actions.
        random: draws which observations are kept.
    """

    def __init__(self, columns: int, actions: int, random: np.random.Generator) -> None:
        self._random = random
        self._places: dict[bytes, int] = {}
        self._added = 0
        self.observations = np.zeros((0, columns), np.float32)
        self.sums = np.zeros((0, actions), np.float64)

    def __len__(self) -> int:
        return len(self._places)

    def add(self, observations: NDArray[np.float32], probabilities: Floats) -> None:
        """Add policies, float64[R, A], each times its weight, at distinct observations, float32[R, D]."""
        for row, weighted in zip(observations, probabilities, strict=True):
            place = self._place(row)
            if place is not None:
                self.sums[place] += weighted

    def _place(self, row: NDArray[np.float32]) -> int | None:
        key = row.tobytes()
        place = self._places.get(key)
        if place is not None:
            return place
        self._added += 1
        place = len(self._places)
        if place == MOST:
            place = int(self._random.integers(self._added))
            if place >= MOST:
                return None
            del self._places[self.observations[place].tobytes()]
        elif place == len(self.observations):
            added = max(1_024, place)
            self.observations = np.pad(self.observations, ((0, added), (0, 0)))
            self.sums = np.pad(self.sums, ((0, added), (0, 0)))
        self._places[key] = place
        self.observations[place], self.sums[place] = row, 0.0
        return place

    def state(self) -> dict[str, Any]:
        """Return the state, for `load`."""
        count = len(self)
        return {
            "added": self._added,
            "observations": torch.from_numpy(self.observations[:count].copy()),
            "sums": torch.from_numpy(self.sums[:count].copy()),
        }

    def load(self, state: dict[str, Any]) -> None:
        """Load what `state` returned."""
        self._added = state["added"]
        self.observations, self.sums = state["observations"].numpy(), state["sums"].numpy()
        self._places = {row.tobytes(): place for place, row in enumerate(self.observations)}


class MirrorDescent:
    """Fits critic, policy and average to rollouts.

    Args:
        config: the settings.
        nets: the policy, the critic and the average, on the device of the config.
        step: makes a gradient step on them.
        random: shuffles the rows.
    """

    def __init__(
        self, config: SelfPlayConfig, nets: tuple[nn.Module, ...], step: Step, random: np.random.Generator
    ) -> None:
        self._config, self._step, self._random = config, step, random
        self._actor, self._critic, self._average = nets
        self._reference = copy_of(self._actor)
        self._forward = Forward(config.device)
        self._updates = 0
        self._means: MeanPolicies | None = None

    def learn(
        self, batch: dict[str, torch.Tensor], scale: float, rate: float, kl_coef: float, ent_coef: float
    ) -> dict[str, float]:
        """Make one update with the decisions of a rollout and return its metrics.

        Args:
            batch: the decisions; see `RolloutBatch.arrays`.
            scale: the standard deviation of the advantages.
            rate: the learning rate.
            kl_coef: the weight of the divergence from the policy before.
            ent_coef: the weight of the entropy.
        """
        self._updates += 1
        arrays = {name: values.cpu().numpy() for name, values in batch.items()}
        of_critic = distinct(arrays["critic_observations"])
        value_loss = self._fit_critic(arrays, of_critic, scale, CRITIC_RATE * self._config.learning_rate.start)
        first, which = distinct(arrays["observations"])
        weights = np.asarray(np.bincount(which, arrays["weights"], len(first)), np.float64)
        values = self._values(arrays, of_critic, which, weights)
        seen, masks = arrays["observations"][first], arrays["masks"][first]
        before = torch.from_numpy(arrays["log_probs"][first])
        target = self._target(seen, masks, before, torch.from_numpy(values / scale).float(), kl_coef, ent_coef)
        loss = self._fit_policy(seen, masks, target, np.sqrt(weights), rate)
        self._fit_average(seen, np.exp(arrays["log_probs"][first].astype(np.float64)) * masks, weights, rate)
        if self._config.reference_every and self._updates % self._config.reference_every == 0:
            self._reference.load_state_dict(self._actor.state_dict())
        probabilities, share = before.exp(), torch.from_numpy(weights / weights.sum())
        entropy = -(torch.where(before > -1e8, probabilities * before, 0.0).sum(1) * share).sum()
        kl = (torch.where(before > -1e8, target.exp() * (target - before), 0.0).sum(1) * share).sum()
        return {
            "train/policy_loss": loss,
            "train/value_loss": value_loss,
            "train/entropy": float(entropy),
            "train/kl": float(kl),
            "train/observations": float(len(first)),
        }

    def _fit_critic(self, arrays: dict[str, NDArray[Any]], rows: Rows, scale: float, rate: float) -> float:
        """Fit the values of the actions to their mean returns. Return the last loss, in squares of the returns."""
        seen, actions = arrays["critic_observations"], arrays["actions"]
        first, which = rows
        shape = len(first), arrays["masks"].shape[1]
        counts = summed(which, actions, 1.0, shape)
        means = summed(which, actions, arrays["returns"], shape) / np.maximum(counts, 1)
        goals, shares, probabilities = (
            torch.from_numpy(each.astype(np.float32)).to(self._config.device)
            for each in (means, counts**0.5, np.exp(arrays["log_probs"][first]))
        )
        given, loss = torch.from_numpy(seen[first]).to(self._config.device), torch.zeros(())
        for part in self._rows(len(first)):
            valued = self._forward(self._critic, given[part])
            weights = shares[part] / shares[part].sum()
            loss = (weights * (valued[:, 1:] - goals[part]) ** 2).sum()
            # The first output is the value of the state, with which a rollout that breaks off is continued.
            expected = (probabilities[part] * valued[:, 1:]).sum(1).detach()
            self._step((loss + ((valued[:, 0] - expected) ** 2).mean()) / scale**2, rate)
        return float(loss.detach()) / self._config.reward_scale**2

    @torch.no_grad()
    def _values(self, arrays: dict[str, NDArray[Any]], rows: Rows, which: NDArray[np.intp], weights: Floats) -> Floats:
        """Return the values of the actions at distinct observations: float64[R, A].

        They are means of the critic's values, corrected by their mean error.
        """
        first, of_critic = rows
        seen = arrays["critic_observations"][first]
        valued = self._forward(self._critic, seen)[:, 1:].cpu().numpy()[of_critic].astype(np.float64)
        own, actions = arrays["weights"].astype(np.float64), arrays["actions"]
        shape = len(weights), valued.shape[1]
        sums: Floats = np.stack([np.bincount(which, own * column, shape[0]) for column in valued.T], axis=1)
        means = sums / np.maximum(weights, 1e-9)[:, None]
        advantage = arrays["returns"] - valued[np.arange(len(actions)), actions]
        return means + summed(which, actions, own * advantage, shape) / (summed(which, actions, own, shape) + PRIOR)

    @torch.no_grad()
    def _target(
        self, seen: Any, masks: Any, before: torch.Tensor, values: torch.Tensor, kl_coef: float, ent_coef: float
    ) -> torch.Tensor:
        """Return the log-probabilities of the maximum of value and entropy minus both divergences: float32[R, A]."""
        pull = self._config.reference_coef
        reference = self._forward.log_probs(self._reference, seen, masks).cpu()
        best = (kl_coef * before + values + pull * reference) / (kl_coef + pull + ent_coef)
        illegal = torch.from_numpy(masks) == 0
        best = torch.log_softmax(best.masked_fill(illegal, -1e9), 1).clamp(min=LEAST_LOG)
        return torch.log_softmax(best.masked_fill(illegal, -1e9), 1)

    def _fit_policy(self, seen: Any, masks: Any, target: torch.Tensor, weights: Floats, rate: float) -> float:
        """Fit the policy's log-probabilities, also the small ones, to `target`. Return the last loss."""
        device = self._config.device
        given, legal, goals = (torch.as_tensor(each).to(device) for each in (seen, masks, target))
        shares, loss = torch.from_numpy(weights.astype(np.float32)).to(device), torch.zeros(())
        for rows in self._rows(len(seen)):
            log_probs = self._forward.log_probs(self._actor, given[rows], legal[rows])
            error = torch.where(legal[rows] != 0, log_probs - goals[rows], 0.0)
            loss = ((error**2).sum(1) * shares[rows]).sum() / shares[rows].sum()
            self._step(loss, rate)
        return float(loss.detach())

    def _fit_average(self, seen: Any, probabilities: Floats, weights: Floats, rate: float) -> None:
        """Add the policy to the mean of all, and fit the average to the mean."""
        if self._means is None:
            self._means = MeanPolicies(seen.shape[1], probabilities.shape[1], self._random)
        means, device = self._means, self._config.device
        means.add(seen, self._updates * weights[:, None] * probabilities)
        for _ in range(max(1, self._config.n_epochs // 2)):
            rows = np.arange(len(means))
            if len(rows) > self._config.batch_size:
                rows = self._random.integers(len(means), size=self._config.batch_size)
            sums = means.sums[rows]
            totals = sums.sum(axis=1, keepdims=True)
            legal = (sums > 0).astype(np.int8)
            goals = torch.from_numpy((sums / np.maximum(totals, 1e-30)).astype(np.float32)).to(device)
            shares = torch.from_numpy((totals[:, 0] ** 0.5).astype(np.float32)).to(device)
            log_probs = self._forward.log_probs(self._average, means.observations[rows], legal)
            given = torch.where(goals > 0, goals * log_probs, 0.0).sum(1)
            self._step(-(given * shares).sum() / shares.sum().clamp(min=1e-30), rate)

    def _rows(self, count: int) -> Iterator[torch.Tensor]:
        parts = max(1, round(count / self._config.batch_size))
        for _ in range(self._config.n_epochs):
            order = torch.from_numpy(self._random.permutation(count)) if parts > 1 else torch.arange(count)
            yield from order.tensor_split(parts)

    def state(self) -> dict[str, Any]:
        """Return the state, for `load`."""
        means = None if self._means is None else self._means.state()
        return {"reference": self._reference.state_dict(), "updates": self._updates, "memory": means}

    def load(self, state: dict[str, Any]) -> None:
        """Load what `state` returned."""
        self._reference.load_state_dict(state["reference"])
        self._updates = state["updates"]
        if state["memory"] is not None:
            shape = state["memory"]["observations"].shape[1], state["memory"]["sums"].shape[1]
            self._means = MeanPolicies(*shape, self._random)
            self._means.load(state["memory"])
