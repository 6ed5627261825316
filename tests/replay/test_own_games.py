"""Replays of a game of one's own: its picture has the game's names of agents, and shows those of the players."""

import json
import subprocess
import sys
from pathlib import Path

import drawn_nim
import pytest
from logs import played
from parlour.envs.core.options import with_options
from parlour.wrappers.live.common.match_session import SeatNames
from parlour.wrappers.replay.log_reader import picture

REPLAY = [sys.executable, "-m", "parlour.training.cli", "replay"]
TESTS = Path(__file__).parents[1]


@pytest.fixture
def log(tmp_path):
    game = with_options(drawn_nim.game, {"left": "stones"})
    played(tmp_path / "log.jsonl", game, agent_ids=["Ann & <b>", "second"])
    return tmp_path / "log.jsonl"


def test_a_log_is_replayed_with_the_game_that_the_command_names(log):
    refused = subprocess.run([*REPLAY, log], cwd=TESTS, capture_output=True, text=True)
    assert refused.returncode == 2 and "drawn_nim-v0" in refused.stderr
    named = subprocess.run([*REPLAY, log, "--game", "drawn_nim:game"], cwd=TESTS, capture_output=True, text=True)
    assert named.returncode == 0, named.stderr
    page = log.with_suffix(".html").read_text("utf-8")
    data = json.loads(page.split('id="replay">')[1].split("</script>")[0])
    lines = "\n".join(data["lines"])
    assert ">Ann &amp; &lt;b&gt; moves<" in lines and ">second moves<" in lines
    assert ">21 stones<" in lines and " left<" not in lines  # the options of the match
    assert ">first" not in lines and 'class="first"' in lines


def test_names_are_written_over_the_words_of_a_picture_alone(monkeypatch):
    game = drawn_nim.game()
    monkeypatch.setattr("parlour.wrappers.replay.log_reader.game_of", lambda game_id: game)
    table = game.tables(1)[0]
    game.rules.reset(table)
    names = SeatNames(["second", "Bob"], game.agents)  # who sits first is called as the other seat
    drawn = picture([names.state_for_agents(game.turn_state(table, 0))], names)
    assert [part.split("<")[0] for part in drawn.split(">") if part.split("<")[0]] == ["second moves", "Bob", "21 left"]
