"""Scripted bidders. Bots get only the observation and mask of their seat."""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..core.game import Game
from ..core.rollout import random_bot
from .theory import OPTIONS, equilibrium_bid

Floats = NDArray[np.float64]


class AuctionBot:
    """A bidder whose bid is a function of its valuation, rounded to the grid, and up where it would not take part.

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
        takes_part = (bids >= self._reserve) & (bids > 0)
        own = np.floor(np.maximum(valuations, bids) / self._step + 1e-9)  # rounding leads to no bid above both
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
    more = {name: options[name] for name in OPTIONS}
    dominant = rule == "second-price" and options["values"] == "private" and not options["entry_fee"]
    if isinstance(quantiles[0], list):
        if not dominant:
            raise ValueError("seats with different distributions have no equilibrium in closed form")
        quantiles = [0.0]  # they do not matter
    equilibrium_bid(rule, game.seats, quantiles, 0.0, **more)
    return AuctionBot(partial(equilibrium_bid, rule, game.seats, quantiles, **more), game)


BOTS = {"random": random_bot, "truthful": truthful, "shade": shade, "equilibrium": equilibrium}
"""`random`: any legal action. `truthful`: bids its valuation. `shade`: bids 80 % of it. `equilibrium`: see
`equilibrium_bid`."""
