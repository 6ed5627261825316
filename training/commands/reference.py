"""`parlour reference`: rates a policy, an agent or a language model against frozen opponents, and writes pages."""

import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Annotated, Any

import msgspec
import numpy as np
import tyro
from rich.table import Table

from ...envs import Game
from ...envs.core.rng import streams
from ...envs.core.rollout import Policy
from ...wrappers.agents.as_policy import AgentsAsPolicy
from ...wrappers.agents.base import Agent
from ...wrappers.agents.model_calls import ModelError, ModelStatistics
from ...wrappers.logs.match_log import MatchLog
from ..evaluation.exact import Probable
from ..evaluation.exploit import exact_win, tree_of
from ..evaluation.reference import Pool, load_pool, play, rate, roles
from ..evaluation.reference_page import write_pages
from ..learning.run_folder import locked
from ..terminal.console import Console
from ..terminal.match import TerminalMatch, model_table
from ..terminal.progress import counting_bar
from .arguments import PromptArguments, ReportArguments
from .lookup import LLM, agent, foreign, policy
from .stopping import TRY_AGAIN

FIRST = ("model", "llm-url", "deals", "minutes", "out", "name", "parallel", "samples", "seed", "json")
ROUND = {True: 2, False: 50}
"""Deals that are played before the time is looked at, of agents and of policies."""

Rated = Annotated[
    tyro.conf.Positional[str | None],
    tyro.conf.arg(metavar="[GAME]", help="The game by name. Without it the pages of the folder are written anew."),
]
Player = Annotated[
    tyro.conf.Positional[str],
    tyro.conf.arg(metavar="[RUN]", help="A run, a policy file, zoo:GAME or a bot. Default: the model of --model."),
]


@dataclass(frozen=True, kw_only=True)
class BudgetArguments:
    """How much is played."""

    deals: int = 1_000
    """Deals, each played in every role against every opponent, unless the time is over before."""
    minutes: float = 10.0
    """Minutes after which no further deals begin."""
    parallel: int = 4
    """Requests to a language model at the same time."""

    def __post_init__(self) -> None:
        """Check the numbers."""
        if self.deals < 2 or not self.minutes > 0 or self.parallel < 1:
            given = f"deals={self.deals}, minutes={self.minutes:g}, parallel={self.parallel}"
            raise ValueError(f"{given}: need at least 2 deals, a time above 0, and 1 request")


