import json
import subprocess
import sys

import pytest
from parlour.training import cli


def run(capsys, *args):
    code = cli.main(args)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_front_page_names_every_command(capsys):
    for args in ((), ("--help",)):
        code, out, _ = run(capsys, *args)
        assert code == 0
        for name in cli.COMMANDS:
            assert f"  {name} " in out


def test_it_runs_as_a_module():
    done = subprocess.run([sys.executable, "-m", "parlour.training.cli", "--version"], capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stdout.startswith("parlour ")


def test_the_front_page_loads_no_learning_library():
    code = (
        "import sys; from parlour.training.cli import main; main([]);"
        "print([name for name in ('torch', 'stable_baselines3', 'numba', 'aiohttp') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    "name",
    ["demo", "evaluate", "teams", "play", "table", "watch", "record", "replay", "host", "deploy", "bench", "train"],
)
def test_every_command_has_help(capsys, name):
    code, out, _ = run(capsys, name, "--help")
    assert code == 0
    assert "usage: parlour " + name in out


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["evluate"], "did you mean 'evaluate'"),
        (["evaluate", "tigth"], "did you mean 'tight'"),
        (["evaluate", "call", "--against", "tihgt"], "did you mean 'tight'"),
        (["evaluate", "call", "--game", "holdme"], "did you mean 'holdem'"),
        (["evaluate", "call", "--options", "stack=3"], "did you mean 'stacks'"),
        (["evaluate", "call", "--options", "stacks"], "write name=value"),
        (["evaluate", "call", "--options", "stacks=many"], "stacks='many'"),
        (["evaluate", "call", "--deals", "1"], "deals=1"),
        (["evaluate", "call", "--seats", "11"], "seats=11"),
        (["play", "holdme", "--agents", "call", "tight"], "did you mean 'holdem'"),
        (["play", "holdem", "--agents", "call", "tigth"], "did you mean 'tight'"),
        (["play", "holdem", "--agents", "human", "human"], "two people"),
        (["table", "holdem", "--agents", "tigth"], "did you mean 'tight'"),
        (["table", "holdem", "--agents", "tight", "call", "--seats", "2"], "leave one to a person"),
        (["table", "holdem", "--options", "ante=1"], "ante=1: poker tables take"),
        (["table", "bargaining", "--agents", "fair", "fair"], "leave one to a person"),
        (["table", "bargaining", "--agents", "fair", "fair", "human"], "3 players for 2 seats"),
        (["table", "auction", "--timeout", "0"], "timeout=0"),
        (["table", "auction", "--agents", "llm"], "llm needs --model NAME"),
        (["table", "auction", "--port", "-1"], "port=-1"),
        (["bench", "vectr"], "did you mean 'vector'"),
        (["host", "pokr"], "did you mean 'poker'"),
        (["host", "poker", "--seats", "11"], "seats=11"),
        (["host", "poker", "--port", "99999"], "port=99999"),
        (["evaluate", "call", "--options", "seats=null"], "seats=None: need a whole number"),
        (["evaluate", "call", "--options", "ante=0.5"], "ante=0.5: need a whole number"),
        (["evaluate", "call", "--against", "random", "--seed", "-1"], "seed -1"),
        (["play", "holdem", "--agents", "call", "tight", "--seed", "-2"], "seed -2"),
        (["deploy", "poker", "call"], "--url"),
        (["deploy", "poker", "cal", "--url", "ws://127.0.0.1:1"], "did you mean 'call'"),
        (["deploy", "poker", "--bot", "tigth", "--url", "ws://127.0.0.1:1"], "did you mean 'tight'"),
        (["deploy", "poker", "call", "--api", "ftp://127.0.0.1"], "is no address"),
        (["deploy", "poker", "--url", "ws://127.0.0.1:1"], "give a run"),
        (["train", "holdme", "--total-timesteps", "1"], "did you mean 'holdem'"),
        (["train", "holdem", "--options", "seets=2"], "did you mean 'seats'"),
        (["train"], "give a game"),
        (["train", "--config", "none.toml"], "there is no config file none.toml"),
    ],
)
def test_a_mistake_is_told_in_one_line(capsys, args, words):
    code, out, err = run(capsys, *args)
    assert code == 2
    assert out == ""
    assert words in err
    assert err.count("\n") == 1
    assert err.startswith(f"parlour {args[0]}: ")


def test_a_mistyped_run_is_found(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs" / "first-try").mkdir(parents=True)
    code, _, err = run(capsys, "evaluate", "first-tyr")
    assert code == 2
    assert "did you mean 'first-try'" in err
    code, _, err = run(capsys, "evaluate", "first-try")  # a folder, but no run
    assert code == 2
    assert "config.toml" in err


def test_a_mistyped_option_is_explained(capsys):
    code, _, err = run(capsys, "evaluate", "call", "--dels", "5")
    assert code == 2
    assert "--deals" in err


def test_a_traceback_can_be_had(monkeypatch):
    monkeypatch.setenv("PARLOUR_TRACEBACK", "1")
    with pytest.raises(ValueError, match="tight"):
        cli.main(["evaluate", "tigth"])


def test_a_game_with_a_fixed_number_of_seats(capsys):
    code, out, err = run(capsys, "evaluate", "random", "--game", "bargaining", "--against", "random", "--deals", "20")
    assert (code, err) == (0, "")
    assert "bargaining, 2 seats" in out
    code, out, err = run(capsys, "play", "bargaining", "--agents", "random", "random", "--hands", "1", "--delay", "0")
    assert (code, err) == (0, "")
    assert "player_1" in out
    code, out, err = run(capsys, "play", "bargaining", "--agents", "random", "random", "random")
    assert (code, err) == (2, "parlour play: 3 agents for 2 seats\n")


def test_evaluate_as_a_table(capsys):
    code, out, err = run(capsys, "evaluate", "tight", "--against", "call", "random", "--deals", "40")
    assert code == 0
    assert err == ""
    assert "big blinds per hand" in out
    assert out.count("│ call") == out.count("│ random") == 1


def test_evaluate_as_json(capsys):
    code, out, _ = run(
        capsys,
        "evaluate",
        "tight",
        "--against",
        "call",
        "--deals",
        "40",
        "--seats",
        "3",
        "--options",
        "ante=1",
        "--json",
    )
    assert code == 0
    report = json.loads(out)
    assert report["options"]["seats"] == 3
    assert report["options"]["ante"] == 1
    assert report["best_response"] is None
    (row,) = report["results"]
    assert row["against"] == "call"
    assert row["games"] == 120
    assert row["low"] < row["mean"] < row["high"]


def test_evaluate_best_response(capsys):
    code, out, _ = run(capsys, "evaluate", "call", "--best-response", "--hands", "10", "--json")
    assert code == 0
    report = json.loads(out)
    assert report["results"] == []
    assert report["best_response"]["games"] == 10
    assert report["best_response"]["unit"] == "milli-big-blinds per hand"
