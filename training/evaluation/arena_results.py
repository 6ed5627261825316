"""The results of an arena by game and over all games: means, ratings, tables, and pages with replays."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from ...envs import Game
from ...envs.core.counted import counted
from ...envs.render.svg import escape
from ...wrappers.agents.language_model import COLUMNS as MODEL_COLUMNS
from ...wrappers.agents.language_model import ModelStatistics, columns
from ...wrappers.live.arena.host import ArenaResult
from ...wrappers.replay.log_reader import moments
from ...wrappers.replay.page import page
from .duplicate import RunningScore
from .pages import document, facts, table, without_empty

PAYOFF, OVER_ALL = "payoff ± 95 %", "rating over all"
"""The columns by which a game's agents, and those of all games, are sorted."""
MEANINGS = {
    PAYOFF: "the mean payoff of a match, with the half of its 95 % interval. The table is sorted by it.",
    OVER_ALL: "the Plackett-Luce rating (openskill) of all matches, from places and not payoffs; ± one standard "
    "deviation. Everybody begins at 25 ± 8.3. The table is sorted by it.",
    "mean place": "the mean of its places in the games that it played, 1 for the greatest mean payoff of a game.",
    "games": "the number of games that it played. Ratings of agents that played other games are hard to compare.",
    "matches": "the number of its matches.",
    "deals": "the share of its matches with a deal, of those where one was possible.",
    "of surplus": "the part of the possible joint gain that its matches realised; of a sale, the winner's value as a "
    "share of the highest.",
    "rating": "the Plackett-Luce rating (openskill) of the matches of this game; ± one standard deviation. Everybody "
    "begins at 25 ± 8.3.",
    "mistakes": "the number of its answers that were refused, late or missing.",
}

MOST_AGENTS = 10_000
"""The most agents in the standings."""
COUNTED, SHARES = ("rejected", "failed", "forced"), ("deals", "efficiency")

Columns = tuple[list[str], list[list[str]]]
"""Headings and rows of a table."""


@dataclass
class ArenaStanding:
    """The results of one agent.

    Attributes:
        agent_id: the agent.
        matches: number of matches.
        mean, low, high: payoff per match with its 95 % interval (None with fewer than 2 matches).
        deals: share of matches with a deal among those where one was possible; None: not known.
        efficiency: mean over its matches with a known efficiency; None: not known.
        rating, deviation: openskill's Plackett-Luce rating; None without the package.
        rejected, failed, forced: numbers of refused answers, failures and safe actions.
    """

    agent_id: str
    matches: int
    mean: float
    low: float | None
    high: float | None
    deals: float | None
    efficiency: float | None
    rating: float | None
    deviation: float | None
    rejected: int
    failed: int
    forced: int


class Standings:
    """The results of the agents, match by match. Its size depends on the number of agents, not on that of matches.

    If there are more than `MOST_AGENTS`, agents without a recent match are removed.

    Attributes:
        matches: number of matches.
    """

    def __init__(self) -> None:
        self.matches = 0
        self._payoffs: dict[str, RunningScore] = {}  # the agent of the latest match is the last
        self._sums: defaultdict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
        try:
            from openskill.models import PlackettLuce
        except ImportError:
            self._model: Any = None
        else:
            self._model = PlackettLuce()
        self._ratings: dict[str, Any] = {}

    def add(self, result: ArenaResult) -> None:
        """Count a match."""
        self.matches += 1
        for agent in result.agent_ids:
            sums, payoffs = self._sums[agent], self._payoffs.pop(agent, None) or RunningScore("")
            payoffs.add(result.payoffs[agent])
            self._payoffs[agent] = payoffs
            for kind, value in zip(SHARES, (result.deal, result.efficiency), strict=True):
                if value is not None:
                    sums[kind] += value
                    sums[f"{kind} known"] += 1
            for kind in COUNTED:
                sums[kind] += getattr(result, kind).get(agent, 0)
        if self._model is not None and len(result.agent_ids) > 1:
            teams = [[self._ratings.get(agent) or self._model.rating(name=agent)] for agent in result.agent_ids]
            won = [result.payoffs[agent] for agent in result.agent_ids]
            places = [sum(other > payoff for other in won) for payoff in won]  # openskill takes equal floats for others
            rated = self._model.rate(teams, ranks=places)
            self._ratings.update({agent: team[0] for agent, team in zip(result.agent_ids, rated, strict=True)})
        while len(self._payoffs) > MOST_AGENTS:
            oldest = next(iter(self._payoffs))
            del self._payoffs[oldest], self._sums[oldest]
            self._ratings.pop(oldest, None)

    def lines(self) -> list[ArenaStanding]:
        """Return a line per agent, the best mean first. The interval is Student's over matches."""
        lines = []
        for agent, payoffs in self._payoffs.items():
            sums, rating, score = self._sums[agent], self._ratings.get(agent), payoffs.score()
            shares = (sums[kind] / known if (known := sums[f"{kind} known"]) else None for kind in SHARES)
            ends = (None, None) if score is None else (score.low, score.high)
            rated = (None, None) if rating is None else (rating.mu, rating.sigma)
            counts = (int(sums[kind]) for kind in COUNTED)
            lines.append(ArenaStanding(agent, payoffs.count, payoffs.mean, *ends, *shares, *rated, *counts))
        return sorted(lines, key=lambda line: -line.mean)


