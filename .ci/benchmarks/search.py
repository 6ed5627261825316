"""What search of hold'em is worth: exact values at decisions to which the zoo's blueprint comes in play with itself."""

import time
from collections.abc import Iterator
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray
from parlour.envs import Game, game
from parlour.envs.core.rng import streams
from parlour.envs.holdem.table import FLOP, RIVER, TURN
from parlour.training.commands.lookup import turn_resolver
from parlour.training.evaluation.duplicate import Score
from parlour.training.solving.resolving import OWN_SHARE, HoldemResolving, Solved
from parlour.training.solving.subgame import Resolver, mean_value
from parlour.wrappers.policies.base import Policy
from parlour.wrappers.policies.loading import make_policy

from .base import Row, Seconds

GOALS = {"river": 0.3, "turn": 4.0, "flop": 5.0}
"""Processor time of a decision; two threads share that of a turn."""
STREETS = {"river": RIVER, "turn": TURN, "flop": FLOP}
EXACT = 800, 200
"""Iterations of the exact solution of a river, and of a turn with all its rivers at each."""
ROUNDS = 20
"""Times the seconds of a measurement: the processor time of a street."""


def search(seconds: Seconds) -> list[Row]:
    """Each street of its own, without a limit of time: seconds, best responses, and what is won from the blueprint."""
    table = game("holdem", seats=2)
    policy = make_policy("zoo:holdem-blueprint", table, seed=1)
    resolving = HoldemResolving(table, policy, turn_resolver=turn_resolver())
    resolving.warm_up()
    rows = []
    for street, goal in GOALS.items():
        begun, spent, less, gains, above = time.process_time(), list[float](), list[float](), list[float](), list[Any]()
        for state in _decisions(table, policy, STREETS[street]):
            before = time.process_time()
            solved = None if state is None else resolving.solve(state, lambda: inf)
            gains.append(0.0)
            if solved is not None:
                spent.append(time.process_time() - before)
                less.append((solved.before - solved.after) / table.payoffs.unit)
                if not solved.tree.limited:
                    above.append(above_exact(solved) / table.payoffs.unit)
                if solved.after <= solved.before:
                    gains[-1] = gain(solved) / table.payoffs.unit
            if len(less) > 1 and time.process_time() - begun > ROUNDS * seconds:
                break
        rows.append(Row.of(f"search-{street}", f"{street} solved again", spent, "s", goal, lower=True))
        for what, values in (
            (f"— a best response on a {street} wins less than from the policy", less),
            ("— the solution wins more than the policy from it, per hand", gains),
            ("— above the exact value a best response wins from the policy", [each[0] for each in above]),
            ("— above it, from the solution", [each[1] for each in above]),
        ):
            if len(values) < 2:
                continue
            score = Score.of(np.array(values), "big blinds", len(values))
            note = f"{score} in {len(values):,} cases"
            rows.append(Row(f"search-{street}", what, score.mean, "big blinds", note=note))
    return rows


def reached(solved: Solved) -> NDArray[np.float64]:
    """Return the ranges with which the policy comes there: its own without what is spread over all hands."""
    own = np.maximum(0.0, solved.ranges[0] - OWN_SHARE / len(solved.tree.hands)) / (1 - OWN_SHARE)
    return np.stack([own, solved.ranges[1]])


def above_exact(solved: Solved) -> NDArray[np.float64]:
    """Return what an exact best response wins from the policy and from what is played, above the value, in chips."""
    tree, ranges = solved.tree, reached(solved)
    exact = Resolver(tree, ranges, 0, boards=len(tree.boards))
    exact.run(EXACT[0 if len(tree.boards) == 1 else 1])
    bounds = [mean_value(tree, player, ranges, exact.average(), best=True) for player in range(2)]
    played = solved.solution if solved.after <= solved.before else solved.policy
    won = [mean_value(tree, 1, ranges, each, best=True) for each in (solved.policy, played)]
    return np.array(won) - (bounds[1] - bounds[0]) / 2


def gain(solved: Solved) -> float:
    """Return what the solution wins more than the policy from the policy, in chips on average."""
    ranges = reached(solved)
    tree, mixed = solved.tree, solved.policy.copy()
    nodes, last = tree.nodes, tree.nodes.near if tree.limited else len(tree.nodes.kind)
    for node in np.flatnonzero(nodes.kind[:last] == 0).tolist():
        for board in range(1 if node < nodes.near else len(tree.boards)):
            first = tree.row(int(nodes.first[node]), board)
            children = slice(first, first + int(nodes.count[node]))
            mixed[children] = solved.solution[children]
    return mean_value(tree, 0, ranges, mixed, best=False) - mean_value(tree, 0, ranges, solved.policy, best=False)


def _decisions(table: Game, policy: Policy, phase: int) -> Iterator[Any]:
    """Play hands; yield the first decision of one seat on a street, or None where it has none."""
    records = table.tables(1)
    state = records[0]
    for hand, word in enumerate(streams(1, 100_000)):
        records.stream = word
        table.rules.reset(state)
        while not state.done and not (int(state.phase) == phase and int(state.turn) == hand % 2):
            seat = int(state.turn)
            action = policy.act(table.observation(state, seat)[None], table.mask(state, seat)[None])
            table.rules.play(state, int(action[0]))
        yield None if state.done else state
