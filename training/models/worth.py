"""What a strategy is worth that is measured from answers: NashConv, its interval, and where it loses most."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..evaluation.exact import (
    Floats,
    Ints,
    Tree,
    add_gains,
    best_response,
    nash_conv,
    realised,
    respond,
    seated,
    values,
)

DRAWS = 200
"""How often the samples are drawn again for an interval."""


class Loss(NamedTuple):
    """What a strategy loses at each information set.

    Attributes:
        lost: float64[I]: how often its seat gets there by the strategy, the others and chance, times what its action
            wins less there than the best one, each with a best response afterwards. The sum over the sets of a seat is
            what a best response wins more there, and the sum of all is NashConv.
        best: int64[I], the action index of a best response.
    """

    lost: Floats
    best: Ints


def losses(tree: Tree, strategy: Floats) -> Loss:
    """Return what a strategy, float64[Q], loses where all seats play by it."""
    plan, first = realised(strategy, tree.parent, tree.first), tree.first
    lost, best = np.zeros(len(tree.seat)), np.zeros(len(tree.seat), np.int64)
    for seat in range(tree.game.seats):
        gains = np.zeros(len(strategy))
        add_gains(tree.ends, tree.payoffs, plan, seat, gains)
        respond(seat, tree.seat, tree.parent, first, gains, strategy.copy())
        for number in np.flatnonzero(tree.seat == seat).tolist():
            mine = slice(first[number], first[number + 1])
            lost[number] = plan[tree.parent[number]] * (gains[mine].max() - strategy[mine] @ gains[mine])
            best[number] = tree.action[mine][gains[mine].argmax()]
    return Loss(lost, best)


def interval(
    tree: Tree, chances: Callable[[int | None], Floats], samples: NDArray[np.int64], seed: int
) -> tuple[float, float] | None:
    """Return the 95 % interval of NashConv; None if nothing was sampled twice.

    It is the bootstrap's: 1.96 standard deviations of NashConv over samples that are drawn again, from the shares of
    the samples and one more that is spread over all legal actions, because what was never seen may yet be played.
    NashConv of samples is too high on average, because a best response also uses their noise. So only the upper end is
    counted from there. The lower end is counted from what best responses to one half of the samples win against the
    other half, which on average is at most what is there to win.

    Args:
        tree: the game.
        chances: returns the shares of action indices, float64[I, A], of half 0 or 1 of the samples, or of all (None).
        samples: int64[I], numbers of samples; 0 or 1: the shares are what they are.
        seed: of the bootstrap.
    """
    rows = np.flatnonzero(samples > 1)
    if not len(rows):
        return None
    generator, shares = np.random.default_rng(seed), chances(None)
    drawn, counts, legal = [], samples[rows, None], tree.masks[rows]
    expected = (counts * shares[rows] + legal / legal.sum(axis=1, keepdims=True)) / (counts + 1)
    for _ in range(DRAWS):
        again = shares.copy()
        again[rows] = generator.multinomial(samples[rows], expected) / counts
        drawn.append(nash_conv(tree, tree.strategy(again)))
    off = 1.96 * float(np.std(drawn))
    halves = [tree.strategy(chances(half)) for half in (0, 1)]
    unseen = np.mean([_won(tree, halves[half], halves[1 - half]) for half in (0, 1)])
    return max(0.0, float(unseen) - off), nash_conv(tree, tree.strategy(shares)) + off


def _won(tree: Tree, seen: Floats, strategy: Floats) -> float:
    """Return what best responses to the strategy `seen` win more against another one: NashConv, if it is the same."""
    replies = [best_response(tree, seen, seat)[1] for seat in range(tree.game.seats)]
    won = [values(tree, seated(tree, seat, reply, strategy))[seat] for seat, reply in enumerate(replies)]
    return float(np.sum(won) - values(tree, strategy).sum())
