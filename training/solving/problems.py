"""Solving from samples: until time, iterations or a target are reached, with checkpoints; Ctrl-C saves.

A sampled best response is the same against a frozen policy.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from ...envs.core.game import Game
from ...wrappers.policies.base import MOST_NUMBERS, TabularPolicy, TrainedFor, read_arrays, write_arrays
from ...wrappers.policies.solved import SolvedPolicy, can_be_solved
from ..evaluation.duplicate import Score
from ..evaluation.exact import flat_tree, nash_conv
from ..evaluation.exploit import Win
from ..parallel.tasks import held_back
from . import holdem_tree
from .sampled import SAMPLING, ListedDeals, SampledSolver, Sampling

PART = 0.5
"""Seconds between two reports of progress, and checks for Ctrl-C."""
SAVE_EVERY = 300.0
"""Seconds between two checkpoints."""


class SmallProblem:
    """A small game with the capabilities `Chance` and `PrivateHands`, whose NashConv is exact: one tree to solve.

    Args:
        game: the game.
        weights, sampling: see `SampledSolver`.

    Raises:
        ValueError: as `ListedDeals` does.
    """

    def __init__(self, game: Game, weights: str = "linear", sampling: Sampling = SAMPLING) -> None:
        self._listed, self._tree, self._game = ListedDeals(game), flat_tree(game), game
        self.solvers = [SampledSolver(self._listed.deals, weights, sampling)]

    def policy(self) -> TabularPolicy:
        """Return the average strategy as a table."""
        listed = self._listed
        table = listed.table(self.solvers[0].strategies)
        return TabularPolicy(listed.observations, table, TrainedFor.of(self._game))

    def nash_conv(self) -> float:
        """Return NashConv of the average strategy."""
        return nash_conv(self._tree, self._tree.strategy_of(self.policy()))


class AbstractedProblem:
    """Heads-up hold'em: a tree for each seat, first small ones.

    Args:
        game: the game.
        weights, sampling: see `SampledSolver`. The trees share the threads.
        small: whether the trees are the small ones.

    Raises:
        ValueError: for another game, or options that it does not take.
    """

    def __init__(self, game: Game, weights: str = "linear", sampling: Sampling = SAMPLING, small: bool = False) -> None:
        if not can_be_solved(game):
            raise ValueError(f"{game.id} with these options has no abstraction: it cannot be solved from samples")
        self._game, deals = game, holdem_tree.deals(game, small)
        self.solvers = []
        for seat, each in enumerate(deals):
            threads = max(1, (sampling.threads + seat) // len(deals))
            self.solvers.append(
                SampledSolver(each, weights, replace(sampling, seed=2 * sampling.seed + seat, threads=threads))
            )

    def policy(self) -> SolvedPolicy:
        """Return the average strategy of each seat in its tree."""
        solved = [(solver.deals, solver.strategies) for solver in self.solvers]
        return SolvedPolicy(holdem_tree.packed(self._game, solved), TrainedFor.of(self._game, "v0"))

    def nash_conv(self) -> None:
        """Return None: the game is too large."""
        return None


Problem = SmallProblem | AbstractedProblem


@dataclass(frozen=True)
class Progress:
    """The state of a solution.

    Attributes:
        iterations: how many there were.
        seconds: since the beginning, or since it was taken up again.
        rate: iterations a second, of all solvers together.
        bound: see `SampledSolver.bound`; the mean of all solvers.
        nash_conv: of the average strategy; None: not measured here.
        stopped: whether Ctrl-C ended it.
    """

    iterations: int
    seconds: float
    rate: float
    bound: float
    nash_conv: float | None = None
    stopped: bool = False


def solve_from_samples(
    problem: Problem,
    *,
    seconds: float,
    iterations: int,
    threads: int = 1,
    target: float = 0.0,
    tell: Callable[[Progress], None] = lambda progress: None,
    save: Callable[[], None] = lambda: None,
) -> Progress:
    """Iterate until time, iterations or the target are reached, or Ctrl-C. `save` is called at the end in any case.

    Args:
        problem: what is solved; its solvers go on from where they are.
        seconds: at most, about.
        iterations: at most, of each solver in all.
        threads: how many solvers run at the same time.
        target: of NashConv, where it is known.
        tell: called about twice a second, and where NashConv is measured: whenever iterations have doubled.
        save: writes a checkpoint; also called every `SAVE_EVERY` seconds.
    """
    first = problem.solvers[0]
    for solver in problem.solvers:
        solver.run(0)  # compiled before the clock starts
    begun = saved = perf_counter()
    before, some, measure_at = first.iterations, 64, 4 * max(256, first.iterations)
    stopped = False
    pool = ThreadPoolExecutor(threads)
    try:
        while first.iterations < iterations and perf_counter() - begun < seconds:
            with held_back():  # all solvers have as many iterations
                batch = min(some, iterations - first.iterations)
                list(pool.map(SampledSolver.run, problem.solvers, [batch] * len(problem.solvers)))
            progress = _progress(problem, before, begun)
            some = max(threads, min(4 * some, int(progress.rate * PART / len(problem.solvers))))
            if first.iterations >= measure_at:
                progress = replace(progress, nash_conv=problem.nash_conv())
                measure_at = 2 * first.iterations
            tell(progress)
            if progress.nash_conv is not None and progress.nash_conv < target:
                break
            if perf_counter() - saved > SAVE_EVERY:
                save()
                saved = perf_counter()
    except KeyboardInterrupt:
        stopped = True  # what is reached is saved and returned
    finally:
        pool.shutdown()
        save()
    return replace(_progress(problem, before, begun), nash_conv=problem.nash_conv(), stopped=stopped)


def _progress(problem: Problem, before: int, begun: float) -> Progress:
    done, spent = problem.solvers[0].iterations, perf_counter() - begun
    rate = (done - before) * len(problem.solvers) / max(spent, 1e-9)
    return Progress(done, spent, rate, float(np.mean([solver.bound() for solver in problem.solvers])))


def write_checkpoint(problem: Problem, file: Path, about: str) -> None:
    """Write a checkpoint; a reader sees the old one or the new one.

    Args:
        problem: what is solved.
        file: where.
        about: the game and the settings; `read_checkpoint` compares it.
    """
    arrays: dict[str, Any] = {
        f"{name}_{k}": each for k, solver in enumerate(problem.solvers) for name, each in solver.state().items()
    }
    write_arrays(file, {"about": np.array(about), **arrays}, compress=False)


def read_checkpoint(problem: Problem, file: Path, about: str) -> None:
    """Go on from a checkpoint.

    Raises:
        ValueError: if it is none, or of another game or other settings.
    """
    own = sum(each.nbytes for solver in problem.solvers for each in solver.state().values()) // 4
    arrays = read_arrays(file, MOST_NUMBERS + own)  # what was written can be read
    if str(arrays.get("about")) != about:
        raise ValueError(f"{file} is no checkpoint of this game with these settings")
    for k, solver in enumerate(problem.solvers):
        solver.set_state({name: arrays[f"{name}_{k}"] for name in solver.state() if f"{name}_{k}" in arrays})


RESPONSE_PART = 1_000
"""Iterations between two looks at the clock."""


def sampled_response(
    policy: SolvedPolicy,
    game: Game,
    *,
    buckets: tuple[int, ...] = (),
    seconds: float = 60.0,
    iterations: int = 1 << 62,
    deals: int = 10_000,
    seed: int = 0,
) -> Win:
    """Solve the answer to each seat of a policy, and return what its greedy strategy wins in new deals.

    The responder has the actions of the policy's own tree. So it wins nothing by sizes that are not in the tree; and
    it knows hands by its buckets alone. What it wins is a lower bound on what a best response wins.

    Args:
        policy: the policy.
        game: the game for which it was solved.
        buckets: the sizes of the responder's abstraction; empty: the policy's own.
        seconds: time to solve, about; half for each seat.
        iterations: at most, for each seat.
        deals: new deals, each a board with many hands, for each seat; a tenth as many for each point of the curve.
        seed: of all draws.

    Raises:
        ValueError: if the policy was solved for another game, or for buckets that do not fit.
    """
    solved_for = policy.trained_for.make_game() if policy.trained_for is not None else None
    if solved_for is None or (solved_for.id, solved_for.options) != (game.id, game.options):
        raise ValueError("sampled best response: the policy was solved for another game or other options")
    values, curves, spent, done = [], list[dict[int, float]](), 0.0, 0
    for seat, (where, strategy) in enumerate(holdem_tree.response(game, policy, buckets)):
        solver = SampledSolver(where, sampling=Sampling(seed=2 * seed + seat, explore=0.0), seats=(1 - seat,))
        for node in np.flatnonzero(solver.nodes.kind == seat).tolist():
            solver.fix(node, strategy(node))
        solver.run(0)
        solver.greedy_values(1 - seat, 0)  # compiled before the clock starts
        begun, curve = perf_counter(), dict[int, float]()
        while solver.iterations < iterations and perf_counter() - begun < seconds / 2:
            solver.run(min(RESPONSE_PART, iterations - solver.iterations))
            if solver.iterations == RESPONSE_PART * 4 ** len(curve):
                curve[solver.iterations] = float(solver.greedy_values(1 - seat, deals // 10 + 2).mean())
        spent, done = spent + perf_counter() - begun, done + solver.iterations
        values.append(solver.greedy_values(1 - seat, deals))
        curves.append(curve)
    points = [(point, float(np.mean([curve[point] for curve in curves]))) for point in curves[0] if point in curves[1]]
    score = Score.of(np.mean(values, axis=0), f"{game.payoffs.unit_name} per hand", 2 * deals)
    abstraction = "/".join(map(str, buckets)) or "the policy's"
    name = f"sampled best response, {abstraction} buckets, {done:,} iterations in {spent:,.0f} s"
    return Win(name, "sampled", score, curve=points)
