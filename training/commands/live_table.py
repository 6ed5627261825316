"""A player at a live table that has other options: what a policy was trained for, or what a language model is told."""

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ...envs import game as make_game
from ...envs.core.turn_state import TurnState
from ...wrappers.agents.llm import LLMAgent, statistics_of
from ...wrappers.agents.model_calls import ModelStatistics
from ...wrappers.agents.policy import PolicyAgent
from ...wrappers.live.common.agent_turn import AgentStatistics
from ...wrappers.logs.log_text import describe_error
from ...wrappers.policies.base import LearnedPolicy
from ..runs.config import platform_presets, preset_options

logger = logging.getLogger(__name__)

Differences = Callable[[Mapping[str, Any], TurnState, bool], dict[str, Any]]


def watch_table(spec: str, player: Any) -> None:
    """Compare the options that an agent knows with those of its table, turn by turn.

    For a trained one a difference is a warning, once; a language model is told the rules with the table's options.

    Args:
        spec: the agent's name.
        player: the agent; others are ignored.
    """
    if isinstance(player, LLMAgent) and player.game is not None and player.game.capabilities.shown_options is not None:
        player.on_turn = _Rules(player, player.game.capabilities.shown_options.differences)
    if not isinstance(player, PolicyAgent) or not isinstance(player.policy, LearnedPolicy):
        return
    shown = player.game.capabilities.shown_options
    if player.policy.trained_for is not None and shown is not None:
        player.on_turn = _Watch(spec, player, shown.differences)


def counts_of(spec: str, player: Any, turns: AgentStatistics) -> Callable[[], dict[str, ModelStatistics]]:
    """Return a function that returns what the answers of a player came to, by its name; empty if it is no model.

    Its turns are counted as the program counts them, so with those for which it was not asked, or was late.
    """
    models = statistics_of({spec: player})
    return lambda: {
        name: replace(one, decisions=turns.decisions, replaced=turns.replaced) for name, one in models.items()
    }


class _Watch:
    """Compares at every turn until there was a difference: further players may come later."""

    def __init__(self, spec: str, player: PolicyAgent, compare: Differences) -> None:
        self._spec = spec
        self._player = player
        self._compare = compare
        self._first = True

    def __call__(self, state: TurnState) -> None:
        """Compare the options with those that a state shows."""
        game, first = self._player.game, self._first
        self._first = False
        try:
            differences = self._compare(game.options, state, first)
        except (KeyError, TypeError, ValueError) as error:  # the turn must be played all the same
            self._player.on_turn = None
            logger.warning("%s: the options of the table cannot be read: %s", self._spec, describe_error(error))
            return
        if differences:
            self._player.on_turn = None
            trained = _as_options({name: game.options[name] for name in differences})
            remedy = remedy_for(game.name, differences, lambda options: self._compare(options, state, first))
            line = "%s was trained with %s, and this table has %s; it plays better after: %s"
            logger.warning(line, self._spec, trained, _as_options(differences), remedy)


class _Rules:
    """Tells a language model the rules with the options that a table shows."""

    def __init__(self, player: LLMAgent, compare: Differences) -> None:
        self._player = player
        self._compare = compare
        self._match: str | None = None

    def __call__(self, state: TurnState) -> None:
        """Compare the options with those that a state shows."""
        game, first = self._player.game, state.match_id != self._match
        assert game is not None
        self._match = state.match_id
        try:
            if differences := self._compare(game.options, state, first):
                own = make_game(game.name, **{**game.options, **differences})
                self._player.prompting = replace(self._player.prompting, game=own)
        except (KeyError, TypeError, ValueError) as error:  # the turn must be played all the same
            self._player.on_turn = None
            logger.warning("the rules are told without the table's options: %s", describe_error(error))


def remedy_for(game: str, found: Mapping[str, Any], compare: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> str:
    """Return the command that trains for a table: for a platform that has its options, or with the options.

    Args:
        game: the game's name.
        found: the options that differ, with the table's values.
        compare: returns which of the options given to it differ.
    """
    for platform in platform_presets():
        if platform.game == game:
            options = make_game(game, **preset_options(platform.preset)).options
            if not compare(options):
                return platform.command
    return f"parlour train {game} --options {_as_options(found, ' ')}"


def _as_options(options: Mapping[str, Any], between: str = ", ") -> str:
    return between.join(f"{name}={json.dumps(value).replace(' ', '')}" for name, value in options.items())
