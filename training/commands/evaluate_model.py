"""`parlour evaluate model`: a language model, round by round, so that an endpoint that fails loses nothing."""

import json
import sys
from typing import Any

import numpy as np

from ...envs import Game
from ...envs.core.options import whole
from ...envs.core.rng import streams
from ...wrappers.agents.as_policy import AgentsAsPolicy
from ...wrappers.agents.model_calls import ModelError
from ..evaluation.duplicate import unit_per_game
from ..evaluation.reference import play, roles
from ..evaluation.scores import Score, score_table
from ..terminal.console import Console
from ..terminal.match import model_table
from ..terminal.progress import counting_bar
from .arguments import GameArguments, PromptArguments, ReportArguments
from .lookup import LLM, game_of, needed, policy, rivals, seated_model
from .stopping import TRY_AGAIN, interruptible

ROUND = 2
"""Deals that are played before the next ones begin."""


def command(
    chosen: GameArguments,
    *,
    seats: int | None = None,
    against: tuple[str, ...] = (),
    deals: int = 20,
    parallel: int = 4,
    asked: PromptArguments,
    report: ReportArguments,
) -> None:
    """Measure a language model against opponents, each of which has all other seats; count its wrong answers.

    Args:
        seats: Number of seats. Default: that of the game's preset.
        against: Opponents: bots, runs or policy files. Default: every bot that can play the game.
        deals: Deals per opponent, each played once in every seat, or for every team.
        parallel: Requests to the model at the same time.
    """
    if deals < ROUND:
        raise ValueError(f"deals={deals}: an interval needs at least {ROUND}")
    whole("parallel", parallel, 1)
    game = game_of(LLM, chosen.game, chosen.options, seats)
    player = seated_model(needed(asked.language_model([LLM])), game, asked.prompting(), parallel)
    names = against or rivals(game)
    others = [policy(name, game, report.seed + number) for number, name in enumerate(names, 1)]
    results = np.zeros((len(others), 0, len(roles(game))))
    seeds, problem = streams(report.seed, deals).tolist(), None
    with counting_bar("evaluate", deals) as bar, interruptible():
        try:
            for start in range(0, deals, ROUND):
                more, _ = play(player, game, others, seeds[start : start + ROUND])
                results = np.concatenate([results, more], axis=1)
                bar(more.shape[1])
        except (ModelError, KeyboardInterrupt) as error:
            problem = str(error) or "stopped"
    _report(game, dict(zip(names, results, strict=True)), player, {**asked.facts(), "seed": report.seed}, report)
    if problem is not None:
        print(f"parlour evaluate model: {problem}; {results.shape[1]} of {deals} deals were played", file=sys.stderr)
        raise SystemExit(TRY_AGAIN)


def _report(
    game: Game, results: dict[str, Any], player: AgentsAsPolicy, about: dict[str, Any], report: ReportArguments
) -> None:
    """Print the mean against each opponent, and what the answers came to, seat by seat."""
    unit = unit_per_game(game) if game.capabilities.teams is None else "share of the matches won"
    scores = {name: Score.of(one.mean(axis=1), unit, one.size) for name, one in results.items() if len(one) >= ROUND}
    models = {agent: one for agent, one in zip(game.agents, player.statistics, strict=True) if one.decisions}
    if report.as_json:
        rows = [{"against": name, **score.to_dict()} for name, score in scores.items()]
        record = {"policy": LLM, "game": game.id, "options": dict(game.options), **about}
        print(
            json.dumps(
                {**record, "results": rows, "counts": {agent: one.row() for agent, one in models.items()}}, indent=2
            )
        )
        return
    if scores:
        Console().print(score_table(scores, f"{about['model']} at {game.name}, {game.seats} seats"))
    if models:
        Console().print(model_table(models))
