"""`make bench`: the measurements of a checkout."""

import io
import json
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from needs import library
from parlour import envs
from rich.console import Console

CHECKOUT = Path(__file__).parents[1] / ".ci"
if not CHECKOUT.is_dir():
    pytest.skip("the measurements belong to the checkout", allow_module_level=True)
sys.path.append(str(CHECKOUT))

from benchmarks import base, growth, measure  # noqa: E402
from benchmarks.__main__ import main, report  # noqa: E402


def rows(capsys, *args):
    assert main(["--quick", "--json", *args]) == 0
    return {row["name"]: row for row in json.loads(capsys.readouterr().out)}


@pytest.mark.slow
def test_quick_figures_of_what_needs_no_peer(capsys, monkeypatch):
    # Timed figures are never held against their targets here: a test machine is busy.
    found = rows(capsys, "vector", "aec", "protocol", "godot", "memory")
    live = {f"{name}-{part}" for name in ("protocol", "godot") for part in ("p50", "p99")}
    games = [
        "2",
        "6",
        "auction",
        "auction-talk",
        "bargaining",
        "bargaining-talk",
        "cournot",
        "public-good",
        "mafia",
        "tangram",
    ]
    vector = {f"vector-{name}{part}" for name in games for part in ("", "-writing", "-observing")}
    assert set(found) == {*vector, "raw-env", "env", "memory", "memory-tables", *live}
    assert all(row["value"] > 0 for row in found.values())
    assert all(found[name]["worst"] < found[name]["median"] < found[name]["value"] for name in ("vector-2", "env"))
    assert found["vector-2-writing"]["value"] > 1  # a decision takes longer than writing zeros
    assert found["protocol-p50"]["value"] <= found["protocol-p99"]["value"]


@pytest.fixture
def peers(monkeypatch, tmp_path):
    """The module that measures peers, without virtual environments."""
    measurement = measure("peers")
    monkeypatch.setitem(measurement.__globals__, "VENVS", tmp_path / "venvs")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return sys.modules[measurement.__module__]


def test_a_missing_peer_is_reported(peers, tmp_path):
    (tmp_path / "rlcard.py").write_text("raise ModuleNotFoundError('no rlcard here')")
    peer = peers.Peer("rlcard", ("rlcard", "leduc-holdem"), "RLCard", {"ours": lambda: pytest.fail("played")})
    (row,) = peers.beside(peer, 0.1)
    assert row.value is None and row.met is None
    assert row.note == "ModuleNotFoundError: no rlcard here; .ci/peers rlcard installs it"


PEER = """
def make(game, config): return Env()
class Env:
    def reset(self):
        self.left = 3
        return {"legal_actions": {0: None, 1: None}}, 0
    def step(self, action):
        self.left -= 1
        return {"legal_actions": {0: None}}, 1
    def is_over(self): return self.left == 0
"""


def test_a_peer_plays_in_turn_with_ours(peers, tmp_path):
    (tmp_path / "rlcard.py").write_text(PEER)
    (tmp_path / "rlcard-9.8.dist-info").mkdir()
    (tmp_path / "rlcard-9.8.dist-info" / "METADATA").write_text("Name: rlcard\nVersion: 9.8\n")
    ours = {"one table": lambda: peers.single("kuhn"), "none": lambda: lambda: 0}
    theirs, *beside = peers.beside(peers.Peer("rlcard", ("rlcard", "x"), "RLCard", ours), 0.2)
    assert theirs.note == "rlcard 9.8" and theirs.worst > 0
    assert [row.name for row in beside] == ["rlcard-x-ratio", "rlcard-x-ratio"]
    assert beside[0].worst > 0 and beside[1].value == 0


