"""`parlour evaluate`: measures a policy over duplicate deals."""

import json
import sys
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from ...envs import Game
from ...envs.core.installed import install
from ..evaluation.against import Result, measure, plays, team_table
from ..evaluation.best_response import best_response as play_best_response
from ..evaluation.comparison import Comparison
from ..evaluation.scores import Score, score_table
from ..evaluation.theory import compare
from ..learning.run_folder import existing as folder_of
from ..parallel.tasks import Task
from ..terminal.console import Console
from ..terminal.progress import counting_bar
from .arguments import PolicyArguments, ReportArguments, WorkerArguments
from .lookup import game_of, located, policy, rivals, silenced, warn_about_differences
from .searching import searching
from .teams import require_room_for


def command(
    *,
    evaluated: PolicyArguments,
    against: tuple[str, ...] = (),
    deals: int = 20_000,
    best_response: bool = False,
    hands: int = 1_000,
    deterministic: bool = False,
    search: bool = False,
    mute: bool = False,
    scramble: bool = False,
    raw: bool = False,
    picture: Path | None = None,
    work: WorkerArguments,
    report: ReportArguments,
) -> None:
    """Evaluate a policy over duplicate deals in every seat, and print the mean per hand with its 95 % interval.

    The return is what the policy has in one seat, with the opponent in all others. What the opponent wins from it is
    measured as `parlour exploit` does: what the opponent has in one seat, with the policy in all others, and in a game
    that is not zero-sum, more than the policy itself has there. In a game with teams the policy plays one team and the
    opponent the others, and the opponent in the policy's place stands beside it. If the game has a known equilibrium,
    the policy is also compared with it: it plays all seats; a picture is drawn.

    Args:
        against: Opponents: bots, runs or policy files. Each one plays all other seats; of several joined by +, such as
            call+tight, each plays as many, in turns around the table. Default: every bot that can play the game with
            its options.
        deals: Deals per opponent. Each deal is played once with the policy in each seat; in a game with teams, once
            for each team.
        best_response: Play a best response: exact in auctions, a lower bound in heads-up hold'em.
        hands: Number of hands of the best response in hold'em.
        deterministic: Play the most likely action instead of a random draw.
        search: The policy searches before it acts, without a time limit. Tangram: a beam search. Hold'em: rivers of
            two players are solved again; it takes about half a second for each decision, so take few deals.
        mute: The policy cannot say anything. What this changes is what its talk is worth.
        scramble: Every statement of the policy is replaced by a random one.
        raw: Count every result as it was, luck included. Default: where the game has a method for it, luck is taken
            out (hold'em: that of the board, or of all-ins); the mean is the same, the interval is smaller.
        picture: File for the picture. Default: theory.png in the run folder.
    """
    run, seed = evaluated.run, report.seed
    game = game_of(run, evaluated.game, evaluated.options, evaluated.seats)
    trained = policy(run, game, seed, deterministic)
    player = silenced(searching(run, trained, game, seed) if search else trained, game, mute, scramble, seed)
    names = against or (() if best_response else rivals(game))
    known = {"random": None, **game.bots}
    opponents = {name: _parts(name, known) for name in names}  # a mistyped name is an error before any play
    for name, called in opponents.items():
        if len(called) > game.seats - 1:
            raise ValueError(f"--against {name}: {len(called)} policies for {game.seats - 1} other seats")
        if game.capabilities.teams is not None:
            require_room_for(len(called), name, game)
    number = count(1)
    around = {name: [policy(part, game, seed + next(number)) for part in parts] for name, parts in opponents.items()}
    seated = [(name, one) for name, parts in around.items() for one in parts]
    warn_about_differences([(run, trained), *seated], game)
    settings = {"deals": deals, "seed": seed, "adjusted": not raw}
    tasks = [
        Task(measure, (name, parts, player, game), settings, plays(game) * deals) for name, parts in around.items()
    ]
    if best_response:
        tasks.append(Task(play_best_response, (player, game), {"hands": hands, "seed": seed}, hands))
    with counting_bar("evaluate", sum(task.size for task in tasks)) as done:
        found = work.workers.run(tasks, done)
    results = [result for of_opponent in found[: len(around)] for result in of_opponent]
    exploited = found[-1] if best_response else None
    again = policy(run, game, seed, deterministic)  # so that its draws do not depend on the evaluation before
    again = searching(run, again, game, seed) if search else again
    beside = compare(again, game, matches=deals, seed=seed)
    if report.as_json:
        record = {**_record(run, game, seed, results, exploited), "search": search, "mute": mute, "scramble": scramble}
        print(json.dumps({**record, "theory": beside and beside.to_dict()}, indent=2))
    else:
        how = {"with search": search, "mute": mute, "with scrambled statements": scramble}
        shown = ", ".join([run, *(words for words, wanted in how.items() if wanted)])
        _show(shown, game, results, exploited, beside)
    if beside is not None:
        _save(beside, picture, folder_of(run))


def _parts(name: str, known: Mapping[str, Any]) -> list[str]:
    """Return the policies of ``one+two``; a name that exists as it is counts as one."""
    try:
        return [located(name, known)]
    except ValueError:
        if "+" not in name:
            raise
        return [located(part, known) for part in name.split("+")]


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
    title = f"{run} at {game.name}, {game.seats} seats"
    if results and game.capabilities.teams is not None:
        console.print(team_table(results, title))
    elif results:
        wins = {one.against: one.wins for one in results if one.wins is not None}
        console.print(score_table({one.against: one.score for one in results}, title, wins or None))
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
