"""`parlour bench`: speed and size, beside the peers, on one core.

Every measurement is a small function that returns its figures and names what is missing; nothing is estimated.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from .arguments import named


@dataclass
class Row:
    """One line of the report.

    Attributes:
        name: of the measurement.
        what: for people.
        value: in `unit`; None where it could not be measured.
        unit: such as ``"decisions/s"``.
        target: the bound to reach; None: shown for comparison only.
        lower: whether less is better.
        note: how it was measured, or why it was not.
    """

    name: str
    what: str
    value: float | None
    unit: str
    target: float | None = None
    lower: bool = False
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the target is reached; None where there is nothing to compare."""
        if self.value is None or self.target is None:
            return None
        return self.value <= self.target if self.lower else self.value >= self.target


Seconds = float
Measure = Callable[[Seconds], list[Row]]


def rate(run: Callable[[], int], seconds: Seconds, rounds: int = 20) -> float:
    """Return how many units `run` does in a second of this process's processor time, the best of `rounds`.

    Processor time, because other work on the machine is none of the program's speed; with one thread and an idle core
    it is the time on the clock.
    """
    run()  # loads compiled code, fills caches
    best = 0.0
    for _ in range(rounds):
        begun, units = time.process_time(), 0
        while (spent := time.process_time() - begun) < seconds / rounds:
            units += run()
        best = max(best, units / spent)
    return best


# Parlour's own environments.


def vector(name: str, num_envs: int, **options: Any) -> Callable[[], int]:
    """Return what plays one random legal decision on each of `num_envs` tables and returns how many those are."""
    from ...envs import VectorGame
    from ...envs import game as make_game

    tables = VectorGame(make_game(name, **options), num_envs)
    tables.reset(seed=0)

    def run() -> int:
        tables.step(tables.sample())
        return num_envs

    return run


def vector_tables(seconds: Seconds) -> list[Row]:
    """Many tables, observation and mask written at every decision, random legal play."""
    return [
        Row(f"vector-{short}", what, rate(vector(name, num_envs, **options), seconds), "decisions/s", goal)
        for short, what, name, num_envs, options, goal in (
            ("2", "hold'em, 1,024 tables, 2 seats", "holdem", 1_024, {"seats": 2}, 6e6),
            ("6", "hold'em, 1,024 tables, 6 seats", "holdem", 1_024, {"seats": 6}, 3.5e6),
            ("auction", "auction, 4,096 tables, 2 seats", "auction", 4_096, {}, 10e6),
            ("auction-talk", "the same, with talk", "auction", 4_096, {"talk": True}, 4e6),
            ("bargaining", "bargaining, 4,096 tables", "bargaining", 4_096, {}, 8e6),
            ("bargaining-talk", "the same, with talk", "bargaining", 4_096, {"talk": True}, 4e6),
            ("mafia", "mafia, 1,024 tables, 10 seats", "mafia", 1_024, {"seats": 10}, 1.5e6),
        )
    ]


def aec(seconds: Seconds) -> list[Row]:
    """PettingZoo's `step` + `last` with 6 seats, flat observation; the random legal actions are part of the time."""
    from ...envs import holdem_v0

    raw = holdem_v0.raw_env(seats=6, observation="flat")
    wrapped = holdem_v0.env(seats=6, observation="flat")
    return [
        Row("raw-env", "raw_env, 6 seats, step + last", rate(_aec_hands(raw), seconds), "decisions/s", 100_000),
        Row("env", "env, 6 seats, standard wrappers", rate(_aec_hands(wrapped), seconds), "decisions/s", 40_000),
    ]


def _aec_hands(env: Any, hands: int = 20, mask_of: Callable[[Any, Any], Any] | None = None) -> Callable[[], int]:
    generator = np.random.default_rng(0)
    draws = generator.random(4_096).tolist()
    env.reset(seed=0)

    def run() -> int:
        decisions = 0
        for _ in range(hands):
            env.reset()
            while True:
                observation, _reward, terminated, truncated, _info = env.last()
                if terminated or truncated:
                    break
                legal = observation["action_mask"].nonzero()[0]
                env.step(int(legal[int(draws[decisions % 4_096] * len(legal))]))
                decisions += 1
        return decisions

    return run


# The peers.

