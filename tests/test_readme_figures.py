"""The figures of the zoo stand beside the command that prints them. The cheap ones are printed again here."""

import re
import shlex
from pathlib import Path

import pytest
from command_line import facts
from parlour import zoo

CHEAP = ("evaluate exploit zoo:kuhn", "evaluate zoo:auction", "evaluate zoo:bargaining")
"""How the commands begin that are run again."""
NUMBER = r"[+−-]?\d+\.\d+"


def figures(page, first):
    """Yield the command, opponent, mean, low and high of each row of a table; an exact figure is its own interval."""
    text = (Path(__file__).parents[1] / page).read_text("utf-8")
    table = re.search(rf"\| {first} \|.*?\n\n", text, re.S)[0]
    command = ""
    for row in table.strip().splitlines()[2:]:
        *_, opponent, figure, how, _ = (cell.strip() for cell in row.split("|"))
        command = command if how.startswith("the same") else re.fullmatch(r"`parlour (.*)`", how)[1]
        found = re.match(rf"({NUMBER})(?: \[({NUMBER}), ({NUMBER})\])?", figure)
        mean, low, high = (float((part or found[1]).replace("−", "-")) for part in found.groups())
        yield command, opponent, mean, low, high


ROWS = list(figures("docs/results.md", r"policy \| opponent"))
FRONT = list(figures("README.md", r"policy \| opponent"))


def test_every_row_has_a_figure_and_a_command():
    assert len(ROWS) >= 12
    assert all(low <= mean <= high for _, _, mean, low, high in ROWS)
    assert all(any(row[0].startswith(cheap) for row in ROWS) for cheap in CHEAP)


def test_the_front_page_has_the_figures_of_the_whole_table():
    assert len(FRONT) >= 5
    assert set(FRONT) <= set(ROWS)


def printed(capsys, words):
    """What the opponents win from the policy, by name, as a command prints it."""
    report = facts(capsys, *shlex.split(words))
    if not words.startswith("evaluate exploit"):
        return {row["against"]: row["wins_from_it"]["mean"] for row in report["results"]}
    return {row["opponent"]: row["mean"] for row in report["opponents"]}


@pytest.mark.slow
@pytest.mark.parametrize("cheap", CHEAP)
def test_a_command_prints_its_figures(cheap, capsys):
    rows = [row for row in ROWS if row[0].startswith(cheap)]
    values = printed(capsys, rows[0][0])
    for _, opponent, mean, low, high in rows:
        value = values[opponent.removeprefix("the ").strip("`")]
        assert low - 0.005 <= value <= high + 0.005, (opponent, mean, value)


@pytest.mark.slow
def test_a_card_has_what_its_command_prints(capsys):
    """With the exact best response, whose name is the same in both."""
    card = zoo.card("kuhn")
    values = printed(capsys, card.measured_by.removeprefix("parlour "))
    for measure in card.measures:
        margin = 1.5 * (measure.high - measure.low) / 2 + 1e-9  # both figures have an interval
        assert values[measure.name] == pytest.approx(measure.mean, abs=margin), measure.name
