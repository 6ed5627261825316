"""`parlour solve`: an equilibrium of a small game, and a policy that plays it."""

import json
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from ...envs.core.game import Game
from ...envs.core.options import named
from ...wrappers.policies.base import TabularPolicy, TrainedFor
from ...wrappers.policies.buckets import DIGEST
from ...wrappers.policies.solved import can_be_solved
from ..evaluation.exact import flat_tree
from ..solving import problems
from ..solving.sampled import SAMPLING, WEIGHTS, Sampling, grow
from ..solving.tabular import METHODS, solve
from ..terminal.console import EVERY, STDERR, table_of
from .arguments import AsJson, GameArguments, ReportArguments
from .lookup import game_with, next_command

START, START_ITERATIONS = 0.2, 200_000
"""The share of the time for the small tree, which is solved first, and its most iterations."""
SAMPLED = {f"sampled-{name}": name for name in WEIGHTS}
"""The methods from samples, with their weights."""
Method = Annotated[
    str | None, Parameter(help=f"The algorithm: {', '.join(METHODS)}; or from samples {', '.join(SAMPLED)}.")
]


def command(
    chosen: GameArguments,
    *,
    method: Method = None,
    target: float = 1e-6,
    iterations: int = 10_000_000,
    seconds: float = 60.0,
    minutes: float | None = None,
    sampling: Sampling = SAMPLING,
    checkpoint: Path | None = None,
    out: Path | None = None,
    as_json: AsJson = False,
) -> None:
    """Solve a game whose random events can be enumerated, such as leduc or a small game in phases; or from samples.

    Iterations end when NashConv, the sum of what the seats can still win by a best response, is below the target. Only
    with two seats whose rewards sum to zero is it sure to fall so far.

    Args:
        target: NashConv to reach, in the unit of the rewards.
        iterations: Iterations at most; each updates all seats.
        seconds: Seconds at most, about.
        minutes: Minutes at most, in place of seconds.
        checkpoint: File to go on from, if it is there, and to write every five minutes and at the end (from samples).
        out: File for the policy. Default: the game's name with .npz.
    """
    if out is not None and out.suffix != ".npz":
        raise ValueError(f"out={str(out)!r}: a policy file ends in .npz")
    game = game_with(chosen.game, chosen.options)
    if method is None:
        sampled = game.capabilities.chance is None and can_be_solved(game)
        method = "sampled-linear" if sampled else "pcfr+"
    named("method", method, [*METHODS, *SAMPLED])
    settings = {**asdict(replace(sampling, seed=SAMPLING.seed)), "checkpoint": checkpoint}  # a seed changes nothing
    given = [f"{name}={value}" for name, value in settings.items() if value != getattr(SAMPLING, name, None)]
    if method not in SAMPLED and given:
        raise ValueError(f"{', '.join(given)}: only methods from samples take it ({', '.join(SAMPLED)}), not {method}")
    seconds = seconds if minutes is None else 60 * minutes
    file = Path(f"{game.name}.npz") if out is None else out
    file.parent.mkdir(parents=True, exist_ok=True)
    facts: dict[str, Any] = {"game": game.id, "options": dict(game.options), "method": method, "policy": str(file)}
    report = ReportArguments(as_json=as_json)
    if method in SAMPLED:
        reached, problem = _solve_from_samples(game, method, sampling, checkpoint, target, iterations, seconds)
        problem.policy().save(file)
        facts |= {
            "nash_conv": reached.nash_conv,
            "regret_bound": reached.bound,
            "iterations": reached.iterations,
            "seconds": reached.seconds,
            "iterations_per_second": reached.rate,
            "public_nodes": [len(solver.deals.tree.kind) for solver in problem.solvers],
        }
        report.show(facts, f"{game.id}, {method}: {_line(reached)}; the policy is in {file}")
        return
    tree = flat_tree(game)
    solution = solve(tree, method, target=target, iterations=iterations, seconds=seconds)
    trained_for = TrainedFor.of(game, tree.encoder)
    TabularPolicy(tree.observations, tree.probabilities(solution.strategy), trained_for).save(file)
    facts |= {
        "value": float(solution.values[0]),
        "values": solution.values.tolist(),
        "nash_conv": solution.nash_conv,
        "iterations": solution.iterations,
        "seconds": solution.seconds,
        "nodes": tree.nodes,
        "information_sets": len(tree.seat),
    }
    values = solution.values[: 1 if game.payoffs.zero_sum and game.seats == 2 else None]
    by_agent, unit = zip(game.agents, values, strict=False), game.payoffs.unit_name
    rows = [(f"value for {one}", f"{each:+.6f} {unit}") for one, each in by_agent]
    rates = f"{solution.iterations / solution.seconds:,.0f} iterations a second"
    rows += [
        ("NashConv", f"{solution.nash_conv:.3g}"),
        ("iterations", f"{solution.iterations:,}"),
        ("seconds", f"{solution.seconds:.2f} ({rates})"),
        ("nodes, information sets", f"{tree.nodes:,}, {len(tree.seat):,}"),
    ]
    table = table_of(["", ""], rows, f"{game.id}, solved by {method}", texts=2)
    again = next_command(game, "play", "GAME", "--agents", str(file), *["random"] * (game.seats - 1))
    report.show(facts, table, f"the policy is in {file}: {again}")


