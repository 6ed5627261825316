"""`parlour evaluate reference`, `model`, `exploit-model` and `export`: ratings, and language models as players."""

import json
import math
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from hashlib import sha256
from itertools import islice
from pathlib import Path
from statistics import fmean
from time import perf_counter
from typing import Annotated, Any

import msgspec
import numpy as np
from cyclopts import Parameter
from cyclopts.types import NonNegativeInt, PositiveFloat, PositiveInt
from cyclopts.validators import Number

from ...envs import Game, Policy
from ...envs.core.counted import counted
from ...envs.core.files import replacing
from ...wrappers.agents.language_model import ModelError, ModelStatistics
from ..evaluation.duplicate import score_table, unit_per_game
from ..evaluation.exact import Probable, flat_tree
from ..evaluation.exploit import exact_win, tree_of
from ..evaluation.pages import provenance
from ..learning.run_folder import locked
from ..models import reference as ratings
from ..models.data_set import Values, card_of, lines_of
from ..models.exploitability import AnswerFile, Survey, answered, begun, best_lines, worth
from ..parallel.tasks import interruptible
from ..terminal.console import Console, counting_bar, table_of, training_bar
from ..terminal.match import model_table
from .arguments import AtLeast2, GameArguments, PromptArguments, ReportArguments, ViewArguments
from .lookup import LLM, agents_as, game_of, needed, of_the_zoo, policy, require_opponents, rivals, seated_model
from .supervisor import TRY_AGAIN, until_done


def command(
    game: Annotated[str | None, Parameter(name="GAME")] = None,
    run: Annotated[str, Parameter(name="RUN")] = "",
    *,
    llm: PromptArguments,
    deals: AtLeast2 = 1_000,
    minutes: PositiveFloat = 10.0,
    parallel: PositiveInt = 4,
    name: str | None = None,
    pool: int | None = None,
    out: Path = Path("reference"),
    report: ReportArguments,
) -> None:
    """Rate a player against the reference opponents of a game: 0 is random play, 100 the best of these opponents.

    The opponents never change, so ratings of different days and people can be compared. All players get the same deals.
    The result is a JSON file with every deal in the folder --out. A language model is asked as at a table; its
    conversations are a file.
    Every few games the result is written: after Ctrl-C, or where an endpoint goes down, the same command goes on.

    Args:
        game: The game by name. Without it the leaderboards of the folder are printed.
        run: A run, a policy file, zoo:GAME or a bot. Default: the model of --model.
        deals: Deals, at least 2, each played in every role against every opponent, unless the time is over before.
            Below 10 there is no interval.
        minutes: Minutes after which nothing more is played or asked; what was played until then counts.
        parallel: Requests to a language model at the same time.
        name: The player's name in the results. Default: that of the run or the model.
        pool: Version of the opponents. Default: the latest.
        out: Folder of the results.
    """
    if game is None:
        if not out.is_dir():
            raise ValueError(f"there is no folder {out} with results: name a game and a player to rate")
        results = list[ratings.Result]()
        for file in sorted(out.glob("*.json")):
            try:
                results.append(ratings.read_result(file))
            except ValueError as error:
                print(f"parlour evaluate reference: left out: {error}", file=sys.stderr)
        boards = ratings.leaderboards(results)
        if report.as_json:
            print(json.dumps(boards, indent=2))
        for title, rows in () if report.as_json else boards.items():
            Console().print(table_of(list(rows[0]), [list(one.values()) for one in rows], title))
        return
    opponents = ratings.load_pool(game, pool)
    table = opponents.make_game()
    player, about = _player(run, table, llm, parallel, report.seed)
    about |= {"player": name or run or llm.model, "game": table.id, "seed": report.seed}
    about["pool"] = {"version": opponents.version, "digest": opponents.digest, "best": opponents.best}
    out.mkdir(parents=True, exist_ok=True)
    file = out / (re.sub(r"[^\w.-]+", "-", f"{table.name}-{about['player']}") + ".json")
    if llm.model is not None and not run:
        print(f"asking {llm.model} at {needed(llm.language_model([LLM])).where}", file=sys.stderr)
    with interruptible(), locked(file):
        facts, problem = _rated(opponents, table, player, about, file, llm.prices, deals, minutes)
    if facts and report.as_json:
        print(file.read_text("utf-8"))
    elif facts:
        _show(facts, deals, opponents)
        talks = f", {_conversations(file)}" if _conversations(file).exists() else ""
        Console().say(f"written: {file}{talks}")
    if problem is not None:
        games = counted(facts["return"]["games"], "games") if facts else ""
        kept = f"{games} are kept in {file}: the same command goes on" if games else "no games are kept"
        print(f"parlour evaluate reference: {problem}; {kept}", file=sys.stderr)
        raise SystemExit(TRY_AGAIN)


