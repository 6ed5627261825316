"""A player at a live table that has other options: what a policy was trained for, or what a language model is told."""

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
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
    game = getattr(player, "game", None)
    shown = None if game is None else game.capabilities.shown_options
    if shown is None:
        return
    if isinstance(player, LLMAgent):
        player.on_turn = _Comparison(spec, player, shown.differences, _show_rules)
    elif isinstance(player, PolicyAgent) and isinstance(player.policy, LearnedPolicy) and player.policy.trained_for:
        player.on_turn = _Comparison(spec, player, shown.differences, _warn)


def counts_of(spec: str, player: Any, turns: AgentStatistics) -> Callable[[], dict[str, ModelStatistics]]:
    """Return a function that returns what the answers of a player came to, by its name; empty if it is no model.

    Its turns are counted as the program counts them, so with those for which it was not asked, or was late.
    """
    models = statistics_of({spec: player})
    return lambda: {
        name: replace(one, decisions=turns.decisions, replaced=turns.replaced) for name, one in models.items()
    }


@dataclass
class _Comparison:
    """Compares the options at every turn, since further players may come later, and calls `differ` where they differ.

    `differ` has the comparison, the options that differ, and a function that returns which of other options differ.
    """

    spec: str
    player: Any
    compare: Differences
    differ: Callable[["_Comparison", dict[str, Any], Callable[[Mapping[str, Any]], dict[str, Any]]], None]
    match: str | None = None

    def __call__(self, state: TurnState) -> None:
        first = state.match_id != self.match
        self.match = state.match_id
        try:
            if differences := self.compare(self.player.game.options, state, first):
                self.differ(self, differences, lambda options: self.compare(options, state, first))
        except (KeyError, TypeError, ValueError) as error:  # the turn must be played all the same
            self.player.on_turn = None
            logger.warning("%s: the options of the table cannot be read: %s", self.spec, describe_error(error))


def _warn(at: _Comparison, differences: dict[str, Any], compare: Callable[[Mapping[str, Any]], Any]) -> None:
    """Warn once of a table with other options than the training."""
    game = at.player.game
    at.player.on_turn = None
    table = {name: value for name, value in differences.items() if game.options[name] != value}
    trained = _as_options({name: game.options[name] for name in table})
    line = "%s was trained with %s, and this table has %s; it plays better after: %s"
    logger.warning(line, at.spec, trained, _as_options(table), remedy_for(game.name, differences, compare))


def _show_rules(at: _Comparison, differences: dict[str, Any], _: object) -> None:
    """Give a language model the rules with the options of the table."""
    game = at.player.game
    own = make_game(game.name, **{**game.options, **differences})
    at.player.prompting = replace(at.player.prompting, game=own)


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
