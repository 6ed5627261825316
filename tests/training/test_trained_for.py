"""A policy file tells what it was trained for. The commands play that, and warn if they are to play another game."""

import json

import pytest
from command_line import run
from parlour import envs
from parlour.training.commands import supervisor
from policies import blank


@pytest.fixture
def trained(tmp_path, monkeypatch):
    """A saved policy of hold'em with two seats and antes, in the current folder."""
    monkeypatch.chdir(tmp_path)
    table = envs.game("holdem", seats=2, ante=1)
    blank(table, preset="holdem").save("mine.npz")
    return "mine.npz"


def test_a_policy_file_is_played_with_its_own_game_and_options(trained, capsys):
    code, out, err = run(capsys, "evaluate", trained, "--against", "call", "--deals", "4", "--json")
    assert (code, err) == (0, "")
    report = json.loads(out)
    assert (report["game"], report["options"]["seats"], report["options"]["ante"]) == ("holdem-v0", 2, 1)
    code, _, err = run(capsys, "evaluate", trained, "--against", "call", "--deals", "4", "--options", "ante=0")
    assert code == 0
    assert err == "mine.npz was trained for holdem-v0 with ante=1 (preset holdem); it plays with ante=0\n"


@pytest.mark.parametrize(
    "args",
    [
        ["play", "holdem", "--agents", "mine.npz", "call", "--matches", "1", "--delay", "0"],
        ["play", "holdem", "--screen", "--agents", "call", "mine.npz", "--matches", "1", "--delay", "0"],
        ["host", "arena", "holdem", "--agents", "mine.npz", "call", "--rounds", "1", "--port", "0"],
    ],
)
def test_a_line_warns_if_the_game_to_play_differs_from_the_training(trained, capsys, args):
    code, _, err = run(capsys, *args)
    assert code == 0
    lines = [line for line in err.splitlines() if "was trained" in line]
    assert len(lines) == 1
    assert lines[0].endswith("was trained for holdem-v0 with ante=1 (preset holdem); it plays with ante=0")


def test_table_and_deploy_say_so_too(trained, capsys, monkeypatch):
    monkeypatch.setattr(supervisor, "until_done", lambda work: work.close())
    code, _, err = run(capsys, "table", "holdem", "--agents", trained, "--port", "0")
    assert code == 0
    assert "mine.npz was trained for holdem-v0 with ante=1" in err
    code, _, err = run(capsys, "deploy", "arena", trained, "--port", "0", "--options", "ante=2", "stacks=50")
    assert code == 0
    assert "with ante=1, stacks=200 (preset holdem); it plays with ante=2, stacks=50" in err
    code, _, err = run(capsys, "deploy", "arena", trained, "--port", "0")
    assert (code, err) == (0, "")
