"""What is said while Numba compiles."""

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
from parlour.envs.core import plain_start
from parlour.envs.core.plain_start import CompilingNotice


class Event:
    def __init__(self, module):
        function = type("Function", (), {"__module__": module})
        self.data = {"dispatcher": type("Dispatcher", (), {"py_func": function, "sources": ()})}


class Clock:
    """Time, and the timers that it rings."""

    def __init__(self, monkeypatch):
        self.now, self.timers = 1.0, []
        monkeypatch.setattr(plain_start, "monotonic", lambda: self.now)
        monkeypatch.setattr(plain_start, "Timer", self.timer)

    def timer(self, seconds, ring):
        timer = SimpleNamespace(due=self.now + seconds, ring=ring)
        timer.start = lambda: self.timers.append(timer)
        timer.cancel = lambda: timer in self.timers and self.timers.remove(timer)
        return timer

    def go(self, seconds):
        end = self.now + seconds
        while due := [timer for timer in self.timers if timer.due <= end]:
            first = min(due, key=lambda timer: timer.due)
            self.timers.remove(first)
            self.now = first.due
            first.ring()
        self.now = end


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


def compiled_for(seconds, notice, clock, module="parlour.envs.mafia.rules"):
    outer, inner = Event(module), Event("parlour.envs.core.loops")  # called by the other
    notice.on_start(outer)
    notice.on_start(inner)
    clock.go(seconds)
    notice.on_end(inner)
    notice.on_end(outer)


def test_a_long_compilation_is_told_with_its_game_and_told_again(caplog, clock):
    compiled_for(25, CompilingNotice(), clock)
    assert caplog.messages == [f"compiling mafia (first use; kept on disk) … {n} s" for n in (1, 11, 21)]


@pytest.mark.slow
@pytest.mark.parametrize("how", ["import gymnasium, parlour.envs", "from parlour.envs import bargaining_v0"])
def test_the_first_use_says_so_everywhere(how, tmp_path):
    use = "gymnasium.make('parlour/Bargaining-v0')" if "gym" in how else "bargaining_v0.vector_env(num_envs=8)"
    at_once = "from numba.core.event import _registered; _registered['numba:compile'][0]._due = 0.0"
    first, second = (
        subprocess.run(
            [sys.executable, "-c", f"{how}; {at_once}; {use}.reset(seed=0)"],
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PARLOUR_COMPILE_FIRST": "1"},
            capture_output=True,
            text=True,
            check=True,
        ).stderr
        for _ in range(2)
    )
    assert first.startswith("compiling ") and "(first use; kept on disk) … 0 s" in first and second == ""
