"""Solving from samples: until time, iterations or a target are reached, with checkpoints; Ctrl-C saves."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol

import numpy as np

from ...envs.core.game import Game
from ...envs.core.public_tree import Deals, ListedDeals
from ...wrappers.policies.npz_files import read_arrays
from ...wrappers.policies.tabular import TabularPolicy
from ...wrappers.policies.trained_for import TrainedFor
from ..algorithms.sampled import SampledSolver
from ..evaluation.exact import flat_tree, nash_conv
from .signals import held_back

PART = 0.5
"""Seconds of a part, after which progress is told and Ctrl-C is heard."""


class Problem(Protocol):
    """What is solved: deals, and the policy of a strategy."""

    deals: Deals

    def policy(self, solver: SampledSolver) -> Any:
        """Return the average strategy as a policy, which has `save`."""
        ...

    def nash_conv(self, solver: SampledSolver) -> float | None:
        """Return NashConv of the average strategy; None: it cannot be computed."""
        ...


class SmallProblem:
    """A small game with the capabilities `Chance` and `PrivateHands`, whose NashConv is exact.

    Raises:
        ValueError: as `ListedDeals` does.
    """

    def __init__(self, game: Game) -> None:
        self._listed, self._tree, self._game = ListedDeals(game), flat_tree(game), game
        self.deals = self._listed.deals

    def policy(self, solver: SampledSolver) -> TabularPolicy:
        """Return the average strategy as a table."""
        listed = self._listed
        return TabularPolicy(listed.observations, listed.table(solver.strategy), TrainedFor.of(self._game))

    def nash_conv(self, solver: SampledSolver) -> float:
        """Return NashConv of the average strategy."""
        return nash_conv(self._tree, self._tree.strategy_of(self.policy(solver)))


@dataclass(frozen=True)
class Progress:
    """How far a solution is.

    Attributes:
        iterations: how many there were.
        seconds: since the beginning, or since it was taken up again.
        bound: see `SampledSolver.bound`.
        nash_conv: of the average strategy; None: not measured here.
    """

    iterations: int
    seconds: float
    bound: float
    nash_conv: float | None = None


def solve_from_samples(
    problem: Problem,
    solver: SampledSolver,
    *,
    seconds: float,
    iterations: int,
    target: float = 0.0,
    tell: Callable[[Progress], None] = lambda progress: None,
    save: Callable[[], None] = lambda: None,
    save_every: float = 300.0,
) -> Progress:
    """Iterate until time, iterations or the target are reached, or Ctrl-C. `save` is called at the end in any case.

    Args:
        problem: what is solved.
        solver: its solver; it goes on from where it is.
        seconds: at most, about.
        iterations: at most, in all.
        target: of NashConv, where it is known.
        tell: called about twice a second, and where NashConv is measured: whenever iterations have doubled.
        save: writes a checkpoint.
        save_every: seconds between two of them.
    """
    solver.run(0)  # compiled before the clock starts
    begun = saved = perf_counter()
    before, some, measure_at = solver.iterations, 64, 4 * max(256, solver.iterations)
    progress = Progress(solver.iterations, 0.0, np.inf)
    try:
        while solver.iterations < iterations and perf_counter() - begun < seconds:
            with held_back():  # an iteration is whole
                solver.run(min(some, iterations - solver.iterations))
            spent = perf_counter() - begun
            some = max(1, min(4 * some, int((solver.iterations - before) / max(spent, 1e-9) * PART)))
            reached = None
            if solver.iterations >= measure_at:
                reached, measure_at = problem.nash_conv(solver), 2 * solver.iterations
            progress = Progress(solver.iterations, spent, solver.bound(), reached)
            tell(progress)
            if reached is not None and reached < target:
                break
            if perf_counter() - saved > save_every:
                save()
                saved = perf_counter()
    except KeyboardInterrupt:
        pass  # what is reached is saved and returned
    finally:
        save()
    return Progress(solver.iterations, perf_counter() - begun, solver.bound(), problem.nash_conv(solver))


def write_checkpoint(solver: SampledSolver, file: Path, about: str) -> None:
    """Write a checkpoint; a reader sees the old one or the new one.

    Args:
        solver: what is saved.
        file: where.
        about: the game and the settings; `read_checkpoint` compares it.
    """
    part = file.with_name(file.name + ".part")
    with open(part, "wb") as stream:
        np.savez(stream, about=np.array(about), **solver.state())
    part.replace(file)


def read_checkpoint(solver: SampledSolver, file: Path, about: str) -> None:
    """Go on from a checkpoint.

    Raises:
        ValueError: if it is none, or of another game or other settings.
    """
    state: Mapping[str, Any] = read_arrays(file)
    if str(state.get("about")) != about:
        raise ValueError(f"{file} is no checkpoint of this game with these settings")
    solver.set_state({name: each for name, each in state.items() if name != "about"})
