"""Every example that a reader can copy runs: the pages' code blocks and the docstrings' examples."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

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
    ("parlour.wrappers.rllib", "tree", "rllib"),
    ("parlour.wrappers.torchrl", "torchrl", "torchrl"),
    ("parlour.envs.core.cuda.", "numba_cuda", "cuda"),
    ("parlour.training.learning.engines.ray", "ray", "ray"),
    ("parlour.training.learning.sweep", "optuna", "sweep"),
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
    exec(compile(block, "page", "exec"), {"__name__": "__page__"})


@pytest.mark.parametrize("name", list(modules()))
def test_docstring_examples(name):
    for module, library, extra in NEEDED:
        if name.startswith(module):
            pytest.importorskip(library, reason=f"the extra {extra} is not installed")
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0