OPEN_SPIEL = (
    "universal_poker(betting=nolimit,numPlayers=2,numRounds=4,blind=2 1,firstPlayer=2 1 1 1,numSuits=4,numRanks=13,"
    "numHoleCards=2,numBoardCards=0 3 1 1,stack=200 200,bettingAbstraction=fchpa)"
)


def openspiel(seconds: Seconds) -> list[Row]:
    """OpenSpiel's universal_poker, heads-up, with its observation tensor at every decision, random legal play."""
    try:
        import pyspiel
    except ImportError:
        return [_missing("openspiel", "OpenSpiel universal_poker, 2 seats", "pip install open_spiel")]
    import random

    game = pyspiel.load_game(OPEN_SPIEL)
    generator = random.Random(0)

    def run() -> int:
        state = game.new_initial_state()
        decisions = 0
        while not state.is_terminal():
            if not state.is_chance_node():
                state.observation_tensor(state.current_player())
                decisions += 1
            state.apply_action(generator.choice(state.legal_actions()))
        return decisions

    return _beside("openspiel", "OpenSpiel universal_poker, 2 seats", rate(run, seconds), 20, seconds)


def pettingzoo(seconds: Seconds) -> list[Row]:
    """PettingZoo's texas_holdem_no_limit, heads-up, random legal play, as users get it: with its wrappers."""
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pettingzoo.classic import texas_holdem_no_limit_v6

            env = texas_holdem_no_limit_v6.env(num_players=2)
    except ImportError:
        return [_missing("pettingzoo", "PettingZoo texas_holdem_no_limit, 2 seats", "pip install rlcard pygame")]
    return _beside(
        "pettingzoo", "PettingZoo texas_holdem_no_limit, 2 seats", rate(_aec_hands(env), seconds), 500, seconds
    )


def _beside(name: str, what: str, theirs: float, times: float, seconds: Seconds) -> list[Row]:
    ours = rate(vector("holdem", 1_024, seats=2), seconds)
    peer = what.partition(" ")[0]
    note = f"{ours:,.0f} decisions/s here in the same run"
    return [
        Row(name, what, theirs, "decisions/s"),
        Row(f"{name}-ratio", f"Parlour's vector, 2 seats, beside {peer}", ours / theirs, "times", times, note=note),
    ]


def _missing(name: str, what: str, install: str) -> Row:
    return Row(name, what, None, "decisions/s", note=f"not installed: {install}")


# Learning.


def learner(seconds: Seconds) -> list[Row]:
    """MaskablePPO heads-up, MLP 64×64, 256 tables, one thread, against four frozen snapshots and two bots."""
    what = "MaskablePPO heads-up self-play, end to end"
    try:
        import torch
        from sb3_contrib import MaskablePPO
    except ImportError:
        return [Row("learner", what, None, "learner steps/s", note="not installed: pip install 'parlour[train]'")]
    from ...wrappers.policies.mlp import MlpPolicy
    from ...wrappers.rl.opponents import Pool
    from ...wrappers.rl.sb3 import sb3_env
    from ..learning.config import load_config

    torch.set_num_threads(1)
    settings = load_config("holdem")
    training: dict[str, Any] = {
        "n_steps": settings.rollout,
        "batch_size": settings.batch_size,
        "n_epochs": settings.epochs,
        "policy_kwargs": {"net_arch": [64, 64], "activation_fn": getattr(torch.nn, settings.activation)},
        "seed": 0,
        "device": "cpu",
    }
    frozen = MaskablePPO("MlpPolicy", sb3_env("holdem", num_envs=256, seats=2), **training)
    pool = Pool([*(MlpPolicy.from_model(frozen, seed=number) for number in range(4)), "call", "tight"])
    model = MaskablePPO("MlpPolicy", sb3_env("holdem", num_envs=256, opponents=pool, seats=2), **training)
    rollout = 256 * settings.rollout

    def run() -> int:
        model.learn(rollout, reset_num_timesteps=False)
        return rollout

    note = (
        f"rollouts of {settings.rollout} steps, {settings.epochs} epochs of batches of {settings.batch_size:,}, as "
        "`parlour train holdem` does; the bots are call and tight"
    )
    return [Row("learner", what, rate(run, 3 * seconds, rounds=2), "learner steps/s", 35_000, note=note)]


