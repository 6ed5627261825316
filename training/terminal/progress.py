"""Progress bars on stderr. Nothing is drawn if stderr is not a terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from .console import Console

STDERR = Console(stderr=True)
"""The only console on stderr: displays on the same console do not overwrite each other."""


@contextmanager
def counting_bar(task: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show a bar that counts up to `total`; yield the function that advances it."""
    with Progress(console=STDERR, transient=True, disable=not STDERR.is_terminal) as bar:
        number = bar.add_task(task, total=total)
        yield lambda count: bar.advance(number, count)


def training_bar() -> Progress:
    """Return a bar for training; its tasks have a `note`, shown at the end of the line."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    return Progress(*columns, console=STDERR, refresh_per_second=4, disable=not STDERR.is_terminal)