def command(
    *,
    game: Rated = None,
    run: Player = "",
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
    leaderboard of all results in the folder. A language model is asked as at a table; Ctrl-C or an endpoint that goes
    down lose nothing: the same command goes on.

    Args:
        name: The player's name in the results. Default: that of the run or the model.
        pool: Version of the opponents. Default: the latest.
        out: Folder of the results and pages.
        samples: Sample games of the player on the page.
    """
    if game is None:
        print(f"written: {write_pages(out)}")
        return
    if samples < 0:
        raise ValueError(f"samples={samples}: need 0 or more")
    opponents = load_pool(game, pool)
    table = opponents.make_game()
    player, again, about = _player(run, table, asked, budget.parallel, report.seed)
    about |= {"player": name or run or asked.model, "game": table.id, "seed": report.seed}
    about["pool"] = {"version": opponents.version, "digest": opponents.digest, "best": opponents.best}
    out.mkdir(parents=True, exist_ok=True)
    file = out / (re.sub(r"[^\w.-]+", "-", f"{table.name}-{about['player']}") + ".json")
    with locked(file):
        rating = _Rating(opponents, table, player, about, file)
        problem = rating.play(budget)
        if rating.deals >= 2:
            rating.write(again, samples if problem is None else 0)
            index = write_pages(out)
    if rating.deals >= 2:
        if report.as_json:
            print(file.read_text("utf-8"))
        else:
            _show(rating.facts)
            Console().print(f"written: {file}, {file.with_suffix('.html')}, {index}", markup=False, soft_wrap=True)
    if problem is not None:
        print(f"parlour reference: {problem}; {rating.deals} deals are kept in {file}", file=sys.stderr)
        raise SystemExit(TRY_AGAIN)


def _player(
    run: str, game: Game, asked: PromptArguments, parallel: int, seed: int
) -> tuple[Policy, Callable[[], Agent], dict[str, Any]]:
    """Return the player as a policy, what makes it as an agent, and what its result depends on."""
    model = asked.language_model()
    if not run and model is None:
        raise ValueError("name a run, a policy file or a bot after the game, or a language model with --model")
    spec = run or LLM
    make = partial(agent, spec, game, seed, model, asked.prompting())
    if spec == LLM and model is not None:
        prompts = sha256(msgspec.json.encode(asked.prompting()().prompts)).hexdigest()[:16]
        names = ("model", "llm_url", "temperature", "max_tokens", "state_view", "legal_actions", "conversation", "skin")
        about = {"kind": "model", **{name: getattr(asked, name) for name in names}, "prompts": prompts}
        make()  # so that a missing library is an error before any play
        return AgentsAsPolicy(game, make, parallel), make, about
    if foreign(spec, game) is not None:
        return AgentsAsPolicy(game, make), make, {"kind": "agent"}
    return policy(spec, game, seed), make, {"kind": "policy"}


class _Rating:
    """A player and its results so far.

    Attributes:
        facts: the result as JSON, after `write`.
    """

    def __init__(self, pool: Pool, game: Game, player: Policy, about: dict[str, Any], file: Path) -> None:
        self.facts: dict[str, Any] = {}
        self._pool, self._game, self._player, self._about, self._file = pool, game, player, about, file
        shape = len(pool.members), 0, len(roles(game))
        self._results, self._faulty, self._seconds = np.zeros(shape), np.zeros(shape, bool), 0.0
        if isinstance(player, AgentsAsPolicy) and file.exists():
            self._go_on(player)

    @property
    def deals(self) -> int:
        """The number of deals so far."""
        return int(self._results.shape[1])

    def _go_on(self, player: AgentsAsPolicy) -> None:
        """Take over the results of the same player with the same settings."""
        before = json.loads(self._file.read_bytes())
        if any(before.get(name) != value for name, value in json.loads(json.dumps(self._about)).items()):
            return
        self._results, self._faulty = np.array(before["results"]), np.array(before["faulty"], bool)
        self._seconds = before["seconds"]
        player.statistics = [ModelStatistics.of(row) for row in before["counts"].values()] or player.statistics

    def play(self, budget: BudgetArguments) -> str | None:
        """Play what is missing; return what ended it early, None if nothing did."""
        began, seconds = perf_counter(), self._seconds
        seeds = streams(self._about["seed"], budget.deals).tolist()
        size = ROUND[isinstance(self._player, AgentsAsPolicy)]
        with counting_bar("rate", budget.deals) as bar:
            bar(self.deals)
            while self.deals < budget.deals and perf_counter() - began < 60 * budget.minutes:
                chunk = seeds[self.deals : self.deals + size]
                opponents = self._pool.players(self._game, self._about["seed"] + 1 + self.deals)
                try:
                    played = play(self._player, self._game, opponents, chunk)
                except ModelError as error:
                    return str(error)
                except KeyboardInterrupt:
                    return "stopped"
                self._results = np.concatenate([self._results, played[0]], axis=1)
                self._faulty = np.concatenate([self._faulty, played[1]], axis=1)
                self._seconds = seconds + perf_counter() - began
                bar(len(chunk))
        return None

    def write(self, make: Callable[[], Agent], samples: int) -> None:
        """Write the result."""
        agents = isinstance(self._player, AgentsAsPolicy)
        statistics = self._player.statistics if isinstance(self._player, AgentsAsPolicy) else []
        model = self._about["kind"] == "model"
        counts = {name: each.row() for name, each in zip(self._game.agents, statistics, strict=False) if model}
        self.facts = {
            **self._about,
            "options": dict(self._game.options),
            "deals": self.deals,
            "seconds": round(self._seconds, 1),
            **rate(self._pool, self._game, self._results, self._faulty),
            "exploitability": None if agents else self._exploitability(),
            "counts": counts,
            "results": np.round(self._results, 6).tolist(),
            "faulty": self._faulty.astype(int).tolist() if model else [],
            "samples": self._samples(make, samples),
        }
        text = json.dumps(self.facts, default=list)
        self._file.write_text(text, "utf-8")

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
        with TemporaryDirectory() as folder:
            file = Path(folder) / "samples.jsonl"
            with MatchLog(file) as log:
                for number in range(count):
                    mine = [(seat + number) % 2 == 0 for seat in range(game.seats)]
                    names = [self._about["player"] if own else self._pool.best for own in mine]
                    agents = [
                        make() if own else agent(self._pool.best, game, seed + seat) for seat, own in enumerate(mine)
                    ]
                    TerminalMatch(game, agents, names, Console(quiet=True), 0.0, log).play(1, seed + number)
            return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def _show(facts: dict[str, Any]) -> None:
    """Print a result."""
    console, unit = Console(), facts["return"]["unit"]
    title = f"{facts['player']} in {facts['game']}, pool {facts['pool']['version']}, {facts['deals']:,} deals"
    table = Table("", "rating, 95 %", unit, title=title)
    rows = [("all", facts), *facts["roles"].items()]
    for name, each in rows:
        table.add_row(name, _cell(each["rating"], ".1f"), _cell(each["return"], "+.3f"))
    for name, each in facts["members"].items():
        table.add_row(f"against {name}", "", _cell(each, "+.3f"))
    if facts["skill"] is not None:
        table.add_row("skill: games without a rule error", _cell(facts["skill"], ".1f"), "")
    if facts["exploitability"] is not None:
        table.add_row("exploitability", "", f"{facts['exploitability']:.4f}")
    console.print(table)
    if facts["counts"]:
        console.print(model_table(facts["counts"]))
    best = facts["pool"]["best"]
    console.print(f"rating: 0 is random play, 100 is {best} against the same opponents", markup=False, soft_wrap=True)


def _cell(score: dict[str, float] | None, form: str) -> str:
    return "—" if score is None else f"{score['mean']:{form}} [{score['low']:{form}}, {score['high']:{form}}]"
