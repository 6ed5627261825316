"""Evaluations during training: against fixed opponents, and exploitability where it can be computed."""

from collections.abc import Iterator
from contextlib import suppress

from ...envs import Game, Policy
from ...wrappers.policies.loading import make_policy
from ...wrappers.policies.mlp import MlpPolicy
from ..evaluation.duplicate import evaluate, unit_per_game
from ..evaluation.exact import Probable, flat_tree, nash_conv
from ..evaluation.games import best_response, compare
from ..learning.settings import TrainConfig

NODES = 200_000
"""NashConv is computed for games with at most this many nodes."""
BEST_RESPONSE = "best_response"
"""The name of the game's best response among the opponents."""
DEALS = 1_000
"""Deals per opponent. Each is played once with the policy in each seat."""
HANDS = 200
"""Number of hands of the best response."""
FEW = 200
"""Deals of `Evaluations.glance`."""


class Evaluations:
    """Evaluates the policy of a run, always on the same deals.

    Args:
        config: the setting ``evaluate_against``.
        game: the game with its options.

    Attributes:
        latest: the last results by name; empty before the first evaluation.
        glances: whether `glance` is of use: `run` is not, and seats win from each other.

    Raises:
        ValueError: for an unknown opponent, or if there is no best response for the game.
    """

    def __init__(self, config: TrainConfig, game: Game) -> None:
        self._config, self._game = config, game
        self.latest: dict[str, float] = {}
        self.glances = not config.evaluate_against and not game.payoffs.shared
        self._tree = None
        if not config.evaluate_against:
            return
        self._best_response = BEST_RESPONSE in config.evaluate_against
        self._opponents = [name for name in config.evaluate_against if name != BEST_RESPONSE]
        for name in self._opponents:
            make_policy(name, game, seed=0)
        if game.capabilities.chance is not None:
            try:
                self._tree = flat_tree(game, config.encoder, NODES)
            except ValueError:  # the tree is too large
                self._tree = None
        if self._best_response:
            best_response(make_policy("random", game, seed=0), game, hands=4)  # raises if there is no method

    def glance(self, policy: Policy) -> None:
        """Play a few deals against the game's first bot but `random`, for `note`.

        The mean reward in self-play does not say whether a policy learns: in games whose rewards sum to 0 it is 0.
        """
        self._same_draws(policy)
        name, rival = next(self._bots())
        self.latest = {f"eval/{name}": evaluate(policy, self._game, [rival], deals=FEW, seed=self._config.seed).mean}

    def _bots(self) -> Iterator[tuple[str, Policy]]:
        """Yield the bots that can play the game with its options, and at last `random`."""
        for name in [*(one for one in self._game.bots if one != "random"), "random"]:
            with suppress(ValueError):
                yield name, make_policy(name, self._game, seed=self._config.seed)

    def run(self, policy: Policy) -> dict[str, float]:
        """Evaluate a policy and return the results.

        Returns:
            ``eval/NAME``: its mean return per game against an opponent, in `Payoffs.unit`, and ``eval/NAME_interval``,
            half the width of the 95 % interval; ``eval/nash_conv`` in the same unit; ``eval/best_response``, a lower
            bound on exploitability, in thousandths of it. ``theory/NAME`` and ``theory/NAME_theory``: the numbers
            of the comparison with theory, as `parlour evaluate` prints them, and their values in theory, if any.
        """
        config, game = self._config, self._game
        results: dict[str, float] = {}
        for number, name in enumerate(self._opponents):
            self._same_draws(policy)
            rival = make_policy(name, game, seed=config.seed + number)
            score = evaluate(policy, game, [rival], deals=DEALS, seed=config.seed)
            results |= {f"eval/{name}": score.mean, f"eval/{name}_interval": (score.high - score.low) / 2}
        if self._tree is not None and isinstance(policy, Probable):  # a bot tells none
            strategy = self._tree.strategy_of(policy)
            results["eval/nash_conv"] = nash_conv(self._tree, strategy) / game.payoffs.unit
        if self._best_response:
            self._same_draws(policy)
            results["eval/best_response"] = 1_000 * best_response(policy, game, hands=HANDS).mean
        self._same_draws(policy)
        beside = compare(policy, game, matches=DEALS, seed=config.seed)
        for line in beside.lines if beside else ():
            both = {f"theory/{line.name}": line.learned, f"theory/{line.name}_theory": line.theory}
            results |= {name: value for name, value in both.items() if value is not None}
        self.latest = results
        return results

    def _same_draws(self, policy: Policy) -> None:
        if isinstance(policy, MlpPolicy):
            policy.stream = self._config.seed

    @property
    def note(self) -> str:
        """The last results for the progress line, with their unit; empty before the first evaluation."""
        shown = {
            name: value
            for name, value in self.latest.items()
            if name.startswith("eval/") and not name.endswith("_interval")
        }
        words = {"nash_conv": "NashConv", BEST_RESPONSE: "best response, thousandths:"}
        results = ((name.removeprefix("eval/"), value) for name, value in shown.items())
        text = ", ".join(f"{words.get(name, f'against {name}')} {value:+.2f}" for name, value in results)
        return f"{text} {unit_per_game(self._game)}" if text else ""
