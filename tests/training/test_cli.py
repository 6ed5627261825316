import dataclasses
import json
import re
import shlex
import shutil
import subprocess
import sys
from io import StringIO
from pathlib import Path

import nim
import pytest
from command_line import facts, printed, run
from forking import python
from parlour import zoo
from parlour.envs.core import registry
from parlour.training import cli
from parlour.training.commands import MERGED, SUBCOMMANDS, arguments
from parlour.training.commands.lookup import game_of
from parlour.training.runs.run import _resume
from parlour.wrappers.policies.base import TrainedFor
from parlour.wrappers.policies.loading import run_settings

TINY = ("--n-envs", "8", "--set", "n_steps=8", "batch_size=64", "net_arch=[8]", "critic_net_arch=[8]")


def test_the_front_page_names_every_command(capsys):
    for words in ("", "--help"):
        out = printed(capsys, words)
        for name in cli.COMMANDS:
            assert f"  {name} " in out


def test_it_runs_as_a_module():
    assert python("-m", "parlour.training.cli", "--version").startswith("parlour ")


def test_a_game_of_ones_own_stands_in_place_of_a_name(capsys, tmp_path, monkeypatch):
    source = Path(nim.__file__).read_text("utf-8").replace('"nim"', '"own_nim"')
    (tmp_path / "my_games.py").write_text(source, "utf-8")

    def forget():
        """Begin as another process does, which knows no game of one's own."""
        monkeypatch.setattr(registry, "GAMES", known.copy())
        registry.TYPED.clear()

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    known, players = registry.GAMES, ["--agents", "random", "random"]
    for args in (
        ["play", "my_games:game", "--delay", "0", *players],
        ["play", "--matches", "1", "--delay", "0", "my_games:game", *players],
        ["host", "arena", "my_games:game", *players, "--port", "0"],
        ["train", "my_games:game", "--run", "mine", "--algorithm", "selfplay", "--total-timesteps", "64", *TINY],
        ["evaluate", "mine", "--against", "random", "--deals", "10", "--game=my_games:game"],
        ["train", "--resume", "mine", "--total-timesteps", "128", "--game", "my_games:game"],
        ["check", "my_games:game", "--laws", "clone", "--episodes", "1"],
    ):
        forget()
        assert cli.main(args) == 0, capsys.readouterr().err
        assert "own_nim-v0" in registry.GAMES or args[0] == "check"
    assert capsys.readouterr().out.count("next: parlour evaluate mine --against random --game my_games:game\n") == 2
    assert _resume("a b", registry.game("my_games:game")) == "parlour train --resume 'a b' --game my_games:game"
    for args, words in (
        (["evaluate", "mine", "--against", "random"], "mine is of a game of your own: give --game my_games:game"),
        (["train", "--resume", "mine"], "mine is of a game of your own: give --game my_games:game"),
        (["evaluate", "runs/mine/policy.npz"], "'own_nim-v0'; for a game of your own give module:function"),
    ):
        forget()
        code, _, err = run(capsys, *args)
        assert code == 2 and words in err
    for mistyped, meant in (
        ("my_games", "my_games:game"),
        ("./my_games.py", "my_games:game"),
        ("my_games.py:make", "my_games:make"),
        ("games/nim.py:game", "games.nim:game"),
        ("nowhere", "give module:function"),
    ):
        assert meant in run(capsys, "play", mistyped)[2].split(mistyped, 1)[1]
    forget()
    assert "the game has none" in run(capsys, "evaluate", "reference", "my_games:game", "random")[2]


