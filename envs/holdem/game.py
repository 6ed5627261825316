"""The function `game`: makes hold'em from its options."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

import numpy as np
from msgspec.structs import asdict

from ..core.capabilities import Capabilities, PublicView, Setup, ShownOptions, VarianceReduction
from ..core.encoder import Encoders
from ..core.game import Game, Payoffs, made_of
from ..core.options import Options, Rule, from_options, listed, named, number, whole, within
from ..core.record import Tables, new_table
from ..core.rules import Rules
from ..core.view import View
from ..render.renderer import Renderer
from . import bots, picture, rules, view
from .encoders import ENCODERS
from .hands import card_number
from .luck import AllInEquity, without_luck
from .ranges import weights_of
from .start import NAMES, Start, chance_of, refuse, reset_from, set_cards, start_of
from .table import FIRST_FRACTION, FRACTIONS, PREFLOP, SEATS, TABLE
from .view import STREETS, HoldemState

CHIPS = 2**30 - 1
"""The most chips on a table."""
BUTTONS = ("moving", "dead")
"""The rules by which the button moves; see `rules.move_button`."""


def _button(option: str, button: Any, seats: int) -> int | str | None:
    if isinstance(button, str):
        return named(option, button, BUTTONS)
    return None if button is None else whole(option, button, 0, seats - 1)


def _stacks(option: str, stacks: Any, seats: int) -> int | list[int]:
    if not listed(stacks):
        return whole(option, stacks, 1, CHIPS)
    per_seat = [whole(option, chips, 0, CHIPS) for chips in stacks]
    if len(per_seat) != seats or sum(chips > 0 for chips in per_seat) < 2:
        raise ValueError(f"{option}={stacks}: give one number, or {seats} of them, at least two above 0")
    return per_seat


def _fractions(option: str, pot_fractions: Any) -> list[float]:
    each = np.atleast_1d(np.asarray(pot_fractions, object))
    fractions = [number(option, fraction, 0, 1000, above=True) for fraction in each]
    if len(fractions) > FRACTIONS or fractions != sorted(set(fractions)):
        raise ValueError(f"{option}={pot_fractions}: need at most {FRACTIONS} rising numbers above 0")
    return fractions


def _board(option: str, board: Any) -> list[str] | None:
    if board is None:
        return None
    names = list(map(str, board)) if listed(board) else None
    if isinstance(board, str):
        cards = board.replace(" ", "")
        names = [cards[k : k + 2] for k in range(0, len(cards), 2)]
    if names is None or len(names) > 5 or len({card_number(name) for name in names}) < len(names):
        raise ValueError(f"{option}={board!r}: need at most five different cards, such as '2c7dKh'")
    return names


def _ranges(option: str, ranges: Any, seats: int) -> list[Any] | None:
    if ranges is None:
        return None
    if not listed(ranges) or len(ranges) != seats:
        raise ValueError(f"{option}={ranges!r:.60}: give a range, or None, for each of the {seats} seats")
    return [each if each is None or isinstance(each, str) else weights_of(each).tolist() for each in ranges]


class HoldemOptions(Options, frozen=True, kw_only=True):
    """The options of hold'em."""

    seats: Annotated[int, within(2, SEATS)] = 6
    """number of players, {}."""
    small_blind: Annotated[int, within(0, CHIPS)] = 1
    """chips, from 0 to the big blind."""
    big_blind: Annotated[int, within(1, CHIPS)] = 2
    """chips, at least 1."""
    ante: Annotated[int, within(0, CHIPS)] = 0
    """chips every player posts before the cards."""
    stacks: Annotated[int | Sequence[int], Rule(_stacks, ("seats",))] = 200
    """chips at the start of an episode: one number, or one per seat (0: the seat is empty). At least two seats need
    more than ante and small blind together, so that every episode has a decision."""
    hands: Annotated[int, within(1, 2**30)] = 1
    """hands per episode, at least 1. Stacks carry over and the button moves. The episode ends early when one player has
    all chips."""
    fewest: Annotated[int | None, within(2, "seats")] = None
    """the fewest players of an episode: it draws their number, from this one to `seats`, and whose seats are empty.
    None: all play."""
    button: Annotated[int | str | None, Rule(_button, ("seats",))] = None
    """the seat of the first hand's dealer; None draws one. A word draws it too, and says how the button moves where a
    player has no chips left: "moving", the default, to the next seat with chips, as at Moltpoker; "dead", by the rule
    of the dead button, with which every player pays the big blind in turn."""
    raise_cap: Annotated[int | None, within(0, 2**30)] = None
    """bets and raises allowed on a street, blinds not counted; None: no cap."""
    pot_fractions: Annotated[Sequence[float], Rule(_fractions)] = (1 / 3, 1 / 2, 2 / 3, 1, 1.5, 2)
    """raise sizes that have an action index, as fractions of the pot after the call: at most 12 rising numbers above
    0."""
    start: Annotated[str, Rule(lambda option, street: named(option, street, STREETS))] = "preflop"
    """the street of the first decision, preflop, flop, turn or river. Every seat has posted and called before. A bigger
    `ante` makes a bigger pot."""
    board: Annotated[Sequence[str] | str | None, Rule(_board)] = None
    """the first cards of the board, such as "2c7dKh" or ["2c", "7d", "Kh"]; None: drawn."""
    ranges: Annotated[Sequence[Any] | None, Rule(_ranges, ("seats",))] = None
    """for every seat the hole cards that it can have: text such as "AA,KQs:0.5,T9o+" (which needs PokerKit), or 1,326
    weights in the order of `parlour.envs.holdem.ranges.HOLDINGS`, or None: any. None: any for all."""

    def check_together(self) -> None:
        """Check the options that depend on each other."""
        if any(getattr(self, name) not in (None, "preflop") for name in ("start", "board", "ranges")):
            self._check_start()
        stacks, ante = self.stacks, self.ante
        small_blind, big_blind = self.small_blind, self.big_blind
        if small_blind > big_blind:
            raise ValueError(
                f"small_blind={small_blind}, big_blind={big_blind}: the small blind is at most the big blind"
            )
        per_seat = _per_seat(self)
        if self.fewest is not None and (min(per_seat) <= ante + small_blind or self.start != "preflop"):
            raise ValueError(
                f"fewest={self.fewest}, stacks={stacks}, start={self.start!r}: an episode with fewer "
                "players begins before the flop, and every seat needs more than ante and small blind together"
            )
        if sum(chips > ante + small_blind for chips in per_seat) < 2:
            raise ValueError(
                f"stacks={stacks}, ante={ante}, small_blind={small_blind}: two seats need more than ante and small "
                "blind together, or an episode may have no decision"
            )
        if sum(per_seat) > CHIPS:
            raise ValueError(f"stacks={stacks}: a table holds at most {CHIPS:,} chips")

    def _check_start(self) -> None:
        per_seat, least = _per_seat(self), self.ante + self.big_blind
        if self.hands != 1 or min(per_seat) == 0:
            raise ValueError(
                f"hands={self.hands}, stacks={self.stacks}: with start, board or ranges an episode is one "
                "hand, and no seat is empty"
            )
        if self.start != "preflop" and sum(chips > least for chips in per_seat) < 2:
            raise ValueError(
                f"start={self.start!r}, stacks={self.stacks}: two seats need more than ante and big blind "
                f"together, which are {least}, or an episode may have no decision"
            )


