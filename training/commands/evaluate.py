"""Evaluation over duplicate deals: every deal is played once with the policy in each seat."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console

from ...envs import Game
from ...wrappers.policies.base import Policy
from ..evaluation.duplicate import evaluate
from ..evaluation.scores import Score, progress_bar, score_table
from ..evaluation.theory import Comparison, compare
from .arguments import RUNS, game_of, located, player

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
    from ..evaluation.best_response import best_response

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
