"""Every example that a reader can copy runs: code blocks of pages, docstrings; the notebooks as they are committed."""

import doctest
import importlib
import json
import re
import shlex
from pathlib import Path
from runpy import run_path
from unittest.mock import patch

import pytest
from command_line import printed
from parlour.envs.core.registry import GAMES
from parlour.training import cli

HERE = Path(__file__).parents[1]
DOCS = HERE / "docs"
NO_PAGES = DOCS / "games" / "intro", DOCS / "api"
"""Parts of the games' pages, and what `make site` writes."""
PAGES = [HERE / "README.md", *(page for page in sorted(DOCS.rglob("*.md")) if page.parent not in NO_PAGES)]
BLOCKS = [
    pytest.param(block, id=f"{page.relative_to(HERE)} {number}")
    for page in PAGES
    for number, block in enumerate(re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL))
]


def modules():
    """The modules with an example."""
    for top in ("envs", "wrappers", "training"):
        folder = Path(importlib.import_module(f"parlour.{top}").__path__[0])
        for path in sorted(folder.rglob("*.py")):
            if ">>> " in path.read_text(encoding="utf-8"):
                yield ".".join(["parlour", top, *path.relative_to(folder).with_suffix("").parts])


@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_runs(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("page.py").write_text(block, "utf-8")
    with patch.dict(GAMES):  # other tests do not see the games that it registers
        run_path("page.py")


@patch.dict(GAMES)  # other tests do not see the game that it registers
def test_the_game_of_a_page_keeps_the_laws_is_solved_and_listed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (block,) = (one.values[0] for one in BLOCKS if one.id == "docs/own_game.md 0")
    Path("high_card.py").write_text(block, "utf-8")
    for command, option, value, words in (
        ("check", "--episodes", "1", "laws hold, "),
        ("solve", "--options", "cards=3", "parlour play high_card:game --options cards=3 --agents high_card.npz "),
        ("list", "--options", "cards=3", "- `cards`, such as 3\n"),
        ("list", "--options", "cards=3", "cards: int = 5\n    different"),
        ("play", "--plain", "--help", "stake: float = 4.0\n    what the lower card loses, 1 to 100"),
    ):
        assert words in printed(capsys, command, "high_card:game", option, value)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["opponents", "compare", "training#Train for a live", "training#Reproduce a run"])
def test_the_commands_of_a_page_run(name, tmp_path, monkeypatch, capsys):
    """Of a page or one of its sections, in order, in one folder. Those of `host` and `deploy` do not end."""
    monkeypatch.chdir(tmp_path)
    page, _, section = name.partition("#")
    text = (HERE / "docs" / f"{page}.md").read_text("utf-8")
    text = text.partition(f"## {section}")[2].partition("\n## ")[0] if section else text
    lines = [shlex.split(line, comments=True)[1:] for line in re.findall(r"^ *parlour .*$", text, re.MULTILINE)]
    ran = [args for args in lines if args[0] not in ("host", "deploy")]
    assert ran
    for args in ran:
        assert cli.main(args) == 0, (args, capsys.readouterr().err)


@pytest.mark.parametrize("name", list(modules()))
def test_docstring_examples(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


FOLDER = HERE / "notebooks"
NOISE = re.compile(r"/(?:home|root|tmp|var|usr|opt|mnt|work)/\w|\w:\\\\|Traceback|Warning\b|\d+%\|")
"""Paths of a machine, complaints, progress bars."""


@pytest.mark.skipif(not FOLDER.is_dir(), reason="an installed wheel has no notebooks")
@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_reads_well(path):
    """It is executed in order, without errors or noise, and small. CI executes it anew."""
    assert path.stat().st_size < 400_000
    cells = [cell for cell in json.loads(path.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1)), "execute it from the top"
    assert not any(cell["metadata"].get("execution") for cell in cells), "when it was executed is nobody's business"
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    for output in outputs:
        assert output["output_type"] != "error"
        assert output.get("name") != "stderr"
        shown = "".join(output.get("text", output.get("data", {}).get("text/plain", "")))
        assert not NOISE.search(shown), NOISE.search(shown)
