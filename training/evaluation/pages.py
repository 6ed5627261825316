"""Pages of results: style, tables that fit a phone, how a result was made; the page of a ladder."""

import html
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from html import escape as quoted
from importlib import metadata
from importlib.resources import files
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...envs.render.svg import escape
from ...wrappers import replay
from ...wrappers.agents.language_model import without_secrets
from .duplicate import Score

STYLES = files(replay).joinpath("palette.css"), files(__package__).joinpath("pages.css")
SECRET = re.compile(r"-.*(token|api[-_]key|password|secret)")
"""An option whose value is a secret; that of ``--access-token-file`` is the name of a file."""


def provenance(argv: Sequence[str] | None = None) -> dict[str, Any]:
    """Return when, with which version and by which command a result was made.

    Args:
        argv: the command line; None: that of this process. Secrets in it, and in its URLs, are replaced by ``…``.

    >>> provenance(["/bin/parlour", "host", "arena", "kuhn", "--access-token", "sesame"])["command"]
    'parlour host arena kuhn --access-token …'
    """
    program, *args = sys.argv if argv is None else argv
    name = program.replace("\\", "/").rpartition("/")[2]
    words, hidden = ["parlour" if name == "cli.py" else name], False  # run as a module
    for arg in args:
        name, equals, _ = arg.partition("=")
        is_secret = SECRET.fullmatch(name) is not None
        words.append("…" if hidden else f"{name}=…" if is_secret and equals else without_secrets(arg))
        hidden = is_secret and not equals
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "version": f"parlour {metadata.version('parlour')}",
        "command": " ".join(word if word.endswith("…") else shlex.quote(word) for word in words),
    }


def facts(rows: Mapping[str, Any]) -> str:
    """Return a list of names and values as HTML; those that are None or empty are left out."""
    filled = {name: value for name, value in rows.items() if value not in (None, "", {})}
    parts = (f"<dt>{escape(name)}</dt><dd>{escape(_words(value))}</dd>" for name, value in filled.items())
    return f'<dl class="facts">{"".join(parts)}</dl>'


def _words(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_words(part)}" for name, part in value.items() if part is not None)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return " ".join(map(_words, value)) if isinstance(value, list | tuple) else str(value)


def document(title: str, body: str, about: Mapping[str, Any] = MappingProxyType({})) -> str:
    """Return an HTML page in one file that needs no network.

    Args:
        title: its title, as text.
        body: HTML.
        about: facts below the title (see `facts`).
    """
    style = "".join(file.read_text("utf-8") for file in STYLES)
    top = f"<section>{facts(about)}</section>" if about else ""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
        f"<title>{escape(title)}</title><style>{style}</style></head><body><main><h1>{escape(title)}</h1>"
        f"{top}{body}</main></body></html>\n"
    )


def table(
    caption: str,
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    ranks: str | None = None,
    meanings: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Return an HTML table. On a phone every row is a list of its cells, each with its heading.

    Args:
        caption: its title, as text.
        heads: the headings, as text.
        rows: cells of HTML.
        ranks: the heading of the column by which the rows are sorted; None: none.
        meanings: what the columns mean, by heading; those of other tables are left out.
    """
    sort = {ranks: ' aria-sort="descending"'}
    head = "".join(f"<th{sort.get(name, '')}>{escape(name)}</th>" for name in heads)
    body = "".join(f"<tr>{''.join(map(_cell, heads, row))}</tr>" for row in rows)
    meant = {name: meanings[name] for name in heads if name in meanings}
    below = f"<details><summary>What the columns mean</summary>{facts(meant)}</details>" if meant else ""
    return (
        f"<section><table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
        f"</table>{below}</section>"
    )


def without_empty(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[list[str], list[list[str]]]:
    """Return the headings and rows of a table without the columns that have a dash in every row."""
    kept = [place for place in range(len(heads)) if any(row[place] != "—" for row in rows)]
    return [heads[place] for place in kept], [[row[place] for place in kept] for row in rows]


def _cell(head: str, cell: str) -> str:
    return f'<td data-column="{quoted(head)}">{cell}</td>'


def ladder_page(
    title: str, scores: Mapping[str, Score], payoffs: NDArray[np.float64], replay: str | None, about: Mapping[str, Any]
) -> str:
    """Return the HTML of a ladder, in one file that needs no network.

    Args:
        title: the page's title.
        scores: what each policy wins from all others, the best first.
        payoffs: float64[N, N], what the row's policy wins from the column's, in the same order.
        replay: the HTML of sample games; None: none.
        about: how the results were made.
    """
    heads, rows = ladder_columns(scores)
    parts = [table("Ladder", heads, [[escape(cell) for cell in row] for row in rows], heads[1])]
    most = max(float(np.abs(payoffs).max()), 1e-12)
    rows = [
        [escape(name), *("–" if i == j else _shaded(float(won), most) for j, won in enumerate(row))]
        for i, (name, row) in enumerate(zip(scores, payoffs, strict=True))
    ]
    unit = next(iter(scores.values())).unit
    parts.append(table(f"What the row wins from the column ({unit})", ["policy", *scores], rows))
    if replay is not None:
        parts.append(f'<h2>Sample games</h2><iframe title="games" srcdoc="{html.escape(replay)}"></iframe>')
    return document(title, "".join(parts), about)


def ladder_columns(scores: Mapping[str, Score]) -> tuple[list[str], list[list[str]]]:
    """Return the headings and the rows of the table of a ladder."""
    heads = ["policy", f"mean against the others, 95 % interval ({next(iter(scores.values())).unit})"]
    return heads, [[name, score.in_two_lines()] for name, score in scores.items()]


def _shaded(value: float, most: float) -> str:
    colour = "46 160 67" if value > 0 else "218 54 51"
    strength = 0.5 * abs(value) / most  # text on it must stand out
    return f'<span style="background: rgb({colour} / {strength:.2f}); padding: .2rem .4rem">{value:+.3f}</span>'
