"""The dictator game: one agent divides a pie, and the other has no say."""

from typing import Annotated, Any

import numpy as np

from ..core.compiled import compiled
from ..core.game import Game
from ..core.options import Options, Rule, from_options, within
from ..core.rollout import random_bot
from ..phases import Bots, Computed, End, Number, Phase, PhaseGame, Private, Seen, Split, bot, make
from ..phases.fields import PARAMETER, Ranges, is_resolved, parameters_of, ranges, seats_of, stored

SHARES = ("allocator_share", "recipient_share")


OF_THE_PIE = Rule(
    lambda option, value, pie: stored(ranges(option, (0.0, pie) if value is None else value, 2)), ("pie",)
)


class Dictator(Options, frozen=True, kw_only=True):
    """The options of the dictator game."""

    pie: Annotated[float, within(0.01, 1e6), PARAMETER] = 100.0
    """what is divided, {}."""
    reservations: Annotated[Ranges | None, OF_THE_PIE] = None
    """the private reservation values, which are subtracted from the shares: uniform between a lowest and a highest
    value, one pair for both agents or a pair for each. None: from 0 to `pie`."""
    splits: Annotated[int, within(2, 256)] = 101
    """number of splits that have an action index: allocator's shares, evenly spaced from 0 to `pie`; {}."""
    max_rounds: Annotated[int, within(1, 1000)] = 3
    """turns of the allocator, {}. If it passes in all of them, both shares are 0."""
    rounds: Annotated[int, within(1, 1000)] = 1
    """number of games, one after the other, {}. The reservation values stay the same."""


AT, PARAMETERS = parameters_of(Dictator)


@from_options(Dictator)
def game(given: Dictator) -> Game:
    """Return the dictator game with these options."""
    values = ranges("reservations", given.reservations, 2)
    split = Number(
        "allocate_split",
        SHARES[0],
        given.pie,
        given.splits,
        "keep this share and give the rest",
        rest=SHARES[1],
        limit="pie",
    )
    return make(
        PhaseGame(
            name="dictator",
            title="Dictator",
            options=given,
            phases=[Phase("allocate", ("allocate_split",), seats=(0,), turns=given.max_rounds)],
            actions=[split],
            amounts=(AT.pie,),
            private=Private("my_reservation_value", values),
            payoffs=(-max(high for _, high in values), given.pie - min(low for low, _ in values)),
            pay=pay,
            late=late,
            end=end,
            roles=("allocator", "recipient"),
            role_keys=("allocator", "recipient"),
            fields=[
                Computed("num_agents", seats_of),
                *PARAMETERS,
                Split("allocation", 0, 0, SHARES, AT.pie),
                Computed("resolved", is_resolved),
            ],
            bots=BOTS,
        )
    )


@compiled
def pay(table: Any) -> None:
    """Give each its share less its reservation value."""
    kept = table.number[0, 0]
    table.rewards[0] = kept - table.private[0]
    table.rewards[1] = table.parameter[AT.pie] - kept - table.private[1]


@compiled
def late(table: Any) -> None:
    """Without a split, the shares are 0."""
    for seat in range(2):
        table.rewards[seat] = -table.private[seat]


def end(table: Any) -> End:
    """Return the end in the platform's words."""
    if table.timeout:
        return End()
    kept = float(table.number[0][0])
    shares = [kept, float(table.parameter[AT.pie]) - kept]
    rows = [{"share": share, "reservation_value": float(table.private[seat])} for seat, share in enumerate(shares)]
    return End("dictator_allocated", rows, {"allocation": dict(zip(SHARES, shares, strict=True))})


def _equilibrium(seen: Seen) -> Any:
    return np.full(len(seen.seat), seen.parameter(AT.pie))


def _equal(seen: Seen) -> Any:
    return np.full(len(seen.seat), seen.parameter(AT.pie) / 2)


BOTS: Bots = {"random": random_bot, "equilibrium": bot(_equilibrium), "equal": bot(_equal)}
"""`random`: any legal action. `equilibrium`: keeps everything. `equal`: keeps half."""
