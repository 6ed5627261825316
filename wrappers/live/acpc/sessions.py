"""Both ends of a match without I/O: lines in, lines out."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ....envs.core.game import Game
from ....envs.core.rng import streams
from ....envs.core.turn_state import Action, AgentResponse
from ....envs.holdem.hands import card_name
from ....envs.holdem.rules import Move
from ....envs.holdem.table import CALL, FOLD
from ....envs.holdem.view import results
from ..common.agent_turn import Turn
from .messages import BUTTON, VERSION, nearest_action, read_action, read_line, replayed, write_action, write_line

_KINDS = {"f": "fold", "c": "call", "r": "raiseTo"}


class AgentSession:
    """The agent's end.

    Args:
        game: see `messages.match_game`.
        on_hand: is called at the end of each hand with the chips won, less those lost.

    Attributes:
        hands: number of hands that have ended.
        chips: chips won in them, less those lost.
    """

    def __init__(self, game: Game, on_hand: Callable[[int], None] = lambda chips: None) -> None:
        self._game, self._on_hand = game, on_hand
        self._line, self._table = "", None
        self.hands = self.chips = 0

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
        if table.done:
            self.hands += 1
            self.chips += int(table.rewards[state.position])
            self._on_hand(int(table.rewards[state.position]))
        if table.done or int(table.turn) != state.position:
            return None
        if len(state.hole[state.position]) != 2:
            raise ValueError("the own cards are not there")
        self._line, self._table = line, table
        seen = self._game.turn_state(table, state.position)
        seen.game_state["hand"] = state.hand + 1  # of the match; an episode of the game has one hand
        return Turn(seen, state.hand, name="acpc")

    def act(self, response: AgentResponse) -> str:
        """Return the line that answers the latest turn; an action that is not legal is a check or a fold."""
        table: Any = self._table
        move = self._game.view.parse(table, Action(response.action.action_type, response.action.payload))
        chosen = move if isinstance(move, Move) else Move(FOLD, 0)
        return f"{self._line}:{write_action(table, chosen)}"


class HostSession:
    """The dealer's end: hands with whole stacks, the button in turns.

    Args:
        game: see `messages.match_game`.
        seed: of the deals; None for fresh entropy.

    Attributes:
        hand: the number of the hand, from 0.
        hands: number of hands that have ended.
        totals: int64[2], the chips that each player has won in the hands that have ended.
        refused: the answers that were not legal.
        replaced: the turns in which no answer came.
    """

    def __init__(self, game: Game, seed: int | None = None) -> None:
        self._game = game
        self._tables = game.tables(1)
        self._tables.stream = streams(seed, 1)
        self.hand, self.totals = -1, np.zeros(2, np.int64)
        self.hands = self.refused = self.replaced = 0
        self.go_on()

    def go_on(self) -> None:
        """Begin the next hand."""
        self.hand, self.betting = self.hand + 1, ""
        self._actions: list[dict[str, Any]] = []
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

    def receive(self, line: str) -> bool:
        """Play the answer of the player whose turn it is, and return whether it is one.

        As at the competition's dealer, what answers another state is none, and `nearest_action` replaces an action that
        is not legal.
        """
        table = self._tables[0]
        state, _, text = line.strip().rpartition(":")
        if state != self.lines()[self._player(int(table.turn))]:
            return False
        try:
            self._play(read_action(table, text))
        except ValueError:
            self.refused += 1
            self._play(nearest_action(table, text))
        return True

    def give_up(self) -> None:
        """Check, else fold, for the player whose turn it is."""
        self.replaced += 1
        self._play(Move(FOLD if self._tables[0].to_call > 0 else CALL, 0))

    def _play(self, move: Move) -> None:
        table = self._tables[0]
        begun, text, seat = _streets(table), write_action(table, move), int(table.turn)
        kind = "check" if text == "c" and table.to_call == 0 else _KINDS[text[0]]
        self._actions.append({"seat": seat, "kind": kind} | ({"amount": move.amount} if kind == "raiseTo" else {}))
        self._game.rules.step(table, move)
        self.betting += text + "/" * (_streets(table) - begun)
        if table.done:
            self.hands += 1
            self.totals[[self._player(0), self._player(1)]] += table.rewards[:2].astype(np.int64)

    def logged(self) -> dict[str, Any]:
        """Return the hand for the match log, as the host of the poker protocol writes it: with all cards."""
        table, options = self._tables[0], self._game.options
        players = [
            {
                "seat": seat,
                "name": f"player {self._player(seat) + 1}",
                "stack": options["stacks"],
                "cards": _names(table.cards[seat]),
            }
            for seat in range(2)
        ]
        return {
            "hand": self.hand + 1,
            "dealer": BUTTON,
            "small_blind": options["small_blind"],
            "big_blind": options["big_blind"],
            "players": players,
            "actions": self._actions,
            "board": _names(table.board[: int(table.board_count)]),
            "showdown": bool(table.showdown),
            "results": results(table, None),
        }


def _streets(table: Any) -> int:
    """Return the number of streets after the first whose cards lie on the board."""
    return max(0, int(table.board_count) - 2)


def _names(cards: Any) -> list[str]:
    return [card_name(int(card)) for card in cards]


def greeted(line: str) -> bool:
    """Return whether a client's first line names a version that is spoken."""
    return line.strip().rpartition(".")[0] == VERSION.rpartition(".")[0]
