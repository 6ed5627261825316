"""The public names of the packages: complete for the pages, examples and notebooks, and loaded at their first use."""

import json
import re
from pathlib import Path

import parlour.envs
import parlour.training
import parlour.wrappers
import pytest
from forking import python

ROOT = Path(__file__).parents[1]
PACKAGES = [parlour.envs, parlour.wrappers, parlour.training]
INSIDE = re.compile(
    r"parlour\.envs\.(bargaining|holdem|mafia|tangram|economics|small)\."  # a page about the rules of one game
    r"|parlour\.wrappers\.live\.common\."  # how to write a protocol
    r"|parlour\.(wrappers\.live\.arena\.results|envs\.render\.window|training\.commands\.replay)$"
)
"""Modules that a page may import from, though they lie deeper: what is in them is not for everybody."""


def deep_imports():
    """Yield the files and the modules that lie below a package of `parlour`, such as ``parlour.envs.core.rng``."""
    files = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*.py")]
    texts = {file: file.read_text("utf-8") for file in files}
    for file in (ROOT / "notebooks").glob("*.ipynb"):
        cells = json.loads(file.read_text("utf-8"))["cells"]
        texts[file] = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    for file, text in texts.items():
        for module in re.findall(r"^\s*from (parlour(?:\.\w+){3,}) import", text, re.MULTILINE):
            yield file.relative_to(ROOT), module


@pytest.mark.skipif(not (ROOT / "examples").is_dir(), reason="the examples belong to the checkout")
def test_pages_and_examples_import_public_names():
    assert [found for found in deep_imports() if not INSIDE.match(found[1])] == []


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_every_name_is_there(package):
    pytest.importorskip("sb3_contrib", reason="sb3_contrib is missing: pip install -e '.[dev]'")
    assert all(getattr(package, name) is not None for name in package.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = package.nonsense


@pytest.mark.skipif(not (ROOT / "docs" / "site").is_dir(), reason="the site belongs to the checkout")
def test_every_public_name_stands_in_the_reference():
    text = (ROOT / "docs" / "site" / "reference.py").read_text("utf-8")
    shown = re.findall(r"\w+", text[text.index("PAGES = {") :])
    names = [name for package in PACKAGES for name in package.__all__ if not name.endswith("_v0")]
    assert [name for name in names if name not in shown] == []


def test_no_name_loads_what_it_does_not_need():
    code = (
        "import sys, parlour; parlour.training, parlour.wrappers.PolicyAgent, parlour.training.evaluate;"
        "print([name for name in ('torch', 'stable_baselines3', 'aiohttp', 'matplotlib') if name in sys.modules])"
    )
    assert python("-c", code) == "[]\n"
