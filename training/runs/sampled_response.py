"""A sampled best response: the solver from samples against a frozen policy that it solved itself."""

from time import perf_counter

import numpy as np

from ...envs import Game
from ...wrappers.policies.solved import SolvedPolicy
from ..algorithms.sampled import SampledSolver, Sampling
from ..evaluation.exploit import Win
from ..evaluation.scores import Score

PART = 1_000
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
    abstracted = game.capabilities.abstracted
    solved_for = policy.trained_for.make_game() if policy.trained_for is not None else None
    if abstracted is None or solved_for is None or (solved_for.id, solved_for.options) != (game.id, game.options):
        raise ValueError("sampled best response: the policy was solved for another game or other options")
    values, curves, spent, done = [], list[dict[int, float]](), 0.0, 0
    for seat, (where, strategy) in enumerate(abstracted.response(game, policy.arrays, buckets)):
        solver = SampledSolver(where, sampling=Sampling(seed=2 * seed + seat, explore=0.0), seats=(1 - seat,))
        for node in np.flatnonzero(solver.nodes.kind == seat).tolist():
            solver.fix(node, strategy(node))
        solver.run(0)
        solver.greedy_values(1 - seat, 0)  # compiled before the clock starts
        begun, curve = perf_counter(), dict[int, float]()
        while solver.iterations < iterations and perf_counter() - begun < seconds / 2:
            solver.run(min(PART, iterations - solver.iterations))
            if solver.iterations == PART * 4 ** len(curve):
                curve[solver.iterations] = float(solver.greedy_values(1 - seat, deals // 10 + 2).mean())
        spent, done = spent + perf_counter() - begun, done + solver.iterations
        values.append(solver.greedy_values(1 - seat, deals))
        curves.append(curve)
    points = [(point, float(np.mean([curve[point] for curve in curves]))) for point in curves[0] if point in curves[1]]
    score = Score.of(np.mean(values, axis=0), f"{game.payoffs.unit_name} per hand", 2 * deals)
    abstraction = "/".join(map(str, buckets)) or "the policy's"
    name = f"sampled best response, {abstraction} buckets, {done:,} iterations in {spent:,.0f} s"
    return Win(name, "sampled", score, curve=points)
