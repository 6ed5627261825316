"""`parlour evaluate model`: a language model, round by round, so that an endpoint that fails loses nothing."""

import json
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...envs import Game
from ...envs.core.options import whole
from ...wrappers.agents.model_calls import ModelStatistics
from ..evaluation.meta_game import Floats
from ..evaluation.scores import score_table
from ..models.reference import Answered, Games, roles, score, unit_of
from ..terminal.console import Console
from ..terminal.match import model_table
from ..terminal.progress import counting_bar
from .arguments import GameArguments, PromptArguments, ReportArguments
from .lookup import LLM, game_of, needed, policy, rivals, seated_model
from .stopping import TRY_AGAIN, interruptible

ROUND = 2
"""The fewest deals of an interval."""


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
    model = needed(asked.language_model([LLM]))
    player = seated_model(model, game, asked.prompting(), parallel)
    names, models = against or rivals(game), {name: ModelStatistics() for name in game.agents}

    def answered(answer: Answered) -> None:
        models[game.agents[answer.seat]].count(answer.call, model.prices)

    results = np.full((len(names), deals, len(roles(game))), np.nan)
    faulty = np.zeros(results.shape, bool)
    games = Games(
        game, lambda _: player, lambda which, seed: policy(names[which], game, seed), results, faulty, report.seed,
        answered,
    )  # fmt: skip
    with counting_bar("evaluate", deals) as bar, interruptible():
        done = 0

        def played() -> None:
            nonlocal done
            bar(games.deals - done)
            done = games.deals

        try:
            problem = games.play(each=played)
            for answer in games.lost:
                answered(answer)
        except KeyboardInterrupt:
            problem = "stopped"
    _report(game, names, results, models, {**asked.facts(), "seed": report.seed}, report)
    if problem is not None:
        print(f"parlour evaluate model: {problem}; {games.deals} of {deals} deals were played", file=sys.stderr)
        raise SystemExit(TRY_AGAIN)


def _report(
    game: Game,
    names: Sequence[str],
    results: Floats,
    models: dict[str, ModelStatistics],
    about: dict[str, Any],
    report: ReportArguments,
) -> None:
    """Print the mean against each opponent, and what the answers came to, seat by seat."""
    each = {name: score(results[[number]], unit_of(game)) for number, name in enumerate(names)}
    scores = {name: one for name, one in each.items() if one.deals >= ROUND}
    models = {agent: one for agent, one in models.items() if one.decisions}
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
