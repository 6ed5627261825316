"""A larger tree goes on from the solution of a smaller one: what both have begins with its regrets and sums."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...envs.core.public_tree import END, PublicTree
from .sampled import SampledSolver


def grow(small: SampledSolver, large: SampledSolver) -> None:
    """Let `large`, a solver with no iterations, go on from where `small` is.

    A decision of the larger tree begins as the one that the same actions lead to in the smaller tree; in place of an
    action that is not there counts the one with the nearest index that leads to the same seat on the same street, with
    the same least action there: to a raise belongs another raise, not a check. New actions begin with regrets of 0.
    """
    tree, before = large.deals.tree, small.deals.tree
    there = np.full(len(tree.kind), -1)
    there[0] = 0
    for node in np.flatnonzero(tree.kind != END).tolist():  # parents come first
        old = int(there[node])
        if old < 0 or before.kind[old] != tree.kind[node] or before.street[old] != tree.street[node]:
            continue
        olds = np.arange(before.first[old], before.first[old] + before.count[old])
        rows, count = int(large.deals.rows[tree.street[node], tree.kind[node]]), int(tree.count[node])
        into = slice(int(large.nodes.base[node]), int(large.nodes.base[node]) + rows * count)
        out_of = slice(int(small.nodes.base[old]), int(small.nodes.base[old]) + rows * len(olds))
        for k in range(count):
            child = int(tree.first[node]) + k
            away = np.abs(before.action[olds] - tree.action[child])
            nearest = int((away + _unlike(before, olds, tree, child)).argmin())
            there[child] = olds[nearest]
            if before.action[olds[nearest]] == tree.action[child]:
                for new, numbers in ((large.regrets, small.regrets), (large.sums, small.sums)):
                    new[into].reshape(rows, count)[:, k] = numbers[out_of].reshape(rows, len(olds))[:, nearest]
    large.iterations = small.iterations


def _unlike(before: PublicTree, olds: NDArray[np.int64], tree: PublicTree, child: int) -> NDArray[Any]:
    """Return for each old child 1,000 if it is of another kind than the new one, else 0."""
    least = before.action[before.first[olds]], tree.action[tree.first[child]]
    same = (before.kind[olds] == tree.kind[child]) & (before.street[olds] == tree.street[child])
    return np.where(same & ((tree.kind[child] == END) | (least[0] == least[1])), 0, 1_000)