# The live protocol.


def protocol(seconds: Seconds) -> list[Row]:
    """What poker.md costs per decision, both ends with their JSON: 50 tables of 6 seats in one process, no sockets.

    One decision: the table applies the action, writes a state for each seat, six agents read theirs, and the one to act
    builds its TurnState and answers.
    """
    tables = [_LiveTable(number) for number in range(50)]
    spent: list[float] = []
    begun = time.perf_counter()
    while time.perf_counter() - begun < seconds or len(spent) < 50 * len(tables):
        for table in tables:
            before = time.process_time()
            table.decide()
            spent.append(1_000 * (time.process_time() - before))
    half, most = np.percentile(spent[len(tables) * 10 :], (50, 99))  # without the first hands, which load code
    note = "50 tables of 6 seats, six agents reading each state, JSON both ways, no sockets"
    return [
        Row("protocol-p50", "poker protocol, both ends, a decision: median", float(half), "ms", lower=True),
        Row("protocol-p99", "poker protocol, both ends, a decision: p99", float(most), "ms", 5, lower=True, note=note),
    ]


class _LiveTable:
    """A hosted table and its six agents, joined by JSON text."""

    def __init__(self, seed: int) -> None:
        from random import Random

        from ...wrappers.live.poker.agent_session import PokerAgentSession
        from ...wrappers.live.poker.host_session import PokerHostSession

        self.random = Random(seed)
        self.table = PokerHostSession(seats=6, stack=10**6, min_players=6, seed=seed)
        self.agents = [PokerAgentSession() for _ in range(6)]
        self.turn: tuple[int, Any] | None = None
        for _ in range(6):
            self.table.join(f"agent {len(self.table.seats)}")
        for seat in range(6):
            self._deliver(self.table.connect(seat))

    def decide(self) -> None:
        """Let the agent whose turn it is act, and deliver what follows; deal where a hand is over."""
        from ...wrappers.live.poker import messages

        while self.turn is None:
            self._deliver(self.table.next_hand())
        (seat, decision), self.turn = self.turn, None
        allowed = self.random.choice(decision.turn_state.allowed_actions[1:])
        amounts = allowed.payload_schema["properties"].get("amount")
        action = {"action_type": allowed.action_type, "payload": {"amount": amounts["minimum"]} if amounts else {}}
        for message in self.agents[seat].act(action, decision.turn):
            self._deliver(self.table.receive(seat, messages.encode(message)))

    def _deliver(self, sends: list[Any]) -> None:
        from ...wrappers.live.poker import messages
        from ...wrappers.live.poker.agent_session import PokerDecision

        for seat, message in sends:
            for event in self.agents[seat].receive(messages.encode(message)):
                if isinstance(event, PokerDecision):
                    self.turn = seat, event


# The live tangram game.


def godot(seconds: Seconds) -> list[Row]:
    """How long a live tangram game waits for its agent, over a WebSocket on this machine, in the real game's dialect.

    The agent is an MLP of 256×256 on numeric observations; boards are those of random play, with 300 KB of pictures,
    which nobody looks at.
    """
    import asyncio

    spent = sorted(asyncio.run(_godot_waits(seconds)))
    half, most = np.percentile(spent, (50, 99))
    note = f"{len(spent):,} requests; wall time, so that a busy machine shows"
    return [
        Row("godot-p50", "tangram, playRequest to the reply: median", float(half), "ms", lower=True),
        Row("godot-p99", "tangram, playRequest to the reply: p99", float(most), "ms", 50, lower=True, note=note),
    ]


