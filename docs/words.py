"""Markdown from docstrings, JSON and rows."""

import inspect
import json
import re
from collections.abc import Sequence
from typing import Any

BRIDGES = {
    "turnstate": ("TurnState", "arena"),
    "mafia": ("mafia", "mafia"),
    "poker": ("poker", "poker"),
    "tangram": ("tangram", "tangram"),
}
"""What people call the protocol of a document that docstrings name, and the page of its bridge."""


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def plain(text: str) -> str:
    """Return a docstring's words on one line, in Markdown."""
    return " ".join(text.split()).replace("``", "`")


def linked(text: str) -> str:
    """Return the text with protocols linked to their bridges' pages where it names their documents."""
    for document, (name, bridge) in BRIDGES.items():
        link = f"[the {name} protocol](../bridges/{bridge}.md)"
        text = re.sub(rf"(?<![\w/]){document}(-notes)?\.md\b", link, text)
    return text


def first_sentence(function: Any) -> str:
    """Return the first line of a function's docstring."""
    whole = getattr(function, "func", function)
    return (inspect.getdoc(whole) or "").partition("\n")[0].rstrip(".")


def markdown(docstring: str) -> str:
    """Return a docstring in Markdown; its one table, of two columns, becomes one of Markdown."""
    text = inspect.cleandoc(docstring).replace("``", "`")
    before, *rest = re.split(r"^(=+ +=+)$", text, flags=re.MULTILINE)
    if not rest:
        return before
    lines = inspect.cleandoc(docstring).split(rest[0])[1].strip("\n").splitlines()
    column = rest[0].rindex(" ") + 1
    rows: list[list[str]] = []
    for line in lines:
        name, meaning = line[:column].strip(), line[column:].strip()
        if name:
            rows.append([name, meaning])
        else:
            rows[-1][1] += f" {meaning}"
    return before + table(["", ""], [[plain(cell) for cell in row] for row in rows]) + rest[-1]


def rounded(value: Any) -> Any:
    """Return plain data with floats of six digits, which are the same on every machine."""
    match value:
        case float():
            return float(f"{value:.6g}")
        case dict():
            return {key: rounded(part) for key, part in value.items()}
        case list() | tuple():
            return type(value)(map(rounded, value))
    return value


def written(value: Any) -> str:
    """Return JSON on one line."""
    return json.dumps(rounded(value), ensure_ascii=False)


def brief(value: Any) -> str:
    """Return JSON on one line, long lists of words shortened."""
    return re.sub(r'(\[(?:null, )?"\w+", )(?:"\w+", ){4,}("\w+"\])', r"\1…, \2", written(value))
