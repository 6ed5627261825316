"""`make bench`: the measurements of a checkout."""

import json
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[1] / ".ci"
if not CHECKOUT.is_dir():
    pytest.skip("the measurements belong to the checkout", allow_module_level=True)
sys.path.append(str(CHECKOUT))

from benchmarks import base, measure  # noqa: E402
from benchmarks.__main__ import main  # noqa: E402
from benchmarks.environments import VECTOR_TABLES  # noqa: E402


@pytest.mark.slow
def test_quick_figures_of_what_needs_no_peer(capsys, monkeypatch):
    # Timed figures are never held against their targets here: a test machine is busy.
    monkeypatch.setattr("benchmarks.__main__.measure", lambda name: lambda seconds: measure(name)(seconds / 20))
    monkeypatch.setattr("benchmarks.environments.VECTOR_TABLES", VECTOR_TABLES[:2])
    assert main(["--quick", "--json", "vector", "aec", "protocol", "godot", "memory"]) == 0
    found = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    live = {f"{name}-{part}" for name in ("protocol", "godot") for part in ("p50", "p99")}
    vector = {f"vector-{name}{part}" for name in ("2", "6") for part in ("", "-writing", "-observing")}
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
