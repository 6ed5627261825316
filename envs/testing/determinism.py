"""Determinism: the same seed and actions give the same bytes, in another process too, without global random state."""

import json
import os
import random
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

import numpy as np
from numba.extending import is_jitted

from ..core.aec import GameEnv
from ..core.game import Game, Loops
from ..core.loops import Batch
from ..core.options import with_options
from ..core.plain_python import in_python
from ..core.registry import load_own
from ..core.rng import streams
from ..core.vector import VectorGame, sample_actions
from .trial import NotTried, Trial, for_every_version

Source = tuple[str, Mapping[str, Any], str]
"""How another process makes a game: ``"module:function"``, the options of the function, and the encoder's name."""


def fingerprint(game: Game) -> str:
    """Play 100 rounds of random actions on four tables; return a hash of every record, observation, mask and reward.

    The observations are those of every encoder, of the acting seats.
    """
    tables, rows, digest = VectorGame(game, 4), np.arange(4), sha256()
    tables.reset(seed=5)
    for _ in range(100):
        tables.step(tables.sample())
        observations = [encoder.observations(tables.tables, rows) for encoder in game.encoders.values()]
        for array in (tables.tables, *observations, tables.action_masks, tables.rewards, tables.dones):
            digest.update(array.tobytes())
    return digest.hexdigest()


def fingerprints_elsewhere(sources: Sequence[Source]) -> list[str]:
    """Return the fingerprints of games that another process makes, with another hash seed for strings.

    Raises:
        ValueError: if the other process fails, with its last line of output.
    """
    path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
    run = subprocess.run(
        [sys.executable, "-c", f"from {__name__} import main; main()"],
        input=json.dumps(sources), env={**os.environ, "PYTHONHASHSEED": "1", "PYTHONPATH": path},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if run.returncode:
        raise ValueError(f"another process cannot play {sources}: {run.stderr.strip().splitlines()[-1:]}")
    return list(json.loads(run.stdout))


def main() -> None:
    """Read sources as JSON, print their fingerprints as JSON."""
    games = [(with_options(load_own(source), options), encoder) for source, options, encoder in json.load(sys.stdin)]
    print(json.dumps([fingerprint(replace(game, encoder=encoder)) for game, encoder in games]))


def same_bytes(trial: Trial) -> None:
    """The same seed gives the same bytes twice in this process."""
    first, second = fingerprint(trial.game), fingerprint(trial.game)
    trial.require(first == second, "two runs with the same seed and actions differ")


def global_state(trial: Trial) -> None:
    """The global random states of Python and NumPy are neither used nor changed."""
    game = trial.game

    def play() -> bytes:
        env = GameEnv(game)
        env.reset(seed=3)
        tables = VectorGame(game, 2)
        tables.reset(seed=3)
        for _ in range(20):
            tables.step(tables.sample())
        return bytes(env.state().tobytes() + tables.tables.tobytes())

    def state() -> Any:
        return random.getstate(), np.random.get_state()[1].tobytes()  # type: ignore[index]  # noqa: NPY002

    before, first = state(), play()
    trial.require(state() == before, "playing changes the global random state of Python or NumPy")
    random.random(), np.random.random()  # noqa: NPY002
    trial.require(play() == first, "playing depends on the global random state of Python or NumPy")


def seeds(trial: Trial) -> None:
    """Another seed gives another episode, and a reset without a seed takes new entropy."""

    def deal(seed: int | None) -> bytes:
        env = GameEnv(trial.game)
        env.reset(seed=seed)
        return env.state().tobytes()

    trial.require(len({deal(seed) for seed in range(10)}) == 10, "two of ten seeds give the same record")
    trial.require(deal(None) != deal(None), "two resets without a seed give the same record")


@for_every_version
def threads(trial: Trial) -> None:
    """Tables that several threads step have the same bytes as tables that one thread steps."""
    one, several = VectorGame(trial.game, 7), VectorGame(trial.game, 7, threads=3)
    one.reset(seed=1)
    several.reset(seed=1)
    for step in range(60):
        actions = one.sample()
        one.step(actions)
        several.step(actions)
        for name in ("tables", "observations", "action_masks", "turn", "rewards", "dones"):
            same = getattr(one, name).tobytes() == getattr(several, name).tobytes()
            trial.require(same, f"{name} differ after step {step + 1} where three threads step the tables")


@for_every_version
def plain_python(trial: Trial) -> None:
    """Tables that plain Python and machine code step in turns have the same bytes as those of machine code alone."""
    game, encoder = trial.game, trial.game.encoder
    machine = game.loops(encoder)
    if not all(is_jitted(loop) for loop in machine):
        raise NotTried("nothing is compiled: decorate the functions of the game with parlour.envs.compiled")
    plain = Loops(*map(in_python, machine))
    one, other = game.tables(2), game.tables(2)
    one.stream = other.stream = streams(1, 2)
    batches = game.batch(2, encoder), game.batch(2, encoder)
    words = streams(2, 2)
    actions = np.zeros(2, np.int64)
    with np.errstate(over="ignore"):
        for loops, tables, batch in zip((machine, plain), (one, other), batches, strict=True):
            loops.reset(tables.view(np.ndarray), batch, False)
        for step in range(24):
            sample_actions(batches[0].masks, words, actions)
            machine.step(one.view(np.ndarray), actions, batches[0], True)
            (plain if step // 3 % 2 else machine).step(other.view(np.ndarray), actions, batches[1], True)
            for name, mine, theirs in zip(
                ("tables", *Batch._fields), (one, *batches[0]), (other, *batches[1]), strict=True
            ):
                same = np.asarray(mine).tobytes() == np.asarray(theirs).tobytes()
                trial.require(same, f"{name} differ after step {step + 1} in plain Python")
