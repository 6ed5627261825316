"""The engine on a GPU: tables beside the networks. Only the counts of a rollout leave the GPU."""

import logging
import pickle
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ...envs import Game, VectorGame
from ...envs.core.cuda.toolchain import SIMULATED
from ...envs.core.cuda.vector import CudaVectorGame
from ...wrappers.rl.tables import Pool
from . import collector
from .networks import ALIGNED, Recorded, capture_on, current_stream
from .settings import SelfPlayConfig

logger = logging.getLogger(__name__)


class GpuCollector(collector.Actor):
    """One actor whose tables are on the GPU. The current policy plays every seat.

    Its decisions and episodes differ from those of `Collector` with the same seed: actions are drawn on the GPU, by
    PyTorch. A rollout is recorded, and then started with one call (see `Recorded`).

    Args:
        config: the settings.
        game: the game with its options.

    Attributes:
        tables: the tables; a `CudaVectorGame`.
    """

    def __init__(self, config: SelfPlayConfig, game: Game) -> None:
        super().__init__(config, game, 0, config.device)
        self._device = torch.device(config.device)
        tables = VectorGame(game, config.n_envs, config.encoder or None, device="cuda")
        assert isinstance(tables, CudaVectorGame)
        self.tables = tables
        self._critic_encoder = collector.critic_encoder(config, game)
        self._generator = torch.Generator(self._device)
        shape = config.n_steps, config.n_envs
        sizes = [game.encoders[name].layout.size for name in (tables.encoder, self._critic_encoder)]
        # Observations are written once, as the networks read them.
        self._observations, self._critic_observations = (
            self._zeros(*shape, -(-size // ALIGNED) * ALIGNED, dtype=self._forward.dtype) for size in sizes
        )
        self._critic_input = self._zeros(config.n_envs, sizes[1])
        self._masks = self._zeros(*shape, game.num_actions, dtype=torch.int8)
        self._log_probs = self._zeros(*shape, game.num_actions)
        self._turn, self._actions = (self._zeros(*shape, dtype=torch.int64) for _ in range(2))
        self._dones = self._zeros(*shape, dtype=torch.bool)
        self._rewards = self._zeros(*shape, game.seats)
        self._results = self._zeros(config.n_envs, game.seats)  # of the current episodes, so far
        self._values, self._advantages = (self._zeros(*shape) for _ in range(2))
        self._recorded = self._record()

    def _record(self) -> Recorded:
        return Recorded(self._play_and_estimate, self._device, capture_on(self._device, self._generator))

    def _zeros(self, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return torch.zeros(shape, dtype=dtype, device=self._device)

    def _reset(self, seed: int) -> None:
        self._generator.manual_seed(seed % 2**63)
        self.tables.reset(seed)
        self._results.zero_()

    def _rollout(self, *_: Any) -> dict[str, Any]:
        began = time.perf_counter()
        episodes, winnings = self._recorded().tolist()
        self.tables.finish()
        return {
            "rows": np.flatnonzero(~self._advantages.isnan().cpu().numpy()),
            "played": self._turn.numel(),
            "episodes": int(episodes),
            "winnings": winnings / self._game.payoffs.unit,
            "seconds": time.perf_counter() - began,
        }

    def _play_and_estimate(self) -> torch.Tensor:
        """Play the decisions and value them. Return the number of ended episodes and the winnings, float64[2]."""
        stream = current_stream(self._device)
        seen, masks = self._shared(self.tables.observations), self._shared(self.tables.action_masks)
        turn, rewards, dones = map(self._shared, (self.tables.turn, self.tables.rewards, self.tables.dones))
        counts = self._zeros(2, dtype=torch.float64)
        for step in range(self._config.n_steps):
            self._observations[step, :, : seen.shape[1]], self._masks[step] = seen, masks
            self._turn[step] = turn
            self.tables.observe(self._critic_encoder, turn, self._critic_input, stream)
            self._critic_observations[step, :, : self._critic_input.shape[1]] = self._critic_input
            log_probs = self._forward.log_probs(self._actor, self._observations[step], self._masks[step])
            self._log_probs[step] = log_probs
            self._actions[step] = self._draw(log_probs)
            self.tables.enqueue(self._actions[step], stream)
            self._dones[step] = dones
            self._rewards[step] = rewards * (self._config.reward_scale / self._game.payoffs.unit)
            self._results += rewards
            counts += torch.stack([dones.sum(), (self._results.mean(1) * dones).sum()])
            self._results *= ~dones[:, None]
        self._estimate(stream)
        return counts

    def _shared(self, array: Any) -> torch.Tensor:
        """Return a tensor that shares the memory of a device array."""
        return torch.as_tensor(array, device=self._device)

    def _draw(self, log_probs: torch.Tensor) -> torch.Tensor:
        """Draw an action per row: the greatest of p / x, with x from an exponential distribution."""
        probabilities = log_probs.exp()
        return (probabilities / torch.empty_like(probabilities).exponential_(generator=self._generator)).argmax(1)

    def _estimate(self, stream: int) -> None:
        """Write the values and the advantages of the rollout."""
        for step in range(self._config.n_steps):
            self._values[step] = self._value(self._critic_observations[step])
        turn = self._shared(self.tables.turn).to(torch.int64)
        self.tables.observe(self._critic_encoder, turn, self._critic_input, stream)
        own = self._value(self._critic_input)[:, None].float()
        others = -own if collector.only_two_compete(self._game) else torch.full_like(own, torch.nan)
        last = others.repeat(1, self._game.seats).scatter(1, turn[:, None], own)
        everywhere = torch.ones_like(self._dones)  # every decision is the learner's
        played = self._turn, everywhere, self._rewards, self._dones, self._values
        self._advantages.copy_(collector.seat_advantages(*played, last))

    def _value(self, observations: torch.Tensor) -> torch.Tensor:
        return self._forward(self._critic, observations)[:, 0]

    def save(self, path: Path) -> dict[str, Any]:
        """Write the tables, and return the rest of the state."""
        with path.open("wb") as file:
            state = {name: value for name, value in self.tables.__getstate__().items() if name != "game"}
            pickle.dump(state, file, protocol=5)
        return {"generator": self._generator.get_state(), "results": self._results.cpu(), "began": self._began}

    def load(self, path: Path, state: Mapping[str, Any]) -> None:
        """Load what `save` wrote and returned: the next rollout is as if there had been no break.

        Load only trusted files: a pickle may contain code.
        """
        with path.open("rb") as file:
            saved = pickle.load(file)
        records = next(array for array in saved["arrays"] if array.dtype.names)
        if records.dtype.descr != self._game.rules.blank.dtype.descr:
            logger.warning("%s: its tables are of an earlier version, so their episodes begin again", path)
            return
        self.tables.__setstate__({**saved, "game": self._game})
        self._recorded = self._record()
        self._generator.set_state(state["generator"].cpu())
        self._results.copy_(state["results"])
        self._began = state["began"]


class GpuEngine(collector.LocalEngine):
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

    def _collector(self, actor: int) -> GpuCollector:
        return GpuCollector(self.config, self.game)


ENGINE = GpuEngine