def _solve_from_samples(
    game: Game, method: str, sampling: Sampling, checkpoint: Path | None, target: float, iterations: int, seconds: float
) -> tuple[problems.Progress, problems.Problem]:
    """Return the progress within the limits, and the problem; a checkpoint is read and written."""
    weights, abstracted = SAMPLED[method], can_be_solved(game)
    rule = [method, sampling.explore, sampling.prune, *([DIGEST] if abstracted else [])]
    about = json.dumps([game.id, dict(game.options), *rule], default=str)
    if abstracted:
        text = "preparing the trees; the first time also the tables of the abstraction, which takes minutes"
        with STDERR.status(text):
            if not STDERR.is_terminal:
                STDERR.print(text, soft_wrap=True)
            problem: problems.Problem = problems.AbstractedProblem(game, weights, sampling)
    else:
        problem = problems.SmallProblem(game, weights, sampling)
    if checkpoint is not None and checkpoint.exists():
        problems.read_checkpoint(problem, checkpoint, about)
    elif abstracted:
        start = problems.AbstractedProblem(game, weights, sampling, small=True)
        limits = {"seconds": seconds * START, "iterations": min(START_ITERATIONS, iterations), "target": target}
        reached = _reach(start, sampling.threads, **limits)
        for small, large in zip(start.solvers, problem.solvers, strict=True):
            grow(small, large)
        seconds = 0.0 if reached.stopped else seconds - reached.seconds
    limits = {"seconds": seconds, "iterations": iterations, "target": target}
    saving = {} if checkpoint is None else {"save": partial(problems.write_checkpoint, problem, checkpoint, about)}
    return _reach(problem, sampling.threads, **limits, **saving), problem


def _reach(problem: problems.Problem, threads: int, **limits: Any) -> problems.Progress:
    """Iterate (see `solve_from_samples`), and show how far it is."""
    with STDERR.status("") as line:
        printed = 0.0  # the time of the last line where stderr is no terminal

        def tell(progress: problems.Progress) -> None:
            nonlocal printed
            line.update(_line(progress))
            due = not STDERR.is_terminal and progress.seconds - printed >= EVERY
            if progress.nash_conv is not None or due:
                printed = progress.seconds
                STDERR.print(_line(progress), soft_wrap=True)

        return problems.solve_from_samples(problem, threads=threads, tell=tell, **limits)


def _line(progress: problems.Progress) -> str:
    nash = "" if progress.nash_conv is None else f", NashConv {progress.nash_conv:.4g}"
    return f"{progress.iterations:,} iterations, {progress.rate:,.0f} a second, regret bound {progress.bound:.4g}{nash}"
