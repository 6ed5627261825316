"""The packages: what may import what, read from the sources without running them.

An import counts wherever it stands: at the top, in a function, or for types alone.
Every rule holds for every package. What is excepted is listed with its reason, and a test removes what needs none.
"""

import ast
import re
from collections import defaultdict
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import parlour.envs
import parlour.training
import parlour.wrappers
import parlour.zoo
import pytest
from forking import loaded

TOPS = {top.__name__: Path(top.__path__[0]) for top in (parlour.envs, parlour.wrappers, parlour.training, parlour.zoo)}

LAYERS = {
    "training": "the program `parlour`: it reads the command line",
    "training.commands": "one module per command, and what several commands share",
    "training.runs": "training runs: settings, begin, resume, the learned best response",
    "training.models": "language models: reference opponents, exact measures, data sets",
    "training.algorithms": "learning algorithms",
    "training.solving": "solvers, also of subgames at the table",
    "training.learning": "what the algorithms share: opponents, demonstrations, engines that collect decisions",
    "training.evaluation": "measures, also those of single games",
    "training.parallel": "calls in other processes, and signals",
    "training.terminal": "output in the terminal",
    "wrappers": "policies, agents, live platforms",
    "envs": "the games",
}
"""The layers from top to bottom. A module imports from its own layer and from those below it."""

CIRCLES = {("envs.core", "envs.render"): "an environment draws itself, and pictures are drawn from TurnStates"}
"""Pairs of packages with imports in both directions (between other modules: no module is in a circle)."""

PROTOCOLS = {
    ("lobby", "table"): "the lobby opens tables",
    ("table", "poker"): "hands with sitting out, rebuys and people who come and go",
}
"""Packages of `wrappers.live` that import another one besides `common`."""

GAMES = {game_id.partition("-")[0] for game_id in parlour.envs.GAMES}
NAMES_GAMES = {
    **{f"parlour.envs.{game}": "the game itself" for game in GAMES},
    "parlour.envs.small": "the small games themselves",
    "parlour.envs": "registers the games",
    "parlour.envs.economics": "games",
    "parlour.wrappers.live.arena.platform_games": "the platform's names of the games",
    "parlour.wrappers.live.arena.host": "the platform's word for the end of an auction",
    "parlour.wrappers.live.mafia": "the protocol of this game",
    "parlour.wrappers.live.poker": "the protocol of this game",
    "parlour.wrappers.live.tangram": "the protocol of this game",
    "parlour.wrappers.live.table.host": "the game whose board the page draws itself",
    "parlour.wrappers.live.table.poker": "the table of this game, which people sit down at and leave",
    "parlour.wrappers.policies.buckets": "the cards of the game that solved strategies put together",
    "parlour.wrappers.policies.solved": "strategies of the game, solved from samples",
    "parlour.wrappers.replay.phh": "files of poker hands",
    "parlour.wrappers.replay.log_reader": "files of poker hands",
    "parlour.training.cli": "the examples of the help",
    "parlour.training.commands": "the commands of protocols of one game, and the examples of the help",
    "parlour.training.evaluation.games": "the measures of one game",
    "parlour.training.solving": "solvers of one game",
}
"""Modules and packages that name games, and why. All others know none."""


@cache
def sources():
    """The file of every module by its name."""
    files = {}
    for top, folder in TOPS.items():
        for file in folder.rglob("*.py"):
            parts = file.relative_to(folder).with_suffix("").parts
            files[".".join([top, *(part for part in parts if part != "__init__")])] = file
    return files


@cache
def tree(module):
    return WithoutDocstrings().visit(ast.parse(sources()[module].read_text(encoding="utf-8")))


class WithoutDocstrings(ast.NodeTransformer):
    def visit_Expr(self, node):
        return None if isinstance(node.value, ast.Constant) else node


def folder(module):
    """The package that a module is in: the module itself, if it is one."""
    return module if sources()[module].name == "__init__.py" else module.rpartition(".")[0]


