"""The hand under way at a hosted table: the compiled record, its sequence numbers and turn tokens, and its log."""

import secrets
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ....envs.core.game import Game
from ....envs.core.rng import streams
from ....envs.core.turn_state import Action, ActionResult
from ....envs.holdem import rules
from ....envs.holdem.hands import card_name
from ....envs.holdem.table import FOLD, KINDS, PHASES
from .table_data import PokerSeat


class LiveHand:
    """One hand after another on one record.

    Args:
        game: hold'em with the table's options.
        seed: makes the cards reproducible; None draws every hand from the operating system, so that a player who has
            seen many cards cannot foresee the next.
        new_token: makes turn tokens.

    Attributes:
        game, table: the rules and their record; for others to read only. number: of the hand, from 1; 0 before the
        first. seq: the sequence number: +1 at each start of a hand and for each action, +1 more where a street or the
        end follows. token: the turn token of the decision under way; "" where there is none. playing: whether a hand is
        under way. finished: the log of the latest hand that ended, every card included, as plain dicts; None before.
    """

    def __init__(self, game: Game, seed: int | None, new_token: Callable[[], str]) -> None:
        self.game = game
        self.table: Any = game.tables(1)[0]
        self.number = self.seq = 0
        self.token = ""
        self.playing = False
        self.finished: dict[str, Any] | None = None
        self._seeded = seed is not None
        if self._seeded:
            self.table.stream = streams(seed, 1)[0]
        self._new_token = new_token
        self._log: dict[str, Any] = {}
        self._big_blind = 0  # the seat that had it in the latest hand

    @property
    def turn(self) -> int | None:
        """The seat to act; None where no hand is under way."""
        return int(self.table.turn) if self.playing else None

    def deal(self, seats: Mapping[int, PokerSeat]) -> None:
        """Deal the next hand to these seats, but to those that sit out, or wait for the big blind.

        Only the chips that play are in the record.
        """
        table = self.table
        dealer = self._let_back(seats)
        for number, seat in seats.items():
            chips = int(table.stack[number]) + seat.chips
            seat.waits |= seat.out
            table.stack[number], seat.chips = (0, chips) if seat.sits_out or seat.waits else (chips, 0)
        if dealer is not None:
            table.dealer = dealer
        elif self.number == 0:
            table.dealer = min(number for number in seats if table.stack[number] > 0)
        else:
            table.dealer = rules.next_dealer(table)
        if not self._seeded:
            table.stream = secrets.randbits(64)
        self.number += 1
        self.seq += 1
        stacks = table.stack.tolist()
        table.hand = 0  # to the rules, and to those who observe, every hand is an episode of one
        rules.deal(table)
        self._big_blind = self._left_of(int(table.small_seat), table.seated.nonzero()[0].tolist())[0]
        self.seq += bool(table.done)  # blinds that put everybody all-in
        self._open_turn()
        self._open_log(seats, stacks)

    def _let_back(self, seats: Mapping[int, PokerSeat]) -> int | None:
        """Let back the seat that waits for the big blind and is next to have it; or all, where fewer than two play.

        Returns:
            The dealer with which it has the big blind; None: it is no such seat's turn.
        """
        ready = [one for one, seat in seats.items() if not seat.sits_out and self.table.stack[one] + seat.chips]
        play = [number for number in ready if not seats[number].waits]
        due = ready if len(play) < 2 else [one for one in self._left_of(self._big_blind, ready)[:1] if one not in play]
        for number in due:
            seats[number].waits = False
        return self._left_of(due[0], [*play, *due])[-3] if due and len(play) >= 2 else None

    def _left_of(self, seat: int, numbers: Iterable[int]) -> list[int]:
        """Return these seats in their order around the table, from the one left of `seat` to `seat` itself."""
        return sorted(numbers, key=lambda number: (number - seat - 1) % self.game.seats)

    def move(self, kind: str, payload: Mapping[str, Any]) -> rules.Move | ActionResult:
        """Return the move that an action stands for, or why it is refused."""
        move: rules.Move | ActionResult = self.game.view.parse(self.table, Action(kind, dict(payload)))
        return move

    def play(self, move: rules.Move, cause: str = "", reasoning: str = "") -> None:
        """Play the acting seat's move, and open the next turn.

        Args:
            move: legal.
            cause: why another than the seat chose it.
            reasoning: what the seat said of it, for the log.
        """
        table = self.table
        phase = table.phase
        rules.step(table, move)
        self.seq += 1 if table.phase == phase else 2  # one more where a street opened or the hand ended
        self._open_turn()
        self._log["actions"].append(
            {
                "street": PHASES[phase],
                "seat": int(table.last_seat),
                "kind": KINDS[table.last_kind],
                **({"amount": int(table.last_amount)} if table.last_amount else {}),
                **({"cause": cause} if cause else {}),
                **({"reasoning": reasoning} if reasoning else {}),
            }
        )

    def play_safe(self, cause: str) -> None:
        """Check where that is free, else fold, for the seat to act."""
        self.play(self.game.rules.decode(self.table, self.game.view.safe(self.table)), cause)

    def fold(self, cause: str) -> None:
        """Fold for the seat to act."""
        self.play(rules.Move(FOLD, 0), cause)

    def cancel(self) -> None:
        """End a hand that is under way without a result: its chips go back."""
        if self.playing:
            self.table.stack += self.table.committed
        self.playing = False

    def chips(self, seat: int) -> int:
        """Return a seat's chips behind and in the hand under way."""
        table = self.table
        return int(table.stack[seat]) + (int(table.committed[seat]) if self.playing else 0)

    def restore(self, number: int, seq: int, dealer: int, stream: int) -> None:
        """Go on after this hand, whose number, seq and dealer are given; `stream` is that of a table with a seed."""
        self.number, self.seq = number, seq
        self.table.dealer = dealer
        if self._seeded:
            self.table.stream = stream

    def clear(self, seat: int) -> None:
        """Empty a seat of the record."""
        self.table.stack[seat] = 0
        self.table.folded[seat] = False
        self.table.seated[seat] = False

    def cards(self, seat: int) -> list[str]:
        """Return the cards that a seat was dealt."""
        return [card_name(card) for card in self.table.cards[seat].tolist()]

    def board(self) -> list[str]:
        """Return the cards on the board."""
        return [card_name(card) for card in self.table.board[: self.table.board_count].tolist()]

    def _open_turn(self) -> None:
        self.playing = not self.table.done
        self.token = self._new_token() if self.playing else ""

    # The log.

    def _open_log(self, seats: Mapping[int, PokerSeat], stacks: list[int]) -> None:
        table = self.table
        self._log = {
            "hand": self.number,
            "dealer": int(table.dealer),
            "small_blind": int(table.small_blind),
            "big_blind": int(table.big_blind),
            "players": [
                {
                    "seat": number,
                    "agent_id": seats[number].agent_id,
                    "name": seats[number].name,
                    "stack": stacks[number],
                    "cards": self.cards(number),
                }
                for number in sorted(seats)
                if table.seated[number]
            ],
            "actions": [],
        }

    def close_log(self, results: list[dict[str, Any]]) -> None:
        """Complete the log of a hand that has ended; `results` as `envs.holdem.view.results` returns them."""
        self.finished = {
            **self._log,
            "board": self.board(),
            "showdown": bool(self.table.showdown),
            "results": [{**row, "stack": int(self.table.stack[row["seat"]])} for row in results],
        }
