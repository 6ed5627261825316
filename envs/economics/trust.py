"""The trust game: an amount that is sent grows on its way, and the receiver returns what it likes."""

from typing import Any

import numpy as np

from ..core.compiled import compiled
from ..core.game import Game
from ..core.options import number, whole
from ..core.rollout import random_bot
from ..phases import Bots, ChoiceOf, End, Number, Parameter, Phase, PhaseGame, Seen, bot, make

ENDOWMENT, MULTIPLIER = range(2)
RETURN = 1
"""The index of the action type `return_amount`."""


def game(
    *,
    endowment: float = 10.0,
    multiplier: float = 3.0,
    amounts: int = 11,
    returns: int = 31,
    max_rounds: int = 3,
    rounds: int = 1,
) -> Game:
    """Return the trust game with these options.

    Args:
        endowment: what the first seat, the trustor, has; 0.01 to 1,000,000.
        multiplier: how many times the amount that is sent arrives, 0.01 to 100.
        amounts: number of amounts to send that have an action index, evenly spaced from 0 to `endowment`; 2 to 256.
        returns: number of amounts to return that have an action index, evenly spaced from 0 to `multiplier` ·
            `endowment`; 2 to 256. Those above what arrived are illegal.
        max_rounds: turns of each seat, 1 to 1,000. A seat that passes may act in a later turn; if it never does, both
            get 0.
        rounds: number of games, one after the other, 1 to 1,000.

    Raises:
        ValueError: naming the option, its value and its range.
    """
    options: dict[str, Any] = {
        "endowment": number("endowment", endowment, 0.01, 1e6),
        "multiplier": number("multiplier", multiplier, 0.01, 100),
        "amounts": whole("amounts", amounts, 2, 256),
        "returns": whole("returns", returns, 2, 256),
        "max_rounds": whole("max_rounds", max_rounds, 1, 1000),
        "rounds": whole("rounds", rounds, 1, 1000),
    }
    most = options["endowment"] * options["multiplier"]
    turns = options["max_rounds"]
    return make(
        PhaseGame(
            name="trust",
            title="Trust",
            seats=2,
            options=options,
            phases=[
                Phase("send", ("send",), seats=(0,), turns=turns),
                Phase("return", ("return_amount",), seats=(1,), turns=turns),
            ],
            actions=[
                Number(
                    "send", "amount", options["endowment"], options["amounts"], "send this amount", limit="endowment"
                ),
                Number("return_amount", "amount", most, options["returns"], "return this amount"),
            ],
            parameters=[options["endowment"], options["multiplier"]],
            amounts=(ENDOWMENT,),
            payoffs=(0.0, max(most, options["endowment"])),
            pay=pay,
            follow=bounds,
            end=end,
            roles=("trustor", "trustee"),
            role_keys=("trustor", "trustee"),
            fields=[
                Parameter("endowment", ENDOWMENT),
                Parameter("multiplier", MULTIPLIER),
                ChoiceOf("sent", 0, 0),
                ChoiceOf("returned", 1, 1),
            ],
            bots=BOTS,
        )
    )


@compiled
def bounds(table: Any) -> None:
    """Nobody can return more than what arrived."""
    table.most[RETURN] = table.parameter[MULTIPLIER] * table.number[0, 0]


@compiled
def pay(table: Any) -> None:
    """The trustor keeps E − x and gets r, the trustee gets m·x and gives r."""
    sent, returned = table.number[0, 0], table.number[1, 1]
    table.rewards[0] = table.parameter[ENDOWMENT] - sent + returned
    table.rewards[1] = table.parameter[MULTIPLIER] * sent - returned


def end(table: Any) -> End:
    """Return the end of the game in the platform's words."""
    amounts = {"sent": float(table.number[0][0]), "returned": float(table.number[1][1])}
    parameters = {"endowment": float(table.parameter[ENDOWMENT]), "multiplier": float(table.parameter[MULTIPLIER])}
    return End("trust_resolved", more={**amounts, **parameters})


def _equilibrium(seen: Seen) -> Any:
    return np.zeros(len(seen.seat))


def _equal(seen: Seen) -> Any:
    sent, arrived = seen.number[:, 0, 1], seen.parameter(MULTIPLIER) * seen.number[:, 0, 1]
    equal = (arrived - (seen.parameter(ENDOWMENT) - sent)) / 2  # then both have the same
    return np.where(seen.seat == 0, seen.parameter(ENDOWMENT), np.maximum(equal, 0.0))


def _reciprocal(seen: Seen) -> Any:
    return np.where(seen.seat == 0, seen.parameter(ENDOWMENT) / 2, seen.number[:, 0, 1])


BOTS: Bots = {
    "random": random_bot,
    "equilibrium": bot(_equilibrium),
    "equal": bot(_equal),
    "reciprocal": bot(_reciprocal),
}
"""`random`: any legal action. `equilibrium`: sends and returns nothing, which is subgame-perfect. `equal`: sends
everything, and returns what makes both equal. `reciprocal`: sends half, and returns what was sent."""
