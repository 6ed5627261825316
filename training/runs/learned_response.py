"""A learned best response: a fresh learner that plays against a frozen policy."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from ...envs import Game
from ...envs.core.rollout import Policy, encoder_of
from ...wrappers.policies.mlp import MlpPolicy
from ...wrappers.rl.opponents import Pool
from ..algorithms import find
from ..learning.league import HasPolicy, League
from ..learning.learner import Learner
from ..learning.settings import ALGORITHM, TrainConfig, pair
from .config import load_config, scale_of, settings_from
from .run import Budget

Curve = list[tuple[int, float]]
"""Decisions so far, and the learner's mean return since the point before, in `Payoffs.unit`."""


def response_config(
    policy: Policy,
    game: Game,
    *,
    decisions: int,
    minutes: float | None = None,
    seed: int = 0,
    algorithm: str = ALGORITHM,
    learner: Sequence[str] = (),
) -> TrainConfig:
    """Return the settings of the learner of `learned_response`.

    Args:
        policy: the frozen policy.
        game: the game with its options.
        decisions: the learner's decisions, at least 1; the last rollout is completed.
        minutes: time limit in minutes; None: none.
        seed: seed of the learner.
        algorithm: the learning algorithm, by name.
        learner: settings as ``name=value``, in place of those of the game's preset.

    Raises:
        ValueError: for an unknown algorithm or setting, and for one that is not the caller's, such as ``seed``.
    """
    settings = dict(map(pair, learner))
    preset, encoder = settings_from(game.name, algorithm), encoder_of(policy, game)
    scale = {} if "reward_scale" in preset else {"reward_scale": scale_of(game)}
    fixed = {"options": dict(game.options), "total_timesteps": decisions, "seed": seed, "minutes": minutes}
    fixed |= {"random_start_steps": 0, "teacher": "", "algorithm": algorithm}
    names = {field.name for field in fields(find(algorithm).Config)}
    if "opponent_tables" in names:
        # Such an algorithm plays against itself at the other tables.
        fixed |= {"opponent_tables": 1.0, "mixed_tables": 0.0, "relabel": False}
    # Its newest weights reply best to a policy that does not change.
    newest = {"average_decay": 0.0} if "average_decay" in names else {}
    taken = sorted(set(settings) & set(fixed))
    if taken:
        raise ValueError(f"{', '.join(taken)}: a learned best response sets this itself; leave it out")
    layout = {part.path for part in game.encoders[encoder].layout}
    own: dict[str, Any] = {"encoder": encoder, **scale, **newest}
    if "observation_slices" in preset:  # the preset's encoder may have more
        own["observation_slices"] = [path for path in preset["observation_slices"] if path in layout]
    return load_config(game.name, **fixed, **own | settings)


def learned_response(
    policy: Policy, game: Game, config: TrainConfig, progress: Callable[[int], None] | None = None
) -> tuple[MlpPolicy, Curve]:
    """Train a new policy against a frozen one, and return it with its learning curve.

    The learner plays one seat and the frozen policy all others. It has the frozen policy's encoder. In a game with
    teams, copies of the learner play the other seats of its team. What the learner wins afterwards is a lower bound on
    what a best response wins.

    Args:
        policy: the frozen policy.
        game: the game with its options.
        config: the budget and the settings of the learner, by `response_config`.
        progress: called with the number of decisions just made.
    """
    league = _Frozen(policy, game, config.seed)
    learner = find(config.algorithm)(config, game, league)
    monitor = _Monitor(learner, league, config.total_timesteps, config.minutes, progress)
    learner.fit(monitor)
    return learner.policy(seed=config.seed + 1), monitor.curve


class _Frozen(League):
    """The frozen policy in all seats of opponents; in a game with teams, the learner's copy beside the learner."""

    def __init__(self, policy: Policy, game: Game, seed: int) -> None:
        super().__init__(0, 0.0, {}, seed, self_play=1.0)
        self._policy, self._teams = policy, game.capabilities.teams is not None

    def pool(self) -> Pool:
        """Return the pool of opponents."""
        if not self._teams:
            return Pool([self._policy])
        return Pool([self._policy, "random"], [1.0, 0.0], [0.0, 1.0])

    def update_self_play(self, learner: HasPolicy, opponents: list[Policy]) -> None:
        """Write a copy of the learner into the slot of its team."""
        if self._teams:
            super().update_self_play(learner, opponents)


class _Monitor:
    """The `Monitor` of a learned response: the budget, the copies of the learner, and the curve."""

    def __init__(
        self,
        learner: Learner,
        league: League,
        decisions: int,
        minutes: float | None,
        progress: Callable[[int], None] | None,
    ) -> None:
        self.remaining = 1.0
        self.curve: Curve = []
        self._learner, self._league, self._progress = learner, league, progress
        self._budget = Budget(decisions, minutes)
        self._counted = (0, 0.0, 0)  # episodes, returns and decisions of the earlier rollouts

    def on_start(self) -> None:
        """Start the clock."""
        self._budget.start()

    def on_rollout_start(self) -> None:
        """Update the budget and the learner's copy."""
        self.remaining = 1 - self._budget.used(self._learner.timesteps)
        self._league.update_self_play(self._learner, self._learner.tables.policies)

    def goes_on(self) -> bool:
        """Return whether there is time left."""
        return self._budget.has_time()

    def on_rollout_end(self) -> dict[str, float]:
        """Add a point to the curve."""
        tables, steps = self._learner.tables, self._learner.timesteps
        episodes, winnings, before = self._counted
        self._counted = (tables.episodes, tables.winnings, steps)
        if tables.episodes > episodes:
            self.curve.append((steps, (tables.winnings - winnings) / (tables.episodes - episodes)))
        if self._progress is not None:
            self._progress(steps - before)
        return {}

    def write(self, metrics: Mapping[str, Any]) -> None:
        """Do nothing: the curve is all that is kept."""
