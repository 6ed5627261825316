"""`parlour evaluate model`, `exploit-model` and `export`: language models as players, and data for their training."""

import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import msgspec
import numpy as np
from cyclopts import Parameter
from cyclopts.types import NonNegativeInt, PositiveInt
from cyclopts.validators import Number

from ...wrappers.agents.language_model import ModelError, ModelStatistics
from ..evaluation.duplicate import score_table, unit_per_game
from ..evaluation.exact import flat_tree
from ..learning.run_folder import locked
from ..models.data_set import Values, card_of, lines_of
from ..models.exploitability import AnswerFile, Survey, answered, begun, best_lines, worth
from ..models.reference import Answered, Games, roles, score, unit_of
from ..parallel.tasks import interruptible
from ..terminal.console import counting_bar, table_of
from ..terminal.match import model_table
from .arguments import AtLeast2, GameArguments, PromptArguments, ReportArguments, ViewArguments
from .lookup import LLM, agents_as, game_of, needed, of_the_zoo, policy, require_opponents, rivals, seated_model
from .supervisor import TRY_AGAIN, until_done

LINES = 10
"""Lines of the best response that are printed: those where it wins most."""
ROUND = 2
"""The fewest deals of an interval."""


def evaluate_model(
    chosen: GameArguments,
    *,
    seats: int | None = None,
    against: tuple[str, ...] = (),
    deals: AtLeast2 = 20,
    parallel: PositiveInt = 4,
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
    game = game_of(LLM, chosen.game, chosen.options, seats)
    prices = needed(asked.language_model([LLM])).prices
    player = seated_model(partial(agents_as(asked, [LLM]), LLM, game, None), game, parallel)
    names, models = against or rivals(game), {name: ModelStatistics() for name in game.agents}

    def answered(answer: Answered) -> None:
        models[game.agents[answer.seat]].count(answer.call, prices)

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
    each = {name: score(results[[number]], unit_of(game)) for number, name in enumerate(names)}
    scores = {name: one for name, one in each.items() if one.deals >= ROUND}
    models = {agent: one for agent, one in models.items() if one.decisions}
    record = {"policy": LLM, "game": game.id, "options": dict(game.options), **asked.facts(), "seed": report.seed}
    record["results"] = [{"against": name, **one.to_dict()} for name, one in scores.items()]
    record["counts"] = {agent: one.row() for agent, one in models.items()}
    title = f"{asked.model} at {game.name}, {game.seats} seats"
    tables = [*([score_table(scores, title)] if scores else []), *([model_table(models)] if models else [])]
    report.show(record, *tables)
    if problem is not None:
        print(f"parlour evaluate model: {problem}; {games.deals} of {deals} deals were played", file=sys.stderr)
        raise SystemExit(TRY_AGAIN)


@dataclass(frozen=True, kw_only=True)
class SurveyArguments:
    """How the model's probabilities are measured."""

    samples: PositiveInt | None = None
    """Answers at each information set, asked as in play. Default: log-probabilities of lettered answers, one request
    at each set; without them 20 answers as in play (1 at temperature 0)."""
    most_sets: PositiveInt | None = None
    """Ask at so many information sets, the earliest of the game; at all others the model counts as random. Default: at
    all."""
    parallel: PositiveInt = 4
    """Requests at the same time."""
    answers: Path | None = None
    """File in which the answers are kept, as JSON Lines; what it holds is not asked again. Default: the names of the
    model and the game with .jsonl."""


def exploit_model(
    chosen: GameArguments,
    *,
    seats: int | None = None,
    asked: PromptArguments,
    measured: SurveyArguments,
    report: ReportArguments,
) -> None:
    """Measure what a language model's play is worth: its probabilities at every information set, and NashConv.

    It is for games whose tree can be walked, such as kuhn and leduc. An answer that is no legal action counts as the
    game's safe action, as in play. The model does not talk. Ctrl-C loses nothing: the same command goes on.

    Args:
        seats: Number of seats. Default: that of the game's preset.
    """
    game = game_of(LLM, chosen.game, chosen.options, seats)
    require_opponents(game)
    if game.capabilities.teams is not None:
        raise ValueError(f"{game.name} is a game of teams: NashConv is about single seats")
    model, prompting = needed(asked.language_model([LLM])), asked.prompting()(game=game)
    survey = Survey(tree=flat_tree(game), model=model, prompting=prompting, lettered=False, most=measured.most_sets)
    name = re.sub(r"[^\w.-]+", "-", model.name)
    file = measured.answers or Path(f"{name}-{game.name}.jsonl")
    file.parent.mkdir(parents=True, exist_ok=True)
    with locked(file), AnswerFile(file) as answers:
        if answers.unread:
            print(f"{answers.path}: {answers.unread} lines are no answers", file=sys.stderr)
        began = perf_counter()
        survey = _asked(survey, measured, answers)
        seconds = perf_counter() - began
        facts = {**asked.facts(), **worth(survey, answers, report.seed), **answered(survey, answers, seconds)}
    facts["best_response"] = best_lines(survey, answers, LINES)
    report.show(facts, *_shown(facts))


def _asked(survey: Survey, measured: SurveyArguments, answers: AnswerFile) -> Survey:
    """Ask what is missing, and return the survey as it was done; what ends it early is a sentence on stderr."""

    async def ask() -> None:
        nonlocal survey
        survey = await begun(survey, measured.samples, answers)
        different = len({question.id for question in survey.questions})  # sets may have the same prompt
        with counting_bar("ask", different) as bar:
            bar(different - len(set(survey.missing(answers))))
            await survey.ask(answers, measured.parallel, bar)

    try:
        until_done(ask())
    except (ModelError, KeyboardInterrupt, SystemExit) as error:
        done = sum(survey.is_answered(number, answers) for number in range(len(survey.questions)))
        kept = f"{done} of {len(survey.questions)} information sets are measured, in {answers.path}"
        why = f"{error}; " if isinstance(error, ModelError) else ""
        print(f"parlour evaluate exploit: {why}{kept}; the same command asks for the rest", file=sys.stderr)
        if isinstance(error, ModelError):
            raise SystemExit(TRY_AGAIN) from None
        raise
    return survey


def _shown(facts: Mapping[str, Any]) -> list[Any]:
    """Return the facts as tables and sentences."""
    ends = facts["interval"]
    rows = [["NashConv", f"{facts['nash_conv']:.4f}" + (f" [{ends[0]:.4f}, {ends[1]:.4f}]" if ends else "")]]
    rows += [[f"a best response wins more as {agent}", f"{gain:.4f}"] for agent, gain in facts["gains"].items()]
    rows.append(["an exact best response wins from it", f"{facts['wins']:+.4f}"])
    if (against := facts["against_equilibrium"]) is not None:
        for agent, won in against["wins"].items():
            value = against["values"][agent]
            rows.append([f"as {agent} against an equilibrium", f"{won:+.4f} (value {value:+.4f})"])
    rows.append(["answers that are no legal action", f"{facts['illegal']:.1%}"])
    rows += [[f"{fault}, corrected ones included", f"{count:,}"] for fault, count in facts["faults"].items()]
    rows += [
        ["requests", f"{facts['requests']:,}, {facts['seconds_per_request']:.2f} s each"],
        ["tokens in, out", f"{facts['tokens_in']:,}, {facts['tokens_out']:,}"],
        ["cost", f"{facts['cost']:.4g}"],
        ["time of this run", f"{facts['seconds']:.1f} s"],
    ]
    table = table_of(["", ""], rows, f"{facts['model']}, {facts['game']} ({facts['unit']})", texts=2)
    table.show_header = False
    lines = []
    for row in facts["best_response"]:
        model = ", ".join(f"{action} {share:.0%}" for action, share in row["model"].items())
        lines.append([row["agent"], " ".join(row["sees"].split()), row["best"], model, f"{row['wins']:+.4f}"])
    heads = ["seat", "it sees", "best response", "model", "wins"]
    worst = [table_of(heads, lines, "where a best response wins most", texts=5)] if lines else []
    return [table, *worst, *_remarks(facts)]


def _remarks(facts: Mapping[str, Any]) -> list[str]:
    sampled, asked, sets = facts["sampled_sets"], facts["asked_sets"], facts["information_sets"]
    how = {
        "lettered": "every legal action had a letter, and the log-probabilities of the letters are the model's play",
        "as in play": f"asked as in play, {facts['samples']} times at each information set",
    }
    lines = [how[facts["asked"]]]
    if sampled and facts["asked"] == "lettered":
        lines.append(
            f"the endpoint gave no log-probabilities at {sampled} of {asked} information sets: {facts['samples']} "
            "letters were sampled there"
        )
    if facts["interval"]:
        lines.append(
            "[ ]: 95 % interval, by drawing the samples again (bootstrap); its lower end is counted from responses to "
            "one half of the samples against the other, because NashConv of few samples is too high on average"
        )
    if asked < sets:
        lines.append(
            f"only the {asked} earliest of {sets} information sets were asked: the figures are those of a player that "
            "plays as the model there and at random at all others, and no bound for the model"
        )
    if facts["rounded"]:
        lines.append(f"{facts['rounded']} answers lie between the actions of the tree and count as the nearest one")
    lines.append(f"the answers are in {facts['answers']}; what it holds is not asked again")
    return lines


@dataclass(frozen=True, kw_only=True)
class ExportArguments:
    """What is exported."""

    decisions: PositiveInt = 1_000
    """Number of decisions, one line each."""
    policy: str | None = None
    """The policy that plays all seats, and whose values they are. Default: the zoo's."""
    explore: Annotated[float, Parameter(validator=Number(gte=0, lte=1))] = 0.2
    """Share of random decisions of the seat whose decisions are written, so that there are states that the policy
    avoids. The answers are the policy's own."""
    rollouts: PositiveInt = 32
    """Episodes for each action, in a game whose tree is too large for exact values."""
    seed: NonNegativeInt = 0
    """Seed of the episodes."""
    out: Path | None = None
    """File of JSON Lines; the card stands beside it. Default: the game's name with .jsonl."""


def export(chosen: GameArguments, *, exported: ExportArguments, shown: ViewArguments) -> None:
    """Write a data set for language models: decisions as conversations, with the values of all legal actions.

    A line has the prompt that a model gets in play, the policy's answer, and for every legal action its text, its value
    and the policy's probability. The value is the seat's return from there on if all seats play by the policy
    afterwards: exact in games whose tree can be walked, where the zoo's policy is an equilibrium, else the mean of
    rollouts from the true state. A Croissant card describes the file. The same seed writes the same file.
    """
    game = game_of("random", chosen.game, chosen.options)
    spec = exported.policy or next(iter(of_the_zoo(game)), None)
    if spec is None:
        raise ValueError(f"the zoo has no policy for {game.id} with these options: name one with --policy")
    if shown.conversation:
        raise ValueError("--conversation: every line is a decision by itself")
    out = exported.out or Path(f"{game.name}.jsonl")
    out.parent.mkdir(parents=True, exist_ok=True)
    player = policy(spec, game, exported.seed)
    values = Values(player, game, exported.rollouts)
    digest, prompting = sha256(), shown.prompting()(game=game)
    lines = lines_of(game, player, values, prompting, explore=exported.explore, seed=exported.seed)
    with out.open("wb") as file, counting_bar("export", exported.decisions) as bar:
        for line in islice(lines, exported.decisions):
            text = msgspec.json.encode(line) + b"\n"
            file.write(text)
            digest.update(text)
            bar(1)
    card = out.with_suffix(".croissant.json")
    about = f"{exported.decisions:,} decisions of {spec} in {game.id} ({unit_per_game(game)}), seed {exported.seed}."
    facts = card_of(game, out.name, digest.hexdigest(), f"{about} {values.about}")
    card.write_text(json.dumps(facts, indent=2), "utf-8")
    print(f"written: {out} ({exported.decisions:,} decisions, values: {values.source}), {card}")
