"""The compiled functions' cache: never stale, never in the way; what it uses of Numba; rules without the compiler."""

import dataclasses
import os
import pickle
import subprocess
import sys
from collections import Counter
from functools import partial
from pathlib import Path
from shutil import copy, copyfile, copytree

import forking
import numba
import numpy as np
import pytest
from parlour import envs
from parlour.envs import Encoder
from parlour.envs.core import compiled, loops, machine_code, memory, plain_python, plain_start

TESTS = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
CALLEE = "from tiny.compiled import compiled\n\n\n@compiled\ndef callee(x):\n    return x + {}\n"
CALLER = (
    "from tiny.compiled import compiled\nfrom .callee import callee\n\n\n"
    "@compiled\ndef caller(x):\n    return callee(x)\n"
)
CALL = "from tiny.caller import caller; r = caller(1); s = caller.stats; print(r, sum(s.cache_hits.values()))"

OWN = CALL.replace("tiny", "own")


def python(code, folder, *arguments, **environment):
    return forking.python("-c", code, *arguments, PYTHONPATH=str(folder), **environment).strip()


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with a copy of `compiled`: to import it from `parlour.envs` takes every process a second."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)  # code is kept beside its source
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "__init__.py").touch()
    for module in (compiled, plain_start, machine_code, memory, plain_python, plain_start, loops):
        copy(module.__file__, tmp_path / "tiny")
    (tmp_path / "tiny" / "callee.py").write_text(CALLEE.format(10))
    (tmp_path / "tiny" / "caller.py").write_text(CALLER)
    return tmp_path


