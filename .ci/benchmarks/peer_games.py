"""Plays one game of another library, in a Python of its own: ``peer_games.py GAME`` (a function here).

It prints the versions of libraries. For every number of seconds on its input it then plays for so much processor time
and prints the decisions (of a solver, the iterations) in a second of it. Nothing of Parlour is imported.
"""

import os
import random
import re
import sys
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

Run = Callable[[], int]
STEPS = 64
"""Decisions per table in a compiled loop of JAX."""
OPEN_SPIEL = (
    "universal_poker(betting=nolimit,numPlayers=2,numRounds=4,blind=2 1,firstPlayer=2 1 1 1,numSuits=4,numRanks=13,"
    "numHoleCards=2,numBoardCards=0 3 1 1,stack=200 200,bettingAbstraction=fchpa)"
)


def openspiel(game: str) -> Run:
    """Return what plays one random episode of an OpenSpiel game with tensors, and returns its decisions."""
    import pyspiel

    loaded, generator = pyspiel.load_game(game), random.Random(0)

    def run() -> int:
        state = loaded.new_initial_state()
        decisions = 0
        while not state.is_terminal():
            if not state.is_chance_node():
                state.observation_tensor(state.current_player())
                decisions += 1
            state.apply_action(generator.choice(state.legal_actions()))
        return decisions

    return run


def openspiel_solver(solver: str, game: str) -> Run:
    """Return what does 20 iterations of a solver of OpenSpiel in C++; each updates both players."""
    import pyspiel

    kind = {"mccfr": pyspiel.ExternalSamplingMCCFRSolver, "cfrplus": pyspiel.CFRPlusSolver}[solver]
    solving = kind(pyspiel.load_game(game))
    iterate = solving.run_iteration if solver == "mccfr" else solving.evaluate_and_update_policy

    def run() -> int:
        for _ in range(20):
            iterate()
        return 20

    return run


def rlcard(game: str) -> Run:
    """Return what plays one random episode of an RLCard game; every state has observation and legal actions."""
    import rlcard

    env, generator = rlcard.make(game, config={"seed": 0}), random.Random(0)

    def run() -> int:
        state, _player = env.reset()
        decisions = 0
        while not env.is_over():
            state, _player = env.step(generator.choice(list(state["legal_actions"])))
            decisions += 1
        return decisions

    return run


def pettingzoo(game: str) -> Run:
    """Return what plays one random episode of a classic game of PettingZoo, with its standard wrappers."""
    from importlib import import_module

    env, generator = import_module(f"pettingzoo.classic.{game}").env(num_players=2), random.Random(0)
    env.reset(seed=0)

    def run() -> int:
        env.reset()
        decisions = 0
        while True:
            observation, _reward, terminated, truncated, _info = env.last()
            if terminated or truncated:
                return decisions
            env.step(int(generator.choice(observation["action_mask"].nonzero()[0])))
            decisions += 1

    return run


def pgx(game: str, tables: str) -> Run:
    """Return what plays random decisions at many tables of a pgx game in one compiled loop, or at one, step by step."""
    import jax
    import pgx
    from pgx.experimental import act_randomly, auto_reset

    env = pgx.make(game)
    step = jax.vmap(auto_reset(env.step, env.init))

    def decide(state: Any, key: Any) -> tuple[Any, None]:
        draw, keys = jax.random.split(key)
        action = act_randomly(draw, state.legal_action_mask)
        return step(state, action, jax.random.split(keys, len(action))), None

    first = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.key(0), int(tables)))
    return _looped(decide, first, int(tables))


