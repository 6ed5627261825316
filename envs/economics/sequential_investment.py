"""Sequential investment: a leader invests, a follower sees it and invests, and both share what comes of it."""

from typing import Annotated, Any

import numpy as np

from ..core.compiled import compiled
from ..core.game import Game
from ..core.options import Options, from_options, one_of, within
from ..core.rollout import random_bot
from ..phases import Bots, Choices, Computed, End, Number, Parameter, Phase, PhaseGame, Seen, bot, make
from ..phases.fields import PARAMETER, is_resolved, name_of, parameters_of

COMPLEMENTS = 2
"""The parameter after those of the options: whether `interaction` is ``"complements"``."""
INTERACTIONS = ("substitutes", "complements")
ROLES = ("leader", "follower")


class SequentialInvestment(Options, frozen=True, kw_only=True):
    """The options of sequential investment."""

    investment_cost: Annotated[float, within(0, 1000), PARAMETER] = 1.0
    """the cost of a unit that is invested, {}."""
    payoff_scale: Annotated[float, within(0.001, 1000), PARAMETER] = 10.0
    """the scale of the joint benefit, {}."""
    interaction: Annotated[str, one_of(INTERACTIONS)] = "complements"
    """``"complements"``: the joint benefit is scale · leader's · follower's investment; ``"substitutes"``: scale ·
    their sum."""
    highest: Annotated[float, within(0.01, 1000)] = 10.0
    """the highest investment, {}."""
    amounts: Annotated[int, within(2, 256)] = 21
    """number of investments that have an action index, evenly spaced from 0 to `highest`; {}."""
    max_rounds: Annotated[int, within(1, 1000)] = 3
    """turns of each seat, {}. A seat that passes may invest in a later turn; if it never does, both get 0."""
    rounds: Annotated[int, within(1, 1000)] = 1
    """number of games, one after the other, {}."""


AT, _ = parameters_of(SequentialInvestment)


@from_options(SequentialInvestment)
def game(given: SequentialInvestment) -> Game:
    """Return sequential investment with these options."""
    turns, complements = given.max_rounds, given.interaction == "complements"
    return make(
        PhaseGame(
            name="sequential_investment",
            title="Sequential investment",
            options=given,
            phases=[
                Phase("leader_invest", ("invest",), seats=(0,), turns=turns),
                Phase("follower_invest", ("invest",), seats=(1,), turns=turns),
            ],
            actions=[Number("invest", "amount", given.highest, given.amounts, "invest this amount, once")],
            parameters=[given.investment_cost, given.payoff_scale, complements],
            amounts=(AT.investment_cost,) if complements else (),
            payoffs=(
                -given.investment_cost * given.highest,
                given.payoff_scale * given.highest * (given.highest / 2 if complements else 1),
            ),
            pay=pay,
            end=end,
            roles=ROLES,
            role_keys=("leader_id", "follower_id"),
            fields=[
                Computed("interaction", _interaction),
                Parameter("payoff_scale", AT.payoff_scale),
                Parameter("investment_cost", AT.investment_cost),
                Choices("investments", (0, 1)),
                Computed("resolved", is_resolved),
            ],
            bots=BOTS,
            decimals=4,
        )
    )


def _interaction(table: Any) -> str:
    return INTERACTIONS[int(table.parameter[COMPLEMENTS])]


@compiled
def joint_benefit(table: Any) -> float:
    """Return the joint benefit, of which both get half."""
    leader, follower = table.number[0, 0], table.number[1, 1]
    together = leader * follower if table.parameter[COMPLEMENTS] > 0 else leader + follower
    return float(table.parameter[AT.payoff_scale] * together)


@compiled
def pay(table: Any) -> None:
    """Give each half of the joint benefit less the cost of its investment."""
    half = 0.5 * joint_benefit(table)
    table.rewards[0] = half - table.parameter[AT.investment_cost] * table.number[0, 0]
    table.rewards[1] = half - table.parameter[AT.investment_cost] * table.number[1, 1]


def end(table: Any) -> End:
    """Return the end in the platform's words."""
    leader, follower = float(table.number[0][0]), float(table.number[1][1])
    complements = table.parameter[COMPLEMENTS] > 0
    joint = float(table.parameter[AT.payoff_scale]) * (leader * follower if complements else leader + follower)
    rows = [{"role": role, "investment": amount} for role, amount in zip(ROLES, (leader, follower), strict=True)]
    investments = {"leader_id": name_of(0), "follower_id": name_of(1), "leader_inv": leader, "follower_inv": follower}
    details = {**investments, "joint_benefit": joint, "interaction": _interaction(table)}
    return End("sequential_investment_resolved", rows, details)


def best_reply(game: Game, leader: Any) -> Any:
    """Return the follower's best investments after the leader's, float64[N]: everything or nothing."""
    table = game.rules.blank[0]
    per_unit = np.asarray(leader, np.float64) if table.parameter[COMPLEMENTS] else np.ones(np.shape(leader))
    worth = 0.5 * table.parameter[AT.payoff_scale] * per_unit > table.parameter[AT.investment_cost]
    return np.where(worth, game.options["highest"], 0.0)


def _equilibrium(seen: Seen) -> Any:
    table, highest = seen.game.rules.blank[0], seen.game.options["highest"]
    pays = highest if table.parameter[COMPLEMENTS] else 1.0  # the follower's investment, or one
    first = highest if 0.5 * seen.parameter(AT.payoff_scale) * pays > seen.parameter(AT.investment_cost) else 0.0
    return np.where(seen.seat == 0, first, best_reply(seen.game, seen.number[:, 0, 1]))


def _matching(seen: Seen) -> Any:
    return np.where(seen.seat == 0, seen.game.options["highest"] / 2, seen.number[:, 0, 1])


BOTS: Bots = {"random": random_bot, "equilibrium": bot(_equilibrium), "matching": bot(_matching)}
"""`random`: any legal action. `equilibrium`: subgame-perfect; all or nothing, because the benefit is linear in each
investment. `matching`: leads with half of the highest investment, and follows with the leader's."""