def _conversations(file: Path) -> Path:
    return file.with_suffix(".conversations.jsonl")


def _player(
    run: str, game: Game, llm: PromptArguments, parallel: int, seed: int
) -> tuple[Callable[[int], Policy], dict[str, Any]]:
    """Return what makes the player with a seed, and what the result says of it."""
    if not run and llm.model is None:
        raise ValueError("name a run, a policy file or a bot after the game, or a language model with --model NAME")
    if run in ("", LLM):
        model = seated_model(partial(agents_as(llm, [LLM]), LLM, game, seed), game, parallel)
        return lambda _: model, {"kind": "model", **llm.facts(), "exploitability": None}
    llm.language_model([run])  # refuses a model's options beside another player
    player, worth = policy(run, game, seed), None
    digest = ratings.digest_of(player, game)[:16]  # a run may be trained on, a bot may change
    if isinstance(player, Probable) and not hasattr(player, "act_on"):
        tree = tree_of(player, game)
        worth = None if tree is None else exact_win(tree, player).score.mean
    return partial(policy, run, game), {"kind": "policy", "run": run, "digest": digest, "exploitability": worth}


def _rated(
    pool: ratings.Pool,
    game: Game,
    player: Callable[[int], Policy],
    about: dict[str, Any],
    file: Path,
    prices: tuple[float, float],
    deals: int,
    minutes: float,
) -> tuple[dict[str, Any], str | None]:
    """Play what the file lacks, in the time, and write the file whenever games were played.

    Returns:
        The result as JSON, empty if no game was over; and what ended it early, None: nothing.

    Raises:
        ValueError: if the file holds another result.
    """
    began, facts, roles = time.monotonic(), dict[str, Any](), ratings.roles(game)
    statistics = {name: ModelStatistics() for name in game.agents}
    if file.exists():
        facts, same = ratings.read_result(file), json.loads(json.dumps(about))
        if other := [name for name, value in same.items() if facts.get(name) != value]:
            raise ValueError(
                f"{file} holds another result, with another {', '.join(other)}: give another --name or --out"
            )
        goes_on = "it goes on from there" if facts["deals"] < deals else f"no more are played with --deals {deals}"
        print(f"{file} has {facts['deals']} deals of this player: {goes_on} (--name or --out: anew)", file=sys.stderr)
        statistics |= {name: ModelStatistics.of(row) for name, row in facts["counts"].items()}
    else:
        _conversations(file).unlink(missing_ok=True)
    before, seconds = facts.get("deals", 0), facts.get("seconds", 0.0)
    results = np.full((len(pool.members), max(deals, before), len(roles)), math.nan)
    faulty = np.zeros(results.shape, bool)
    if before:
        results[:, :before] = np.array(facts["results"], np.float64)
        faulty[:, :before] = facts["faulty"] or False

    def answered(cell: ratings.Cell, calls: ratings.Calls) -> None:
        """Count the answers of a game, and write its conversations."""
        deal, which, role = cell
        with _conversations(file).open("a", encoding="utf-8") as kept:
            for seat, call in calls:
                statistics[game.agents[seat]].count(call, prices)
                line = {
                    **{"deal": deal, "against": pool.members[which].name, "role": roles[role]},
                    "agent": game.agents[seat],
                    "messages": [*call.prompt, {"role": "assistant", "content": call.text}],
                    **{"faults": call.faults, "replaced": call.problem},
                }
                kept.write(f"{json.dumps(line, ensure_ascii=False)}\n")

    opponents = [partial(member.player, game) for member in pool.members]
    games = ratings.Games(game, player, opponents, results, faulty, about["seed"], answered)

    def written() -> None:
        nonlocal facts
        begun = int(np.flatnonzero((~np.isnan(results)).any(axis=(0, 2))).max(initial=-1)) + 1
        numbers, model = np.round(results[:, :begun], 6).astype(object), about["kind"] == "model"
        numbers[np.isnan(results[:, :begun])] = None  # JSON's null
        facts = {
            **about,
            **provenance(),
            **{"options": dict(game.options), "deals": begun, "seconds": round(seconds + time.monotonic() - began, 1)},
            **ratings.rate(pool, game, results[:, :begun], faulty[:, :begun]),
            "counts": {name: one.row() for name, one in statistics.items()} if model else {},
            "results": numbers.tolist(),
            "faulty": faulty[:, :begun].astype(int).tolist() if model else [],
        }
        with replacing(file) as unfinished:  # if the process dies meanwhile, the old file stays
            unfinished.write_text(json.dumps(facts, default=list), "utf-8")

    with training_bar() as bar:
        task = bar.add_task("rate", total=1.0, note=lambda: f"{games.deals:,} of {counted(deals, 'deals')}")

        def played() -> None:
            # The share of the deals or of the time, whichever is nearer to its end.
            share = max(games.deals / deals, (time.monotonic() - began) / 60 / minutes)
            bar.update(task, completed=min(1.0, share))
            written()

        try:
            problem = games.play(began + 60 * minutes, played)
            if np.isnan(results).all():
                return facts, problem or "no game was over when the time was"
            written()
        except KeyboardInterrupt:
            problem = "stopped"
    return facts, problem


