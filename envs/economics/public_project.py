"""A public project: the agents report what it is worth to them, and share its cost if it is built."""

from typing import Annotated, Any

import numpy as np

from ..core.compiled import compiled
from ..core.game import Game
from ..core.options import Options, from_options, within
from ..core.rollout import random_bot
from ..phases import Bots, Choices, Computed, End, Number, Parameter, Phase, PhaseGame, Private, Seen, bot, make
from ..phases.fields import PARAMETER, PER_SEAT, Ranges, parameters_of, ranges, seats_of, total_of
from ..phases.rules import CLOSE, sum_of


class PublicProject(Options, frozen=True, kw_only=True):
    """The options of the public project."""

    seats: Annotated[int, within(2, 8)] = 2
    """number of agents, {}."""
    cost: Annotated[float, within(0.01, 1e6), PARAMETER] = 100.0
    """the cost of the project, {}. All pay the same part of it."""
    valuations: Annotated[Ranges, PER_SEAT] = (0, 100)
    """what the project is worth to an agent, uniform between a lowest and a highest value: one pair for all agents, or
    a pair for each. A pair of equal numbers fixes it."""
    reports: Annotated[int, within(2, 256)] = 101
    """number of reports that have an action index, evenly spaced from 0 to `cost`; {}."""
    rounds: Annotated[int, within(1, 1000)] = 1
    """number of projects, one after the other, {}. The valuations stay the same."""


AT, PARAMETERS = parameters_of(PublicProject)


@from_options(PublicProject)
def game(given: PublicProject) -> Game:
    """Return the public project with these options."""
    values = ranges("valuations", given.valuations, given.seats)
    least, most = min(low for low, _ in values), max(high for _, high in values)
    return make(
        PhaseGame(
            name="public_project",
            title="Public project",
            options=given,
            phases=[Phase("report", ("report_value",))],
            actions=[Number("report_value", "report", given.cost, given.reports, "report this value, which all see")],
            amounts=(AT.cost,),
            private=Private("my_valuation", values),
            payoffs=(min(0.0, least - given.cost / given.seats), max(0.0, most - given.cost / given.seats)),
            pay=pay,
            end=end,
            pass_is_final=True,
            fields=[
                Computed("num_agents", seats_of),
                Choices("reports"),
                Computed("total_reported", total_of),
                Parameter("project_cost", AT.cost),
                Computed("built", _built),
            ],
            bots=BOTS,
        )
    )


def _built(table: Any) -> bool | None:
    return total_of(table) >= float(table.parameter[AT.cost]) - CLOSE if table.revealed else None


@compiled
def pay(table: Any) -> None:
    """If the reports cover the cost, each gets its valuation less its part of the cost."""
    cost = table.parameter[AT.cost]
    built = sum_of(table, 0) >= cost - CLOSE
    for seat in range(table.seats):
        table.rewards[seat] = table.private[seat] - cost / table.seats if built else 0.0


def end(table: Any) -> End:
    """Return the end in the platform's words."""
    built = bool(_built(table))
    details = {"total_reported": total_of(table), "project_cost": float(table.parameter[AT.cost]), "built": built}
    reason = "public_project_built" if built else "public_project_not_built"
    return End(reason, more={"trigger": "all_responded", **details})


def _equilibrium(seen: Seen) -> Any:
    cost = seen.parameter(AT.cost)
    return np.where(seen.private > cost / seen.game.seats, cost, 0.0)


def _truthful(seen: Seen) -> Any:
    return seen.private


BOTS: Bots = {"random": random_bot, "equilibrium": bot(_equilibrium), "truthful": bot(_truthful)}
"""`random`: any legal action. `equilibrium`: reports the whole cost if its valuation is above its part of the cost,
else 0; no other report is ever better. `truthful`: reports its valuation."""
