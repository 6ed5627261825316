"""The function `game`: makes hold'em from its options."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ..core.capabilities import Capabilities, PublicView, Setup, ShownOptions, VarianceReduction
from ..core.encoder import Encoders
from ..core.game import Game, Payoffs
from ..core.options import listed, named, number, whole
from ..core.record import Tables, new_table
from ..core.rules import Rules
from ..core.view import View
from ..render.renderer import Renderer
from . import actions, bots, fixed_cards, moves, picture, render, rules, view
from .hands import card_number
from .luck import AllInEquity, without_luck
from .range_text import weights_of
from .state import HoldemState
from .street_start import Start, chance_of, reset_from, start_of
from .table import FIRST_FRACTION, FRACTIONS, PREFLOP, SEATS, TABLE
from .view import STREETS

CHIPS = 2**30 - 1
"""The most chips on a table."""
BUTTONS = ("moving", "dead")
"""The rules by which the button moves; see `rules.move_button`."""


def game(
    *,
    seats: int = 6,
    small_blind: int = 1,
    big_blind: int = 2,
    ante: int = 0,
    stacks: int | Sequence[int] = 200,
    hands: int = 1,
    button: int | str | None = None,
    raise_cap: int | None = None,
    pot_fractions: Sequence[float] = (1 / 3, 1 / 2, 2 / 3, 1, 1.5, 2),
    start: str = "preflop",
    board: Sequence[str] | str | None = None,
    ranges: Sequence[Any] | None = None,
) -> Game:
    """Return no-limit hold'em with these options.

    Args:
        seats: number of players, 2 to 10.
        small_blind: chips, from 0 to the big blind.
        big_blind: chips, at least 1.
        ante: chips every player posts before the cards.
        stacks: chips at the start of an episode: one number, or one per seat (0: the seat is empty). At least two seats
            need more than ante and small blind together, so that every episode has a decision.
        hands: hands per episode, at least 1. Stacks carry over and the button moves. The episode ends early when one
            player has all chips.
        button: the seat of the first hand's dealer; None draws one. A word draws it too, and says how the button moves
            where a player has no chips left: "moving", the default, to the next seat with chips, as at Moltpoker;
            "dead", by the rule of the dead button, with which every player pays the big blind in turn.
        raise_cap: bets and raises allowed on a street, blinds not counted; None: no cap.
        pot_fractions: raise sizes that have an action index, as fractions of the pot after the call: at most 12 rising
            numbers above 0.
        start: the street of the first decision, preflop, flop, turn or river. Every seat has posted and called before.
            A bigger `ante` makes a bigger pot.
        board: the first cards of the board, such as "2c7dKh" or ["2c", "7d", "Kh"]; None: drawn.
        ranges: for every seat the hole cards that it can have: text such as "AA,KQs:0.5,T9o+" (which needs PokerKit),
            or 1,326 weights in the order of `parlour.envs.holdem.ranges.HOLDINGS`, or None: any. None: any for all.

    With `start`, `board` or `ranges` an episode is one hand, and nobody's seat is empty. If `button` is given and there
    are at most 10,000 deals, the random events can be enumerated: `parlour solve` solves the game.

    Raises:
        ValueError: naming the option, its value and its range.
        ImportError: for ranges as text, if PokerKit is not installed.
    """
    seats = whole("seats", seats, 2, SEATS)
    options = {
        "seats": seats,
        "small_blind": whole("small_blind", small_blind, 0, CHIPS),
        "big_blind": whole("big_blind", big_blind, 1, CHIPS),
        "ante": whole("ante", ante, 0, CHIPS),
        "stacks": _stacks(stacks, seats),
        "hands": whole("hands", hands, 1, 2**30),
        "button": _button(button, seats),
        "raise_cap": None if raise_cap is None else whole("raise_cap", raise_cap, 0, 2**30),
        "pot_fractions": _fractions(pot_fractions),
        "start": named("street", start, STREETS),
        "board": None if board is None else _board(board),
        "ranges": None if ranges is None else _ranges(ranges, seats),
    }
    _check_together(options)
    return _made(options, _start(options))


def _button(button: Any, seats: int) -> int | str | None:
    if isinstance(button, str):
        return named("button", button, BUTTONS)
    return None if button is None else whole("button", button, 0, seats - 1)


def _stacks(stacks: Any, seats: int) -> int | list[int]:
    if not listed(stacks):
        return whole("stacks", stacks, 1, CHIPS)
    per_seat = [whole("stacks", chips, 0, CHIPS) for chips in stacks]
    if len(per_seat) != seats or sum(chips > 0 for chips in per_seat) < 2:
        raise ValueError(f"stacks={stacks}: give one number, or {seats} of them, at least two above 0")
    return per_seat


def _fractions(pot_fractions: Any) -> list[float]:
    each = np.atleast_1d(np.asarray(pot_fractions, object))
    fractions = [number("pot_fractions", fraction, 0, 1000, above=True) for fraction in each]
    if len(fractions) > FRACTIONS or fractions != sorted(set(fractions)):
        raise ValueError(f"pot_fractions={pot_fractions}: need at most {FRACTIONS} rising numbers above 0")
    return fractions


def _board(board: Any) -> list[str]:
    names = list(map(str, board)) if listed(board) else None
    if isinstance(board, str):
        cards = board.replace(" ", "")
        names = [cards[k : k + 2] for k in range(0, len(cards), 2)]
    if names is None or len(names) > 5 or len({card_number(name) for name in names}) < len(names):
        raise ValueError(f"board={board!r}: need at most five different cards, such as '2c7dKh'")
    return names


def _ranges(ranges: Any, seats: int) -> list[Any]:
    if not listed(ranges) or len(ranges) != seats:
        raise ValueError(f"ranges={ranges!r:.60}: give a range, or None, for each of the {seats} seats")
    return [each if each is None or isinstance(each, str) else weights_of(each).tolist() for each in ranges]


def _start(options: dict[str, Any]) -> Start | None:
    """Return how hands begin; None: as usual, with the blinds and a shuffled deck."""
    street, board, ranges = options["start"], options["board"], options["ranges"]
    if street == "preflop" and board is None and ranges is None:
        return None
    each = [
        None if one is None else weights_of(one).astype(float).tobytes() for one in ranges or [None] * options["seats"]
    ]
    start = start_of(PREFLOP + STREETS.index(street), tuple(map(card_number, board or ())), tuple(each))
    if not start.can_be_dealt():
        raise ValueError(f"board={board}, ranges={ranges!r:.60}: no hands of these ranges can be dealt together")
    return start


def _check_together(options: dict[str, Any]) -> None:
    """Check the options that depend on each other."""
    if any(options[name] not in (None, "preflop") for name in ("start", "board", "ranges")):
        _check_start(options)
    stacks, ante = options["stacks"], options["ante"]
    small_blind, big_blind = options["small_blind"], options["big_blind"]
    if small_blind > big_blind:
        raise ValueError(f"small_blind={small_blind}, big_blind={big_blind}: the small blind is at most the big blind")
    per_seat = _per_seat(options)
    if sum(chips > ante + small_blind for chips in per_seat) < 2:
        raise ValueError(
            f"stacks={stacks}, ante={ante}, small_blind={small_blind}: two seats need more than ante and small blind "
            "together, or an episode may have no decision"
        )
    if sum(per_seat) > CHIPS:
        raise ValueError(f"stacks={stacks}: a table holds at most {CHIPS:,} chips")


def _check_start(options: dict[str, Any]) -> None:
    per_seat, least = _per_seat(options), options["ante"] + options["big_blind"]
    if options["hands"] != 1 or min(per_seat) == 0:
        raise ValueError(
            f"hands={options['hands']}, stacks={options['stacks']}: with start, board or ranges an episode is one "
            "hand, and no seat is empty"
        )
    if options["start"] != "preflop" and sum(chips > least for chips in per_seat) < 2:
        raise ValueError(
            f"start={options['start']!r}, stacks={options['stacks']}: two seats need more than ante and big blind "
            f"together, which are {least}, or an episode may have no decision"
        )


def _per_seat(options: dict[str, Any]) -> list[int]:
    stacks = options["stacks"]
    return stacks if isinstance(stacks, list) else [stacks] * options["seats"]


def _blank(options: dict[str, Any]) -> Tables:
    """Return one table with these options."""
    blank = new_table(TABLE)
    table = blank[0]
    for name in ("seats", "small_blind", "big_blind", "ante", "hands"):
        table[name] = options[name]
    table.button = options["button"] if isinstance(options["button"], int) else -1
    table.dead_button = options["button"] == "dead"
    table.raise_cap = -1 if options["raise_cap"] is None else options["raise_cap"]
    table.stacks[: options["seats"]] = _per_seat(options)
    fractions = options["pot_fractions"]
    table.fractions[: len(fractions)], table.num_fractions = fractions, len(fractions)
    table.deck[:] = np.arange(52)
    return blank


def _made(options: dict[str, Any], start: Start | None) -> Game:
    blank, per_seat = _blank(options), _per_seat(options)
    chips = sum(per_seat)
    return Game(
        name="holdem",
        agents=tuple(f"player_{seat}" for seat in range(options["seats"])),
        options=options,
        rules=Rules(
            blank=blank,
            num_actions=FIRST_FRACTION + len(options["pot_fractions"]) + 1,
            reset=rules.reset if start is None else reset_from(start),
            step=rules.step,
            decode=moves.decode,
            legal=moves.legal,
        ),
        encoders=Encoders(__package__, blank),
        payoffs=Payoffs(
            low=-float(max(per_seat)),
            high=float(chips - min(per_seat)),
            zero_sum=True,
            unit=float(options["big_blind"]),
            unit_name="big blinds",
            reward_name="chips",
            episode_name="hand" if options["hands"] == 1 else "game",
        ),
        view=View(
            action_spaces=actions.action_spaces(chips),
            action_ranges=actions.action_ranges(options["pot_fractions"]),
            encode=actions.encode,
            parse=actions.parse,
            nearest=actions.nearest,
            safe=actions.safe,
            allowed=actions.allowed,
            phase=view.phase,
            game_state=view.game_state,
            outcome=view.outcome,
            load=partial(view.load, blank),
            resample=view.resample,
            state_type=HoldemState,
        ),
        renderer=Renderer(render.render, picture.picture),
        bots=bots.BOTS,
        capabilities=Capabilities(
            public_view=PublicView(view.public),
            setup=Setup(fixed_cards.NAMES, fixed_cards.set_cards if start is None else fixed_cards.refuse),
            variance_reduction=VarianceReduction(
                expected_rewards=partial(AllInEquity, options["seats"]), without_luck=partial(without_luck, options)
            ),
            shown_options=ShownOptions(view.differences),
            chance=None if start is None or not isinstance(options["button"], int) else chance_of(start),
        ),
    )
