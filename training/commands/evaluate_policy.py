"""Measures a policy over duplicate deals."""

import json
import sys
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from ...envs import Game
from ...envs.core.counted import counted
from ...envs.core.installed import install
from ..evaluation.against import Result, measure, plays, team_table
from ..evaluation.comparison import Comparison
from ..evaluation.cross_play import mirrored
from ..evaluation.scores import score_table
from ..evaluation.theory import compare
from ..learning.run_folder import existing as folder_of
from ..parallel.tasks import Task
from ..terminal.console import Console
from ..terminal.progress import counting_bar
from .arguments import PlayArguments, PolicyArguments, ReportArguments, WorkerArguments
from .lookup import game_of, located, policy, rivals, silenced, warn_about_differences
from .searching import searching
from .teams import require_room_for

MIRRORED = "+: {} wins. What the opponent wins from it is the same number with the other sign."
"""Below the results of a game in which two seats have the same sum every time."""


def evaluate_policy(
    evaluated: PolicyArguments,
    against: tuple[str, ...],
    deals: int,
    play: PlayArguments,
    raw: bool,
    picture: Path | None,
    work: WorkerArguments,
    report: ReportArguments,
) -> None:
    """Measure a policy over duplicate deals; the arguments are those of `parlour evaluate`."""
    run, seed, search = evaluated.run, report.seed, play.search
    game = game_of(run, evaluated.game, evaluated.options, evaluated.seats)
    trained = policy(run, game, seed, play.deterministic)
    player = searching(run, trained, game, seed) if search else trained
    player = silenced(player, game, play.mute, play.scramble, seed)
    opponents = _opponents(against or rivals(game), game)
    number = count(1)
    around = {name: [policy(part, game, seed + next(number)) for part in parts] for name, parts in opponents.items()}
    seated = [(name, one) for name, parts in around.items() for one in parts]
    warn_about_differences([(run, trained), *seated], game)
    settings = {"deals": deals, "seed": seed, "adjusted": not raw}
    tasks = [
        Task(measure, (name, parts, player, game), settings, plays(game, len(parts)) * deals)
        for name, parts in around.items()
    ]
    with counting_bar("evaluate", sum(task.size for task in tasks)) as done:
        results = [result for of_opponent in work.workers.run(tasks, done) for result in of_opponent]
    again = policy(run, game, seed, play.deterministic)  # so that its draws do not depend on the evaluation before
    again = searching(run, again, game, seed) if search else again
    beside = compare(again, game, matches=deals, seed=seed)
    if report.as_json:
        record = {"policy": run, "game": game.id, "options": dict(game.options), "seed": seed}
        record |= {"results": [result.to_dict() for result in results]}
        record |= {"search": search, "mute": play.mute, "scramble": play.scramble}
        print(json.dumps({**record, "theory": beside and beside.to_dict()}, indent=2))
    else:
        how = {"with search": search, "mute": play.mute, "with scrambled statements": play.scramble}
        _show(", ".join([run, *(words for words, wanted in how.items() if wanted)]), game, results, beside)
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


def _show(run: str, game: Game, results: Sequence[Result], beside: Comparison | None) -> None:
    console = Console()
    title = f"{run} at {game.name}, {counted(game.seats, 'seats')}"
    if results and game.capabilities.teams is not None:
        console.print(team_table(results, title))
    elif results:
        wins = {one.against: one.wins for one in results if one.wins is not None}
        console.print(score_table({one.against: one.score for one in results}, title, wins or None))
        if wins and mirrored(game):
            console.print(MIRRORED.format(run), markup=False)
    if beside is not None:
        console.print(beside.table(f"{run} in all seats, beside theory"))
