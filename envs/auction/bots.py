"""Scripted bidders. Bots get only the observation and mask of their seat."""

from collections.abc import Callable
from functools import partial
from math import comb

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import ArrayLike, NDArray

from ..core.game import Game
from ..core.rollout import random_bot
from .rules import RULES, VALUES, affiliated_bid

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


class AuctionBot:
    """A bidder whose bid is a function of its valuation, rounded to the grid, and up where it would not take part.

    Rounding leads to no bid above both the valuation and the function's bid.

    Args:
        bid: function from float64[N] valuations to float64[N] bids.
        game: an auction with any options.
    """

    encoder = "v0"

    def __init__(self, bid: Callable[[Floats], Floats], game: Game) -> None:
        table = game.rules.blank[0]
        self._bid = bid
        self._valuation = game.encoders[self.encoder].layout["game_state.my_valuation"].start
        self._unit = 1 / float(table.per_money)
        self._step = float(table.bid_step)
        self._last = int(table.bids) - 1
        self._reserve, self._fee = float(table.reserve), float(table.entry_fee)

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return an action index per row of float32[N, D] observations and int8[N, A] masks: int64[N]."""
        valuations = np.round(observations[:, self._valuation].astype(np.float64) * self._unit, 2)
        bids = self._bid(valuations)
        least = max(np.ceil(self._reserve / self._step - 1e-9), float(self._fee > 0))
        own = np.floor(np.maximum(valuations, bids) / self._step + 1e-9)
        takes_part = (bids >= self._reserve) & (bids > 0) & (own >= least)
        numbers = np.maximum(np.minimum(np.rint(bids / self._step), own), np.where(takes_part, least, 0.0))
        return np.clip(numbers, 0, self._last).astype(np.int64)


def shade(game: Game, seed: int | None = None, factor: float = 0.8) -> AuctionBot:
    """Return the bot that bids `factor` times its valuation."""
    return AuctionBot(partial(np.multiply, factor), game)


def truthful(game: Game, seed: int | None = None) -> AuctionBot:
    """Return the bot that bids its valuation."""
    return shade(game, seed, 1.0)


def equilibrium(game: Game, seed: int | None = None) -> AuctionBot:
    """Return the bot that bids the equilibrium bid of its valuation.

    Raises:
        ValueError: for options without a closed form (see `equilibrium_bid`), such as seats with different
            distributions; in second-price auctions of private values without a fee, everybody bids its valuation.
    """
    options = game.options
    rule, quantiles = options["rule"], options["valuations"]
    rule_options = {name: options[name] for name in OPTIONS}
    dominant = rule == "second-price" and options["values"] == "private" and not options["entry_fee"]
    if isinstance(quantiles[0], list):
        if not dominant:
            raise ValueError("seats with different distributions have no equilibrium in closed form")
        quantiles = [0.0]  # they do not matter
    equilibrium_bid(rule, game.seats, quantiles, 0.0, **rule_options)
    return AuctionBot(partial(equilibrium_bid, rule, game.seats, quantiles, **rule_options), game)


BOTS = {"random": random_bot, "truthful": truthful, "shade": shade, "equilibrium": equilibrium}
"""`random`: any legal action. `truthful`: bids its valuation. `shade`: bids 80 % of it. `equilibrium`: see
`equilibrium_bid`."""
