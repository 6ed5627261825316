"""Both ends of a match without I/O: lines in, lines out."""

from typing import Any

import numpy as np

from ....envs.core.game import Game
from ....envs.core.rng import streams
from ....envs.core.turn_state import Action, AgentResponse
from ....envs.holdem.rules import Move
from ....envs.holdem.table import CALL, FOLD
from ..common.agent_turn import Turn
from .messages import VERSION, read_action, read_line, replayed, write_action, write_line


class AgentSession:
    """The agent's end.

    Args:
        game: see `messages.replayed`.

    Attributes:
        hands: number of hands that have ended.
    """

    def __init__(self, game: Game) -> None:
        self._game = game
        self._line, self._table = "", None
        self.hands = 0

    def receive(self, line: str) -> Turn | None:
        """Read a line; return the agent's turn, if it is one. Comments and states of others' turns are none.

        Raises:
            ValueError: for a line that cannot be; the session goes on.
        """
        line = line.strip()
        if not line or line[0] in "#;":
            return None
        state = read_line(line)
        table = replayed(self._game, state)
        self.hands += bool(table.done)
        if table.done or int(table.turn) != state.position:
            return None
        if len(state.hole[state.position]) != 2:
            raise ValueError("the own cards are not there")
        self._line, self._table = line, table
        return Turn(self._game.turn_state(table, state.position), state.hand)

    def act(self, response: AgentResponse) -> str:
        """Return the line that answers the latest turn; an action that is not legal is a check or a fold."""
        table: Any = self._table
        move = self._game.view.parse(table, Action(response.action.action_type, response.action.payload))
        chosen = move if isinstance(move, Move) else Move(FOLD, 0)
        return f"{self._line}:{write_action(table, chosen)}"


class HostSession:
    """The dealer's end: hands with whole stacks, the button in turns.

    Args:
        game: see `messages.replayed`.
        seed: of the deals; None for fresh entropy.

    Attributes:
        hand: the number of the hand, from 0.
        totals: int64[2], the chips that each player has won in the hands that have ended.
        refused: the answers that were not legal.
    """

    def __init__(self, game: Game, seed: int | None = None) -> None:
        self._game = game
        self._tables = game.tables(1)
        self._tables.stream = streams(seed, 1)
        self.hand, self.totals, self.refused = -1, np.zeros(2, np.int64), 0
        self._next_hand()

    def _next_hand(self) -> None:
        self.hand, self.betting = self.hand + 1, ""
        self._game.rules.reset(self._tables[0])

    @property
    def turn(self) -> int | None:
        """The player that decides, 0 or 1; None: the hand is over."""
        table = self._tables[0]
        return None if table.done else self._player(int(table.turn))

    def _player(self, position: int) -> int:
        """Player 0 has the big blind in the first hand. The mapping is its own inverse."""
        return (position + self.hand) % 2

    def lines(self) -> list[str]:
        """Return what both players see."""
        return [write_line(self._tables[0], self._player(each), self.hand, self.betting) for each in range(2)]

    def answers(self, line: str) -> bool:
        """Return whether a line answers the state of the player whose turn it is; a late one answers an older state."""
        return self.turn is not None and line.strip().rpartition(":")[0] == self.lines()[self.turn]

    def receive(self, line: str) -> None:
        """Play the answer of the player whose turn it is. One that is not legal is a check or a fold."""
        table = self._tables[0]
        try:
            if not self.answers(line):
                raise ValueError("this answers another state")
            move = read_action(table, line.strip().rpartition(":")[2])
        except ValueError:
            self.refused += 1
            move = Move(FOLD if table.to_call > 0 else CALL, 0)
        street = int(table.phase)
        self.betting += write_action(table, move)
        count = int(table.board_count)
        self._game.rules.step(table, move)
        if table.done:
            self.totals[[self._player(0), self._player(1)]] += table.rewards[:2].astype(np.int64)
        streets = (int(table.board_count) > 2) + int(table.board_count > 3) + int(table.board_count > 4)
        before = (count > 2) + int(count > 3) + int(count > 4)
        self.betting += "/" * (streets - before if street else 0)

    def go_on(self) -> None:
        """Begin the next hand."""
        self._next_hand()


def greeted(line: str) -> bool:
    """Return whether a client's first line names a version that is spoken."""
    return line.strip().rpartition(".")[0] == VERSION.rpartition(".")[0]