@from_options(HoldemOptions)
def game(given: HoldemOptions) -> Game:
    """Return no-limit hold'em with these options.

    With `start`, `board` or `ranges` an episode is one hand, and nobody's seat is empty. If `button` is given and there
    are at most 10,000 deals, the random events can be enumerated: `parlour solve` solves the game.
    """
    start = _start(given)
    blank, per_seat = _blank(given), _per_seat(given)
    chips = sum(per_seat)
    return Game(
        name="holdem",
        agents=tuple(f"player_{seat}" for seat in range(given.seats)),
        rules=made_of(
            Rules,
            rules,
            blank=blank,
            num_actions=FIRST_FRACTION + len(given.pot_fractions) + 1,
            reset=rules.reset if start is None else reset_from(start),
        ),
        encoders=Encoders(ENCODERS, blank),
        payoffs=Payoffs(
            low=-float(max(per_seat)),
            high=float(chips - min(per_seat)),
            zero_sum=True,
            unit=float(given.big_blind),
            unit_name="big blinds",
            reward_name="chips",
            episode_name="hand" if given.hands == 1 else "game",
        ),
        view=made_of(
            View,
            view,
            action_spaces=view.action_spaces(chips),
            action_ranges=view.action_ranges(given.pot_fractions),
            load=partial(view.load, blank),
            familiar=partial(view.familiar, blank),
            state_type=HoldemState,
        ),
        renderer=Renderer(picture.render, picture.picture),
        bots=bots.BOTS,
        capabilities=Capabilities(
            public_view=PublicView(view.public),
            setup=Setup(NAMES, set_cards if start is None else refuse),
            variance_reduction=VarianceReduction(
                expected_rewards=partial(AllInEquity, given.seats), without_luck=partial(without_luck, asdict(given))
            ),
            shown_options=ShownOptions(view.differences),
            chance=None if start is None or not isinstance(given.button, int) else chance_of(start),
        ),
    )


def _start(given: HoldemOptions) -> Start | None:
    """Return the start of the hands; None: the usual one, with the blinds and a shuffled deck."""
    street, board, ranges = given.start, given.board, given.ranges
    if street == "preflop" and board is None and ranges is None:
        return None
    each = [None if one is None else weights_of(one).astype(float).tobytes() for one in ranges or [None] * given.seats]
    start = start_of(PREFLOP + STREETS.index(street), tuple(map(card_number, board or ())), tuple(each))
    if not start.can_be_dealt():
        raise ValueError(f"board={board}, ranges={ranges!r:.60}: no hands of these ranges can be dealt together")
    return start


def _per_seat(given: HoldemOptions) -> list[int]:
    stacks = given.stacks
    return [stacks] * given.seats if isinstance(stacks, int) else list(stacks)


def _blank(given: HoldemOptions) -> Tables:
    """Return one table with these options."""
    blank = new_table(TABLE)
    table = blank[0]
    for name in ("seats", "small_blind", "big_blind", "ante", "hands"):
        table[name] = getattr(given, name)
    table.button = given.button if isinstance(given.button, int) else -1
    table.dead_button = given.button == "dead"
    table.raise_cap = -1 if given.raise_cap is None else given.raise_cap
    table.fewest = given.fewest or 0
    table.stacks[: given.seats] = _per_seat(given)
    fractions = given.pot_fractions
    table.fractions[: len(fractions)], table.num_fractions = fractions, len(fractions)
    table.deck[:] = np.arange(52)
    return blank
