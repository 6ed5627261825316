"""Scripted opponents: with sizes off the menu, and exploiters."""

import numpy as np
import pytest
from parlour.envs import game
from parlour.envs.holdem.table import CALL_ACTION, FOLD_ACTION, PREFLOP
from parlour.training.evaluation.games.holdem import EVERY_HAND, NEVER, SIZES, STYLES, off_menu, scripted
from parlour.wrappers.policies.base import TrainedFor
from parlour.wrappers.policies.elsewhere import ElsewherePolicy
from parlour.wrappers.policies.mlp import MlpPolicy

HEADS_UP = game("holdem", seats=2)


def saved(action):
    """A policy that plays one action wherever it is legal."""
    bias = np.zeros(HEADS_UP.num_actions, "f4")
    bias[action] = 50
    weights = np.zeros((HEADS_UP.layout.size, HEADS_UP.num_actions), "f4")
    policy = MlpPolicy([(weights, bias)], seed=1)
    policy.set_trained_for(TrainedFor.of(HEADS_UP))
    return policy


@pytest.mark.parametrize("sizes", SIZES)
def test_who_folds_to_every_bet_loses_its_blinds_to_them(sizes):
    played = {"style": EVERY_HAND, "sizes": sizes, "hands": 200, "seed": 3}
    score = off_menu(saved(FOLD_ACTION), HEADS_UP, **played).score
    assert score.games == 200 and score.low <= score.mean <= score.high
    assert 0.5 < score.mean < 1.0  # it wins 0.5 or 1 by a raise; where it checks, the pot of the hand goes on
    assert off_menu(saved(FOLD_ACTION), HEADS_UP, **played).score == score


def test_bets_have_the_sizes_off_the_menu(monkeypatch):
    bets = {}

    class Notes(ElsewherePolicy):
        def act_on(self, tables, rows, observations, masks):
            bets.setdefault(sizes, set()).update(
                round(float(table.to_call / (table.pot - table.to_call)), 2)
                for table in tables[rows]
                if table.phase > PREFLOP and table.raises == 1
            )
            return super().act_on(tables, rows, observations, masks)

    monkeypatch.setattr("parlour.training.evaluation.games.holdem.ElsewherePolicy", Notes)
    for sizes in SIZES:
        off_menu(saved(CALL_ACTION), HEADS_UP, style=EVERY_HAND, sizes=sizes, hands=200, seed=3)
    assert min(bets["small bets"]) < 0.2 and max(bets["over-bets"]) > 1.5


@pytest.mark.parametrize("name", STYLES)
def test_an_exploiter_raises_in_the_spots_of_its_style(name):
    made, style = {}, STYLES[name]

    class Station:
        encoder = "v0"

        def act_on(self, tables, rows, observations, masks):
            made.update(((int(table.phase), int(table.raises)), int(table.to_call)) for table in tables[rows])
            return np.full(len(rows), CALL_ACTION)

    response = scripted(Station(), HEADS_UP, style=style, hands=400, seed=1)
    bets_later = any(phase > PREFLOP and owed for (phase, _), owed in made.items())
    assert bets_later == (style.unbet[0] < NEVER)
    assert any(phase == PREFLOP and raises for phase, raises in made) == (style.first[0] > 0)
    assert response.score.games == 400
