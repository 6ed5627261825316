"""The league: the pool of opponents that a learner plays against, its own past checkpoints and scripted bots."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from ...wrappers.policies.base import Policy
from ...wrappers.policies.mlp import MlpPolicy
from ...wrappers.rl.opponents import Pool


class HasPolicy(Protocol):
    """A learner, as far as the league needs it."""

    def policy(self, seed: int | None = None) -> MlpPolicy:
        """Return a copy of the policy as it is now."""
        ...


class League:
    """The opponents of a learner: first places for past checkpoints, then the bots, and last the learner itself.

    The first place always has the newest checkpoint. The others are drawn from the whole past, anew with every
    checkpoint: a learner that forgets how to beat its first versions meets them again. With `self_play`, the last place
    has the learner as it is now. In a game with teams, the newest of them plays the other seats of the learner's team.

    Args:
        checkpoint_slots: places for past checkpoints.
        past_checkpoints: share of the opponents that are past checkpoints, 0 to 1.
        bots: bot names with their shares of the rest, relative to each other.
        seed: of the draws, and of the checkpoints' own random streams.
        self_play: share of the opponents that are the learner as it is now, 0 to 1.

    Attributes:
        checkpoints: all past checkpoints, the oldest first.

    Raises:
        ValueError: if the shares do not make a pool.
    """

    def __init__(
        self,
        checkpoint_slots: int,
        past_checkpoints: float,
        bots: Mapping[str, float],
        seed: int,
        self_play: float = 0.0,
    ) -> None:
        if not 0 <= past_checkpoints <= 1 or checkpoint_slots < 0:
            raise ValueError(
                f"past_checkpoints={past_checkpoints}, checkpoint_slots={checkpoint_slots}: need a share from 0 to 1, "
                "and 0 or more"
            )
        rest = round(1 - self_play - past_checkpoints, 9)
        if not (self_play >= 0 and rest >= 0):
            raise ValueError(
                f"self_play={self_play}: need a share from 0 to what past_checkpoints={past_checkpoints} leaves"
            )
        if (past_checkpoints > 0 and checkpoint_slots == 0) or (rest > 0 and not sum(bots.values()) > 0):
            raise ValueError(
                f"past_checkpoints={past_checkpoints} needs checkpoint_slots, and bots for the rest; got "
                f"{checkpoint_slots} and {dict(bots)}"
            )
        self.checkpoints: list[Policy] = []
        self._slots = checkpoint_slots
        self._self_play = self_play > 0
        self._bots = list(bots)
        total = sum(bots.values()) or 1
        self._weights = [past_checkpoints / max(1, checkpoint_slots)] * checkpoint_slots
        self._weights += [rest * share / total for share in bots.values()]
        self._weights += [self_play] * self._self_play
        self._random = np.random.default_rng(seed)

    def pool(self) -> Pool:
        """Return the pool to play against. The places of the learner's versions play at random until they are set."""
        names = ["random"] * self._slots + self._bots + ["random"] * self._self_play
        newest = len(names) - 1 if self._self_play else 0
        mates = [float(place == newest) for place in range(len(names))]
        return Pool(names, self._weights, teammate_weights=mates if self._slots or self._self_play else None)

    def add_checkpoint(self, learner: HasPolicy, opponents: list[Policy]) -> MlpPolicy:
        """Make the learner as it is now a checkpoint, draw the opponents anew, and return the checkpoint.

        Args:
            learner: who learns.
            opponents: the policies of `pool` in play; those of the checkpoints are replaced.
        """
        checkpoint = learner.policy(seed=self._seed())
        self.checkpoints.append(checkpoint)
        self.draw(opponents)
        return checkpoint

    def draw(self, opponents: list[Policy]) -> None:
        """Put the newest checkpoint and a new draw of older ones into their places among the opponents."""
        if self.checkpoints and self._slots:
            older = self._random.integers(len(self.checkpoints), size=self._slots - 1)
            opponents[: self._slots] = [self.checkpoints[-1], *(self.checkpoints[index] for index in older)]

    def update_self_play(self, learner: HasPolicy, opponents: list[Policy]) -> None:
        """Put the learner as it is now into its place among the opponents, if it has one."""
        if self._self_play:
            opponents[-1] = learner.policy(seed=self._seed())

    def load(self, files: Sequence[Path]) -> None:
        """Read past checkpoints, the oldest first."""
        self.checkpoints = [MlpPolicy.load(file, seed=self._seed()) for file in files]

    def _seed(self) -> int:
        return int(self._random.integers(2**63))
