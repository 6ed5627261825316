"""Bargaining's rooms put together: options in, `Game` out."""

from collections.abc import Sequence
from functools import partial
from math import isfinite, sqrt
from typing import Any

import numpy as np

from ..core.game import Game
from ..core.talk import NUMBERS, Talk
from . import actions, bots, observation, render, rules, view
from .table import ROUNDS, SEATS, TABLE

Range = Sequence[float]


def game(
    *,
    rounds: int = 10,
    total: float = 100,
    discount: float = 1.0,
    reservations: Range | Sequence[Range] | None = None,
    public: bool = False,
    offers: int = 101,
    talk: bool = False,
) -> Game:
    """Return a negotiation over a pie with these options.

    Args:
        rounds: 1 to 50; in a round each seat has one turn, player_0 first. After the last, both get 0.
        total: the pie, 0.01 to 1,000,000.
        discount: factor per round, above 0 and at most 1. A round is two turns; each turn costs the square root.
        reservations: range from which the reservation values are drawn uniformly, rounded to hundredths: (low, high)
            within the pie, or one such pair per seat; None: the lower half of the pie.
        public: whether both seats see both reservation values.
        offers: how many offers the grid of action numbers has, from 0 to `total`; 2 to 256.
        talk: whether talk acts are part of actions and observation (see `parlour.envs.core.talk`). Off by default, so
            that a learner has the game's own actions only; messages then still travel by `submit` and `send`.

    Raises:
        ValueError: naming the option, its value and its range.
    """
    if not 1 <= rounds <= ROUNDS:
        raise ValueError(f"rounds={rounds}: need 1 to {ROUNDS}")
    if not 0.01 <= total <= 1e6:
        raise ValueError(f"total={total}: need 0.01 to 1,000,000")
    if not 0 < discount <= 1:
        raise ValueError(f"discount={discount}: need a factor above 0 and at most 1")
    if not 2 <= offers <= 256:
        raise ValueError(f"offers={offers}: need 2 to 256")
    ranges = _ranges((0.0, total / 2) if reservations is None else reservations, total)

    agents = tuple(f"player_{seat}" for seat in range(SEATS))
    words = Talk(
        claim="My reservation value is {}",
        announce="I demand {}",
        threaten="I will walk away",
        appeal="Let us be fair",
        agents=agents,
        highest=float(total),
    )
    blank = np.zeros(1, TABLE).view(np.recarray)
    table = blank[0]
    table.rounds, table.total, table.turn_discount = rounds, total, sqrt(discount)
    table.per_total, table.per_move = 1 / total, 1 / (2 * rounds)
    table.offers, table.offer_step = offers, total / (offers - 1)
    table.low, table.high = zip(*ranges, strict=True)
    table.public, table.talk, table.last_offer_by = public, talk, -1
    return Game(
        name="bargaining",
        agents=agents,
        options={
            "rounds": rounds,
            "total": total,
            "discount": discount,
            "reservations": None if reservations is None else [list(pair) for pair in ranges],
            "public": public,
            "offers": offers,
            "talk": talk,
        },
        blank=blank,
        layout=observation.layout(public, talk),
        num_actions=offers + 3 + talk * NUMBERS,
        reward_range=(-max(high for _, high in ranges), float(total) - min(low for low, _ in ranges)),
        zero_sum=False,
        action_spaces=actions.action_spaces(float(total)),
        bots=bots.BOTS,
        reset=rules.reset,
        play=rules.play,
        step=rules.step,
        menu=rules.menu,
        legal=rules.legal,
        observe=observation.observe,
        reset_batch=rules.reset_batch,
        step_batch=rules.step_batch,
        encode=partial(actions.encode, words),
        decode=actions.decode,
        nearest=actions.nearest,
        safe=actions.safe,
        allowed=actions.allowed,
        phase=view.phase,
        game_state=view.game_state,
        outcome=view.outcome,
        load=partial(view.load, blank, words),
        redeal=view.redeal,
        render=render.render,
        hear=words.hear if talk else None,
        said=words.said if talk else None,
    )


def _ranges(reservations: Any, total: float) -> list[tuple[float, float]]:
    """Return one checked range per seat."""
    message = f"reservations={reservations!r}: give (low, high) with 0 ≤ low ≤ high ≤ {total:g}, or {SEATS} such pairs"
    try:
        one = all(np.ndim(entry) == 0 for entry in reservations)
        pairs = [reservations] * SEATS if one else reservations
        ranges = [(float(low), float(high)) for low, high in pairs]
    except (TypeError, ValueError):
        raise ValueError(message) from None
    if len(ranges) != SEATS or not all(isfinite(high) and 0 <= low <= high <= total for low, high in ranges):
        raise ValueError(message)
    return ranges