def jaxmarl(tables: str) -> Run:
    """Return what plays random decisions of Hanabi at many tables in one compiled loop."""
    import jax
    import jaxmarl

    env = jaxmarl.make("hanabi")

    def one(held: Any, key: Any) -> Any:
        _seen, state = held
        draw, step = jax.random.split(key)
        legal = env.get_legal_moves(state)
        keys = dict(zip(env.agents, jax.random.split(draw, len(env.agents)), strict=True))
        actions = {name: jax.random.categorical(keys[name], jax.numpy.log(legal[name])) for name in env.agents}
        return env.step(step, state, actions)[:2]

    def decide(held: Any, key: Any) -> tuple[Any, None]:
        return jax.vmap(one)(held, jax.random.split(key, int(tables))), None

    first = jax.jit(jax.vmap(env.reset))(jax.random.split(jax.random.key(0), int(tables)))
    return _looped(decide, first, int(tables))


def jumanji(game: str, tables: str) -> Run:
    """Return what plays random decisions of FlatPack at many boards in one compiled loop."""
    import jax
    import jumanji
    from jumanji.wrappers import AutoResetWrapper

    env = AutoResetWrapper(jumanji.make(game))

    def one(held: Any, key: Any) -> Any:
        state, now = held
        mask = now.observation.action_mask
        flat = jax.random.categorical(key, jax.numpy.log(mask.ravel()))
        return env.step(state, jax.numpy.stack(jax.numpy.unravel_index(flat, mask.shape)))

    def decide(held: Any, key: Any) -> tuple[Any, None]:
        return jax.vmap(one)(held, jax.random.split(key, int(tables))), None

    first = jax.jit(jax.vmap(env.reset))(jax.random.split(jax.random.key(0), int(tables)))
    return _looped(decide, first, int(tables))


def _looped(decide: Callable[[Any, Any], tuple[Any, None]], state: Any, tables: int) -> Run:
    """Return what plays `STEPS` decisions on every table: compiled as one loop, for one table each step alone."""
    import jax

    key, steps = jax.random.key(1), STEPS if tables > 1 else 1

    @jax.jit
    def play(state: Any, key: Any) -> tuple[Any, Any]:
        key, own = jax.random.split(key)
        return jax.lax.scan(decide, state, jax.random.split(own, steps))[0], key

    def run() -> int:
        nonlocal state, key
        state, key = jax.block_until_ready(play(state, key))
        return steps * tables

    return run


def textarena(game: str, players: str) -> Run:
    """Return what plays one episode of a TextArena game: a random one of the answers that its text offers last."""
    import textarena

    env, generator = textarena.make(game), random.Random(0)

    def run() -> int:
        env.reset(num_players=int(players), seed=generator.randrange(2**30))
        decisions, over = 0, False
        while not over:
            _player, text = env.get_observation()
            offers = re.findall(r"\[\w+\]", text.rpartition("\n[GAME]")[2].rpartition(":")[2])
            over, _info = env.step(generator.choice(offers or ["[0]"]))
            decisions += 1
        env.close()
        return decisions

    return run


def negmas() -> Run:
    """Return what negotiates once by alternating offers between two random negotiators, and returns the offers."""
    from negmas import RandomNegotiator, SAOMechanism, make_issue

    def run() -> int:
        mechanism = SAOMechanism(issues=[make_issue(4, f"issue {number}") for number in range(3)], n_steps=20)
        for _ in range(2):
            mechanism.add(RandomNegotiator())
        mechanism.run()
        return len(mechanism.extended_trace) + 1  # the last answer accepts, or ends it

    return run


def main(name: str, *args: str) -> None:
    """Play the game, in the rounds that are asked for on the input."""
    warnings.simplefilter("ignore")
    if hasattr(os, "sched_setaffinity"):  # XLA would start a thread for every core
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # some libraries print
    if name == "openspiel" and args == ("holdem",):
        args = (OPEN_SPIEL,)
    run = globals()[name](*args)
    run()
    packages = {"pettingzoo": ("pettingzoo", "rlcard")}.get(
        name, ("open_spiel",) if name.startswith("openspiel") else (name,)
    )
    print(", ".join(f"{package} {version(package)}" for package in packages), file=answers, flush=True)
    for seconds in map(float, sys.stdin):
        begun, units, spent = time.process_time(), 0, 0.0
        while spent <= seconds:
            units += run()
            spent = time.process_time() - begun
        print(units / spent, file=answers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
