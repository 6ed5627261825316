"""`parlour play` for a person, in a real terminal."""

import os
import re
import select
import struct
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest
from needs import library

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="no pseudo terminal")]

CLEAR = "\x1b[2J"
STYLE = re.compile(r"\x1b\[[0-9;]*[mHJ]")


class Terminal:
    """A program in a terminal of some size."""

    def __init__(self, process, end):
        self.process, self._end, self.text = process, end, ""

    def until(self, words, within=90):
        """Read until the words are on the screen after what was read before; return the new text."""
        before, deadline = len(self.text), time.monotonic() + within
        while words not in self.text[before:]:
            assert time.monotonic() < deadline, f"{words!r} is not in {self.text[before:]!r}"
            if select.select([self._end], [], [], 0.2)[0]:
                try:
                    self.text += os.read(self._end, 65536).decode().replace("\r\n", "\n")
                except OSError:  # the program has ended
                    assert words in self.text[before:], self.text[before:]
        return self.text[before:]

    def type(self, words):
        os.write(self._end, f"{words}\n".encode())


@contextmanager
def playing(*args, columns=80, lines=24):
    fcntl, termios = library("fcntl"), library("termios")
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    command = [sys.executable, "-m", "parlour.training.cli", "play", *args]
    environ = {**os.environ, "TERM": "xterm", "PARLOUR_COMPILE_FIRST": "1"}
    for name in ("COLUMNS", "LINES"):
        environ.pop(name, None)
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environ, close_fds=True)
    os.close(theirs)
    try:
        yield Terminal(process, ours)
    finally:
        process.terminate()
        process.wait()
        os.close(ours)


def test_one_screen_does_not_scroll_and_what_is_typed_early_is_no_answer():
    with playing("leduc", "--agents", "human", "zoo", "--matches", "1", "--seed", "3", "--delay", "1") as terminal:
        first = terminal.until("\n> ")
        assert CLEAR in first and "player_1 (zoo)" not in first.partition(CLEAR)[0]
        terminal.type("rules")
        page = terminal.until(": back > ")
        assert page.count("\n") <= 24 and CLEAR not in page
        terminal.type("q")
        assert "Your turn" in terminal.until("\n> ").partition(CLEAR)[2]  # the table is back
        terminal.type("call")
        shown = terminal.until("(you): check")
        terminal.type("fold XYZZY")  # the screen pauses
        shown += terminal.until("\n> ")
        assert "XYZZY" not in shown
        for screen in (first + shown).split(CLEAR)[1:]:
            lines = STYLE.sub("", screen).split("\n")
            assert len(lines) <= 24 and max(map(len, lines)) <= 80
        terminal.type("fold")
        end = terminal.until("chips")
        assert "XYZZY" not in end and "is not one of" not in end


def test_typing_is_shown_again_after_sigterm():
    termios = library("termios")
    with playing("leduc", "--agents", "human", "call", "--seed", "3", "--delay", "30") as terminal:
        terminal.until("\n> ")
        terminal.type("call")
        terminal.until("(you): check")  # the screen pauses
        assert not termios.tcgetattr(terminal._end)[3] & termios.ECHO
        terminal.process.terminate()
        terminal.until("You have +0.0 chips after 0 games.")
        assert terminal.process.wait(30) == 0
        assert termios.tcgetattr(terminal._end)[3] & termios.ECHO


@pytest.mark.smoke
def test_lines_end_between_words_and_plain_text_is_not_cleared():
    with playing("mafia", "--agents", "human", *["loyal"] * 6, "--seed", "93", "--delay", "0", "--plain") as terminal:
        shown = terminal.until("\n> ")
        assert CLEAR not in shown
        assert max(map(len, re.split(r"[\r\n]", STYLE.sub("", shown)))) <= 80  # \r: what says that a game is compiled
        question = " ".join(shown[shown.index("Your turn") :].split())
        terminal.type("help")
        help_text = " ".join(terminal.until("\n> ").split())
        choices = question.split("state or quit. ")[1]
        assert choices.count("<") and all(word.strip("()") in help_text for word in choices.split())
