"""Bargaining's `game` function: makes the game from its options."""

from collections.abc import Sequence
from functools import partial
from math import sqrt
from typing import Any

import numpy as np

from ..core.capabilities import Capabilities, OutsideOption, PublicView, ShownOptions
from ..core.encoder import Encoders
from ..core.game import Game, Payoffs
from ..core.options import number, switch, whole
from ..core.record import Tables, new_table
from ..core.rules import Rules
from ..core.structured_talk import NUM_ACTIONS, StructuredTalk
from ..core.view import View
from ..render.renderer import Renderer
from . import actions, bots, picture, render, rules, view
from .table import ROUNDS, SEATS, TABLE

Range = Sequence[float]


def game(
    *,
    rounds: int = 10,
    total: float = 100,
    discount: float = 1.0,
    reservations: Range | Sequence[Range] | None = None,
    public: bool = False,
    offers: int = 101,
    talk: bool = False,
) -> Game:
    """Return a negotiation over a pie with these options.

    Args:
        rounds: number of rounds, 1 to 50. In a round each seat has one turn, player_0 first. After the last, both get
            0.
        total: the pie, 0.01 to 1,000,000.
        discount: factor per round, above 0 and at most 1. The factor per turn is its square root.
        reservations: range from which the reservation values are drawn uniformly, rounded to hundredths: (low, high)
            within the pie, or one such pair per seat; None: the lower half of the pie.
        public: whether both seats see both reservation values.
        offers: number of offers that have an action index, evenly spaced from 0 to `total`; 2 to 256.
        talk: whether talk is a part of actions and observation (see
            `parlour.envs.core.structured_talk`). False by default: then there are only the game's own actions;
            messages can be sent by `submit` and `send` in both cases.

    Raises:
        ValueError: naming the option, its value and its range.
    """
    total = number("total", total, 0.01, 1e6)
    ranges = _ranges((0.0, total / 2) if reservations is None else reservations, total)
    options = {
        "rounds": whole("rounds", rounds, 1, ROUNDS),
        "total": total,
        "discount": number("discount", discount, 0, 1, above=True),
        "reservations": None if reservations is None else [list(pair) for pair in ranges],
        "public": switch("public", public),
        "offers": whole("offers", offers, 2, 256),
        "talk": switch("talk", talk),
    }
    return _made(options, ranges)


def _ranges(reservations: Any, total: float) -> list[tuple[float, float]]:
    """Return one checked range per seat."""
    message = f"reservations={reservations!r}: give (low, high) with 0 ≤ low ≤ high ≤ {total:g}, or {SEATS} such pairs"
    try:
        shared = all(np.ndim(entry) == 0 for entry in reservations)
        pairs = [reservations] * SEATS if shared else reservations
        highs = [number("reservations", high, 0, total) for _low, high in pairs]
        ranges = [(number("reservations", low, 0, high), high) for (low, _), high in zip(pairs, highs, strict=True)]
    except (TypeError, ValueError):
        raise ValueError(message) from None
    if len(ranges) != SEATS:
        raise ValueError(message)
    return ranges


def _blank(options: dict[str, Any], ranges: list[tuple[float, float]]) -> Tables:
    """Return one table with these options."""
    blank = new_table(TABLE)
    table = blank[0]
    total, rounds, offers = options["total"], options["rounds"], options["offers"]
    table.rounds, table.total, table.turn_discount = rounds, total, sqrt(options["discount"])
    table.per_total, table.per_move = 1 / total, 1 / (2 * rounds)
    table.offers, table.offer_step = offers, total / (offers - 1)
    table.low, table.high = zip(*ranges, strict=True)
    table.public, table.talk, table.last_offer_by = options["public"], options["talk"], -1
    return blank


def _made(options: dict[str, Any], ranges: list[tuple[float, float]]) -> Game:
    agents = tuple(f"player_{seat}" for seat in range(SEATS))
    total, talk = options["total"], options["talk"]
    words = StructuredTalk(
        claim="My reservation value is {}",
        announce="I demand {}",
        threaten="I will walk away",
        appeal="Let us be fair",
        agents=agents,
        highest=total,
    )
    blank = _blank(options, ranges)
    num_actions = options["offers"] + 3 + talk * NUM_ACTIONS
    return Game(
        name="bargaining",
        agents=agents,
        options=options,
        rules=Rules(
            blank=blank,
            num_actions=num_actions,
            reset=rules.reset,
            step=rules.step,
            decode=rules.decode,
            legal=rules.legal,
        ),
        encoders=Encoders(__package__, blank),
        payoffs=Payoffs(-max(high for _, high in ranges), total - min(low for low, _ in ranges)),
        view=View(
            action_spaces=actions.action_spaces(total),
            action_ranges=actions.action_ranges(options["offers"], total, words if talk else None),
            encode=partial(actions.encode, words),
            parse=actions.parse,
            nearest=actions.nearest,
            safe=actions.safe,
            allowed=actions.allowed,
            phase=view.phase,
            game_state=view.game_state,
            outcome=view.outcome,
            load=partial(view.load, blank, words),
            state_type=view.BargainingState,
            resample=view.resample,
        ),
        renderer=Renderer(render.render, picture.picture),
        bots=bots.BOTS,
        capabilities=Capabilities(
            talk=words.capability(options["offers"] + 3) if talk else None,
            public_view=PublicView(view.public),
            shown_options=ShownOptions(view.differences),
            outside_option=OutsideOption(partial(actions.worth, num_actions)),
        ),
    )
