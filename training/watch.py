"""`parlour watch`: a match on one screen of the terminal, drawn anew with every action."""

from collections import deque
from contextlib import nullcontext
from pathlib import Path

import tyro
from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.text import Text

from ..wrappers.agent import HumanAgent
from ..wrappers.record import MatchLog
from .play import Match, check, finish, seated

REMEMBERED = 12
"""Actions that stand beside the table."""


class Screen:
    """The table, what was done lately, and the results, in one place.

    Args:
        match: what is shown; its results as they are.
        live: where.
    """

    def __init__(self, match: Match, live: Live) -> None:
        self._match = match
        self._live = live
        self._done: deque[str] = deque(maxlen=REMEMBERED)

    def show(self, headline: str, table: str) -> None:
        """Show the table as text; `headline` is the latest action, or which episode begins."""
        self._done.append(headline)
        self._live.update(self._drawn(table), refresh=True)

    def _drawn(self, table: str) -> RenderableType:
        text = Text(table)
        text.highlight_regex(r"(?m)^>.*$", "bold yellow")  # whose turn it is
        lately = Text("\n".join(self._done), overflow="ellipsis")
        lately.highlight_regex(r"[^\n]*\Z", "bold")
        panels = [Panel(text, title=self._match.game.id), Panel(lately, title="lately", width=46)]
        return Group(Columns(panels), self._match.table())


def command(
    game: tyro.conf.Positional[str],
    *,
    agents: tuple[str, ...],
    hands: int = 10,
    delay: float = 0.5,
    options: tuple[str, ...] = (),
    seed: int | None = None,
    log: Path | None = None,
) -> None:
    """Watch a match on one screen of the terminal, every seat's secrets open. Ctrl-C ends it.

    Args:
        game: its name, such as holdem.
        agents: who plays, seat by seat: runs, policy files, bots.
        hands: how many hands (episodes of other games) to play.
        delay: seconds to wait after every action.
        options: the game's options as key=value.
        seed: of everything that is dealt and drawn; default: another match every time.
        log: file to which the match is written, for `parlour replay`.
    """
    check(hands, delay)
    chosen, players = seated(game, agents, options, seed)
    if any(isinstance(player, HumanAgent) for player in players):
        raise ValueError("a person plays with: parlour play, or parlour table in the browser")
    console = Console(highlight=False)
    with MatchLog(log) if log is not None else nullcontext() as book, Live(console=console, auto_refresh=False) as live:
        match = Match(chosen, players, agents, console, delay, book)
        match.show = Screen(match, live).show
        finish(match, hands, seed)
