"""Threads that share work: all is done before `run` returns, errors come back, the threads end, a fork has its own."""

import time

import pytest
from forking import in_another_process
from parlour.envs.core.loops import Threads


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
