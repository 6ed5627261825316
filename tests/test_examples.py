"""Every example that a reader can copy runs: README's code blocks and the docstrings' examples."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```$", README.read_text(), re.MULTILINE | re.DOTALL)


def modules():
    for name in ("parlour.envs", "parlour.wrappers", "parlour.training"):
        package = importlib.import_module(name)
        yield name
        yield from (found.name for found in pkgutil.walk_packages(package.__path__, name + "."))


def test_readme_has_code():
    assert BLOCKS


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_readme_block_runs(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "README.md", "exec"), {"__name__": "__readme__"})


@pytest.mark.parametrize("name", list(modules()))
def test_docstring_examples(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0
