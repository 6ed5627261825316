"""Pages of results: how a result was made, and what they look like on a desk and on a phone."""

import re
import shlex
import subprocess
import sys

import pytest
from layout import SIZES, flaws, flaws_after_click
from live.test_table_page import complaints
from logs import played
from parlour import envs
from parlour.training import cli
from parlour.training.evaluation.pages import document, facts, provenance, table

ARENA = shlex.split("host arena bargaining,kuhn --agents fair random equilibrium --rounds 2 --port 0")


def test_a_page_says_when_and_by_which_command_it_was_made():
    made = provenance(["/usr/bin/parlour", "host", "arena", "kuhn", "--options", "a b"])
    assert made["command"] == "parlour host arena kuhn --options 'a b'"
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", made["date"])
    assert made["version"].startswith("parlour 0.")
    assert provenance(["/site/parlour/training/cli.py", "list"])["command"] == "parlour list"  # python -m


@pytest.mark.parametrize(
    "words",
    [
        ("--access-token", "sesame"),
        ("--access-token=sesame",),
        ("--api-key", "sesame"),
        ("--llm-url", "http://me:sesame@example.org/v1"),
        ("--remote", "one=http://example.org/act?key=sesame"),
    ],
)
def test_the_command_on_a_page_holds_no_secret(words):
    command = provenance(["parlour", "host", *words, "--max-tokens", "7", "--access-token-file", "token.txt"])[
        "command"
    ]
    assert "sesame" not in command and "…" in command
    assert command.endswith("--max-tokens 7 --access-token-file token.txt")


def test_a_table_names_what_ranks_and_explains_its_columns_alone():
    html = table("<b>", ["agent", "won"], [["one", "2"], ["two", "1"]], "won", {"won": "chips", "lost": "unused"})
    assert html.count('aria-sort="descending"') == 1 and '<th aria-sort="descending">won</th>' in html
    assert '<td data-column="won">2</td>' in html and "<dd>chips</dd>" in html and "unused" not in html
    assert "&lt;b&gt;" in html and "<details>" not in table("", ["agent"], [["one"]])
    assert facts({"a": None, "options": {"seats": 2, "more": [1, 2], "no": None, "open": False}, "<": 0}) == (
        '<dl class="facts"><dt>options</dt><dd>seats 2, more 1 2, open no</dd><dt>&lt;</dt><dd>0</dd></dl>'
    )
    assert "<section><dl" in document("t", "", {"seed": 1}) and "<section>" not in document("t", "")


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Every kind of page: the file by its name."""
    folder = tmp_path_factory.mktemp("pages")
    matrix = ("evaluate", "crossplay", "equilibrium", "random", "--game", "kuhn", "--deals", "50", "--samples", "1")
    played(folder / "log", envs.game("holdem", seats=6), matches=2)
    arena = (*ARENA, "--seed", "1", "--out", str(folder))
    # Its event loop needs a process without that of the browser.
    subprocess.run([sys.executable, "-m", "parlour.training.cli", *arena], check=True, capture_output=True)
    for args in (
        (*matrix, "--ladder", str(folder / "ladder.html")),
        ("replay", str(folder / "log"), "--out", str(folder / "holdem.html")),
    ):
        assert cli.main(args) == 0
    return {name: folder / f"{name}.html" for name in ("index", "bargaining", "kuhn", "ladder", "holdem")}


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_every_page_fits_and_axe_finds_nothing(browser, pages, size):
    for name, file in pages.items():
        context = browser.new_context(offline=True, **SIZES[size])
        page = context.new_page()
        page.goto(file.as_uri())
        assert flaws(page) == [], name
        if page.query_selector("#overview") is not None:  # of several matches, a replay shows their overview first
            assert page.is_visible("#overview") and not page.is_visible("main"), name
            assert complaints(page) == "", name
            assert flaws_after_click(page, "#matches tr:first-child button") == [], name
            assert page.is_visible("#stage svg") and flaws(page) == [], name
            assert complaints(page) == "", name
        else:
            assert "parlour 0." in page.inner_text("dl.facts >> nth=0"), name
        for details in page.query_selector_all("details"):
            details.evaluate("node => { node.open = true; }")
        assert flaws(page) == [] and complaints(page) == "", name
        context.close()


@pytest.mark.slow
def test_the_tables_of_an_arena_are_sorted_by_what_ranks(pages, browser):
    page = browser.new_page()
    page.goto(pages["index"].as_uri())
    for number in range(page.locator("table").count()):
        heads = page.locator(f"table >> nth={number} >> th").all_inner_texts()
        ranks = page.locator(f"table >> nth={number} >> th[aria-sort]").inner_text()
        column = heads.index(ranks)
        cells = page.locator(f"table >> nth={number} >> td:nth-child({column + 1})").all_inner_texts()
        numbers = [float(cell.split(" ")[0]) for cell in cells]
        assert numbers == sorted(numbers, reverse=True) and len(numbers) >= 2
    facts_of = page.locator("dl.facts").first.inner_text()
    assert "seed\n1" in facts_of
    assert page.locator("dl.facts:has-text('offers 101')").count() == 1  # the options of bargaining
    assert page.locator("dl.facts:has-text('payoffs in')").count() == 2
    assert "the rating in agent" not in page.content()
    page.close()