@pytest.mark.smoke
@pytest.mark.slow
def test_checkouts_with_the_same_sources_share_machine_code_and_others_keep_their_own(package, tmp_path):
    source = package / "tiny" / "compiled.py"
    source.write_text(source.read_text().replace(f"\nKEPT = {compiled.KEPT}\n", "\nKEPT = 2\n"))
    run = partial(python, CALL, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    second = copytree(package / "tiny", tmp_path / "second" / "tiny", copy_function=copyfile).parent  # with new times
    assert [run(one) for one in (package, second)] == ["11 0", "11 1"]
    (second / "tiny" / ".#callee.py").symlink_to("who@where.1")  # as Emacs locks a file
    for number in range(3):  # the first ones are removed
        (second / "tiny" / "callee.py").write_text(CALLEE.format(number))
        assert [run(second), run(second)] == [f"{number + 1} 0", f"{number + 1} 1"]
    indices = Counter(one.name.rsplit(".", 3)[0] for one in tmp_path.rglob("*.nbc"))
    assert set(indices.values()) == {2} and len(indices) == 3  # machine code of one, parts of both
    assert run(package) == "11 0"


CHANGES = [
    ("a = np.arange(3)", "a = np.arange(3) * 2"),
    ("    z: int\n    w: int\n", "    w: int\n    z: int\n"),
    ("BELOW = 3", "BELOW = 4"),
    ("    TEN = 10", "    TEN = 20"),
    ("one, two = lower, double", "one, two = double, lower"),
    ("return x + 100", "return x + 200"),
]


@pytest.mark.slow
def test_whatever_a_function_depends_on_is_in_its_stamp(package):
    """Also what stands below it in its file, and what a module that it names has."""
    source = (
        "import sys\nimport numpy as np\nfrom enum import IntEnum\nfrom typing import NamedTuple\n"
        "from numba.extending import register_jitable\nfrom tiny.compiled import compiled\n\n"
        "me = sys.modules[__name__]\na = np.arange(3)\nb = (1, (2, 3))\n\n\n"
        "class Named(NamedTuple):\n    z: int\n    w: int\n\n\n"
        "@compiled\ndef added(x, y=1):\n    return x + a[1] + y + b[1][1]\n\n\n"
        "class Kind(IntEnum):\n    TEN = 10\n\n\n"
        "@compiled\ndef caller(x):\n    named = Named(5, 7)\n"
        "    return added(x) + one(x) + 2 * two(x) + pair[0](x) + hundred(x) + Kind.TEN + named.z\n\n\n"
        "@register_jitable\ndef hundred(x):\n    return x + 100\n\n\n"
        "@compiled\ndef lower(x):\n    return x * BELOW\n\n\n"
        "@compiled\ndef double(x):\n    return 20 * x\n\n\nBELOW = 3\none, two = lower, double\n"
        "pair = (lower, double)\n"
    )
    (package / "own").mkdir()
    file = package / "own" / "caller.py"
    file.write_text(source)
    first = python(OWN, package)
    assert first.endswith(" 0") and python(OWN, package) == first.replace(" 0", " 1")
    for before, after in CHANGES:
        file.write_text(source.replace(before, after))
        result, hits = python(OWN, package).split()
        plain = python("from own.caller import caller; print(caller(1))", package, NUMBA_DISABLE_JIT="1")
        assert (result, hits) == (plain, "0") and result != first.split()[0], after


@pytest.mark.slow
@pytest.mark.parametrize("way", ["from lib.callee import callee", "by Numba alone"])
def test_a_change_in_another_folder_compiles_anew_all_that_call_it(package, way):
    (package / "lib").mkdir()
    importing = way if "import" in way else "import lib.callee"
    called = "callee" if way.startswith("from") else "lib.callee.callee"
    caller = CALLER.replace("from .callee import callee", f"{importing}\nfrom .middle import twice")
    (package / "tiny" / "caller.py").write_text(caller.replace("callee(x)", f"{called}(x) + twice(x)"))
    njit = "from numba import njit as compiled" if way == "by Numba alone" else "from tiny.compiled import compiled"
    middle = f"{njit}\n{importing}\n\n\n@compiled\ndef twice(x):\n    return 2 * {called}(x)\n"
    (package / "middle").mkdir()
    (package / "middle" / "__init__.py").write_text(middle)
    caller_file = package / "tiny" / "caller.py"
    caller_file.write_text(caller_file.read_text().replace("from .middle", "from middle"))
    for number, told in ((10, "33"), (100, "303")):
        (package / "lib" / "callee.py").write_text(CALLEE.format(number))
        assert python(CALL, package) == f"{told} 0"
        assert python(CALL, package) == f"{told} 1"


@compiled.compiled
def its_sum(x):
    return np.full(2, x).sum()


@compiled.compiled
def the_same(x):
    return x


@compiled.compiled
def first_of_the_same(x):
    return the_same(x)[0]


@compiled.compiled
def both(x):
    return x, 1.0


@compiled.compiled
def first_of_both(x):
    return both(x)[0][0]


def test_an_array_that_is_returned_to_a_compiled_function_is_an_error():
    """Without counted references its memory would be freed too early or never."""
    given = np.arange(2.0)
    assert the_same(given) is not None
    with pytest.raises(TypeError, match=r"^the_same returns an array to a compiled function.*allocates=True"):
        first_of_the_same(given)
    with pytest.raises(TypeError, match=r"^both returns an array to a compiled function"):
        first_of_both(given)


@pytest.mark.slow
def test_without_any_folder_for_the_cache_it_compiles_and_runs(package):
    """What Numba finds on a read-only installation with a read-only home, for any user."""
    code = "from numba.core.caching import _CacheLocator\n"
    code += "def refuse(self): raise OSError('read-only')\n"
    code += "_CacheLocator.ensure_cache_path = refuse\n"
    code += "from tiny.caller import caller; print(caller(1))"
    assert python(code, package) == "11"
    assert not list(package.rglob("*.nbc"))


def test_what_a_notebook_compiles_is_not_kept():
    """No file tells that another cell has changed, and the cache would go stale."""
    cell = CALLEE.format(10).replace("tiny", "parlour.envs.core")
    for name in ("/tmp/ipykernel_1/2.py", "<string>"):
        space = {}
        exec(compile(cell, name, "exec"), space)
        assert space["callee"](1) == 11
        assert isinstance(space["callee"]._cache, numba.core.caching.NullCache)


# The batch loop with a game's own functions.

RULES = """import numpy as np
from tiny.compiled import compiled


@compiled
def reset(table): table.turn = 0


@compiled
def play(table, number): table.turn += number


@compiled
def other(table, number): table.turn += {} * number


def made(stake):
    @compiled
    def play(table, number): table.turn += stake * number

    return play


def preset(stake):
    @compiled
    def play(table, number, times=stake): table.turn += times * number

    return play


@compiled
def legal(table, mask): mask[:] = 1


@compiled
def observe(table, seat, at, out): out[:] = seat
"""
LOOP = """
import sys
import numpy as np
from game import rules
from tiny import loops
table = np.zeros(2, [("turn", "i8"), ("rewards", "f8", 1), ("done", "?")])
for play in map(eval, sys.argv[1:]):
    table["turn"] = 0
    blank = (np.zeros((2, 1)), np.zeros((2, 1)), np.zeros(2, np.int64), np.zeros((2, 1)), np.zeros(2))
    step = loops.compile_loop(loops.step_batch, reset=rules.reset, play=play, legal=rules.legal, observe=rules.observe)
    step(table, np.array([1, 2]), loops.Batch(*blank, np.zeros(1)), True)
    print(table["turn"].tolist(), sum(step.stats.cache_hits.values()))
"""


MADE = ("rules.made(3)", "rules.made(4)", "rules.preset(3)", "rules.preset(4)")


@pytest.mark.slow
def test_every_game_has_its_own_loop_on_disk_and_none_is_stale(package):
    (package / "game").mkdir()
    for factor in (10, 100):
        (package / "game" / "rules.py").write_text(RULES.format(factor))
        for hits in (0, 1):  # then from the cache
            told = python(LOOP, package, "rules.play", "rules.other", *MADE).split("\n")
            own = [f"[1, 2] {hits}", f"[{factor}, {2 * factor}] {hits}"]
            assert told == [*own, *["[3, 6] 0", "[4, 8] 0"] * 2]  # what is made by a function is not kept


NUMBERS_OF_SEATS = (
    "import sys, many_seats; from parlour.envs import GameEnv\n"
    "for seats in map(int, sys.argv[1:]):\n"
    "    env = GameEnv(many_seats.game(seats)); env.reset(seed=1); print(env.table.numbers)"
)


@pytest.mark.slow
def test_code_that_two_processes_keep_for_records_of_two_sizes_has_two_names(tmp_path):
    """Both are called in a third process. Numba names the type of a record by a number of each process."""
    play = partial(python, NUMBERS_OF_SEATS, TESTS, NUMBA_CACHE_DIR=str(tmp_path), PARLOUR_COMPILE_FIRST="1")
    two, four = play("2"), play("4")
    assert (len(two.split()), len(four.split())) == (2, 4)
    assert play("2", "4").split("\n") == [two, four]
    assert play("4", "2").split("\n") == [four, two]


def test_pickles_name_the_functions_of_a_module_and_hold_those_of_a_program():
    play = envs.game("kuhn").rules.step
    assert len(pickle.dumps(play)) < 200 and pickle.loads(pickle.dumps(play)) is play
    local = compiled.compiled(uncompiled(its_sum))  # not the one that its module names
    assert pickle.loads(pickle.dumps(local)) is not its_sum and pickle.loads(pickle.dumps(local))(2.0) == 4.0


def uncompiled(function):
    return getattr(function, "py_func", function)


def test_rules_and_encoder_are_compiled_once_whoever_calls_them():
    """Loops, exact moves, and seats out of turn: a whole number of another width would compile them a second time."""
    blueprint = envs.game("auction")
    step = compiled.compiled(blueprint.rules.step.py_func)  # as new: other tests have called the game's own
    observe = compiled.compiled(blueprint.encoders["v0"].observe.py_func)
    rules, encoder = dataclasses.replace(blueprint.rules, step=step), Encoder(blueprint.layout, observe)
    env = envs.GameEnv(dataclasses.replace(blueprint, rules=rules, encoders={"v0": encoder}))
    env.reset(seed=1)
    env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))
    assert env.submit(env.agent_selection, envs.Action("submit_bid", {"bid": 12.34})).ok
    env.observe("player_0"), env.observe("player_1")
    encoder.observation(env.table, env.table.turn)
    for function in (step, observe):  # one on the disk has machine code alone
        assert len({*function.signatures, *function.part.signatures}) == 1


@pytest.mark.slow
def test_the_first_use_of_a_game_says_that_it_is_compiled(tmp_path):
    code = "from parlour.envs import bargaining_v0; from numba.core.event import _registered; "
    code += "_registered['numba:compile'][0]._due = 0.0; bargaining_v0.vector_env(num_envs=8).reset(seed=0)"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PARLOUR_COMPILE_FIRST": "1"}
    command = {"args": [sys.executable, "-c", code], "env": environment, "capture_output": True, "text": True}
    first, second = (subprocess.run(**command, check=True).stderr for _ in range(2))
    assert first.startswith("compiling ") and "(first use; kept on disk) … 0 s" in first and second == ""


@compiled.compiled
def twice(x):
    return 2 * x


@compiled.compiled
def four_times(x):
    return twice(twice(x))


def test_a_function_that_is_called_is_a_part_alone():
    """`machine_code` uses this of Numba's private interface."""
    assert four_times(3) == 12
    assert not twice.overloads and len(four_times.overloads) == 1, (
        f"Numba {numba.__version__} makes machine code of what only compiled functions call"
    )
