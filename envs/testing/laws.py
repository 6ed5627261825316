"""The laws that hold for every game."""

import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from importlib import import_module
from importlib.util import find_spec
from io import StringIO
from time import perf_counter
from typing import Any, NamedTuple

from pettingzoo.test import api_test, parallel_api_test

from ..core.aec import GameEnv, TurnBasedParallel
from ..core.checks import described
from ..core.game import Game
from . import copies, determinism, payloads, secrecy
from .trial import LawBroken, NotTried, Trial, bounds, for_every_version, written_whole

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


LAWS: dict[str, Callable[[Trial], None]] = {
    "parity": secrecy.loads,
    "parity of messages": secrecy.loads_with_messages,
    "bounds of observations": bounds,
    "arrays written whole": written_whole,
    "secrecy": secrecy.seats,
    "secrecy of the public view": secrecy.public_view,
    "secrecy of messages": secrecy.messages,
    "one rules source": determinism.same_game,
    "determinism": determinism.same_bytes,
    "global random state": determinism.global_state,
    "seeds": determinism.seeds,
    "threads": determinism.threads,
    "plain Python": determinism.plain_python,
    "clone": copies.environments,
    "copied records": copies.records,
    "independent TurnStates": copies.turn_states,
    "accounting": secrecy.payoffs,
    "turns": secrecy.turns,
    "payloads": payloads.legal_actions,
    "schemas": payloads.schemas,
    "types of states": payloads.states,
    "allowed actions": payloads.allowed_actions,
    "any answer": payloads.any_answer,
    "full information refused": secrecy.refused,
    "full information shown": secrecy.shows_more,
    "random events": determinism.probabilities,
    "frequencies of random events": determinism.frequencies,
    "value of the tree": determinism.value,
    "PettingZoo": pettingzoo,
    "Gymnasium": gymnasium,
    "Stable-Baselines3": stable_baselines3,
}
"""The laws by name. The function's docstring is the law's statement. `check` tests them in this order."""


class LawResult(NamedTuple):
    """The result of one law.

    Attributes:
        law: its name.
        meaning: its statement, one sentence.
        skipped: why it was not tried; None if it holds.
        seconds: the duration of the test.
        warnings: sentences about what is probably not meant.
    """

    law: str
    meaning: str
    skipped: str | None
    seconds: float
    warnings: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """``"holds"``, or why it was not tried."""
        return "holds" if self.skipped is None else f"not tried: {self.skipped}"


def try_law(law: str, game: Game, episodes: int) -> LawResult:
    """Test one law on a game.

    Args:
        law: a name of `LAWS`.
        game: the game with its options.
        episodes: the number of random episodes, for a law that plays any.

    Raises:
        LawBroken: if the law does not hold, or a function of the game raises an error. It names the law, the seed, the
            decision, the seat and what differs.
    """
    function, trial, begun, skipped = LAWS[law], Trial(law, game, episodes), perf_counter(), None
    try:
        function(trial)
    except NotTried as reason:
        skipped = str(reason)
    except LawBroken:
        raise
    except Exception as error:
        raise trial.broken(described(error)) from error
    meaning = (function.__doc__ or "").partition("\n\n")[0]
    return LawResult(law, " ".join(meaning.split()), skipped, perf_counter() - begun, tuple(trial.warnings))
