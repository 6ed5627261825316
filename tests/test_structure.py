"""The packages: what may import what, read from the sources without running them."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import parlour.envs
import parlour.training
import parlour.wrappers
import parlour.zoo
import pytest

TOPS = {top.__name__: Path(top.__path__[0]) for top in (parlour.envs, parlour.wrappers, parlour.training, parlour.zoo)}
GENERIC = [
    "parlour.envs.core", "parlour.envs.render", "parlour.envs.testing", "parlour.wrappers.rl",
    "parlour.wrappers.policies", "parlour.wrappers.agents", "parlour.wrappers.logs", "parlour.wrappers.live.common",
    "parlour.training.algorithms", "parlour.training.learning", "parlour.training.evaluation",
]  # fmt: skip
"""Packages that know no game."""


@cache
def sources():
    """The file of every module by its name."""
    files = {}
    for top, folder in TOPS.items():
        for file in folder.rglob("*.py"):
            parts = file.relative_to(folder).with_suffix("").parts
            files[".".join([top, *(part for part in parts if part != "__init__")])] = file
    return files


def imports_of(body, everywhere) -> Iterator[ast.ImportFrom]:
    """The imports that run when a module is loaded; `everywhere`: those inside functions too."""
    for node in body:
        if isinstance(node, ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        elif everywhere or not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from imports_of(ast.iter_child_nodes(node), everywhere)


def imported(module, everywhere=False):
    """The modules of the project that a module imports."""
    file, found = sources()[module], set()
    package = module.split(".")[: None if file.name == "__init__.py" else -1]
    for node in imports_of(ast.parse(file.read_text(encoding="utf-8")).body, everywhere):
        if node.level:  # inside the project all imports are relative
            origin = [*package[: len(package) - node.level + 1], *filter(None, [node.module])]
            names = [".".join([*origin, one.name]) for one in node.names]
            found |= {name if name in sources() else ".".join(origin) for name in names}
    return found - {module}


def test_there_is_no_import_cycle():
    assert len(sources()) > 300
    TopologicalSorter({module: imported(module) for module in sources()}).prepare()  # raises CycleError, with the cycle


@pytest.mark.parametrize(("below", "above"), [("envs", "wrappers"), ("envs", "training"), ("wrappers", "training")])
def test_what_lies_below_knows_nothing_of_what_lies_above(below, above):
    for module in sources():
        if module.startswith(f"parlour.{below}."):
            assert [one for one in imported(module, everywhere=True) if one.startswith(f"parlour.{above}")] == [], (
                module
            )


class WithoutDocstrings(ast.NodeTransformer):
    def visit_Expr(self, node):
        return None if isinstance(node.value, ast.Constant) else node


@pytest.mark.parametrize("package", GENERIC)
def test_generic_code_names_no_game(package):
    games = {game_id.partition("-")[0] for game_id in parlour.envs.GAMES}
    modules = [module for module in sources() if f"{module}.".startswith(f"{package}.")]
    assert games >= {"holdem", "mafia", "liars_dice", "cournot"} and modules
    named = re.compile(f"(?<![a-z])({'|'.join(games)})(?![a-z])")
    for module in modules:
        tree = WithoutDocstrings().visit(ast.parse(sources()[module].read_text(encoding="utf-8")))
        assert named.findall(ast.unparse(tree).lower()) == [], module
