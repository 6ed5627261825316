"""The gallery of pictures and texts: it has every game, is the same twice, and names what has changed."""

import sys
from pathlib import Path

import pytest
from forking import loaded

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture
def script(monkeypatch):
    """Return a script of docs as a module, by its name."""
    monkeypatch.syspath_prepend(str(DOCS))

    yield lambda name: loaded(DOCS / f"{name}.py")
    for name in ("games", "wires", "words"):
        sys.modules.pop(name, None)


@pytest.fixture
def gallery(script):
    return script("gallery")


@pytest.mark.slow
def test_screenshots_show_a_table_before_during_and_after_a_turn(script, browser, tmp_path):
    screenshots = script("screenshots")
    screenshots.SIZES = {"phone": screenshots.SIZES["phone"]}
    screenshots.table(browser, tmp_path, "kuhn-v0")
    states = ("1-before", "2-turn", "3-after", "4-later")
    assert {one.name for one in tmp_path.iterdir()} == {f"kuhn-{state}-phone.png" for state in states}
    assert len({one.read_bytes() for one in tmp_path.iterdir()}) >= 3


def test_what_has_changed_is_named_and_framed(gallery, tmp_path):
    drawn = list(gallery.drawings(["kuhn-v0", "auction-v0"]))
    names = [name for name, _ in drawn]
    views = dict(drawn)
    assert len({views[f"kuhn-v0/0-{seat}.svg"] for seat in ("first", "last", "all")}) == 3
    assert len(set(names)) == len(names)
    assert {"kuhn-v0/0-all.svg", "kuhn-v0/0-first.txt", "auction-v0/0-public.svg"} <= set(names)
    assert gallery.write(tmp_path, iter(drawn)) == names
    again = list(gallery.drawings(["kuhn-v0", "auction-v0"]))
    assert gallery.write(tmp_path, iter(again)) == []
    assert "<figure class=changed>" not in (tmp_path / "index.html").read_text(encoding="utf-8")
    other = [(name, text + "<!-- new -->" * (name == "kuhn-v0/0-all.svg")) for name, text in again[:-1]]
    assert gallery.write(tmp_path, iter(other)) == ["kuhn-v0/0-all.svg", names[-1]]  # changed, and gone
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert page.count("<figure class=changed>") == 1
    assert page.count("<figure") == len(names) - 1
    assert not (tmp_path / names[-1]).exists()
