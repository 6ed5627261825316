"""The auction's `game` function: makes the game from its options."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

import numpy as np

from ..core.capabilities import Capabilities, OutsideOption, PublicView, ShownOptions
from ..core.encoder import Encoders
from ..core.game import Game, Payoffs, made_of
from ..core.options import Options, Rule, from_options, number, one_of, whole, within
from ..core.record import Tables, new_table
from ..core.rules import Rules
from ..core.structured_talk import NUM_ACTIONS, StructuredTalk
from ..core.view import View
from ..render.renderer import Renderer
from . import bots, picture, rules, view
from .encoders import ENCODERS
from .rules import POINTS, RULES, SEATS, TABLE, VALUES

Quantiles = Sequence[float]


def _quantiles(option: str, valuations: Any, seats: int) -> list[tuple[float, ...]]:
    """Return one checked table of quantiles per seat."""
    message = (
        f"{option}={valuations!r}: give at least 2 quantiles from 0 to 1,000,000, never falling, or {seats} such "
        f"tables, of {POINTS} numbers together at most; the highest valuation must be at least 0.01"
    )
    try:
        shared = all(np.ndim(entry) == 0 for entry in valuations)
        each = [valuations] * seats if shared else valuations
        tables = [tuple(number(option, value, 0, 1e6) for value in table) for table in each]
    except (TypeError, ValueError):
        raise ValueError(message) from None
    if any(len(table) < 2 or list(table) != sorted(table) for table in tables):
        raise ValueError(message)
    numbers = len(tables[0]) if shared else sum(map(len, tables))
    if len(tables) != seats or numbers > POINTS or max(map(max, tables)) < 0.01:
        raise ValueError(message)
    return tables


def _tables(option: str, value: Any, seats: int) -> list[Any]:
    tables = _quantiles(option, value, seats)
    return [list(quantiles) for quantiles in tables] if len(set(tables)) > 1 else list(tables[0])


class AuctionOptions(Options, frozen=True, kw_only=True):
    """The options of the auction."""

    seats: Annotated[int, within(2, SEATS)] = 2
    """number of bidders, {}."""
    rule: Annotated[str, one_of(RULES)] = "first-price"
    """``"first-price"``: the winner pays its bid; ``"second-price"``: it pays the second-highest bid; ``"all-pay"``:
    every bidder pays its own bid."""
    valuations: Annotated[Sequence[float | Quantiles], Rule(_tables, ("seats",))] = (0, 100)
    """the distribution of the private valuations as a small table of quantiles: at least 2 numbers from 0 to 1,000,000,
    never falling, at evenly spaced probabilities from 0 to 1, with linear interpolation. For example, ``(0, 100)`` is
    uniform, ``(0, 20, 100)`` has half its mass below 20, ``(70, 70)`` is always 70. Give one table for all seats (at
    most 32 numbers) or a sequence of one per seat (together at most 32). Every valuation is rounded to hundredths."""
    bids: Annotated[int, within(2, 256)] = 101
    """number of bids that have an action index, evenly spaced from 0 to `highest_bid`; {}."""
    highest_bid: Annotated[float | None, within(0.01, 1e6)] = None
    """the grid's highest bid; None: the highest valuation. Exact bids may be ten times as high."""
    rounds: Annotated[int, within(1, 2**20)] = 10
    """number of rounds, at least 1. A seat that passes may bid in the next round; after the last one, the auction ends
    without a winner."""
    talk: bool = False
    """whether talk is a part of actions and observation (see `parlour.envs.core.structured_talk`). False by default:
    then there are only the game's own actions; messages can be sent by `submit` and `send` in both cases."""
    reserve: Annotated[float, within(0, 1e6)] = 0.0
    """the reserve price, {}. A bid below it does not take part: it does not win and pays nothing. With the second-price
    rule it is the least price."""
    entry_fee: Annotated[float, within(0, 1e6)] = 0.0
    """what every bid that takes part pays besides, {}. Where there is a fee, a bid of 0 does not take part."""
    units: Annotated[int, Rule(lambda option, value, seats: whole(option, value, 1, seats - 1), ("seats",))] = 1
    """number of equal goods, 1 to `seats` − 1; each bidder wants one. The highest bids win. With several, the
    first-price rule is the discriminatory auction, and the second-price rule the uniform-price auction, where every
    winner pays the highest losing bid."""
    values: Annotated[str, one_of(VALUES)] = "private"
    """what the good is worth to a bidder, given `valuations`. ``"private"``: its own valuation. ``"average"``: the mean
    of all valuations, to everybody (a common value). ``"common"``: a hidden number, the same for all, which is drawn
    from `valuations`; a bidder's valuation is an estimate of it. ``"affiliated"``: its own valuation, where valuations
    are close to each other: they are drawn around such a hidden number."""
    noise: Annotated[float, within(0, 1e6)] = 0.0
    """with common and affiliated values, the largest distance of a valuation from the hidden number, which is uniform;
    above 0, and at most the lowest quantile, so that no valuation is negative. Else 0."""
    risk_aversion: Annotated[float, within(0, 0.99)] = 0.0
    """the coefficient ρ of constant relative risk aversion, at least 0, less than 1. A gain x has the utility m (x /
    m)^(1 − ρ), with m the highest valuation; a loss counts in full."""

    def check_together(self) -> None:
        """Check that `noise` fits `values`."""
        values, noise = self.values, self.noise
        tables = _quantiles("valuations", self.valuations, self.seats)
        if values not in ("common", "affiliated"):
            if noise:
                raise ValueError(f"noise={noise:g}: with values={values!r} there is none")
        elif len(set(tables)) > 1:
            raise ValueError(f"valuations={self.valuations!r}: with values={values!r} give one table for all seats")
        elif not 0 < noise <= tables[0][0]:
            raise ValueError(
                f"noise={noise:g}: with values={values!r} it needs to be above 0, and at most {tables[0][0]:g}, the "
                "lowest quantile"
            )


