"""`parlour solve`: an equilibrium of a small game, and a policy that plays it."""

import json
import shlex
from pathlib import Path
from typing import Annotated

import tyro
from rich.table import Table

from ...envs import game as make_game
from ...wrappers.policies.tabular import TabularPolicy
from ...wrappers.policies.trained_for import TrainedFor, command_line, unshared
from ..algorithms.tabular import METHODS, Solution, solve
from ..evaluation.exact import Tree, flat_tree
from ..terminal.console import Console
from .arguments import AsJson, GameArguments
from .lookup import game_with

Method = Annotated[str, tyro.conf.arg(help=f"The algorithm: {', '.join(METHODS)}.")]


def command(
    *,
    chosen: GameArguments,
    method: Method = "pcfr+",
    target: float = 1e-6,
    iterations: int = 10_000_000,
    seconds: float = 60.0,
    out: Path | None = None,
    as_json: AsJson = False,
) -> None:
    """Solve a game whose random events can be enumerated, such as leduc or a small game in phases.

    Iterations end when NashConv, the sum of what the seats can still win by a best response, is below the target. Only
    with two seats whose rewards sum to zero is it sure to fall so far.

    Args:
        target: NashConv to reach, in the unit of the rewards.
        iterations: Iterations at most; each updates all seats.
        seconds: Seconds at most, about.
        out: File for the policy. Default: the game's name with .npz.
    """
    if out is not None and out.suffix != ".npz":
        raise ValueError(f"out={str(out)!r}: a policy file ends in .npz")
    game = game_with(chosen.game, chosen.options)
    tree = flat_tree(game)
    solution = solve(tree, method, target=target, iterations=iterations, seconds=seconds)
    file = Path(f"{game.name}.npz") if out is None else out
    file.parent.mkdir(parents=True, exist_ok=True)
    trained_for = TrainedFor.of(game, tree.encoder)
    TabularPolicy(tree.observations, tree.probabilities(solution.strategy), trained_for).save(file)
    if as_json:
        facts = {
            "game": game.id,
            "options": dict(game.options),
            "method": method,
            "value": float(solution.values[0]),
            "values": solution.values.tolist(),
            "nash_conv": solution.nash_conv,
            "iterations": solution.iterations,
            "seconds": solution.seconds,
            "nodes": tree.nodes,
            "information_sets": len(tree.seat),
            "policy": str(file),
        }
        print(json.dumps(facts, indent=2))
        return
    Console().print(_report(tree, solution, method))
    options = command_line(unshared(game, make_game(game.name)))
    words = f"parlour play {game.name} --agents {shlex.quote(str(file))} random {options}"
    print(f"the policy is in {file}: {words.rstrip()}")


def _report(tree: Tree, solution: Solution, method: str) -> Table:
    report = Table(title=f"{tree.game.id}, solved by {method}", show_header=False)
    values = solution.values[: 1 if tree.game.payoffs.zero_sum and tree.game.seats == 2 else None]
    for agent, value in zip(tree.game.agents, values, strict=False):
        report.add_row(f"value for {agent}", f"{value:+.6f} {tree.game.payoffs.unit_name}")
    report.add_row("NashConv", f"{solution.nash_conv:.3g}")
    report.add_row("iterations", f"{solution.iterations:,}")
    report.add_row(
        "seconds", f"{solution.seconds:.2f} ({solution.iterations / solution.seconds:,.0f} iterations a second)"
    )
    report.add_row("nodes, information sets", f"{tree.nodes:,}, {len(tree.seat):,}")
    return report
