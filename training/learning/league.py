"""The league: the pool of opponents that a learner plays against, its own past checkpoints and scripted bots."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ...wrappers import MlpPolicy, Pool
from ...wrappers.policies.base import Policy


class HasPolicy(Protocol):
    """A learner, as far as the league needs it."""

    def policy(self, seed: int | None = None) -> MlpPolicy:
        """Return a copy of the policy as it is now."""


class League:
    """The opponents of a learner: first the past checkpoints, then the bots, and last the learner itself.

    The first slot always has the newest checkpoint. The other checkpoint slots are drawn from all checkpoints, again
    with every new one, so that the learner does not forget how to beat its first versions. With `self_play`, the last
    slot has a copy of the current learner. In a game with teams, the newest version plays the other seats of the
    learner's team.

    Args:
        checkpoint_slots: number of past checkpoints among the opponents.
        past_checkpoints: share of the opponents that are past checkpoints, 0 to 1.
        bots: bot names with their relative shares of the rest.
        seed: seed of the draws, and of the checkpoints' random streams.
        self_play: share of the opponents that are the current learner, 0 to 1.

    Attributes:
        checkpoints: all past checkpoints, the oldest first.

    Raises:
        ValueError: if the shares do not fit together.
    """

    def __init__(
        self,
        checkpoint_slots: int,
        past_checkpoints: float,
        bots: Mapping[str, float],
        seed: int,
        self_play: float = 0.0,
    ) -> None:
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
        self.checkpoints: list[MlpPolicy] = []
        self._drawn: list[int] = []  # the indices of the checkpoints in the slots
        self._slots = checkpoint_slots
        self._self_play = self_play > 0
        self._bots = list(bots)
        total = sum(bots.values()) or 1
        self._weights = [past_checkpoints / max(1, checkpoint_slots)] * checkpoint_slots
        self._weights += [rest * share / total for share in bots.values()]
        self._weights += [self_play] * self._self_play
        self._random = np.random.default_rng(seed)

    def pool(self) -> Pool:
        """Return the pool of opponents. The slots of the learner's versions play at random until they are set."""
        names = ["random"] * self._slots + self._bots + ["random"] * self._self_play
        newest = len(names) - 1 if self._self_play else 0
        mates = [float(place == newest) for place in range(len(names))]
        return Pool(names, self._weights, teammate_weights=mates if self._slots or self._self_play else None)

    def add_checkpoint(self, learner: HasPolicy, opponents: list[Policy]) -> MlpPolicy:
        """Make a checkpoint of the current learner, draw the opponents again, and return the checkpoint.

        Args:
            learner: the learner.
            opponents: the policies of `pool`; those in the checkpoint slots are replaced.
        """
        checkpoint = learner.policy(seed=self._seed())
        self.checkpoints.append(checkpoint)
        self.draw(opponents)
        return checkpoint

    def draw(self, opponents: list[Policy]) -> None:
        """Write the newest checkpoint and a new draw of older ones into their slots of `opponents`."""
        if self.checkpoints and self._slots:
            older = self._random.integers(len(self.checkpoints), size=self._slots - 1)
            self._drawn = [len(self.checkpoints) - 1, *older.tolist()]
            self._seat(opponents)

    def update_self_play(self, learner: HasPolicy, opponents: list[Policy]) -> None:
        """Write a copy of the current learner into its slot of `opponents`, if there is one."""
        if self._self_play:
            opponents[-1] = learner.policy(seed=self._seed())

    def state(self) -> dict[str, Any]:
        """Return the random states and the draw, as JSON can hold them; `load` takes them."""
        streams = [checkpoint.stream for checkpoint in self.checkpoints]
        return {"random": self._random.bit_generator.state, "streams": streams, "drawn": self._drawn}

    def load(self, files: Sequence[Path], state: Mapping[str, Any]) -> None:
        """Read past checkpoints, the oldest first.

        Args:
            files: the checkpoints; those that are newer than the state are not read.
            state: what `state` returned when the run was saved.
        """
        self.checkpoints = [MlpPolicy.load(file, seed=0) for file in files[: len(state["streams"])]]
        for checkpoint, stream in zip(self.checkpoints, state["streams"], strict=True):
            checkpoint.stream = stream
        self._drawn = list(state["drawn"])
        self._random.bit_generator.state = state["random"]

    def resume(self, opponents: list[Policy]) -> None:
        """Write the checkpoints into their slots of `opponents`: those drawn last, or a new draw if there was none."""
        if self._drawn:
            self._seat(opponents)
        else:
            self.draw(opponents)

    def _seat(self, opponents: list[Policy]) -> None:
        opponents[: self._slots] = [self.checkpoints[index] for index in self._drawn]

    def _seed(self) -> int:
        return int(self._random.integers(2**63))
