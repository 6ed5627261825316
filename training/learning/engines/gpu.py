"""The engine on the learner's GPU: the tables lie beside the networks, and the current policy plays every seat."""

from pathlib import Path
from typing import Any

from ....envs import Game
from ....envs.core.cuda.toolchain import SIMULATED
from ....envs.core.files import replacing
from ....wrappers.rl.opponents import Pool
from ..batch import RolloutBatch
from ..collector import Weights
from ..gpu_collector import GpuCollector
from ..selfplay_settings import SelfPlayConfig
from .base import Engine, check_files, tables_file


class GpuEngine(Engine):
    """Plays on the GPU. See `Engine`.

    Raises:
        ValueError: if the networks are not on the GPU, or the config asks for what only tables on the CPU have:
            opponents at the tables, random start steps, expected rewards, several actors.
        RuntimeError: if there is no GPU.
    """

    def __init__(self, config: SelfPlayConfig, game: Game, pool: Pool) -> None:
        if not (SIMULATED or config.device.startswith("cuda")):
            raise ValueError(f"device={config.device!r}: the engine gpu needs device='cuda'")
        none = "opponent_tables", "mixed_tables", "random_start_steps", "chance_samples"
        for name, value in (dict.fromkeys(none, 0) | {"relabel": False, "actors": 1}).items():
            if getattr(config, name) != value:
                raise ValueError(f"{name}={getattr(config, name)}: the engine gpu has only {name}={value}")
        super().__init__(config, game, pool)
        self.collector = GpuCollector(config, game)

    def begin(self) -> None:
        """Begin the episodes."""
        self.collector.begin()

    def _collect(self, version: int, weights: Weights) -> list[RolloutBatch]:
        return [self.collector.rollout(version, weights)]

    def _save_actors(self, folder: Path) -> list[dict[str, Any]]:
        with replacing(tables_file(folder, 0)) as unfinished:
            return [self.collector.save(unfinished)]

    def _load_actors(self, folder: Path, actors: list[dict[str, Any]]) -> None:
        check_files(folder, 1)
        self.collector.load(tables_file(folder, 0), actors[0])


ENGINE = GpuEngine
