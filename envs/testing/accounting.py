"""Accounting: rewards fit the declared payoffs, and the outcome shows each seat's return."""

import numpy as np

from .trial import Trial

ROUNDING = 1e-9
"""What rewards that are fractions may lose by rounding, as a share of the largest return."""


def payoffs(trial: Trial) -> None:
    """Zero-sum rewards sum to zero at every step, shared ones are equal; returns are in bounds, and in the outcome."""
    game = trial.game
    declared = game.payoffs
    slack = ROUNDING * max(1.0, abs(declared.low), abs(declared.high))
    for seed in trial.seeds():
        total = np.zeros(game.seats)
        for table in trial.decisions(seed):
            rewards = table.rewards[: game.seats]
            trial.require(np.isfinite(rewards).all(), f"rewards are {rewards.tolist()}")
            trial.require(trial.decision or not rewards.any(), f"rewards before the first decision: {rewards.tolist()}")
            trial.require(
                not declared.zero_sum or abs(rewards.sum()) <= slack,
                f"rewards {rewards.tolist()} do not sum to zero, though payoffs.zero_sum is set",
            )
            trial.require(
                not declared.shared or (rewards == rewards[0]).all(),
                f"rewards {rewards.tolist()} differ, though payoffs.shared is set",
            )
            total += rewards
        for trial.seat, won in enumerate(total.tolist()):
            trial.require(
                declared.low - slack <= won <= declared.high + slack,
                f"the seat won {won:g}; payoffs declares {declared.low:g} to {declared.high:g}",
            )
            outcome = game.turn_state(table, trial.seat).outcome or {}
            shown = [row.get("utility") for row in outcome.get("payoffs", ())]
            trial.require(
                len(shown) == game.seats and np.allclose(shown, total),
                f"the outcome shows the utilities {shown}; the seats won {total.tolist()}",
            )


def turns(trial: Trial) -> None:
    """The acting seat has a legal action, the game's safe action is legal, and no seat acts after the end."""
    game = trial.game
    for seed in trial.seeds():
        for table in trial.decisions(seed):
            if table.done:
                trial.require(table.turn == -1, f"the episode is over, and turn is {table.turn}, not -1")
                continue
            trial.require(0 <= table.turn < game.seats, f"turn is {table.turn}; there are {game.seats} seats")
            mask = game.mask(table, int(table.turn))
            trial.require(mask.any(), "no action is legal")
            trial.require(np.isin(mask, (0, 1)).all(), f"the mask has other values than 0 and 1: {mask.tolist()}")
            safe = game.view.safe(table)
            trial.require(mask[safe], f"the safe action {safe} is not legal; legal are {np.flatnonzero(mask).tolist()}")
