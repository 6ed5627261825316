"""Fixtures over the registry of games, and a browser."""

import asyncio
import inspect
import logging
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import settings

os.environ.setdefault("PARLOUR_COMPILE_FIRST", "1")  # tests of a change-over have processes of their own

from parlour import envs

sys.path.append(str(Path(__file__).parent))  # for browser, cases and three_cards
sys.path.append(str(Path(__file__).parents[1] / "contrib"))

from browser import chromium
from cases import CASES, of_games
from live.event_loops import VirtualLoop

# What is compiled first depends on the order of the tests: nothing is told of it here.
logging.getLogger("parlour").addFilter(lambda record: not str(record.msg).startswith("compiling "))

settings.register_profile("here", deadline=None, max_examples=100)
settings.register_profile("ci", deadline=None, max_examples=100, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")


# A shell's background job ignores Ctrl-C, and so would the processes that the tests start and stop.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # so does nohup with this one
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

GAMES = ("mafia", "holdem", "poker", "auction", "tangram", "bargaining")
"""The order in which they are tested. Mafia and tangram, which take longest to compile, lie far apart."""


def pytest_collection_modifyitems(items):
    """Leave out what is for the night, and put the tests game by game.

    Two workers that begin at the first and in the middle compile different games.
    """
    if not os.environ.get("PARLOUR_NIGHTLY"):
        items[:] = (item for item in items if not item.get_closest_marker("nightly"))
    items.sort(key=_game_of)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Run an async test in an event loop of its own; it may take two minutes, compiling included.

    With the mark `virtual_time` it waits for nothing.
    """
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    given = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    test, virtual = pyfuncitem.obj(**given), pyfuncitem.get_closest_marker("virtual_time") is not None
    with asyncio.Runner(loop_factory=VirtualLoop if virtual else None) as runner:
        runner.run(test if virtual else asyncio.wait_for(test, 120))
    return True


def pytest_terminal_summary(terminalreporter):
    """Tell in one line what was skipped for want of a program or library, and how to get it."""
    skipped = (report.longrepr[2].removeprefix("Skipped: ") for report in terminalreporter.getreports("skipped"))
    if reasons := Counter(reason for reason in skipped if " is missing: " in reason):
        told = "; ".join(f"{count} {'test' if count == 1 else 'tests'}: {one}" for one, count in reasons.most_common())
        terminalreporter.write_line(f"Skipped: {told}", yellow=True)


def _game_of(item):
    found = re.search(rf"(?:/|test_|\[)({'|'.join(GAMES)})(?:/|_|-v\d)", item.nodeid)
    return GAMES.index(found[1]) if found else len(GAMES)


@pytest.fixture(params=CASES)
def case(request):
    """A registered game's id and options."""
    return request.param


@pytest.fixture
def game(case):
    """Every registered game with every set of its options; `make test` has some of them."""
    return envs.game(case[0], **case[1])


@pytest.fixture(params=of_games(envs.GAMES))
def game_id(request):
    """Every registered game's id; `make test` has some of them."""
    return request.param


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    """A certificate for 127.0.0.1 that signs itself: its file, and its key's."""
    folder = tmp_path_factory.mktemp("tls")
    cert, key = folder / "cert.pem", folder / "key.pem"
    name = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *name]
    subprocess.run([*made, "-keyout", str(key), "-out", str(cert)], check=True, capture_output=True)
    return cert, key
