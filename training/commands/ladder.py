"""Ratings of policies that have played each other, and a page with them, the matrix and sample games."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.table import Table

from ...envs import Game
from ...wrappers.logs.match_log import MatchLog
from ...wrappers.replay.log_reader import moments
from ...wrappers.replay.page import page
from ..evaluation.cross_play import Matrix
from ..evaluation.duplicate import unit_per_game
from ..evaluation.ladder_page import columns_of, ladder_page
from ..evaluation.meta_game import PolicyStanding, advantages, standings
from ..evaluation.result_page import provenance
from ..terminal.console import Console
from ..terminal.match import TerminalMatch
from .lookup import agent


@dataclass(frozen=True)
class Ladder:
    """Ratings of policies.

    Attributes:
        game: the name of the game.
        places: the policies with their ratings, the best first.
        unit: the unit of the payoffs.
        payoffs: what the policy of a row wins from that of a column, by the order of `policies`.
        policies: their names.
        page: the file of the page.
    """

    game: str
    places: Sequence[PolicyStanding]
    unit: str
    payoffs: Any
    policies: Sequence[str]
    page: Path

    def to_dict(self) -> dict[str, Any]:
        """Return the ratings as JSON."""
        matrix = {"policies": list(self.policies), "payoffs": self.payoffs.tolist()}
        rated = [asdict(place) for place in self.places]
        return {"unit": self.unit, "standings": rated, "matrix": matrix, "page": str(self.page)}

    def table(self) -> Table:
        """Return the ratings as a table."""
        heads, rows = columns_of(self.places, self.unit)
        table = Table(*heads, title=f"ladder of {self.game}")
        for column in table.columns[1:]:
            column.justify = "right"
        for row in rows:
            table.add_row(*row)
        return table


def rated(game: Game, names: Sequence[str], matrices: Sequence[Matrix], out: Path, samples: int, seed: int) -> Ladder:
    """Rate policies by the matrices of their matches, and write the page.

    Args:
        game: the game with its options.
        names: the policies.
        matrices: the results of `cross_play`, without mixed teams.
        out: file for the page.
        samples: number of sample games on the page, between the best policies.
        seed: seed of the ratings and the sample games.
    """
    payoffs, results = advantages(game, matrices)
    places = standings(names, payoffs, results, seed)
    unit = "share of matches" if game.capabilities.teams is not None else unit_per_game(game)
    replay = sample_games(game, [place.name for place in places], samples, seed) if samples else None
    out.parent.mkdir(parents=True, exist_ok=True)
    about = provenance() | {"seed": seed, "deals": results.shape[-1], "options": game.options}
    out.write_text(ladder_page(f"Ladder of {game.id}", places, names, payoffs, unit, replay, about), "utf-8")
    return Ladder(game.id, places, unit, payoffs, names, out)


def sample_games(game: Game, names: Sequence[str], count: int, seed: int) -> str:
    """Play games between the first pairs of policies, seated in turns around the table, and return their replay.

    Args:
        game: the game with its options.
        names: the policies, the best first.
        count: number of games, at most one for each pair.
        seed: seed of the games and the policies.
    """
    pairs = sorted(combinations(range(len(names)), 2), key=sum)[:count]
    with TemporaryDirectory() as folder:
        file = Path(folder) / "samples.jsonl"
        with MatchLog(file) as log:
            for number, pair in enumerate(pairs):
                seated = [names[pair[seat % 2]] for seat in range(game.seats)]
                agents = [agent(name, game, seed + number + seat) for seat, name in enumerate(seated)]
                TerminalMatch(game, agents, seated, Console(quiet=True), 0.0, log).play(1, seed + number)
        return page(moments(file), f"{game.id}: sample games")
