"""`parlour evaluate`: measures a policy over duplicate deals or on held-out sets, or the policies of teams."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from ...envs import Game
from ...envs.core.counted import counted
from ...envs.core.installed import install
from ..evaluation.against import Result, measure, plays, team_table
from ..evaluation.best_response import best_response as play_best_response
from ..evaluation.comparison import Comparison
from ..evaluation.cross_play import mirrored
from ..evaluation.scores import Score, score_table
from ..evaluation.theory import compare
from ..learning.run_folder import existing as folder_of
from ..parallel.tasks import Task
from ..terminal.console import Console
from ..terminal.progress import counting_bar
from .arguments import GameArguments, PolicyArguments, PolicyName, PromptArguments, ReportArguments, WorkerArguments
from .evaluate_model import DEALS as MODEL_DEALS
from .evaluate_model import evaluate_model
from .held_out import GAMES as HELD_OUT_GAMES
from .held_out import evaluate_held_out
from .lookup import LLM, game_of, located, policy, rivals, silenced, warn_about_differences
from .searching import searching
from .teams import MATCHES as TEAM_MATCHES
from .teams import evaluate_teams, require_room_for

DEALS = 20_000
"""Deals per opponent."""
PARALLEL = 4
"""Requests to a language model at the same time."""
MIRRORED = "+: {} wins. What the opponent wins from it is the same number with the other sign."
"""Below the results of a game in which two seats have the same sum every time."""
FIRST = (
    "against", "deals", "best-response", "held-out", "teams", "game", "seats", "options", "search",
    "model", "llm-url", "json",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class EvaluatedArguments:
    """The policy, and the game that it plays."""

    run: PolicyName = ""
    game: str | None = None
    """The game by name. Default: the policy's own; for a bot, the first game that has it."""
    seats: tuple[int, ...] = ()
    """Number of seats; with --teams several, one after the other. Default: the policy's; for a bot, that of the game's
    preset."""
    options: tuple[str, ...] = ()
    """The game's options as name=value. Default: the policy's."""


@dataclass(frozen=True, kw_only=True)
class PlayArguments:
    """How the policy plays."""

    deterministic: bool = False
    """Play the most likely action instead of a random draw."""
    search: bool = False
    """The policy searches before it acts, without a time limit. Tangram: a beam search. Hold'em: from the flop on
    hands of two players are solved again; that takes half a second to seven seconds for each decision, so take few
    deals."""
    mute: tuple[str, ...] | None = None
    """The policy cannot say anything; with --teams, the teams named here. What this changes is what its talk is
    worth."""
    scramble: tuple[str, ...] | None = None
    """Every statement of the policy is replaced by a random one; with --teams, those of the teams named here."""


