"""Mafia by sides: who plays which seats, what is counted."""

import json

import numpy as np
import pytest
from parlour.envs import game
from parlour.envs.core.rng import streams
from parlour.training.cli import main
from parlour.training.sides import Ratio, Share, finished, sides
from parlour.wrappers.policy import make_policy


class Watched:
    """Plays as another policy does; notes whether it was asked as mafia, and as town."""

    def __init__(self, mafia, policy):
        self.own = mafia.layout["game_state.players.role"].start
        self.policy, self.asked = policy, set()

    def act(self, observations, masks):
        self.asked |= set((observations[:, self.own] > 0).tolist())
        return self.policy.act(observations, masks)


def test_each_side_is_played_by_its_own_policy():
    mafia = game("mafia", seats=7)
    villains, townsfolk = (Watched(mafia, make_policy("loyal", mafia, seed=seed)) for seed in (1, 2))
    tables = finished(mafia, villains, townsfolk, streams(3, 200))
    assert tables.done.all()
    assert (villains.asked, townsfolk.asked) == ({True}, {False})


def test_wins_and_habits_are_shares():
    mafia = game("mafia", seats=7)
    found = sides(mafia, make_policy("mixed", mafia, seed=1), make_policy("mixed", mafia, seed=2), matches=300)
    assert found.mafia.share + found.town.share == pytest.approx(1)
    assert all(0 <= share <= 1 for side in found.habits.values() for share in side.values())
    assert found.habits["town"]["abstentions"] < 0.5


def test_intervals():
    """Wilson's and Katz's intervals by hand: 20 of 100, and 40 of 100."""
    few, many = Share.of(20, 100), Share.of(40, 100)
    assert (few.low, few.high) == pytest.approx((0.1334, 0.2888), abs=1e-4)
    half = Ratio.of(few, many)
    assert (half.ratio, half.low, half.high) == pytest.approx((0.5, 0.3158, 0.7917), abs=1e-3)
    assert np.isnan(Ratio.of(Share.of(0, 100), many).ratio)


def test_the_command_sets_one_in_the_place_of_another(capsys):
    words = "sides --mafia mixed loyal --town mixed --seats 7 --matches 50"
    assert main(words.split()) == 0
    assert "in the place of another" in capsys.readouterr().out
    assert main([*words.split(), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["policies"] for row in rows] == [["mixed", "mixed"], ["loyal", "mixed"]]
    assert all(row["mafia"]["matches"] == 50 for row in rows)
