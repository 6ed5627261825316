"""Tasks: the same results in this process and in others, copies of the arguments, errors, progress."""

import time

import numpy as np
import pytest
from parlour.envs import game
from parlour.training.evaluation.cross_play import cross_play
from parlour.training.evaluation.duplicate import results_of_deals
from parlour.training.parallel.tasks import HERE, Task, Workers
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
    tasks = [Task(drawn, (random,), {"of": size}, size) for size in (3, 4)]
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
    settings = {"deals": 20, "seed": 3}
    TWO.run([Task(results_of_deals, (players["random"], made, [players["equilibrium"]]), settings, 20)], ticks.append)
    assert ticks == [20]


@pytest.mark.slow
def test_an_error_is_the_tasks_own_and_leaves_out_what_has_not_begun():
    began = time.monotonic()
    tasks = [Task(failing, (7,)), *[Task(sleeping, (2.0,)) for _ in range(40)]]
    with pytest.raises(ValueError, match="number=7"):
        TWO.run(tasks)
    assert time.monotonic() - began < 30


def test_a_number_of_processes_is_one_or_more():
    with pytest.raises(ValueError, match="processes=0: need 1 or more"):
        Workers(processes=0)
