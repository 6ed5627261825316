"""Time and memory of a new process."""

import tempfile

from ...envs import GAMES
from ...envs import game as make_game
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

FIRST_DECISION = """
import time; begun = time.perf_counter()
from parlour import envs
env = envs.make({game!r}); env.reset(seed=0)
env.step(env.action_space(env.agent_selection).sample(env.last()[0]["action_mask"]))
print(time.perf_counter() - begun)
from parlour.envs.core.plain_start import PLAIN_START
while PLAIN_START.waits():
    time.sleep(0.05)
print(time.perf_counter() - begun)
"""

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
    """One table of each game from the import to its first decision, with an empty cache: seconds of the clock."""
    rows = []
    for name in GAMES:
        with tempfile.TemporaryDirectory() as cache:
            begun, compiled = fresh(FIRST_DECISION.format(game=name), NUMBA_CACHE_DIR=cache, PARLOUR_COMPILE_FIRST="0")
        note = f"machine code after {compiled:.0f} s"
        row = Row(f"first-decision-{name}", f"first decision of {name}", begun, "s", 3, lower=True, note=note)
        rows.append(row)
    return rows


def memory(seconds: Seconds) -> list[Row]:
    """Peak memory of 4,096 tables of 6 seats above `import parlour.envs`."""
    total, tables = fresh(MEMORY)
    note = f"the tables and observations themselves {tables:.0f} MB; the rest is compiled code and Numba"
    return [Row("memory", "4,096 tables with observations, above the import", total, "MB", 60, lower=True, note=note)]
