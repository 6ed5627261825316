"""The auction's rooms put together: options in, `Game` out."""

from collections.abc import Sequence
from functools import partial
from math import isfinite
from typing import Any

import numpy as np

from ..core.game import Game
from ..core.talk import NUMBERS, Talk
from . import actions, bots, observation, render, rules, view
from .table import POINTS, RULES, SEATS, TABLE

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
) -> Game:
    """Return a sealed-bid auction with these options.

    Args:
        seats: bidders, 2 to 16.
        rule: ``"first-price"``: the winner pays its bid; ``"second-price"``: it pays the second-highest bid;
            ``"all-pay"``: everybody pays the own bid.
        valuations: the distribution of the private valuations as a small table of quantiles: at least 2 numbers from 0
            to 1,000,000, never falling, at evenly spaced probabilities from 0 to 1, in straight lines between. So
            ``(0, 100)`` is uniform, ``(0, 20, 100)`` has half its mass below 20, ``(70, 70)`` is always 70. Give one
            table for all seats (at most 32 numbers) or a sequence of one per seat (together at most 32). Every
            valuation is rounded to hundredths.
        bids: how many bids the grid of action numbers has, from 0 to `highest_bid`; 2 to 256.
        highest_bid: the grid's highest bid; None: the highest valuation. Exact bids may be ten times as high.
        rounds: a seat that passes may bid in the next round; after the last one, the auction ends with nothing for all.
        talk: whether talk acts are part of actions and observation (see `parlour.envs.core.talk`). Off by default, so
            that a learner has the game's own actions only; messages then still travel by `submit` and `send`.

    Raises:
        ValueError: naming the option, its value and its range.
    """
    if not 2 <= seats <= SEATS:
        raise ValueError(f"seats={seats}: an auction has 2 to {SEATS}")
    if rule not in RULES:
        raise ValueError(f"rule={rule!r}: choose from {', '.join(map(repr, RULES))}")
    tables = _quantiles(valuations, seats)
    most = max(max(quantiles) for quantiles in tables)
    top = most if highest_bid is None else float(highest_bid)
    if not 0.01 <= top <= 1e6:
        raise ValueError(f"highest_bid={highest_bid}: need 0.01 to 1,000,000")
    if not 2 <= bids <= 256:
        raise ValueError(f"bids={bids}: need 2 to 256")
    if not 1 <= rounds < 2**20:
        raise ValueError(f"rounds={rounds}: need at least 1, and fewer than {2**20}")

    agents = tuple(f"player_{seat}" for seat in range(seats))
    words = Talk(
        claim="My valuation is {}",
        announce="I will bid {}",
        threaten="I will walk away",
        appeal="Let us be fair",
        agents=agents,
        highest=most,
    )
    blank = np.zeros(1, TABLE).view(np.recarray)
    table = blank[0]
    table.num_bidders, table.rule, table.rounds = seats, RULES.index(rule), rounds
    table.bids, table.bid_step = bids, top / (bids - 1)
    table.per_money, table.per_round = 1 / most, 1 / rounds
    pool: list[float] = []
    for seat, quantiles in enumerate(tables):
        if seat == 0 or quantiles != tables[seat - 1]:
            first = len(pool)
            pool += quantiles
        table.first_point[seat], table.points[seat] = first, len(quantiles)
    table.quantiles[: len(pool)] = pool
    table.talk, table.winner = talk, -1
    highest = actions.highest(table)
    return Game(
        name="auction",
        agents=agents,
        options={
            "seats": seats,
            "rule": rule,
            "valuations": [list(quantiles) for quantiles in tables] if len(set(tables)) > 1 else list(tables[0]),
            "bids": bids,
            "highest_bid": highest_bid,
            "rounds": rounds,
            "talk": talk,
        },
        blank=blank,
        layout=observation.layout(seats, highest / most, talk),
        num_actions=bids + 1 + talk * NUMBERS,
        reward_range=(-highest, most),
        zero_sum=False,
        action_spaces=actions.action_spaces(table),
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


def _quantiles(valuations: Any, seats: int) -> list[tuple[float, ...]]:
    """Return one checked table of quantiles per seat."""
    message = (
        f"valuations={valuations!r}: give at least 2 quantiles from 0 to 1,000,000, never falling, or {seats} such "
        f"tables, of {POINTS} numbers together at most; the highest valuation must be at least 0.01"
    )
    try:
        one = all(np.ndim(entry) == 0 for entry in valuations)
        tables = [tuple(float(value) for value in table) for table in ([valuations] * seats if one else valuations)]
    except (TypeError, ValueError):
        raise ValueError(message) from None
    for table in tables:
        rising = len(table) >= 2 and list(table) == sorted(table)
        if not rising or not all(isfinite(value) and 0 <= value <= 1e6 for value in table):
            raise ValueError(message)
    numbers = len(tables[0]) if one else sum(map(len, tables))
    if len(tables) != seats or numbers > POINTS or max(max(table) for table in tables) < 0.01:
        raise ValueError(message)
    return tables
