"""The page of `parlour COMMAND --help`: the most used options, in a sentence each, and the names of the rest."""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from .terminal.console import Console

MOST = 10
"""The most options that are described."""
NAMES = 26
"""The width of the column of their names."""
WIDE = 80
"""A width at which tyro breaks no name of an option, and writes one column."""


@dataclass(frozen=True)
class Entry:
    """An argument in tyro's help.

    Attributes:
        name: an option's name, without its dashes; empty: a positional argument.
        shown: the argument with its value, such as ``--deals a whole number``.
        text: its description.
        default: its default as written; empty: none that says anything.
    """

    name: str
    shown: str
    text: str
    default: str

    @property
    def sentence(self) -> str:
        """The first sentence of the description, with the default."""
        first = re.split(r"(?<=[a-z0-9)\]])\. ", self.text, maxsplit=1)[0].rstrip(".")
        return f"{first}. ({self.default})" if self.default and "Default:" not in self.text else f"{first}."


def print_page(prog: str, whole: Callable[[], object], first: Sequence[str]) -> None:
    """Print the page.

    Args:
        prog: the command, such as ``parlour evaluate``.
        whole: prints tyro's help.
        first: the names of the options that are described, in order; empty: the first ones of tyro's help.
    """
    printed = BytesIO()
    with _columns(WIDE), redirect_stdout(TextIOWrapper(printed, "utf-8")) as out, suppress(SystemExit):
        whole()
    out.flush()
    summary, entries = read(printed.getvalue().decode())
    options = {entry.name: entry for entry in entries if entry.name}
    described = [name for name in first or list(options) if name in options][:MOST]
    others = [name for name in options if name not in described]
    console = Console()
    arguments = [entry for entry in entries if not entry.name]
    console.print(f"Usage: {prog} {''.join(f'{entry.shown} ' for entry in arguments)}[options]\n", markup=False)
    console.print(f"{summary}\n", markup=False)
    table = Table.grid(
        padding=(0, 2),
    )
    table.add_column(width=NAMES, overflow="fold")
    table.add_column()
    for entry in [*arguments, *(options[name] for name in described)]:
        table.add_row(Text(entry.shown, "bold"), entry.sentence)
    console.print(Padding(table, (0, 0, 0, 2)))
    if others:
        console.print(f"\nMore options ({prog} --help-all describes every option):", markup=False, soft_wrap=True)
        console.print(Padding(Text(" ".join(f"--{name}" for name in others)), (0, 0, 0, 2)))


def read(page: str) -> tuple[str, list[Entry]]:
    """Return the first paragraph and the arguments of tyro's help, printed in one line each."""
    text, *_ = page.partition("╭")
    paragraphs = [" ".join(part.split()) for part in text.split("\n\n")]
    return next((part for part in paragraphs if part and not part.startswith("usage:")), ""), list(_entries(page))


def _entries(page: str) -> Iterator[Entry]:
    blocks: list[list[str]] = []
    for line in page.splitlines():
        inside = re.fullmatch(r"│ (.*?)\s*│", line)
        if inside is None:
            blocks.append([])  # the edge of a box: what follows begins anew
        elif inside[1].startswith("-") or re.match(r"\[?[A-Z]{2,}…?\]?( |$)", inside[1]):
            blocks.append([inside[1]])
        elif blocks and blocks[-1]:
            blocks[-1].append(inside[1].strip())
    for block in blocks:
        if block and not block[0].startswith("-h,"):
            yield _entry(*block)


def _entry(head: str, *lines: str) -> Entry:
    shown, *begun = re.split(" {2,}", head, maxsplit=1)
    shown = re.sub(r", --no-[\w-]+", "", shown)  # that a switch can also be set off says --help-all
    text, default = " ".join([*begun, *lines]), ""
    text = text.removesuffix(" (required)")
    ending = re.search(r" ?\(default: ?(.*?)\)$", text)
    if ending is not None:
        text = text[: ending.start()]
        default = "" if ending[1] in ("", "None", "False", "''") else f"default: {ending[1]}"
    name = re.match(r"--([\w-]+)", shown)
    return Entry(
        "" if name is None else name[1], shown.strip().strip("[]") if name is None else shown.strip(), text, default
    )


@contextmanager
def _columns(width: int) -> Iterator[None]:
    """Set the width that libraries take for that of the terminal."""
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = str(width)
    try:
        yield
    finally:
        if before is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = before
