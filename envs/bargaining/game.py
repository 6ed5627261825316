"""Bargaining's `game` function: makes the game from its options."""

from collections.abc import Sequence
from functools import partial
from math import sqrt
from typing import Annotated, Any

import numpy as np

from ..core.capabilities import Capabilities, OutsideOption, PublicView, ShownOptions
from ..core.encoder import Encoders
from ..core.game import Game, Payoffs, made_of
from ..core.options import Options, Rule, from_options, number, within
from ..core.record import Tables, new_table
from ..core.rules import Rules
from ..core.structured_talk import NUM_ACTIONS, StructuredTalk
from ..core.view import View
from ..render.renderer import Renderer
from . import bots, picture, rules, view
from .encoders import ENCODERS
from .rules import ROUNDS, SEATS, TABLE

Range = Sequence[float]


def _ranges(option: str, reservations: Any, total: float) -> list[tuple[float, float]]:
    """Return one checked range per seat."""
    message = f"{option}={reservations!r}: give (low, high) with 0 ≤ low ≤ high ≤ {total:g}, or {SEATS} such pairs"
    try:
        shared = all(np.ndim(entry) == 0 for entry in reservations)
        pairs = [reservations] * SEATS if shared else reservations
        highs = [number(option, high, 0, total) for _low, high in pairs]
        ranges = [(number(option, low, 0, high), high) for (low, _), high in zip(pairs, highs, strict=True)]
    except (TypeError, ValueError):
        raise ValueError(message) from None
    if len(ranges) != SEATS:
        raise ValueError(message)
    return ranges


def _pairs(option: str, value: Any, total: float) -> list[list[float]] | None:
    return None if value is None else [list(pair) for pair in _ranges(option, value, total)]


class BargainingOptions(Options, frozen=True, kw_only=True):
    """The options of bargaining."""

    rounds: Annotated[int, within(1, ROUNDS)] = 10
    """number of rounds, {}. In a round each seat has one turn, player_0 first. After the last, both get 0."""
    total: Annotated[float, within(0.01, 1e6)] = 100
    """the pie, {}."""
    discount: Annotated[float, within(0, 1, above=True)] = 1.0
    """factor per round, above 0 and at most 1. The factor per turn is its square root."""
    reservations: Annotated[Sequence[float | Range] | None, Rule(_pairs, ("total",))] = None
    """range from which the reservation values are drawn uniformly, rounded to hundredths: (low, high) within the pie,
    or one such pair per seat; None: the lower half of the pie."""
    public: bool = False
    """whether both seats see both reservation values."""
    offers: Annotated[int, within(2, 256)] = 101
    """number of offers that have an action index, evenly spaced from 0 to `total`; {}."""
    talk: bool = False
    """whether talk is a part of actions and observation (see `parlour.envs.core.structured_talk`). False by default:
    then there are only the game's own actions; messages can be sent by `submit` and `send` in both cases."""


@from_options(BargainingOptions)
def game(given: BargainingOptions) -> Game:
    """Return a negotiation over a pie with these options."""
    agents = tuple(f"player_{seat}" for seat in range(SEATS))
    total, talk = given.total, given.talk
    words = StructuredTalk(
        claim="My reservation value is {}",
        announce="I demand {}",
        threaten="I will walk away",
        appeal="Let us be fair",
        agents=agents,
        highest=total,
    )
    ranges = (
        _ranges("reservations", given.reservations, given.total) if given.reservations else [(0.0, total / 2)] * SEATS
    )
    blank = _blank(given, ranges)
    num_actions = given.offers + 3 + talk * NUM_ACTIONS
    return Game(
        name="bargaining",
        agents=agents,
        rules=made_of(Rules, rules, blank=blank, num_actions=num_actions),
        encoders=Encoders(ENCODERS, blank),
        payoffs=Payoffs(-max(high for _, high in ranges), total - min(low for low, _ in ranges)),
        view=made_of(
            View,
            view,
            action_spaces=view.action_spaces(total),
            action_ranges=view.action_ranges(given.offers, total, words if talk else None),
            encode=partial(view.encode, words),
            load=partial(view.load, blank, words),
            state_type=view.BargainingState,
        ),
        renderer=Renderer(partial(picture.render, given.rounds), picture.picture),
        bots=bots.BOTS,
        capabilities=Capabilities(
            talk=words.capability(given.offers + 3) if talk else None,
            public_view=PublicView(view.public),
            shown_options=ShownOptions(view.differences),
            outside_option=OutsideOption(partial(view.worth, num_actions)),
        ),
    )


def _blank(given: BargainingOptions, ranges: list[tuple[float, float]]) -> Tables:
    """Return one table with these options."""
    blank = new_table(TABLE)
    table = blank[0]
    total, rounds, offers = given.total, given.rounds, given.offers
    table.rounds, table.total, table.turn_discount = rounds, total, sqrt(given.discount)
    table.per_total, table.per_move = 1 / total, 1 / (2 * rounds)
    table.offers, table.offer_step = offers, total / (offers - 1)
    table.low, table.high = zip(*ranges, strict=True)
    table.public, table.talk, table.last_offer_by = given.public, given.talk, -1
    return blank
