"""Policies whose statements are taken away or replaced, to measure what talk is worth."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...envs.core.game import Game
from ...envs.core.rollout import Policy, RandomPolicy, act_of

Masks = NDArray[np.int8]
Actions = NDArray[np.int64]


def statements_of(game: Game) -> range:
    """Return the action indices that say something.

    Raises:
        ValueError: if the game has none.
    """
    talk = game.capabilities.talk
    if talk is None or not talk.statements:
        raise ValueError(f"{game.id} has no action index that is a statement")
    return talk.statements


class MutedPolicy:
    """A policy that says nothing: statements are masked out. It still reads what others say.

    Args:
        policy: the policy.
        game: a game with statements, with its options.

    Raises:
        ValueError: if the game has no statements.
    """

    def __init__(self, policy: Policy, game: Game) -> None:
        self._policy, self._statements = policy, statements_of(game)
        self.encoder = getattr(policy, "encoder", None)

    def act(self, observations: NDArray[np.float32], masks: Masks) -> Actions:
        """Return a legal action index per row that is not a statement: int64[N]."""
        return self._policy.act(observations, self._silent(masks))

    def act_on(self, tables: Any, rows: Actions, observations: NDArray[np.float32], masks: Masks) -> Actions:
        """Do the same as `act` for a policy that needs the records."""
        return np.asarray(act_of(self._policy, tables, rows, observations, self._silent(masks)), np.int64)

    def _silent(self, masks: Masks) -> Masks:
        silent = masks.copy()
        silent[:, self._statements] = 0
        return silent


class ScrambledPolicy:
    """A policy whose statements are replaced by random ones: it talks as often, but its words mean nothing.

    Args:
        policy: the policy.
        game: a game with statements, with its options.
        seed: the seed of the random statements.

    Raises:
        ValueError: if the game has no statements.
    """

    def __init__(self, policy: Policy, game: Game, seed: int | None = None) -> None:
        self._policy, self._statements = policy, statements_of(game)
        self._random = RandomPolicy(seed)
        self.encoder = getattr(policy, "encoder", None)

    def act(self, observations: NDArray[np.float32], masks: Masks) -> Actions:
        """Return the policy's action index per row, each statement replaced by a random legal one: int64[N]."""
        return self._scrambled(self._policy.act(observations, masks), observations, masks)

    def act_on(self, tables: Any, rows: Actions, observations: NDArray[np.float32], masks: Masks) -> Actions:
        """Do the same as `act` for a policy that needs the records."""
        actions = act_of(self._policy, tables, rows, observations, masks)
        return self._scrambled(np.asarray(actions, np.int64), observations, masks)

    def _scrambled(self, actions: Actions, observations: NDArray[np.float32], masks: Masks) -> Actions:
        said = (actions >= self._statements.start) & (actions < self._statements.stop)
        if not said.any():
            return actions
        choices = masks[said].copy()
        choices[:, : self._statements.start] = 0
        choices[:, self._statements.stop :] = 0
        played = actions.copy()
        played[said] = self._random.act(observations[said], choices)
        return played
