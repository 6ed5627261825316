"""Results of an arena's matches: means with intervals, deals, efficiency and ratings."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

import numpy as np

from ....envs.core.turn_state import TurnState

DEALS = {"agreement": True, "auction_resolved": True, "max_rounds_exceeded": False, "no_sale": False}
"""Whether an outcome's reason is a deal. Other reasons say nothing about it."""
MOST_AGENTS = 10_000
"""The most agents in the standings."""


@dataclass
class ArenaResult:
    """One match.

    Attributes:
        match_id, game_id: the ids of the match and of its game.
        agent_ids: the agents, seat by seat.
        payoffs: the payoffs by agent.
        reason: why it ended; ``"error"`` after an error of the host, which `error` describes.
        actions: number of game actions.
        rejected, failed, forced: by agent, the numbers of refused answers, failures and safe actions.
        deal: whether there was a deal; None if the game has no deals, or none was possible.
        efficiency: the realised share of the possible surplus (bargaining), or the winner's valuation as a share of the
            highest (auction); None if the outcome does not show it.
    """

    match_id: str
    game_id: str
    agent_ids: list[str]
    payoffs: dict[str, float]
    reason: str
    error: str | None = None
    actions: int = 0
    rejected: dict[str, int] = field(default_factory=dict)
    failed: dict[str, int] = field(default_factory=dict)
    forced: dict[str, int] = field(default_factory=dict)
    deal: bool | None = None
    efficiency: float | None = None


def assess(states: Sequence[TurnState], outcome: Mapping[str, Any]) -> tuple[bool | None, float | None]:
    """Return deal and efficiency of a finished match (see `ArenaResult`) from what each seat sees at its end."""
    deal = DEALS.get(str(outcome.get("reason")))
    if deal is None:
        return None, None
    games = [state.game_state for state in states]
    if all("my_reservation_value" in game and ("total" in game or "my_preferences" in game) for game in games):
        surplus = _surplus(games)
        if surplus <= 0:
            return (True, None) if deal else (None, None)
        won = sum(row["utility"] for row in outcome["payoffs"])
        return deal, won / surplus if deal else 0.0
    if all("my_valuation" in game and "values" not in game for game in games):
        values = {state.agent_id: game["my_valuation"] for state, game in zip(states, games, strict=True)}
        highest = max(values.values())
        return deal, None if highest <= 0 else values.get(str(outcome.get("winner")), 0.0) / highest
    return deal, None


def _surplus(games: Sequence[Mapping[str, Any]]) -> float:
    """Return the largest joint gain of a negotiation in which no agent loses; 0: there is none."""
    least = [float(game["my_reservation_value"]) for game in games]
    if "total" in games[0]:
        return max(float(games[0]["total"]) - sum(least), 0.0)
    gains = []
    for game, own in zip(games, least, strict=True):
        worth: Any = np.zeros(1)
        for values in game["my_preferences"].values():
            worth = np.add.outer(worth, values).ravel()
        gains.append(worth - own)
    acceptable = np.min(gains, axis=0) >= 0
    return float(np.sum(gains, axis=0)[acceptable].max(initial=0.0))


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
        self._totals: dict[str, _Totals] = {}
        self._model = rating_model()
        self._ratings: dict[str, Any] = {}

    def add(self, result: ArenaResult) -> None:
        """Count a match."""
        self.matches += 1
        for agent in result.agent_ids:
            self._totals[agent] = totals = self._totals.pop(agent, None) or _Totals()  # the latest one is the last
            totals.add(agent, result)
        if self._model is not None and len(result.agent_ids) > 1:
            teams = [[self._ratings.get(agent) or self._model.rating(name=agent)] for agent in result.agent_ids]
            rated = self._model.rate(teams, ranks=places([result.payoffs[agent] for agent in result.agent_ids]))
            self._ratings.update({agent: team[0] for agent, team in zip(result.agent_ids, rated, strict=True)})
        while len(self._totals) > MOST_AGENTS:
            oldest = next(iter(self._totals))
            del self._totals[oldest]
            self._ratings.pop(oldest, None)

    def lines(self) -> list[ArenaStanding]:
        """Return a line per agent, the best mean first. The interval is the normal one over matches."""
        lines = [totals.standing(agent, self._ratings.get(agent)) for agent, totals in self._totals.items()]
        return sorted(lines, key=lambda line: -line.mean)


class _Totals:
    """The sums of one agent's matches."""

    def __init__(self) -> None:
        self.matches = 0
        self.mean = 0.0
        self.squares = 0.0  # sum of squared differences from the mean (Welford)
        self.deals, self.efficiency = _Mean(), _Mean()
        self.counts: Counter[str] = Counter()

    def add(self, agent: str, result: ArenaResult) -> None:
        self.matches += 1
        difference = result.payoffs[agent] - self.mean
        self.mean += difference / self.matches
        self.squares += difference * (result.payoffs[agent] - self.mean)
        self.deals.add(result.deal)
        self.efficiency.add(result.efficiency)
        for kind in ("rejected", "failed", "forced"):
            self.counts[kind] += getattr(result, kind).get(agent, 0)

    def standing(self, agent: str, rating: Any) -> ArenaStanding:
        half = None
        if self.matches > 1:
            half = 1.96 * sqrt(self.squares / (self.matches - 1) / self.matches)
        return ArenaStanding(
            agent_id=agent,
            matches=self.matches,
            mean=self.mean,
            low=None if half is None else self.mean - half,
            high=None if half is None else self.mean + half,
            deals=self.deals.value,
            efficiency=self.efficiency.value,
            rating=None if rating is None else rating.mu,
            deviation=None if rating is None else rating.sigma,
            rejected=self.counts["rejected"],
            failed=self.counts["failed"],
            forced=self.counts["forced"],
        )


class _Mean:
    """The mean of the values that are not None."""

    def __init__(self) -> None:
        self.count, self.sum = 0, 0.0

    def add(self, value: float | None) -> None:
        if value is not None:
            self.count += 1
            self.sum += value

    @property
    def value(self) -> float | None:
        return self.sum / self.count if self.count else None


def places(payoffs: Sequence[float]) -> list[int]:
    """Return each player's place, from 0 for the highest payoff; equal payoffs share a place.

    Ratings use places because openskill 6.0 treats equal floats as different.
    """
    return [sum(other > payoff for other in payoffs) for payoff in payoffs]


def rating_model() -> Any:
    """Return openskill's Plackett-Luce model; None without the package."""
    try:
        from openskill.models import PlackettLuce
    except ImportError:
        return None
    return PlackettLuce()
