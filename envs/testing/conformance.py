"""Conformance: the checkers of PettingZoo, Gymnasium and Stable-Baselines3 accept the game."""

import warnings
from contextlib import redirect_stdout
from importlib import import_module
from importlib.util import find_spec
from io import StringIO
from typing import Any

from pettingzoo.test import api_test

from ..core.aec import GameEnv
from ..core.pettingzoo_wrappers import wrapped
from .trial import NotTried, Trial

_SINGLE_AGENT = f"{__name__.rpartition('.envs.')[0]}.wrappers.rl.gymnasium_env"
"""The module of `SingleAgentEnv`. It is a name, because `envs` must not import `wrappers`."""


def pettingzoo(trial: Trial) -> None:
    """`pettingzoo.test.api_test` accepts the environment, with both kinds of observation."""
    game = trial.game
    for observation in ("dict", "flat"):
        with warnings.catch_warnings(), redirect_stdout(StringIO()):
            warnings.simplefilter("ignore")  # about names and shapes; PettingZoo's own games have them too
            api_test(wrapped(GameEnv(game, observation), illegal_reward=-game.payoffs.unit), num_cycles=200)


def _seat(trial: Trial) -> Any:
    if find_spec(_SINGLE_AGENT.rpartition(".rl.")[0]) is None:
        raise NotTried(f"{_SINGLE_AGENT} is not installed")
    return import_module(_SINGLE_AGENT).SingleAgentEnv(trial.game)


def gymnasium(trial: Trial) -> None:
    """`gymnasium.utils.env_checker` accepts the game as a single-agent environment."""
    from gymnasium.utils.env_checker import check_env

    env = _seat(trial)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            check_env(env, skip_render_check=True)
        except AssertionError as error:
            if "truncates after 1 step" not in str(error):
                raise
            raise NotTried(
                "the limit may end an episode at a seat's first decision, which this checker forbids"
            ) from None


def stable_baselines3(trial: Trial) -> None:
    """`stable_baselines3.common.env_checker` accepts the game as a single-agent environment."""
    if find_spec("stable_baselines3") is None:
        raise NotTried("stable-baselines3 is not installed")
    from stable_baselines3.common.env_checker import check_env

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_env(_seat(trial), warn=False)
