"""The console of all commands: in a terminal of any width no number is cut, and no name."""

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

import rich.console
from rich.cells import cell_len
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

    def _whole(self, table: Table) -> Table | Text:
        """Return a table as it is, with words folded; or as text, where a heading or a number would be cut.

        It is text, too, where the table would pass the edge.
        """
        for column in table.columns:
            column.overflow = "fold"
        shown = "".join(segment.text for segment in self.render(table))
        numbers = (word for column in table.columns for word in _words(column) if NUMBER.fullmatch(word))
        heads = (word for column in table.columns for word in _plain(column.header).split())
        fits = max(map(cell_len, shown.splitlines()), default=0) <= self.width
        return table if fits and all(word in shown for word in chain(numbers, heads)) else _row_by_row(table)


def _words(column: Column) -> Iterator[str]:
    for cell in column.cells:
        yield from _plain(cell).split()


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
