"""Decisions per second of Parlour's environments: many tables, and PettingZoo's AEC."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ...envs import VectorGame, holdem_v0
from ...envs import game as make_game
from .base import Row, Seconds, rate


def vector(name: str, num_envs: int, **options: Any) -> Callable[[], int]:
    """Return a function that plays one random legal decision on each of `num_envs` tables and returns their number."""
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
            ("cournot", "Cournot, 4,096 tables, 2 firms", "cournot", 4_096, {}, 7e6),
            ("mafia", "mafia, 1,024 tables, 10 seats", "mafia", 1_024, {"seats": 10}, 1.5e6),
        )
    ]


def aec(seconds: Seconds) -> list[Row]:
    """PettingZoo's `step` + `last` with 6 seats, flat observation; the random legal actions are part of the time."""
    raw = holdem_v0.raw_env(seats=6, observation="flat")
    wrapped = holdem_v0.env(seats=6, observation="flat")
    return [
        Row("raw-env", "raw_env, 6 seats, step + last", rate(aec_hands(raw), seconds), "decisions/s", 100_000),
        Row("env", "env, 6 seats, standard wrappers", rate(aec_hands(wrapped), seconds), "decisions/s", 40_000),
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


def threads(seconds: Seconds) -> list[Row]:
    """Two threads beside one, by the clock on the wall: another program on the machine shows."""
    rows = []
    for name, options in (("holdem", {"seats": 6}), ("mafia", {"seats": 10}), ("tangram", {})):
        made = [VectorGame(make_game(name, **options), 4_096, threads=count) for count in (1, 2)]
        for tables in made:
            tables.reset(seed=0)
        best = [0.0, 0.0]
        for _ in range(20):
            for place, tables in enumerate(made):
                begun, decisions = time.perf_counter(), 0
                while (spent := time.perf_counter() - begun) < seconds / 40:
                    tables.step(tables.sample())
                    decisions += tables.num_envs
                best[place] = max(best[place], decisions / spent)
        note = f"{best[0]:,.0f} decisions/s with one thread, in the same run"
        rows.append(Row(f"threads-{name}", f"{name}, 4,096 tables: two threads", best[1], "decisions/s", note=note))
        rows.append(Row(f"threads-{name}-ratio", "the same, beside one thread", best[1] / best[0], "times", 1.8))
    return rows
