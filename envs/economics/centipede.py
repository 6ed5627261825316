"""The centipede game: two seats in turn take the larger of two piles, or push them across, which doubles them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.compiled import compiled
from ..core.game import Game
from ..core.options import number, whole
from ..core.rollout import random_bot
from ..phases import Bots, Computed, End, Named, Open, Parameter, Phase, PhaseGame, Seen, Standing, bot, make
from ..phases.fields import is_resolved, name_of, seats_of

SMALL, LARGE, PUSHES = range(3)
TAKE, PUSH = range(2)


def game(*, small_pile: float = 1.0, large_pile: float = 4.0, max_pushes: int = 10, rounds: int = 1) -> Game:
    """Return the centipede game with these options.

    Args:
        small_pile: the smaller pile at the beginning, 0 to 1,000.
        large_pile: the larger one, `small_pile` to 1,000.
        max_pushes: how many pushes there are at most, 0 to 30. After the last one, only `take` is legal.
        rounds: number of games, one after the other, 1 to 1,000.

    Raises:
        ValueError: naming the option, its value and its range.
    """
    small = number("small_pile", small_pile, 0, 1000)
    options: dict[str, Any] = {
        "small_pile": small,
        "large_pile": number("large_pile", large_pile, max(small, 0.01), 1000),
        "max_pushes": whole("max_pushes", max_pushes, 0, 30),
        "rounds": whole("rounds", rounds, 1, 1000),
    }
    large, most = options["large_pile"], options["max_pushes"]
    return make(
        PhaseGame(
            name="centipede",
            title="Centipede",
            seats=2,
            options=options,
            phases=[
                Phase(
                    "play",
                    ("take", "push"),
                    turns=most // 2 + 1,
                    may_pass=False,
                    open=Open("pushes", max(float(most), 1.0)),
                )
            ],
            actions=[
                Named("take", 1.0, "take the larger pile and leave the smaller one", "close"),
                Named("push", 0.0, "push both piles across, which doubles them"),
            ],
            parameters=[small, large, most],
            payoffs=(0.0, large * 2.0**most),
            pay=pay,
            follow=follow,
            end=end,
            fields=[
                Computed("num_agents", seats_of),
                Computed("small_pile", _small),
                Computed("large_pile", _large),
                Standing("push_count"),
                Parameter("max_pushes", PUSHES),
                Computed("can_push", _can_push),
                Computed("resolved", is_resolved),
            ],
            bots=BOTS,
        )
    )


def _small(table: Any) -> float:
    return float(table.parameter[SMALL] * 2.0 ** float(table.standing))


def _large(table: Any) -> float:
    return float(table.parameter[LARGE] * 2.0 ** float(table.standing))


def _can_push(table: Any) -> bool:
    return bool(table.standing < table.parameter[PUSHES])


@compiled
def follow(table: Any) -> None:
    """Count the pushes, from whose turn it is; the last one leaves only `take`."""
    table.standing = 2.0 * table.cycle + table.turn
    table.open[PUSH] = table.standing < table.parameter[PUSHES]


@compiled
def pay(table: Any) -> None:
    """The seat that takes gets the larger pile, and the other one the smaller."""
    factor = 2.0**table.standing
    table.rewards[table.closer] = table.parameter[LARGE] * factor
    table.rewards[1 - table.closer] = table.parameter[SMALL] * factor


def end(table: Any) -> End:
    """Return the end in the platform's words."""
    small, large, taker = _small(table), _large(table), int(table.closer)
    rows = [{"taken": large if seat == taker else small} for seat in range(2)]
    piles = {"small_pile": small, "large_pile": large}
    return End("take", rows, {"taker": name_of(taker), **piles, "push_count": int(table.standing)})


def is_taken(small: float, large: float, most: int) -> NDArray[np.bool_]:
    """Return whether subgame-perfect play takes after k pushes, for k from 0 to `most`: bool[most + 1].

    To take after k pushes is worth `large` · 2^k. To push is worth what the other seat then leaves. So everybody takes
    at once if `large` ≥ 2 · `small`, and otherwise only after the last push.
    """
    mover, other = large * 2.0**most, small * 2.0**most
    taken = [True]
    for k in range(most - 1, -1, -1):
        taken.append(large * 2.0**k >= other)
        mover, other = (large * 2.0**k, small * 2.0**k) if taken[-1] else (other, mover)
    return np.array(taken[::-1])


def _equilibrium(seen: Seen) -> Any:
    taken = is_taken(seen.parameter(SMALL), seen.parameter(LARGE), int(seen.parameter(PUSHES)))
    return np.where(taken[seen.standing.round().astype(np.int64)], 1.0, 0.0)


def _patient(seen: Seen) -> Any:
    return np.zeros(len(seen.seat))


def _middle(seen: Seen) -> Any:
    return np.where(seen.standing >= seen.parameter(PUSHES) / 2, 1.0, 0.0)


BOTS: Bots = {"random": random_bot, "equilibrium": bot(_equilibrium), "patient": bot(_patient), "middle": bot(_middle)}
"""`random`: any legal action. `equilibrium`: subgame-perfect; with the default piles it takes at once. `patient`:
pushes as long as it can. `middle`: takes after half of the pushes."""
