"""Measures that belong to one game: one module per game, found by its name.

A module sets `MEASURES`. A game without measures of its own has no module here. Games whose code lies together in a
package of `parlour.envs`, such as `economics`, share the module with the package's name.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from ....envs import Game
from ....envs.core.registry import packages
from ....envs.core.rollout import Policy
from ..comparison import Comparison
from ..duplicate import Score

if TYPE_CHECKING:
    from ..exploit import Win

Progress = Callable[[int], None]
"""Called with the number of games just played."""


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


def best_response(
    policy: Policy, game: Game, *, hands: int = 1_000, seed: int = 0, progress: Callable[[int], None] | None = None
) -> Score:
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


MATCHES = 20_000
"""Number of matches of a comparison."""


def compare(policy: Policy, game: Game, *, matches: int = MATCHES, seed: int = 0) -> Comparison | None:
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
