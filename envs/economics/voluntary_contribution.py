"""Voluntary contributions to a public good: what is given returns to all, but to each less than it gave."""

from typing import Any

import numpy as np

from ..core.compiled import compiled
from ..core.game import Game
from ..core.options import number, whole
from ..core.rollout import random_bot
from ..phases import Bots, Choices, Computed, End, Number, Parameter, Phase, PhaseGame, Seen, bot, make
from ..phases.fields import is_resolved, seats_of, total_of
from ..phases.rules import sum_of

ENDOWMENT, MPC = range(2)


def game(
    *,
    seats: int = 2,
    endowment: float = 10.0,
    marginal_per_capita: float = 0.6,
    amounts: int = 11,
    max_rounds: int = 10,
    rounds: int = 1,
) -> Game:
    """Return the public good with these options.

    Args:
        seats: number of agents, 2 to 8.
        endowment: what each agent has, 0.01 to 1,000,000.
        marginal_per_capita: what each agent gets for a unit that anybody contributes, 0.001 to 100.
        amounts: number of contributions that have an action index, evenly spaced from 0 to `endowment`; 2 to 256.
        max_rounds: turns of each agent, 1 to 1,000. An agent that passes may contribute in a later turn; if one never
            does, all get 0.
        rounds: number of games, one after the other, 1 to 1,000.

    Raises:
        ValueError: naming the option, its value and its range.
    """
    seats = whole("seats", seats, 2, 8)
    own = number("endowment", endowment, 0.01, 1e6)
    mpc = number("marginal_per_capita", marginal_per_capita, 0.001, 100)
    options: dict[str, Any] = {
        "seats": seats,
        "endowment": own,
        "marginal_per_capita": mpc,
        "amounts": whole("amounts", amounts, 2, 256),
        "max_rounds": whole("max_rounds", max_rounds, 1, 1000),
        "rounds": whole("rounds", rounds, 1, 1000),
    }
    return make(
        PhaseGame(
            name="voluntary_contribution",
            title="Voluntary contribution",
            seats=seats,
            options=options,
            phases=[Phase("contribute", ("contribute",), turns=options["max_rounds"])],
            actions=[
                Number(
                    "contribute",
                    "amount",
                    own,
                    options["amounts"],
                    "contribute this amount, which all see",
                    limit="endowment",
                )
            ],
            parameters=[own, mpc],
            amounts=(ENDOWMENT,),
            payoffs=(0.0, max(own + mpc * own * (seats - 1), mpc * own * seats)),
            pay=pay,
            end=end,
            fields=[
                Computed("num_agents", seats_of),
                Parameter("endowment", ENDOWMENT),
                Parameter("marginal_per_capita", MPC),
                Choices("contribs"),
                Computed("total_contributions", total_of),
                Computed("resolved", is_resolved),
            ],
            bots=BOTS,
        )
    )


@compiled
def pay(table: Any) -> None:
    """Give each endowment − contribution + marginal return · total."""
    good = table.parameter[MPC] * sum_of(table, 0)
    for seat in range(table.seats):
        table.rewards[seat] = table.parameter[ENDOWMENT] - table.number[0, seat] + good


def end(table: Any) -> End:
    """Return the end in the platform's words."""
    parameters = {"endowment": float(table.parameter[ENDOWMENT]), "marginal_per_capita": float(table.parameter[MPC])}
    return End(
        "vcm_resolved", more={"trigger": "all_contributed", "total_contributions": total_of(table), **parameters}
    )


def _equilibrium(seen: Seen) -> Any:
    return np.full(len(seen.seat), seen.parameter(ENDOWMENT) if seen.parameter(MPC) > 1 else 0.0)


def _cooperator(seen: Seen) -> Any:
    return np.full(len(seen.seat), seen.parameter(ENDOWMENT))


def _conditional(seen: Seen) -> Any:
    """Contribute what the others contributed last, on average: in this round, else in the last one; else everything."""
    others = seen.chosen[:, 0, 1:]
    now = (seen.number[:, 0, 1:] * others).sum(axis=1) / np.maximum(others.sum(axis=1), 1)
    last = np.where(seen.begun, seen.past[:, 1:].mean(axis=1), seen.parameter(ENDOWMENT))
    return np.where(others.any(axis=1), now, last)


BOTS: Bots = {
    "random": random_bot,
    "equilibrium": bot(_equilibrium),
    "cooperator": bot(_cooperator),
    "conditional": bot(_conditional),
}
"""`random`: any legal action. `equilibrium`: contributes nothing, or everything where a unit returns more than itself;
no other amount is ever better. `cooperator`: contributes everything. `conditional`: contributes the mean of what it saw
from the others last, at first everything."""
