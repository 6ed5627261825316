"""A real Godot plays the game's side: its own WebSocketClient, its own JSON, its Geometry for collisions."""

import asyncio
import json
import os
import re
import shutil
from pathlib import Path

import pytest
from live import processes
from live.small_game import Knows
from needs import program
from parlour import envs
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.tangram.agent import TangramAgentServer
from parlour.wrappers.policies.loading import make_policy

pytestmark = pytest.mark.slow


async def godot(url, folder):
    """Run the project against an agent; return what it printed."""
    server = program("godot3-server", package="godot3-server")
    project = shutil.copytree(Path(__file__).parent.parent / "godot", folder / "project")
    environment = {**os.environ, "HOME": str(folder), "TANGRAM_URL": url, "LC_ALL": "C.UTF-8"}
    command = (server, "--path", str(project), "-s", "main.gd")
    async with processes.program(*command, env=environment, stderr=asyncio.subprocess.STDOUT) as process:
        out, _ = await asyncio.wait_for(process.communicate(), 120)
    return out.decode()


@pytest.mark.parametrize("bot", ["knows", pytest.param("greedy", marks=pytest.mark.smoke), "solver", "random"])
def test_several_games_of_a_real_godot(bot, tmp_path):
    game = envs.game("tangram", aspect="godot")
    agent = Knows() if bot == "knows" else PolicyAgent(game, make_policy(bot, game, seed=1))

    async def play():
        async with TangramAgentServer(agent, game) as server:
            printed = await godot(server.url, tmp_path)
        return server, printed

    server, printed = asyncio.run(play())
    over = re.search(r"^GAMES OVER (\d+) (.*)$", printed, re.MULTILINE)
    assert over, printed
    assert "PROTOCOL ERROR" not in printed and "SCRIPT ERROR" not in printed, printed
    counts = json.loads(over[2])
    assert int(over[1]) == 4
    assert counts["errors"] == 0
    assert counts["chats"] == counts["asked"] == 4
    assert counts["finishes"] == server.turns
    assert counts["plays"] == server.plays >= 7
    assert server.statistics.replaced == 0
    games = re.findall(r"^GAME (.*) turns=(\d+) on_board=(\d) collided=(\d+) undone=(\d+)$", printed, re.MULTILINE)
    assert len(games) == 4
    assert all(collided == "0" for *_, collided, _undone in games), printed
    known = {name: int(pieces) for name, _, pieces, *_ in games}
    assert known["A lighthouse on a rock"] == 7  # nobody's figure: the agent builds one that holds together
    if bot == "knows":
        assert set(known.values()) == {7}
