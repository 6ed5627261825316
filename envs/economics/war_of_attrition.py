"""The war of attrition: who waits longer wins the prize, and both pay for the time until the first one gives up."""

from typing import Annotated, Any

import numpy as np

from ..core.compiled import compiled
from ..core.game import Game
from ..core.options import Options, from_options, within
from ..core.rollout import random_bot
from ..phases import Bots, Computed, End, Number, OwnChoice, Phase, PhaseGame, Seen, WhoChose, bot, make
from ..phases.fields import PARAMETER, is_resolved, name_of, parameters_of


class WarOfAttrition(Options, frozen=True, kw_only=True):
    """The options of the war of attrition."""

    prize: Annotated[float, within(0.01, 1e6), PARAMETER] = 10.0
    """what the winner gets, {}."""
    cost_rate: Annotated[float, within(0.001, 1000), PARAMETER] = 1.0
    """what a unit of time costs each agent, {}."""
    max_time: Annotated[float, within(0.01, 1e6), PARAMETER] = 50.0
    """the longest time, {}."""
    times: Annotated[int, within(2, 256)] = 101
    """number of times that have an action index, evenly spaced from 0 to `max_time`; {}."""
    max_rounds: Annotated[int, within(1, 1000)] = 6
    """turns of each agent, {}. An agent that passes may choose in a later turn; if one never does, both get 0."""
    rounds: Annotated[int, within(1, 1000)] = 1
    """number of wars, one after the other, {}."""


AT, PARAMETERS = parameters_of(WarOfAttrition)


@from_options(WarOfAttrition)
def game(given: WarOfAttrition) -> Game:
    """Return the war of attrition with these options."""
    return make(
        PhaseGame(
            name="war_of_attrition",
            title="War of attrition",
            options=given,
            phases=[Phase("choose_time", ("submit_time",), sealed=True, turns=given.max_rounds)],
            actions=[
                Number(
                    "submit_time", "t", given.max_time, given.times, "give up at this time, sealed", limit="max_time"
                )
            ],
            amounts=(AT.prize, AT.max_time),
            payoffs=(-given.cost_rate * given.max_time, given.prize),
            odds=odds,
            pay=pay,
            end=end,
            fields=[
                *PARAMETERS,
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
    cost = table.parameter[AT.cost_rate] * min(first, second)
    table.rewards[winner] = table.parameter[AT.prize] - cost
    table.rewards[1 - winner] = -cost


def end(table: Any) -> End:
    """Return the end in the platform's words."""
    times = [float(table.number[0][seat]) for seat in range(2)]
    winner = 0 if table.rewards[0] > table.rewards[1] else 1
    least, prize = min(times), float(table.parameter[AT.prize])
    details = {
        "winner": name_of(winner),
        "min_t": least,
        "cost": float(table.parameter[AT.cost_rate]) * least,
        "prize": prize,
    }
    return End("attrition_resolved", [{"t": times[seat], "won": seat == winner} for seat in range(2)], details)


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
    return mixed_time(seen.parameter(AT.prize), seen.parameter(AT.cost_rate), seen.parameter(AT.max_time), chance)


def _patient(seen: Seen) -> Any:
    return np.full(len(seen.seat), seen.parameter(AT.max_time))


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