async def _godot_waits(seconds: Seconds) -> list[float]:
    """Return the milliseconds between each request and the reply."""
    import aiohttp

    from ...envs import GameEnv
    from ...envs import game as make_game
    from ...wrappers.agents.policy import PolicyAgent
    from ...wrappers.live.tangram import messages
    from ...wrappers.live.tangram.agent import TangramAgentServer
    from ...wrappers.live.tangram.host_session import TangramHostSession
    from ...wrappers.policies.base import RandomPolicy
    from ...wrappers.policies.mlp import MlpPolicy

    game = make_game("tangram", figure="A house", aspect="godot")
    agent = PolicyAgent(game, MlpPolicy(_random_layers(game.layout.size, 256, 256, game.num_actions), "Tanh", seed=0))
    env, moves = GameEnv(game, "flat"), RandomPolicy(seed=0)

    def go_on() -> None:
        if not env.agents or env.table.done:
            env.reset(seed=len(spent))
        seen = env.observe(env.agent_selection)
        env.step(int(moves.act(seen["observation"][None], seen["action_mask"][None])[0]))

    spent: list[float] = []
    async with (
        TangramAgentServer(agent, game, port=0) as server,
        aiohttp.ClientSession() as http,
        http.ws_connect(server.url) as socket,
    ):
        go_on()  # whatever is to be compiled
        begun = time.perf_counter()
        while time.perf_counter() - begun < seconds:
            request = TangramHostSession(env).request()
            request.board_img = request.drawer_img = "A" * 150_000
            text = messages.encode(request, "godot")
            before = time.perf_counter()
            await socket.send_str(text)
            await socket.receive_str()
            spent.append(1_000 * (time.perf_counter() - before))
            go_on()
    return spent


def _random_layers(*sizes: int) -> list[tuple[Any, Any]]:
    random = np.random.default_rng(0)
    return [
        (random.normal(0, 0.1, (inputs, outputs)).astype(np.float32), np.zeros(outputs, np.float32))
        for inputs, outputs in pairwise(sizes)
    ]


# Tangram's boards.


def boards(modality: str, plays: int = 8) -> Callable[[], int]:
    """Return what plays a random open place on each of 1,024 boards, `finish` where none is, and counts the places."""
    from ...envs import tangram_v0

    tables = tangram_v0.vector_env(1_024, modality=modality, plays=plays)
    tables.reset(seed=0)
    places = tables.game.num_actions - 1
    chances = np.random.default_rng(0).random((64, tables.num_envs, places), np.float32)
    steps = 0

    def run() -> int:
        nonlocal steps
        steps += 1
        worth = tables.action_masks[:, :places] * chances[steps % len(chances)]
        actions = np.where(worth.any(axis=1), worth.argmax(axis=1), places)
        tables.step(actions)
        return int((actions < places).sum())

    return run


def tangram(seconds: Seconds) -> list[Row]:
    """1,024 boards with random figures, observation and mask at every decision; the same step through shapely."""
    what = "tangram, 1,024 boards"
    ours, theirs = rate(boards("numeric"), seconds), rate(_shapely_boards(), seconds, rounds=3)
    alone = rate(boards("numeric", plays=1), seconds)
    note = f"{ours:,.0f} placements/s here in the same run; shapely finds no focus and writes no observation"
    return [
        Row("tangram", f"{what}, numeric", ours, "placements/s", 150_000),
        Row("tangram-single", f"{what}, numeric, one play a turn", alone, "placements/s"),
        Row("tangram-pixels", f"{what}, pixels", rate(boards("pixels"), seconds), "placements/s", 15_000),
        Row("shapely", "the same step through vectorised shapely", theirs, "placements/s"),
        Row("shapely-ratio", "Parlour's boards beside shapely", ours / theirs, "times", 20, note=note),
    ]


def _shapely_boards(count: int = 256) -> Callable[[], int]:
    """Return what places a piece on each of `count` boards by vectorised shapely: its collisions, the area that it
    covers, what is left of the figure, and which of the 18 places fit there. Polygons that a program would keep from
    step to step are made beforehand.
    """
    import shapely

    from ...envs import tangram_v0
    from ...envs.tangram.corners import pose
    from ...envs.tangram.forms import PIECE
    from ...envs.tangram.geometry import place

    env = tangram_v0.vector_env(count, plays=1)
    env.reset(seed=0)
    for _ in range(3):
        env.step(env.sample())
    offered = np.zeros((count, len(PIECE), 4, 2))
    figures, placed = [], []
    for table, shapes in zip(env.tables, offered, strict=True):
        for number, shape in enumerate(shapes):
            place(PIECE[number], *pose(table, number), table.scale, shape)
        ends = [0, *table.ends.tolist()]
        rings = [shapely.Polygon(table.outline[a:b]) for a, b in pairwise(ends) if a < b]
        figures.append(shapely.symmetric_difference_all(rings))
        placed.append(shapely.union_all(shapely.polygons(table.vertices[table.on_board > 0])))
    figure, pieces = np.array(figures), np.array(placed)
    left = shapely.difference(figure, pieces)
    chosen = offered[np.arange(count), np.argmax(env.action_masks[:, : len(PIECE)], axis=1)]

    def run() -> int:
        moved = shapely.polygons(chosen)
        collides = shapely.area(shapely.intersection(moved, pieces)) > 0.1
        covered = shapely.area(shapely.intersection(moved, figure))
        free = shapely.difference(left, moved)
        options = shapely.polygons(offered)
        fits = shapely.area(shapely.intersection(options, free[:, None])) > shapely.area(options) - 0.1
        return min(len(collides), len(covered), len(fits))

    return run


