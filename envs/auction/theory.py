"""Equilibria of sealed-bid auctions in closed form, and their revenue.

The symmetric equilibria are those of Krishna, *Auction Theory* (2nd ed.): chapters 2 and 3 for private values, 4.1 for
risk aversion, 6 for common and affiliated values, 12 and 13 for several units. With the signals of Kagel and Levin
(*The Winner's Curse and Public Information in Common Value Auctions*, AER 1986) see `affiliated_bid`.
"""

from collections.abc import Mapping
from itertools import pairwise
from math import comb
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import ArrayLike, NDArray

from .rules import CLOSE, RULES, VALUES, affiliated_bid

Floats = NDArray[np.float64]

OPTIONS = ("reserve", "entry_fee", "units", "values", "noise", "risk_aversion")
"""The options of a game that `equilibrium_bid` takes by name."""


def equilibrium_bid(
    rule: str,
    bidders: int,
    quantiles: ArrayLike,
    valuations: ArrayLike,
    *,
    reserve: float = 0.0,
    entry_fee: float = 0.0,
    units: int = 1,
    values: str = "private",
    noise: float = 0.0,
    risk_aversion: float = 0.0,
) -> Floats:
    """Return the symmetric equilibrium bids of an auction with these options (see `game`).

    With F the distribution of one valuation and H(v) the chance that fewer than `units` of the n − 1 others are above
    v, a bidder of valuation v bids v − ∫H/H(v) in a first-price auction, v in a second-price auction and v·H(v) − ∫H in
    an all-pay auction, with the integral up to v. For one unit and valuations uniform on [0, 1] these are (n−1)/n·v, v
    and (n−1)/n·vⁿ.

    With a reserve price or an entry fee, valuations below a threshold t stay out and bid 0; there (t − reserve)·H(t) is
    the fee, in an all-pay auction t·H(t) is the sum of both. The integral begins at t. With risk aversion ρ, a
    first-price bid has H^(1/(1−ρ)) in place of H.

    Args:
        rule: ``"first-price"``, ``"second-price"`` or ``"all-pay"``.
        bidders: n, at least 2.
        quantiles: the distribution, the same for all, as in the option `valuations`; strictly rising unless bidders bid
            their valuations.
        valuations: float, any shape.
        reserve, entry_fee, units, values, noise, risk_aversion: as in the game's options.

    Returns:
        float64 of the shape of `valuations`.

    Raises:
        ValueError: for an unknown rule or kind of values, a distribution with atoms, or other options without a closed
            form.
    """
    value = np.asarray(valuations, np.float64)
    for name, given, known in (("rule", rule, RULES), ("values", values, VALUES)):
        if given not in known:
            raise ValueError(f"{name} {given!r} is unknown; choose from {', '.join(known)}")
    if values == "affiliated" and rule == "second-price" and not entry_fee:
        return np.where(value >= reserve, value, 0.0)
    if values != "private":
        if reserve or entry_fee or units > 1 or risk_aversion:
            raise ValueError(f"values={values!r} with a reserve price, a fee, units or risk aversion: no closed form")
        if np.size(quantiles) != 2:
            raise ValueError(f"quantiles {np.ravel(quantiles).tolist()}: only two have a closed form with {values!r}")
        low, high = map(float, np.ravel(quantiles))
        if not low < high:
            raise ValueError(f"quantiles {[low, high]} are not strictly rising: there is no closed form")
        if values == "average":
            return _average_bid(rule, bidders, low, high, value)
        return affiliated_bid(rule, bidders, low, high, noise, value, common=values == "common")
    if rule == "second-price" and not entry_fee:
        return np.where(value >= reserve, value, 0.0)
    if risk_aversion and (rule != "first-price" or entry_fee or units > 1):
        raise ValueError("risk aversion has a closed form with the first price of one unit, without a fee")
    win = Winning(bidders, quantiles, units, risk_aversion)
    threshold = win.threshold(rule, reserve, entry_fee)
    chance = win.chance(value)
    if rule == "second-price":
        bid = value
    else:
        integral = win.integral(value) - win.integral(np.asarray(threshold)) + entry_fee
        if rule == "all-pay":
            bid = value * chance - integral
        else:
            bid = value - np.divide(integral, chance, out=np.zeros_like(value), where=chance > 0)
    return np.where(value >= threshold, np.maximum(bid, reserve), 0.0)


