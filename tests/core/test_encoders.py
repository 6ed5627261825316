"""Encoders side by side: policies of two versions at the same tables, and what a new version takes."""

import sys
from dataclasses import replace

import gymnasium
import numpy as np
import parlour.envs.holdem.encoders as holdem_encoders
import pytest
from parlour import envs
from parlour.envs import Slice, VectorGame
from parlour.envs.core.compiled import compiled
from parlour.envs.core.rollout import play_until_done, tables_with_seed

STACKS = Slice("game_state.players.stackAgain", (3,), 0, 1, "stacks in the order of the seats, as a share of all chips")


@compiled
def observe_stacks(table, seat, at, out):
    for other in range(table.seats):
        out[at.players_stackAgain + other] = table.stack[other] / 600.0


@pytest.fixture
def game():
    """Hold'em with a second version of its encoder."""
    made = envs.game("holdem", seats=3, stacks=200)
    return replace(made, encoders={**made.encoders, "v2": made.encoders["v0"].extended([STACKS], observe_stacks)})


class Caller:
    """Calls or folds by what it sees of its own version: never by the width of another one's observations."""

    def __init__(self, game, encoder):
        self.encoder = encoder
        self.width = game.encoders[encoder or game.encoder].layout.size
        self.shown = []

    def act(self, observations, masks):
        assert observations.shape[1] == self.width
        self.shown.append(observations.copy())
        return np.where(observations[:, :50].sum(axis=1) > 3.5, 1, masks.argmax(axis=1))


def rows(tables):
    """Seat 0 by the first policy, the others by the second."""
    return np.tile([0, 1, 1], (len(tables), 1))


def test_an_extended_encoder_shows_what_the_first_does_and_more(game):
    table = tables_with_seed(game, 1, 3)[0]
    game.rules.reset(table)
    v0, v2 = (game.encoders[name].observation(table, 1) for name in ("v0", "v2"))
    assert np.array_equal(v2[: len(v0)], v0)
    assert v2[len(v0) :] == pytest.approx(np.array(table.stack[:3]) / 600)
    assert not game.encoders["v2"].full_information
    assert game.encoders["full"].extended([Slice("more", (1,), 0, 1, "")], observe_nothing).full_information


@compiled
def observe_nothing(table, seat, at, out):
    pass


@pytest.mark.parametrize("order", [("v0", "v2"), ("v2", "v0"), ("v2", "v2"), (None, "v2")])
def test_policies_of_two_versions_play_one_rollout(game, order):
    policies = [Caller(game, encoder) for encoder in order]
    played = play_until_done(game, policies, tables_with_seed(game, 50, 1), who=rows)
    of_one = [Caller(game, "v0"), Caller(game, "v0")]
    assert np.array_equal(played, play_until_done(game, of_one, tables_with_seed(game, 50, 1), who=rows))
    for policy, same in zip(policies, of_one, strict=True):
        width = game.layout.size
        assert [seen[:, :width].tolist() for seen in policy.shown] == [seen.tolist() for seen in same.shown]


@pytest.mark.parametrize("learner", ["v0", "v2"])
def test_a_learner_of_one_version_meets_opponents_of_both(game, learner):
    from parlour.wrappers.rl.tables import SingleAgentTables

    opponents = [Caller(game, "v0"), Caller(game, "v2")]
    tables = SingleAgentTables(game, 8, opponents, encoder=learner)
    tables.reset(seed=2)
    assert tables.observations.shape == (8, game.encoders[learner].layout.size)
    for _ in range(40):
        tables.step(tables.masks.argmax(axis=1))
        expected = game.encoders[learner].observations(tables.tables.tables, np.arange(8))
        assert np.array_equal(tables.observations, expected)
    assert all(policy.shown for policy in opponents)


def test_environments_and_tables_show_the_version_they_are_asked_for(game):
    for name in ("v0", "v2"):
        size = game.encoders[name].layout.size
        assert envs.GameEnv(game, "flat", encoder=name).observation_space("player_0")["observation"].shape == (size,)
        assert VectorGame(game, 2, encoder=name).observations.shape == (2, size)
    for make in (envs.GameEnv, lambda game, encoder: VectorGame(game, 2, encoder)):
        with pytest.raises(ValueError, match="holdem has no encoder 'v3'; it has full, full_v1, v0, v1, v2"):
            make(game, encoder="v3")


# A new version of a game of this project: one function, one line.


@compiled
def observe_hand(table, seat, at, out):
    out[at.handNumber] = table.hand


def v2(table):
    more = [Slice("game_state.handNumber", (1,), 0, 1_000, "hands so far")]
    return holdem_encoders.v0(table).extended(more, observe_hand)


@pytest.fixture
def holdem_v2(monkeypatch):
    """A function and its name in ``encoders.py``, and the line ``register("holdem-v2")``."""
    monkeypatch.setitem(holdem_encoders.ENCODERS, "v2", v2)
    yield envs.register("holdem-v2")
    del envs.GAMES["holdem-v2"], gymnasium.registry["parlour/Holdem-v2"]
    sys.modules.pop("parlour.envs.holdem_v2", None)


def test_a_new_version_is_one_function_and_one_line(holdem_v2):
    new, old = envs.game("holdem", seats=2), envs.game("holdem-v0", seats=2)
    assert (new.id, old.id) == ("holdem-v2", "holdem-v0")
    assert new.layout.size == old.layout.size + 1
    assert old.encoders["v2"].layout.size == new.layout.size  # both games have both encoders
    env = holdem_v2.env(seats=2, observation="flat")
    env.reset(seed=1)
    assert env.observe("player_0")["observation"][-1] == 1
    tables = gymnasium.make_vec("parlour/Holdem-v2", num_envs=2, seats=2)
    assert tables.single_observation_space.shape == (new.layout.size,)
    policies = [Caller(new, "v0"), Caller(new, "v2")]
    play_until_done(new, policies, tables_with_seed(new, 5, 1), who=lambda records: np.tile([0, 1], (5, 1)))
    assert all(policy.shown for policy in policies)