def _show(facts: dict[str, Any], deals: int, pool: ratings.Pool) -> None:
    """Print a result."""
    console, unit = Console(), facts["return"]["unit"]
    played = f"{counted(facts['deals'], 'deals')}, {counted(facts['return']['games'], 'games')}"
    rated = [("all", facts), *facts["roles"].items()]
    rows = [(name, ratings.interval(one["rating"]), ratings.interval(one["return"], "+")) for name, one in rated]
    rows += [(f"against {name}", "", ratings.interval(one, "+")) for name, one in facts["members"].items()]
    if facts["skill"] is not None:
        rows.append(("skill: games with no decision replaced", ratings.interval(facts["skill"]), ""))
    if facts["exploitability"] is not None:
        rows.append(("exploitability", "", f"{facts['exploitability']:.4f}"))
    if facts["counts"]:
        console.print(model_table({seat: ModelStatistics.of(row) for seat, row in facts["counts"].items()}))
    title = f"{facts['player']} in {facts['game']}, pool {facts['pool']['version']}, {played}"
    console.print(table_of(["", "rating, 95 %", unit], rows, title, texts=3))
    rating, fewest = facts["rating"], ratings.FEWEST
    console.say(
        f"rating: {ratings.interval(rating)}{ratings.caveats(facts)}; 0 is random play ({fmean(pool.low):+.3f}), 100 "
        f"is {pool.best} ({fmean(pool.high):+.3f}); a role has marks of its own"
    )
    if rating is not None and rating["low"] is not None and rating["low"] < 0 < rating["high"]:
        console.say("the interval of the rating holds 0: these deals do not tell the player from random play")
    if facts["return"]["low"] is None:
        option = f" with --deals {fewest}" if deals < fewest else ""
        console.say(f"no intervals: they need {fewest} deals; the same command{option} goes on")
    elif facts["deals"] < deals:
        console.say(f"ended at {facts['deals']:,} of {deals:,} deals; the same command goes on")


