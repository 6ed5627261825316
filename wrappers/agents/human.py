"""HumanAgent: a person at a terminal."""

import shutil
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from textwrap import wrap
from typing import TextIO

from ...envs.core.turn_state import AgentResponse, Message, MessageScope, TurnState
from .answers import choices, for_people, help_text, parse_typed
from .base import printable
from .prompt import in_words

BACK = "q"
"""What ends a long text; before another question it leaves, as the words of `LEAVE`."""
LEAVE = ("quit", "exit", BACK)
ROOM = 2
"""The lines of the screen below a page of a long text."""


class HumanAgent:
    """A person at a terminal.

    Args:
        source: the stream of answers, one per line (None: standard input).
        screen: the stream for the table and the questions (None: standard output).
        compact: whether a turn shows only new messages and the choices, for programs that show the table themselves.

    Attributes:
        compact: see above.
        hears_all: whether a compact turn shows public messages too, or only private ones: the program shows the others.
        asking: a context in which an answer is read.
        rules: returns the rules of the game in words, which the answer ``rules`` shows; None: there are none.
        redraw: shows the table again, whose place a text has taken; None: the table stands above the text.
    """

    def __init__(self, source: TextIO | None = None, screen: TextIO | None = None, *, compact: bool = False) -> None:
        self._source = source
        self.asking: Callable[[], AbstractContextManager[None]] = nullcontext
        self._screen = screen
        self.compact = compact
        self.hears_all = True
        self.rules: Callable[[], str] | None = None
        self.redraw: Callable[[], None] | None = None
        self._heard: tuple[str, list[Message]] = ("", [])  # the match, and its messages that were shown

    def respond(self, state: TurnState) -> AgentResponse:
        """Show the turn and read an answer such as ``raiseTo 137`` or ``3 137``; ask again until it is legal.

        Raises:
            EOFError: at the end of `source`.
            KeyboardInterrupt: for ``quit``, as for Ctrl-C.
        """
        allowed = for_people(state.allowed_actions)
        prompt = "\n".join([self._news(state) if self.compact else _as_text(state), choices(allowed)])
        self._write(prompt)
        explained = "\n".join([help_text(allowed), choices(allowed, described=True)])
        texts = {"help": explained, "?": explained, "state": _as_text(state)}
        while True:
            if not (line := self._line("> ", texts, prompt)).strip():
                continue
            try:
                return AgentResponse(parse_typed(line, allowed))
            except ValueError as error:
                self._write(f"{error} (help explains the choices)")

    def wait(self, question: str) -> None:
        """Show a question and wait for Enter; the errors are those of `respond`."""
        while words := self._line(question, {}, "").strip():
            self._write(f"{words!r} is no answer here: press Enter, or type rules or quit")

    def _line(self, question: str, texts: Mapping[str, str], prompt: str) -> str:
        """Return the line that is typed after a question; a word of `texts`, and ``rules``, shows a text before."""
        typed = ""
        while True:
            line = typed or self._typed(question)
            word = line.strip().lower()
            if word in LEAVE:
                raise KeyboardInterrupt
            if word == "rules":
                typed = self._read("there are no rules in words here" if self.rules is None else self.rules(), prompt)
            elif word in texts:
                typed = self._read(texts[word], prompt)
            else:
                return line

    def _typed(self, question: str) -> str:
        with self.asking():
            self._write(question, end="")
            line = (self._source or sys.stdin).readline()
        if not line:
            raise EOFError("no more answers from the person at the terminal")
        return line

    def _read(self, text: str, prompt: str) -> str:
        """Show a text, on a terminal a page at a time; then the table again, and what was asked.

        Returns:
            What was typed in place of Enter, which answers the question; empty for `BACK`.
        """
        if not (self._screen or sys.stdout).isatty():
            self._write(text)
            return ""
        size, typed = shutil.get_terminal_size(), ""
        lines = "\n".join(_wrapped(line, size.columns - 1) for line in text.split("\n")).split("\n")
        room = max(1, size.lines - ROOM)
        for start in range(0, len(lines), room):
            self._write("\n".join(lines[start : start + room]))
            more = start + room < len(lines)
            if more or self.redraw:
                typed = self._typed("Enter: more, q: back > " if more else "Enter: back > ").strip()
            if typed:
                break
        if self.redraw is not None:
            self.redraw()
            self._write(prompt)
        return "" if typed.lower() == BACK else typed

    def _news(self, state: TurnState) -> str:
        """Return the turn in one line, and the messages since the last turn."""
        match, shown = self._heard
        goes_on = match == state.match_id and state.messages[: len(shown)] == shown  # ids repeat after a new seed
        new = state.messages[len(shown) :] if goes_on else state.messages
        self._heard = state.match_id, list(state.messages)
        heard = (one for one in new if self.hears_all or one.scope == MessageScope.PRIVATE)
        said = [f"  {message.sender_id}: {printable(message.content)}" for message in heard]
        phase = state.phase.lower().replace("_", " ")
        turn = f"Your turn ({state.agent_id}, {phase}). You can also type help, rules, state or quit."
        return "\n".join([*said, turn])

    def _write(self, text: str, end: str = "\n") -> None:
        screen = self._screen or sys.stdout
        if screen.isatty():
            width = shutil.get_terminal_size().columns - 1
            text = "\n".join(_wrapped(line, width) for line in text.split("\n"))
        print(text, end=end, file=screen, flush=True)


def _wrapped(line: str, width: int) -> str:
    """Return a line with breaks between its words; a terminal breaks inside them."""
    if len(line) <= width:
        return line
    return "\n".join(wrap(line, max(1, width), subsequent_indent="    ", break_on_hyphens=False))


def _as_text(state: TurnState) -> str:
    seen = in_words({name: value for name, value in state.game_state.items() if name != "actions"}).splitlines()
    rows = [printable(line).replace("; ", ";\n    ") for line in seen]
    said = [printable(f"{message.sender_id}: {message.content}") for message in state.messages]
    return "\n  ".join([f"{state.game_id} · {state.agent_id} · {state.phase}", *rows, *said])
