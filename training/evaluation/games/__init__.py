"""Measures that belong to one game: one module per game, found by its name.

A module sets `MEASURES`. A game without measures of its own has no module here. Games whose code lies together in a
package of `parlour.envs`, such as `economics`, share the module with the package's name.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from ....envs import Game, play_until_done
from ....envs.core.record import Tables
from ....envs.core.registry import packages
from ....envs.core.rollout import Policy, tables_with_seed
from ...parallel.tasks import Tick, ignore
from ...terminal.console import table_of
from ..duplicate import Score

if TYPE_CHECKING:
    from ..exploit import Win

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Quantity:
    """A number that is compared.

    Attributes:
        name: its name in JSON.
        what: its description.
        learned: the policy's value in `unit`; None if there is no data.
        theory: the equilibrium's value on the same deals; None if there is none.
        unit: such as ``"%"``; empty: money.
    """

    name: str
    what: str
    learned: float | None
    theory: float | None = None
    unit: str = ""


@dataclass(frozen=True)
class Comparison:
    """The result of a comparison.

    Attributes:
        lines: the numbers.
    """

    lines: Sequence[Quantity]

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by name, for JSON."""
        return {line.name: {key: value for key, value in asdict(line).items() if key != "name"} for line in self.lines}

    def table(self, title: str) -> Table:
        """Return the numbers as a table."""
        rows = [
            [line.what, *("—" if each is None else f"{each:.2f} {line.unit}" for each in (line.learned, line.theory))]
            for line in self.lines
        ]
        return table_of(["", "learned", "theory"], rows, title)


def play(policy: Policy, game: Game, matches: int, seed: int) -> Tables:
    """Play `matches` with `policy` in all seats to the end and return the records, recarray of shape (matches,)."""
    tables = tables_with_seed(game, matches, seed)
    play_until_done(game, [policy], tables)
    return tables


def mean(values: NDArray[Any]) -> float | None:
    """Return the mean; None for an empty array."""
    return float(values.mean()) if len(values) else None


def gini(utilities: Floats) -> float | None:
    """Return the mean Gini coefficient of rows of utilities, float64[N, seats], whose sum is above 0."""
    rows = np.maximum(utilities, 0)
    rows = rows[rows.sum(axis=1) > 0]
    spread = np.abs(rows[:, :, None] - rows[:, None, :]).sum(axis=(1, 2))
    return mean(spread / (2 * rows.shape[1] * rows.sum(axis=1)))


class Fixed:
    """A policy that always plays one action index, or the nearest legal one."""

    encoder = "v0"

    def __init__(self, action: int) -> None:
        self._action = action

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return the action index for every row."""
        distance = np.abs(np.arange(masks.shape[1]) - self._action)
        return np.asarray(np.argmin(np.where(masks > 0, distance, masks.shape[1]), axis=1))


Compare = Callable[..., Comparison | None]
"""``compare(policy, game, matches=…, seed=…)`` plays matches with the policy in all seats.

None: no equilibrium is known for the game's options."""
BestResponse = Callable[..., "Win"]
"""``best_response(policy, game, hands=…, seed=…, progress=…)`` returns what an opponent wins that knows the policy.

It is per game, in `Payoffs.unit`. ValueError: for options of the game that are not supported, or too few hands."""


@dataclass(frozen=True, kw_only=True)
class HeldOut:
    """Held-out sets, which are not used in training.

    Attributes:
        sets: ``sets(game)`` returns the options of each set, by the set's name, for a game with its options.
        score: ``score(game, policy, games=…, seed=…, progress=…)`` plays at least `games` games of a set with the
            policy in all seats and returns its results by name: scores with intervals, or plain means.
    """

    sets: Callable[[Game], Mapping[str, Mapping[str, Any]]]
    score: Callable[..., dict[str, Score | float]]


@dataclass(frozen=True, kw_only=True)
class Measures:
    """The measures that belong to one game; each may be None.

    Attributes:
        compare: compares a policy with the known equilibrium.
        best_responses: compute lower bounds on a policy's exploitability, by the name of their setting; the last one
            is the usual one.
        held_out: sets that are not used in training.
    """

    compare: Compare | None = None
    best_responses: Mapping[str, BestResponse] = field(default_factory=dict)
    held_out: HeldOut | None = None


def measures(game: str) -> Measures:
    """Return the measures of a game, by its name (``"holdem"``)."""
    module = _modules().get(game)
    if module is None:
        return Measures()
    own: Measures = import_module(f".{module}", __name__).MEASURES
    return own


def games_with(part: str) -> list[str]:
    """Return the names of the games that have a part of `Measures`, such as ``"held_out"``."""
    return [game for game in _modules() if getattr(measures(game), part)]


def _modules() -> dict[str, str]:
    """Return the name of the module of each game that has one."""
    here = {module.name for module in iter_modules(__path__)}
    return {game: package for game, package in packages().items() if package in here}


def best_response(policy: Policy, game: Game, *, hands: int = 1_000, seed: int = 0, progress: Tick = ignore) -> Score:
    """Play a best response against `policy` and return what it wins: at most, or exactly, the policy's exploitability.

    Of several settings of the method, the last one is played.

    Args:
        policy: the policy to exploit.
        game: a game with a method for it, with its options.
        hands: number of hands (episodes).
        seed: seed of the deals and of the method.
        progress: called with the number of hands just played.

    Returns:
        What the responder wins from the policy, in the game's unit, with its 95 % interval (see `exploit`).

    Raises:
        ValueError: if there is no method for the game or its options, or there are too few hands.
    """
    methods = measures(game.name).best_responses
    if not methods:
        names = ", ".join(games_with("best_responses"))
        raise ValueError(f"there is no best response for {game.id}; there is one for {names}")
    return methods[list(methods)[-1]](policy, game, hands=hands, seed=seed, progress=progress).score


def compare(policy: Policy, game: Game, *, matches: int = 20_000, seed: int = 0) -> Comparison | None:
    """Play matches with `policy` in all seats and compare them with the known equilibrium of `game`.

    Args:
        policy: the policy to compare.
        game: the game with its options.
        matches: number of matches, at least 1.
        seed: seed of the deals. The policy draws from its own stream.

    Returns:
        The comparison; None for a game, or options of it, without a known equilibrium.
    """
    method = measures(game.name).compare
    return None if method is None else method(policy, game, matches=matches, seed=seed)
