"""Imitation: whose decisions are copied, and what they bring; in tangram those of an expert (DAgger)."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from parlour import envs
from parlour.envs import Slice, game
from parlour.envs.core.compiled import compiled
from parlour.envs.tangram.bots import FigureExpert
from parlour.envs.tangram.table import PLACES
from parlour.training.learning.learner import TABLES, corrections, demonstrations
from parlour.training.runs.config import load_config
from parlour.training.runs.run import resume, train
from parlour.wrappers.policies.loading import load_run, make_policy


def test_demonstrations_are_the_teachers_decisions_with_what_they_brought():
    """Truthful bidders of an all-pay auction lose what they bid, but for the winner."""
    auction = game("auction", seats=3, rule="all-pay", rounds=1)
    shown = next(demonstrations(auction, make_policy("truthful", auction), "v0", seed=1))
    assert shown.observations.shape == (3 * 512, auction.layout.size)
    assert shown.masks[np.arange(3 * 512), shown.actions].all()
    value = auction.layout["game_state.my_valuation"].start
    bids = shown.actions.clip(max=100).astype(float)
    gains = 100 * shown.observations[:, value] - bids
    assert gains.min() >= -1e-3 and gains.max() <= 1 + 1e-3  # the greatest bid that is not above the value
    won = np.isclose(shown.returns, 0, atol=1.01)
    assert won.sum() >= 512
    np.testing.assert_allclose(shown.returns[~won], -bids[~won])


def test_a_copy_of_truthful_bids_about_its_valuation(tmp_path):
    tiny = {"total_timesteps": 64, "n_envs": 8, "n_steps": 8, "batch_size": 8}
    copy = {"teacher": "truthful", "demonstrations": 60_000, "learning_rate": 3e-3}
    run = train(load_config("auction", run=tmp_path / "copy", **copy, **tiny))
    auction, policy = load_run(run)
    shown = next(demonstrations(auction, make_policy("truthful", auction), "v0", seed=7))
    bids = policy.act(shown.observations, shown.masks)
    assert np.abs(bids - shown.actions).mean() < 20  # blind guesses are 33 off


def test_cloning_that_is_broken_off_is_saved(tmp_path, monkeypatch, capsys):
    def broken_off(*_args, **_settings):
        raise KeyboardInterrupt

    monkeypatch.setattr("parlour.training.runs.run.clone", broken_off)
    tiny = {"total_timesteps": 64, "n_envs": 8, "n_steps": 8, "batch_size": 8, "net_arch": (4,)}
    run = train(load_config("auction", run=tmp_path / "broken", teacher="truthful", **tiny))
    load_run(run)
    assert "--resume" in capsys.readouterr().out
    resume(run)
    assert (run / "metrics.jsonl").read_text().count("\n") == 1


def test_the_learning_rate_of_cloning_falls_in_its_second_half(tmp_path, monkeypatch):
    rates = []

    def watched(optimizer, *args):
        rates.append(optimizer.param_groups[0]["lr"])
        return step(optimizer, *args)

    step = torch.optim.Adam.step
    monkeypatch.setattr(torch.optim.Adam, "step", watched)
    tiny = {"total_timesteps": 64, "n_envs": 8, "n_steps": 8, "batch_size": 64, "n_epochs": 1}
    train(load_config("auction", run=tmp_path / "copy", teacher="truthful", demonstrations=9_000,
                      cloning_batch_size=4_096, cloning_learning_rate=0.5, learning_rate=0.25, **tiny))  # fmt: skip
    *cloning, last = rates
    assert cloning[0] == 0.5
    assert cloning == sorted(cloning, reverse=True)
    assert 0 < cloning[-1] < 0.5
    assert last <= 0.25


def test_a_teacher_by_a_wrong_name(tmp_path):
    with pytest.raises(ValueError, match="truthful"):
        train(load_config("auction", run=tmp_path / "none", teacher="truthfull"))
    assert not list(tmp_path.iterdir())


def test_demonstrations_have_the_observations_of_the_learners_encoder():
    """The teacher plays by its own encoder all the same."""
    auction = game("auction", seats=2)
    wider = auction.encoders["v0"].extended([Slice("nothing", (1,), 0, 1, "always 0")], observe_nothing)
    both = replace(auction, encoders={**auction.encoders, "v1": wider})
    one, other = (next(demonstrations(both, make_policy("shade", both), name, seed=1)) for name in ("v0", "v1"))
    assert other.observations.shape[1] == one.observations.shape[1] + 1
    np.testing.assert_array_equal(other.observations[:, :-1], one.observations)
    np.testing.assert_array_equal(other.actions, one.actions)
    np.testing.assert_array_equal(other.returns, one.returns)


@compiled
def observe_nothing(table, seat, at, out):
    out[at.nothing] = 0


GAME = envs.game("tangram")
LEARNER = SimpleNamespace(policy=lambda seed: make_policy("random", GAME, seed=seed))


def demonstrated(game, learner, seed):
    return corrections(game, FigureExpert(game, "v0", TABLES), learner, "v0", seed)


def test_demonstrations_are_legal_and_have_the_returns_of_the_game():
    demonstrations = next(demonstrated(GAME, LEARNER, seed=1))
    assert len(demonstrations.actions) > 5 * TABLES
    assert demonstrations.masks[np.arange(len(demonstrations.actions)), demonstrations.actions].all()
    iou = demonstrations.observations[:, GAME.layout["game_state.iou"].start]
    solved = np.isclose(iou + demonstrations.returns, 2, atol=1e-5)  # who follows the plan
    assert solved.sum() > 2 * TABLES
    assert (demonstrations.returns[~solved] < 2 - iou[~solved]).all()
    begins = demonstrations.observations[:, 0] > 0
    assert (demonstrations.actions[~begins] == PLACES).all()
    assert (begins & (demonstrations.masks[:, :PLACES].sum(1) > 1)).mean() > 0.7


def test_demonstrations_are_the_same_from_the_same_seed():
    first, again, other = (next(demonstrated(GAME, LEARNER, seed=seed)) for seed in (1, 1, 2))
    for one, two in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, two)
    assert len(other.actions) != len(first.actions) or (other.observations != first.observations).any()
