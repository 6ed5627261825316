"""`parlour play_teams`: mafia by sides. What the mafia and the town win when one policy plays each, and how they play."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

import tyro
from rich.console import Console
from rich.table import Table

from ...envs.mafia.habits import HABITS
from ..evaluation.scores import progress_bar
from ..evaluation.teams import Ratio, Share, TeamResult, play_teams
from .arguments import game_with, player

# The command.


def command(
    *,
    mafia: tuple[str, ...] = ("mixed",),
    town: tuple[str, ...] = ("mixed",),
    seats: tuple[int, ...] = (10,),
    options: tuple[str, ...] = (),
    matches: int = 5_000,
    seed: int = 0,
    as_json: Annotated[bool, tyro.conf.arg(name="json")] = False,
) -> None:
    """Tell what each side of mafia wins when one policy plays all of it, and how it plays.

    With several policies for a side, it also tells how often each loses against the first policy of the other side,
    beside how often the first one loses in its place.

    Args:
        mafia: who plays the mafia, each in turn: bots, runs or policy files.
        town: who plays the town, each in turn.
        seats: how many players, each in turn.
        options: the game's options as key=value.
        matches: matches of each combination.
        seed: of deals and policies.
        as_json: print JSON instead of a table.
    """
    results = []
    for count in seats:
        game = game_with("mafia", options, seats=count)
        for villains in mafia:
            for townsfolk in town:
                pair = player(villains, game, seed + 1), player(townsfolk, game, seed + 2)
                with progress_bar(f"{villains} against {townsfolk}, {count} seats", matches) as done:
                    found = play_teams(game, *pair, matches=matches, seed=seed, progress=done)
                results.append((count, villains, townsfolk, found))
    if as_json:
        print(json.dumps([{"seats": n, "policies": [m, t], **asdict(found)} for n, m, t, found in results], indent=2))
    else:
        Console().print(*tables(results))


Results = Sequence[tuple[int, str, str, TeamResult]]


def tables(results: Results) -> list[Table]:
    """Return what the command shows, legible on 80 columns however long the policies' names are."""
    spoken, cast = HABITS[:4], HABITS[4:]
    made = [
        _wins(results),
        _places(results),
        _habits(results, spoken, "what they say"),
        _habits(results, cast, "how they vote"),
    ]
    for table in made:
        for column in table.columns:
            column.overflow = "fold"
    return made


def _wins(results: Results) -> Table:
    table = Table("seats", "mafia", "town", "mafia wins", "95 %", "days", title="mafia by sides")
    for column in table.columns[3:]:
        column.justify = "right"
    for seats, mafia, town, found in results:
        won = found.mafia
        interval = f"{won.low:.3f} to {won.high:.3f}"
        table.add_row(str(seats), mafia, town, f"{won.share:.3f}", interval, f"{found.days:.1f}")
    return table


def _places(results: Results) -> Table:
    """Return how often each policy loses beside the first of its side, against the first of the other side."""
    table = Table("seats", "side", "loses", "in its place", "ratio", title="in the place of another")
    for side in ("mafia", "town"):
        first: dict[int, tuple[str, Share, str]] = {}
        for seats, mafia, town, found in results:
            name, rival, lost = (mafia, town, found.town) if side == "mafia" else (town, mafia, found.mafia)
            before, reference, against = first.setdefault(seats, (name, lost, rival))
            if name != before and rival == against:
                row = f"{name}\n{lost}", f"{before}\n{reference}", str(Ratio.of(lost, reference))
                table.add_row(str(seats), f"{side}, against {rival}", *(cell.replace(" [", "\n[") for cell in row))
    return table


def _habits(results: Results, shown: Sequence[str], title: str) -> Table:
    """Return some habits of both sides."""
    table = Table("seats", "side", *shown, title=title)
    for column in table.columns[2:]:
        column.justify = "right"
    for seats, mafia, town, found in results:
        for side, name in (("mafia", mafia), ("town", town)):
            table.add_row(str(seats), f"{name} ({side})", *(f"{found.habits[side][habit]:.0%}" for habit in shown))
    return table
