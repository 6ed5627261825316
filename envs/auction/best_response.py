"""What bids are worth against bidders whose bids are independent draws from known distributions, exactly.

With the private values of this game, the bid of greatest worth for a valuation is a best response: the other bidders
see no amounts, so nothing that they do depends on it.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .rules import CLOSE
from .theory import takes_part

Floats = NDArray[np.float64]


def worth_of_bids(
    valuations: Floats, bids: Floats, levels: Floats, chances: Floats, options: Mapping[str, Any], money: float
) -> Floats:
    """Return the expected utility of each bid for each valuation.

    Args:
        valuations: float64[V], private.
        bids: float64[B], amounts.
        levels: float64[L], strictly rising: the amounts that the other bidders may bid.
        chances: float64[n − 1, L], the probability of each amount for each of them. A row may sum to less than 1; with
            the rest the bidder never bids, so the auction ends without a winner.
        options: of the game (see `game`).
        money: the amount that utilities of risk aversion refer to: the highest valuation.

    Returns:
        float64[V, B].

    Raises:
        ValueError: if the values are not private.
    """
    if options["values"] != "private":
        raise ValueError(f"values={options['values']!r}: only private values are independent of the others' bids")
    rule, fee, units = (options[name] for name in ("rule", "entry_fee", "units"))
    part = takes_part(bids, options)
    ranks = _ranks(bids, levels, chances * takes_part(levels, options), chances.sum(axis=1))
    above, equal = np.ogrid[: ranks.shape[1], : ranks.shape[2]]
    wins = (ranks * np.clip((units - above) / (equal + 1), 0, 1)).sum(axis=(1, 2))  # ties are drawn
    whole = float(chances.sum(axis=1).prod())  # all others bid

    def utility(gain: Floats) -> Floats:
        """Return the utility of a gain, as `rules.utility`."""
        curved = money * np.maximum(gain / money, 0) ** (1 - options["risk_aversion"])
        return np.where(gain > 0, curved, gain)

    own = valuations[:, None]
    lost = (whole - wins) * utility(np.array(-fee if rule != "all-pay" else -bids - fee, np.float64))
    if rule == "second-price":
        prices, cheap = _prices(levels, chances, options)
        surely = np.where(prices[None, :] < bids[:, None] - CLOSE, cheap, 0.0)  # float64[B, prices]
        gained = utility(own - prices - fee) @ surely.T + (wins - surely.sum(axis=1)) * utility(own - bids - fee)
    else:
        gained = wins * utility(own - bids - fee)
    return np.where(part, gained + lost, 0.0)


def best_bids(levels: Floats, options: Mapping[str, Any]) -> Floats:
    """Return the bids among which there is always a best response: each level, and a hundredth above it.

    Between two levels the chance to win is the same, and a higher bid never costs less.
    """
    return np.unique(np.concatenate([[0.0, options["reserve"]], levels, levels + 0.01]))


def _ranks(bids: Floats, levels: Floats, chances: Floats, whole: Floats) -> Floats:
    """Return the probabilities that so many of the others are above each bid and so many equal: float64[B, n, n].

    `chances` are those of bids that take part, `whole` those to bid at all.
    """
    others = len(chances)
    higher = levels > bids[:, None] + CLOSE
    same = np.abs(levels - bids[:, None]) <= CLOSE
    ranks = np.zeros((len(bids), others + 1, others + 1))
    ranks[:, 0, 0] = 1
    for chance, bids_at_all in zip(chances, whole, strict=True):
        above, equal = ((chance * where).sum(axis=1)[:, None, None] for where in (higher, same))
        after = (bids_at_all - above - equal) * ranks
        after[:, 1:] += above * ranks[:, :-1]
        after[:, :, 1:] += equal * ranks[:, :, :-1]
        ranks = after
    return ranks


def _prices(levels: Floats, chances: Floats, options: Mapping[str, Any]) -> tuple[Floats, Floats]:
    """Return the prices of a second-price auction, and the probability of each: float64[P] each.

    A winner pays the highest losing bid, which is the `units`-th highest of the others, or the reserve price without
    one.
    """
    part = takes_part(levels, options)
    points = np.concatenate([[-1.0], levels])  # the first one is below all bids
    ranks = _ranks(points, levels, chances * part, chances.sum(axis=1))
    at_most = ranks[:, : options["units"]].sum(axis=(1, 2))  # the probability that fewer than `units` are above
    prices = np.maximum(levels, options["reserve"])[part]
    return np.concatenate([[options["reserve"]], prices]), np.concatenate([at_most[:1], np.diff(at_most)[part]])
