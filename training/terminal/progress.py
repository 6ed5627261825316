"""Progress bars on stderr. Nothing is drawn if stderr is not a terminal."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from rich.console import RenderableType
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from .console import Console

STDERR = Console(stderr=True)
"""The only console on stderr: displays on the same console do not overwrite each other."""


@contextmanager
def counting_bar(task: str, total: float, note: Callable[[], str] | None = None) -> Iterator[Callable[[float], None]]:
    """Show a bar that counts up to `total`; yield the function that advances it. `note` returns words beside it."""
    columns = (*Progress.get_default_columns(), *([] if note is None else [_Note(note)]))
    with Progress(*columns, console=STDERR, transient=True, disable=not STDERR.is_terminal) as bar:
        number = bar.add_task(task, total=total)
        yield lambda count: bar.advance(number, count)


class _Note(ProgressColumn):
    """Words that change while the bar stands still."""

    def __init__(self, say: Callable[[], str]) -> None:
        super().__init__()
        self._say = say

    def render(self, task: Task) -> Text:
        """Return the words."""
        return Text(self._say())


class _NotedBar(Progress):
    """A bar with the `note` of each task in lines of its own: beside the bar it would cut the time that is left."""

    def get_renderables(self) -> Iterable[RenderableType]:
        """Yield the bar of each task, and its note."""
        for task in self.tasks:
            yield self.make_tasks_table([task])
            if task.fields["note"]:
                yield Text(task.fields["note"])


def training_bar() -> Progress:
    """Return a bar for training; its tasks have a `note`, shown below the bar."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    disable = not STDERR.is_terminal
    return _NotedBar(*columns, console=STDERR, refresh_per_second=4, disable=disable, speed_estimate_period=300)
