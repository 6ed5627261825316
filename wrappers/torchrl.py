"""Tables as an environment of TorchRL (https://github.com/pytorch/rl): batched, with masks and rewards per seat.

    env = Tables("leduc", num_envs=64)
    check_env_specs(env)

Needs the extra ``torchrl``.
"""

from __future__ import annotations  # the documentation is built without TorchRL

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import torch
from tensordict import TensorDict, TensorDictBase
from torchrl.data import Binary, Bounded, Categorical, Composite, Unbounded
from torchrl.envs import EnvBase

from ..envs import Game, VectorGame
from ..envs.core.registry import as_game


class Tables(EnvBase):
    """N tables of one game as a TorchRL environment with the batch size [N]; one decision per table per step.

    The seats of a group stand along a second dimension, as in TorchRL's other environments for many agents::

        agents: observation float32[N, S, D], action_mask bool[N, S, A], action int64[N, S], reward float32[N, S, 1]
        turn int64[N, 1]; done, terminated, truncated bool[N, 1]

    Every seat observes every step, and its rewards are its own, in `Payoffs.unit`. So TorchRL's estimators (such as
    GAE) along the time give credit per seat. Out of turn, and after the end of an episode, the mask of a seat allows
    index 0 alone, and its action is not read: TorchRL does not accept a mask without a legal action. A masked policy
    has the log probability 0 there, so that such steps change its values and not its actions.

    A masked action in turn is played as the game's safe action (hold'em: check, else fold). `rand_action` draws legal
    actions; that of a `TransformedEnv` does so with TorchRL's transform `ActionMask`, which takes the masks over::

        TransformedEnv(env, ActionMask(action_key=("agents", "action"), mask_key=("agents", "action_mask")))

    Args:
        game: the game with its options, or its name.
        num_envs: the number of tables N.
        encoder: name of the encoder of the observations; None: the game's own encoder.
        groups: names of groups with the agents in each; None: all agents are in the group ``"agents"``.
        seed: seed of the tables; None takes entropy from the operating system.
        options: the game's, where it is named.

    Attributes:
        tables: the `VectorGame`. A finished table begins its next episode in the same step.
        group_map: the agents of each group.

    Raises:
        UnexpectedOption: for an unknown option. It is a TypeError and a ValueError.
        ValueError: for an unknown game, or groups that do not hold every agent once.
    """

    def __init__(
        self,
        game: str | Game,
        num_envs: int = 1,
        *,
        encoder: str | None = None,
        groups: Mapping[str, Sequence[str]] | None = None,
        seed: int | None = None,
        **options: Any,
    ) -> None:
        super().__init__(device=torch.device("cpu"), batch_size=torch.Size([num_envs]))
        base = as_game(game, options)
        self.tables = VectorGame(base, num_envs, encoder)
        self.group_map = {"agents": list(base.agents)} if groups is None else {k: list(v) for k, v in groups.items()}
        if sorted(chain.from_iterable(self.group_map.values())) != sorted(base.agents):
            raise ValueError(f"groups={self.group_map}: every agent of {', '.join(base.agents)} must be in one group")
        self._seats = {name: [base.agents.index(agent) for agent in group] for name, group in self.group_map.items()}
        self._rows = np.arange(num_envs)
        self._seed = seed
        self._make_specs()

    def _make_specs(self) -> None:
        n, game = self.tables.num_envs, self.tables.game
        space = game.encoders[self.tables.encoder].layout.flat_space()
        seen, acts, gains = (Composite(shape=(n,)) for _ in range(3))
        for name, seats in self._seats.items():
            s = len(seats)
            low, high = (torch.as_tensor(bound).expand(n, s, -1) for bound in (space.low, space.high))
            masks = Binary(game.num_actions, shape=(n, s, game.num_actions), dtype=torch.bool)
            parts = {"observation": Bounded(low, high, dtype=torch.float32), "action_mask": masks}
            seen[name] = Composite(parts, shape=(n, s))
            acts[name] = Composite({"action": Categorical(game.num_actions, shape=(n, s))}, shape=(n, s))
            gains[name] = Composite({"reward": Unbounded(shape=(n, s, 1))}, shape=(n, s))
        seen["turn"] = Categorical(game.seats, shape=(n, 1))
        ends = ("done", "terminated", "truncated")
        self.observation_spec, self.action_spec, self.reward_spec = seen, acts, gains
        self.done_spec = Composite({k: Binary(1, shape=(n, 1), dtype=torch.bool) for k in ends}, shape=(n,))

    def _set_seed(self, seed: int | None) -> None:
        self._seed = seed

    def _reset(
        self, tensordict: TensorDictBase | None = None, *, seed: int | None = None, options: Any = None
    ) -> TensorDictBase:
        """Begin an episode at every table, or show the next ones where ``"_reset"`` marks finished tables."""
        self.tables.game.capabilities.refuse_options(options)
        self._seed = self._seed if seed is None else seed
        marked = None if tensordict is None else tensordict.get("_reset", None)
        if marked is None or bool(marked.all()):
            self.tables.reset(self._seed)
            self._seed = None
        elif (marked.reshape(-1).numpy() & ~self.tables.dones).any():
            raise ValueError('"_reset" marks a table whose episode is not over: reset all tables, or finished ones')
        return self._data(self._observed(self.tables.tables))

    def _step(self, tensordict: TensorDictBase) -> TensorDictBase:
        tables, game = self.tables, self.tables.game
        actions = np.zeros((tables.num_envs, game.seats), np.int64)
        for name, seats in self._seats.items():
            actions[:, seats] = tensordict[name, "action"].numpy()
        ended, ends = tables.step_with_ends(tables.made_legal(actions[self._rows, tables.turn])[0])
        records = tables.tables.copy() if ended.size else tables.tables
        records[ended] = ends
        shown = self._data(self._observed(records), closed=tables.dones)
        for name, seats in self._seats.items():
            gains = tables.rewards[:, seats] / np.float32(game.payoffs.unit)
            shown[name, "reward"] = torch.from_numpy(gains)[..., None]
        done = torch.from_numpy(tables.dones.copy())[:, None]
        return shown.update({"done": done, "terminated": done, "truncated": torch.zeros_like(done)})

    def _observed(self, records: Any) -> np.ndarray[Any, np.dtype[np.float32]]:
        """Return the observations of every seat: float32[N, seats, D]."""
        encoder, n = self.tables.game.encoders[self.tables.encoder], self.tables.num_envs
        seats = range(self.tables.game.seats)
        return np.stack([encoder.observations(records, self._rows, seats=np.full(n, seat)) for seat in seats], axis=1)

    def _data(self, observed: Any, closed: Any = False) -> TensorDictBase:
        """Return observations, masks and turn; `closed`: bool[N], where no seat decides."""
        tables = self.tables
        masks = np.zeros((*observed.shape[:2], tables.game.num_actions), np.bool_)
        masks[:, :, 0] = True
        decides = np.flatnonzero(~np.broadcast_to(closed, tables.turn.shape))
        masks[decides, tables.turn[decides]] = tables.action_masks[decides] != 0
        shown = TensorDict({"turn": torch.from_numpy(tables.turn.astype(np.int64))[:, None]}, self.batch_size)
        for name, seats in self._seats.items():
            mask = torch.from_numpy(masks[:, seats])
            parts = {"observation": torch.from_numpy(observed[:, seats]), "action_mask": mask}
            shown[name] = TensorDict(parts, (*self.batch_size, len(seats)))
            self.full_action_spec[name, "action"].update_mask(mask)  # for `rand_action`
        return shown
