"""Auctions: comparison of a policy with the equilibrium, and what differs at a live table."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...envs import Game
from ...envs.auction.bots import equilibrium_bid
from ...envs.core.record import Tables
from ...envs.core.rollout import Policy
from ...envs.core.turn_state import TurnState
from ..evaluation.comparison import Comparison, Floats, Quantity, means, play, quantiles
from .base import Specifics

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def compare(policy: Policy, game: Game, *, matches: int, seed: int) -> Comparison | None:
    """Compare the bids of a policy with those of the equilibrium.

    Returns:
        The comparison; None if the bidders' valuations have different distributions, or atoms.
    """
    return _beside(play(policy, game, matches, seed), game) if _has_equilibrium(game) else None


def _has_equilibrium(game: Game) -> bool:
    quantiles, rule = game.options["valuations"], game.options["rule"]
    return not isinstance(quantiles[0], list) and (rule == "second-price" or bool((np.diff(quantiles) > 0).all()))


def _beside(tables: Tables, game: Game) -> Comparison:
    rule, bidders, distribution = game.options["rule"], game.seats, game.options["valuations"]
    valuations, bids = (np.array(tables[name][:, :bidders]) for name in ("valuation", "bid"))
    theory = equilibrium_bid(rule, bidders, distribution, valuations)
    middle, counts, learned, right = means(valuations, bids, theory)
    errors = np.abs(learned - right)
    upper = middle >= min(np.median(valuations), middle[-1])
    upper_error = float(np.average(errors[upper], weights=counts[upper]))
    revenue, expected = (float(_revenue(rule, each).mean()) for each in (bids, theory))
    lines = [
        Quantity("bid_error", "error of the mean bid, over all valuations", float(np.average(errors, weights=counts))),
        Quantity("bid_error_upper", "in the upper half of them", upper_error),
        Quantity("bid_error_largest", "in the worst class of the upper half", float(errors[upper].max())),
        Quantity("each_bid_error", "error of a single bid, mean", float(np.abs(bids - theory).mean())),
        Quantity("revenue", "revenue", revenue, expected),
    ]

    def panel(axes: "Axes") -> None:
        axes.fill_between(middle, *quantiles(valuations, bids, (0.1, 0.9)), alpha=0.25, label="learned, 10 % to 90 %")
        axes.plot(middle, learned, label="learned, mean")
        axes.plot(middle, right, "k--", label="equilibrium")
        axes.set(title=f"{rule}, {bidders} bidders", xlabel="valuation", ylabel="bid")

    return Comparison(lines, [panel])


def _revenue(rule: str, bids: Floats) -> Floats:
    """Return the revenue of bids float64[N, bidders]; a bidder without a bid counts as 0."""
    if rule == "all-pay":
        return np.asarray(bids.sum(axis=1))
    return np.asarray(np.sort(bids, axis=1)[:, -1 if rule == "first-price" else -2])


def differences(options: Mapping[str, Any], state: TurnState, first: bool) -> dict[str, Any]:
    """Return the options that differ at a live table: the number of bidders, and the range of valuations."""
    shown = state.game_state
    found: dict[str, Any] = {}
    if shown["num_bidders"] != options["seats"]:
        found["seats"] = shown["num_bidders"]
    highest = float(np.max(options["valuations"]))
    if shown["my_valuation"] > highest:
        found["valuations"] = [0, math.ceil(shown["my_valuation"])]
    return found


SPECIFICS = Specifics(compare=compare, differences=differences)
