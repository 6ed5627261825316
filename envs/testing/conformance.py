"""Conformance: the checkers of PettingZoo, Gymnasium and Stable-Baselines3 accept the game."""

import warnings
from contextlib import redirect_stdout
from importlib import import_module
from importlib.util import find_spec
from io import StringIO
from typing import Any

from pettingzoo.test import api_test, parallel_api_test

from ..core.aec import GameEnv, TurnBasedParallel
from .trial import NotTried, Trial, for_every_version

_SINGLE_AGENT = f"{__name__.rpartition('.envs.')[0]}.wrappers.rl.gymnasium_env"
"""The module of `SingleAgentEnv`. It is a name, because `envs` must not import `wrappers`."""


@for_every_version
def pettingzoo(trial: Trial) -> None:
    """`pettingzoo.test` accepts the environment, with both kinds of observation and all kinds of actions."""
    game = trial.game
    modes = [("dict", "discrete", 200), ("flat", "discrete", 200), ("flat", "payload", 50)]
    if game.view.grid is not None:
        modes.append(("flat", "grid", 50))
    with warnings.catch_warnings(), redirect_stdout(StringIO()):
        warnings.simplefilter("ignore")  # about names and shapes; PettingZoo's own games have them too
        for observation, action, cycles in modes:
            env = GameEnv(game, observation, action, illegal_reward=-game.payoffs.unit)
            api_test(env, num_cycles=cycles)
        if not hasattr(import_module("pettingzoo"), "register"):
            # Before 1.27 its parallel test knows actions by index alone.
            env = GameEnv(game, "flat", illegal_reward=-game.payoffs.unit)
        parallel_api_test(TurnBasedParallel(env), num_cycles=50)


def _seat(trial: Trial) -> Any:
    if find_spec(_SINGLE_AGENT.rpartition(".rl.")[0]) is None:
        raise NotTried(f"{_SINGLE_AGENT} is not installed")
    return import_module(_SINGLE_AGENT).SingleAgentEnv(trial.game)


@for_every_version
def gymnasium(trial: Trial) -> None:
    """`gymnasium.utils.env_checker` accepts the game as a single-agent environment."""
    from gymnasium.utils.env_checker import check_env

    env = _seat(trial)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_env(env, skip_render_check=True)


@for_every_version
def stable_baselines3(trial: Trial) -> None:
    """`stable_baselines3.common.env_checker` accepts the game as a single-agent environment."""
    if find_spec("stable_baselines3") is None:
        raise NotTried("stable-baselines3 is not installed")
    from stable_baselines3.common.env_checker import check_env

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_env(_seat(trial), warn=False)
