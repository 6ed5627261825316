"""Solving from samples: the exact solver's measure falls, seeds repeat, checkpoints go on."""

from functools import cache

import numpy as np
import pytest
from command_line import facts
from parlour import envs
from parlour.envs.core.rng import GOLDEN
from parlour.training import cli
from parlour.training.evaluation.exact import best_response, flat_tree, nash_conv
from parlour.training.solving import problems
from parlour.training.solving.problems import SmallProblem, read_checkpoint, write_checkpoint
from parlour.training.solving.sampled import WEIGHTS, SampledSolver, Sampling, follow
from parlour.wrappers.policies.loading import load_policy


@cache
def problem(name, **options):
    return SmallProblem(envs.game(name, **options))


def deals(name, **options):
    return problem(name, **options).solvers[0].deals


def solved(name, weights, iterations, **options):
    solver = SampledSolver(deals(name, **options), weights, Sampling(seed=1))
    solver.run(iterations)
    return solver


def measured(name, solver, **options):
    one = problem(name, **options)
    one.solvers = [solver]
    return one.nash_conv()


@pytest.mark.slow
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(
    ("name", "options", "iterations", "most"),
    [("kuhn", {}, 100_000, 0.012), ("leduc", {}, 100_000, 0.2), ("liars_dice", {"faces": 3}, 50_000, 0.04)],
)
def test_nash_conv_falls_as_an_equilibriums(name, options, iterations, most, weights):
    before, after = (solved(name, weights, count, **options) for count in (200, iterations))
    assert measured(name, after, **options) < most < measured(name, before, **options)
    assert after.bound() < 0.25 * before.bound()


def test_a_seed_repeats_every_number_and_parts_do_not_matter():
    one, two, other = (SampledSolver(deals("leduc"), sampling=Sampling(seed=seed)) for seed in (3, 3, 4))
    one.run(500)
    for part in (1, 199, 300):
        two.run(part)
    other.run(500)
    assert one.sums.tobytes() == two.sums.tobytes() and one.regrets.tobytes() == two.regrets.tobytes()
    assert one.sums.tobytes() != other.sums.tobytes()


def test_the_command_goes_on_from_its_checkpoint(tmp_path, capsys):
    file, state = tmp_path / "kuhn.npz", tmp_path / "state.npz"
    words = f"solve kuhn --method sampled-linear --seed 2 --out {file} --checkpoint {state}"
    for iterations in (1_000, 5_000):
        told = facts(capsys, words, "--iterations", str(iterations))
        assert told["iterations"] == iterations
    game = envs.game("kuhn")
    tree = flat_tree(game)
    found = nash_conv(tree, tree.strategy_of(load_policy(file)))
    assert found == pytest.approx(told["nash_conv"], abs=1e-6)
    whole = SampledSolver(deals("kuhn"), sampling=Sampling(seed=2))
    whole.run(5_000)
    assert found == pytest.approx(measured("kuhn", whole), abs=1e-6)


def test_a_checkpoint_of_something_else_is_refused(tmp_path, capsys):
    state = tmp_path / "state.npz"
    words = ["solve", "kuhn", "--iterations", "2000", "--out", str(tmp_path / "kuhn.npz"), "--checkpoint", str(state)]
    assert cli.main([*words, "--method", "sampled-linear"]) in (None, 0)
    assert "regret bound" in capsys.readouterr().err  # where there is no terminal, too
    assert cli.main([*words, "--method", "sampled-dcfr"]) not in (None, 0)
    assert "no checkpoint of this game" in capsys.readouterr().err


@pytest.mark.parametrize("seat", [0, 1])
def test_a_seat_that_is_updated_alone_finds_the_best_response(seat):
    one, tree = problem("leduc"), flat_tree(envs.game("leduc"))
    solver = SampledSolver(deals("leduc"), sampling=Sampling(seed=1, explore=0), seats=(seat,))
    for node in np.flatnonzero(solver.nodes.kind == 1 - seat).tolist():  # the other seat plays at random
        solver.fix(node, np.ones_like(solver.strategies(node)))
    fixed = solver.regrets.copy()
    solver.run(30_000)
    won = solver.greedy_values(seat, 20_000)
    exact = best_response(tree, tree.uniform(), seat)[0]
    assert won.mean() == pytest.approx(exact, abs=4 * won.std() / 20_000**0.5)
    assert won.mean() > exact - 0.1 and len(one.solvers)
    for node in np.flatnonzero(solver.nodes.kind == 1 - seat).tolist():
        at = slice(int(solver.nodes.base[node]), int(solver.nodes.base[node]) + solver.strategies(node).size)
        assert np.array_equal(solver.regrets[at], fixed[at])


def test_a_checkpoint_is_read_whatever_its_size_and_without_baselines_too(tmp_path, monkeypatch):
    file = tmp_path / "state.npz"
    one, other = SmallProblem(envs.game("leduc")), SmallProblem(envs.game("leduc"))
    one.solvers[0].run(300)
    write_checkpoint(one, file, "leduc")
    monkeypatch.setattr(problems, "MOST_NUMBERS", 100)  # room for what stands beside the numbers
    read_checkpoint(other, file, "leduc")
    assert other.solvers[0].sums.tobytes() == one.solvers[0].sums.tobytes()
    before = {name: each for name, each in one.solvers[0].state().items() if name != "baselines"}
    other.solvers[0].set_state(before)
    assert other.solvers[0].iterations == 300 and not other.solvers[0].state()["baselines"].any()


def test_threads_share_the_iterations_and_solve_as_well():
    one, several = (SampledSolver(deals("leduc"), sampling=Sampling(seed=1, threads=count)) for count in (1, 3))
    for solver in (one, several):
        solver.run(50_000)
    assert one.iterations == several.iterations == 50_000
    assert one.sums.sum() == pytest.approx(several.sums.sum(), rel=0.05)  # no thread's part is missing
    assert measured("leduc", several) < 0.2
    assert not np.array_equal(one.sums, several.sums)


@pytest.mark.parametrize(("name", "value"), [("explore", 1.5), ("prune", -1.0), ("threads", 0)])
def test_settings_out_of_range_are_refused(name, value):
    with pytest.raises(ValueError, match=name):
        Sampling(**{name: value})


def test_an_action_that_nobody_takes_is_not_drawn():
    """The chances of the others are rounded: here they sum to less than 1 by more than what the draw leaves."""
    state = SampledSolver(deals("kuhn"), sampling=Sampling(explore=0))._state
    state.reach[0] = 0.01652764, 0.8132702, 0.91275555
    state.strategy[0] = [[1, 1, 1], [0, 0, 0]]
    state.words[0] = 112_115_707 * int(GOLDEN) % 2**64
    assert follow(state, 0.0, 2, 0) == 0
    assert state.reach[1].tolist() == state.reach[0].tolist()
