"""Generalised advantage estimation per seat, at tables where one learner plays many seats."""

from functools import partial
from typing import Any

import numpy as np
import torch

from ...envs.core.compiled import compiled


@partial(compiled, allocates=True, compile_first=True)
def seat_advantages(
    turn: Any,
    learner_acts: Any,
    rewards: Any,
    dones: Any,
    values: Any,
    last_values: Any,
    gamma: float,
    gae_lambda: float,
    advantages: Any,
) -> None:
    """Write the advantages of the learner's decisions.

    A step of a seat is from its decision to its next one, or to the end of the episode.
    Rewards before a seat's first decision of an episode are not used. Where a seat's value after the last step is not
    known, its last decision has no advantage (nan), and the earlier ones are estimated from that decision's value.

    Args:
        turn: int64[T, N], the seat that decided.
        learner_acts: bool[T, N], whether the decision was the learner's.
        rewards: float32[T, N, seats], of the step.
        dones: bool[T, N], whether the episode ended with the step.
        values: float32[T, N], value estimates of the acting seat at the decision.
        last_values: float32[N, seats], value estimates of every seat after the last step; nan: not known.
        gamma: discount factor, per decision of the seat.
        gae_lambda: lambda of generalised advantage estimation.
        advantages: float32[T, N], written where `learner_acts`.
    """
    steps, tables = turn.shape
    seats = rewards.shape[2]
    expected, advantage, gained = np.zeros(seats), np.zeros(seats), np.zeros(seats)
    for table in range(tables):
        for seat in range(seats):
            expected[seat], advantage[seat], gained[seat] = last_values[table, seat], 0.0, 0.0
        for step in range(steps - 1, -1, -1):
            if dones[step, table]:
                expected[:], advantage[:], gained[:] = 0.0, 0.0, 0.0
            for seat in range(seats):
                gained[seat] += rewards[step, table, seat]
            if learner_acts[step, table]:
                seat = turn[step, table]
                value = values[step, table]
                error = gained[seat] + gamma * expected[seat] - value
                advantages[step, table] = error + gamma * gae_lambda * advantage[seat]
                advantage[seat] = 0.0 if np.isnan(error) else advantages[step, table]
                expected[seat], gained[seat] = value, 0.0


@partial(compiled, allocates=True, compile_first=True)
def action_returns(
    turn: Any,
    learner_acts: Any,
    rewards: Any,
    dones: Any,
    values: Any,
    action_values: Any,
    traces: Any,
    last_values: Any,
    rivals: bool,
    returns: Any,
) -> None:
    """Write the returns of the learner's actions: Expected SARSA(lambda), a policy's own value at every later decision.

    See `seat_advantages` for the other arguments.

    Args:
        turn: int64[T, N].
        learner_acts: bool[T, N].
        rewards: float32[T, N, seats].
        dones: bool[T, N].
        values: float32[T, N], the policy's expected value of the acting seat.
        action_values: float32[T, N], the value estimates of the actions that were taken.
        traces: float32[T, N], lambda times the share of the decision that counts for the policy, 0 to 1.
        last_values: float32[N, seats].
        rivals: one of two seats wins what the other loses, so that a decision of one tells the value of both.
        returns: float32[T, N], written where `learner_acts`.
    """
    steps, tables = turn.shape
    seats = rewards.shape[2]
    ahead = np.zeros(seats)
    for table in range(tables):
        for seat in range(seats):
            ahead[seat] = last_values[table, seat]
        for step in range(steps - 1, -1, -1):
            if dones[step, table]:
                ahead[:] = 0.0
            for seat in range(seats):
                ahead[seat] += rewards[step, table, seat]
            if learner_acts[step, table]:
                seat = turn[step, table]
                returns[step, table] = ahead[seat]
                further = ahead[seat] - action_values[step, table]
                ahead[seat] = values[step, table] + (0.0 if np.isnan(further) else traces[step, table] * further)
                if rivals:
                    ahead[1 - seat] = -ahead[seat]


def advantages_of_all_seats(
    turn: torch.Tensor,
    rewards: torch.Tensor,
    dones: torch.Tensor,
    values: torch.Tensor,
    last_values: torch.Tensor,
    gamma: float,
    gae_lambda: float,
) -> torch.Tensor:
    """Return what `seat_advantages` writes if every decision is the learner's, for tensors of any device.

    See `seat_advantages` for the arguments.
    """
    expected, advantage, gained = last_values.clone(), torch.zeros_like(last_values), torch.zeros_like(last_values)
    advantages = torch.empty_like(values)
    for step in reversed(range(len(turn))):
        ended = dones[step][:, None]
        expected, advantage, gained = (one.masked_fill(ended, 0.0) for one in (expected, advantage, gained))
        gained += rewards[step]
        seat = turn[step][:, None]
        value = values[step][:, None]
        error = gained.gather(1, seat) + gamma * expected.gather(1, seat) - value
        new = error + gamma * gae_lambda * advantage.gather(1, seat)
        advantages[step] = new[:, 0]
        advantage.scatter_(1, seat, new.nan_to_num())
        expected.scatter_(1, seat, value)
        gained.scatter_(1, seat, 0.0)
    return advantages