def command(
    *,
    evaluated: EvaluatedArguments,
    against: tuple[str, ...] | None = None,
    deals: int | None = None,
    best_response: bool = False,
    held_out: bool = False,
    teams: tuple[str, ...] | None = None,
    hands: int = 1_000,
    play: PlayArguments,
    raw: bool = False,
    picture: Path | None = None,
    asked: PromptArguments,
    parallel: int | None = None,
    work: WorkerArguments,
    report: ReportArguments,
) -> None:
    """Evaluate a policy over duplicate deals in every seat, and print the mean per hand with its 95 % interval.

    The return is what the policy has in one seat, with the opponent in all others. What the opponent wins from it is
    measured as `parlour exploit` does: what the opponent has in one seat, with the policy in all others, and in a game
    that is not zero-sum, more than the policy itself has there. In a game with teams the policy plays one team and the
    opponent the others, and the opponent in the policy's place stands beside it. If the game has a known equilibrium,
    the policy is also compared with it: it plays all seats; a picture is drawn. Of llm, the language model of --model,
    the wrong answers, tokens, time and cost are counted too; it plays against each opponent, and no other measure.

    Args:
        against: Opponents: bots, runs or policy files. Each one plays all other seats; of several joined by +, such as
            call+tight, each plays as many, in turns around the table. Default: every bot that can play the game with
            its options.
        deals: Deals per opponent. Each deal is played once with the policy in each seat; in a game with teams, once
            for each team. Matches with --teams, games per set with --held-out. Default: 20000; 5000 with --teams; 2000
            with --held-out; 20 of a language model.
        best_response: Play a best response: exact in auctions, a lower bound in heads-up hold'em.
        held_out: Measure the policy on the held-out sets of its game, such as tangram's figures, which are not used in
            training. It plays all seats, and those of --against play the same sets.
        teams: In place of a run, the policies of the teams of --game, as team=policy, such as mafia=mixed town=first.
            Print how often each team wins, and how it plays. A team may have several policies, compared with its first
            one; two joined by +, as in town=first+mixed, share the team half and half; town=first+mixed:1 gives the
            second one seat. Default of a team: the first bot of the game's preset.
        hands: Number of hands of the best response in hold'em.
        raw: Count every result as it was, luck included. Default: where the game has a method for it, luck is taken
            out (hold'em: that of the board, or of all-ins); the mean is the same, the interval is smaller.
        picture: File for the picture. Default: theory.png in the run folder.
        parallel: Requests to a language model at the same time. Default: 4.
    """
    if evaluated.run != LLM:
        mode = evaluated.run or "--teams"
        asked.language_model([mode])
        _require_no_others(mode, parallel=parallel is not None)
    if teams is not None:
        others = {"run": evaluated.run, "against": against, "best_response": best_response, "held_out": held_out}
        _require_no_others("--teams", **others)
        if evaluated.game is None:
            raise ValueError("--teams: name the game with --game")
        game = GameArguments(game=evaluated.game, options=evaluated.options)
        matches = TEAM_MATCHES if deals is None else deals
        evaluate_teams(game, teams, evaluated.seats, matches, play.mute or (), play.scramble or (), report)
        return
    if not evaluated.run:
        raise ValueError("name a run, a policy file or a bot; or the policies of teams with --teams")
    if play.mute or play.scramble or len(evaluated.seats) > 1:
        raise ValueError("names after --mute and --scramble, and several numbers of --seats, are for --teams")
    seats = evaluated.seats[0] if evaluated.seats else None
    policy_arguments = PolicyArguments(run=evaluated.run, game=evaluated.game, options=evaluated.options, seats=seats)
    if evaluated.run == LLM:
        others = {name: getattr(play, name) for name in ("deterministic", "search", "mute", "scramble")}
        _require_no_others(LLM, best_response=best_response, held_out=held_out, raw=raw, picture=picture, **others)
        games, at_once = MODEL_DEALS if deals is None else deals, PARALLEL if parallel is None else parallel
        evaluate_model(policy_arguments, against or (), games, at_once, asked, report)
        return
    if held_out:
        _require_no_others("--held-out", best_response=best_response, mute=play.mute, scramble=play.scramble)
        games = HELD_OUT_GAMES if deals is None else deals
        evaluate_held_out(policy_arguments, against, games, play.deterministic, play.search, report)
        return
    measured = _Measured(
        deals=DEALS if deals is None else deals, best_response=best_response, hands=hands, raw=raw, play=play
    )
    _evaluate(policy_arguments, against or (), measured, picture, work, report)


def _require_no_others(mode: str, **others: object) -> None:
    """Raise ValueError for an option that has no meaning beside another one."""
    for name, value in others.items():
        if value not in (None, False, ""):
            what = "a run" if name == "run" else f"--{name.replace('_', '-')}"
            raise ValueError(f"{mode}: {what} has no meaning beside it")


@dataclass(frozen=True, kw_only=True)
class _Measured:
    """What is measured, and how the policy plays; see `command`."""

    deals: int
    best_response: bool
    hands: int
    raw: bool
    play: PlayArguments


