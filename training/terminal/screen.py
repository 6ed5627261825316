"""Screen: a match on one screen of the terminal, redrawn after every action."""

from collections import deque
from collections.abc import Sequence
from textwrap import wrap

from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.text import Text

from .match import TerminalMatch

REMEMBERED = 12
"""The most lines of actions shown beside the table (above it on narrow screens), the latest last."""
WORDS = 4
"""The most lines of an action, and of each of its messages."""
QUESTION = 8
"""The lines below the table for what a person is asked."""
LATELY = (30, 64)
"""The least and the most columns of the list of actions."""


class Screen:
    """The table, the latest actions and the results on one screen.

    Args:
        match: the match.
        live: the display; None: a person plays, who is asked below the table.
    """

    def __init__(self, match: TerminalMatch, live: Live | None) -> None:
        self._match = match
        self._live = live
        self._console = match.console if live is None else live.console
        self._below = QUESTION if live is None else 1
        self._done: deque[str] = deque(maxlen=REMEMBERED if live is not None else self._console.height)
        self._table = ""

    def show(self, headline: str, table: str, said: Sequence[str]) -> None:
        """Show the table as text; `headline` is the latest action, or the number of a new episode."""
        self._done.extend([headline, *said])
        self._table = table
        self.draw()

    def draw(self) -> None:
        """Draw the screen again."""
        if self._live is not None:
            self._live.update(self._drawn(self._table), refresh=True)
        else:
            self._console.clear()
            self._console.print(self._drawn(self._table))

    def _drawn(self, table: str) -> RenderableType:
        """Return the drawing, fitted to the terminal: the end of the table is cut off, never the latest action."""
        console = self._console
        text = Text(table)
        text.highlight_regex(r"(?m)^>.*$", "bold yellow")  # the acting seat
        eyes = self._match.eyes
        you = "" if eyes is None else f"you are {self._match.game.agents[eyes]}"
        title = " · ".join(filter(None, [self._match.game.id, self._match.number, you]))
        board = Panel(text, title=Text(title), expand=False)
        rows = len(console.render_lines(board))
        beside = console.width - console.measure(board).maximum - 1
        # A person reads what was said: the list stands where it has more lines.
        stacked = beside < LATELY[0] or (self._live is None and console.height - self._below > 2 * rows)
        width = console.width if stacked else min(beside, LATELY[1])
        lines = self._lines(width, REMEMBERED)
        results: RenderableType = self._match.table()
        results_rows = len(console.render_lines(results))
        if rows + results_rows + (2 + len(lines) if stacked else 0) > console.height - self._below:
            results = self._match.line()
            results_rows = len(console.render_lines(results))
        if not stacked:
            return Group(Columns([board, self._lately(lines, width)]), results)
        room = console.height - self._below - rows - 2
        shown = [results] if room > results_rows else []
        count = max(1, room - results_rows * len(shown))
        return Group(self._lately(self._lines(width, count), width), board, *shown)

    def _lines(self, width: int, count: int) -> list[str]:
        """Return what was done and said lately, in at most so many lines of a panel of this width."""
        most = min(WORDS, count)
        return [
            line for words in self._done for line in wrap(words, max(1, width - 4), max_lines=most, placeholder=" …")
        ][-count:]

    def _lately(self, lines: Sequence[str], width: int) -> Panel:
        lately = Text("\n".join(lines), no_wrap=True, overflow="ellipsis")
        lately.highlight_regex(r"[^\n]*\Z", "bold")
        return Panel(lately, title="lately", width=width)
