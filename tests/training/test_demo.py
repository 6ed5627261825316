import io
import shlex

import pytest
from command_line import printed
from needs import library
from parlour.training.commands.demo import _tell_next
from parlour.training.terminal.console import Console
from parlour.wrappers.logs.match_log import read
from parlour.wrappers.policies.loading import load_run

library("sb3_contrib")


@pytest.mark.parametrize("virtual", [True, False])
def test_the_next_commands_may_be_copied(virtual, tmp_path, monkeypatch):
    prefix, folder, console = tmp_path / "my venv", tmp_path / "my runs", Console(file=io.StringIO(), width=80)
    (prefix / "bin").mkdir(parents=True)
    if virtual:
        (prefix / "bin" / "activate").touch()
    monkeypatch.setattr("sys.prefix", str(prefix))
    monkeypatch.setattr("shutil.which", lambda name: None)
    _tell_next(console, folder)
    lines = [shlex.split(line, comments=True) for line in console.file.getvalue().splitlines()[2:]]
    assert (["source", str(prefix / "bin" / "activate")] in lines) == virtual
    assert any("source" in line for line in lines) == virtual
    assert ["parlour", "play", "holdem", "--agents", str(folder), "human"] in lines
    assert ["parlour", "replay", str(folder / "live.jsonl"), "--serve"] in lines


@pytest.mark.slow
def test_the_whole_road(tmp_path, capsys):
    args = ["--minutes", "0.05", "--deals", "50", "--hands", "12", "--seed", "1", "--runs", str(tmp_path)]
    out = printed(capsys, "demo", *args)
    (folder,) = tmp_path.iterdir()
    game, policy = load_run(folder)
    assert game.seats == 2
    assert hasattr(policy, "act")
    hands = [entry for entry in read(folder / "live.jsonl") if entry["kind"] == "hand"]
    assert len(hands) >= 12
    names = {player["name"] for player in hands[0]["players"]}
    assert names == {"trained policy", "zoo policy", "bot call", "bot tight"}
    for words in ("1. Train", "2. Evaluate", "3. Play live", "12 hands", "0 refused, 0 replaced"):
        assert words in " ".join(out.split())
    assert str(folder / "model.zip") in out
    assert f"parlour replay {folder / 'live.jsonl'} --serve " in out
    assert out.count("95 % interval") == 3  # the return, what the opponent wins, the hands
