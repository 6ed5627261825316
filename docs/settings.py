"""The page of the settings of training in the site's reference, from the dataclasses that the code uses."""

import ast
import inspect
import re
from dataclasses import MISSING, Field, fields
from itertools import pairwise
from textwrap import dedent
from typing import Any

from parlour.training.algorithms import find, names
from parlour.training.learning.settings import TrainConfig
from words import table

NAMED_ELSEWHERE = ("game", "preset")
"""Settings that the first argument of `parlour train` gives."""
WHEN = "Change it "
"""How the sentence begins that says when one would change a setting."""

HEAD = """# Settings of training

Every setting of `parlour train`, by learning algorithm, with its default, and when to change it. A preset changes
the defaults for its game (`parlour list presets`). Those without an option of their own are set by
`--set name=value`; see [training](../training.md#settings).
"""


def settings_page() -> str:
    """Return the page."""
    parts = [HEAD, "## All algorithms", _table(TrainConfig, [*_own(TrainConfig)])]
    for name in names():
        kind = find(name).Config
        own = [
            each
            for each in _own(kind)
            if each not in _own(TrainConfig) or _default(kind, each) != _default_of_all(each)
        ]
        parts += [f"## `{name}`", _table(kind, own)]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def descriptions(kind: type[TrainConfig]) -> dict[str, str]:
    """Return the description of every setting of a class of settings, by name."""
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__[:-1]):
        body = ast.parse(dedent(inspect.getsource(base))).body[0].body  # type: ignore[attr-defined]
        for node, after in pairwise(body):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and isinstance(after, ast.Expr):
                found[node.target.id] = " ".join(ast.literal_eval(after.value).split())
    return found


def _own(kind: type[TrainConfig]) -> dict[str, Field[Any]]:
    return {each.name: each for each in fields(kind) if each.name not in NAMED_ELSEWHERE}


def _default(kind: type[TrainConfig], name: str) -> Any:
    field = _own(kind)[name]
    return field.default if field.default_factory is MISSING else field.default_factory()


def _default_of_all(name: str) -> Any:
    return _default(TrainConfig, name)


def _table(kind: type[TrainConfig], chosen: list[str]) -> str:
    texts = descriptions(kind)
    rows = []
    for name in chosen:
        what, _, when = texts[name].partition(WHEN)
        rows.append([f"`{name}`", _shown(_default(kind, name)), what.strip(), (WHEN + when).strip()])
    return table(["setting", "default", "what it is", "when one would change it"], rows)


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        value = " ".join(f"{name}={each:g}" for name, each in value.items())
    if isinstance(value, tuple):
        value = " ".join(map(str, value))
    text = f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
    return "" if text in ("", "None") else f"`{re.sub(',', '_', text)}`"
