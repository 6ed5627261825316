"""Our agents on the server of strategic-agent-games, from its own checkout: `make platforms` runs it."""

import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

CHECKOUT = os.environ.get("PARLOUR_STRATEGIC_AGENT_GAMES", "")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not CHECKOUT, reason="needs a checkout: see `make platforms`")]

BOTS = {"bargaining": "fair", "ultimatum": "concede"}
"""Bots of the games that have no equilibrium."""
GAMES = [
    "cournot", "trust", "public_project", "voluntary_contribution", "provision_point", "war_of_attrition", "dictator",
    "sequential_investment", "ultimatum", "hold_up", "centipede", "insurance_moral_hazard", "bilateral_trade",
    "english_auction", "dutch_auction", "auction", "bargaining",
]  # fmt: skip
SERVE = """
import runpy, sys, types
sys.modules["seed_matches"] = types.SimpleNamespace(seed=lambda path: None)  # it would play for minutes first
sys.argv.pop(0)
runpy.run_path(sys.argv[0], run_name="__main__")
"""
MATCHES = 3
SUMMARY = re.compile(r"summary: (\d+) matches, (\d+) lost, .* (\d+) decisions?, (\d+) replaced, (\d+) refused")


def answers(port):
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False


@pytest.fixture
def arena(tmp_path):
    """The URL of a server of the platform's; another test's would have sessions whose players are gone."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable,
        "-c",
        SERVE,
        str(Path(CHECKOUT) / "run_arena.py"),
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
    ]
    with (tmp_path / "server.log").open("wb") as log:
        server = subprocess.Popen(
            [*command, "--no-browser", "--db", str(tmp_path / "arena.db")], cwd=tmp_path, stdout=log, stderr=log
        )
        try:
            deadline = time.monotonic() + 60
            while not answers(port):
                assert server.poll() is None and time.monotonic() < deadline, (tmp_path / "server.log").read_text()
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait(timeout=20)


def playing(arena, bot, game, name):
    """Start an agent that plays in sessions of the platform, two agents each."""
    options = ["--sessions", "2", "--matches", str(MATCHES), "--poll", "0.1", "--port", "0", "--name", name]
    command = [sys.executable, "-m", "parlour.training.cli", "deploy", "arena", bot, "--game", game, "--arena", arena]
    return subprocess.Popen([*command, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("other", ["random", "same"])
def test_the_platform_takes_every_answer(arena, game, other):
    bot = BOTS.get(game, "equilibrium")
    bots = bot, bot if other == "same" else other
    agents = [playing(arena, one, game, f"{game}-{other}-{place}") for place, one in enumerate(bots)]
    for agent in agents:
        text, _ = agent.communicate(timeout=120)
        found = SUMMARY.search(text)
        assert found is not None and agent.returncode == 0, text
        matches, lost, _decisions, replaced, refused = map(int, found.groups())
        assert (matches, lost, replaced, refused) == (MATCHES, 0, 0, 0), text
