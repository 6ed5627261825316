"""A person at a terminal who plays tangram."""

import sys
from typing import TextIO

from ....envs.core.game import Game
from ....envs.core.turn_state import Action, AgentResponse, MessageIntent, MessageScope, TurnState
from ...agents.typed_choices import parse


class Person:
    """A person at a terminal: ``play Red [50,40] 45``, ``finish``, or ``say`` and a text for the agent.

    Args:
        game: the game.
        source: the stream of answers, one per line (None: standard input).
        screen: the stream for the board and the questions (None: standard output).
    """

    def __init__(self, game: Game, source: TextIO | None = None, screen: TextIO | None = None) -> None:
        self._game = game
        self._source = source
        self._screen = screen

    def respond(self, state: TurnState) -> AgentResponse:
        """Show the board and read an answer; ask again until it can be played.

        Raises:
            EOFError: at the end of `source`.
        """
        tables, seat = self._game.view.load(state)
        self._write(f"{state.game_state['objective']}\n{self._game.renderer.text(tables[0], seat)}")
        while True:
            self._write("play PIECE [x,y] rotation · finish · say …")
            line = (self._source or sys.stdin).readline()
            if not line:
                raise EOFError("no more answers from the person at the terminal")
            word, _, rest = line.strip().partition(" ")
            if word == "say" and rest:
                return AgentResponse(Action("message_only"), [MessageIntent(MessageScope.PUBLIC, rest)])
            try:
                return AgentResponse(parse(line, state.allowed_actions))
            except ValueError as error:
                self._write(str(error))

    def _write(self, text: str) -> None:
        print(text, file=self._screen or sys.stdout, flush=True)
