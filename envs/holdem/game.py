"""Hold'em's rooms put together: options in, `Game` out."""

from collections.abc import Sequence
from functools import partial
from operator import index
from typing import Any

import numpy as np

from ..core.game import Game
from . import actions, bots, observation, render, rules, view
from .table import FRACTIONS, SEATS, TABLE


def game(
    *,
    seats: int = 6,
    small_blind: int = 1,
    big_blind: int = 2,
    ante: int = 0,
    stacks: int | Sequence[int] = 200,
    hands: int = 1,
    button: int | None = None,
    raise_cap: int | None = None,
    pot_fractions: Sequence[float] = (1 / 3, 1 / 2, 2 / 3, 1, 1.5, 2),
) -> Game:
    """Return no-limit hold'em with these options.

    Args:
        seats: 2 to 10.
        small_blind: chips, from 0 to the big blind.
        big_blind: chips, at least 1.
        ante: chips every player posts before the cards.
        stacks: chips at the start of an episode: one number, or one per seat (0: that seat is empty). Two seats need
            more than ante and small blind, so that an episode always has a decision.
        hands: hands per episode; stacks carry over and the button moves on. Ends early when one player has all chips.
        button: the first hand's dealer; None draws one.
        raise_cap: bets and raises allowed on a street, blinds not counted; None: no cap.
        pot_fractions: raises on the menu, as fractions of the pot after the call, rising; at most 12.

    Raises:
        ValueError: naming the option, its value and its range.
    """
    seats, hands = _whole("seats", seats), _whole("hands", hands)
    small_blind, big_blind = _whole("small_blind", small_blind), _whole("big_blind", big_blind)
    ante = _whole("ante", ante)
    button = None if button is None else _whole("button", button)
    raise_cap = None if raise_cap is None else _whole("raise_cap", raise_cap)
    if not 2 <= seats <= SEATS:
        raise ValueError(f"seats={seats}: hold'em has 2 to {SEATS}")
    each = stacks if isinstance(stacks, (Sequence, np.ndarray)) else [stacks] * seats
    per_seat = [_whole("stacks", chips) for chips in each]
    if len(per_seat) != seats or min(per_seat) < 0 or sum(chips > 0 for chips in per_seat) < 2:
        raise ValueError(f"stacks={stacks}: give one number, or {seats} of them, at least two above 0")
    if sum(chips > ante + small_blind for chips in per_seat) < 2:
        raise ValueError(
            f"stacks={stacks}, ante={ante}, small_blind={small_blind}: two seats need more than ante and small blind "
            "together, or nobody may have anything to decide"
        )
    if sum(per_seat) >= 2**30:
        raise ValueError(f"stacks={stacks}: a table holds fewer than {2**30} chips")
    if not 0 <= small_blind <= big_blind or not 1 <= big_blind < 2**30:
        raise ValueError(f"small_blind={small_blind}, big_blind={big_blind}: need 0 ≤ small ≤ big and 1 ≤ big")
    if not 0 <= ante < 2**30:
        raise ValueError(f"ante={ante}: need a number of chips from 0 up")
    if not 1 <= hands < 2**30:
        raise ValueError(f"hands={hands}: need at least 1")
    if button is not None and not 0 <= button < seats:
        raise ValueError(f"button={button}: the seats are 0 to {seats - 1}")
    if raise_cap is not None and not 0 <= raise_cap < 2**30:
        raise ValueError(f"raise_cap={raise_cap}: need a number from 0 up, or None")
    fractions = tuple(_fraction(fraction) for fraction in np.atleast_1d(np.asarray(pot_fractions, object)))
    rising = list(fractions) == sorted(set(fractions)) and all(0 < fraction < 1000 for fraction in fractions)
    if len(fractions) > FRACTIONS or not rising:
        raise ValueError(f"pot_fractions={pot_fractions}: need at most {FRACTIONS} rising numbers above 0")

    blank = np.zeros(1, TABLE).view(np.recarray)
    table = blank[0]
    table.seats, table.small_blind, table.big_blind, table.ante = seats, small_blind, big_blind, ante
    table.stacks[:seats] = per_seat
    table.hands, table.button = hands, -1 if button is None else button
    table.raise_cap = -1 if raise_cap is None else raise_cap
    table.fractions[: len(fractions)], table.num_fractions = fractions, len(fractions)
    table.deck[:] = np.arange(52)
    chips = sum(per_seat)
    return Game(
        name="holdem",
        agents=tuple(f"player_{seat}" for seat in range(seats)),
        options={
            "seats": seats,
            "small_blind": small_blind,
            "big_blind": big_blind,
            "ante": ante,
            "stacks": per_seat if each is stacks else per_seat[0],
            "hands": hands,
            "button": button,
            "raise_cap": raise_cap,
            "pot_fractions": list(fractions),
        },
        blank=blank,
        layout=observation.layout(seats, chips / (100 * big_blind)),
        num_actions=4 + len(fractions),
        reward_range=(-float(max(per_seat)), float(chips - min(per_seat))),
        zero_sum=True,
        unit=float(big_blind),
        unit_name="big blinds",
        action_spaces=actions.action_spaces(chips),
        bots=bots.BOTS,
        reset=rules.reset,
        play=rules.play,
        step=rules.step,
        menu=rules.menu,
        legal=rules.legal,
        observe=observation.observe,
        reset_batch=rules.reset_batch,
        step_batch=rules.step_batch,
        encode=actions.encode,
        decode=actions.decode,
        nearest=actions.nearest,
        safe=actions.safe,
        allowed=actions.allowed,
        phase=view.phase,
        game_state=view.game_state,
        outcome=view.outcome,
        load=partial(view.load, blank),
        redeal=view.redeal,
        render=render.render,
    )


def _whole(option: str, value: Any) -> int:
    try:
        return index(value)
    except TypeError:
        raise ValueError(f"{option}={value!r}: need a whole number") from None


def _fraction(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"pot_fractions: {value!r} is no number") from None
