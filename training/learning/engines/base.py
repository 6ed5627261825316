"""Engine: the base class of the places where decisions are collected."""

from pathlib import Path
from typing import Any

from ....envs import Game
from ....wrappers.policies.base import Policy
from ....wrappers.policies.mlp import MlpPolicy
from ....wrappers.rl.opponents import OpponentSeats, Pool
from ..batch import RolloutBatch
from ..collector import Opponents, Weights
from ..selfplay_settings import SelfPlayConfig


class Engine:
    """Collects decisions with one or more actors. It is also the `LearnerTables` of the run.

    Args:
        config: the settings.
        game: the game with its options.
        pool: the pool of opponents.

    Attributes:
        game: the game with its options.
        policies: the current opponents. One may be replaced between rollouts; every actor then takes a copy.
        random_start_steps: the least and the most random decisions at the beginning of an episode. May be changed.
        episodes: number of finished episodes in the batches so far.
        winnings: the sum of their returns for the learner, in `Payoffs.unit`.
    """

    def __init__(self, config: SelfPlayConfig, game: Game, pool: Pool) -> None:
        self.config = config
        self.game = game
        self.pool = pool
        self.policies: list[Policy] = list(OpponentSeats(game, 1, pool).policies)
        self.random_start_steps = (config.random_start_steps, config.random_start_steps)
        self.episodes, self.winnings = 0, 0.0
        self._known = list(self.policies)
        self._serials = [0] * len(self.policies)

    def begin(self) -> None:
        """Start the actors. Called once; before it, `load` may have set their state."""
        raise NotImplementedError

    def rollout(self, version: int, weights: Weights) -> list[RolloutBatch]:
        """Return batches to learn from, at least one.

        Args:
            version: the version of the weights, one more than that of the call before.
            weights: the weights of the networks.
        """
        batches = self._collect(version, weights)
        self.episodes += sum(batch.episodes for batch in batches)
        self.winnings += sum(batch.winnings for batch in batches)
        return batches

    def _collect(self, version: int, weights: Weights) -> list[RolloutBatch]:
        raise NotImplementedError

    def metrics(self) -> dict[str, float]:
        """Return counts of the engine, by the names of the metrics."""
        return {}

    def save(self, folder: Path) -> dict[str, Any]:
        """Write the state of the actors into a run folder, and return the rest of it."""
        self._opponents()
        return {"serials": self._serials, "actors": self._save_actors(folder)}

    def load(self, folder: Path, state: dict[str, Any]) -> None:
        """Load what `save` wrote and returned.

        Raises:
            FileNotFoundError: if a file is missing.
        """
        self._serials = list(state["serials"])
        self._load_actors(folder, state["actors"])

    def keep_opponents(self) -> None:
        """Declare that `policies` are those that the actors had when the state was saved."""
        self._known = list(self.policies)

    def close(self) -> None:
        """End the actors."""

    def _save_actors(self, folder: Path) -> list[dict[str, Any]]:
        return []

    def _load_actors(self, folder: Path, actors: list[dict[str, Any]]) -> None:
        pass

    def _opponents(self) -> Opponents:
        """Return the opponents that were set from outside, with their serial numbers."""
        for slot, policy in enumerate(self.policies):
            if policy is not self._known[slot]:
                self._serials[slot] += 1
                self._known[slot] = policy
        return {
            slot: (serial, policy)
            for slot, (serial, policy) in enumerate(zip(self._serials, self.policies, strict=True))
            if serial and isinstance(policy, MlpPolicy)
        }


def tables_file(folder: Path, actor: int) -> Path:
    """Return the file of an actor's tables in a run folder."""
    return folder / ("tables.pkl" if actor == 0 else f"tables-{actor}.pkl")


def check_files(folder: Path, actors: int) -> None:
    """Check that the tables of all actors are there.

    Raises:
        FileNotFoundError: for the first file that is missing.
    """
    for actor in range(actors):
        if not tables_file(folder, actor).is_file():
            raise FileNotFoundError(f"{tables_file(folder, actor)} is missing")
