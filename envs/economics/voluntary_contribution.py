"""Voluntary contributions to a public good: what is given returns to all, but to each less than it gave."""

from typing import Annotated, Any

import numpy as np

from ..core.compiled import compiled
from ..core.game import Game
from ..core.options import Options, from_options, within
from ..core.rollout import random_bot
from ..phases import Bots, Choices, Computed, End, Number, Phase, PhaseGame, Seen, bot, make
from ..phases.fields import PARAMETER, is_resolved, parameters_of, seats_of, total_of
from ..phases.rules import sum_of


class VoluntaryContribution(Options, frozen=True, kw_only=True):
    """The options of the public good."""

    seats: Annotated[int, within(2, 8)] = 2
    """number of agents, {}."""
    endowment: Annotated[float, within(0.01, 1e6), PARAMETER] = 10.0
    """what each agent has, {}."""
    marginal_per_capita: Annotated[float, within(0.001, 100), PARAMETER] = 0.6
    """what each agent gets for a unit that anybody contributes, {}."""
    amounts: Annotated[int, within(2, 256)] = 11
    """number of contributions that have an action index, evenly spaced from 0 to `endowment`; {}."""
    max_rounds: Annotated[int, within(1, 1000)] = 10
    """turns of each agent, {}. An agent that passes may contribute in a later turn; if one never does, all get 0."""
    rounds: Annotated[int, within(1, 1000)] = 1
    """number of games, one after the other, {}."""


AT, PARAMETERS = parameters_of(VoluntaryContribution)


@from_options(VoluntaryContribution)
def game(given: VoluntaryContribution) -> Game:
    """Return the public good with these options."""
    return make(
        PhaseGame(
            name="voluntary_contribution",
            title="Voluntary contribution",
            options=given,
            phases=[Phase("contribute", ("contribute",), turns=given.max_rounds)],
            actions=[
                Number(
                    "contribute",
                    "amount",
                    given.endowment,
                    given.amounts,
                    "contribute this amount, which all see",
                    limit="endowment",
                )
            ],
            amounts=(AT.endowment,),
            payoffs=(
                0.0,
                max(
                    given.endowment + given.marginal_per_capita * given.endowment * (given.seats - 1),
                    given.marginal_per_capita * given.endowment * given.seats,
                ),
            ),
            pay=pay,
            end=end,
            fields=[
                Computed("num_agents", seats_of),
                *PARAMETERS,
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
    good = table.parameter[AT.marginal_per_capita] * sum_of(table, 0)
    for seat in range(table.seats):
        table.rewards[seat] = table.parameter[AT.endowment] - table.number[0, seat] + good


def end(table: Any) -> End:
    """Return the end in the platform's words."""
    parameters = {
        "endowment": float(table.parameter[AT.endowment]),
        "marginal_per_capita": float(table.parameter[AT.marginal_per_capita]),
    }
    return End(
        "vcm_resolved", more={"trigger": "all_contributed", "total_contributions": total_of(table), **parameters}
    )


def _equilibrium(seen: Seen) -> Any:
    return np.full(len(seen.seat), seen.parameter(AT.endowment) if seen.parameter(AT.marginal_per_capita) > 1 else 0.0)


def _cooperator(seen: Seen) -> Any:
    return np.full(len(seen.seat), seen.parameter(AT.endowment))


def _conditional(seen: Seen) -> Any:
    """Contribute what the others contributed last, on average: in this round, else in the last one; else everything."""
    others = seen.chosen[:, 0, 1:]
    now = (seen.number[:, 0, 1:] * others).sum(axis=1) / np.maximum(others.sum(axis=1), 1)
    last = np.where(seen.begun, seen.past[:, 1:].mean(axis=1), seen.parameter(AT.endowment))
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