def evaluate_model(
    chosen: GameArguments,
    *,
    seats: int | None = None,
    against: tuple[str, ...] = (),
    deals: AtLeast2 = 20,
    parallel: PositiveInt = 4,
    llm: PromptArguments,
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
    prices = needed(llm.language_model([LLM])).prices
    player = seated_model(partial(agents_as(llm, [LLM]), LLM, game, None), game, parallel)
    names, models = against or rivals(game), {name: ModelStatistics() for name in game.agents}

    def answered(cell: ratings.Cell, calls: ratings.Calls) -> None:
        for seat, call in calls:
            models[game.agents[seat]].count(call, prices)

    results = np.full((len(names), deals, len(ratings.roles(game))), np.nan)
    faulty = np.zeros(results.shape, bool)
    opponents = [partial(policy, name, game) for name in names]
    games = ratings.Games(game, lambda _: player, opponents, results, faulty, report.seed, answered)
    with training_bar() as bar, interruptible():
        task = bar.add_task("evaluate", total=deals, note="")
        try:
            problem = games.play(each=lambda: bar.update(task, completed=games.deals))
            for lost in games.lost:
                answered(*lost)
        except KeyboardInterrupt:
            problem = "stopped"
    each = {name: ratings.score(results[[number]], ratings.unit_of(game)) for number, name in enumerate(names)}
    scores = {name: one for name, one in each.items() if one.deals > 1}
    models = {agent: one for agent, one in models.items() if one.decisions}
    record = {"policy": LLM, "game": game.id, "options": dict(game.options), **llm.facts(), "seed": report.seed}
    record["results"] = [{"against": name, **one.to_dict()} for name, one in scores.items()]
    record["counts"] = {agent: one.row() for agent, one in models.items()}
    title = f"{llm.model} at {game.name}, {game.seats} seats"
    tables = [*([score_table(scores, title)] if scores else []), *([model_table(models)] if models else [])]
    report.show(record, *tables)
    if problem is not None:
        print(f"parlour evaluate model: {problem}; {games.deals} of {deals} deals were played", file=sys.stderr)
        raise SystemExit(TRY_AGAIN)


def exploit_model(
    chosen: GameArguments,
    *,
    seats: int | None = None,
    samples: PositiveInt | None = None,
    most_sets: PositiveInt | None = None,
    parallel: PositiveInt = 4,
    answers: Path | None = None,
    llm: PromptArguments,
    report: ReportArguments,
) -> None:
    """Measure what a language model's play is worth: its probabilities at every information set, and NashConv.

    It is for games whose tree can be walked, such as kuhn and leduc. An answer that is no legal action counts as the
    game's safe action, as in play. The model does not talk. Ctrl-C loses nothing: the same command goes on.

    Args:
        seats: Number of seats. Default: that of the game's preset.
        samples: Answers at each information set, asked as in play. Default: log-probabilities of lettered answers, one
            request at each set; without them 20 answers as in play (1 at temperature 0).
        most_sets: Ask at so many information sets, the earliest of the game; at all others the model counts as random.
            Default: at all.
        parallel: Requests at the same time.
        answers: File in which the answers are kept, as JSON Lines; what it holds is not asked again. Default: the names
            of the model and the game with .jsonl.
    """
    game = game_of(LLM, chosen.game, chosen.options, seats)
    require_opponents(game)
    if game.capabilities.teams is not None:
        raise ValueError(f"{game.name} is a game of teams: NashConv is about single seats")
    model, prompting = needed(llm.language_model([LLM])), llm.prompting()(game=game)
    survey = Survey(tree=flat_tree(game), model=model, prompting=prompting, lettered=False, most=most_sets)
    name = re.sub(r"[^\w.-]+", "-", model.name)
    file = answers or Path(f"{name}-{game.name}.jsonl")
    file.parent.mkdir(parents=True, exist_ok=True)
    with locked(file), AnswerFile(file) as kept:
        if kept.unread:
            print(f"{file}: {kept.unread} lines are no answers", file=sys.stderr)
        began = perf_counter()

        async def ask() -> None:
            nonlocal survey
            survey = await begun(survey, samples, kept)
            different = len({question.id for question in survey.questions})  # sets may have the same prompt
            with counting_bar("ask", different) as bar:
                bar(different - len(set(survey.missing(kept))))
                await survey.ask(kept, parallel, bar)

        try:
            until_done(ask())
        except (ModelError, KeyboardInterrupt, SystemExit) as error:
            done = sum(survey.is_answered(number, kept) for number in range(len(survey.questions)))
            why = f"{error}; " if isinstance(error, ModelError) else ""
            measured = f"{done} of {len(survey.questions)} information sets are measured, in {file}"
            print(
                f"parlour evaluate exploit-model: {why}{measured}; the same command asks for the rest", file=sys.stderr
            )
            if isinstance(error, ModelError):
                raise SystemExit(TRY_AGAIN) from None
            raise
        facts = {**llm.facts(), **worth(survey, kept, report.seed), **answered(survey, kept, perf_counter() - began)}
    facts["best_response"] = best_lines(survey, kept, 10)
    report.show(facts, *_tables(facts))


def _flat(name: str, value: Any) -> Iterator[list[str]]:
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _flat(f"{name} {key}", part)
    elif value is not None:
        yield [name.replace("_", " "), f"{value:.4f}" if isinstance(value, float) else str(value)]


def _tables(facts: Mapping[str, Any]) -> list[Any]:
    """Return the facts as tables and sentences."""
    rows = [row for name in facts if name != "best_response" for row in _flat(name, facts[name])]
    table = table_of(["", ""], rows, f"{facts['model']}, {facts['game']} ({facts['unit']})", texts=2)
    lines = []
    for row in facts["best_response"]:
        model = ", ".join(f"{action} {share:.0%}" for action, share in row["model"].items())
        lines.append([row["agent"], " ".join(row["sees"].split()), row["best"], model, f"{row['wins']:+.4f}"])
    heads = ["seat", "it sees", "best response", "model", "wins"]
    worst = [table_of(heads, lines, "where a best response wins most", texts=5)] if lines else []
    remarks = [f"the answers are in {facts['answers']}; what it holds is not asked again"]
    if facts["asked_sets"] < facts["information_sets"]:
        remarks.append("sets that were not asked count as random play: the figures are no bound for the model")
    return [table, *worst, *remarks]


def export(
    chosen: GameArguments,
    *,
    decisions: PositiveInt = 1_000,
    plays: Annotated[str | None, Parameter(name="--policy")] = None,
    explore: Annotated[float, Parameter(validator=Number(gte=0, lte=1))] = 0.2,
    rollouts: PositiveInt = 32,
    seed: NonNegativeInt = 0,
    out: Path | None = None,
    view: ViewArguments,
) -> None:
    """Write a data set for language models: decisions as conversations, with the values of all legal actions.

    A line has the prompt that a model gets in play, the policy's answer, and for every legal action its text, its value
    and the policy's probability. The value is the seat's return from there on if all seats play by the policy
    afterwards: exact in games whose tree can be walked, where the zoo's policy is an equilibrium, else the mean of
    rollouts from the true state. A Croissant card describes the file. The same seed writes the same file.

    Args:
        decisions: Number of decisions, one line each.
        plays: The policy that plays all seats, and whose values they are. Default: the zoo's.
        explore: Share of random decisions of the seat whose decisions are written, so that there are states that the
            policy avoids. The answers are the policy's own.
        rollouts: Episodes for each action, in a game whose tree is too large for exact values.
        seed: Seed of the episodes.
        out: File of JSON Lines; the card stands beside it. Default: the game's name with .jsonl.
    """
    game = game_of("random", chosen.game, chosen.options)
    spec = plays or next(iter(of_the_zoo(game)), None)
    if spec is None:
        raise ValueError(f"the zoo has no policy for {game.id} with these options: name one with --policy")
    if view.conversation:
        raise ValueError("--conversation: every line is a decision by itself")
    out = out or Path(f"{game.name}.jsonl")
    out.parent.mkdir(parents=True, exist_ok=True)
    player = policy(spec, game, seed)
    values = Values(player, game, rollouts)
    digest, prompting = sha256(), view.prompting()(game=game)
    lines = lines_of(game, player, values, prompting, explore=explore, seed=seed)
    with out.open("wb") as file, counting_bar("export", decisions) as bar:
        for line in islice(lines, decisions):
            text = msgspec.json.encode(line) + b"\n"
            file.write(text)
            digest.update(text)
            bar(1)
    card = out.with_suffix(".croissant.json")
    about = f"{decisions:,} decisions of {spec} in {game.id} ({unit_per_game(game)}), seed {seed}."
    facts = card_of(game, out.name, digest.hexdigest(), f"{about} {values.about}")
    card.write_text(json.dumps(facts, indent=2), "utf-8")
    print(f"written: {out} ({decisions:,} decisions, values: {values.source}), {card}")
