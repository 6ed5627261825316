"""`parlour sides`: mafia by sides. What the mafia and the town win when one policy plays each, and how they play."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from math import exp, nan, sqrt
from typing import Annotated

import numpy as np
import tyro
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from ..envs.core.game import Batch, Game, Tables
from ..envs.core.rng import streams
from ..envs.core.vector import STAY
from ..envs.mafia.habits import HABITS, habits
from ..envs.mafia.table import MAFIA, MAFIA_WINS, TOWN_WINS
from ..wrappers.policy import Policy
from .evaluate import progress_bar
from .names import game_with, player

TABLES = 4_096
"""Matches played side by side."""


@dataclass(frozen=True)
class Share:
    """The share of the matches that a side won, with its 95 % interval (Wilson's).

    Attributes:
        share: of all matches, 0 to 1.
        low: lower end of the interval.
        high: upper end.
        matches: how many were played.
    """

    share: float
    low: float
    high: float
    matches: int

    @classmethod
    def of(cls, won: int, matches: int) -> "Share":
        """Return the share of `won` in `matches`, at least 1."""
        share, z2 = won / matches, 1.959964**2
        middle = (share + z2 / (2 * matches)) / (1 + z2 / matches)
        half = sqrt(z2 * (share * (1 - share) / matches + z2 / (4 * matches**2))) / (1 + z2 / matches)
        return cls(share, middle - half, middle + half, matches)

    def __str__(self) -> str:
        return f"{self.share:.3f} [{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True)
class Ratio:
    """One share by another, with its 95 % interval (Katz's).

    Attributes:
        ratio: not a number where either share is 0, and so are `low` and `high`.
        low: lower end of the interval.
        high: upper end.
    """

    ratio: float
    low: float
    high: float

    @classmethod
    def of(cls, one: Share, other: Share) -> "Ratio":
        """Divide `one` by `other`."""
        p, q = one.share, other.share
        if not p or not q:
            return cls(nan, nan, nan)
        spread = exp(1.959964 * sqrt((1 - p) / (one.matches * p) + (1 - q) / (other.matches * q)))
        return cls(p / q, p / q / spread, p / q * spread)

    def __str__(self) -> str:
        return f"{self.ratio:.3f} [{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True)
class Sides:
    """What both sides won and how they played.

    Attributes:
        mafia: the matches that the mafia won.
        town: the matches that the town won; the rest ended by the limit of days.
        days: the mean length.
        habits: by side (``"mafia"``, ``"town"``) the shares that `habits` tells.
    """

    mafia: Share
    town: Share
    days: float
    habits: dict[str, dict[str, float]]


def finished(game: Game, mafia: Policy, town: Policy, seeds: NDArray[np.uint64]) -> Tables:
    """Play one match per seed with `mafia` in all seats of the mafia and `town` in all others.

    Returns:
        The records of the matches as they ended, recarray of shape (len(seeds),).
    """
    tables, batch = game.tables(len(seeds)), Batch.of(game, len(seeds))
    records = tables.view(np.ndarray)
    tables.stream = seeds
    game.reset_batch(records, batch)
    own = game.layout["game_state.players.role"].start + MAFIA - 1
    actions = np.empty(len(seeds), np.int64)
    while not tables.done.all():
        actions[:] = STAY
        live = ~tables.done
        villains = batch.observations[:, own] > 0
        for policy, who in ((mafia, live & villains), (town, live & ~villains)):
            rows = np.flatnonzero(who)
            if len(rows):
                actions[rows] = policy.act(batch.observations[rows], batch.masks[rows])
        game.step_batch(records, actions, batch, False)
    return tables


def sides(
    game: Game,
    mafia: Policy,
    town: Policy,
    *,
    matches: int = 5_000,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Sides:
    """Play `matches` matches, `mafia` against `town`.

    Args:
        game: mafia with its options.
        mafia: plays all seats of the mafia.
        town: plays all other seats.
        matches: how many, at least 1.
        seed: of the deals. Policies draw from their own streams.
        progress: called with the number of matches just played.
    """
    if matches < 1:
        raise ValueError(f"matches={matches}: need at least 1")
    seeds, done = streams(seed, matches), []
    for start in range(0, matches, TABLES):
        done.append(finished(game, mafia, town, seeds[start : start + TABLES]))
        if progress is not None:
            progress(len(done[-1]))
    tables = np.concatenate(done).view(np.recarray)
    won = [int((tables.winner == winner).sum()) for winner in (MAFIA_WINS, TOWN_WINS)]
    return Sides(
        Share.of(won[0], matches),
        Share.of(won[1], matches),
        float(tables.round_number.astype(np.int64).mean()),
        {"mafia": habits(tables, True), "town": habits(tables, False)},
    )


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
                    found = sides(game, *pair, matches=matches, seed=seed, progress=done)
                results.append((count, villains, townsfolk, found))
    if as_json:
        print(json.dumps([{"seats": n, "policies": [m, t], **asdict(found)} for n, m, t, found in results], indent=2))
    else:
        Console().print(*tables(results))


Results = Sequence[tuple[int, str, str, Sides]]


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
