"""Auctions: comparison of a policy with the equilibrium, and what differs at a live table."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...envs import Game
from ...envs.auction.theory import OPTIONS, equilibrium_bid
from ...envs.auction.theory import revenue as revenue_of
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
        The comparison; None if no equilibrium is known, for example if the bidders' valuations have different
        distributions, or atoms.
    """
    if isinstance(game.options["valuations"][0], list):
        return None
    try:
        _theory(game, np.zeros(1))
    except ValueError:
        return None
    return _beside(play(policy, game, matches, seed), game)


def _theory(game: Game, valuations: Floats) -> Floats:
    """Return the equilibrium's bids."""
    options = game.options
    more = {name: options[name] for name in OPTIONS}
    return equilibrium_bid(options["rule"], game.seats, options["valuations"], valuations, **more)


def _beside(tables: Tables, game: Game) -> Comparison:
    rule, bidders = game.options["rule"], game.seats
    valuations, bids = (np.array(tables[name][:, :bidders]) for name in ("valuation", "bid"))
    theory = _theory(game, valuations)
    middle, counts, learned, right = means(valuations, bids, theory)
    errors = np.abs(learned - right)
    upper = middle >= min(np.median(valuations), middle[-1])
    upper_error = float(np.average(errors[upper], weights=counts[upper]))
    paid = np.where(tables["num_bids_submitted"][:, None] == bidders, bids, 0.0)  # else nobody pays
    revenue, expected = (float(revenue_of(each, game.options).mean()) for each in (paid, theory))
    lines = [
        Quantity("bid_error", "error of the mean bid, over all valuations", float(np.average(errors, weights=counts))),
        Quantity("bid_error_upper", "in the upper half of them", upper_error),
        Quantity("bid_error_largest", "in the worst class of the upper half", float(errors[upper].max())),
        Quantity("each_bid_error", "error of a single bid, mean", float(np.abs(bids - theory).mean())),
        Quantity("revenue", "revenue", revenue, expected),
        Quantity("utility", "utility, mean over bidders", float(tables["rewards"][:, :bidders].mean())),
    ]

    def panel(axes: "Axes") -> None:
        axes.fill_between(middle, *quantiles(valuations, bids, (0.1, 0.9)), alpha=0.25, label="learned, 10 % to 90 %")
        axes.plot(middle, learned, label="learned, mean")
        axes.plot(middle, right, "k--", label="equilibrium")
        axes.set(title=f"{rule}, {bidders} bidders", xlabel="valuation", ylabel="bid")

    return Comparison(lines, [panel])


TERMS: dict[str, tuple[str, Any]] = {
    "reserve": ("reserve_price", 0.0),
    "entry_fee": ("entry_fee", 0.0),
    "units": ("units", 1),
    "values": ("values", "private"),
    "noise": ("noise", 0.0),
    "risk_aversion": ("risk_aversion", 0.0),
}
"""By option: its field in `game_state`, and the value where that is missing."""


def differences(options: Mapping[str, Any], state: TurnState, first: bool) -> dict[str, Any]:
    """Return the options that differ at a live table: the number of bidders, the terms, and the range of valuations."""
    shown = state.game_state
    found: dict[str, Any] = {}
    if shown["num_bidders"] != options["seats"]:
        found["seats"] = shown["num_bidders"]
    for name, (field, usual) in TERMS.items():
        if shown.get(field, usual) != options[name]:
            found[name] = shown.get(field, usual)
    highest = float(max(map(np.max, options["valuations"]))) + options["noise"]
    if shown["my_valuation"] > highest:
        found["valuations"] = [0, math.ceil(shown["my_valuation"])]
    return found


SPECIFICS = Specifics(compare=compare, differences=differences)
