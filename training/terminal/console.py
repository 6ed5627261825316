"""The console of all commands, and its progress bars: in a terminal of any width no number and no name is cut."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from typing import Any

import rich.console
from rich.cells import cell_len
from rich.console import RenderableType
from rich.progress import Progress, ProgressColumn, Task, TaskID, TimeElapsedColumn
from rich.table import Column, Table
from rich.text import Text

NUMBER = re.compile(r"[-+−±]?\d[\d.,]*(e[-+]?\d+)?%?")
"""A word that is a number."""


class Console(rich.console.Console):
    """A console of rich that does not colour numbers, and prints a table whose numbers do not fit row by row."""

    def __init__(self, *, highlight: bool = False, **settings: Any) -> None:
        super().__init__(highlight=highlight, **settings)

    def print(self, *objects: Any, **settings: Any) -> None:
        """Print the objects. The arguments are those of rich."""
        super().print(*(self._whole(one) if isinstance(one, Table) else one for one in objects), **settings)

    def say(self, *lines: str) -> None:
        """Print lines as they are; the terminal wraps what is too long."""
        for line in lines:
            self.print(line, markup=False, soft_wrap=True)

    def _whole(self, table: Table) -> Table | Text:
        """Return a table as it is, with words folded; or as text, where a heading or a number would be cut.

        It is text, too, where the table would pass the edge.
        """
        for column in table.columns:
            column.overflow = "fold"
        drawn = "".join(segment.text for segment in self.render(table))
        cells = (_plain(cell) for column in table.columns for cell in column.cells)
        numbers = (word for cell in cells for word in cell.split() if NUMBER.fullmatch(word))
        heads = (word for column in table.columns for word in _plain(column.header).split())
        fits = max(map(cell_len, drawn.splitlines()), default=0) <= self.width
        return table if fits and all(word in drawn for word in chain(numbers, heads)) else _row_by_row(table)


def table_of(heads: Sequence[str], rows: Iterable[Sequence[str]], title: str | None = None, texts: int = 1) -> Table:
    """Return a table of rows; the first `texts` columns are words, all others numbers.

    Without a heading that is not empty it has no line of headings.
    """
    columns = [Column(head, justify="left" if index < texts else "right") for index, head in enumerate(heads)]
    table = Table(*columns, title=title, show_header=any(heads))
    for row in rows:
        table.add_row(*row)
    return table


def _plain(cell: Any) -> str:
    return Text.from_markup(cell).plain if isinstance(cell, str) else str(cell)


def _row_by_row(table: Table) -> Text:
    """Return a table as a paragraph for each row, with a line for each cell."""
    heads = [_plain(column.header) for column in table.columns]
    rows = zip(*(column.cells for column in table.columns), strict=True)
    lines = [] if table.title is None else [_plain(table.title), ""]
    for row in rows:
        cells = [" ".join(_plain(cell).split()) for cell in row]
        lines += [f"{head}: {cell}" if head else cell for head, cell in zip(heads, cells, strict=True) if cell]
        lines.append("")
    return Text("\n".join(lines[:-1]))


STDERR = Console(stderr=True)
"""The only console on stderr: displays on the same console do not overwrite each other."""


EVERY = 30.0
"""Seconds between two lines where stderr is no terminal."""


class _Bar(Progress):
    """A bar with the `note` of its task, a text or what returns it, below; beside the bar it would cut the time left.

    Where stderr is no terminal, it is a line every `EVERY` seconds.
    """

    def __init__(self, *columns: ProgressColumn, **options: Any) -> None:
        super().__init__(*columns, "left", console=STDERR, disable=not STDERR.is_terminal, **options)
        self._printed = self.get_time()

    def get_renderables(self) -> Iterable[RenderableType]:
        """Yield the bar of each task, and its note."""
        for task in self.tasks:
            yield self.make_tasks_table([task])
            if note := _note_of(task):
                yield Text(note)

    def update(self, task_id: TaskID, **fields: Any) -> None:
        """Update a task."""
        super().update(task_id, **fields)
        now = self.get_time()
        task = self.tasks[self.task_ids.index(task_id)]
        if not self.disable or STDERR.quiet or now - self._printed < EVERY or task.finished:
            return
        self._printed = now
        words = (f"{task.description}: {task.percentage:.0f} %", _note_of(task))
        with suppress(OSError):  # where nobody reads, the work goes on
            print(", ".join(filter(None, words)), file=STDERR.file, flush=True)


def _note_of(task: Task) -> str:
    note = task.fields["note"]
    return str(note() if callable(note) else note)


@contextmanager
def counting_bar(task: str, total: float, note: Callable[[], str] | str = "") -> Iterator[Callable[[float], None]]:
    """Show a bar that counts up to `total`; yield the function that advances it. `note` returns words below it."""
    with _Bar(*Progress.get_default_columns(), transient=True) as bar:
        number = bar.add_task(task, total=total, note=note)
        yield lambda count: bar.update(number, advance=count)


def training_bar() -> Progress:
    """Return a bar for training; its tasks have a `note`, shown below the bar."""
    *columns, left = Progress.get_default_columns()
    return _Bar(*columns, TimeElapsedColumn(), left, refresh_per_second=4, speed_estimate_period=300)
