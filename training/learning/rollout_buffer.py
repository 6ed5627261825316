"""RolloutBuffer: the data of a rollout in which the learner plays many seats."""

import numpy as np
import torch

from ...wrappers.rl.self_play import SelfPlayTables


class RolloutBuffer:
    """The decisions of a rollout: T steps of N tables, written in place.

    Args:
        steps: T.
        tables: the tables.
        sizes: lengths of the policy's and of the value function's observations.

    Attributes:
        observations: float32[T, N, D] of the policy; `critic_observations`: float32[T, N, C].
        masks: int8[T, N, A], legal actions; `log_probs`: float32[T, N, A] of all actions.
        turn: int64[T, N], the acting seat; `actions`: int64[T, N]; `learner_acts`: bool[T, N].
        rewards: float32[T, N, seats] and `dones`: bool[T, N], of the step.
        values: float32[T, N] and `advantages`: float32[T, N], of the acting seat.
    """

    def __init__(self, steps: int, tables: SelfPlayTables, sizes: tuple[int, int]) -> None:
        shape = steps, tables.num_envs
        self.observations = np.zeros((*shape, sizes[0]), np.float32)
        self.critic_observations = np.zeros((*shape, sizes[1]), np.float32)
        self.masks = np.zeros((*shape, tables.game.num_actions), np.int8)
        self.log_probs = np.zeros((*shape, tables.game.num_actions), np.float32)
        self.turn, self.actions = (np.zeros(shape, np.int64) for _ in range(2))
        self.learner_acts, self.dones = (np.zeros(shape, np.bool_) for _ in range(2))
        self.rewards = np.zeros((*shape, tables.game.seats), np.float32)
        self.values, self.advantages = (np.zeros(shape, np.float32) for _ in range(2))

    def shuffled(self, random: np.random.Generator) -> dict[str, torch.Tensor]:
        """Return the learner's decisions in random order, one per row."""
        rows = random.permutation(np.flatnonzero(self.learner_acts))
        names = "observations", "critic_observations", "masks", "log_probs", "actions", "advantages"
        count = self.turn.size
        flat = {name: getattr(self, name).reshape(count, *getattr(self, name).shape[2:]) for name in names}
        flat["returns"] = (self.values + self.advantages).reshape(count)
        return {name: torch.from_numpy(values).index_select(0, torch.from_numpy(rows)) for name, values in flat.items()}