def test_every_peer_is_installed_once_in_an_environment_of_its_own(tmp_path):
    (tmp_path / ".ci").mkdir()
    script, python = Path(shutil.copy(CHECKOUT / "peers", tmp_path / ".ci")), tmp_path / "python"
    pip = '#!/bin/sh\\necho "$0 $*" >> installed\\n'
    python.write_text(f"#!/bin/sh\nmkdir -p $3/bin\nprintf '{pip}' > $3/bin/pip\nchmod +x $3/bin/pip\n")
    python.chmod(0o755)
    for packages in (("rlcard",), ("rlcard", "pettingzoo")):
        subprocess.run([script, *packages], env={**os.environ, "PYTHON": str(python)}, check=True)
    assert (tmp_path / "installed").read_text().splitlines() == [
        "build/peers/rlcard/bin/pip install -q rlcard",
        "build/peers/pettingzoo/bin/pip install -q pettingzoo rlcard pygame",
    ]
    failed = subprocess.run([script, "pgx"], env={**os.environ, "PYTHON": "false"}, capture_output=True)
    assert failed.returncode != 0


def test_growth_is_measured_and_drawn(monkeypatch, tmp_path):
    monkeypatch.setattr(growth, "make_game", lambda name, **options: envs.game("kuhn"))
    monkeypatch.setattr(growth, "TABLES", (10, 100, 10**9))
    monkeypatch.setattr(growth, "SEATS", (2, 3))
    monkeypatch.setattr(growth, "THREADS", (1, 2))
    found = {row.name: row for row in growth.growth(0.05)}
    names = [f"growth-{name}{part}" for name in ("holdem", "leduc") for part in ("", "-memory")]
    tables = {f"{name}-{count}" for name in names for count in (10, 100)}
    assert set(found) == tables | {f"growth-{kind}" for kind in ("seats-2", "seats-3", "threads-1", "threads-2")}
    assert all(row.value >= 0 for row in found.values())
    library("matplotlib", "plot")
    growth.picture([*found.values(), base.Row("other", "other", 1.0, "s")], tmp_path / "growth.svg")
    assert "holdem" in (tmp_path / "growth.svg").read_text()


@pytest.mark.parametrize(
    ("names", "file", "sentence"),
    [
        (["vectr"], "a.svg", "did you mean 'vector'"),
        (["vector"], "a.svg", "measure growth, too"),
        (["growth"], "a.txt", "write to a .svg or .png"),
        (["growth"], "none/a.svg", "in a folder that is there"),
    ],
)
def test_mistakes_are_errors_before_the_measurements(names, file, sentence, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("benchmarks.__main__.measure", lambda name: pytest.fail("measured"))
    with pytest.raises(SystemExit, match="2"):
        main([*names, "--plot", str(tmp_path / file)])
    assert sentence in capsys.readouterr().err


@pytest.mark.slow
def test_a_simulated_gpu_is_compared_and_measured():
    code = """
from parlour import envs
from benchmarks.cuda import decisions_per_second, equal_episodes
print(equal_episodes(envs.game("kuhn"), 4, 10), decisions_per_second(envs.game("kuhn"), 2, 0.01))
from parlour.training.learning import networks
networks.capture_on = lambda device: lambda work: work  # in place of a CUDA graph
networks.current_stream = lambda device: 0
print(decisions_per_second(envs.game("kuhn"), 2, 0.01, together=3))
"""
    equal, rate, together = base.fresh(code, NUMBA_ENABLE_CUDASIM="1", NUMBA_DISABLE_JIT="1")
    assert equal == 10
    assert rate > 0
    assert together > 0


@pytest.mark.slow
def test_kernels_become_machine_code():
    library("numba_cuda", "cuda")
    found = list(runpy.run_path(str(CHECKOUT / "gpu_code.py"))["machine_code"]([envs.game("kuhn")]))
    assert {(one.game, one.kernel) for one in found} == {
        ("every game", "check"), ("every game", "sample"), ("kuhn", "reset"), ("kuhn", "step"),
    }  # fmt: skip
    assert all(one.ptx > 0 for one in found)
    assert all(one.registers > 0 and one.spills == 0 for one in found if one.architecture)


def test_targets_are_held_in_the_right_direction():
    fast = base.Row("a", "a", 10.0, "1/s", target=5.0)
    slow = base.Row("b", "b", 10.0, "s", target=5.0, lower=True)
    assert fast.met
    assert slow.met is False
    console = Console(file=io.StringIO(), width=80)
    console.print(report([fast, slow, base.Row("c", "c", None, "s", note="why [not]")]))
    text = console.file.getvalue()
    assert text.count("met") == text.count("missed") == 1
    assert "c: why [not]" in text
