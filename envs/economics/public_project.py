"""A public project: the agents report what it is worth to them, and share its cost if it is built."""

from typing import Any

import numpy as np

from ..core.compiled import compiled
from ..core.game import Game
from ..core.options import number, whole
from ..core.rollout import random_bot
from ..phases import Bots, Choices, Computed, End, Number, Parameter, Phase, PhaseGame, Private, Seen, bot, make
from ..phases.fields import seats_of, total_of
from ..phases.options import Ranges, ranges, shown
from ..phases.rules import CLOSE, sum_of

COST = 0
"""The parameter: the cost of the project."""


def game(
    *, seats: int = 2, cost: float = 100.0, valuations: Ranges = (0, 100), reports: int = 101, rounds: int = 1
) -> Game:
    """Return the public project with these options.

    Args:
        seats: number of agents, 2 to 8.
        cost: the cost of the project, 0.01 to 1,000,000. All pay the same part of it.
        valuations: what the project is worth to an agent, uniform between a lowest and a highest value: one pair for
            all agents, or a pair for each. A pair of equal numbers fixes it.
        reports: number of reports that have an action index, evenly spaced from 0 to `cost`; 2 to 256.
        rounds: number of projects, one after the other, 1 to 1,000. The valuations stay the same.

    Raises:
        ValueError: naming the option, its value and its range.
    """
    seats = whole("seats", seats, 2, 8)
    cost = number("cost", cost, 0.01, 1e6)
    values = ranges("valuations", valuations, seats)
    options: dict[str, Any] = {
        "seats": seats,
        "cost": cost,
        "valuations": shown(values),
        "reports": whole("reports", reports, 2, 256),
        "rounds": whole("rounds", rounds, 1, 1000),
    }
    least, most = min(low for low, _ in values), max(high for _, high in values)
    return make(
        PhaseGame(
            name="public_project",
            title="Public project",
            seats=seats,
            options=options,
            phases=[Phase("report", ("report_value",))],
            actions=[Number("report_value", "report", cost, options["reports"], "report this value, which all see")],
            parameters=[cost],
            amounts=(COST,),
            private=Private("my_valuation", values),
            payoffs=(min(0.0, least - cost / seats), max(0.0, most - cost / seats)),
            pay=pay,
            end=end,
            pass_is_final=True,
            fields=[
                Computed("num_agents", seats_of),
                Choices("reports"),
                Computed("total_reported", total_of),
                Parameter("project_cost", COST),
                Computed("built", _built),
            ],
            bots=BOTS,
        )
    )


def _built(table: Any) -> bool | None:
    return total_of(table) >= float(table.parameter[COST]) - CLOSE if table.revealed else None


@compiled
def pay(table: Any) -> None:
    """If the reports cover the cost, each gets its valuation less its part of the cost."""
    cost = table.parameter[COST]
    built = sum_of(table, 0) >= cost - CLOSE
    for seat in range(table.seats):
        table.rewards[seat] = table.private[seat] - cost / table.seats if built else 0.0


def end(table: Any) -> End:
    """Return the end in the platform's words."""
    built = bool(_built(table))
    more = {"total_reported": total_of(table), "project_cost": float(table.parameter[COST]), "built": built}
    reason = "public_project_built" if built else "public_project_not_built"
    return End(reason, more={"trigger": "all_responded", **more})


def _equilibrium(seen: Seen) -> Any:
    cost = seen.parameter(COST)
    return np.where(seen.private > cost / seen.game.seats, cost, 0.0)


def _truthful(seen: Seen) -> Any:
    return seen.private


BOTS: Bots = {"random": random_bot, "equilibrium": bot(_equilibrium), "truthful": bot(_truthful)}
"""`random`: any legal action. `equilibrium`: reports the whole cost if its valuation is above its part of the cost,
else 0; no other report is ever better. `truthful`: reports its valuation."""
