"""Progress bars on stderr; a line now and then where stderr is no terminal."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from rich.console import RenderableType
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from .console import Console

STDERR = Console(stderr=True)
"""The only console on stderr: displays on the same console do not overwrite each other."""


EVERY = 30.0
"""Seconds between two lines where stderr is no terminal."""


class _Bar(Progress):
    """A bar; where stderr is no terminal, a line every `EVERY` seconds."""

    def __init__(self, *columns: ProgressColumn, **options: Any) -> None:
        super().__init__(*columns, console=STDERR, disable=not STDERR.is_terminal, **options)
        self._printed = self.get_time()

    def update(self, task_id: TaskID, **fields: Any) -> None:
        """Update a task."""
        super().update(task_id, **fields)
        now = self.get_time()
        if not self.disable or STDERR.quiet or now - self._printed < EVERY:
            return
        self._printed = now
        task = self.tasks[self.task_ids.index(task_id)]
        if task.finished:
            return
        note = task.fields.get("note")
        words = (f"{task.description}: {task.percentage:.0f} %", note() if callable(note) else note)
        with suppress(OSError):  # where nobody reads, the work goes on
            print(", ".join(filter(None, words)), file=STDERR.file, flush=True)


@contextmanager
def counting_bar(task: str, total: float, note: Callable[[], str] | None = None) -> Iterator[Callable[[float], None]]:
    """Show a bar that counts up to `total`; yield the function that advances it. `note` returns words beside it."""
    columns = [
        *Progress.get_default_columns(),
        TextColumn("left" if note is None else "left ·"),
        *([] if note is None else [_Note(note)]),
    ]
    with _Bar(*columns, transient=True) as bar:
        number = bar.add_task(task, total=total, note=note)
        yield lambda count: bar.update(number, advance=count)


class _Note(ProgressColumn):
    """Words that change while the bar stands still."""

    def __init__(self, say: Callable[[], str]) -> None:
        super().__init__()
        self._say = say

    def render(self, task: Task) -> Text:
        """Return the words."""
        return Text(self._say())


class _NotedBar(_Bar):
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
        TextColumn("left"),
    )
    return _NotedBar(*columns, refresh_per_second=4, speed_estimate_period=300)