@dataclass(frozen=True)
class GameResults:
    """The results of one game.

    Attributes:
        game: the game with its options.
        standings: of its matches.
        samples: the log of its first matches; None: it is not kept.
    """

    game: Game
    standings: Standings
    samples: Path | None = None

    @property
    def title(self) -> str:
        """The game and the number of matches, as text."""
        return f"{self.game.id}: {counted(self.standings.matches, 'matches')}"


def by_agent(lines: Sequence[ArenaStanding]) -> Columns:
    """Return the table of one game, sorted by the mean payoff, without the columns that hold nothing."""
    heads = ["agent", PAYOFF, "matches", "deals", "of surplus", "rating", "mistakes"]
    rows = []
    for line in lines:
        payoff = f"{line.mean:+.2f}" + (f" ± {line.high - line.mean:.2f}" if line.high is not None else "")
        shares = ["—" if share is None else f"{share:.0%}" for share in (line.deals, line.efficiency)]
        mistakes = str(line.rejected + line.failed)
        rows.append([line.agent_id, payoff, f"{line.matches:,}", *shares, _rating(line), mistakes])
    return without_empty(heads, rows)


def over_all(results: Sequence[GameResults], together: Standings) -> Columns:
    """Return the table of all games: a rating over all matches, the mean place in the games, and a rating in each.

    Payoffs of different games have different units, so that they are not added. Places are those of the mean payoff.

    Args:
        results: game by game.
        together: the standings over all matches.
    """
    heads = ["agent", OVER_ALL, "mean place", "games", "matches", *(one.game.name for one in results)]
    lines = {one.game.name: one.standings.lines() for one in results}
    played: defaultdict[str, dict[str, tuple[int, str]]] = defaultdict(dict)  # place and rating by agent and game
    for name, standings in lines.items():
        for place, line in enumerate(standings, 1):
            played[line.agent_id][name] = place, _rating(line)
    rows = []
    means = {agent: fmean(place for place, _ in games.values()) for agent, games in played.items()}
    for line in sorted(together.lines(), key=lambda line: (-(line.rating or 0.0), means[line.agent_id])):
        games = played[line.agent_id]
        figures = [_rating(line), f"{means[line.agent_id]:.1f}", str(len(games)), f"{line.matches:,}"]
        rows.append([line.agent_id, *figures, *(games.get(name, (0, ""))[1] for name in lines)])
    return heads, rows


def _rating(line: ArenaStanding) -> str:
    return "—" if line.rating is None else f"{line.rating:.1f} ± {line.deviation:.1f}"


def write_pages(
    folder: Path,
    results: Sequence[GameResults],
    together: Standings,
    models: Mapping[str, ModelStatistics],
    about: Mapping[str, Any],
) -> Path:
    """Write ``index.html`` with the tables, and a page with the replay of the sample matches of each game.

    Args:
        folder: the folder.
        results: game by game.
        together: the standings over all matches.
        models: what the answers of language models came to, by name.
        about: how the results were made (see `provenance`).

    Returns:
        the path of ``index.html``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    parts = [_html("All games", over_all(results, together), OVER_ALL)] if len(results) > 1 else []
    for result in results:
        parts.append(_html(result.title, by_agent(result.standings.lines()), PAYOFF))
        below = facts({"payoffs in": result.game.payoffs.reward_name, "options": result.game.options})
        if result.samples is not None:
            file = f"{result.game.name}.html"
            replay = page(moments(result.samples), f"{result.game.id}: first matches", about=about)
            (folder / file).write_text(replay, "utf-8")
            below += f'<a href="{file}">The first matches of {escape(result.game.name)}, move by move</a>'
        parts.append(f"<section>{below}</section>")
    if models:
        parts.append(_html("Language models", columns({name: each.row() for name, each in models.items()})))
    index = folder / "index.html"
    index.write_text(document("Results of the arena", "".join(parts), about), "utf-8")
    return index


def _html(caption: str, columns: Columns, ranks: str | None = None) -> str:
    heads, rows = columns
    meanings = MEANINGS | {
        head: f"the rating in {head}" for head in heads[1:] if ranks == OVER_ALL and head not in MEANINGS
    }
    return table(caption, heads, [[escape(cell) for cell in row] for row in rows], ranks, MODEL_COLUMNS | meanings)
