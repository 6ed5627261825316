"""Imitation: whose decisions are copied, and what they bring."""

import numpy as np
import pytest
import torch
from parlour.envs import game
from parlour.training.algorithms.maskable_ppo import resume, train
from parlour.training.learning.behavioural_cloning import taught
from parlour.training.learning.config import load_config
from parlour.wrappers.policies.loading import load_run, make_policy


def test_lessons_are_the_teachers_decisions_with_what_they_brought():
    """Truthful bidders of an all-pay auction lose what they bid, but for the winner."""
    auction = game("auction", seats=3, rule="all-pay", rounds=1)
    lessons = next(taught(auction, make_policy("truthful", auction), seed=1))
    assert lessons.observations.shape == (3 * 512, auction.layout.size)
    assert lessons.masks[np.arange(3 * 512), lessons.actions].all()
    value = auction.layout["game_state.my_valuation"].start
    bids = lessons.actions.clip(max=100).astype(float)
    assert np.abs(bids - 100 * lessons.observations[:, value]).max() <= 0.5 + 1e-3
    won = np.isclose(lessons.returns, 0, atol=0.51)
    assert won.sum() >= 512
    np.testing.assert_allclose(lessons.returns[~won], -bids[~won])


def test_a_copy_of_truthful_bids_about_its_valuation(tmp_path):
    run = train(load_config("auction", runs=tmp_path, name="copy", imitate="truthful", lessons=60_000, steps=64,
                            num_envs=8, rollout=8, batch_size=8, learning_rate=3e-3, progress=False))  # fmt: skip
    auction, policy = load_run(run)
    lessons = next(taught(auction, make_policy("truthful", auction), seed=7))
    bids = policy.act(lessons.observations, lessons.masks)
    assert np.abs(bids - lessons.actions).mean() < 20  # blind guesses are 33 off


def test_lessons_that_are_broken_off_are_saved(tmp_path, monkeypatch, capsys):
    def broken_off(*_args, **_settings):
        raise KeyboardInterrupt

    monkeypatch.setattr("parlour.training.algorithms.maskable_ppo.imitate", broken_off)
    tiny = {"steps": 64, "num_envs": 8, "rollout": 8, "batch_size": 8, "hidden": (4,), "progress": False}
    run = train(load_config("auction", runs=tmp_path, name="broken", imitate="truthful", **tiny))
    load_run(run)
    assert "--resume" in capsys.readouterr().out
    resume(run, progress=False)
    assert (run / "metrics.jsonl").read_text().count("\n") == 1


def test_the_rate_of_lessons_falls_in_their_second_half(tmp_path, monkeypatch):
    rates = []

    def watched(optimizer, *args):
        rates.append(optimizer.param_groups[0]["lr"])
        return step(optimizer, *args)

    step = torch.optim.Adam.step
    monkeypatch.setattr(torch.optim.Adam, "step", watched)
    tiny = {"steps": 64, "num_envs": 8, "rollout": 8, "batch_size": 64, "epochs": 1, "progress": False}
    train(load_config("auction", runs=tmp_path, imitate="truthful", lessons=9_000, lesson_batch=4_096, lesson_rate=0.5,
                      learning_rate=0.25, **tiny))  # fmt: skip
    *lessons, last = rates
    assert lessons[0] == 0.5
    assert lessons == sorted(lessons, reverse=True)
    assert 0 < lessons[-1] < 0.5
    assert last <= 0.25


def test_a_teacher_by_a_wrong_name(tmp_path):
    with pytest.raises(ValueError, match="truthful"):
        train(load_config("auction", runs=tmp_path, imitate="truthfull"))
    assert not list(tmp_path.iterdir())
