"""Decisions per second of Parlour's environments: many tables, and PettingZoo's AEC."""

import time
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from parlour.envs import VectorGame, holdem_v0
from parlour.envs import game as make_game

from .base import Row, Seconds, rates, ratios


def vector(name: str, num_envs: int, **options: Any) -> Callable[[], int]:
    """Return a function that plays one random legal decision on each of `num_envs` tables and returns their number."""
    return random_play(VectorGame(make_game(name, **options), num_envs))


def random_play(tables: VectorGame) -> Callable[[], int]:
    """Return a function that plays one random legal decision on every table and returns their number."""
    tables.reset(seed=0)

    def run() -> int:
        tables.step(tables.sample())
        return tables.num_envs

    return run


VECTOR_TABLES: tuple[tuple[str, str, str, int, dict[str, Any], float | None, float | None], ...] = (
    ("2", "hold'em, 1,024 tables, 2 seats", "holdem", 1_024, {"seats": 2}, 6e6, 7.0),
    ("6", "hold'em, 1,024 tables, 6 seats", "holdem", 1_024, {"seats": 6}, 3.5e6, 7.0),
    ("auction", "auction, 4,096 tables, 2 seats", "auction", 4_096, {}, 10e6, None),
    ("auction-talk", "auction with talk, 4,096 tables", "auction", 4_096, {"talk": True}, 4e6, None),
    ("bargaining", "bargaining, 4,096 tables", "bargaining", 4_096, {}, 8e6, None),
    ("bargaining-talk", "bargaining with talk, 4,096 tables", "bargaining", 4_096, {"talk": True}, 4e6, None),
    ("cournot", "Cournot, 4,096 tables, 2 firms", "cournot", 4_096, {}, 7e6, 7.0),
    ("public-good", "public good, 4,096 tables", "voluntary_contribution", 4_096, {}, 7e6, 7.0),
    ("mafia", "mafia, 1,024 tables, 10 seats", "mafia", 1_024, {"seats": 10}, 1.5e6, None),
    ("tangram", "tangram, 1,024 boards", "tangram", 1_024, {}, None, None),
)
"""Of each row its name, what it is, the game with its tables and options, the target, and the most times of writing."""


def vector_tables(seconds: Seconds) -> list[Row]:
    """Many tables, observation and mask written at every decision, random legal play."""
    rows = []
    for short, what, name, num_envs, options, goal, most in VECTOR_TABLES:
        rows += _beside_writing(short, what, VectorGame(make_game(name, **options), num_envs), goal, most, seconds)
    return rows


def _beside_writing(
    short: str, what: str, tables: VectorGame, goal: float | None, most: float | None, seconds: Seconds
) -> list[Row]:
    """Return the rate of a game, and the time of a decision beside that of two ways to write what it writes.

    They are zeros over the arrays, and the game's own encoder and mask for tables that stand still.
    """
    observations, masks = np.ones_like(tables.observations), np.ones_like(tables.action_masks)

    def write() -> int:
        observations[:] = 0
        masks[:] = 0
        return tables.num_envs

    encoder, rows = tables.game.encoders[tables.encoder], np.arange(tables.num_envs)
    seats = tables.turn.copy()

    def observe() -> int:
        encoder.observations(tables.tables, rows, observations, seats)
        tables.game.rules.masks(tables.tables, rows, masks)
        return tables.num_envs

    play = random_play(tables)
    ours, zeros, observed = rates(play, write, observe, seconds=seconds)
    sizes = [tables.tables.dtype.itemsize, observations[0].nbytes, masks[0].nbytes]
    touched = f"bytes of record {sizes[0]:,}, observation {sizes[1]:,}, mask {sizes[2]:,}"
    beside, note = ratios(zeros, ours), f"a decision beside writing zeros over what it writes; {touched}"
    again, again_note = ratios(observed, ours), "a decision beside its encoder and mask alone"
    return [
        Row.of(f"vector-{short}", what, ours, "decisions/s", goal),
        Row.of(f"vector-{short}-writing", "— beside writing", beside, "times", most, lower=True, note=note),
        Row.of(f"vector-{short}-observing", "— beside observing", again, "times", most, lower=True, note=again_note),
    ]


def aec(seconds: Seconds) -> list[Row]:
    """PettingZoo's `step` + `last` with 6 seats, flat observation; the random legal actions are part of the time."""
    raw = holdem_v0.raw_env(seats=6, observation="flat")
    wrapped = holdem_v0.env(seats=6, observation="flat")
    ours, standard = rates(aec_hands(raw), aec_hands(wrapped), seconds=seconds)
    return [
        Row.of("raw-env", "raw_env, 6 seats, step + last", ours, "decisions/s", 100_000),
        Row.of("env", "env, 6 seats, standard wrappers", standard, "decisions/s", 40_000),
    ]


def aec_hands(env: Any, hands: int = 20) -> Callable[[], int]:
    """Return a function that plays random hands in a PettingZoo environment and returns the number of decisions."""
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


def parallel_hands(env: Any, hands: int = 20) -> Callable[[], int]:
    """Do the same in a parallel environment."""
    draws = np.random.default_rng(0).random(4_096).tolist()
    env.reset(seed=0)

    def run() -> int:
        decisions = 0
        for _ in range(hands):
            observations, _infos = env.reset()
            while env.agents:
                agent = env.aec_env.agent_selection
                legal = observations[agent]["action_mask"].nonzero()[0]
                action = int(legal[int(draws[decisions % 4_096] * len(legal))])
                observations, *_ = env.step({agent: action})
                decisions += 1
        return decisions

    return run


def seat_hands(env: Any, hands: int = 20) -> Callable[[], int]:
    """Do the same in a Gymnasium environment with a random opponent, whose decisions count too."""
    draws = np.random.default_rng(0).random(4_096).tolist()
    env.reset(seed=0)

    def run() -> int:
        decisions = 0
        for _ in range(hands):
            over, info = False, env.reset()[1]
            while not over:
                legal = info["action_mask"].nonzero()[0]
                action = int(legal[int(draws[(decisions + env.match.decisions) % 4_096] * len(legal))])
                _observation, _reward, over, _truncated, info = env.step(action)
            decisions += env.match.decisions
        return decisions

    return run


def threads(seconds: Seconds) -> list[Row]:
    """Two threads beside one, by the clock on the wall: another program on the machine shows."""
    rows = []
    games: tuple[tuple[str, dict[str, int]], ...] = (
        ("holdem", {"seats": 6}),
        ("mafia", {"seats": 10}),
        ("tangram", {}),
    )
    for (name, options), num_envs in product(games, (4_096, 16_384)):
        pair = [VectorGame(make_game(name, **options), num_envs, threads=count) for count in (1, 2)]
        for tables in pair:
            tables.reset(seed=0)
        best = [0.0, 0.0]
        for _ in range(20):
            for place, tables in enumerate(pair):
                begun, decisions = time.perf_counter(), 0
                while (spent := time.perf_counter() - begun) < seconds / 40:
                    tables.step(tables.sample())
                    decisions += tables.num_envs
                best[place] = max(best[place], decisions / spent)
        key = f"threads-{name}-{num_envs}"
        note = f"{best[0]:,.0f} decisions/s with one thread, in the same run"
        rows.append(Row(key, f"{name}, {num_envs:,} tables: two threads", best[1], "decisions/s", note=note))
        rows.append(Row(f"{key}-ratio", "the same, beside one thread", best[1] / best[0], "times", 1.8))
    return rows
