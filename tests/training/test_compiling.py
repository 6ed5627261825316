"""What is said while Numba compiles."""

import io
import os
import subprocess
import sys
import time

import numba
import pytest
from parlour.training import compiling
from parlour.training.compiling import CompilingNotice, compiling_notice
from rich.console import Console


class Event:
    def __init__(self, module):
        function = type("Function", (), {"__module__": module})
        self.data = {"dispatcher": type("Dispatcher", (), {"py_func": function})}


def screen(**settings):
    return Console(file=io.StringIO(), width=100, **settings)


def shown(console, notice, seconds=0.3):
    notice.on_start(Event("parlour.envs.mafia.rules"))
    notice.on_start(Event("parlour.envs.core.loops"))  # called by the other
    time.sleep(seconds)
    notice.on_end(None)
    notice.on_end(None)
    notice.close()
    return console.file.getvalue()


def test_a_long_compilation_is_shown_once_with_its_game():
    console = screen()
    text = shown(console, CompilingNotice(console, patience=0.01))
    assert text == "compiling mafia (first use; kept on disk) … 0 s\n"


def test_what_is_compiled_at_once_is_not_worth_a_word():
    console = screen()
    assert shown(console, CompilingNotice(console, patience=5), seconds=0) == ""


def test_a_long_wait_is_shown_again(monkeypatch):
    monkeypatch.setattr(compiling, "EVERY", 0.1)
    console = screen()
    assert shown(console, CompilingNotice(console, patience=0.01), 0.5).count("compiling mafia") >= 3


def test_on_a_terminal_the_time_passes_and_nothing_stays():
    console = screen(force_terminal=True)
    notice = CompilingNotice(console, patience=0.01)
    text = shown(console, notice)
    assert "compiling mafia (first use; kept on disk)" in text
    assert "0:00:00" in text
    assert text.endswith("\x1b[2K") or text.endswith("\x1b[1A\x1b[2K")  # the line is erased
    assert shown(console, notice).count("compiling") > text.count("compiling")  # and comes back


def test_numba_events_show_the_notice(monkeypatch):
    monkeypatch.setattr(compiling, "PATIENCE", 0.0)
    console = screen()

    @numba.njit
    def double(x):
        return 2 * x

    with compiling_notice(console):
        assert double(2.0) == 4.0
        said = console.file.getvalue()
        assert double(3.0) == 6.0
        assert console.file.getvalue() == said


@pytest.mark.slow
def test_a_command_shows_the_notice_on_the_first_use_only(tmp_path):
    command = [sys.executable, "-m", "parlour.training.cli", "play", "bargaining", "--agents", "fair", "fair"]
    errors = [
        subprocess.run(
            [*command, "--matches", "1", "--delay", "0"],
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        ).stderr
        for _ in range(2)
    ]
    assert errors[0].startswith("compiling bargaining (first use; kept on disk) … 1 s")
    assert errors[1] == ""


def test_a_package_of_several_games_is_named_in_words():
    notice = CompilingNotice(Console(), patience=60)
    for module, name in (("parlour.envs.small.leduc", "small games"), ("parlour.envs.mafia.rules", "mafia")):
        notice._name(module)
        assert notice._what == name
