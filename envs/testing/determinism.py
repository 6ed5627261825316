"""Determinism: the same seed and actions give the same bytes, in another process too, without global random state."""

import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from math import sqrt
from typing import Any

import numpy as np
from numba.extending import is_jitted

from ..core import chance
from ..core.aec import GameEnv
from ..core.capabilities import Chance
from ..core.game import Game, Loops
from ..core.loops import Batch
from ..core.options import with_options
from ..core.plain_python import in_python
from ..core.registry import load_own
from ..core.rng import streams
from ..core.vector import VectorGame, sample_actions
from ..core.view import default_parts
from .trial import NotTried, Trial, chooser, for_every_version, in_mask, in_observation, in_record

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
    """The same seed gives the same bytes twice in this process, whatever episode was before (under a default view)."""
    first, second = fingerprint(trial.game), fingerprint(trial.game)
    trial.require(first == second, "two runs with the same seed and actions differ")
    if default_parts(trial.game.view) is None:  # which shows fields whole: in another, a log may end at its length
        return
    for seed in trial.seeds():
        *_, used = trial.decisions(seed)
        new = trial.game.tables(1)[0]
        new.stream = used.stream
        for table in (used, new):
            trial.game.rules.reset(table)
        left = in_record(used, new)
        trial.require(left is None, f"reset has to set all fields that step writes: after an episode {left}")


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


SEEDS = [11, 12, 13]
ROUNDS = 100


@for_every_version
def same_game(trial: Trial) -> None:
    """The same seeds and actions give equal observations, masks, rewards, ends and records, at three tables.

    So do encoders that show hidden information, which `GameEnv` refuses, for one record and for many.
    `VectorGame` resets a finished table in the same step, as documented.
    """
    game = trial.game
    tables = VectorGame(game, len(SEEDS))
    tables.reset(seed=SEEDS)
    environments = [GameEnv(game, "flat") for _ in SEEDS]
    for env, seed in zip(environments, SEEDS, strict=True):
        env.reset(seed=seed)
    ended = 0
    for trial.decision in range(ROUNDS):
        seats = tables.turn.copy()
        actions = [chooser(game, [trial.decision, i])(mask) for i, mask in enumerate(tables.action_masks)]
        tables.step(actions)
        for i, env in enumerate(environments):
            trial.seed, trial.seat = SEEDS[i], int(seats[i])
            env.step(actions[i])
            _compare_step(trial, env, tables, i)
            if tables.dones[i]:
                ended += 1
                env.reset()
            _compare_tables(trial, env, tables, i)
    trial.seed = trial.decision = trial.seat = None
    trial.require(ended, f"no episode ended within {ROUNDS} random decisions: give the game a limit for these checks")


def _compare_step(trial: Trial, env: GameEnv, tables: VectorGame, i: int) -> None:
    """Compare the rewards and ends of the step."""
    rewards = np.array([env.rewards[agent] for agent in trial.game.agents], np.float32)
    trial.require(
        np.array_equal(rewards, tables.rewards[i]),
        f"rewards are {rewards.tolist()} in GameEnv and {tables.rewards[i].tolist()} in VectorGame",
    )
    agent = env.agent_selection
    ends, wanted = env.terminations[agent], bool(tables.dones[i])
    trial.require(ends == wanted, f"terminated is {ends} in GameEnv and {wanted} by VectorGame's dones")


def _compare_tables(trial: Trial, env: GameEnv, tables: VectorGame, i: int) -> None:
    """Compare turn, observation, mask and record, after the reset of a finished table."""
    agents = trial.game.agents
    trial.require(
        env.agent_selection == agents[tables.turn[i]],
        f"it is the turn of {env.agent_selection} in GameEnv and of {agents[tables.turn[i]]} in VectorGame",
    )
    trial.seat = int(tables.turn[i])
    observation = env.observe(env.agent_selection)
    trial.same(in_observation(trial.game.layout, observation["observation"], tables.observations[i]))
    trial.same(in_mask(observation["action_mask"], tables.action_masks[i]))
    trial.same(in_record(env.table, tables.tables[i]))
    for encoder in trial.game.encoders.values():
        if encoder.full_information:
            seen = encoder.observations(tables.tables, np.array([i]))[0], encoder.observation(env.table, trial.seat)
            trial.same(in_observation(encoder.layout, *seen))


