"""Solvers: iterations per second beside OpenSpiel's and a bare sketch, and two threads beside one."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
from numba import njit
from parlour.envs import game
from parlour.training.evaluation.exact import flat_tree
from parlour.training.solving.holdem_tree import deals
from parlour.training.solving.sampled import ListedDeals, SampledSolver
from parlour.training.solving.tabular import TabularSolver

from .base import Row, Seconds
from .peers import Ours, Peer, beside

SOME = 200
"""Iterations of a call."""


def _some(iterate: Callable[[int], object]) -> Callable[[], int]:
    """Return what does some iterations, and returns how many."""

    def run() -> int:
        iterate(SOME)
        return SOME

    return run


def sampled(name: str) -> Callable[[], int]:
    """Return what does some iterations from samples; each updates all hands of both seats."""
    return _some(SampledSolver(ListedDeals(game(name)).deals).run)


def exact(name: str) -> Callable[[], int]:
    """Return what does some iterations of CFR+ on the whole tree."""
    return _some(TabularSolver(flat_tree(game(name)), "cfr+").run)


def sketch() -> Callable[[], int]:
    """Return what does some iterations of external sampling in Kuhn, one pair of cards each, and nothing besides."""
    regrets, sums, random = np.zeros((4, 3, 2)), np.zeros((4, 3, 2)), np.random.default_rng(0)
    return _some(lambda count: _sketch(count, regrets, sums, random))


@njit
def _bets(regrets: np.ndarray, node: int, card: int) -> float:
    check, bet = max(0.0, regrets[node, card, 0]), max(0.0, regrets[node, card, 1])
    return bet / (check + bet) if check + bet > 0 else 0.5


@njit
def _sketch(count: int, regrets: np.ndarray, sums: np.ndarray, random: np.random.Generator) -> None:
    """Nodes: 0 the first seat, 1 and 2 the second after a check and a bet, 3 the first after check and bet."""
    for _ in range(count):
        for seat in range(2):
            first = int(3 * random.random())
            second = (first + 1 + int(2 * random.random())) % 3
            sign = 1.0 if first > second else -1.0
            if seat == 0:  # the second seat's answers are drawn
                after_check = random.random() < _bets(regrets, 1, second)
                called = 2 * sign if random.random() < _bets(regrets, 2, second) else 1.0
                bets = _bets(regrets, 3, first)
                checked = bets * 2 * sign - (1 - bets) if after_check else sign
                if after_check:
                    regrets[3, first, 0] += -1.0 - checked
                    regrets[3, first, 1] += 2 * sign - checked
                bets = _bets(regrets, 0, first)
                value = bets * called + (1 - bets) * checked
                regrets[0, first, 0] += checked - value
                regrets[0, first, 1] += called - value
            else:
                bet = random.random() < _bets(regrets, 0, first)
                node = 2 if bet else 1
                if bet:
                    passive, active = -1.0, -2 * sign
                else:
                    passive = -sign
                    active = -2 * sign if random.random() < _bets(regrets, 3, first) else 1.0
                bets = _bets(regrets, node, second)
                value = bets * active + (1 - bets) * passive
                regrets[node, second, 0] += passive - value
                regrets[node, second, 1] += active - value
            for node in range(4):
                card = first if node in (0, 3) else second
                bets = _bets(regrets, node, card)
                sums[node, card, 0] += 1 - bets
                sums[node, card, 1] += bets


def _peer(solver: str, name: str, ours: Ours) -> Peer:
    what = {"mccfr": "external sampling", "cfrplus": "CFR+"}[solver]
    return Peer(
        "open_spiel", ("openspiel_solver", solver, f"{name}_poker"), f"OpenSpiel {what}, {name}", ours, "iterations/s"
    )


SOLVERS = (
    _peer("mccfr", "kuhn", {"Kuhn from samples, all hands": partial(sampled, "kuhn"), "a bare sketch": sketch}),
    _peer("mccfr", "leduc", {"Leduc from samples, all hands": partial(sampled, "leduc")}),
    _peer("cfrplus", "kuhn", {"Kuhn, CFR+": partial(exact, "kuhn")}),
    _peer("cfrplus", "leduc", {"Leduc, CFR+": partial(exact, "leduc")}),
)


def solvers(seconds: Seconds) -> list[Row]:
    """OpenSpiel's solvers in C++ in rounds in turn with ours, by processor time; hold'em by the clock on the wall."""
    return [*(row for peer in SOLVERS for row in beside(peer, seconds)), *two_threads(seconds)]


def two_threads(seconds: Seconds) -> list[Row]:
    """Both seats of hold'em, in the small trees, one after the other and at the same time."""
    pair = [SampledSolver(each) for each in deals(game("holdem", seats=2), small=True)]
    for solver in pair:
        solver.run(0)
    rounds: list[list[float]] = [[], []]
    with ThreadPoolExecutor(2) as pool:
        for _ in range(6):
            for k, all_of in enumerate((map, pool.map)):
                begun, done = time.perf_counter(), 0
                while (spent := time.perf_counter() - begun) < seconds:
                    list(all_of(lambda solver: solver.run(SOME), pair))
                    done += SOME
                rounds[k].append(done / spent)
    both = [two / one for one, two in zip(*rounds, strict=True)]
    note = "another program on the machine shows"
    return [
        Row.of("solve-holdem", "hold'em from samples, both seats, one thread", rounds[0], "iterations/s"),
        Row.of("solve-holdem-ratio", "— two threads beside one", both, "times", 1.8, note=note),
    ]
