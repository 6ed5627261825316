"""CFR+ on the end of a hand with PyTorch: the `Resolver` of a GPU, for trees with every board at each iteration.

A board's showdown is a matrix: whether a hand beats another one, loses to it, or cannot meet it. So the values of all
showdowns are one product. The tree is gone through by depth, all rows of a depth at once.
"""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from .subgame import DEALT, DISCOUNT, FOLDED, SHOWDOWN, WEIGHT, Betting, Floats, Resolver, Rows, normalised


class GpuResolver(Resolver):
    """CFR+ with PyTorch; from the same arguments it does the same as `Resolver` with all boards at each iteration.

    Args:
        tree: the betting tree, without a depth limit. The matrices of a turn take 250 MB, and 800 MB while they are
            made; ten arrays of float32[rows, H] come to it.
        ranges, me, promised: see `Resolver`.
        device: the device of PyTorch.
    """

    def __init__(
        self, tree: Betting, ranges: Floats, me: int, promised: Floats | None = None, *, device: str = "cuda"
    ) -> None:
        super().__init__(tree, ranges, me, promised, boards=len(tree.boards))

        def moved(array: NDArray[Any]) -> torch.Tensor:
            return torch.as_tensor(np.ascontiguousarray(array), device=device)

        nodes, kept = tree.nodes, self._progress
        later, boards = len(nodes.kind) - nodes.near, len(tree.boards)
        board_of = np.concatenate([np.full(nodes.near, -1), np.repeat(np.arange(boards), later)])
        node_of = np.concatenate([np.arange(nodes.near), np.tile(np.arange(nodes.near, len(nodes.kind)), boards)])
        parent, depth, slot = _parents(tree, node_of, board_of)
        kind, count = nodes.kind[node_of], nodes.count[node_of]
        actor = np.where(parent < 0, -1, kind[parent])
        levels = [np.flatnonzero(depth == level) for level in range(1, depth.max() + 1)]
        self._decided = [[moved(rows[actor[rows] == player]) for player in range(2)] for rows in levels]
        self._dealt = [moved(rows[actor[rows] == DEALT].reshape(boards, -1)) for rows in levels]
        self._slots = [
            [
                [moved(rows[(actor[rows] == player) & (slot[rows] == k)]) for k in range(count.max())]
                for player in range(2)
            ]
            for rows in levels
        ]
        self._parent, self._alone = moved(parent), moved((1.0 / np.maximum(count, 1)).astype(np.float32))[:, None]
        self._acting = [moved(np.flatnonzero(actor == player)) for player in range(2)]
        self._folds = moved(np.flatnonzero((kind >= FOLDED) & (kind < DEALT)))
        self._folder = moved(kind)[self._folds][:, None] - FOLDED
        early, late = (np.flatnonzero((kind == SHOWDOWN) & side) for side in (board_of < 0, board_of >= 0))
        self._early, self._late = moved(early), moved(late.reshape(boards, -1))
        self._amount = moved(nodes.amount[node_of].astype(np.float32))[:, None]
        self._scale = nodes.scale
        self._alive = moved(nodes.alive)
        self._open = torch.cat([torch.ones_like(self._alive[:1]), self._alive])[moved(board_of + 1)[self._folds]]
        self._holds = torch.zeros((len(nodes.cards), 52), device=device)
        self._holds.scatter_(1, moved(nodes.cards), 1.0)
        strength = moved(nodes.strength)
        self._beats = (strength[:, None, :] > strength[:, :, None]).float()  # [r, i, j]: j beats i
        self._beats = self._beats - self._beats.mT
        self._beats *= (self._holds @ self._holds.mT == 0) * self._alive[:, :, None] * self._alive[:, None, :]
        self._beats_early = self._beats.sum(dim=0)
        self._free = kept.free
        self._ranges, self._promised, self._follow, self._regrets, self._sums = (
            moved(each) for each in (kept.ranges, kept.promised, kept.follow, kept.regrets, kept.sums)
        )

    def run(self, iterations: int) -> None:
        """Go on for so many iterations; each updates both players."""
        for t in range(self.iterations + 1, self.iterations + iterations + 1):
            for player in range(2):
                strategy = self._matched()
                reach = self._reaches(strategy)
                won = self._values(strategy, reach[1 - player], player)
                rows = self._acting[player]
                kept = t**DISCOUNT / (t**DISCOUNT + 1)
                regrets = kept * self._regrets[rows] + won[rows] - won[self._parent[rows]]
                self._regrets[rows] = regrets.clamp(min=0.0)
                self._sums[rows] += t**WEIGHT * reach[player][rows]
                if player != self._me:
                    value = self._follow[0] * won[0].double() + (1.0 - self._follow[0]) * self._promised
                    self._follow[1] = (self._follow[1] + won[0].double() - value).clamp(min=0.0)
                    self._follow[2] = (self._follow[2] + self._promised - value).clamp(min=0.0)
                    total = self._follow[1] + self._follow[2]
                    self._follow[0] = torch.where(total > 0, self._follow[1] / total, 0.5)
        self.iterations += iterations
        float(self._regrets[0, 0])  # wait: who looks at the clock must see what it took

    def average(self) -> Rows:
        """Return the average strategy: float32[rows, H]; uniform with hands that never come to a node."""
        return normalised(self.tree, self._sums.cpu().numpy())

    def _matched(self) -> torch.Tensor:
        """Return the strategy in proportion to the regrets."""
        total = torch.zeros_like(self._regrets)
        for slots in self._slots:
            for rows in (rows for player in slots for rows in player):
                total[self._parent[rows]] += self._regrets[rows]  # each parent once
        above = total[self._parent]
        return torch.where(above > 0, self._regrets / above, self._alone[self._parent])

    def _reaches(self, strategy: torch.Tensor) -> list[torch.Tensor]:
        """Return the weights of both players' hands at every row."""
        reach = [torch.zeros_like(strategy) for _ in range(2)]
        reach[self._me][0] = self._ranges[self._me].float()
        reach[1 - self._me][0] = (self._ranges[1 - self._me] + self._free * self._follow[0]).float()
        for decided, dealt in zip(self._decided, self._dealt, strict=True):
            for player, rows in enumerate(decided):
                parents = self._parent[rows]
                reach[player][rows] = reach[player][parents] * strategy[rows]
                reach[1 - player][rows] = reach[1 - player][parents]
            for each in reach:
                each[dealt] = each[self._parent[dealt]] * self._alive[:, None]
        return reach

    def _values(self, strategy: torch.Tensor, others: torch.Tensor, player: int) -> torch.Tensor:
        """Return the values of a player's hands at every row."""
        won = torch.zeros_like(strategy)
        weights = others[self._folds]
        opposed = weights.sum(dim=1, keepdim=True) - weights @ self._holds @ self._holds.mT + weights
        sign = torch.where(self._folder == player, -1.0, 1.0)
        won[self._folds] = sign * self._amount[self._folds] * opposed * self._open
        won[self._late] = self._amount[self._late] * (others[self._late] @ self._beats)
        won[self._early] = self._scale * self._amount[self._early] * (others[self._early] @ self._beats_early)
        for slots, dealt in zip(reversed(self._slots), reversed(self._dealt), strict=True):
            for actor, places in enumerate(slots):
                for rows in places:
                    won[self._parent[rows]] += won[rows] * strategy[rows] if actor == player else won[rows]
            if dealt.numel():
                won[self._parent[dealt[0]]] = self._scale * won[dealt].sum(dim=0)
        return won


def _parents(
    tree: Betting, node_of: NDArray[np.int64], board_of: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the parent of each row (−1: none), its depth, and which child of the parent it is: int64[rows] each."""
    nodes = tree.nodes
    above, depth, slot = (np.full(len(nodes.kind), start) for start in (-1, 0, 0))
    for node in range(len(nodes.kind)):
        children = slice(nodes.first[node], nodes.first[node] + nodes.count[node])
        above[children], depth[children], slot[children] = node, depth[node] + 1, np.arange(nodes.count[node])
    parents = above[node_of]
    later = parents >= nodes.near
    return np.where(later, parents + board_of * (len(nodes.kind) - nodes.near), parents), depth[node_of], slot[node_of]
