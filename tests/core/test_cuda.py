"""Tables on a GPU, played by Numba's simulator in another process. `ARGS=cuda make bench` tests them on a real one."""

import json
import os
from pathlib import Path

import pytest
import simulated_gpu
from cases import SMALL
from forking import python
from parlour import envs

GAMES = [game_id for game_id in envs.GAMES if game_id.partition("-")[0] not in SMALL]
QUICK = ["kuhn-v0"]
"""Games that are tried in every run of the tests; `make nightly` tries all."""
SCRIPT = Path(simulated_gpu.__file__)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("game_id", GAMES if "PARLOUR_NIGHTLY" in os.environ else QUICK)  # the simulator is slow
def test_a_simulated_gpu_gives_the_bytes_of_the_cpu(game_id):
    simulated = json.loads(python(SCRIPT, game_id, NUMBA_ENABLE_CUDASIM="1", NUMBA_DISABLE_JIT="1"))
    on_cpu = simulated_gpu.report(game_id, "cpu")
    assert simulated == json.loads(json.dumps(on_cpu))
    assert len(set(on_cpu["copies"])) == 1
    assert on_cpu["unchanged"]
    assert "legal are" in on_cpu["refused"][0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("device='gpu'", "device='gpu': it is 'cpu' or 'cuda'"),
        ("device='cuda', threads=2", "on a GPU every table has a thread of its own"),
    ],
)
def test_what_a_device_cannot_be_is_said(options, words):
    code = f"from parlour.envs import kuhn_v0; kuhn_v0.vector_env(4, {options})"
    with pytest.raises(AssertionError, match=words):
        python("-c", code, NUMBA_ENABLE_CUDASIM="1", NUMBA_DISABLE_JIT="1")


def test_without_a_gpu_or_its_extra_one_sentence_says_so():
    blocked = "import sys; sys.modules['numba_cuda'] = None; "
    code = "from parlour.envs import kuhn_v0; kuhn_v0.vector_env(4, device='cuda')"
    with pytest.raises(AssertionError, match=r"device='cuda' needs .*\[cuda\]"):
        python("-c", blocked + code, CUDA_VISIBLE_DEVICES="")
    with pytest.raises(AssertionError, match=r"device='cuda' needs .*\[cuda\]"):
        python("-c", code, CUDA_VISIBLE_DEVICES="")


def test_a_forked_child_cannot_go_on_with_the_gpu_of_its_parent():
    code = """
import pickle
from forking import in_another_process
from parlour.envs import kuhn_v0

tables = kuhn_v0.vector_env(2, device="cuda")
tables.reset(seed=1)

def errors():
    found = []
    step, dump = (lambda: tables.step([-1, -1])), (lambda: pickle.dumps(tables))
    for call in (tables.reset, step, tables.sample, tables.clone, dump):
        try:
            call()
        except RuntimeError as error:
            found.append("from which this one was forked: make it anew" in str(error))
    return found

assert in_another_process("fork", errors) == [True] * 5
tables.step(tables.sample())
"""
    python("-c", code, NUMBA_ENABLE_CUDASIM="1", NUMBA_DISABLE_JIT="1", PYTHONPATH=str(SCRIPT.parent))
