"""`parlour demo`: train, evaluate, host a table, and play at it over WebSockets, in a few minutes."""

import asyncio
import os
import shutil
import sys
import time
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np
from rich.table import Table

from ...envs.core.counted import counted
from ...wrappers import MatchLog, PokerRules, ServerSettings
from ...wrappers.live.common.limits import PLAYER
from ...wrappers.live.poker.agent import PokerResult, SeatRequest, play
from ...wrappers.live.poker.host import PokerHost, PokerTimes
from ..evaluation.duplicate import Score, cells
from ..learning.run_folder import RUNS
from ..parallel.tasks import HERE
from ..terminal.console import Console, counting_bar, table_of
from . import evaluate
from .arguments import DealsArguments, PolicyArguments, ReportArguments
from .lookup import agent, game_with

SEATED = ("call", "tight")
"""The bots at the live table."""
LOG = "live.jsonl"
"""The match log in the run folder."""
BIG_BLIND = 2


def command(*, minutes: float = 1.0, deals: int = 5_000, hands: int = 200, seed: int = 0, runs: Path = RUNS) -> None:
    """Train a heads-up hold'em policy, evaluate it, and let it play at a live table.

    Args:
        minutes: Minutes of training.
        deals: Deals per opponent in the evaluation, each played in both seats.
        hands: Hands at the live table.
        seed: Seed of all random numbers.
        runs: The folder in which the run folder is made.
    """
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # small networks are fastest with one thread
    console = Console()
    console.rule("[bold]Parlour[/]")
    console.print(
        "A policy learns no-limit Texas hold'em here, from nothing, in three parts:\n"
        f"1. Train: the game is compiled (10 to 60 s, once), then the policy learns; minutes: {minutes:g}.\n"
        "2. Evaluate: it plays against three bots (half a minute).\n"
        "3. Play live: it plays against programs over the network of this machine (half a minute)."
    )
    from ..runs.config import load_config  # loads torch
    from ..runs.run import train

    console.rule("1. Train")
    console.print(
        "Two players with 100 big blinds each. It plays 256 tables at once on one core, against bots and its own past."
    )
    run = runs / f"demo-{time.strftime('%Y%m%d-%H%M%S')}"
    # A minute is short: mostly against the bots of the evaluation, the strongest most often, and less against itself.
    pool = {"call": 1.0, "tight": 4.0, "random": 0.5}
    config = load_config("holdem", minutes=minutes, seed=seed, run=run, past_checkpoints=0.2, bots=pool)
    folder = train(config, ["parlour", "demo"])
    console.rule("2. Evaluate")
    console.print(
        "Every deal is played twice, with the policy in either seat, so that good cards cancel out. The return is what "
        "it wins from each bot per hand; the true mean lies within the interval 95 times in 100."
    )
    played, report = DealsArguments(against=("random", *SEATED), deals=deals), ReportArguments(seed=seed)
    evaluate.command(PolicyArguments(str(folder)), played=played, workers=HERE, report=report)
    log = folder / LOG
    console.print(_live(console, folder, hands, seed, log))
    console.print(
        "So few hands are mostly luck: where an interval holds 0, they do not tell a winner from a loser. "
        "The evaluation above, of many more deals, tells what the policy wins."
    )
    console.print(f"model      {folder / 'model.zip'}", f"match log  {log}", sep="\n", soft_wrap=True)
    _tell_next(console, folder)


def _tell_next(console: Console, folder: Path) -> None:
    """Print commands to go on with; where the shell does not find them, first the one that makes it find them."""
    steps = {
        f"parlour play holdem --agents {quote(str(folder))} human": "play against it",
        f"parlour replay {quote(str(folder / LOG))} --serve": "step through the live hands in the browser",
        "parlour train holdem --minutes 8 --run first": "train longer; this one beats tight, too",
        "parlour evaluate first --against call tight": "measure it",
    }
    activate = Path(sys.prefix) / "bin" / "activate"  # of a virtual environment
    if shutil.which("parlour") is None and activate.exists():
        steps = {f"source {quote(str(activate))}": "once in each terminal", **steps}
    width = max(map(len, steps))
    lines = (f"  {command:{width}}   # {meaning}" for command, meaning in steps.items())
    console.say("", "What to do next:", *lines)


def _live(console: Console, folder: Path, hands: int, seed: int, log: Path) -> Table:
    """Play hands at a table server, and return the result; a player without chips gets a new stack."""
    console.rule("3. Play live")
    console.print(
        f"Four programs join a table server and play {hands} hands: the policy, a policy that comes with Parlour (of "
        f"the zoo), and the bots {' and '.join(SEATED)}. The trained policy learned with two players; here are four."
    )
    game = game_with("holdem", seats=4)
    agents = {"trained policy": agent(str(folder), game, seed), "zoo policy": agent("zoo:holdem", game, seed)}
    agents |= {f"bot {name}": agent(name, game, seed + number) for number, name in enumerate(SEATED, 1)}
    won = defaultdict[str, list[int]](list)
    with MatchLog(log) as match_log, counting_bar("hands", hands) as done:

        def note(kind: str, **event: Any) -> None:
            """Write an event of the host into the log, and count the chips that each player has won by it."""
            match_log.write(kind, **event)
            if kind == "hand":
                before = {row["seat"]: row for row in event["players"]}
                for row in event["results"]:
                    player = before[row["seat"]]
                    won[player["name"]].append(row["stack"] - player["stack"])
                done(1)

        begun = time.monotonic()
        host = PokerHost(
            PokerRules(seats=len(agents), min_players=len(agents), stack=200, raise_cap=None, hands=hands, rebuy=True),
            PokerTimes(act=10.0, hand=0.0),
            seed=seed,
            server=ServerSettings(limits=replace(PLAYER, rate=None)),
            on_event=note,
        )

        async def played() -> list[PokerResult]:
            async with host:
                seated = (play(host.url, player, seat=SeatRequest(name=name)) for name, player in agents.items())
                return await asyncio.gather(*seated)

        trained, *_others = asyncio.run(played())
    rows = []
    for name, chips in won.items():
        score = Score.of(np.array(chips) / BIG_BLIND, "", len(chips)) if len(chips) > 1 else None
        rows.append([name, f"{sum(chips):+d}", *(["", ""] if score is None else cells(score))])
    title = (
        f"{counted(max(map(len, won.values())), 'hands')} in {time.monotonic() - begun:.0f} s; the policy: "
        f"{counted(trained.actions, 'actions')}, {trained.rejected} refused, {trained.replaced} replaced"
    )
    return table_of(["who", "chips", "big blinds per hand", "95 % interval"], rows, title)
