"""The scripted opponents: legal, decided by their seed, of the right order, blind to what their seat does not see."""

import numpy as np
import pytest
from parlour.envs import VectorGame, game
from parlour.envs.core.rollout import play_until_done, tables_with_seed
from parlour.envs.holdem import bots


@pytest.mark.parametrize("name", sorted(bots.BOTS))
@pytest.mark.parametrize("options", [{"seats": 6, "stacks": 40, "hands": 3}, {"pot_fractions": []}])
def test_bots_play_legal_numbers(name, options):
    made = game("holdem", **options)
    bot, tables = made.bots[name](made, seed=1), VectorGame(made, 50)
    tables.reset(seed=1)
    for _ in range(60):
        tables.step(bot.act(tables.observations, tables.action_masks))  # raises if one is not legal


def test_call_never_folds_nor_raises_and_maniac_mostly_raises():
    made = game("holdem", seats=2)
    tables = VectorGame(made, 1_000)
    tables.reset(seed=1)
    assert set(made.bots["call"](made, 1).act(tables.observations, tables.action_masks)) == {1}
    maniac = made.bots["maniac"](made, 1).act(tables.observations, tables.action_masks)
    assert 0.75 < np.mean(maniac >= 2) < 0.85
    assert 0 not in maniac


@pytest.mark.parametrize("other", ["random", "call", "maniac"])
def test_tight_beats_the_others(other):
    made = game("holdem", seats=2)
    bots = [made.bots["tight"](made, seed=1), made.bots[other](made, seed=2)]
    seats = np.tile([[0, 1], [1, 0]], (1_500, 1))  # they change sides every hand
    returns = play_until_done(made, bots, tables_with_seed(made, 3_000, 3), who=lambda _: seats)
    won = returns[np.arange(3_000), seats[:, 0]]
    assert won.mean() > 3 * won.std() / 3_000**0.5
