"""Tasks: the same results here and in other processes, copies, errors, progress; and signals that stop a run."""

import signal
import time
from contextlib import closing
from functools import partial

import numpy as np
import pytest
from parlour.envs import game
from parlour.training.evaluation.cross_play import cross_play
from parlour.training.evaluation.duplicate import results_of_deals
from parlour.training.parallel.tasks import HERE, Task, Workers, held_back
from parlour.training.runs.run import Metrics
from parlour.wrappers.policies.loading import make_policy

TWO = Workers(processes=2)


def drawn(counted, *, of=1, progress):
    """Draw from a generator, which changes it."""
    progress(of)
    return counted.integers(1_000_000)


def failing(number, *, progress):
    if number:
        raise ValueError(f"number={number}")
    return number


def sleeping(seconds, *, progress):
    time.sleep(seconds)
    return seconds


def test_a_task_gets_copies_so_that_its_result_does_not_depend_on_other_tasks():
    random, ticks = np.random.default_rng(1), []
    tasks = [Task(partial(drawn, random, of=size), size) for size in (3, 4)]
    first, second = HERE.run(tasks, ticks.append)
    assert first == second == np.random.default_rng(1).integers(1_000_000)
    assert random.integers(1_000_000) == first
    assert ticks == [3, 4]


@pytest.mark.slow
def test_the_results_of_other_processes_are_the_same_bytes():
    made, ticks = game("kuhn"), []
    players = {name: make_policy(name, made, seed=number) for number, name in enumerate(("random", "equilibrium"))}
    here, there = (cross_play(made, players, deals=50, workers=one) for one in (HERE, TWO))
    assert [one.results.tobytes() for one in here] == [one.results.tobytes() for one in there]
    played = partial(results_of_deals, players["random"], made, [players["equilibrium"]], deals=20, seed=3)
    TWO.run([Task(played, 20)], ticks.append)
    assert ticks == [20]


@pytest.mark.slow
def test_an_error_is_the_tasks_own_and_leaves_out_what_has_not_begun():
    began = time.monotonic()
    tasks = [Task(partial(failing, 7)), *[Task(partial(sleeping, 2.0)) for _ in range(40)]]
    with pytest.raises(ValueError, match="number=7"):
        TWO.run(tasks)
    assert time.monotonic() - began < 30


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_takes_effect_at_the_end_of_the_block(sign):
    got = []
    before = signal.signal(sign, lambda number, frame: got.append(number))
    try:
        with held_back():
            signal.raise_signal(sign)
            signal.raise_signal(sign)
            assert got == []
        assert got == [sign]  # once
        signal.raise_signal(sign)
        assert got == [sign, sign]
    finally:
        signal.signal(sign, before)


def test_without_a_signal_nothing_changes_also_after_an_error():
    before = [signal.getsignal(sign) for sign in (signal.SIGINT, signal.SIGTERM)]
    with pytest.raises(KeyError), held_back():
        raise KeyError("mine")
    assert [signal.getsignal(sign) for sign in (signal.SIGINT, signal.SIGTERM)] == before


def test_ctrl_c_while_metrics_are_written_comes_after_they_are_whole(tmp_path, monkeypatch):
    metrics = Metrics(tmp_path)
    written = []

    def add_scalar(name, value, timesteps):
        signal.raise_signal(signal.SIGINT)
        written.append(name)

    monkeypatch.setattr(metrics._board, "add_scalar", add_scalar)
    with closing(metrics), pytest.raises(KeyboardInterrupt):
        metrics.write({"loss": 1.0, "reward": 2.0}, 64)
    assert written == ["loss", "reward"]
    assert (tmp_path / "metrics.jsonl").read_text() == '{"steps": 64, "loss": 1.0, "reward": 2.0}\n'
