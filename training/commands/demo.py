"""`parlour demo`: train, evaluate, host a table, and play at it over WebSockets, in a few minutes."""

import asyncio
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.table import Table

from ...wrappers.agents.base import Agent
from ...wrappers.live.poker.agent import play
from ...wrappers.live.poker.host import PokerHost
from ...wrappers.logs.match_log import MatchLog
from ..evaluation.duplicate import evaluate
from ..evaluation.scores import score_table
from ..learning.run_folder import RUNS
from ..terminal.console import Console
from ..terminal.progress import counting_bar
from .lookup import agent, game_with, policy

RIVALS = ("random", "call", "tight")
SEATED = ("call", "tight")
"""The bots at the live table."""


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
        "Games for several agents, to learn in and to play live. This demo trains a policy for no-limit Texas hold'em "
        "from scratch, evaluates it, and lets it play at a table server, as on a live platform."
    )
    folder = _train(console, minutes, seed, runs)
    _evaluate(console, folder, deals, seed)
    log = folder / "live.jsonl"
    result = _live(console, folder, hands, seed, log)
    console.print(result.table())
    console.print(f"model      {folder / 'model.zip'}", f"match log  {log}", sep="\n", soft_wrap=True)
    console.print(
        f"\nNext: parlour play holdem --agents {folder} human"
        f"\n      parlour train holdem --minutes 15   and   parlour evaluate {folder} --best-response",
        soft_wrap=True,
    )


def _train(console: Console, minutes: float, seed: int, runs: Path) -> Path:
    from ..runs.config import load_config
    from ..runs.run import train

    console.rule("1. Train")
    console.print(
        "Two players, 100 big blinds each. The learner plays 256 tables at once, against bots and its own past "
        f"checkpoints, on one core; minutes: {minutes:g}."
    )
    name = f"demo-{time.strftime('%Y%m%d-%H%M%S')}"
    # A minute is short: mostly against the bots of the evaluation, the strongest most often, and less against itself.
    pool = {"call": 1.0, "tight": 4.0, "random": 0.5}
    config = load_config("holdem", minutes=minutes, seed=seed, runs=runs, name=name, past_checkpoints=0.2, bots=pool)
    return train(config, ["parlour", "demo"])


def _evaluate(console: Console, folder: Path, deals: int, seed: int) -> None:
    console.rule("2. Evaluate")
    console.print(
        "Every deal is played twice, with the policy in either seat, so that good cards cancel out. What it wins from "
        "each bot, with the 95 % confidence interval:"
    )
    game = game_with("holdem", seats=2)
    trained = policy(str(folder), game, seed)
    scores = {}
    for number, name in enumerate(RIVALS, 1):
        with counting_bar(f"against {name}", deals) as done:
            rivals = [policy(name, game, seed + number)]
            scores[name] = evaluate(trained, game, rivals, deals=deals, seed=seed, progress=done)
    console.print(score_table(scores, "heads-up"))


@dataclass
class Live:
    """The result of the live table.

    Attributes:
        names: the names of the players.
        chips: the winnings of each player, by name.
        hands, showdowns: their numbers.
        actions, refused, replaced: numbers of the trained policy's actions: accepted, refused by the server, and
            replaced by check or fold because they were late or illegal.
        seconds: the duration.
    """

    names: Sequence[str]
    chips: dict[str, int] = field(default_factory=dict)
    hands: int = 0
    showdowns: int = 0
    actions: int = 0
    refused: int = 0
    replaced: int = 0
    seconds: float = 0.0

    def table(self) -> Table:
        """Return the result as a table."""
        title = (
            f"live: {self.hands} hands, {self.showdowns} showdowns, {self.actions} actions of the policy "
            f"({self.refused} refused, {self.replaced} replaced), {self.seconds:.0f} s"
        )
        table = Table("who", "chips", "big blinds per hand", title=title)
        table.columns[1].justify = table.columns[2].justify = "right"
        for name in self.names:
            chips = self.chips.get(name, 0)
            table.add_row(name, f"{chips:+d}", f"{chips / 2 / max(1, self.hands):+.2f}")
        return table


def _live(console: Console, folder: Path, hands: int, seed: int, log: Path) -> Live:
    console.rule("3. Play live")
    console.print(
        f"A table server starts on this machine. The policy, the zoo's policy and the bots {' and '.join(SEATED)} join "
        f"it by HTTP and play {hands} hands over WebSockets. Both policies learned with two players; here are four."
    )
    table = game_with("holdem", seats=4)
    agents = {"trained policy": agent(str(folder), table, seed), "zoo policy": agent("zoo:holdem", table, seed)}
    agents |= {f"bot {name}": agent(name, table, seed + number) for number, name in enumerate(SEATED, 1)}
    with MatchLog(log) as match_log, counting_bar("hands", hands) as done:
        match = _LiveMatch(agents, hands, seed, match_log, done)
        asyncio.run(match.play())
    return match.live


class _LiveMatch:
    """A number of hands at one table server. When a player has no chips left, all players join a new table."""

    def __init__(self, agents: dict[str, Agent], hands: int, seed: int, match_log: MatchLog, done: Any) -> None:
        self.agents, self.hands, self.match_log, self.done = agents, hands, match_log, done
        self.live = Live(list(agents))
        self.host = PokerHost(
            seats=len(agents),
            min_players=len(agents),
            stack=200,
            raise_cap=None,
            hand_delay=0,
            timeout=10,
            rate=None,
            seed=seed,
            on_event=self._note,
        )

    async def play(self) -> None:
        begun = time.monotonic()
        async with self.host as host:
            while self.live.hands < self.hands:
                stays = [play(host.url, one, name=name) for name, one in self.agents.items()]
                policy, *_bots = await asyncio.gather(*stays)
                self.live.actions += policy.actions
                self.live.refused += policy.rejected
                self.live.replaced += policy.replaced
        self.live.seconds = time.monotonic() - begun

    def _note(self, kind: str, **event: Any) -> None:
        self.match_log.write(kind, **event)
        if kind == "hand" and self.live.hands < self.hands:
            before = {row["seat"]: row for row in event["players"]}
            for row in event["results"]:
                name, stack = before[row["seat"]]["name"], before[row["seat"]]["stack"]
                self.live.chips[name] = self.live.chips.get(name, 0) + row["stack"] - stack
            self.live.hands += 1
            self.live.showdowns += event["showdown"]
            self.done(1)
            if self.live.hands == self.hands or not all(row["stack"] for row in event["results"]):
                table = self.host.tables[event["table_id"]]
                asyncio.get_running_loop().call_soon(table.end, "admin_stopped")
