"""The war of attrition: who waits longer wins the prize, and both pay for the time until the first one gives up."""

from typing import Any

import numpy as np

from ..core.compiled import compiled
from ..core.game import Game
from ..core.options import number, whole
from ..core.rollout import random_bot
from ..phases import Bots, Computed, End, Number, OwnChoice, Parameter, Phase, PhaseGame, Seen, WhoChose, bot, make
from ..phases.fields import is_resolved, name_of

PRIZE, RATE, LONGEST = range(3)


def game(
    *,
    prize: float = 10.0,
    cost_rate: float = 1.0,
    max_time: float = 50.0,
    times: int = 101,
    max_rounds: int = 6,
    rounds: int = 1,
) -> Game:
    """Return the war of attrition with these options.

    Args:
        prize: what the winner gets, 0.01 to 1,000,000.
        cost_rate: what a unit of time costs each agent, 0.001 to 1,000.
        max_time: the longest time, 0.01 to 1,000,000.
        times: number of times that have an action index, evenly spaced from 0 to `max_time`; 2 to 256.
        max_rounds: turns of each agent, 1 to 1,000. An agent that passes may choose in a later turn; if one never does,
            both get 0.
        rounds: number of wars, one after the other, 1 to 1,000.

    Raises:
        ValueError: naming the option, its value and its range.
    """
    prize, longest = number("prize", prize, 0.01, 1e6), number("max_time", max_time, 0.01, 1e6)
    rate = number("cost_rate", cost_rate, 0.001, 1000)
    options: dict[str, Any] = {
        "prize": prize,
        "cost_rate": rate,
        "max_time": longest,
        "times": whole("times", times, 2, 256),
        "max_rounds": whole("max_rounds", max_rounds, 1, 1000),
        "rounds": whole("rounds", rounds, 1, 1000),
    }
    return make(
        PhaseGame(
            name="war_of_attrition",
            title="War of attrition",
            seats=2,
            options=options,
            phases=[Phase("choose_time", ("submit_time",), sealed=True, turns=options["max_rounds"])],
            actions=[
                Number("submit_time", "t", longest, options["times"], "give up at this time, sealed", limit="max_time")
            ],
            parameters=[prize, rate, longest],
            amounts=(PRIZE, LONGEST),
            payoffs=(-rate * longest, prize),
            odds=odds,
            pay=pay,
            end=end,
            fields=[
                Parameter("prize", PRIZE),
                Parameter("cost_rate", RATE),
                Parameter("max_time", LONGEST),
                WhoChose("submitted_agents", others=False),
                OwnChoice("my_time"),
                Computed("resolved", is_resolved),
            ],
            bots=BOTS,
            decimals=4,
        )
    )


@compiled
def odds(table: Any) -> float:
    """Return the probability that the first seat wins a tie."""
    return 0.5 if table.number[0, 0] == table.number[0, 1] else -1.0


@compiled
def pay(table: Any) -> None:
    """Both pay until the first gives up, and the other wins."""
    first, second = table.number[0, 0], table.number[0, 1]
    winner = 0 if first > second or table.event else 1
    cost = table.parameter[RATE] * min(first, second)
    table.rewards[winner] = table.parameter[PRIZE] - cost
    table.rewards[1 - winner] = -cost


def end(table: Any) -> End:
    """Return the end in the platform's words."""
    times = [float(table.number[0][seat]) for seat in range(2)]
    winner = 0 if table.rewards[0] > table.rewards[1] else 1
    least, prize = min(times), float(table.parameter[PRIZE])
    more = {"winner": name_of(winner), "min_t": least, "cost": float(table.parameter[RATE]) * least, "prize": prize}
    return End("attrition_resolved", [{"t": times[seat], "won": seat == winner} for seat in range(2)], more)


def mixed_time(prize: float, rate: float, longest: float, chance: Any) -> Any:
    """Return the quantiles of the symmetric equilibrium: the time at which an agent gives up, at random.

    The density is rate / prize · exp(−rate · t / prize): to wait a little longer costs as much as it wins. There is a
    longest time T: from T − prize / (2 rate) on, nobody gives up before T, where a tie wins half of the prize.

    Args:
        prize: what the winner gets.
        rate: the cost of a unit of time.
        longest: T.
        chance: float[N], probabilities from 0 to 1.

    Returns:
        float64[N].
    """
    times = -prize / rate * np.log1p(-np.minimum(np.asarray(chance, np.float64), 1 - 1e-15))
    return np.where(times > longest - prize / (2 * rate), longest, times)


def _equilibrium(seen: Seen) -> Any:
    chance = seen.random.random(len(seen.seat))
    return mixed_time(seen.parameter(PRIZE), seen.parameter(RATE), seen.parameter(LONGEST), chance)


def _patient(seen: Seen) -> Any:
    return np.full(len(seen.seat), seen.parameter(LONGEST))


def _dove(seen: Seen) -> Any:
    return np.zeros(len(seen.seat))


BOTS: Bots = {
    "random": random_bot,
    "equilibrium": bot(_equilibrium),
    "patient": bot(_patient),
    "dove": bot(_dove),
}
"""`random`: any legal action. `equilibrium`: draws a time by `mixed_time`. `patient`: waits as long as possible.
`dove`: gives up at once. `patient` against `dove` is an equilibrium, too."""
