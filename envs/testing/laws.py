"""The laws that hold for every game."""

from collections.abc import Callable
from time import perf_counter
from typing import NamedTuple

from ..core.game import Game
from . import (
    accounting,
    arrays,
    conformance,
    copies,
    determinism,
    environment_copies,
    full_information,
    one_source,
    parity,
    payloads,
    random_events,
    secrecy,
)
from .trial import LawBroken, NotTried, Trial

LAWS: dict[str, Callable[[Trial], None]] = {
    "parity": parity.loads,
    "parity of messages": parity.loads_with_messages,
    "bounds of observations": arrays.bounds,
    "arrays written whole": arrays.written_whole,
    "secrecy": secrecy.seats,
    "secrecy of the public view": secrecy.public_view,
    "secrecy of messages": secrecy.messages,
    "one rules source": one_source.same_game,
    "determinism": determinism.same_bytes,
    "global random state": determinism.global_state,
    "seeds": determinism.seeds,
    "threads": determinism.threads,
    "plain Python": determinism.plain_python,
    "clone": environment_copies.environments,
    "copied records": copies.records,
    "independent TurnStates": copies.turn_states,
    "accounting": accounting.payoffs,
    "turns": accounting.turns,
    "payloads": payloads.legal_actions,
    "schemas": payloads.schemas,
    "types of states": payloads.states,
    "allowed actions": payloads.allowed_actions,
    "any answer": payloads.any_answer,
    "full information refused": full_information.refused,
    "full information shown": full_information.shows_more,
    "random events": random_events.probabilities,
    "frequencies of random events": random_events.frequencies,
    "value of the tree": random_events.value,
    "PettingZoo": conformance.pettingzoo,
    "Gymnasium": conformance.gymnasium,
    "Stable-Baselines3": conformance.stable_baselines3,
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
        raise trial.broken(f"{type(error).__name__}: {' '.join(str(error).split())}") from error
    meaning = (function.__doc__ or "").partition("\n\n")[0]
    return LawResult(law, " ".join(meaning.split()), skipped, perf_counter() - begun, tuple(trial.warnings))
