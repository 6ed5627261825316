"""The subgame-perfect split: against Rubinstein's formulas, against the environment's own game tree, and played."""

import numpy as np
import pytest
from parlour import envs
from parlour.envs import play_until_done
from parlour.envs.bargaining.bots import subgame_perfect
from parlour.envs.core.rollout import tables_with_seed
from parlour.wrappers.policies.loading import make_policy


@pytest.mark.parametrize("rounds", [1, 10, 50])
@pytest.mark.parametrize("discount", [0.5, 0.9, 1.0])
def test_the_finite_horizon_has_a_closed_form(rounds, discount):
    """With 2n − 1 offers that can be answered, the first proposer gets (1 + d^(2n−1)) / (1 + d) (Ståhl 1972)."""
    d = discount**0.5
    demands, values = subgame_perfect(100, rounds, discount, (0, 0))
    assert demands[0] == values[0] == pytest.approx(100 * (1 + d ** (2 * rounds - 1)) / (1 + d))


def test_a_long_game_tends_to_rubinsteins_split():
    assert subgame_perfect(1, 50, 0.5, (0, 0))[0][0] == pytest.approx(1 / (1 + 0.5**0.5), abs=1e-6)


def solve(game, table):
    """Return both seats' values of the environment's own game tree from `table`, by backward induction over records."""
    if table.done:
        return table.rewards.copy()
    best, seat = None, int(table.turn)
    accept = int(table.offers)
    mask = game.mask(table, seat)
    for number in [accept, *range(accept)[::-1], accept + 1, accept + 2]:  # indifferent: rather accept, rather ask more
        if mask[number]:
            after = table.copy()
            game.rules.play(after, number)
            value = solve(game, after)
            if best is None or value[seat] > best[seat] + 1e-9:
                best = value
    return best


@pytest.mark.parametrize("options", [
    {"rounds": 2, "discount": 0.25, "reservations": (0, 0), "offers": 11},
    {"rounds": 2, "discount": 0.64, "reservations": [(10, 10), (20, 20)], "offers": 6},
    {"rounds": 2, "discount": 1.0, "reservations": [(60, 60), (60, 60)], "offers": 6},
])  # fmt: skip
def test_the_environments_own_tree_has_the_solvers_values(options):
    game = envs.game("bargaining", public=True, **options)
    table = game.tables(1)[0]
    game.rules.reset(table)
    _, values = subgame_perfect(100, options["rounds"], options["discount"], table.my_reservation_value)
    step = 100 / (options["offers"] - 1)
    first, second = solve(game, table)
    assert first == pytest.approx(values[0], abs=step)
    surplus = max(0.0, 100 - table.my_reservation_value.sum())
    assert first + second == pytest.approx(surplus, abs=0.011)


def match(game, *names, count=500):
    """Play `count` matches between two bots; return the tables and the payoffs float64[count, 2]."""
    tables, bots = tables_with_seed(game, count, 0), [make_policy(name, game, seed=1) for name in names]
    return tables, play_until_done(game, bots, tables, who=lambda _: np.tile([0, 1], (count, 1)))


PUBLIC = {"public": True, "discount": 0.9, "offers": 256}


def test_perfect_bots_agree_at_once_on_the_solvers_split():
    tables, payoffs = match(envs.game("bargaining", **PUBLIC), "perfect", "perfect")
    reservations = tables.my_reservation_value.T
    values = subgame_perfect(100, 10, 0.9, reservations)[1][0]
    assert np.abs(payoffs[:, 0] - values).max() < 100 / 255 + 0.02
    assert payoffs.sum(axis=1) == pytest.approx(100 - reservations.sum(axis=0), abs=0.03)


@pytest.mark.parametrize("other", ["random", "fair", "boulware"])
def test_nobody_gains_by_leaving_the_equilibrium(other):
    game = envs.game("bargaining", **PUBLIC)
    first, second = match(game, "perfect", "perfect")[1].mean(axis=0)
    assert match(game, other, "perfect")[1].mean(axis=0)[0] <= first + 0.5
    assert match(game, "perfect", other)[1].mean(axis=0)[1] <= second + 0.5


def test_perfect_needs_public_values():
    with pytest.raises(ValueError, match="public"):
        make_policy("perfect", envs.game("bargaining"))
