"""Measures: how the policies of one game are measured, beside what is measured in every game."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from ....envs import Game
from ....envs.core.rollout import Policy
from ..comparison import Comparison
from ..scores import Response, Score

Progress = Callable[[int], None]
"""Called with the number of games just played."""


class Compare(Protocol):
    """Compares a policy with the known equilibrium of its game."""

    def __call__(self, policy: Policy, game: Game, *, matches: int, seed: int) -> Comparison | None:
        """Play `matches` with `policy` in all seats. None: no equilibrium is known for the game's options."""
        ...


class BestResponse(Protocol):
    """Computes a lower bound on the exploitability of a policy."""

    def __call__(
        self, policy: Policy, game: Game, *, hands: int, seed: int, progress: Progress | None = None
    ) -> Response:
        """Return the winnings of an opponent that knows the policy, per game in `Payoffs.unit`.

        Raises:
            ValueError: for options of the game that are not supported, or too few hands.
        """
        ...


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