MOST_RECORDS = 200
"""The most records after random events for which frequencies are compared."""
MOST_IN_TREE = 5_000
"""The most records of a game tree that is enumerated."""
SAMPLES_PER_RECORD, LEAST_SAMPLES = 50, 1_500
DEVIATIONS = 5
"""The most standard deviations between a frequency or mean and its exact value."""


def _chance(trial: Trial) -> Chance:
    capability = trial.game.capabilities.chance
    if capability is None:
        raise NotTried("the game has no random events that can be enumerated (no capability chance)")
    return capability


def probabilities(trial: Trial) -> None:
    """The probabilities of every random event are above 0 and sum to 1."""
    game, events = trial.game, _chance(trial)
    generator = np.random.default_rng(6)
    for seed in trial.seeds():
        table = game.tables(1)[0]
        trial.decision = 0
        events.begin(table)
        _settle(trial, table, generator)
        for before in trial.decisions(seed):
            if not before.done:
                table = before.copy()
                events.step(
                    table, game.rules.decode(table, int(np.flatnonzero(game.mask(before, int(before.turn)))[0]))
                )
                _settle(trial, table, generator)


def _settle(trial: Trial, table: Any, generator: np.random.Generator) -> None:
    """Play random outcomes until no random event is next."""
    events = _chance(trial)
    while weights := chance.probabilities(trial.game, table):
        trial.require(min(weights) > 0 and abs(sum(weights) - 1) < 1e-9, f"the probabilities of an event are {weights}")
        events.play(table, int(generator.choice(len(weights), p=np.array(weights) / sum(weights))))


def frequencies(trial: Trial) -> None:
    """The rules draw the enumerated records, with frequencies that fit their probabilities."""
    game, events = trial.game, _chance(trial)
    blank = game.tables(1)[0]
    dealt = blank.copy()
    events.begin(dealt)
    _compare(trial, dealt, blank, game.rules.reset)
    for seed in trial.seeds(2):
        for before in trial.decisions(seed):
            if not before.done:
                action = int(np.flatnonzero(game.mask(before, int(before.turn)))[-1])
                moved = before.copy()
                events.step(moved, game.rules.decode(moved, action))
                _compare(trial, moved, before, lambda table, action=action: game.rules.play(table, action))  # type: ignore[misc]


def _compare(trial: Trial, stopped: Any, before: Any, play: Callable[[Any], None]) -> None:
    """Compare the branches of `stopped`, where a random event may be next, with samples of `play` on `before`."""
    due = _chance(trial).outcomes(stopped)
    try:
        branches = chance.settled(trial.game, stopped, MOST_RECORDS)
    except ValueError:
        return  # too many
    samples = max(SAMPLES_PER_RECORD * len(branches), LEAST_SAMPLES) if due else 1
    counts: Counter[bytes] = Counter()
    for stream in streams(7, samples):
        table = before.copy()
        table.stream = stream
        play(table)
        table.stream = 0
        counts[table.tobytes()] += 1
    expected = {branch.table.tobytes(): branch.probability for branch in branches}
    trial.require(
        counts.keys() <= expected.keys(), "the rules lead to a record that none of the enumerated outcomes leads to"
    )
    for record, probability in expected.items():
        off = abs(counts[record] - samples * probability)
        trial.require(
            off <= DEVIATIONS * sqrt(samples * probability * (1 - probability)) + 1e-9,
            f"an outcome of probability {probability:.4g} was drawn {counts[record]} times of {samples}",
        )


def value(trial: Trial) -> None:
    """The exact value of uniformly random play is the mean of sampled play."""
    game = trial.game
    _chance(trial)
    try:
        exact = chance.expected_returns(game, most=MOST_IN_TREE)
    except ValueError as error:
        raise NotTried(str(error)) from None
    returns: list[list[float]] = []
    tables = VectorGame(game, 1_000)
    tables.reset(seed=8)
    total = np.zeros((tables.num_envs, game.seats))
    episodes = np.zeros(tables.num_envs, np.int64)
    while episodes.min() < 20:  # as many of every table: the first ones to end are short ones
        tables.step(tables.sample())
        total += tables.rewards
        returns += total[tables.dones & (episodes < 20)].tolist()
        episodes += tables.dones
        total[tables.dones] = 0
    mean, deviation = np.mean(returns, axis=0), np.std(returns, axis=0) / sqrt(len(returns))
    trial.require(
        (np.abs(mean - exact) <= DEVIATIONS * deviation + 1e-9).all(),
        f"uniformly random play is worth {exact.tolist()} by the tree and {mean.tolist()} in {len(returns)} episodes",
    )