@cache
def imported(module):
    """The modules of the project that a module imports anywhere."""
    package, names = folder(module).split("."), set()
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.ImportFrom) and node.level:
            origin = [*package[: len(package) - node.level + 1], *filter(None, [node.module])]
            parts = [".".join([*origin, one.name]) for one in node.names]
            names |= {name if name in sources() else ".".join(origin) for name in parts}
    return names - {module}


def package(module):
    """The part of a module's name that is a package of the architecture, such as ``envs.core``."""
    parts = folder(module).split(".")[1:]
    return ".".join(parts[: 3 if parts[:2] == ["wrappers", "live"] else 2])


@cache
def package_imports():
    """The packages that each package imports."""
    found = defaultdict(set)
    for module in sources():
        found[package(module)] |= {package(name) for name in imported(module)} - {package(module)}
    return found


def test_imports_inside_the_project_are_relative():
    for module in sources():
        for node in ast.walk(tree(module)):
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and not node.level else []
            assert not [name for name in names if name.partition(".")[0] == "parlour"], module


def test_every_folder_of_modules_is_a_package():
    """Else setuptools leaves it out of the wheel."""
    folders = {file.parent for file in sources().values()}
    assert [folder for folder in folders if not (folder / "__init__.py").is_file()] == []


def test_there_is_no_import_cycle():
    assert len(sources()) > 100
    TopologicalSorter({module: imported(module) for module in sources()}).prepare()  # raises CycleError, with the cycle


def test_packages_do_not_import_each_other():
    graph = package_imports()
    assert {(one, other) for one in graph for other in graph[one] if one in graph[other] and one < other} == set(
        CIRCLES
    )


def test_imports_go_in_one_direction():
    order, used = list(LAYERS), set()

    def layer(module):
        return package(module) if package(module) in LAYERS else package(module).partition(".")[0]

    for module in sources():
        if layer(module) in LAYERS:
            used.add(layer(module))
            for name in imported(module):
                if layer(name) in LAYERS:
                    assert order.index(layer(module)) <= order.index(layer(name)), f"{module} imports {name}"
    assert used == set(LAYERS)


def test_a_protocol_does_not_know_another():
    found = {
        (one.split(".")[-1], other.split(".")[-1])
        for one, others in package_imports().items()
        for other in others - {"wrappers.live.common"}
        if one.startswith("wrappers.live.") and other.startswith("wrappers.live.")
    }
    assert found == set(PROTOCOLS)


def named_games(module):
    named = re.compile(f"(?<![a-z])({'|'.join(GAMES)})(?![a-z])")
    return set(named.findall(ast.unparse(tree(module)).lower()))


def exceptions(module):
    """The entries of `NAMES_GAMES` that a module falls under. The one of ``parlour.envs`` is for this module alone."""
    return {
        entry for entry in NAMES_GAMES if module == entry or (entry.count(".") > 1 and module.startswith(f"{entry}."))
    }


def test_generic_code_names_no_game():
    assert {"holdem", "mafia", "liars_dice", "cournot"} <= GAMES
    for module in sources():
        assert not named_games(module) or exceptions(module), f"{module} names {named_games(module)}"


def test_every_exception_is_needed():
    needed = {entry for module in sources() if named_games(module) for entry in exceptions(module)}
    games = {f"parlour.envs.{game}" for game in GAMES}
    assert set(NAMES_GAMES) - games - needed == set()


ROOT = Path(__file__).parents[1]


checkout = pytest.mark.skipif(not (ROOT / ".ci").is_dir(), reason="needs a checkout")


@checkout
def test_examples_are_few_and_short():
    lines = {file.name: loaded(ROOT / ".ci" / "size").code_lines(file) for file in ROOT.glob("examples/*.py")}
    assert 0 < len(lines) <= 12 and max(lines.values()) <= 100, lines


@checkout
@pytest.mark.parametrize("script", ["Makefile", ".ci/run", ".ci/mutants.py", ".ci/frameworks"])
def test_the_tests_that_a_script_names_exist(script):
    for word in re.findall(r"tests/[\w/*{},]+\.py", (ROOT / script).read_text("utf-8")):
        before, _, after = word.partition("{")
        names, _, end = after.partition("}")
        for path in [before + name + end for name in names.split(",")]:
            assert list(ROOT.glob(path)), f"{script} names {path}, which is not there"
