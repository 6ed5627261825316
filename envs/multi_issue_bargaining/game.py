"""The function `game`: makes multi-issue bargaining from its options."""

from collections.abc import Mapping, Sequence
from functools import partial
from math import prod
from typing import Annotated, Any

from ..core.capabilities import Capabilities, OutsideOption, PublicView
from ..core.encoder import Encoders
from ..core.game import Game, Payoffs, made_of
from ..core.options import Options, Rule, from_options, number, whole, within
from ..core.record import Tables, new_table
from ..core.rules import Rules
from ..core.view import View
from ..phases.fields import Ranges, ranges, stored
from ..render.renderer import Renderer
from . import bots, picture, rules, view
from .encoders import ENCODERS
from .rules import FIXED, ISSUES, NONE, OPPOSED, OUTCOMES, RANDOM, ROUNDS, SEATS, TABLE, VALUES
from .view import Issues

Preferences = Sequence[Sequence[Sequence[float]]]
DRAWN = {"opposed": OPPOSED, "random": RANDOM}


def _issues(option: str, issues: Any) -> dict[str, int]:
    """Return the checked numbers of values by the issues' names."""
    message = (
        f"{option}={issues!r}: give 1 to {ISSUES} numbers of values, each from 2 to {VALUES}, or these by name; "
        f"their product is at most {OUTCOMES:,}"
    )
    try:
        named = dict(issues) if isinstance(issues, Mapping) else {f"issue_{k}": count for k, count in enumerate(issues)}
        counts = {name: whole(option, count, 2, VALUES) for name, count in named.items()}
    except (TypeError, ValueError):
        raise ValueError(message) from None
    names = all(isinstance(name, str) and 0 < len(name) <= 40 for name in counts)
    if not 1 <= len(counts) <= ISSUES or prod(counts.values()) > OUTCOMES or not names:
        raise ValueError(message)
    return counts


def _worth(preferences: Any, seats: int, issues: Issues) -> list[list[list[float]]]:
    """Return the checked worth of every value of every issue for every seat."""
    message = (
        "preferences: give, for each seat and each issue, one number from 0 to 1 per value "
        f"({seats} × {list(issues.values())}); the best ones of a seat sum to at most 1"
    )
    try:
        worth = [[[number("", value, 0, 1) for value in issue] for issue in seat] for seat in preferences]
    except (TypeError, ValueError):
        raise ValueError(message) from None
    sizes = [list(map(len, seat)) for seat in worth]
    if sizes != [list(issues.values())] * seats or any(sum(map(max, seat)) > 1 + 1e-9 for seat in worth):
        raise ValueError(message)
    return worth


def _as_given(option: str, issues: Any) -> dict[str, int] | list[int]:
    named = _issues(option, issues)
    return named if isinstance(issues, Mapping) else list(named.values())


def _preferences(option: str, value: Any, seats: int, issues: Any) -> Any:
    if not isinstance(value, str):
        return _worth(value, seats, _issues("issues", issues))
    if value not in DRAWN:
        raise ValueError(f"{option}={value!r}: give 'opposed', 'random', or the worth of every value")
    return value


RESERVATIONS = Rule(lambda option, value, seats: stored(ranges(option, value, seats, 1.0)), ("seats",))


class MultiIssueOptions(Options, frozen=True, kw_only=True):
    """The options of multi-issue bargaining."""

    seats: Annotated[int, within(2, SEATS)] = 2
    """number of agents, {}."""
    issues: Annotated[Sequence[int] | Mapping[str, int], Rule(_as_given)] = (4, 4, 4)
    """number of values of each issue, 2 to 10 each, for 1 to 5 issues with at most 1,024 outcomes together; or these
    numbers by the issues' names."""
    rounds: Annotated[int, within(1, ROUNDS)] = 10
    """number of rounds, {}. In a round each seat has one turn. After the last, all get 0."""
    preferences: Annotated[str | Preferences, Rule(_preferences, ("seats", "issues"))] = "opposed"
    """what the values are worth. ``"opposed"``: each agent draws private weights of the issues, uniform among those
    that sum to 1; the values of an issue are worth from 0 to its weight in even steps, rising for player_0, player_2, …
    and falling for the others. ``"random"``: the worth of each value is random too, scaled so that the best value of an
    issue is worth its weight and the worst one 0. Else the worth of every value of every issue for every seat, from 0
    to 1, with at most 1 for the best outcome."""
    reservations: Annotated[Ranges, RESERVATIONS] = (0.0, 0.4)
    """range from which the reservation values are drawn uniformly, within 0 and 1, rounded to ten-thousandths: (low,
    high), or one such pair per seat."""
    discount: Annotated[float, within(0, 1, above=True)] = 1.0
    """factor per round, above 0 and at most 1."""
    public: bool = False
    """whether all agents see all preferences and reservation values."""


@from_options(MultiIssueOptions)
def game(given: MultiIssueOptions) -> Game:
    """Return multi-issue bargaining with these options."""
    issues = _issues("issues", given.issues)
    reservations = ranges("reservations", given.reservations, given.seats, 1.0)
    worth = None if isinstance(given.preferences, str) else given.preferences
    blank = _blank(given, issues, reservations, worth)
    names = list(issues)
    outcomes = int(blank[0].outcomes)
    return Game(
        name="multi_issue_bargaining",
        agents=tuple(f"player_{seat}" for seat in range(given.seats)),
        rules=made_of(Rules, rules, blank=blank, num_actions=outcomes + 3),
        encoders=Encoders(ENCODERS, blank),
        payoffs=Payoffs(-max(high for _, high in reservations), 1.0 - min(low for low, _ in reservations)),
        view=made_of(
            View,
            view,
            action_spaces=view.action_spaces(issues),
            action_ranges=view.action_ranges(outcomes),
            encode=partial(view.encode, names),
            parse=partial(view.parse, issues),
            game_state=partial(view.game_state, issues),
            outcome=partial(view.outcome, issues),
            load=partial(view.load, blank, issues),
            state_type=view.NegotiationState,
        ),
        renderer=Renderer(picture.render, picture.picture),
        bots={**bots.BOTS, **(bots.PUBLIC_BOTS if given.public else {})},
        capabilities=Capabilities(
            public_view=PublicView(partial(view.public, issues)), outside_option=OutsideOption(view.worth)
        ),
    )


def _blank(given: MultiIssueOptions, issues: Issues, reservations: Any, worth: Any) -> Tables:
    """Return one table with these options."""
    blank = new_table(TABLE)
    table = blank[0]
    seats, rounds, counts = given.seats, given.rounds, list(issues.values())
    table.seats, table.rounds, table.issues, table.outcomes = seats, rounds, len(counts), prod(counts)
    table.values[: len(counts)] = counts
    table.discount, table.per_move = given.discount, 1 / (seats * rounds)
    table.low[:seats], table.high[:seats] = zip(*reservations, strict=True)
    table.public, table.kind = given.public, FIXED if worth else DRAWN[str(given.preferences)]
    for seat, own in enumerate(worth or ()):
        for issue, values in enumerate(own):
            table.worth[seat, issue, : len(values)] = values
    table.turn = table.current_offer = table.last_offer_by = table.left_by = NONE
    table.latest[:seats] = NONE
    return blank
