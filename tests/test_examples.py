"""Every example that a reader can copy runs: the pages' code blocks and the docstrings' examples."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path
from unittest.mock import patch

import needs
import pytest
from parlour.envs.core.registry import GAMES
from parlour.training import cli

HERE = Path(__file__).parents[1]
INTROS = HERE / "docs" / "games" / "intro"  # they stand in the games' pages
PAGES = [HERE / "README.md", *(page for page in sorted((HERE / "docs").rglob("*.md")) if page.parent != INTROS)]
BLOCKS = [
    pytest.param(block, id=f"{page.relative_to(HERE)} {number}")
    for page in PAGES
    for number, block in enumerate(re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL))
]

NEEDED = [
    ("parlour.wrappers.openspiel", "pyspiel", "bench"),
    ("parlour.wrappers.negmas", "negmas", "negmas"),
    ("parlour.wrappers.rllib", "tree", "rllib"),
    ("parlour.wrappers.torchrl", "torchrl", "torchrl"),
    ("parlour.wrappers.jax", "jax", "jax"),
    ("parlour.wrappers.openenv", "openenv", "openenv"),
    ("parlour.wrappers.verifiers", "verifiers", "verifiers"),
    ("parlour.envs.core.cuda.", "numba_cuda", "cuda"),
    ("parlour.training.learning.engines.gpu", "numba_cuda", "cuda"),
    ("parlour.training.learning.gpu_collector", "numba_cuda", "cuda"),
    ("parlour.training.learning.engines.ray", "ray", "ray"),
    ("parlour.training.parallel.ray_", "ray", "ray"),
]
"""Modules, the libraries that they import, and the extras that install these."""


def modules():
    for name in ("parlour.envs", "parlour.wrappers", "parlour.training"):
        package = importlib.import_module(name)
        yield name
        yield from (found.name for found in pkgutil.walk_packages(package.__path__, name + "."))


def test_the_front_page_has_code():
    assert "README.md 0" in [block.id for block in BLOCKS]


@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_runs(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with patch.dict(GAMES):  # other tests do not see the games that it registers
        exec(compile(block, "page", "exec"), {"__name__": "__page__"})


@pytest.mark.slow
@pytest.mark.parametrize("name", ["opponents", "platforms", "compare_runs", "reproduce"])
def test_the_commands_of_a_page_run(name, tmp_path, monkeypatch, capsys):
    """In order, in one folder. Those of `host` and `deploy` need each other and do not end."""
    monkeypatch.chdir(tmp_path)
    text = (HERE / "docs" / f"{name}.md").read_text("utf-8")
    lines = [line.split()[1:] for line in re.findall(r"^ *parlour .*$", text, re.MULTILINE)]
    ran = [args for args in lines if args[0] not in ("host", "deploy")]
    assert ran
    for args in ran:
        assert cli.main(args) == 0, (args, capsys.readouterr().err)


@pytest.mark.parametrize("name", list(modules()))
def test_docstring_examples(name):
    for module, library, extra in NEEDED:
        if name.startswith(module):
            needs.library(library, extra)
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0
