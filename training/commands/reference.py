"""`parlour evaluate reference`: rates a player against frozen opponents, and writes pages."""

import json
import math
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter
from rich.table import Table

from ...envs import Game
from ...envs.core.counted import counted
from ...envs.core.files import replacing
from ...envs.core.options import number, whole
from ...envs.core.rng import streams
from ...envs.core.rollout import Policy
from ...wrappers.agents.as_policy import AgentsAsPolicy
from ...wrappers.agents.base import Agent
from ...wrappers.agents.model_calls import ModelError, ModelStatistics
from ...wrappers.logs.match_log import MatchLog
from ..evaluation.exact import Probable
from ..evaluation.exploit import exact_win, tree_of
from ..evaluation.reference import FEWEST, Pool, digest_of, load_pool, play, rate, roles
from ..evaluation.reference_page import COLUMNS, interval, read_result, write_pages
from ..evaluation.result_page import provenance
from ..learning.run_folder import locked
from ..terminal.console import Console
from ..terminal.match import TerminalMatch, model_table
from ..terminal.progress import counting_bar
from .arguments import PromptArguments, ReportArguments
from .lookup import LLM, agent, needed, policy, seated_model
from .stopping import TRY_AGAIN, interruptible

ROUND = {True: 2, False: 50}
"""Deals that are played before the time is looked at, of agents and of policies."""

Rated = Annotated[
    str | None,
    Parameter(name="GAME", help="The game by name. Without it the pages of the folder are written anew."),
]
Player = Annotated[
    str,
    Parameter(name="RUN", help="A run, a policy file, zoo:GAME or a bot. Default: the model of --model."),
]


@dataclass(frozen=True, kw_only=True)
class BudgetArguments:
    """How much is played."""

    deals: int = 1_000
    """Deals, at least 2, each played in every role against every opponent, unless the time is over before. Below 10
    there is no interval."""
    minutes: float = 10.0
    """Minutes after which no further deals begin."""
    parallel: int = 4
    """Requests to a language model at the same time."""

    def __post_init__(self) -> None:
        """Check the numbers."""
        whole("deals", self.deals, 2)
        number("minutes", self.minutes, 0, math.inf, above=True)
        whole("parallel", self.parallel, 1)