@from_options(AuctionOptions)
def game(given: AuctionOptions) -> Game:
    """Return a sealed-bid auction with these options."""
    agents = tuple(f"player_{seat}" for seat in range(given.seats))
    tables = _quantiles("valuations", given.valuations, given.seats)
    most, talk = max(map(max, tables)) + given.noise, given.talk
    words = StructuredTalk(
        claim="My valuation is {}",
        announce="I will bid {}",
        threaten="I will walk away",
        appeal="Let us be fair",
        agents=agents,
        highest=most,
    )
    blank = _blank(given, tables, most)
    highest, num_actions = view.highest(blank[0]), given.bids + 1 + talk * NUM_ACTIONS
    return Game(
        name="auction",
        agents=agents,
        rules=made_of(Rules, rules, blank=blank, num_actions=num_actions),
        encoders=Encoders(ENCODERS, blank),
        payoffs=Payoffs(-highest - given.entry_fee, most),
        view=made_of(
            View,
            view,
            action_spaces=view.action_spaces(blank[0]),
            action_ranges=view.action_ranges(given.bids, highest / view.HIGHEST, words if talk else None),
            encode=partial(view.encode, words),
            allowed=partial(view.allowed, view.highest(blank[0])),
            load=partial(view.load, blank, words),
            state_type=view.AuctionState,
        ),
        renderer=Renderer(partial(picture.render, given.rule, given.rounds), picture.picture),
        bots=bots.BOTS,
        capabilities=Capabilities(
            talk=words.capability(given.bids + 1) if talk else None,
            public_view=PublicView(view.public),
            shown_options=ShownOptions(view.differences),
            outside_option=OutsideOption(partial(view.worth, num_actions)),
        ),
    )


def _blank(given: AuctionOptions, tables: list[tuple[float, ...]], most: float) -> Tables:
    """Return one table with these options; `most` is the highest valuation, with the noise."""
    blank = new_table(TABLE)
    table = blank[0]
    top = most if given.highest_bid is None else given.highest_bid
    table.num_bidders, table.rule = given.seats, RULES.index(given.rule)
    table.bids, table.bid_step = given.bids, top / (given.bids - 1)
    table.rounds, table.per_round = given.rounds, 1 / given.rounds
    table.per_money = 1 / most
    pool: list[float] = []
    for seat, quantiles in enumerate(tables):
        if seat == 0 or quantiles != tables[seat - 1]:
            first = len(pool)
            pool += quantiles
        table.first_point[seat], table.points[seat] = first, len(quantiles)
    table.quantiles[: len(pool)] = pool
    table.talk, table.winner = given.talk, -1
    table.values, table.units = VALUES.index(given.values), given.units
    for name in ("noise", "reserve", "entry_fee", "risk_aversion"):
        table[name] = getattr(given, name)
    return blank
