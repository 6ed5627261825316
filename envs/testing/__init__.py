"""The laws: tests that every game passes. `check` runs them on any game.

    from parlour.envs.testing import check

    report = check(my_game(), episodes=6)   # raises LawBroken, or returns a report
    print(report)

``parlour check my_package.my_game:game`` does the same from the command line.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..core.game import Game
from ..core.how_to_play import how_to_play
from .determinism import fingerprint, fingerprints_elsewhere
from .laws import LAWS, LawResult, try_law
from .trial import LawBroken, Trial

__all__ = ["LAWS", "LawBroken", "LawResult", "Report", "Trial", "check", "try_law"]

EPISODES = 6
"""The default number of random episodes per law."""


@dataclass(frozen=True)
class Report:
    """The laws that hold for a game, and those that were not tried.

    Attributes:
        game_id: the game's name and version.
        results: one per law, in the order of `LAWS`.
    """

    game_id: str
    results: tuple[LawResult, ...]

    def __str__(self) -> str:
        """Return one line per law, and one per warning."""
        width = max((len(result.law) for result in self.results), default=0)
        lines = [self.game_id]
        for result in self.results:
            lines.append(f"{result.law:{width}}  {result.verdict}")
            lines += [f"{'':{width}}  warning: {warning}" for warning in result.warnings]
        return "\n".join(lines)


def check(
    game: Game,
    *,
    episodes: int = EPISODES,
    laws: Iterable[str] | None = None,
    source: str | None = None,
    on_result: Callable[[LawResult], None] | None = None,
) -> Report:
    """Test the laws on a game.

    Args:
        game: the game with its options.
        episodes: the number of random episodes per law.
        laws: names of `LAWS`; None: all of them.
        source: ``"module:function"`` that makes the game from its options (`Game.options`), so that another process can
            play it too. None: the law "determinism" is tested in this process only.
        on_result: called after each law that holds or was not tried.

    Returns:
        The report of all laws.

    Raises:
        LawBroken: if a law does not hold; it names the law, the seed, the decision, the seat and what differs.
        ValueError: for an unknown law, or if the rules in words cannot be written.
    """
    how_to_play(game)
    wanted = list(LAWS if laws is None else laws)
    unknown = [law for law in wanted if law not in LAWS]
    if unknown:
        raise ValueError(f"no law is called {', '.join(map(repr, unknown))}; the laws are {', '.join(LAWS)}")
    results = []
    for law in wanted:
        results.append(try_law(law, game, episodes))
        if law == "determinism" and source is not None:
            (there,) = fingerprints_elsewhere([(source, dict(game.options), game.encoder)])
            if there != fingerprint(game):
                raise LawBroken(law, "the same seed and actions give different bytes in another process")
        if on_result is not None:
            on_result(results[-1])
    return Report(game.id, tuple(results))
