"""The end of a hand between two players, range against range: CFR+ and exact best response for all hands at once.

The vectors are those of `range_walks`. An iteration visits some of the boards of a tree from flop or turn, in turns.

CFR+: Tammelin, "Solving large imperfect information games using CFR+", 2014. The gadget: Burch, Johanson and Bowling,
"Solving imperfect information games using decomposition", AAAI 2014.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...envs.core.compiled import compiled
from .betting import SHOWDOWN, Betting, Floats, Ints, add_board, clear, deal, play_on, reaches, values

Rows = NDArray[np.float32]

START = 10.0
"""Pots that the regrets of a strategy to begin with amount to."""
BOARDS = 6
"""Boards that an iteration visits in a tree from the turn; from the flop one."""


@partial(compiled, allocates=True, compile_first=True)
def evaluate(nodes: Any, player: int, strategy: Any, best: bool, space: Any, out: Any) -> None:
    """Write the values of a player's hands over all boards.

    `space`: float32[2, N, H], which begins with the weights, and float32[N, H], which is overwritten.
    """
    near, count = nodes.near, len(nodes.kind)
    reach, below = space
    for one in range(2):
        reaches(nodes, 0, near, 0, one, strategy, reach[one])
    clear(nodes, out)
    for board in range(len(nodes.order)):
        if len(nodes.chances) > 0:
            play_on(nodes, board, nodes.scale, player, reach, below, out)
        else:
            shift = board * (count - near)
            deal(nodes, board, reach)
            reaches(nodes, near, count, shift, 1 - player, strategy, reach[1 - player])
            values(nodes, (near, count, shift, board), player, reach[1 - player], strategy, best, out)
        add_board(nodes, board, nodes.scale, reach[1 - player], out)
    values(nodes, (0, near, 0, -1), player, reach[1 - player], strategy, best, out)


def hand_values(tree: Betting, player: int, others: Floats, strategy: Rows, best: bool) -> Floats:
    """Return the values of a player's hands at the root: float64[H].

    Args:
        tree: the betting tree.
        player: 0 or 1.
        others: float64[H], the weights of the other's hands.
        strategy: float32[rows, H], of both.
        best: whether the player answers with its best response, in place of its strategy; beyond a depth limit it only
            chooses the best way.
    """
    reach = np.zeros((2, len(tree.action), len(tree.hands)), np.float32)
    reach[1 - player, 0] = others
    out, below = (
        np.zeros(reach.shape[1:], np.float32),
        np.zeros(reach.shape[1:] if tree.limited else (0, 0), np.float32),
    )
    evaluate(tree.nodes, player, strategy, best, (reach, below), out)
    return np.asarray(out[0], np.float64)


class Progress(NamedTuple):
    """The arrays of a `Resolver`.

    Attributes:
        ranges: float64[2, H], the weights of both players' hands.
        promised: float64[H], what the other player may take at the root in place of playing on.
        follow: float64[3, H]: how likely it plays on; the regrets of playing on and of stopping.
        regrets, sums: float32[rows, H]; `sums` are of the weighed strategies.
        boards: int64[R], the order in which boards are visited.
        strategy, values: float32[N, H], overwritten.
        reach: float32[2, N, H], overwritten.
    """

    ranges: Floats
    promised: Floats
    follow: Floats
    regrets: Rows
    sums: Rows
    boards: Ints
    strategy: Rows
    values: Rows
    reach: Rows


class Resolver:
    """CFR+ on the end of a hand, in parts of any length.

    Args:
        tree: its betting tree.
        ranges: float64[2, H], the weights of both players' hands.
        me: whose strategy is wanted, 0 or 1.
        promised: float64[H], a value that the other player may take at the root with each of its hands, in place of
            playing on; None: it always plays on.
        start: float32[rows, H], a strategy to begin with; None: uniform.
        boards: how many boards an iteration visits.
    """

    def __init__(
        self,
        tree: Betting,
        ranges: Floats,
        me: int,
        promised: Floats | None = None,
        *,
        start: Rows | None = None,
        boards: int | None = None,
    ) -> None:
        count, hands = len(tree.action), len(tree.hands)
        self.tree, self.iterations, self._me, self._gadget = tree, 0, me, promised is not None
        each = (1 if tree.limited else BOARDS) if boards is None else boards
        self._each = min(each, len(tree.boards))
        follow = np.zeros((3, hands))
        follow[0] = 1.0
        self._progress = Progress(
            np.array(ranges, np.float64),
            np.zeros(hands) if promised is None else promised,
            follow,
            np.zeros((tree.rows, hands), np.float32),
            np.zeros((tree.rows, hands), np.float32),
            np.random.default_rng(0).permutation(len(tree.boards)),
            np.zeros((count, hands), np.float32),
            np.zeros((count, hands), np.float32),
            np.zeros((2, count, hands), np.float32),
        )
        if start is not None:
            scale = START * float(tree.tables[0].pot)
            begin(tree.nodes, start, scale, np.array(ranges, np.float64), self._progress.reach, self._progress.regrets)

    def run(self, iterations: int) -> None:
        """Go on for so many iterations; each updates both players."""
        iterate(self.tree.nodes, self._progress, self._me, self._gadget, (self.iterations, iterations, self._each))
        self.iterations += iterations

    def average(self) -> Rows:
        """Return the average strategy: float32[rows, H]; uniform with hands that never come to a node."""
        return normalised(self.tree, self._progress.sums)


def uniform(tree: Betting) -> Rows:
    """Return the strategy that plays all actions with the same probability: float32[rows, H]."""
    return normalised(tree, np.zeros((tree.rows, len(tree.hands)), np.float32))


def normalised(tree: Betting, weights: Rows) -> Rows:
    """Return the strategy in proportion to weights from 0 up, float32[rows, H]; uniform where all are 0."""
    nodes, out = tree.nodes, np.ones_like(weights)
    normalise(nodes, 0, nodes.near, (0, 0), weights, out)
    for board in range(0 if tree.rows == nodes.near else len(tree.boards)):
        shift = tree.row(nodes.near, board) - nodes.near
        normalise(nodes, nodes.near, len(nodes.kind), (shift, shift), weights, out)
    return out


@partial(compiled, allocates=True, compile_first=True)
def normalise(nodes: Any, start: int, stop: int, shifts: Any, weights: Any, out: Any) -> None:
    """Write the strategy at some nodes that is proportional to weights from 0 up; uniform where all are 0.

    `shifts` are those of the rows of `weights` and `out`, float32[rows, H].
    """
    source, target = shifts
    total, size = np.empty(weights.shape[1], np.float32), weights.shape[1]
    for node in range(start, stop):
        if nodes.kind[node] >= SHOWDOWN:
            continue
        children = range(nodes.first[node], nodes.first[node] + nodes.count[node])
        total[:] = 0.0
        for child in children:
            for h in range(size):
                total[h] += weights[child + source, h]
        alone = np.float32(1.0) / np.float32(nodes.count[node])
        for child in children:
            for h in range(size):
                part = weights[child + source, h] / total[h] if total[h] > 0 else alone
                out[child + target, h] = part


@partial(compiled, compile_first=True)
def begin(nodes: Any, strategy: Any, scale: float, ranges: Any, reach: Any, regrets: Any) -> None:
    """Write regrets by which both players begin with a strategy; they grow with how often the other comes to a node."""
    near, count = nodes.near, len(nodes.kind)
    for one in range(2):
        for h in range(regrets.shape[1]):
            reach[one, 0, h] = ranges[one, h]
        reaches(nodes, 0, near, 0, one, strategy, reach[one])
    for board in range(-1, len(nodes.order) if len(nodes.chances) == 0 else 0):
        start, stop, shift = (0, near, 0) if board < 0 else (near, count, board * (count - near))
        if board >= 0:
            deal(nodes, board, reach)
            for one in range(2):
                reaches(nodes, near, count, shift, one, strategy, reach[one])
        for node in range(start, stop):
            if nodes.kind[node] < SHOWDOWN:
                weight = scale * reach[1 - nodes.kind[node], node].sum()
                for child in range(nodes.first[node], nodes.first[node] + nodes.count[node]):
                    for h in range(regrets.shape[1]):
                        regrets[child + shift, h] = weight * strategy[child + shift, h]


@partial(compiled, allocates=True, compile_first=True)
def iterate(nodes: Any, progress: Any, me: int, gadget: bool, steps: Any) -> None:
    """Do iterations of CFR+; `steps`: how many were done, how many to do, and boards of each. See `Resolver`."""
    done, more, each = steps
    near, count, size = nodes.near, len(nodes.kind), len(nodes.order)
    strategy, won, reach = progress.strategy, progress.values, progress.reach
    share = nodes.scale * size / each
    for t in range(done + 1, done + more + 1):
        for player in range(2):
            for h in range(won.shape[1]):
                reach[me, 0, h] = progress.ranges[me, h]
                reach[1 - me, 0, h] = progress.ranges[1 - me, h] * progress.follow[0, h]
            normalise(nodes, 0, near, (0, 0), progress.regrets, strategy)
            for one in range(2):
                reaches(nodes, 0, near, 0, one, strategy, reach[one])
            clear(nodes, won)
            for k in range(each):
                board = progress.boards[((t - 1) * each + k) % size]
                if len(nodes.chances) > 0:
                    play_on(nodes, board, share, player, reach, strategy, won)
                else:
                    shift = board * (count - near)
                    deal(nodes, board, reach)
                    normalise(nodes, near, count, (shift, 0), progress.regrets, strategy)
                    for one in range(2):
                        reaches(nodes, near, count, 0, one, strategy, reach[one])
                    values(nodes, (near, count, 0, board), player, reach[1 - player], strategy, False, won)
                    update(nodes, (near, count, shift), player, t, reach[player], progress)
                add_board(nodes, board, share, reach[1 - player], won)
            values(nodes, (0, near, 0, -1), player, reach[1 - player], strategy, False, won)
            update(nodes, (0, near, 0), player, t, reach[player], progress)
            if gadget and player != me:
                choose_to_follow(won[0], progress.promised, progress.follow)


@compiled
def update(nodes: Any, span: Any, player: int, weight: int, mine: Any, progress: Any) -> None:
    """Update regrets and sums of strategies at a player's nodes: those from the first to before the second number."""
    start, stop, shift = span
    regrets, sums, won = progress.regrets, progress.sums, progress.values
    for node in range(start, stop):
        if nodes.kind[node] == player:
            for child in range(nodes.first[node], nodes.first[node] + nodes.count[node]):
                for h in range(won.shape[1]):
                    regret = regrets[child + shift, h] + won[child, h] - won[node, h]
                    regrets[child + shift, h] = regret if regret > 0 else np.float32(0.0)
                    sums[child + shift, h] += np.float32(weight) * mine[child, h]


@compiled
def choose_to_follow(won: Any, promised: Any, follow: Any) -> None:
    """Update how likely the other player plays on with each hand, in place of taking what was promised."""
    for h in range(len(won)):
        value = follow[0, h] * won[h] + (1.0 - follow[0, h]) * promised[h]
        follow[1, h] = max(0.0, follow[1, h] + won[h] - value)
        follow[2, h] = max(0.0, follow[2, h] + promised[h] - value)
        total = follow[1, h] + follow[2, h]
        follow[0, h] = follow[1, h] / total if total > 0 else 0.5