def test_a_game_of_ones_own_is_evaluated_with_the_options_of_its_run_and_its_rewards_have_their_scale(
    capsys, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "GAMES", registry.GAMES.copy())
    monkeypatch.setattr(registry, "TYPED", {})
    monkeypatch.setattr(sys, "path", [*sys.path, str(Path(nim.__file__).parent)])
    budget = ["--total-timesteps", "64", *TINY]
    for algorithm in ("maskable_ppo", "selfplay"):
        args = ["drawn_nim:game", "--options", "left=stones", "--algorithm", algorithm, "--run", algorithm, *budget]
        assert cli.main(["train", *args]) == 0, capsys.readouterr().err
        assert run_settings(Path("runs") / algorithm).reward_scale == 1.0  # one wins 1
    assert game_of("selfplay", "drawn_nim:game").options == {"left": "stones"}
    assert game_of("selfplay", "drawn_nim:game", ["left=heaps"]).options == {"left": "heaps"}
    assert game_of("random", "drawn_nim:game").options == {}


def test_only_the_command_line_names_a_module(tmp_path, monkeypatch):
    (tmp_path / "others.py").write_text("raise SystemExit('loaded')", "utf-8")
    monkeypatch.chdir(tmp_path)
    policy = TrainedFor(game="others:game")
    with pytest.raises(ValueError, match="no game is called 'others:game'"):
        policy.make_game()


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("games_that_are_not:game", "cannot be loaded: No module.* in the folder of games_that_are_not.py"),
        ("nim:legal", "makes no game without options"),
        ("nim:__name__", "'nim', which is no function"),
        ("bad_call:game", r"makes no game without options: mine \(RuntimeError, .*bad_call.py, line 2\)"),
        ("bad_import:game", r"cannot be loaded: mine \(RuntimeError, .*bad_import.py, line 1\)"),
        ("bad_exit:game", r"cannot be loaded: 0 \(SystemExit, .*bad_exit.py, line 1\)"),
    ],
)
def test_what_makes_no_game_is_a_sentence(capsys, tmp_path, monkeypatch, source, words):
    (tmp_path / "bad_call.py").write_text("def game():\n    raise RuntimeError('mine')", "utf-8")
    (tmp_path / "bad_import.py").write_text("raise RuntimeError('mine')", "utf-8")
    (tmp_path / "bad_exit.py").write_text("raise SystemExit(0)", "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.setattr(registry, "TYPED", {})
    for command in ("play", "check"):
        assert cli.main([command, source]) == 2
        assert re.search(words, capsys.readouterr().err)


SHARED = {
    field.name.replace("_", "-")
    for kind in vars(arguments).values()
    if dataclasses.is_dataclass(kind)
    for field in dataclasses.fields(kind)
}
"""Options that several commands have: they are read once."""


PAGES = [*cli.COMMANDS, *(f"{name} {sub}" for name, subs in SUBCOMMANDS.items() for sub in subs)]


@pytest.mark.parametrize("name", PAGES)
def test_help_describes_every_option(capsys, name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    page = printed(capsys, name, "--help")
    assert page.startswith(f"parlour {name}")
    assert max(map(len, page.splitlines())) <= 80
    options = set(re.findall(r"(?m)^│ [ *]*--(?!no-)([\w-]+)", page))
    own = options if name in ("train", "evaluate") else options - SHARED
    assert len(own) <= {"train": 25, "evaluate": 15}.get(name, 20), own
    assert not re.search(r"(?m)^│ [ *]*--[\w-]+( [A-Z.]+)* +│$", page), "an option without a description"


def test_the_help_of_evaluate_loads_little_and_comes_at_once():
    code = (
        "import sys, time; from parlour.training.cli import main; main(['evaluate', '--help']);"
        "print(len([name for name in sys.modules if name.startswith('parlour')]), 'numba' in sys.modules,"
        " time.process_time())"
    )
    modules, numba, seconds = python("-c", code).splitlines()[-1].split()
    assert int(modules) <= 40 and numba == "False" and float(seconds) < 1


@pytest.mark.parametrize("name", MERGED)
def test_a_command_of_version_0_2_says_what_does_the_same_now(capsys, name):
    code, _, err = run(capsys, name, "holdem", "--agents", "call")
    assert (code, err) == (cli.MISTAKE, f"parlour {name}: this is `{MERGED[name]}` now\n")
    assert name not in cli.COMMANDS
    now = MERGED[name].split()
    assert now[0] == "make" or now[0].startswith("examples/") or now[1] in cli.COMMANDS


def test_play_without_agents_is_a_match_with_you(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", StringIO(""))
    code, out, err = run(capsys, "play", "kuhn")
    assert code == 2
    said = " ".join(out.replace("│", " ").split())
    assert "Kuhn poker: Poker for two with three cards" in said and "You are player_0; zoo:kuhn plays player_1." in said
    assert "the input ended before the match" in err


def test_a_traceback_can_be_had(monkeypatch):
    monkeypatch.setenv("PARLOUR_TRACEBACK", "1")
    with pytest.raises(ValueError, match="tight"):
        cli.main(["evaluate", "tigth"])


def test_evaluate_as_json(capsys):
    report = facts(capsys, "evaluate tight --against call --deals 40 --seats 3 --options ante=1")
    assert report["options"]["seats"] == 3
    assert report["options"]["ante"] == 1
    (row,) = report["results"]
    assert row["against"] == "call"
    assert row["games"] == 120
    assert row["low"] < row["mean"] < row["high"]


# Arguments, lists, completion.


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("words", "completed"),
    [
        (["parlour", "host", "ta"], {"tangram"}),
        (["parlour", "deploy", "poker", "--ap"], {"--api", "--api-key", "--api-key-file"}),
    ],
)
def test_completion_works_in_bash(words, completed, capsys, tmp_path):
    _, script, _ = run(capsys, "--completion", "bash")
    (tmp_path / "parlour.bash").write_text(script)
    ask = (
        f"source {tmp_path}/parlour.bash; COMP_WORDS=({shlex.join(words)}); COMP_CWORD={len(words) - 1};"
        "$(complete -p parlour | sed 's/.*-F \\([^ ]*\\).*/\\1/'); printf '%s\\n' \"${COMPREPLY[@]}\""
    )
    done = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) >= completed
    assert all(word.startswith(words[-1]) for word in done.stdout.splitlines() if word)


def test_list_shows_games_bots_the_zoo_presets_and_runs(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(Path(__file__).parents[1] / "data" / "v0_2" / "runs" / "holdem", tmp_path / "runs" / "old")
    (tmp_path / "runs" / "no run").mkdir()
    (tmp_path / "runs" / "damaged").mkdir()
    (tmp_path / "runs" / "damaged" / "config.toml").write_text("game = ")
    code, out, error = run(capsys, "list", "--json")
    assert (code, "left out: damaged" in error) == (0, True)
    found = json.loads(out)
    games = {row["game"]: row for row in found["games"]}
    assert games["holdem-v0"]["players"] == 6
    assert "stacks" in games["holdem-v0"]["options"]
    bots = {row["bot"]: row["games"] for row in found["bots"]}
    assert bots["tight"] == ["holdem-v0", "leduc-v0"]
    assert set(bots["random"]) > {"holdem-v0", "mafia-v0"}
    assert [row["policy"] for row in found["zoo"]] == [f"zoo:{name}" for name in zoo.names()]
    schema = json.loads(run(capsys, "list", "cournot", "--json")[1])["cournot"]["properties"]
    assert schema["seats"] == {**schema["seats"], "type": "integer", "default": 2, "minimum": 2, "maximum": 8}
    assert all(part["description"] for part in schema.values())
    assert ("bargaining-public", "bargaining") in {(row["preset"], row["game"]) for row in found["presets"]}
    run_0_2 = {"run": "old", "game": "holdem-v0", "algorithm": "maskable_ppo", "timesteps": 256, "preset": "holdem"}
    assert found["runs"] == [run_0_2]
    assert re.search("zoo:holdem +│ 2 to 10 ", printed(capsys, "list zoo"))
    out = printed(capsys, "list presets runs")
    assert "bargaining-public" in out and "old" in out and "tight" not in out


def test_a_game_of_ones_own_needs_a_name_of_its_own(monkeypatch):
    monkeypatch.setattr(registry, "GAMES", {**registry.GAMES, "nim-v0": "kuhn"})
    with pytest.raises(ValueError, match="an installed game has this id"):
        registry.register_source("nim:game")
