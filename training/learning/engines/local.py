"""The engine in the learner's own process: its actors play one after the other."""

from pathlib import Path
from typing import Any

from ....envs import Game
from ....envs.core.files import replacing
from ....wrappers.rl.opponents import Pool
from ..batch import RolloutBatch
from ..collector import Collector, Weights
from ..selfplay_settings import SelfPlayConfig
from .base import Engine, check_files, tables_file


class LocalEngine(Engine):
    """Plays in this process. See `Engine`.

    Attributes:
        collectors: the actors.
    """

    def __init__(self, config: SelfPlayConfig, game: Game, pool: Pool) -> None:
        super().__init__(config, game, pool)
        self.collectors = [Collector(config, game, pool, actor, config.device) for actor in range(config.actors)]

    def begin(self) -> None:
        """Begin the episodes."""
        for collector in self.collectors:
            collector.begin()

    def _collect(self, version: int, weights: Weights) -> list[RolloutBatch]:
        opponents = self._opponents()
        return [each.rollout(version, weights, opponents, self.random_start_steps) for each in self.collectors]

    def _save_actors(self, folder: Path) -> list[dict[str, Any]]:
        states = []
        for actor, collector in enumerate(self.collectors):
            with replacing(tables_file(folder, actor)) as unfinished:
                states.append(collector.save(unfinished))
        return states

    def _load_actors(self, folder: Path, actors: list[dict[str, Any]]) -> None:
        check_files(folder, len(self.collectors))
        for actor, (collector, state) in enumerate(zip(self.collectors, actors, strict=True)):
            collector.load(tables_file(folder, actor), state)


ENGINE = LocalEngine
