"""VectorGame: the reset within the step, tables left alone, errors with names, sampling; threads that share work."""

import time

import numpy as np
import pytest
from forking import in_another_process
from parlour import envs
from parlour.envs import VectorGame
from parlour.envs.core.loops import Threads
from parlour.envs.core.vector import NO_ACTION


def tables(count=8, seed=1, name="holdem", **options):
    made = VectorGame(envs.game(name, **options), count)
    made.reset(seed=seed)
    return made


def test_a_finished_table_is_reset_within_the_step():
    made = tables(2, seats=2)
    game, twin = made.game, made.tables.copy()
    made.step([0, NO_ACTION])  # the small blind folds
    game.rules.play(twin[0], 0)
    assert made.dones.tolist() == [True, False]
    assert made.rewards[0].tolist() == twin[0].rewards[:2].tolist() != [0, 0]
    game.rules.reset(twin[0])  # goes on with the record's own stream
    assert made.tables[0].tobytes() == twin[0].tobytes()
    assert made.turn[0] == twin[0].turn
    assert np.array_equal(made.observations[0], game.observation(twin[0], twin[0].turn))
    made.step([1, NO_ACTION])
    assert made.dones.tolist() == [False, False]
    assert not made.rewards.any()


def test_a_step_that_keeps_the_ends_is_the_same_step():
    made, ended = tables(16, seats=3), 0
    twin = made.clone()
    for _ in range(40):
        actions, before = made.sample(), made.tables.copy()
        rows, ends = made.step_with_ends(actions)
        twin.step(actions)
        assert made.tables.tobytes() == twin.tables.tobytes()
        for ours, theirs in zip(made._batch[:-1], twin._batch[:-1], strict=True):
            assert np.array_equal(ours, theirs)
        assert rows.tolist() == np.flatnonzero(twin.dones).tolist()
        for row, end in zip(rows, ends, strict=True):
            made.game.rules.play(before[row], int(actions[row]))
            assert end.tobytes() == before[row].tobytes()
        ended += len(rows)
    assert ended > 20


def test_a_table_that_stays_does_not_change():
    made = tables(3)
    before = made.tables.copy(), made.observations.copy(), made.action_masks.copy(), made.turn.copy()
    made.step([NO_ACTION, 1, NO_ACTION])
    for i in (0, 2):
        after = made.tables[i], made.observations[i], made.action_masks[i], made.turn[i]
        assert all(one[i].tobytes() == other.tobytes() for one, other in zip(before, after, strict=True))
    assert made.tables[1].tobytes() != before[0][1].tobytes()


@pytest.mark.parametrize(
    ("actions", "words"),
    [
        ([1, 1], r"shape \(2,\).*\(3,\)"),
        ([[1], [1], [1]], "shape"),
        ([1, 99, 1], "action 99 is not legal at table 1; legal are \\[0, 1"),
        ([1, 1, -2], "action -2 is not legal at table 2"),
    ],
)
def test_a_bad_action_is_named_and_changes_nothing(actions, words):
    made = tables(3)
    before = made.tables.tobytes()
    with pytest.raises(ValueError, match=words):
        made.step(actions)
    assert made.tables.tobytes() == before


def test_step_and_sample_before_reset():
    made = VectorGame(envs.game("holdem"), 1)
    with pytest.raises(ValueError, match="reset"):
        made.step([1])
    with pytest.raises(ValueError, match="reset"):
        made.sample()


def test_seeds():
    assert tables(4, [1, 2, 3, 4]).tables[2].tobytes() == tables(1, [3]).tables[0].tobytes()
    assert tables(4, 9).tables[0].tobytes() == tables(1, 9).tables[0].tobytes()
    made = tables(4, 9)
    assert len({table.tobytes() for table in made.tables}) == 4
    before = made.tables.tobytes()
    made.reset()
    assert made.tables.tobytes() != before  # goes on
    with pytest.raises(ValueError, match="2 seeds for 4 tables"):
        made.reset(seed=[1, 2])
    made.step(made.sample())  # nothing has changed


def test_samples_are_legal_and_uniform():
    made, counts = tables(500, seats=2), np.zeros(10)
    legal = made.action_masks.copy()
    for _ in range(40):
        actions = made.sample()
        assert legal[np.arange(500), actions].all()
        counts += np.bincount(actions, minlength=10)
    assert made.sample() is not made.sample()  # they may be kept
    assert (legal == legal[0]).all()
    share = counts / counts.sum() * legal[0].sum()
    assert share[legal[0] == 1] == pytest.approx(1, abs=0.06)


def test_threads_are_1_to_the_number_of_tables():
    for threads in (0, 3):
        with pytest.raises(ValueError, match=f"threads is {threads}; it must be 1 to 2, the number of tables"):
            VectorGame(envs.game("holdem"), 2, threads=threads)


@pytest.mark.parametrize("fails", [0, 1])
def test_an_error_comes_back_when_the_others_have_ended(fails):
    threads, ended = Threads(2), []

    def work(number):
        if number == fails:
            raise ValueError(f"share {number}")
        time.sleep(0.05)
        ended.append(number)

    with pytest.raises(ValueError, match=f"share {fails}"):
        threads.run(work, [(0,), (1,)])
    assert ended == [1 - fails]
    threads.run(ended.append, [(7,), (8,)])
    assert sorted(ended[1:]) == [7, 8]


def shares_done(threads):
    done = []
    threads.run(done.append, [(0,), (1,), (2,)])
    return sorted(done)


def test_a_forked_child_makes_its_own_threads():
    threads = Threads(3)
    assert shares_done(threads) == [0, 1, 2]
    assert in_another_process("fork", shares_done, threads) == [0, 1, 2]
    assert shares_done(threads) == [0, 1, 2]
