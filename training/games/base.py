"""Specifics: the parts that only some games have in training and evaluation."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...envs import Game
from ...envs.core.record import Tables
from ...envs.core.rollout import Policy
from ...envs.core.turn_state import TurnState
from ...wrappers.agents.base import Agent
from ...wrappers.logs.match_log import MatchLog
from ...wrappers.rl.self_play import ExpectedRewards
from ..evaluation.comparison import Comparison
from ..evaluation.scores import Response, Score
from ..learning.dagger import Expert

Progress = Callable[[int], None]
"""Called with the number of games just played."""


class Compare(Protocol):
    """Compares a policy with the known equilibrium of its game."""

    def __call__(self, policy: Policy, game: Game, *, matches: int, seed: int) -> Comparison | None:
        """Play `matches` with `policy` in all seats. None: no equilibrium is known for the game's options."""
        ...


class BestResponse(Protocol):
    """Computes a lower bound on the exploitability of a policy."""

    def __call__(
        self, policy: Policy, game: Game, *, hands: int, seed: int, progress: Progress | None = None
    ) -> Response:
        """Return the winnings of an opponent that knows the policy, per game in `Payoffs.unit`.

        Raises:
            ValueError: for options of the game that are not supported, or too few hands.
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
        rebuy: bool,
        log: MatchLog | None,
        **common: Any,
    ) -> Any:
        """Return an async context manager with a `url`.

        Args:
            game: the game with its options.
            given: the options that the user gave.
            players: by seat, a name and an agent; None: a person.
            hands: number of hands after which the table ends and a new one opens; None: no limit.
            rebuy: whether a poker player without chips gets a new stack.
            log: the match log; None: no log.
            common: arguments of every table: timeout, seed, address, port, names, access_token.
        """
        ...


class Searching(Protocol):
    """Makes a policy that searches before it acts."""

    def __call__(self, policy: Policy, game: Game, *, seed: int | None) -> Policy:
        """Return the policy with the search on top, without a time limit; `seed` is for what it draws.

        Raises:
            ValueError: if the search needs more of the policy, such as its probabilities.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class HeldOut:
    """Held-out sets, which are not used in training.

    Attributes:
        sets: ``sets(game)`` returns the options of each set, by the set's name, for a game with its options.
        score: ``score(game, policy, games=…, seed=…, progress=…)`` plays at least `games` games of a set with the
            policy in all seats and returns its results by name: scores with intervals, or plain means.
    """

    sets: Callable[[Game], Mapping[str, Mapping[str, Any]]]
    score: Callable[..., dict[str, Score | float]]


@dataclass(frozen=True, kw_only=True)
class TeamFacts:
    """Statistics of finished matches between teams.

    Attributes:
        match: ``match(tables)``: means over all matches, by name.
        habits: ``habits(tables, team)``: statistics of a team's play, as shares by name.
    """

    match: Callable[[Tables], dict[str, float]]
    habits: Callable[[Tables, str], dict[str, float]]


@dataclass(frozen=True, kw_only=True)
class Specifics:
    """The parts of training and evaluation that belong to one game; each part may be None.

    Attributes:
        compare: compares a policy with the known equilibrium.
        best_responses: compute lower bounds on a policy's exploitability, by the name of their setting; the last one
            is the usual one.
        held_out: sets that are not used in training.
        searching: puts a search on top of a policy.
        team_facts: statistics of matches between teams.
        experts: teachers besides the bots, by name: ``experts[name](game, encoder, count)`` makes an expert
            for `count` tables, for a learner with the observations of `encoder`.
        expected_rewards: ``expected_rewards(game, samples, seed)`` makes the function that replaces the rewards of
            episodes whose rest was only chance by their mean over at most `samples` random continuations.
        table: makes the table in the browser; None: the common one.
        without_luck: ``without_luck(game, tables, returns)``: the returns of finished episodes, float64[N, seats], with
            the same mean and less variance, such as equities in place of the cards that came.
        agents: agents of other libraries, by the prefix of their names, such as ``"negmas:"``: ``agents[prefix](rest)``
            makes the agent that the rest of a name stands for.
        differences: ``differences(options, state, first)``: the options that differ at a live table, with its values,
            as far as a player's TurnState shows them. `first`: it is the player's first turn there.
    """

    compare: Compare | None = None
    best_responses: Mapping[str, BestResponse] = field(default_factory=dict)
    held_out: HeldOut | None = None
    searching: Searching | None = None
    team_facts: TeamFacts | None = None
    experts: Mapping[str, Callable[[Game, str, int], Expert]] = field(default_factory=dict)
    expected_rewards: Callable[[Game, int, int], ExpectedRewards] | None = None
    table: MakeTable | None = None
    without_luck: Callable[[Game, Tables, NDArray[np.float64]], NDArray[np.float64]] | None = None
    agents: Mapping[str, Callable[[str], Agent]] = field(default_factory=dict)
    differences: Callable[[Mapping[str, Any], TurnState, bool], dict[str, Any]] | None = None
