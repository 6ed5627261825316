"""The auction's `game` function: makes the game from its options."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ..core.capabilities import Capabilities, PublicView, ShownOptions
from ..core.encoder import Encoders
from ..core.game import Game, Payoffs
from ..core.options import number, switch, whole
from ..core.record import Tables, new_table
from ..core.rules import Rules
from ..core.structured_talk import NUM_ACTIONS, StructuredTalk
from ..core.view import View
from ..render.renderer import Renderer
from . import actions, bots, picture, render, rules, view
from .table import POINTS, RULES, SEATS, TABLE, VALUES

Quantiles = Sequence[float]


def game(
    *,
    seats: int = 2,
    rule: str = "first-price",
    valuations: Quantiles | Sequence[Quantiles] = (0, 100),
    bids: int = 101,
    highest_bid: float | None = None,
    rounds: int = 10,
    talk: bool = False,
    reserve: float = 0.0,
    entry_fee: float = 0.0,
    units: int = 1,
    values: str = "private",
    noise: float = 0.0,
    risk_aversion: float = 0.0,
) -> Game:
    """Return a sealed-bid auction with these options.

    Args:
        seats: number of bidders, 2 to 16.
        rule: ``"first-price"``: the winner pays its bid; ``"second-price"``: it pays the second-highest bid;
            ``"all-pay"``: every bidder pays its own bid.
        valuations: the distribution of the private valuations as a small table of quantiles: at least 2 numbers from 0
            to 1,000,000, never falling, at evenly spaced probabilities from 0 to 1, with linear interpolation. For
            example, ``(0, 100)`` is uniform, ``(0, 20, 100)`` has half its mass below 20, ``(70, 70)`` is always 70.
            Give one table for all seats (at most 32 numbers) or a sequence of one per seat (together at most 32).
            Every valuation is rounded to hundredths.
        bids: number of bids that have an action index, evenly spaced from 0 to `highest_bid`; 2 to 256.
        highest_bid: the grid's highest bid; None: the highest valuation. Exact bids may be ten times as high.
        rounds: number of rounds, at least 1. A seat that passes may bid in the next round; after the last one, the
            auction ends without a winner.
        talk: whether talk is a part of actions and observation (see
            `parlour.envs.core.structured_talk`). False by default: then there are only the game's own actions;
            messages can be sent by `submit` and `send` in both cases.
        reserve: the reserve price, 0 to 1,000,000. A bid below it does not take part: it does not win and pays
            nothing. With the second-price rule it is the least price.
        entry_fee: what every bid that takes part pays besides, 0 to 1,000,000. Where there is a fee, a bid of 0 does
            not take part.
        units: number of equal goods, 1 to `seats` − 1; each bidder wants one. The highest bids win. With several, the
            first-price rule is the discriminatory auction, and the second-price rule the uniform-price auction, where
            every winner pays the highest losing bid.
        values: what the good is worth to a bidder, given `valuations`. ``"private"``: its own valuation.
            ``"average"``: the mean of all valuations, to everybody (a common value). ``"common"``: a hidden number, the
            same for all, which is drawn from `valuations`; a bidder's valuation is an estimate of it.
            ``"affiliated"``: its own valuation, where valuations are close to each other: they are drawn around such a
            hidden number.
        noise: with common and affiliated values, the largest distance of a valuation from the hidden number, which is
            uniform; above 0, and at most the lowest quantile, so that no valuation is negative. Else 0.
        risk_aversion: the coefficient ρ of constant relative risk aversion, at least 0, less than 1. A gain x has the
            utility m (x / m)^(1 − ρ), with m the highest valuation; a loss counts in full.

    Raises:
        ValueError: naming the option, its value and its range.
    """
    seats = whole("seats", seats, 2, SEATS)
    if rule not in RULES:
        raise ValueError(f"rule={rule!r}: choose from {', '.join(map(repr, RULES))}")
    tables = _quantiles(valuations, seats)
    options = {
        "seats": seats,
        "rule": rule,
        "valuations": [list(quantiles) for quantiles in tables] if len(set(tables)) > 1 else list(tables[0]),
        "bids": whole("bids", bids, 2, 256),
        "highest_bid": None if highest_bid is None else number("highest_bid", highest_bid, 0.01, 1e6),
        "rounds": whole("rounds", rounds, 1, 2**20),
        "talk": switch("talk", talk),
        "reserve": number("reserve", reserve, 0, 1e6),
        "entry_fee": number("entry_fee", entry_fee, 0, 1e6),
        "units": whole("units", units, 1, seats - 1),
        "values": values,
        "noise": number("noise", noise, 0, 1e6),
        "risk_aversion": number("risk_aversion", risk_aversion, 0, 0.99),
    }
    _check_noise(options, tables)
    return _made(options, tables)


def _check_noise(options: dict[str, Any], tables: list[tuple[float, ...]]) -> None:
    """Raise ValueError unless `values` is known and `noise` fits it."""
    values, noise = options["values"], options["noise"]
    if values not in VALUES:
        raise ValueError(f"values={values!r}: choose from {', '.join(map(repr, VALUES))}")
    if values not in ("common", "affiliated"):
        if noise:
            raise ValueError(f"noise={noise:g}: with values={values!r} there is none")
    elif len(set(tables)) > 1:
        raise ValueError(f"valuations={options['valuations']!r}: with values={values!r} give one table for all seats")
    elif not 0 < noise <= tables[0][0]:
        raise ValueError(
            f"noise={noise:g}: with values={values!r} it needs to be above 0, and at most {tables[0][0]:g}, the lowest "
            "quantile"
        )


def _quantiles(valuations: Any, seats: int) -> list[tuple[float, ...]]:
    """Return one checked table of quantiles per seat."""
    message = (
        f"valuations={valuations!r}: give at least 2 quantiles from 0 to 1,000,000, never falling, or {seats} such "
        f"tables, of {POINTS} numbers together at most; the highest valuation must be at least 0.01"
    )
    try:
        shared = all(np.ndim(entry) == 0 for entry in valuations)
        each = [valuations] * seats if shared else valuations
        tables = [tuple(number("valuations", value, 0, 1e6) for value in table) for table in each]
    except (TypeError, ValueError):
        raise ValueError(message) from None
    if any(len(table) < 2 or list(table) != sorted(table) for table in tables):
        raise ValueError(message)
    numbers = len(tables[0]) if shared else sum(map(len, tables))
    if len(tables) != seats or numbers > POINTS or max(map(max, tables)) < 0.01:
        raise ValueError(message)
    return tables


def _blank(options: dict[str, Any], tables: list[tuple[float, ...]], most: float) -> Tables:
    """Return one table with these options; `most` is the highest valuation, with the noise."""
    blank = new_table(TABLE)
    table = blank[0]
    top = most if options["highest_bid"] is None else options["highest_bid"]
    table.num_bidders, table.rule = options["seats"], RULES.index(options["rule"])
    table.bids, table.bid_step = options["bids"], top / (options["bids"] - 1)
    table.rounds, table.per_round = options["rounds"], 1 / options["rounds"]
    table.per_money = 1 / most
    pool: list[float] = []
    for seat, quantiles in enumerate(tables):
        if seat == 0 or quantiles != tables[seat - 1]:
            first = len(pool)
            pool += quantiles
        table.first_point[seat], table.points[seat] = first, len(quantiles)
    table.quantiles[: len(pool)] = pool
    table.talk, table.winner = options["talk"], -1
    table.values, table.units = VALUES.index(options["values"]), options["units"]
    for name in ("noise", "reserve", "entry_fee", "risk_aversion"):
        table[name] = options[name]
    return blank


def _made(options: dict[str, Any], tables: list[tuple[float, ...]]) -> Game:
    agents = tuple(f"player_{seat}" for seat in range(options["seats"]))
    most, talk = max(map(max, tables)) + options["noise"], options["talk"]
    words = StructuredTalk(
        claim="My valuation is {}",
        announce="I will bid {}",
        threaten="I will walk away",
        appeal="Let us be fair",
        agents=agents,
        highest=most,
    )
    blank = _blank(options, tables, most)
    highest = actions.highest(blank[0])
    return Game(
        name="auction",
        agents=agents,
        options=options,
        rules=Rules(
            blank=blank,
            num_actions=options["bids"] + 1 + talk * NUM_ACTIONS,
            reset=rules.reset,
            step=rules.step,
            decode=rules.decode,
            legal=rules.legal,
        ),
        encoders=Encoders(__package__, blank),
        payoffs=Payoffs(-highest - options["entry_fee"], most),
        view=View(
            action_spaces=actions.action_spaces(blank[0]),
            action_ranges=actions.action_ranges(options["bids"], highest / actions.HIGHEST, words if talk else None),
            encode=partial(actions.encode, words),
            parse=actions.parse,
            nearest=actions.nearest,
            safe=actions.safe,
            allowed=partial(actions.allowed, actions.highest(blank[0])),
            legal=actions.legal,
            phase=view.phase,
            game_state=view.game_state,
            outcome=view.outcome,
            load=partial(view.load, blank, words),
            state_type=view.AuctionState,
            resample=view.resample,
        ),
        renderer=Renderer(render.render, picture.picture),
        bots=bots.BOTS,
        capabilities=Capabilities(
            talk=words.capability(options["bids"] + 1) if talk else None,
            public_view=PublicView(view.public),
            shown_options=ShownOptions(view.differences),
        ),
    )