def command(
    game: Rated = None,
    run: Player = "",
    *,
    asked: PromptArguments,
    budget: BudgetArguments,
    name: str | None = None,
    pool: int | None = None,
    out: Path = Path("reference"),
    samples: int = 1,
    report: ReportArguments,
) -> None:
    """Rate a player against the reference opponents of a game: 0 is random play, 100 the best of these opponents.

    The opponents never change, so ratings of different days and people can be compared. All players get the same deals.
    The result is a JSON file with every deal in the folder --out; beside it stands a page, and index.html is the
    leaderboard of all results in the folder. A language model is asked as at a table. Every few deals the result is
    written: after Ctrl-C, or where an endpoint goes down, the same command goes on.

    Args:
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
    if samples < 0:
        raise ValueError(f"samples={samples}: need 0 or more")
    opponents = load_pool(game, pool)
    table = opponents.make_game()
    player, make, about = _player(run, table, asked, budget.parallel, report.seed)
    about |= {"player": name or run or asked.model, "game": table.id, "seed": report.seed}
    about["pool"] = {"version": opponents.version, "digest": opponents.digest, "best": opponents.best}
    out.mkdir(parents=True, exist_ok=True)
    file = out / (re.sub(r"[^\w.-]+", "-", f"{table.name}-{about['player']}") + ".json")
    if asked.model is not None and not run:
        print(f"asking {asked.model} at {needed(asked.language_model([LLM])).where}", file=sys.stderr)
    with interruptible(), locked(file):
        rating = _Rating(opponents, table, player, about, file)
        if before := rating.deals:
            goes_on = (
                "it goes on from there" if before < budget.deals else f"no more are played with --deals {budget.deals}"
            )
            print(f"{file} has {before} deals of this player: {goes_on} (--name or --out: anew)", file=sys.stderr)
        problem = rating.play(budget)
        if problem is None:
            rating.finish(make, samples)
        if rating.deals:
            index = _pages(out)
    if rating.deals:
        if report.as_json:
            print(file.read_text("utf-8"))
        else:
            _show(rating.facts, budget, opponents, file.with_suffix(".html"))
            Console().print(f"written: {file}, {file.with_suffix('.html')}, {index}", markup=False, soft_wrap=True)
    if problem is not None:
        lost = "no deals are kept, for no round of deals is over"
        kept = f"{rating.deals} deals are kept in {file}: the same command goes on" if rating.deals else lost
        print(f"parlour evaluate reference: {problem}; {kept}", file=sys.stderr)
        raise SystemExit(TRY_AGAIN)


def _pages(folder: Path) -> Path:
    """Write the pages of a folder, name the files that are left out on stderr, and return the leaderboard."""
    index, problems = write_pages(folder)
    for problem in problems:
        print(f"parlour evaluate reference: {problem}", file=sys.stderr)
    return index


def _player(
    run: str, game: Game, asked: PromptArguments, parallel: int, seed: int
) -> tuple[Callable[[int], Policy], Callable[[], Agent], dict[str, Any]]:
    """Return what makes the player as a policy with a seed, and as an agent, and what its result depends on."""
    spec = run or LLM
    model = asked.language_model([spec])
    if not run and model is None:
        raise ValueError("name a run, a policy file or a bot after the game, or a language model with --model NAME")
    make = partial(agent, spec, game, seed, model, asked.prompting())
    if spec == LLM:
        model_agents = seated_model(needed(model), game, asked.prompting(), parallel)
        return lambda _: model_agents, make, {"kind": "model", **asked.facts()}
    digest = digest_of(policy(spec, game, seed), game)[:16]  # a run may be trained on, a bot may change
    return partial(policy, spec, game), make, {"kind": "policy", "run": spec, "digest": digest}


class _Rating:
    """A player and its results so far; the file holds those of all rounds that were played to their end.

    Attributes:
        facts: the result as JSON; empty: there is none.

    Raises:
        ValueError: if the file holds another result.
    """

    def __init__(
        self, pool: Pool, game: Game, player: Callable[[int], Policy], about: dict[str, Any], file: Path
    ) -> None:
        self.facts: dict[str, Any] = {}
        self._pool, self._game, self._about, self._file = pool, game, about, file
        self._player_with = player
        self._player = player(about["seed"])
        shape = len(pool.members), 0, len(roles(game))
        self._results, self._faulty = np.zeros(shape), np.zeros(shape, bool)
        if file.exists():
            self._go_on()

    @property
    def deals(self) -> int:
        """The number of deals so far."""
        return int(self.facts.get("deals", 0))

    def _go_on(self) -> None:
        """Take over the results of the same player with the same settings."""
        before, about = read_result(self._file), json.loads(json.dumps(self._about))
        if other := [name for name, value in about.items() if before.get(name) != value]:
            raise ValueError(
                f"{self._file} holds another result, with another {', '.join(other)}: give another --name or --out"
            )
        self.facts, self._results = before, np.array(before["results"])
        self._faulty = np.array(before["faulty"] or np.zeros(self._results.shape), bool)
        if isinstance(self._player, AgentsAsPolicy) and before["counts"]:
            self._player.statistics = [ModelStatistics.of(row) for row in before["counts"].values()]

    def play(self, budget: BudgetArguments) -> str | None:
        """Play what is missing, and write the result after each round; return what ended it early, None: nothing."""
        began, seconds, seed = perf_counter(), self.facts.get("seconds", 0.0), self._about["seed"]
        seeds = streams(seed, budget.deals).tolist()
        size = ROUND[isinstance(self._player, AgentsAsPolicy)]
        with counting_bar("rate", 1.0, self._so_far) as bar:
            used = 0.0
            try:
                while True:
                    # The share of the deals or of the time, whichever is nearer to its end.
                    share = max(self.deals / budget.deals, (perf_counter() - began) / 60 / budget.minutes)
                    bar(min(1.0, share) - used)
                    used = min(1.0, share)
                    if used == 1.0 and self.deals:
                        break
                    chunk = seeds[self.deals : self.deals + size]
                    opponents = self._pool.players(self._game, seed + 1 + self.deals)
                    self._player = self._player_with(seed + self.deals)
                    results, faulty = play(self._player, self._game, opponents, chunk)
                    self._results = np.concatenate([self._results, results], axis=1)
                    self._faulty = np.concatenate([self._faulty, faulty], axis=1)
                    self._write(self._rated(seconds + perf_counter() - began))
            except ModelError as error:
                return str(error)
            except KeyboardInterrupt:
                return "stopped"
        return None

    def _so_far(self) -> str:
        """Return what has been played, for the progress bar: a deal counts once it is whole."""
        statistics = self._player.statistics if isinstance(self._player, AgentsAsPolicy) else []
        asked, replaced = (sum(getattr(each, name) for each in statistics) for name in ("decisions", "replaced"))
        parts = [f"{counted(self.deals, 'deals')} played"]
        parts += [counted(asked, "decisions")] if asked else []
        parts += [f"{replaced:,} replaced (no usable answer)"] if replaced else []
        return ", ".join(parts)

    def finish(self, make: Callable[[], Agent], samples: int) -> None:
        """Write the result with what is not about single deals."""
        self._write({**self.facts, "exploitability": self._exploitability(), "samples": self._samples(make, samples)})

    def _rated(self, seconds: float) -> dict[str, Any]:
        """Return the result of the deals so far."""
        kind, counts = self._about["kind"], {}
        if isinstance(self._player, AgentsAsPolicy) and kind == "model":
            rows = [each.row() for each in self._player.statistics]
            counts = dict(zip(self._game.agents, rows, strict=True))
        return {
            **self._about,
            **provenance(),
            "options": dict(self._game.options),
            "deals": self._results.shape[1],
            "seconds": round(seconds, 1),
            **rate(self._pool, self._game, self._results, self._faulty),
            "exploitability": self.facts.get("exploitability"),
            "counts": counts,
            "results": np.round(self._results, 6).tolist(),
            "faulty": [] if kind == "policy" else self._faulty.astype(int).tolist(),
            "samples": self.facts.get("samples", []),
        }

    def _write(self, facts: dict[str, Any]) -> None:
        """Replace the file; if the process dies meanwhile, the old one stays complete."""
        with replacing(self._file) as unfinished:
            unfinished.write_text(json.dumps(facts, default=list), "utf-8")
        self.facts = facts

    def _exploitability(self) -> float | None:
        if not isinstance(self._player, Probable) or hasattr(self._player, "act_on"):
            return None
        tree = tree_of(self._player, self._game)
        return None if tree is None else exact_win(tree, self._player).score.mean

    def _samples(self, make: Callable[[], Agent], count: int) -> list[dict[str, Any]]:
        """Return the match log of games with the best member of the pool, in turns around the table."""
        if not count:
            return []
        game, seed = self._game, self._about["seed"]
        best = next(one.where for one in self._pool.members if one.name == self._pool.best)
        with TemporaryDirectory() as folder:
            file = Path(folder) / "samples.jsonl"
            with MatchLog(file) as log:
                for number in range(count):
                    mine = [(seat + number) % 2 == 0 for seat in range(game.seats)]
                    names = [self._about["player"] if own else self._pool.best for own in mine]
                    agents = [make() if own else agent(best, game, seed + seat) for seat, own in enumerate(mine)]
                    TerminalMatch(game, agents, names, Console(quiet=True), 0.0, log).play(1, seed + number)
            return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


UNDECIDED = "the interval of the rating holds 0: these deals do not tell the player from random play"


def _show(facts: dict[str, Any], budget: BudgetArguments, pool: Pool, page: Path) -> None:
    """Print a result."""
    console, unit = Console(), facts["return"]["unit"]
    games = facts["deals"] * len(facts["roles"]) * len(facts["members"])
    played = f"{facts['deals']:,} deals, {games:,} games"
    title = f"{facts['player']} in {facts['game']}, pool {facts['pool']['version']}, {played}"
    table = Table("", "rating, 95 %", unit, title=title)
    rows = [("all", facts), *facts["roles"].items()]
    for name, each in rows:
        table.add_row(name, interval(each["rating"], ".1f"), interval(each["return"], "+.3f"))
    for name, each in facts["members"].items():
        table.add_row(f"against {name}", "", interval(each, "+.3f"))
    if facts["skill"] is not None:
        table.add_row("skill: games with no decision replaced", interval(facts["skill"], ".1f"), "")
    if facts["exploitability"] is not None:
        table.add_row("exploitability", "", f"{facts['exploitability']:.4f}")
    if facts["counts"]:
        console.print(model_table({seat: ModelStatistics.of(row) for seat, row in facts["counts"].items()}))
    console.print(table)
    for line in _explained(facts, pool, page):
        console.print(line, markup=False)
    if facts["deals"] < FEWEST:
        more = f" with --deals {FEWEST}" if budget.deals < FEWEST else ""
        line = f"no intervals: they need {FEWEST} deals; the same command{more} goes on"
        console.print(line, markup=False)
    elif facts["deals"] < budget.deals:
        console.print(f"ended at {facts['deals']:,} of {budget.deals:,} deals; the same command goes on", markup=False)


def _explained(facts: dict[str, Any], pool: Pool, page: Path) -> list[str]:
    """Return what the columns and rows of a result are, a line each."""
    best, unit = facts["pool"]["best"], facts["return"]["unit"]
    ends = zip(facts["roles"], pool.low, pool.high, strict=True)
    marks = ", ".join(f"{role} {low:+.3f} and {high:+.3f}" for role, low, high in ends)
    kinds = {
        "half random": "every second decision, by chance, is random",
        "after": "a policy of a separate, short training, as it was after so many decisions",
    }
    shown = [f"{kind}: {words}" for kind, words in kinds.items() if any(kind in name for name in facts["members"])]
    return [
        "",
        f"rating: 0 is random play ({fmean(pool.low):+.3f} {unit}), 100 is {best} ({fmean(pool.high):+.3f}), against "
        "the same opponents; in brackets the 95 % interval",
        f"{unit}: what the player has, the mean of all games; in brackets the 95 % interval",
        "all: every deal is played in every role, so that good and bad luck cancel out",
        f"{', '.join(facts['roles'])}: this role alone, with 0 and 100 of its own ({marks}); its luck stays, so the "
        "interval is wider",
        "; ".join(["against …: this opponent alone, in every role", *shown]),
        *(f"{name}: {COLUMNS[name]}" for name in ("skill", "exploitability") if facts[name] is not None),
        *([f"replaced: {COLUMNS['replaced / 100 decisions'].partition('.')[0]}"] if facts["counts"] else []),
        *([f'all other counts: see "What the columns mean" in {page}'] if facts["counts"] else []),
        *([UNDECIDED] if _holds_0(facts["rating"]) else []),
        "",
    ]


def _holds_0(rating: dict[str, Any] | None) -> bool:
    """Return whether the interval of a rating, if it has one, holds 0."""
    return rating is not None and rating["low"] is not None and rating["low"] < 0 < rating["high"]