# The arena.


def arena(seconds: Seconds) -> list[Row]:
    """In-process matches between two bots, start to end: TurnState built and answered in every turn."""
    return [
        Row(f"arena-{name}", f"arena, {name}, {' and '.join(bots)}", _arena(name, bots, seconds), "turns/s", goal)
        for name, bots, goal in (
            ("bargaining", ("fair", "conceder"), 3_000),
            ("auction", ("shade", "truthful"), 3_000),
            ("holdem", ("tight", "call"), None),
        )
    ]


def _arena(name: str, bots: tuple[str, str], seconds: Seconds) -> float:
    import asyncio

    from ...envs import game as make_game
    from ...wrappers.agents.policy import PolicyAgent
    from ...wrappers.live.arena.agent import ArenaAgent
    from ...wrappers.live.arena.host import ArenaHost
    from ...wrappers.policies.loading import make_policy

    game = make_game(name, seats=2) if name != "bargaining" else make_game(name)
    host = ArenaHost(game, seed=0)
    for number, bot in enumerate(bots):
        host.add(ArenaAgent(f"{bot}-{number}", PolicyAgent(game, make_policy(bot, game, seed=number))))

    def run() -> int:
        results = asyncio.run(host.tournament(100))
        return sum(result.actions for result in results)

    return rate(run, seconds)


# Hosted mafia.


def mafia_host(seconds: Seconds) -> list[Row]:
    """Hosted matches of ten scripted agents: thoughts, statements, every event, both observers' streams as JSON."""
    import asyncio

    from ...envs import game as make_game
    from ...envs.mafia.bots import PERSONALITIES
    from ...wrappers.live.mafia.event_feed import EventFeed
    from ...wrappers.live.mafia.hosted_match import HostedMatch
    from ...wrappers.live.mafia.messages import AgentConfig, ScriptedConfig, read
    from ...wrappers.live.mafia.scripted_agent import MafiaScriptedAgent

    game = make_game("mafia", seats=10)
    configs = [
        AgentConfig(type="scripted", scripted_config=read({"personality": one}, ScriptedConfig))
        for one in PERSONALITIES
    ]
    events: list[int] = []

    async def play(matches: int) -> None:
        for _ in range(matches):
            seed = len(events)
            feed = EventFeed(f"bench-{seed}")
            agents = [
                MafiaScriptedAgent(f"p{i + 1}", f"Player {i + 1}", configs[i % 4], seed=10 * seed + i)
                for i in range(10)
            ]
            await HostedMatch(game, agents, feed=feed, seed=seed).play()
            events.append(len(feed.admin))

    def run() -> int:
        asyncio.run(play(10))
        return 10

    value = rate(run, seconds)
    note = f"{np.mean(events):.0f} events a match, each as JSON in the admins' stream, and the public ones in theirs"
    return [Row("mafia-host", "hosted mafia, ten scripted agents, all streams", value, "matches/s", 50, note=note)]


# Time and memory of a fresh process.

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


def fresh(code: str, **environment: str) -> list[float]:
    """Run `code` in a fresh Python process and return the numbers that it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        cwd=tempfile.gettempdir(),
        capture_output=True,
        text=True,
        check=True,
    )
    return [float(number) for number in done.stdout.split()]


# Replays.


def replay(seconds: Seconds) -> list[Row]:
    """`parlour replay`: from a log to its page, every view of every moment drawn. 5,000/s are 10,000 in two seconds."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        match, live = Path(folder, "match.jsonl"), Path(folder, "live.jsonl")
        for what, name, options in (
            ("hold'em, 2 seats", "holdem", {"seats": 2}),
            ("hold'em, 6 seats", "holdem", {"seats": 6}),
            ("auction", "auction", {}),
            ("bargaining", "bargaining", {}),
            ("tangram", "tangram", {}),
            ("mafia, 10 seats", "mafia", {"seats": 10}),
        ):
            made = _logged(match, live, name, **options)
            for log, whose in ((match, "a match, every view"), (live, "one agent's live log")):
                value = rate(partial(_paged, log, made), seconds, 4)
                rows.append(Row("replay", f"{what}: {whose}", value, "decisions/s", 5e3))
    return rows