class Winning:
    """The chance to be among the `units` highest of n valuations with a distribution without atoms, and its integral.

    Args:
        bidders: n.
        quantiles: float[P], strictly rising.
        units: number of goods.
        risk_aversion: ρ; the chance is raised to the power 1 / (1 − ρ).

    Raises:
        ValueError: for quantiles that are not strictly rising.
    """

    def __init__(self, bidders: int, quantiles: ArrayLike, units: int = 1, risk_aversion: float = 0.0) -> None:
        self._knots = np.asarray(quantiles, np.float64)
        widths = np.diff(self._knots)
        if not (widths > 0).all():
            raise ValueError(
                f"quantiles {self._knots.tolist()} are not strictly rising: there is no equilibrium in closed form"
            )
        self._chances = np.linspace(0, 1, len(self._knots))
        others = bidders - 1
        self._power = others / (1 - risk_aversion)
        self._several: Polynomial | None = None
        if units > 1:
            self._several = Polynomial([0.0])
            for above in range(units):
                rest = Polynomial([1.0, -1.0]) ** above * Polynomial([0.0] * (others - above) + [1.0])
                self._several += comb(others, above) * rest
        # On a piece where F rises from a to b over a width w, ∫H is w / (b − a) times the integral over F.
        self._slopes = np.diff(self._chances) / widths
        pieces = np.diff(self._whole(self._chances)) / self._slopes
        self._below = np.concatenate(([0.0], np.cumsum(pieces)))

    def _whole(self, share: Floats) -> Floats:
        """Return the integral of the chance over F from 0 to `share`."""
        if self._several is not None:
            return np.asarray(self._several.integ()(share))
        return np.asarray(share ** (self._power + 1) / (self._power + 1))

    def chance(self, value: Floats) -> Floats:
        """Return H at each value."""
        share = np.interp(value, self._knots, self._chances)
        return np.asarray(share**self._power if self._several is None else self._several(share))

    def integral(self, value: Floats) -> Floats:
        """Return the integral of H up to each value; above the highest quantile, H is 1."""
        share = np.interp(value, self._knots, self._chances)
        k = np.clip(np.searchsorted(self._knots, value, side="right") - 1, 0, len(self._slopes) - 1)
        inside = (self._whole(share) - self._whole(self._chances[k])) / self._slopes[k]
        return np.asarray(self._below[k] + inside + np.maximum(value - self._knots[-1], 0.0))

    def threshold(self, rule: str, reserve: float, entry_fee: float) -> float:
        """Return the lowest valuation that takes part; infinite if none does."""
        if not entry_fee and (rule != "all-pay" or not reserve):
            return reserve

        def short(value: float) -> bool:
            chance = float(self.chance(np.asarray(value)))
            won = value * chance - reserve if rule == "all-pay" else (value - reserve) * chance
            return won < entry_fee

        low, high = 0.0, float(self._knots[-1])
        if short(high):
            return float("inf")
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if short(middle) else (low, middle)
        return high


def _average_bid(rule: str, bidders: int, low: float, high: float, signal: Floats) -> Floats:
    """Return the bids where the good is worth the mean of all signals, which are independent and uniform.

    If two signals are y and the others below, the good is worth low + c (y − low) on average, with c = (n + 2) / 2n.
    The second-price bid is that of the own signal; the others are its integral over the highest signal of the others.
    """
    share = np.clip((signal - low) / (high - low), 0, 1)
    slope = (high - low) * (bidders + 2) / (2 * bidders)
    if rule == "second-price":
        return low + slope * share
    mean = low + slope * share * (bidders - 1) / bidders
    return mean if rule == "first-price" else mean * share ** (bidders - 1)


def optimal_reserve(quantiles: ArrayLike) -> float:
    """Return the reserve price of a first-price or second-price auction with the highest revenue.

    The good is worth nothing to the seller. The price maximises r (1 − F(r)) and does not depend on the number of
    bidders, if the virtual valuation v − (1 − F(v)) / f(v) does not fall (Myerson 1981; Krishna, section 2.5.2). For
    valuations uniform on [0, 1] it is 1/2.

    Args:
        quantiles: the distribution, as in the option `valuations`, never falling.
    """
    knots = np.asarray(quantiles, np.float64)
    chances = np.linspace(0, 1, len(knots))
    reserve = [(0.0, 0.0), *((low * (1 - chance), low) for low, chance in zip(knots, chances, strict=True))]
    for k, (low, high) in enumerate(pairwise(knots)):
        if high > low:
            slope = (chances[1] - chances[0]) / (high - low)
            best = float(np.clip(((1 - chances[k]) / slope + low) / 2, low, high))
            reserve.append((best * (1 - chances[k] - slope * (best - low)), best))
    return float(max(reserve)[1])


def takes_part(bids: Floats, options: Mapping[str, Any]) -> NDArray[np.bool_]:
    """Return which bids may win and are charged, as `rules.takes_part`, for an array of any shape."""
    return np.asarray((bids >= options["reserve"] - CLOSE) & ((bids > 0) | (options["entry_fee"] == 0)))


def revenue(bids: Floats, options: Mapping[str, Any]) -> Floats:
    """Return what the bidders of each auction pay: float64[N].

    Args:
        bids: float64[N, bidders], of auctions in which all have bid; where one has not, nobody pays.
        options: of the game.
    """
    rule, reserve, fee, units = (options[name] for name in ("rule", "reserve", "entry_fee", "units"))
    part = takes_part(bids, options)
    ranked = -np.sort(-np.where(part, bids, 0.0), axis=1)
    fees = fee * part.sum(axis=1)
    if rule == "all-pay":
        return np.asarray(ranked.sum(axis=1) + fees)
    if rule == "first-price":
        return np.asarray(ranked[:, :units].sum(axis=1) + fees)
    return np.asarray(np.minimum(part.sum(axis=1), units) * np.maximum(ranked[:, units], reserve) + fees)
