"""Specifics: the parts that only some games have in training and evaluation."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ...envs import Game
from ...envs.core.record import Tables
from ...envs.core.rollout import Policy
from ...wrappers.agents.base import Agent
from ...wrappers.agents.search import Planning
from ...wrappers.logs.match_log import MatchLog
from ..evaluation.comparison import Comparison
from ..evaluation.scores import Score
from ..learning.dagger import Expert

Progress = Callable[[int], None]
"""Called with the number of games just played."""


class Compare(Protocol):
    """Sets a policy beside the closed form of its game."""

    def __call__(self, policy: Policy, game: Game, *, matches: int, seed: int) -> Comparison | None:
        """Play `matches` with `policy` in all seats. None: there is no closed form for the game's options."""
        ...


class BestResponse(Protocol):
    """Bounds from below how exploitable a policy is."""

    def __call__(self, policy: Policy, game: Game, *, hands: int, seed: int, progress: Progress | None = None) -> Score:
        """Return what an opponent wins who knows the policy.

        Raises:
            ValueError: for options of the game that it does not play, or too few hands.
        """
        ...


class MakeTable(Protocol):
    """Makes a table in the browser."""

    def __call__(
        self,
        game: Game,
        given: Mapping[str, Any],
        players: Sequence[tuple[str, Agent] | None],
        *,
        hands: int | None,
        log: MatchLog | None,
        **common: Any,
    ) -> Any:
        """Return an async context manager with a `url`.

        Args:
            game: with its options.
            given: the options that were given.
            players: by seat, a name and who plays; None: a person.
            hands: hands after which the table ends and another opens; None: no limit.
            log: where everything is written.
            common: what every table has: timeout, seed, address, port, names, access_token.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class HeldOut:
    """Situations that no training has seen.

    Attributes:
        sets: ``sets(game)`` returns the options that give each set, by the set's name, for a game with its options.
        score: ``score(game, policy, games=…, seed=…, progress=…)`` plays at least so many games of a set with the
            policy in all seats and returns its results by name: scores with intervals, and plain means.
        planning: the game's part of a search, for a game with its options.
    """

    sets: Callable[[Game], Mapping[str, Mapping[str, Any]]]
    score: Callable[..., dict[str, Score | float]]
    planning: Callable[[Game], Planning]


@dataclass(frozen=True, kw_only=True)
class TeamFacts:
    """What is counted of finished matches between teams.

    Attributes:
        match: ``match(tables)``: means over all matches, by name.
        habits: ``habits(tables, team)``: how a team, by its name, has played, as shares by name.
    """

    match: Callable[[Tables], dict[str, float]]
    habits: Callable[[Tables, str], dict[str, float]]


@dataclass(frozen=True, kw_only=True)
class Specifics:
    """What is special to a game; each part may be missing.

    Attributes:
        compare: sets a policy beside theory.
        best_response: bounds a policy's exploitability.
        held_out: situations that no training has seen.
        team_facts: what is counted of matches between teams.
        experts: who can be a teacher beside the bots, by name: ``experts[name](game, encoder, count)`` makes an expert
            for `count` tables, where the learner has the observations of `encoder`.
        table: serves people in the browser in a way of its own.
    """

    compare: Compare | None = None
    best_response: BestResponse | None = None
    held_out: HeldOut | None = None
    team_facts: TeamFacts | None = None
    experts: Mapping[str, Callable[[Game, str, int], Expert]] = field(default_factory=dict)
    table: MakeTable | None = None