def _evaluate(
    evaluated: PolicyArguments,
    against: tuple[str, ...],
    what: _Measured,
    picture: Path | None,
    work: WorkerArguments,
    report: ReportArguments,
) -> None:
    """Measure a policy over duplicate deals; the arguments are those of `command`."""
    run, seed, play = evaluated.run, report.seed, what.play
    mute, scramble = play.mute is not None, play.scramble is not None
    game = game_of(run, evaluated.game, evaluated.options, evaluated.seats)
    trained = policy(run, game, seed, play.deterministic)
    player = silenced(searching(run, trained, game, seed) if play.search else trained, game, mute, scramble, seed)
    opponents = _opponents(against or (() if what.best_response else rivals(game)), game)
    number = count(1)
    around = {name: [policy(part, game, seed + next(number)) for part in parts] for name, parts in opponents.items()}
    seated = [(name, one) for name, parts in around.items() for one in parts]
    warn_about_differences([(run, trained), *seated], game)
    settings = {"deals": what.deals, "seed": seed, "adjusted": not what.raw}
    tasks = [
        Task(measure, (name, parts, player, game), settings, plays(game, len(parts)) * what.deals)
        for name, parts in around.items()
    ]
    if what.best_response:
        tasks.append(Task(play_best_response, (player, game), {"hands": what.hands, "seed": seed}, what.hands))
    with counting_bar("evaluate", sum(task.size for task in tasks)) as done:
        outcomes = work.workers.run(tasks, done)
    results = [result for of_opponent in outcomes[: len(around)] for result in of_opponent]
    exploited = outcomes[-1] if what.best_response else None
    again = policy(run, game, seed, play.deterministic)  # so that its draws do not depend on the evaluation before
    again = searching(run, again, game, seed) if play.search else again
    beside = compare(again, game, matches=what.deals, seed=seed)
    if report.as_json:
        record = _record(run, game, seed, results, exploited)
        record |= {"search": play.search, "mute": mute, "scramble": scramble}
        print(json.dumps({**record, "theory": beside and beside.to_dict()}, indent=2))
    else:
        how = {"with search": play.search, "mute": mute, "with scrambled statements": scramble}
        shown = ", ".join([run, *(words for words, wanted in how.items() if wanted)])
        _show(shown, game, results, exploited, beside)
    if beside is not None:
        _save(beside, picture, folder_of(run))


def _opponents(names: Sequence[str], game: Game) -> dict[str, list[str]]:
    """Return the policies of each opponent; a mistyped name is an error before any play.

    Raises:
        ValueError: for an unknown name, or more policies than seats.
    """
    opponents = {name: _parts(name, {"random": None, **game.bots}) for name in names}
    for name, called in opponents.items():
        if len(called) > game.seats - 1:
            raise ValueError(f"--against {name}: {len(called)} policies for {game.seats - 1} other seats")
        if game.capabilities.teams is not None:
            require_room_for(len(called), name, game)
    return opponents


def _parts(name: str, bots: Mapping[str, Any]) -> list[str]:
    """Return the policies of ``one+two``; a name that exists as it is counts as one."""
    try:
        return [located(name, bots)]
    except ValueError:
        if "+" not in name:
            raise
        return [located(part, bots) for part in name.split("+")]


def _save(beside: Comparison, picture: Path | None, folder: Path | None) -> None:
    """Save the picture to `picture`, else in the run folder (a bot has none), and print its path or the problem."""
    path = picture or (folder / "theory.png" if folder else None)
    if path is None:
        return
    try:
        beside.save(path)
    except ImportError:
        if picture is not None:
            raise
        print(f"no picture: matplotlib is not installed: {install('plot')}", file=sys.stderr)
    else:
        print(f"picture: {path}", file=sys.stderr)


def _show(run: str, game: Game, results: Sequence[Result], exploited: Score | None, beside: Comparison | None) -> None:
    console = Console()
    title = f"{run} at {game.name}, {counted(game.seats, 'seats')}"
    if results and game.capabilities.teams is not None:
        console.print(team_table(results, title))
    elif results:
        wins = {one.against: one.wins for one in results if one.wins is not None}
        console.print(score_table({one.against: one.score for one in results}, title, wins or None))
        if wins and mirrored(game):
            console.print(MIRRORED.format(run), markup=False)
    if exploited is not None:
        console.print(
            f"a best response wins from it {exploited} {exploited.unit} over {exploited.games:,} hands"
            + (f": the exploitability is at least {exploited.low:.3f}" if exploited.low > 0 else ""),
            highlight=False,
            markup=False,
        )
    if beside is not None:
        console.print(beside.table(f"{run} in all seats, beside theory"))


def _record(run: str, game: Game, seed: int, results: Sequence[Result], exploited: Score | None) -> dict[str, Any]:
    return {
        "policy": run,
        "game": game.id,
        "options": dict(game.options),
        "seed": seed,
        "results": [result.to_dict() for result in results],
        "best_response": None if exploited is None else exploited.to_dict(),
    }
