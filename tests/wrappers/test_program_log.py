"""Lines of a program's log at a terminal."""

import logging

import pytest
from parlour.wrappers.logs.program_log import ForTerminal

ADDRESS = "http://127.0.0.1:9000/v1/tables?key=0123456789012345678901234567890123456789"


@pytest.mark.parametrize("columns", [1, 40, 80])
def test_lines_of_a_terminal_break_between_words_and_addresses_stay_whole(columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    text = f"hand 12 of table low-stakes-1: won 4 chips, 3 refused, see {ADDRESS}"
    lines = ForTerminal().format(logging.LogRecord("parlour", logging.INFO, "", 0, text, (), None)).split("\n")
    assert " ".join(line.strip() for line in lines).split(" ", 1)[1] == text
    assert all(len(line) < max(columns, 21) for line in lines if ADDRESS not in line)
