"""Scripted bidders, and the equilibrium in closed form. Bots get only the observation and mask of their seat."""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.game import Game
from ..core.random_policy import random_bot

Floats = NDArray[np.float64]


def equilibrium_bid(rule: str, bidders: int, quantiles: ArrayLike, valuations: ArrayLike) -> Floats:
    """Return the symmetric risk-neutral equilibrium bids (Krishna, Auction Theory, 2nd ed., chapters 2 and 3).

    With F the distribution of one valuation and G = F^(n−1) that of the highest of the others, a bidder of valuation v
    bids v − ∫G/G(v) in a first-price auction, v in a second-price auction and v·G(v) − ∫G in an all-pay auction, with
    the integral up to v.
    For valuations uniform on [0, 1] these are (n−1)/n·v, v and (n−1)/n·vⁿ.

    Args:
        rule: ``"first-price"``, ``"second-price"`` or ``"all-pay"``.
        bidders: n, at least 2.
        quantiles: the distribution, the same for all, as in the option `valuations`; strictly rising unless the rule is
            second-price.
        valuations: float, any shape.

    Returns:
        float64 of the shape of `valuations`.

    Raises:
        ValueError: for an unknown rule, or a distribution with atoms, which has no such equilibrium.
    """
    value = np.asarray(valuations, np.float64)
    if rule == "second-price":
        return value
    if rule not in ("first-price", "all-pay"):
        raise ValueError(f"rule {rule!r} is unknown; choose from first-price, second-price, all-pay")
    knots = np.asarray(quantiles, np.float64)
    widths = np.diff(knots)
    if not (widths > 0).all():
        raise ValueError(f"quantiles {knots.tolist()} are not strictly rising: there is no equilibrium in closed form")
    chances = np.linspace(0, 1, len(knots))
    # On a piece where F rises from a to b over a width w, ∫F^(n−1) = w (bⁿ − aⁿ) / n / (b − a).
    pieces = widths * np.diff(chances**bidders) / bidders / np.diff(chances)
    below = np.concatenate(([0.0], np.cumsum(pieces)))
    chance = np.interp(value, knots, chances)
    k = np.clip(np.searchsorted(knots, value, side="right") - 1, 0, len(widths) - 1)
    slope = (chances[1] - chances[0]) / widths[k]
    integral = below[k] + (chance**bidders - chances[k] ** bidders) / bidders / slope
    highest = chance ** (bidders - 1)
    if rule == "all-pay":
        return np.asarray(value * highest - integral)
    return np.asarray(value - np.divide(integral, highest, out=np.zeros_like(value), where=highest > 0))


class AuctionBot:
    """A bidder whose bid is a function of its valuation, rounded to the grid.

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

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return an action index per row of float32[N, D] observations and int8[N, A] masks: int64[N]."""
        valuations = np.round(observations[:, self._valuation].astype(np.float64) * self._unit, 2)
        numbers = np.rint(self._bid(valuations) / self._step).astype(np.int64)
        return np.clip(numbers, 0, self._last)


def shade(game: Game, seed: int | None = None, factor: float = 0.8) -> AuctionBot:
    """Return the bot that bids `factor` times its valuation."""
    return AuctionBot(partial(np.multiply, factor), game)


def truthful(game: Game, seed: int | None = None) -> AuctionBot:
    """Return the bot that bids its valuation."""
    return shade(game, seed, 1.0)


def equilibrium(game: Game, seed: int | None = None) -> AuctionBot:
    """Return the bot that bids the equilibrium bid of its valuation.

    Raises:
        ValueError: unless all seats have the same distribution, without atoms (any distribution in second-price).
    """
    rule, quantiles = game.options["rule"], game.options["valuations"]
    if rule == "second-price":
        return truthful(game, seed)
    if isinstance(quantiles[0], list):
        raise ValueError("seats with different distributions have no equilibrium in closed form")
    equilibrium_bid(rule, game.seats, quantiles, 0.0)
    return AuctionBot(partial(equilibrium_bid, rule, game.seats, quantiles), game)


BOTS = {"random": random_bot, "truthful": truthful, "shade": shade, "equilibrium": equilibrium}
"""`random`: any legal action. `truthful`: bids its valuation. `shade`: bids 80 % of it. `equilibrium`: see
`equilibrium_bid`."""
