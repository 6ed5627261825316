"""The dictator game: one agent divides a pie, and the other has no say."""

from typing import Any

import numpy as np

from ..core.compiled import compiled
from ..core.game import Game
from ..core.options import number, whole
from ..core.rollout import random_bot
from ..phases import Bots, Computed, End, Number, Parameter, Phase, PhaseGame, Private, Seen, Split, bot, make
from ..phases.fields import is_resolved, seats_of
from ..phases.options import Ranges, ranges, shown

PIE = 0
SHARES = ("allocator_share", "recipient_share")


def game(
    *,
    pie: float = 100.0,
    reservations: Ranges | None = None,
    splits: int = 101,
    max_rounds: int = 3,
    rounds: int = 1,
) -> Game:
    """Return the dictator game with these options.

    Args:
        pie: what is divided, 0.01 to 1,000,000.
        reservations: the private reservation values, which are subtracted from the shares: uniform between a lowest and
            a highest value, one pair for both agents or a pair for each. None: from 0 to `pie`.
        splits: number of splits that have an action index: allocator's shares, evenly spaced from 0 to `pie`; 2 to 256.
        max_rounds: turns of the allocator, 1 to 1,000. If it passes in all of them, both shares are 0.
        rounds: number of games, one after the other, 1 to 1,000. The reservation values stay the same.

    Raises:
        ValueError: naming the option, its value and its range.
    """
    pie = number("pie", pie, 0.01, 1e6)
    values = ranges("reservations", (0.0, pie) if reservations is None else reservations, 2)
    options: dict[str, Any] = {
        "pie": pie,
        "reservations": shown(values),
        "splits": whole("splits", splits, 2, 256),
        "max_rounds": whole("max_rounds", max_rounds, 1, 1000),
        "rounds": whole("rounds", rounds, 1, 1000),
    }
    split = Number(
        "allocate_split",
        SHARES[0],
        pie,
        options["splits"],
        "keep this share and give the rest",
        rest=SHARES[1],
        limit="pie",
    )
    return make(
        PhaseGame(
            name="dictator",
            title="Dictator",
            seats=2,
            options=options,
            phases=[Phase("allocate", ("allocate_split",), seats=(0,), turns=options["max_rounds"])],
            actions=[split],
            parameters=[pie],
            amounts=(PIE,),
            private=Private("my_reservation_value", values),
            payoffs=(-max(high for _, high in values), pie - min(low for low, _ in values)),
            pay=pay,
            late=late,
            end=end,
            roles=("allocator", "recipient"),
            role_keys=("allocator", "recipient"),
            fields=[
                Computed("num_agents", seats_of),
                Parameter("pie", PIE),
                Split("allocation", 0, 0, SHARES, PIE),
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
    table.rewards[1] = table.parameter[PIE] - kept - table.private[1]


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
    shares = [kept, float(table.parameter[PIE]) - kept]
    rows = [{"share": share, "reservation_value": float(table.private[seat])} for seat, share in enumerate(shares)]
    return End("dictator_allocated", rows, {"allocation": dict(zip(SHARES, shares, strict=True))})


def _equilibrium(seen: Seen) -> Any:
    return np.full(len(seen.seat), seen.parameter(PIE))


def _equal(seen: Seen) -> Any:
    return np.full(len(seen.seat), seen.parameter(PIE) / 2)


BOTS: Bots = {"random": random_bot, "equilibrium": bot(_equilibrium), "equal": bot(_equal)}
"""`random`: any legal action. `equilibrium`: keeps everything. `equal`: keeps half."""
