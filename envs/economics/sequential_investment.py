"""Sequential investment: a leader invests, a follower sees it and invests, and both share what comes of it."""

from typing import Any

import numpy as np

from ..core.checks import require_choice
from ..core.compiled import compiled
from ..core.game import Game
from ..core.options import number, whole
from ..core.rollout import random_bot
from ..phases import Bots, Choices, Computed, End, Number, Parameter, Phase, PhaseGame, Seen, bot, make
from ..phases.fields import is_resolved, name_of

COST, SCALE, COMPLEMENTS = range(3)
INTERACTIONS = ("substitutes", "complements")
ROLES = ("leader", "follower")


def game(
    *,
    investment_cost: float = 1.0,
    payoff_scale: float = 10.0,
    interaction: str = "complements",
    highest: float = 10.0,
    amounts: int = 21,
    max_rounds: int = 3,
    rounds: int = 1,
) -> Game:
    """Return sequential investment with these options.

    Args:
        investment_cost: the cost of a unit that is invested, 0 to 1,000.
        payoff_scale: the scale of the joint benefit, 0.001 to 1,000.
        interaction: ``"complements"``: the joint benefit is scale · leader's · follower's investment;
            ``"substitutes"``: scale · their sum.
        highest: the highest investment, 0.01 to 1,000.
        amounts: number of investments that have an action index, evenly spaced from 0 to `highest`; 2 to 256.
        max_rounds: turns of each seat, 1 to 1,000. A seat that passes may invest in a later turn; if it never does,
            both get 0.
        rounds: number of games, one after the other, 1 to 1,000.

    Raises:
        ValueError: naming the option, its value and its range.
    """
    require_choice("interaction", interaction, INTERACTIONS)
    cost, scale = number("investment_cost", investment_cost, 0, 1000), number("payoff_scale", payoff_scale, 0.001, 1000)
    highest = number("highest", highest, 0.01, 1000)
    options: dict[str, Any] = {
        "investment_cost": cost,
        "payoff_scale": scale,
        "interaction": interaction,
        "highest": highest,
        "amounts": whole("amounts", amounts, 2, 256),
        "max_rounds": whole("max_rounds", max_rounds, 1, 1000),
        "rounds": whole("rounds", rounds, 1, 1000),
    }
    turns, complements = options["max_rounds"], interaction == "complements"
    return make(
        PhaseGame(
            name="sequential_investment",
            title="Sequential investment",
            seats=2,
            options=options,
            phases=[
                Phase("leader_invest", ("invest",), seats=(0,), turns=turns),
                Phase("follower_invest", ("invest",), seats=(1,), turns=turns),
            ],
            actions=[Number("invest", "amount", highest, options["amounts"], "invest this amount, once")],
            parameters=[cost, scale, complements],
            amounts=(COST,) if complements else (),
            payoffs=(-cost * highest, scale * highest * (highest / 2 if complements else 1)),
            pay=pay,
            end=end,
            roles=ROLES,
            role_keys=("leader_id", "follower_id"),
            fields=[
                Computed("interaction", _interaction),
                Parameter("payoff_scale", SCALE),
                Parameter("investment_cost", COST),
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
    """Return what both share in equal parts."""
    leader, follower = table.number[0, 0], table.number[1, 1]
    together = leader * follower if table.parameter[COMPLEMENTS] > 0 else leader + follower
    return float(table.parameter[SCALE] * together)


@compiled
def pay(table: Any) -> None:
    """Give each half of the joint benefit less the cost of its investment."""
    half = 0.5 * joint_benefit(table)
    table.rewards[0] = half - table.parameter[COST] * table.number[0, 0]
    table.rewards[1] = half - table.parameter[COST] * table.number[1, 1]


def end(table: Any) -> End:
    """Return the end in the platform's words."""
    leader, follower = float(table.number[0][0]), float(table.number[1][1])
    complements = table.parameter[COMPLEMENTS] > 0
    joint = float(table.parameter[SCALE]) * (leader * follower if complements else leader + follower)
    rows = [{"role": role, "investment": amount} for role, amount in zip(ROLES, (leader, follower), strict=True)]
    investments = {"leader_id": name_of(0), "follower_id": name_of(1), "leader_inv": leader, "follower_inv": follower}
    more = {**investments, "joint_benefit": joint, "interaction": _interaction(table)}
    return End("sequential_investment_resolved", rows, more)


def best_reply(game: Game, leader: Any) -> Any:
    """Return the follower's best investments after the leader's, float64[N]: everything or nothing."""
    table = game.rules.blank[0]
    per_unit = np.asarray(leader, np.float64) if table.parameter[COMPLEMENTS] else np.ones(np.shape(leader))
    worth = 0.5 * table.parameter[SCALE] * per_unit > table.parameter[COST]
    return np.where(worth, game.options["highest"], 0.0)


def _equilibrium(seen: Seen) -> Any:
    table, highest = seen.game.rules.blank[0], seen.game.options["highest"]
    pays = highest if table.parameter[COMPLEMENTS] else 1.0  # the follower's investment, or one
    first = highest if 0.5 * seen.parameter(SCALE) * pays > seen.parameter(COST) else 0.0
    return np.where(seen.seat == 0, first, best_reply(seen.game, seen.number[:, 0, 1]))


def _matching(seen: Seen) -> Any:
    return np.where(seen.seat == 0, seen.game.options["highest"] / 2, seen.number[:, 0, 1])


BOTS: Bots = {"random": random_bot, "equilibrium": bot(_equilibrium), "matching": bot(_matching)}
"""`random`: any legal action. `equilibrium`: subgame-perfect; all or nothing, because the benefit is linear in each
investment. `matching`: leads with half of the highest investment, and follows with the leader's."""
