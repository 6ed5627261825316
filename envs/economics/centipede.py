"""The centipede game: two seats in turn take the larger of two piles, or push them across, which doubles them."""

from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from ..core.compiled import compiled
from ..core.game import Game
from ..core.options import Options, Rule, from_options, number, within
from ..core.rollout import random_bot
from ..phases import Bots, Computed, End, Named, Open, Parameter, Phase, PhaseGame, Seen, Standing, bot, make
from ..phases.fields import PARAMETER, is_resolved, name_of, parameters_of, seats_of

TAKE, PUSH = range(2)


LARGER = Rule(lambda option, value, small: number(option, value, max(small, 0.01), 1000), ("small_pile",))


class Centipede(Options, frozen=True, kw_only=True):
    """The options of the centipede game."""

    small_pile: Annotated[float, within(0, 1000), PARAMETER] = 1.0
    """the smaller pile at the beginning, {}."""
    large_pile: Annotated[float, LARGER, PARAMETER] = 4.0
    """the larger one, `small_pile` to 1,000."""
    max_pushes: Annotated[int, within(0, 30), PARAMETER] = 10
    """how many pushes there are at most, {}. After the last one, only `take` is legal."""
    rounds: Annotated[int, within(1, 1000)] = 1
    """number of games, one after the other, {}."""


AT, _ = parameters_of(Centipede)


@from_options(Centipede)
def game(given: Centipede) -> Game:
    """Return the centipede game with these options."""
    large, most = given.large_pile, given.max_pushes
    return make(
        PhaseGame(
            name="centipede",
            title="Centipede",
            options=given,
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
            payoffs=(0.0, large * 2.0**most),
            pay=pay,
            follow=follow,
            end=end,
            fields=[
                Computed("num_agents", seats_of),
                Computed("small_pile", _small),
                Computed("large_pile", _large),
                Standing("push_count"),
                Parameter("max_pushes", AT.max_pushes),
                Computed("can_push", _can_push),
                Computed("resolved", is_resolved),
            ],
            bots=BOTS,
        )
    )


def _small(table: Any) -> float:
    return float(table.parameter[AT.small_pile] * 2.0 ** float(table.standing))


def _large(table: Any) -> float:
    return float(table.parameter[AT.large_pile] * 2.0 ** float(table.standing))


def _can_push(table: Any) -> bool:
    return bool(table.standing < table.parameter[AT.max_pushes])


@compiled
def follow(table: Any) -> None:
    """Count the pushes, from whose turn it is; the last one leaves only `take`."""
    table.standing = 2.0 * table.cycle + table.turn
    table.open[PUSH] = table.standing < table.parameter[AT.max_pushes]


@compiled
def pay(table: Any) -> None:
    """The seat that takes gets the larger pile, and the other one the smaller."""
    factor = 2.0**table.standing
    table.rewards[table.closer] = table.parameter[AT.large_pile] * factor
    table.rewards[1 - table.closer] = table.parameter[AT.small_pile] * factor


def end(table: Any) -> End:
    """Return the end in the platform's words."""
    small, large, taker = _small(table), _large(table), int(table.closer)
    rows = [{"taken": large if seat == taker else small} for seat in range(2)]
    piles = {"small_pile": small, "large_pile": large}
    return End("take", rows, {"taker": name_of(taker), **piles, "push_count": int(table.standing)})


def is_taken(small: float, large: float, most: int) -> NDArray[np.bool_]:
    """Return, for k pushes from 0 to `most`, True if subgame-perfect play takes then: bool[most + 1].

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
    taken = is_taken(seen.parameter(AT.small_pile), seen.parameter(AT.large_pile), int(seen.parameter(AT.max_pushes)))
    return np.where(taken[seen.standing.round().astype(np.int64)], 1.0, 0.0)


def _patient(seen: Seen) -> Any:
    return np.zeros(len(seen.seat))


def _middle(seen: Seen) -> Any:
    return np.where(seen.standing >= seen.parameter(AT.max_pushes) / 2, 1.0, 0.0)


BOTS: Bots = {"random": random_bot, "equilibrium": bot(_equilibrium), "patient": bot(_patient), "middle": bot(_middle)}
"""`random`: any legal action. `equilibrium`: subgame-perfect; with the default piles it takes at once. `patient`:
pushes as long as it can. `middle`: takes after half of the pushes."""
