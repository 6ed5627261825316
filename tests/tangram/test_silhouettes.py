"""The library, its text format, and what it says of mistakes."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from figures import assert_solved, drawn
from parlour.envs.tangram.figure_sets import parse
from parlour.envs.tangram.lattice import ASPECTS, code
from parlour.envs.tangram.silhouettes import library, objective, text_of

DOCS = Path(__file__).parents[2] / "docs"
OBJECTIVES = ["A house", "A fish", "A human", "A rocket", "A cat", "A robot"]
SQUARE = "Red 0 0 0, Cream 90 0 0, Purple 45 1 2, Brown 90 3 0, Blue 135 2 2, Yellow 180 0 3, Green 270 2 1"


@pytest.mark.parametrize("aspect", ASPECTS)
def test_the_library_is_solved(aspect):
    assert len(library()) >= 60
    for figure in library().values():
        assert_solved(figure, aspect)


def test_the_library_has_the_games_objectives_and_all_splits():
    assert set(OBJECTIVES) <= set(library())
    figures = library().values()
    splits = [figure.split for figure in figures]
    assert min(splits.count(split) for split in ("train", "validation", "test")) >= 10
    assert len({code(figure.vertices, figure.ends) for figure in figures}) == len(figures)  # no figure twice
    assert sum(len(figure.solutions) > 1 for figure in figures) > 50


@pytest.mark.parametrize("figures", [lambda: library().values(), lambda: drawn(50, seed=8)])
def test_text_there_and_back(figures):
    for figure in figures():
        again = parse(text_of(figure))[figure.name]
        assert np.array_equal(again.vertices, figure.vertices) and np.array_equal(again.ends, figure.ends)
        assert np.array_equal(again.solutions, figure.solutions)


def line(text):
    return f"A figure\n  {text}\n"


@pytest.mark.parametrize(
    "text, message",
    [
        ("  Red 0 0 0", "line 1: 'Red 0 0 0' has no name above it"),
        (line(SQUARE) + line(SQUARE), "line 3: A figure: a second figure of this name"),
        (line(SQUARE.replace("Green 270 2 1", "")), "Green is missing in solution 1"),
        (line(SQUARE.replace("Green", "Yellow")), "Yellow is there twice"),
        (line(SQUARE.replace("Green", "Orange")), "no piece is called 'Orange'"),
        (line(SQUARE.replace("Red 0 0 0", "Red 0 0 1")), r"Red and \w+ overlap by \S+ u²"),
        (line(SQUARE.replace("Red 0 0 0", "Red 0 0 -1")), "not connected: Red nowhere touch Cream, Purple"),
        (line(SQUARE.replace("Red 0", "Red 30")), "Red's rotation '30' is no multiple of 45"),
        (line(SQUARE.replace("Red 0 0 0", "Red 0 0")), "'Red 0 0' is no placement"),
        (line(SQUARE.replace("Red 0 0 0", "Red 0 0.3 0")), "'0.3' is no sum of halves"),
        (line(SQUARE.replace("Red 0 0 0", "Red 0 99999 0")), "'99999' u is off any board"),
        (line("outline 0 0, 4 0, 4 4, 0 4, 0 3"), None),
        (line("outline 0 0, 4 0, 4 4"), "area of 8 u²; the seven pieces have 16"),
        (line("outline 0 0, 4 4, 4 0, 0 4"), "not simple: Self-intersection"),
        (line("outline 0 0, 8 0, 8 2, 0 2"), "do not fill this outline"),
        (line("outline 0 0, 16 0, 12 2"), "runs in no step of 45°"),
        (line("outline 0 0, 4 0"), "'0 0, 4 0' is no ring"),
        (line(f"outline 0 0, 4 0, 4 4, 0 4\n  {SQUARE}"), "give either the pieces or one outline"),
    ],
)
def test_mistakes_are_named(text, message):
    if message is None:
        assert len(parse(text)) == 1
        return
    with pytest.raises(ValueError, match=message):
        parse(text)


def test_objectives_are_found_by_name():
    for name in OBJECTIVES:
        assert objective(name).name == name
    assert objective("  a HOUSE. ").name == objective("house").name == "A house"
    assert objective("the cats face") is None and objective("a cat's face").name == "A cat's face"
    assert objective("") is None and objective("Something else") is None


@pytest.mark.skipif(not DOCS.exists(), reason="the picture belongs to the checkout")
def test_the_picture_in_the_docs_is_the_librarys(tmp_path):
    def drawn_by(*arguments):
        script = [sys.executable, str(DOCS / "tangram_figures.py"), *map(str, arguments)]
        return subprocess.run(script, capture_output=True, encoding="utf-8", env={**os.environ, "PYTHONUTF8": "1"})

    assert drawn_by().stdout == (DOCS / "tangram.svg").read_text(encoding="utf-8")
    mine = tmp_path / "mine.txt"
    mine.write_text(line("Red 0 0 0"), encoding="utf-8")
    assert (told := drawn_by(mine)).returncode == 1 and "Cream is missing" in told.stderr
