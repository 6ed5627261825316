"""Play begins in plain Python, and goes over to machine code in the middle of an episode. No test has a cache."""

import json

import numba
import pytest
from forking import python

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")

EPISODE = """
import sys, time
from hashlib import sha256
from json import dumps
from parlour.envs import leduc_v0
from parlour.envs.core.plain_start import PLAIN_START

env = leduc_v0.raw_env()
digest, compiled, decisions = sha256(), [], 0
for seed in range(6):
    env.reset(seed=seed)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, _ = env.last()
        digest.update(bytes(env.state()) + observation["action_mask"].tobytes() + repr(reward).encode())
        digest.update(repr(env.turn_state(agent)).encode())
        env.step(None if terminated or truncated else int(observation["action_mask"].nonzero()[0][-1]))
        decisions += 1
        compiled.append(len(env.game.loops().one.overloads))
        if decisions == 2:
            while PLAIN_START.waits():
                time.sleep(0.05)
print(dumps({"digest": digest.hexdigest(), "compiled": compiled, "ended": PLAIN_START.ended}))
"""


def run(code, cache, **settings):
    """What a program prints in a process with a cache of its own."""
    strict = () if "NUMBA_DISABLE_JIT" in settings else ("-W", "error")  # without the compiler, NumPy warns of overflow
    return python(*strict, "-c", code, **{"NUMBA_CACHE_DIR": str(cache), "PARLOUR_COMPILE_FIRST": "", **settings})


def test_an_episode_begins_in_python_and_ends_in_machine_code(tmp_path):
    begun = json.loads(run(EPISODE, tmp_path))
    assert begun["ended"] == 1
    assert begun["compiled"][:2] == [0, 0]  # plain Python
    assert begun["compiled"][-1] == 1
    first = json.loads(run(EPISODE, tmp_path / "other", PARLOUR_COMPILE_FIRST="1"))
    assert (first["ended"], first["compiled"][0]) == (0, 1)
    never = json.loads(
        run(EPISODE.replace("len(env.game.loops().one.overloads)", "0"), tmp_path, NUMBA_DISABLE_JIT="1")
    )
    assert begun["digest"] == first["digest"] == never["digest"]


VECTOR = """
from parlour.envs import kuhn_v0
from parlour.envs.core.plain_start import PLAIN_START

env = kuhn_v0.raw_env()
env.reset(seed=1)
assert PLAIN_START.waits()
tables = kuhn_v0.vector_env(2)
tables.reset(seed=1)
assert tables._loops.reset.overloads and not PLAIN_START.waits()
env.step(0)
print(len(env.game.loops().one.overloads))
"""


def test_many_tables_compile_first(tmp_path):
    assert run(VECTOR, tmp_path) == "1\n"


BROKEN = """
from parlour.envs.core import plain_start
from parlour.envs import Match, game

plain_start.COMMAND = ("-c", "raise SystemExit(1)")
match = Match(game("kuhn"))
match.reset(seed=1)
assert not match.game.loops().one.overloads
while plain_start.PLAIN_START.waits():
    pass
match.reset()
print(len(match.game.loops().one.overloads))
"""


def test_where_the_other_process_fails_this_one_compiles(tmp_path):
    assert run(BROKEN, tmp_path) == "1\n"


LIVE = """
import sys, time
from numba.core.event import Listener, install_listener
from parlour.envs import game
from parlour.envs.core.plain_start import PLAIN_START
from parlour.wrappers import PolicyAgent, make_policy

SMALL = ("parlour.envs.core.rng", "parlour.wrappers.policies.base")  # to draw an action: milliseconds

class Count(Listener):
    def __init__(self):
        self.names = []
    def on_start(self, event):
        function = event.data["dispatcher"].py_func
        if function.__module__ not in SMALL:
            self.names.append(function.__qualname__)
    def on_end(self, event):
        pass

count = Count()
with install_listener("numba:compile", count):
    begin()
    assert PLAIN_START.waits() and count.names == [], count.names
    while PLAIN_START.waits():
        time.sleep(0.1)
    begin()
print(PLAIN_START.ended, count.names)
"""
AGENT = """
kuhn = game("kuhn")
def begin():
    assert kuhn.words  # which no player may be called
    PolicyAgent(kuhn, make_policy("zoo:kuhn", kuhn, seed=0)).warm_up()
"""


def test_live_play_begins_in_python_and_compiles_nothing_itself(tmp_path):
    code = LIVE.replace("class Count", AGENT + "\nclass Count")
    assert run(code, tmp_path) == "1 []\n"