def _paged(log: Path, decisions: int) -> int:
    from ...wrappers.replay.moments import moments
    from ...wrappers.replay.page import page

    page(moments(log), "a log")
    return decisions


def _logged(match: Path, live: Path, name: str, decisions: int = 500, **options: Any) -> int:
    """Write the log of random legal matches, and what its agents' live logs would hold; return how many decisions."""
    from ...envs import GameEnv
    from ...envs import game as make_game
    from ...wrappers.logs.match_log import MatchLog
    from ...wrappers.logs.recorder import Recorder

    game = make_game(name, **options)
    env, generator, made = GameEnv(game, "flat"), np.random.default_rng(0), 0
    with MatchLog(match, append=False) as log, MatchLog(live, append=False) as heard:
        while made < decisions:
            recorder = Recorder(log, env, made)
            while not env.table.done:
                state = env.turn_state(env.agent_selection)
                number = int(generator.choice(np.flatnonzero(game.mask(env.table, int(env.table.turn)))))
                heard.write("turn", turn_state=state, response=game.view.encode(env.table, number))
                recorder.play(number)
                made += 1
    return made


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


def memory(seconds: Seconds) -> list[Row]:
    """Peak memory of 4,096 tables of 6 seats above `import parlour.envs`."""
    total, tables = fresh(MEMORY)
    note = f"the tables and observations themselves {tables:.0f} MB; the rest is compiled code and Numba"
    return [Row("memory", "4,096 tables with observations, above the import", total, "MB", 60, lower=True, note=note)]


MEASURES: dict[str, Measure] = {
    "vector": vector_tables,
    "aec": aec,
    "openspiel": openspiel,
    "pettingzoo": pettingzoo,
    "learner": learner,
    "protocol": protocol,
    "tangram": tangram,
    "godot": godot,
    "arena": arena,
    "mafia-host": mafia_host,
    "replay": replay,
    "start": start,
    "memory": memory,
}
"""Every measurement by name."""


def command(
    names: tyro.conf.Positional[tuple[str, ...]] = (),
    *,
    quick: bool = False,
    as_json: Annotated[bool, tyro.conf.arg(name="json")] = False,
) -> None:
    """Measure speed and size on one core and print them beside their targets and the peers.

    Args:
        names: what to measure: vector aec openspiel pettingzoo learner protocol tangram godot arena mafia-host replay
            start memory.
            Default: all.
        quick: shorter rounds, rougher figures.
        as_json: print JSON instead of a table.
    """
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))
    chosen = [named("measurement", name, MEASURES) for name in names] or list(MEASURES)
    rows: list[Row] = []
    progress = Console(stderr=True)
    for name in chosen:
        with progress.status(f"measuring {name} …"):
            rows += MEASURES[name](0.5 if quick else 3.0)
    if as_json:
        print(json.dumps([{**asdict(row), "met": row.met} for row in rows], indent=2))
    else:
        Console().print(report(rows))


def report(rows: list[Row]) -> Group:
    """Return the rows as a table for people, the notes below it."""
    table = Table("what", "measured", "target", "", title="parlour bench, one core, per second of processor time")
    table.columns[1].justify = table.columns[2].justify = "right"
    notes: list[Text] = []
    for row in rows:
        sign = "≤" if row.lower else "≥"
        table.add_row(
            row.what,
            "—" if row.value is None else f"{_figure(row.value)} {row.unit}",
            "" if row.target is None else f"{sign} {_figure(row.target)}",
            {True: "[green]met[/]", False: "[red]missed[/]", None: ""}[row.met],
        )
        if row.note:
            notes.append(Text(f"{row.what}: {row.note}", "dim"))
    return Group(table, *notes)


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
