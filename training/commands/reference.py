"""`parlour evaluate reference`, `model`, `exploit-model` and `export`: ratings, and language models as players."""

import json
import math
import re
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
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
from ...wrappers import Agent, LLMAgent
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
from ..terminal.match import model_table, recorded
from .arguments import AtLeast2, GameArguments, PromptArguments, ReportArguments, ViewArguments
from .lookup import LLM, agent, agents_as, game_of, needed, of_the_zoo, policy, require_opponents, rivals, seated_model
from .supervisor import TRY_AGAIN, until_done

COUNTS = "decisions", "replaced"
"""What a progress line tells of a language model."""
FOR_SAMPLES = 0.1
"""The share of the time that a language model has for its sample games."""


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
    samples: NonNegativeInt = 1,
    report: ReportArguments,
) -> None:
    """Rate a player against the reference opponents of a game: 0 is random play, 100 the best of these opponents.

    The opponents never change, so ratings of different days and people can be compared. All players get the same deals.
    The result is a JSON file with every deal in the folder --out; beside it stands a page, and index.html is the
    leaderboard of all results in the folder. A language model is asked as at a table; its conversations are a file.
    Every few games the result is written: after Ctrl-C, or where an endpoint goes down, the same command goes on.

    Args:
        game: The game by name. Without it the pages of the folder are written anew.
        run: A run, a policy file, zoo:GAME or a bot. Default: the model of --model.
        deals: Deals, at least 2, each played in every role against every opponent, unless the time is over before.
            Below 10 there is no interval.
        minutes: Minutes after which nothing more is played or asked; what was played until then counts.
        parallel: Requests to a language model at the same time.
        name: The player's name in the results. Default: that of the run or the model.
        pool: Version of the opponents. Default: the latest.
        out: Folder of the results and pages.
        samples: Sample games of the player on the page.
    """
    if game is None:
        if not out.is_dir():
            raise ValueError(f"there is no folder {out} with results: name a game and a player to rate")
        print(f"written: {_pages(out)}")
        return
    opponents = ratings.load_pool(game, pool)
    table = opponents.make_game()
    player, make, about = _player(run, table, llm, parallel, report.seed)
    about |= {"player": name or run or llm.model, "game": table.id, "seed": report.seed}
    about["pool"] = {"version": opponents.version, "digest": opponents.digest, "best": opponents.best}
    out.mkdir(parents=True, exist_ok=True)
    file = out / (re.sub(r"[^\w.-]+", "-", f"{table.name}-{about['player']}") + ".json")
    if llm.model is not None and not run:
        print(f"asking {llm.model} at {needed(llm.language_model([LLM])).where}", file=sys.stderr)
    with interruptible(), locked(file):
        rating = _Rating(opponents, table, player, about, file, llm.prices)
        if before := rating.facts.get("deals", 0):
            goes_on = "it goes on from there" if before < deals else f"no more are played with --deals {deals}"
            print(f"{file} has {before} deals of this player: {goes_on} (--name or --out: anew)", file=sys.stderr)
        problem = rating.play(deals, minutes, make, samples)
        if rating.facts:
            index = _pages(out)
    if rating.facts:
        if report.as_json:
            print(file.read_text("utf-8"))
        else:
            _show(rating.facts, deals, opponents, file.with_suffix(".html"))
            talks = f", {rating.conversations}" if rating.conversations.exists() else ""
            Console().say(f"written: {file}, {file.with_suffix('.html')}, {index}{talks}")
    if problem is not None:
        games = counted(rating.facts["return"]["games"], "games") if rating.facts else ""
        kept = f"{games} are kept in {file}: the same command goes on" if games else "no games are kept"
        print(f"parlour evaluate reference: {problem}; {kept}", file=sys.stderr)
        raise SystemExit(TRY_AGAIN)


def _pages(folder: Path) -> Path:
    """Write the pages of a folder, name the files that are left out on stderr, and return the leaderboard."""
    index, problems = ratings.write_pages(folder)
    for problem in problems:
        print(f"parlour evaluate reference: {problem}", file=sys.stderr)
    return index


