"""The pages: those of the games are what the code says, links lead somewhere, command lines are understood."""

import dataclasses
import importlib.util
import json
import re
import shlex
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from cases import SMALL, of_games
from forking import loaded
from markdown_it import MarkdownIt
from parlour.training.algorithms import find, names
from parlour.training.cli import parse
from parlour.training.commands import MERGED, SUBCOMMANDS

HERE = Path(__file__).parents[1]
DOCS = HERE / "docs"
sys.path.insert(0, str(DOCS))  # of the modules beside it
page_of_settings = importlib.import_module("settings")
PAGES = [
    *(HERE / f"{name}.md" for name in ("README", "CHANGELOG", "CONTRIBUTING")),
    # The introductions stand in the games' pages.
    *(page for page in sorted(DOCS.rglob("*.md")) if page.parent not in (DOCS / "games" / "intro", DOCS / "api")),
]
NAMES = [str(page.relative_to(HERE)) for page in PAGES]
checkout = pytest.mark.skipif(not (HERE / "envs").is_dir(), reason="links lead into the checkout")


# The games' pages.


@cache
def generator():
    return loaded(DOCS / "games.py")


@pytest.mark.parametrize(("part", "end"), [("page", ".md"), ("film", ".svg"), ("results", "-results.svg")])
@pytest.mark.parametrize("game_id", of_games(generator().GAME_IDS))
def test_a_games_page_is_generated_from_the_code(game_id, part, end):
    name = game_id.partition("-")[0]
    kept = (DOCS / "games" / f"{name}{end}").read_text(encoding="utf-8")
    assert kept == getattr(generator(), part)(game_id), "the code has changed: make docs"


def test_the_front_picture_is_what_the_code_draws():
    kept = (DOCS / "parlour.svg").read_text(encoding="utf-8")
    assert kept == generator().front_picture(), "the code has changed: make docs"
    assert len(kept) < 300_000


def test_the_picture_of_results_has_what_the_cards_have():
    assert (DOCS / "results.svg").read_text(encoding="utf-8") == importlib.import_module("curves").results()


@pytest.mark.parametrize("name", names())
def test_every_setting_says_when_one_would_change_it(name):
    texts = page_of_settings.descriptions(find(name).Config)
    settings = {part.name for part in dataclasses.fields(find(name).Config)} - {"game", "preset"}
    assert [one for one in sorted(settings) if texts[one].count(" Change it ") != 1] == []
    assert len(settings) <= 46


def test_action_ranges_have_no_gaps_and_slices_have_meanings(game):
    if game.name not in SMALL:
        assert (game.view.action_ranges[0].start, game.view.action_ranges[-1].stop) == (0, game.num_actions)
        assert all(one.stop == other.start for one, other in pairwise(game.view.action_ranges))
        assert [part.path for part in game.layout if not part.meaning] == []


# Links.


def text_of(page):
    text = page.read_text(encoding="utf-8")
    if page.suffix != ".ipynb":
        return text
    return "\n\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown")


@cache
def parsed(page):
    return MarkdownIt("commonmark").enable("table").parse(text_of(page))


def targets(page):
    for token in parsed(page):
        for part in token.children or ():
            if part.type in ("link_open", "image"):
                yield part.attrs.get("href") or part.attrs["src"]


@cache
def anchors(page):
    """The headings of a page as code-hosting sites name them."""
    tokens, names = parsed(page), []
    for token, inline in pairwise(tokens):
        if token.type == "heading_open":
            text = "".join(part.content for part in inline.children if part.type in ("text", "code_inline"))
            name = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
            names.append(f"{name}-{names.count(name)}" if name in names else name)
    return names


NOTEBOOKS = sorted(HERE.glob("notebooks/*.ipynb"))


@checkout
@pytest.mark.parametrize("page", PAGES + NOTEBOOKS, ids=[*NAMES, *(page.name for page in NOTEBOOKS)])
def test_links_lead_somewhere(page):
    for target in targets(page):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), target
        assert there.is_relative_to(HERE), target
        assert not anchor or anchor in anchors(there), target


def test_every_page_can_be_reached_from_the_front_page():
    reached, queue = {HERE / "README.md"}, [HERE / "README.md"]
    while queue:
        page = queue.pop()
        linked = {(page.parent / target.partition("#")[0]).resolve() for target in targets(page)}
        new = linked & set(PAGES) - reached
        reached |= new
        queue += new
    assert set(PAGES) == reached


# Blocks of code.


def blocks(page, *languages):
    return [token.content for token in parsed(page) if token.type == "fence" and token.info in languages]


def written_as_code(page):
    for token in parsed(page):
        yield from (part.content for part in token.children or () if part.type == "code_inline")


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_json_can_be_read(page):
    for text in (*blocks(page, "json"), *(line for block in blocks(page, "jsonl") for line in block.splitlines())):
        json.loads(text)


COMMANDS = sorted(
    {
        (name, line)
        for page, name in zip(PAGES, NAMES, strict=True)
        for line in (*"\n".join(blocks(page, "bash")).splitlines(), *written_as_code(page))
        if re.match(r"parlour (--)?[a-z]", line) and not re.search(r" …$| PLATFORM| LOG$| COMMAND", line)
    }
)


@pytest.mark.parametrize(("page", "line"), COMMANDS)
def test_a_command_line_is_understood(page, line, monkeypatch, tmp_path):
    """The command's own parser reads it; nothing is done."""
    _, command, *rest = words = shlex.split(line, comments=True)
    if command.startswith("--"):  # an option of `parlour` itself
        words = words[:3]
    elif not rest or (command in SUBCOMMANDS and rest[1:] == [] and rest[0] in SUBCOMMANDS[command]):
        words.append("--help")  # it is only named
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs" / "first").mkdir(parents=True)
    (tmp_path / "runs" / "first" / "config.toml").write_text('format = 2\ngame = "auction"\n')
    (tmp_path / "agent.toml").write_text('run = "tight"\napi = "http://127.0.0.1:9000"\n')
    if command in MERGED:
        assert page == "CHANGELOG.md"  # names commands of earlier versions
        return
    assert callable(parse(words[1:]))


@checkout
@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_make_knows_its_targets(page):
    known = re.findall(r"^(\w[\w-]*):", (HERE / "Makefile").read_text(), re.MULTILINE)
    for line in (*"\n".join(blocks(page, "bash")).splitlines(), *written_as_code(page)):
        if line.startswith("make "):
            words = shlex.split(line, comments=True)[1:]
            assert {word for word in words if "=" not in word} <= set(known), line


def test_the_readme_begins_with_the_two_commands_that_show_it_working():
    """CI runs the second."""
    text = (HERE / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^make \w+", text.split("```")[1], re.MULTILINE)
    assert commands == ["make demo", "make test"] and len(text.encode()) <= 6_144
