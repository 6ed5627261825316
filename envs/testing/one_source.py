"""One rules source: the AEC environment and the vector environment play the same game."""

import numpy as np

from ..core.aec import GameEnv
from ..core.vector import VectorGame
from . import differences
from .trial import Trial, chooser, for_every_version

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
    shown = env.observe(env.agent_selection)
    trial.same(differences.in_observation(trial.game.layout, shown["observation"], tables.observations[i]))
    trial.same(differences.in_mask(shown["action_mask"], tables.action_masks[i]))
    trial.same(differences.in_record(env.table, tables.tables[i]))
    for encoder in trial.game.encoders.values():
        if encoder.full_information:
            seen = encoder.observations(tables.tables, np.array([i]))[0], encoder.observation(env.table, trial.seat)
            trial.same(differences.in_observation(encoder.layout, *seen))
