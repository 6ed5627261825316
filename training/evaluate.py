"""Evaluation over duplicate deals: every deal is played once with the policy in each seat."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from math import sqrt
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from ..envs import Game, VectorGame
from ..envs.core.rng import streams
from ..envs.core.vector import STAY
from ..wrappers.policy import Policy
from .names import RUNS, game_of, located, player
from .theory import Comparison, compare

TABLES = 4_096
"""Tables played side by side."""


@dataclass(frozen=True)
class Score:
    """A mean with its 95 % confidence interval.

    Attributes:
        mean: per game (hold'em: per hand).
        low: lower end of the interval.
        high: upper end.
        deals: independent deals, over which the interval is computed.
        games: games played: each deal once in every seat.
        unit: what `mean` counts, such as ``"big blinds per hand"``.
    """

    mean: float
    low: float
    high: float
    deals: int
    games: int
    unit: str

    @classmethod
    def of(cls, results: NDArray[np.float64], unit: str, games: int) -> "Score":
        """Summarise one result per deal (float64[deals], at least 2): Student's interval of the mean."""
        mean = float(results.mean())
        half = _quantile(len(results) - 1) * float(results.std(ddof=1)) / sqrt(len(results))
        return cls(mean, mean - half, mean + half, len(results), games, unit)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dict for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        return f"{self.mean:+.3f} [{self.low:+.3f}, {self.high:+.3f}]"


def _quantile(freedom: int) -> float:
    """Return the 97.5 % quantile of Student's t (Abramowitz and Stegun 26.7.5; within 1 % from 3 degrees on)."""
    if freedom < 3:
        return (12.706, 4.303)[freedom - 1]
    z = 1.959964
    first, second = (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3


def evaluate(
    policy: Policy,
    game: Game,
    opponents: Sequence[Policy],
    *,
    deals: int = 20_000,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Score:
    """Play duplicate deals and return what `policy` wins per game.

    The same deal is played with the policy in each seat and the opponents in the others, in the same order to its
    left. What a good hand brings whoever holds it cancels out; the interval counts each deal once.

    Args:
        policy: who is evaluated.
        game: any game with its options.
        opponents: one for every other seat (the first sits to the policy's left), or a single one for all of them.
        deals: how many, at least 2; each is played once per seat.
        seed: of the deals. Policies draw from their own streams.
        progress: called with the number of deals just played.

    Returns:
        The mean in `game.payoffs.unit` (hold'em: big blinds) per game, with a 95 % interval.

    Raises:
        ValueError: if the number of opponents does not fit the game, or there are fewer than 2 deals.
    """
    if len(opponents) not in (1, game.seats - 1):
        raise ValueError(f"{len(opponents)} opponents at {game.seats} seats: give {game.seats - 1}, or one for all")
    if deals < 2:
        raise ValueError(f"deals={deals}: an interval needs at least 2")
    around = [policy, *(opponents if len(opponents) > 1 else list(opponents) * (game.seats - 1))]
    seeds = streams(seed, deals).tolist()
    size = max(1, TABLES // game.seats)
    results = []
    for start in range(0, deals, size):
        chunk = seeds[start : start + size]
        results.append(_play(game, around, chunk))
        if progress is not None:
            progress(len(chunk))
    per = "hand" if game.options.get("hands") == 1 else "game"
    return Score.of(np.concatenate(results) / game.payoffs.unit, f"{game.payoffs.unit_name} per {per}", games=deals * game.seats)


def _play(game: Game, around: Sequence[Policy], seeds: Sequence[int]) -> NDArray[np.float64]:
    """Play every deal once with ``around[0]`` in each seat; return its mean reward of each deal, float64[deals]."""
    tables = VectorGame(game, len(seeds) * game.seats)
    tables.reset(seed=[seed for seed in seeds for _ in range(game.seats)])
    seat = np.tile(np.arange(game.seats), len(seeds))
    # Opponents that are one object act on all their seats in one batch.
    players = list({id(each): each for each in around}.values())
    who = np.array([next(i for i, one in enumerate(players) if one is each) for each in around])
    row = np.arange(tables.num_envs)
    live = np.ones(tables.num_envs, np.bool_)
    total = np.zeros(tables.num_envs)
    actions = np.empty(tables.num_envs, np.int64)
    while live.any():
        actions[:] = STAY  # a finished table has been reset already; it waits for the others
        acting = who[(tables.turn - seat) % game.seats]
        for number, one in enumerate(players):
            mine = np.flatnonzero(live & (acting == number))
            if len(mine):
                actions[mine] = one.act(tables.observations[mine], tables.action_masks[mine])
        tables.step(actions)
        total += tables.rewards[row, seat]
        live &= ~tables.dones
    per_deal: NDArray[np.float64] = total.reshape(-1, game.seats).mean(axis=1)
    return per_deal


# The command.


def command(
    run: tyro.conf.Positional[str],
    *,
    against: tuple[str, ...] = (),
    game: str | None = None,
    seats: int | None = None,
    options: tuple[str, ...] = (),
    deals: int = 20_000,
    best_response: bool = False,
    hands: int = 1_000,
    deterministic: bool = False,
    seed: int = 0,
    picture: Path | None = None,
    as_json: Annotated[bool, tyro.conf.arg(name="json")] = False,
) -> None:
    """Tell how strong a policy is: duplicate deals in every seat, mean per hand with its 95 % interval.

    Auctions and bargaining are also set beside their closed form, with the policy in all seats and with a picture.

    Args:
        run: a run folder or its name below runs/, a saved policy, or a bot.
        against: opponents, each on all other seats in turn: bots, runs or files. Default: every bot that plays the game
            with its options.
        game: its name; default: the run's, or holdem.
        seats: how many; default: the run's, or 2.
        options: the game's options as key=value; default: the run's.
        deals: deals per opponent, each played once with the policy in every seat.
        best_response: bound the policy's exploitability by local best response (heads-up hold'em).
        hands: hands that the best response plays.
        deterministic: the policy plays its most likely action instead of drawing one.
        seed: of deals and policies.
        picture: file for the picture; default: theory.png in the run folder.
        as_json: print JSON instead of tables.
    """
    chosen = game_of(run, game, options, seats)
    policy = player(run, chosen, seed, deterministic)
    names = against or (() if best_response else _rivals(chosen))
    known = {"random": None, **chosen.bots}
    opponents = {name: located(name, known) for name in names}  # a mistyped name is told before any is played
    scores = {}
    for number, (name, spec) in enumerate(opponents.items(), 1):
        with progress_bar(f"against {name}", deals) as done:
            rivals = [player(spec, chosen, seed + number)]
            scores[name] = evaluate(policy, chosen, rivals, deals=deals, seed=seed, progress=done)
    exploited = _exploited(policy, chosen, hands, seed) if best_response else None
    again = player(run, chosen, seed, deterministic)  # so that its draws do not depend on who came before
    beside = compare(again, chosen, matches=deals, seed=seed)
    if as_json:
        report = _record(run, chosen, seed, scores, exploited)
        print(json.dumps({**report, "theory": beside and beside.to_dict()}, indent=2))
    else:
        _show(run, chosen, scores, exploited, beside)
    if beside is not None:
        _save(beside, picture, _folder(run))


def _rivals(game: Game) -> tuple[str, ...]:
    """Return the bots that play the game with its options (some solve it for certain ones only); `random` plays all."""
    return tuple(name for name in game.bots if _plays(name, game)) or ("random",)


def _plays(name: str, game: Game) -> bool:
    try:
        game.bots[name](game, 0)
    except ValueError:
        return False
    return True


def _folder(run: str) -> Path | None:
    """Return the folder of a run; None for a bot or a file."""
    return next((folder for folder in (Path(run), RUNS / run) if folder.is_dir()), None)


def _save(beside: Comparison, picture: Path | None, folder: Path | None) -> None:
    """Save the picture where it is wanted, else in the run folder (a bot has none), and tell where, or why not."""
    path = picture or (folder / "theory.png" if folder else None)
    if path is None:
        return
    try:
        beside.save(path)
    except ImportError:
        if picture is not None:
            raise
        print("no picture: matplotlib is not installed: pip install 'parlour[plot]'", file=sys.stderr)
    else:
        print(f"picture: {path}", file=sys.stderr)


def _show(run: str, game: Game, scores: dict[str, Score], exploited: Score | None, beside: Comparison | None) -> None:
    console = Console()
    if scores:
        console.print(score_table(scores, f"{run} at {game.name}, {game.seats} seats"))
    if exploited is not None:
        interval = f"[{exploited.low:,.0f}, {exploited.high:,.0f}]"
        console.print(
            f"local best response wins {exploited.mean:,.0f} {interval} {exploited.unit} over {exploited.games:,} "
            "hands: the exploitability is at least that",
            highlight=False,
            markup=False,
        )
    if beside is not None:
        console.print(beside.table(f"{run} in all seats, beside theory"))


def _exploited(policy: Policy, game: Game, hands: int, seed: int) -> Score:
    from .best_response import best_response

    with progress_bar("best response", hands) as done:
        return best_response(policy, game, hands=hands, seed=seed, progress=done)


def _record(run: str, game: Game, seed: int, scores: dict[str, Score], exploited: Score | None) -> dict[str, Any]:
    return {
        "policy": run,
        "game": game.id,
        "options": dict(game.options),
        "seed": seed,
        "results": [{"against": name, **score.to_dict()} for name, score in scores.items()],
        "best_response": None if exploited is None else exploited.to_dict(),
    }


def score_table(scores: dict[str, Score], title: str) -> Table:
    """Return the scores by opponent as a table for people."""
    unit = next(iter(scores.values())).unit
    table = Table("against", unit, "95 % interval", "deals", title=title)
    for column in table.columns[1:]:
        column.justify = "right"
    for name, score in scores.items():
        colour = "green" if score.low > 0 else "red" if score.high < 0 else "yellow"
        table.add_row(
            name, f"[{colour}]{score.mean:+.2f}[/]", f"{score.low:+.2f} to {score.high:+.2f}", f"{score.deals:,}"
        )
    return table


@contextmanager
def progress_bar(task: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show a progress bar on the terminal (nothing elsewhere); yield what advances it."""
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        number = bar.add_task(task, total=total)
        yield lambda count: bar.advance(number, count)
