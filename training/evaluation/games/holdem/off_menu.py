"""Opponents whose raises have sizes that a policy does not have: what they win tells how well it reads such amounts."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .....envs import Game
from .....envs import game as make_game
from .....envs.core.rollout import Policy
from .....envs.holdem.table import FIRST_FRACTION, LEAST_RAISE
from .....wrappers.policies.base import LearnedPolicy
from .....wrappers.policies.elsewhere import ElsewherePolicy
from ...duplicate import evaluate
from ...scores import Response

SIZES = {"small bets": ((0.1, 0.2), (0.2, 0.3)), "over-bets": ((1.2, 2.0), (2.0, 3.0))}
"""The fractions of the pot between which each size is drawn. Small bets are legal in large pots alone."""


class _OffMenu:
    """A bot whose raises have one of the `sizes`, which are action indices, where one is legal; else its own."""

    def __init__(self, bot: Policy, sizes: list[int], seed: int) -> None:
        self._bot, self._sizes = bot, sizes
        self._random = np.random.default_rng(seed)

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        actions = np.asarray(self._bot.act(observations, masks)).copy()
        ranks = np.where(masks[:, self._sizes] > 0, self._random.random((len(masks), len(self._sizes))), -1.0)
        others = (actions >= LEAST_RAISE) & (ranks.max(axis=1) >= 0)
        actions[others] = np.array(self._sizes)[ranks.argmax(axis=1)][others]
        return actions


def off_menu(
    policy: Policy,
    game: Game,
    *,
    bot: str,
    sizes: str,
    hands: int,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Response:
    """Return what a bot wins from a saved policy with sizes that are not in the policy's menu.

    The policy plays as at a live table: it reads the amounts as they are, and has its own menu.

    Args:
        policy: the policy.
        game: its game.
        bot: the bot that chooses when to raise.
        sizes: of `SIZES`.
        hands: number of hands.
        seed: of the sizes, the deals and the bot.
        progress: called with the number of deals just played.

    Raises:
        ValueError: for a policy that does not say what it was trained for.
    """
    if not isinstance(policy, LearnedPolicy) or policy.trained_for is None:
        raise ValueError("sizes off the menu are played against a saved policy without search")
    random = np.random.default_rng(seed)
    drawn = [round(float(random.uniform(*between)), 3) for between in SIZES[sizes]]
    own = [float(one) for one in policy.trained_for.make_game().options["pot_fractions"]]
    fractions = sorted({*own, *drawn})
    table = make_game(game.name, **{**game.options, "pot_fractions": fractions})
    new = [FIRST_FRACTION + k for k, one in enumerate(fractions) if one in drawn and one not in own]
    opponent = _OffMenu(table.bots[bot](table, seed), new, seed)
    deals = max(2, hands // game.seats)
    player = ElsewherePolicy(policy, policy.trained_for, table)
    score = evaluate(opponent, table, [player], deals=deals, seed=seed, progress=progress)
    return Response(score)