def _player(
    run: str, game: Game, llm: PromptArguments, parallel: int, seed: int
) -> tuple[Callable[[int], Policy], Callable[[], Agent], dict[str, Any]]:
    spec = run or LLM
    if not run and llm.model is None:
        raise ValueError("name a run, a policy file or a bot after the game, or a language model with --model NAME")
    make = partial(agents_as(llm, [spec]), spec, game, seed)
    if spec == LLM:
        model_agents = seated_model(make, game, parallel)
        return lambda _: model_agents, make, {"kind": "model", **llm.facts()}
    digest = ratings.digest_of(policy(spec, game, seed), game)[:16]  # a run may be trained on, a bot may change
    return partial(policy, spec, game), make, {"kind": "policy", "run": spec, "digest": digest}


@dataclass
class _Rating:
    """A player and its results so far, which are in the file.

    Attributes:
        facts: the result as JSON; empty: there is none.
        conversations: the file of a language model's conversations.

    Raises:
        ValueError: if the file holds another result.
    """

    pool: ratings.Pool
    game: Game
    player: Callable[[int], Policy]
    about: dict[str, Any]
    file: Path
    prices: tuple[float, float]
    facts: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Read the file, if it is there."""
        pool, game, file, about = self.pool, self.game, self.file, self.about
        self.conversations = file.with_suffix(".conversations.jsonl")
        self._statistics = {name: ModelStatistics() for name in game.agents}
        results = np.zeros((len(pool.members), 0, len(ratings.roles(game))))
        faulty = np.zeros(results.shape, bool)
        if file.exists():
            self.facts, same = ratings.read_result(file), json.loads(json.dumps(about))
            if other := [name for name, value in same.items() if self.facts.get(name) != value]:
                raise ValueError(
                    f"{file} holds another result, with another {', '.join(other)}: give another --name or --out"
                )
            results = np.array(self.facts["results"], np.float64)
            faulty = np.array(self.facts["faulty"] or np.zeros(results.shape), bool)
            self._statistics |= {name: ModelStatistics.of(row) for name, row in self.facts["counts"].items()}
        else:
            self.conversations.unlink(missing_ok=True)
        opponents = [partial(member.player, game) for member in pool.members]
        self._games = ratings.Games(game, self.player, opponents, results, faulty, about["seed"], self._answered)

    def play(self, deals: int, minutes: float, make: Callable[[], Agent], samples: int) -> str | None:
        """Play what is missing in the time, then the sample games; return what ended it early, None: nothing."""
        games, began, asks = self._games, time.monotonic(), self.about["kind"] == "model"
        end = began + 60 * minutes
        until = end - 60 * minutes * FOR_SAMPLES * (asks and samples > 0)
        seconds, missing = self.facts.get("seconds", 0.0), max(0, deals - games.results.shape[1])
        games.results = np.pad(games.results, ((0, 0), (0, missing), (0, 0)), constant_values=math.nan)
        games.faulty = np.pad(games.faulty, ((0, 0), (0, missing), (0, 0)))

        def note() -> str:
            decisions, replaced = (sum(getattr(one, of) for one in self._statistics.values()) for of in COUNTS)
            of_model = f", of {decisions:,} decisions {replaced:,} replaced" if decisions else ""
            spent = f"{time.monotonic() - began:.0f} of {60 * minutes:.0f} s"
            return f"{games.deals:,} of {counted(deals, 'deals')}, {spent}{of_model}"

        with training_bar() as bar:
            task = bar.add_task("rate", total=1.0, note=note)

            def played() -> None:
                # The share of the deals or of the time, whichever is nearer to its end.
                share = max(games.deals / deals, (time.monotonic() - began) / 60 / minutes)
                bar.update(task, completed=min(1.0, share))
                self._write(self._rated(seconds + time.monotonic() - began))

            try:
                problem = games.play(until, played)
                if np.isnan(games.results).all():
                    problem = problem or "no game was over when the time was"
                else:
                    played()
                    player, extra = games.player(self.about["seed"]), dict[str, Any](exploitability=None)
                    if isinstance(player, Probable) and not hasattr(player, "act_on"):
                        tree = tree_of(player, self.game)
                        extra["exploitability"] = None if tree is None else exact_win(tree, player).score.mean
                    if problem is None:
                        extra["samples"] = self._samples(make, samples, end) or self.facts["samples"]
                    self._write(self.facts | extra)
            except KeyboardInterrupt:
                problem = "stopped"
        return problem

    def _answered(self, answer: ratings.Answered) -> None:
        """Count an answer, and write its conversation."""
        call, agents = answer.call, self.game.agents
        self._statistics[agents[answer.seat]].count(call, self.prices)
        line = {
            "deal": answer.deal,
            "against": self.pool.members[answer.opponent].name,
            "role": ratings.roles(self.game)[answer.role],
            "agent": agents[answer.seat],
            "messages": [*call.prompt, {"role": "assistant", "content": call.text}],
            "faults": call.faults,
            "replaced": call.problem,
        }
        with self.conversations.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(line, ensure_ascii=False)}\n")

    def _rated(self, seconds: float) -> dict[str, Any]:
        """Return the result of the games so far."""
        begun = int(np.flatnonzero((~np.isnan(self._games.results)).any(axis=(0, 2))).max(initial=-1)) + 1
        results, faulty = self._games.results[:, :begun], self._games.faulty[:, :begun]
        kept = np.round(results, 6).astype(object)
        kept[np.isnan(results)] = None  # JSON's null
        model = self.about["kind"] == "model"
        return {
            **self.about,
            **provenance(),
            "options": dict(self.game.options),
            "deals": begun,
            "seconds": round(seconds, 1),
            **ratings.rate(self.pool, self.game, results, faulty),
            "exploitability": self.facts.get("exploitability"),
            "counts": {name: one.row() for name, one in self._statistics.items()} if model else {},
            "results": kept.tolist(),
            "faulty": faulty.astype(int).tolist() if model else [],
            "samples": self.facts.get("samples", []),
        }

    def _write(self, facts: dict[str, Any]) -> None:
        """Replace the file; if the process dies meanwhile, the old one stays complete."""
        with replacing(self.file) as unfinished:
            unfinished.write_text(json.dumps(facts, default=list), "utf-8")
        self.facts = facts

    def _samples(self, make: Callable[[], Agent], count: int, end: float) -> list[dict[str, Any]]:
        """Return the match log of games with the best member of the pool, in turns around the table.

        A game in which a language model had no time left is left out.
        """
        game, seed, lines = self.game, self.about["seed"], list[dict[str, Any]]()
        best = next(one.where for one in self.pool.members if one.name == self.pool.best)
        for number in range(count):
            mine = [(seat + number) % 2 == 0 for seat in range(game.seats)]
            players = [
                (self.about["player"], make()) if own else (self.pool.best, agent(best, game, seed + seat))
                for seat, own in enumerate(mine)
            ]
            for _, who in players:
                if isinstance(who, LLMAgent):
                    who.on_turn = lambda state, who=who: who.set_seconds_left(max(0.0, end - time.monotonic()))
            log = recorded(game, players, seed + number)
            if self.about["kind"] == "model" and time.monotonic() >= end:
                break
            lines += list(map(json.loads, log.splitlines()))
        return lines


UNDECIDED = "the interval of the rating holds 0: these deals do not tell the player from random play"


def _show(facts: dict[str, Any], deals: int, pool: ratings.Pool, page: Path) -> None:
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
    console.say(f"rating: {ratings.interval(facts['rating'])}{ratings.caveats(facts)}")
    best, rating = facts["pool"]["best"], facts["rating"]
    ends = zip(facts["roles"], pool.low, pool.high, strict=True)
    marks = ", ".join(f"{role} {low:+.3f} and {high:+.3f}" for role, low, high in ends)
    undecided = rating is not None and rating["low"] is not None and rating["low"] < 0 < rating["high"]
    for line in (
        "",
        f"rating: 0 is random play ({fmean(pool.low):+.3f} {unit}), 100 is {best} ({fmean(pool.high):+.3f}), against "
        "the same opponents; in brackets the 95 % interval",
        f"{unit}: what the player has, the mean of all games; in brackets the 95 % interval",
        f"{', '.join(facts['roles'])}: this role alone, with 0 and 100 of its own ({marks}); its luck stays, so the "
        "interval is wider",
        *(f"{name}: {ratings.COLUMNS[name]}" for name in ("skill", "exploitability") if facts[name] is not None),
        *([f"replaced: {ratings.COLUMNS['replaced / 100 decisions'].partition('.')[0]}"] if facts["counts"] else []),
        *([UNDECIDED] if undecided else []),
        f"all else: see {page}",
        "",
    ):
        console.print(line, markup=False)
    if facts["return"]["low"] is None:
        option = f" with --deals {ratings.FEWEST}" if deals < ratings.FEWEST else ""
        line = f"no intervals: they need {ratings.FEWEST} deals; the same command{option} goes on"
        console.print(line, markup=False)
    elif facts["deals"] < deals:
        console.print(f"ended at {facts['deals']:,} of {deals:,} deals; the same command goes on", markup=False)


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

    def answered(answer: ratings.Answered) -> None:
        models[game.agents[answer.seat]].count(answer.call, prices)

    results = np.full((len(names), deals, len(ratings.roles(game))), np.nan)
    faulty = np.zeros(results.shape, bool)
    opponents = [partial(policy, name, game) for name in names]
    games = ratings.Games(game, lambda _: player, opponents, results, faulty, report.seed, answered)
    with training_bar() as bar, interruptible():
        task = bar.add_task("evaluate", total=deals, note="")
        try:
            problem = games.play(each=lambda: bar.update(task, completed=games.deals))
            for answer in games.lost:
                answered(answer)
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
        survey = _asked(survey, samples, parallel, kept)
        seconds = perf_counter() - began
        facts = {**llm.facts(), **worth(survey, kept, report.seed), **answered(survey, kept, seconds)}
    facts["best_response"] = best_lines(survey, kept, 10)
    report.show(facts, *_shown(facts))


def _asked(survey: Survey, samples: int | None, parallel: int, answers: AnswerFile) -> Survey:
    """Ask what is missing, and return the survey as it was done; what ends it early is a sentence on stderr."""

    async def ask() -> None:
        nonlocal survey
        survey = await begun(survey, samples, answers)
        different = len({question.id for question in survey.questions})  # sets may have the same prompt
        with counting_bar("ask", different) as bar:
            bar(different - len(set(survey.missing(answers))))
            await survey.ask(answers, parallel, bar)

    try:
        until_done(ask())
    except (ModelError, KeyboardInterrupt, SystemExit) as error:
        done = sum(survey.is_answered(number, answers) for number in range(len(survey.questions)))
        kept = f"{done} of {len(survey.questions)} information sets are measured, in {answers.path}"
        why = f"{error}; " if isinstance(error, ModelError) else ""
        print(f"parlour evaluate exploit-model: {why}{kept}; the same command asks for the rest", file=sys.stderr)
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
    lines = []
    for row in facts["best_response"]:
        model = ", ".join(f"{action} {share:.0%}" for action, share in row["model"].items())
        lines.append([row["agent"], " ".join(row["sees"].split()), row["best"], model, f"{row['wins']:+.4f}"])
    heads = ["seat", "it sees", "best response", "model", "wins"]
    worst = [table_of(heads, lines, "where a best response wins most", texts=5)] if lines else []
    sampled, surveyed, sets = facts["sampled_sets"], facts["asked_sets"], facts["information_sets"]
    how = {
        "lettered": "every legal action had a letter, and the log-probabilities of the letters are the model's play",
        "as in play": f"asked as in play, {facts['samples']} times at each information set",
    }
    remarks = [how[facts["asked"]]]
    if sampled and facts["asked"] == "lettered":
        remarks.append(
            f"the endpoint gave no log-probabilities at {sampled} of {surveyed} information sets: {facts['samples']} "
            "letters were sampled there"
        )
    if facts["interval"]:
        remarks.append(
            "[ ]: 95 % interval, by drawing the samples again (bootstrap); its lower end is counted from responses to "
            "one half of the samples against the other, because NashConv of few samples is too high on average"
        )
    if surveyed < sets:
        remarks.append(
            f"only the {surveyed} earliest of {sets} information sets were asked: the figures are those of a player "
            "that plays as the model there and at random at all others, and no bound for the model"
        )
    if facts["rounded"]:
        remarks.append(f"{facts['rounded']} answers lie between the actions of the tree and count as the nearest one")
    remarks.append(f"the answers are in {facts['answers']}; what it holds is not asked again")
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
