"""The scripted opponents: legal, decided by their seed, of the right order, blind to what their seat does not see."""

import numpy as np
import pytest
from parlour.envs import VectorGame, game
from parlour.envs.holdem import bots

NAMES = sorted(bots.BOTS)


def match(one, other, hands=3_000, **options):
    """Big blinds per hand that `one` wins from `other`, the seats changing sides every hand; and its standard error."""
    made = game("holdem", seats=2, **options)
    players = [made.bots[one](made, seed=1), made.bots[other](made, seed=2)]
    tables, won = VectorGame(made, 250), []
    tables.reset(seed=3)
    hero = np.arange(250) % 2
    while len(won) < hands:
        actions = np.zeros(250, np.int64)
        for player, mine in ((players[0], tables.turn == hero), (players[1], tables.turn != hero)):
            if mine.any():
                actions[mine] = player.act(tables.observations[mine], tables.action_masks[mine])
        tables.step(actions)
        won += tables.rewards[np.arange(250), hero][tables.dones].tolist()
        hero = np.where(tables.dones, 1 - hero, hero)
    return np.mean(won) / 2, np.std(won) / 2 / len(won) ** 0.5


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("options", [{"seats": 2}, {"seats": 6, "stacks": 40, "hands": 3}, {"pot_fractions": []}])
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
    mean, error = match("tight", other)
    assert mean > 3 * error, (mean, error)
