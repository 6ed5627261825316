"""The league: the pool of opponents that a learner plays against, its own past selves and scripted bots."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...wrappers.policies.mlp import MlpPolicy
from ...wrappers.rl.opponents import Pool
from ...wrappers.rl.single_agent import SingleAgentTables


class League:
    """Fills the first `slots` places of a pool with the learner's past selves; the bots keep theirs.

    In a game with sides, the newest of them plays the other seats of the learner's side.

    The first place always has the newest self, the others are drawn from the whole past (its own first steps too: who
    forgets how to beat them is found out), anew at every `take`. With `mirror`, the last place has the learner as it is
    now, anew at every `reflect`.

    Args:
        slots: places for past selves.
        self_play: share of the opponents that are past selves, 0 to 1.
        bots: bot names with their shares of the rest, relative to each other.
        seed: of the draws, and of the past selves' own random streams.
        mirror: share of the opponents that are the learner as it is now, 0 to 1.

    Raises:
        ValueError: if the shares do not make a pool.
    """

    def __init__(self, slots: int, self_play: float, bots: Mapping[str, float], seed: int, mirror: float = 0.0) -> None:
        if not 0 <= self_play <= 1 or slots < 0:
            raise ValueError(f"self_play={self_play}, snapshots={slots}: need a share from 0 to 1, and 0 or more")
        rest = round(1 - mirror - self_play, 9)
        if not (mirror >= 0 and rest >= 0):
            raise ValueError(f"mirror={mirror}: need a share from 0 to what self_play={self_play} leaves")
        if (self_play > 0 and slots == 0) or (rest > 0 and not sum(bots.values()) > 0):
            raise ValueError(
                f"self_play={self_play} needs snapshots, and bots for the rest; got {slots} and {dict(bots)}"
            )
        self.slots = slots
        self.past: list[MlpPolicy] = []
        self.mirrors = mirror > 0
        self._bots = list(bots)
        total = sum(bots.values()) or 1
        self._weights = [self_play / max(1, slots)] * slots + [rest * share / total for share in bots.values()]
        self._weights += [mirror] * self.mirrors
        self._random = np.random.default_rng(seed)

    def pool(self) -> Pool:
        """Return the pool to play against; until they are seated, its selves play at random."""
        names = ["random"] * self.slots + self._bots + ["random"] * self.mirrors
        newest = len(names) - 1 if self.mirrors else 0
        mates = [float(place == newest) for place in range(len(names))]
        return Pool(names, self._weights, teammate_weights=mates if self.slots or self.mirrors else None)

    def take(self, model: Any, seats: SingleAgentTables) -> MlpPolicy:
        """Copy the learner as it is now, seat it and a new draw of its past selves, and return the copy."""
        self.past.append(MlpPolicy.from_model(model, seed=self._seed()))
        self.seat(seats)
        return self.past[-1]

    def seat(self, seats: SingleAgentTables) -> None:
        """Seat the newest self and a new draw of older ones."""
        if self.past and self.slots:
            older = self._random.integers(len(self.past), size=self.slots - 1)
            seats.policies[: self.slots] = [self.past[-1], *(self.past[index] for index in older)]

    def reflect(self, model: Any, seats: SingleAgentTables) -> None:
        """Seat the learner as it is now in the mirror's place, if there is one."""
        if self.mirrors:
            seats.policies[-1] = MlpPolicy.from_model(model, seed=self._seed())

    def load(self, folder: Path) -> None:
        """Read the past selves that were saved as ``<steps>.npz``."""
        files = sorted(folder.glob("*.npz"), key=lambda file: int(file.stem))
        self.past = [MlpPolicy.load(file, seed=self._seed()) for file in files]

    def _seed(self) -> int:
        return int(self._random.integers(2**63))
