"""`parlour watch`: a match on one screen of the terminal, drawn anew with every action."""

from collections import deque
from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap

import tyro
from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.text import Text

from ...wrappers.agents.human import HumanAgent
from ...wrappers.logs.match_log import opened
from .arguments import language_model
from .play import TerminalMatch, check, finish, seated

REMEMBERED = 12
"""Actions that stand beside the table, or over it where there is no room beside it: as many as fit, the latest last."""
WORDS = 4
"""Lines that what is said beside an action takes there, at most."""
LATELY = (30, 64)
"""Columns that they take beside it, at least and at most."""


class Screen:
    """The table, what was done lately, and the results, in one place.

    Args:
        match: what is shown; its results as they are.
        live: where.
    """

    def __init__(self, match: TerminalMatch, live: Live) -> None:
        self._match = match
        self._live = live
        self._done: deque[str] = deque(maxlen=REMEMBERED)

    def show(self, headline: str, table: str, said: Sequence[str]) -> None:
        """Show the table as text; `headline` is the latest action, or which episode begins."""
        self._done.append(headline)
        for words in said:
            self._done.extend(wrap(words, LATELY[1] - 4, max_lines=WORDS))
        self._live.update(self._drawn(table), refresh=True)

    def _drawn(self, table: str) -> RenderableType:
        """Fit it to the terminal: what comes too low is cut off, so the latest action never does."""
        console = self._live.console
        text = Text(table)
        text.highlight_regex(r"(?m)^>.*$", "bold yellow")  # whose turn it is
        board = Panel(text, title=self._match.game.id, expand=False)
        rows = len(console.render_lines(board))
        beside = console.width - console.measure(board).maximum - 1
        stacked = beside < LATELY[0]
        results: RenderableType = self._match.table()
        results_rows = len(console.render_lines(results))
        if rows + results_rows + (5 if stacked else 0) > console.height - 1:
            results = self._match.line()
            results_rows = len(console.render_lines(results))
        if not stacked:
            return Group(Columns([board, self._lately(REMEMBERED, min(beside, LATELY[1]))]), results)
        room = console.height - 1 - rows - results_rows - 2
        return Group(self._lately(max(1, min(room, REMEMBERED)), None), board, results)

    def _lately(self, count: int, width: int | None) -> Panel:
        lately = Text("\n".join(list(self._done)[-count:]), no_wrap=True, overflow="ellipsis")
        lately.highlight_regex(r"[^\n]*\Z", "bold")
        return Panel(lately, title="lately", width=width)


def command(
    game: tyro.conf.Positional[str],
    *,
    agents: tuple[str, ...],
    hands: int = 10,
    delay: float = 0.5,
    options: tuple[str, ...] = (),
    model: str | None = None,
    llm_url: str | None = None,
    seed: int | None = None,
    log: Path | None = None,
) -> None:
    """Watch a match on one screen of the terminal, every seat's secrets open. Ctrl-C ends it.

    Args:
        game: its name, such as holdem.
        agents: who plays, seat by seat: runs, policy files, bots, llm.
        hands: how many hands (episodes of other games) to play.
        delay: seconds to wait after every action.
        options: the game's options as key=value.
        model: the language model that llm stands for.
        llm_url: its endpoint, such as http://127.0.0.1:8080/v1; default: the environment's OPENAI_BASE_URL.
        seed: of everything that is dealt and drawn; default: another match every time.
        log: file to which the match is written, for `parlour replay`.
    """
    check(hands, delay)
    chosen, players = seated(game, agents, options, seed, language_model(model, llm_url))
    if any(isinstance(player, HumanAgent) for player in players):
        raise ValueError("a person plays with: parlour play, or parlour table in the browser")
    console = Console(highlight=False)
    with opened(log) as book, Live(console=console, auto_refresh=False) as live:
        match = TerminalMatch(chosen, players, agents, console, delay, book)
        match.show = Screen(match, live).show
        finish(match, hands, seed)
