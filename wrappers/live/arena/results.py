"""Results of an arena's matches: means with intervals, deals, efficiency and ratings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

from ....envs.core.turn_state import TurnState

DEALS = {"agreement": True, "auction_resolved": True, "max_rounds_exceeded": False}
"""Whether an outcome's reason is a deal. Other reasons say nothing about it."""


@dataclass
class ArenaResult:
    """One match.

    Attributes:
        match_id, game_id: of the match.
        agent_ids: seat by seat.
        payoffs: by agent.
        reason: why it ended; ``"error"`` where a mistake ended it, which `error` describes.
        actions: game actions.
        rejected, failed, forced: by agent: answers refused, failures, safe actions played in its place.
        deal: whether there was a deal; None where the game knows none, or none was possible.
        efficiency: the share of the possible surplus that was realised (bargaining), or the winner's valuation as a
            share of the highest (auction); None where the outcome does not show it.
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
    if all("my_reservation_value" in game and "total" in game for game in games):
        surplus = games[0]["total"] - sum(game["my_reservation_value"] for game in games)
        if surplus <= 0:
            return (True, None) if deal else (None, None)
        won = sum(row["utility"] for row in outcome["payoffs"])
        return deal, won / surplus if deal else 0.0
    if all("my_valuation" in game for game in games):
        values = {state.agent_id: game["my_valuation"] for state, game in zip(states, games, strict=True)}
        highest = max(values.values())
        return deal, None if highest <= 0 else values.get(str(outcome.get("winner")), 0.0) / highest
    return deal, None


@dataclass
class ArenaStanding:
    """The results of one agent.

    Attributes:
        agent_id: who.
        matches: how many it played.
        mean, low, high: payoff per match with its 95 % interval (None with fewer than 2 matches).
        deals: share of matches with a deal among those where one was possible; None: not known.
        efficiency: mean over its matches, where known.
        rating, deviation: openskill's Plackett-Luce rating; None without the package.
        rejected, failed, forced: its answers refused, failures, safe actions played in its place.
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


def standings(results: Sequence[ArenaResult]) -> list[ArenaStanding]:
    """Return a line per agent, the best mean first. The interval is the normal one over matches."""
    ratings = rate(results)
    mine: dict[str, list[ArenaResult]] = {}
    for result in results:
        for agent in result.agent_ids:
            mine.setdefault(agent, []).append(result)
    lines = [_standing(agent, played, ratings.get(agent)) for agent, played in mine.items()]
    return sorted(lines, key=lambda line: -line.mean)


def _standing(agent: str, played: Sequence[ArenaResult], rating: tuple[float, float] | None) -> ArenaStanding:
    won = [result.payoffs[agent] for result in played]
    mean, half = sum(won) / len(won), None
    if len(won) > 1:
        half = 1.96 * sqrt(sum((each - mean) ** 2 for each in won) / (len(won) - 1) / len(won))
    return ArenaStanding(
        agent,
        len(won),
        mean,
        None if half is None else mean - half,
        None if half is None else mean + half,
        _mean([float(result.deal) for result in played if result.deal is not None]),
        _mean([result.efficiency for result in played if result.efficiency is not None]),
        None if rating is None else rating[0],
        None if rating is None else rating[1],
        *(sum(getattr(result, kind).get(agent, 0) for result in played) for kind in ("rejected", "failed", "forced")),
    )


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def rate(results: Sequence[ArenaResult]) -> dict[str, tuple[float, float]]:
    """Return every agent's rating and its deviation, match after match in order; nothing without `openskill`."""
    try:
        from openskill.models import PlackettLuce
    except ImportError:
        return {}
    model = PlackettLuce()
    ratings: dict[str, Any] = {}
    for result in results:
        teams = [[ratings.setdefault(agent, model.rating(name=agent))] for agent in result.agent_ids]
        rated = model.rate(teams, scores=[result.payoffs[agent] for agent in result.agent_ids])
        ratings.update({agent: team[0] for agent, team in zip(result.agent_ids, rated, strict=True)})
    return {agent: (rating.mu, rating.sigma) for agent, rating in ratings.items()}
