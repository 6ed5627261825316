"""The trust game: an amount that is sent grows on its way, and the receiver returns what it likes."""

from typing import Annotated, Any

import numpy as np

from ..core.compiled import compiled
from ..core.game import Game
from ..core.options import Options, from_options, within
from ..core.rollout import random_bot
from ..phases import Bots, ChoiceOf, End, Number, Phase, PhaseGame, Seen, bot, make
from ..phases.fields import PARAMETER, parameters_of

RETURN = 1
"""The index of the action type `return_amount`."""


class Trust(Options, frozen=True, kw_only=True):
    """The options of the trust game."""

    endowment: Annotated[float, within(0.01, 1e6), PARAMETER] = 10.0
    """what the first seat, the trustor, has; {}."""
    multiplier: Annotated[float, within(0.01, 100), PARAMETER] = 3.0
    """how many times the amount that is sent arrives, {}."""
    amounts: Annotated[int, within(2, 256)] = 11
    """number of amounts to send that have an action index, evenly spaced from 0 to `endowment`; {}."""
    returns: Annotated[int, within(2, 256)] = 31
    """number of amounts to return that have an action index, evenly spaced from 0 to `multiplier` · `endowment`; {}.
    Those above what arrived are illegal."""
    max_rounds: Annotated[int, within(1, 1000)] = 3
    """turns of each seat, {}. A seat that passes may act in a later turn; if it never does, both get 0."""
    rounds: Annotated[int, within(1, 1000)] = 1
    """number of games, one after the other, {}."""


AT, PARAMETERS = parameters_of(Trust)


@from_options(Trust)
def game(given: Trust) -> Game:
    """Return the trust game with these options."""
    most = given.endowment * given.multiplier
    return make(
        PhaseGame(
            name="trust",
            title="Trust",
            options=given,
            phases=[
                Phase("send", ("send",), seats=(0,), turns=given.max_rounds),
                Phase("return", ("return_amount",), seats=(1,), turns=given.max_rounds),
            ],
            actions=[
                Number("send", "amount", given.endowment, given.amounts, "send this amount", limit="endowment"),
                Number("return_amount", "amount", most, given.returns, "return this amount"),
            ],
            amounts=(AT.endowment,),
            payoffs=(0.0, max(most, given.endowment)),
            pay=pay,
            follow=bounds,
            end=end,
            roles=("trustor", "trustee"),
            role_keys=("trustor", "trustee"),
            fields=[
                *PARAMETERS,
                ChoiceOf("sent", 0, 0),
                ChoiceOf("returned", 1, 1),
            ],
            bots=BOTS,
        )
    )


@compiled
def bounds(table: Any) -> None:
    """Nobody can return more than what arrived."""
    table.most[RETURN] = table.parameter[AT.multiplier] * table.number[0, 0]


@compiled
def pay(table: Any) -> None:
    """The trustor keeps E − x and gets r, the trustee gets m·x and gives r."""
    sent, returned = table.number[0, 0], table.number[1, 1]
    table.rewards[0] = table.parameter[AT.endowment] - sent + returned
    table.rewards[1] = table.parameter[AT.multiplier] * sent - returned


def end(table: Any) -> End:
    """Return the end of the game in the platform's words."""
    amounts = {"sent": float(table.number[0][0]), "returned": float(table.number[1][1])}
    parameters = {
        "endowment": float(table.parameter[AT.endowment]),
        "multiplier": float(table.parameter[AT.multiplier]),
    }
    return End("trust_resolved", more={**amounts, **parameters})


def _equilibrium(seen: Seen) -> Any:
    return np.zeros(len(seen.seat))


def _equal(seen: Seen) -> Any:
    sent, arrived = seen.number[:, 0, 1], seen.parameter(AT.multiplier) * seen.number[:, 0, 1]
    equal = (arrived - (seen.parameter(AT.endowment) - sent)) / 2  # then both have the same
    return np.where(seen.seat == 0, seen.parameter(AT.endowment), np.maximum(equal, 0.0))


def _reciprocal(seen: Seen) -> Any:
    return np.where(seen.seat == 0, seen.parameter(AT.endowment) / 2, seen.number[:, 0, 1])


BOTS: Bots = {
    "random": random_bot,
    "equilibrium": bot(_equilibrium),
    "equal": bot(_equal),
    "reciprocal": bot(_reciprocal),
}
"""`random`: any legal action. `equilibrium`: sends and returns nothing, which is subgame-perfect. `equal`: sends
everything, and returns what makes both equal. `reciprocal`: sends half, and returns what was sent."""
