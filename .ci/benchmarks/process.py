"""Time and memory of a new process."""

import tempfile

from parlour.envs import GAMES
from parlour.envs import game as make_game

from .base import Row, Seconds, fresh

FIRST_HAND = """
import time; begun = time.perf_counter()
from parlour.envs import holdem_v0
env = holdem_v0.env(seats=6); env.reset(seed=0)
for agent in env.agent_iter():
    observation, reward, terminated, truncated, info = env.last()
    env.step(None if terminated or truncated else env.action_space(agent).sample(observation["action_mask"]))
tables = holdem_v0.vector_env(num_envs=16, seats=6); tables.reset(seed=0)
for _ in range(100): tables.step(tables.sample())
print(time.perf_counter() - begun)
"""

FIRST_DECISIONS = """
import time
from parlour import envs
env = envs.make({game!r}); env.reset(seed=0)
for decisions in (1, 40):
    for _ in range(decisions):
        while not env.agents or env.terminations[env.agent_selection] or env.truncations[env.agent_selection]:
            env.step(None) if env.agents else env.reset()
        env.step(env.action_space(env.agent_selection).sample(env.last()[0]["action_mask"]))
    print(time.process_time())
"""

FIRST_TURN = """
import asyncio
from benchmarks.first_turn import first_turn
print(asyncio.run(first_turn({game!r})))
"""

STOPPED = """
from parlour.envs.core.plain_start import PLAIN_START
if PLAIN_START._process: PLAIN_START._process.kill(); PLAIN_START._process.wait()
"""
"""Ends the process that compiles beside the game."""

FIRST_USE = """
import time
from parlour import envs
game = envs.game({game!r})
begun = time.process_time()
tables = envs.VectorGame(game, 16); tables.reset(seed=0)
tables.step(tables.sample())
print(time.process_time() - begun)
"""

IMPORT = """
import time; begun = time.perf_counter()
import parlour.envs
print(time.perf_counter() - begun)
"""

MEMORY = """
import sys
sys.modules["scipy"] = None  # comes with the peers, not with Parlour; Numba would load it
import parlour.envs
def peak():
    try:
        with open("/proc/self/status") as status:
            return int(next(line for line in status if line.startswith("VmHWM")).split()[1]) * 1024 / 1e6
    except FileNotFoundError:  # not Linux
        import resource
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6
imported = peak()
def play(count):
    tables = parlour.envs.holdem_v0.vector_env(num_envs=count, seats=6); tables.reset(seed=0)
    for _ in range(20): tables.step(tables.sample())
    return tables
few = play(1)
compiled = peak()
many = play(4096)
print(peak() - imported, peak() - compiled)
"""


def start(seconds: Seconds) -> list[Row]:
    """Import, first use with an empty cache of compiled code, later uses."""
    imported = min(fresh(IMPORT)[0] for _ in range(3))
    with tempfile.TemporaryDirectory() as cache:
        first = fresh(FIRST_HAND, NUMBA_CACHE_DIR=cache)[0]
        later = min(fresh(FIRST_HAND, NUMBA_CACHE_DIR=cache)[0] for _ in range(3))
    how = "import, a hand in env, 100 steps in vector_env"
    return [
        Row("import", "import parlour.envs", imported, "s", 0.5, lower=True),
        Row("first-use", "first use after installation: compiling", first, "s", 30, lower=True, note=how),
        Row("later-use", "later uses", later, "s", 1.5, lower=True, note=how),
    ]


def first_use(seconds: Seconds) -> list[Row]:
    """Compile each game for many tables, with an empty cache of compiled code; processor time without the imports."""
    rows = []
    for game in map(make_game, GAMES):
        with tempfile.TemporaryDirectory() as cache:
            spent = fresh(FIRST_USE.format(game=game.name), NUMBA_CACHE_DIR=cache)[0]
        rows.append(Row(f"first-use-{game.name}", f"first use of {game.name}: compiling", spent, "s", 10, lower=True))
    return rows


def first_decision(seconds: Seconds) -> list[Row]:
    """One table of each game with an empty cache, in Python and in the browser, in processor time of its process.

    On an idle core that is the time of the clock: the process that compiles meanwhile has a core of its own.
    """
    rows = []
    for name in GAMES:
        with tempfile.TemporaryDirectory() as cache:
            start = {"NUMBA_CACHE_DIR": cache, "PARLOUR_COMPILE_FIRST": "0"}
            first, more = fresh(FIRST_DECISIONS.format(game=name) + STOPPED, **start)
            (turn,) = fresh(FIRST_TURN.format(game=name) + STOPPED, **start)
        how = f"from the import; 40 more in {more - first:.2f} s"
        click = f"browser table of {name}: from its making to a person's turn"
        rows.append(Row(f"first-decision-{name}", f"first decision of {name}", first, "s", 3, lower=True, note=how))
        rows.append(Row(f"first-turn-{name}", click, turn, "s", 3, lower=True))
    return rows


def memory(seconds: Seconds) -> list[Row]:
    """Peak memory of 4,096 tables of 6 seats above `import parlour.envs`, and above a table that has compiled."""
    total, tables = fresh(MEMORY)
    return [
        Row("memory", "4,096 tables with observations, above the import", total, "MB", 60, lower=True),
        Row("memory-tables", "— without Numba and the compiled code", tables, "MB", 60, lower=True),
    ]
