"""What is installed beside us: the hint that names an extra, and games of other packages."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from parlour import envs
from parlour.envs.core import installed, registry


class Distribution:
    def __init__(self, origin):
        self.origin = origin

    def read_text(self, name):
        assert name == "direct_url.json"
        return None if self.origin is None else json.dumps(self.origin)


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        (None, "pip install 'parlour[train]'"),
        ({"url": "file:///a%20b", "dir_info": {"editable": True}}, "pip install -e '/a b[train]'"),
        ({"url": "file:///clone", "dir_info": {}}, "pip install '/clone[train]'"),
        ({"url": "file:///x/p.whl", "archive_info": {}}, "pip install '/x/p.whl[train]'"),
        ({"url": "https://x/p.whl", "archive_info": {}}, "pip install 'parlour[train] @ https://x/p.whl'"),
        ({"url": "https://x/p", "vcs_info": {"vcs": "git"}}, "pip install 'parlour[train] @ git+https://x/p'"),
    ],
)
def test_the_command_names_what_is_installed(origin, command, monkeypatch):
    monkeypatch.setattr(installed, "distribution", lambda name: Distribution(origin))
    monkeypatch.setattr("sys.prefix", "/home/me/venv")
    assert installed.install("train") == command
    monkeypatch.setattr("sys.prefix", "/home/me/.local/share/pipx/venvs/parlour")
    assert installed.install("train") == command.replace("pip install", "pipx install --force").replace(
        " -e '", " -e '"
    )


METADATA = "Metadata-Version: 2.1\nName: their-games\nVersion: 1.0\n"
WHEEL = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
POINTS = """[parlour.games]
rock_paper_scissors-v0 = their_games:game
kuhn-v0 = their_games:game
no version = their_games:game
gone-v0 = their_games:gone
module-v0 = their_games
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Install a package with a game into a folder of its own; return the environment in which it is found."""
    folder = tmp_path_factory.mktemp("installed")
    wheel, packages = folder / "their_games-1.0-py3-none-any.whl", folder / "site"
    files = {"METADATA": METADATA, "WHEEL": WHEEL, "entry_points.txt": POINTS}
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.write(Path(__file__).parents[1] / "rock_paper_scissors.py", "their_games.py")
        for name, text in files.items():
            archive.writestr(f"their_games-1.0.dist-info/{name}", text)
        archive.writestr("their_games-1.0.dist-info/RECORD", "")
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--target", packages, wheel]
    subprocess.run(pip, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return {**os.environ, "PYTHONPATH": str(packages)}


def run(site, *command):
    return subprocess.run([sys.executable, *command], env=site, cwd=os.sep, capture_output=True, text=True)


@pytest.mark.slow
def test_an_installed_game_plays_in_every_command_by_its_name(site, tmp_path):
    folder = str(tmp_path / "one")
    for command in (
        ["list", "games"],
        ["play", "rock_paper_scissors", "--agents", "random", "random", "--delay", "0"],
        ["check", "rock_paper_scissors", "--episodes", "2"],
        ["train", "rock_paper_scissors", "--total-timesteps", "512", "--run", str(tmp_path / "one")],
        ["evaluate", folder, "--against", "random", "--deals", "20"],
    ):
        done = run(site, "-m", "parlour.training.cli", *command)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        if command[0] == "list":
            assert "rock_paper_scissors" in done.stdout


@pytest.mark.slow
def test_gymnasium_and_pettingzoo_make_it_and_what_cannot_be_registered_is_told(site):
    done = run(
        site,
        "-c",
        "import gymnasium; from parlour import envs; gymnasium.make('parlour/Rock_paper_scissors-v0').reset(seed=1); "
        "print(envs.make('rock_paper_scissors').possible_agents, envs.game('kuhn').num_actions)",
    )
    assert done.stdout == "['first', 'second'] 2\n"  # ours stays
    assert "kuhn-v0 = their_games:game is left out: a game with this id is registered already" in done.stderr
    assert "module-v0 = their_games is left out: name the function too" in done.stderr
    assert "no version = their_games:game is left out: 'no version' is not a game id" in done.stderr


def test_a_game_that_cannot_be_loaded_is_named(monkeypatch):
    monkeypatch.setitem(registry.GAMES, "gone-v0", "parlour.envs.small.kuhn:gone")
    with pytest.raises(ValueError, match=r"the game of parlour\.envs\.small\.kuhn:gone cannot be loaded: .*'gone'"):
        envs.game("gone")
