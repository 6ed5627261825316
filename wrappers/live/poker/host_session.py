"""The host's end of the poker platform's protocol for one table, without I/O: no socket and no clock.

`PokerHostSession` decides who sits where, whose action is accepted and when a hand begins; `LiveHand` plays the hands
and `HostMessages` makes the messages. Every call returns what to send, in order. `due` says what the clock must bring
about next. The shell in `hosted_table` owns connections and time.

Where the platform's protocol is silent: a leaving player's hand is folded when its turn comes, and its seat is free
after the hand; a seat taken during a hand is listed as folded until the next deal, and so is one that sits out, as its
agent has not connected yet or missed two turns in a row; when a hand is over, its pot and bets are 0, since the chips
lie in the stacks; a hand that `end` interrupts has no result, and its chips go back.
"""

import uuid
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeAlias

from ....envs.core.game import Game
from ....envs.core.turn_state import INVALID_PAYLOAD, ActionResult
from ....envs.holdem import game as holdem
from ....envs.holdem import rules, view
from ..common.clock import Outgoing
from . import messages
from .hand import LiveHand
from .host_messages import OBSERVERS, HostMessages
from .messages import Ack, Action, Error, Ping, PlayerJoined, PlayerLeft, Pong, ServerMessage, Unknown, Welcome
from .table_data import PokerRules, PokerSeat, Refusal, SavedSeat, TableSnapshot

SAVED_OPTIONS = ("seats", "small_blind", "big_blind", "stacks", "raise_cap")
"""Options of the rules with which a saved table goes on."""
SEQ_GAP = 1_000
"""By how much `seq` grows at a restart: no number of an interrupted hand comes again."""
MOST_LEFT = 1_000
"""Agents who left and whose chips are remembered; beyond, the one who left first is forgotten."""

Reason = Literal["insufficient_players", "abandoned", "admin_stopped"]
"""Why a table ended."""
Sends: TypeAlias = list[Outgoing[ServerMessage]]
"""Messages for seats, or for all `OBSERVERS`."""


class PokerDue(NamedTuple):
    """What the clock must bring about: ``act``: `timeout(seat, token)`; ``hand``: `next_hand()`."""

    what: Literal["act", "hand"]
    seat: int
    token: str


_game = lru_cache(16)(holdem)
"""Makes the game of a table. Tables with the same options share one: it takes more memory than all else of a table."""


class PokerHostSession:
    """One table of no-limit hold'em behind the platform's protocol.

    Args:
        rules: the rules; None: the default ones.
        timeout: time to act in milliseconds, as `welcome` says it; the clock itself is the shell's.
        seed: makes the cards reproducible. None draws every hand from the operating system, so that a player who has
            seen many cards cannot foresee the next.
        token: makes turn tokens.

    Attributes:
        rules: the rules of the table.
        game, table: the game with these rules, and their record; for others to read only.
        status: ``waiting`` for players, ``running``, or ``ended`` (for what `reason`).
        seats: who sits where, by seat number.
        hand, seq: the numbers of the hand and of the state.
        hand_log: the latest hand that ended, every card included, as plain dicts; None before.
        observed: whether somebody looks on without a seat (`OBSERVERS`), who sees no cards; set from outside.

    Raises:
        ValueError: naming the option of the rules, its value and its range.
    """

    def __init__(
        self,
        rules: PokerRules | None = None,
        *,
        timeout: int = 30_000,
        seed: int | None = None,
        token: Callable[[], str] = lambda: str(uuid.uuid4()),
    ) -> None:
        self.rules = rules = rules or PokerRules()
        game = _game(
            seats=rules.seats,
            small_blind=rules.small_blind,
            big_blind=rules.big_blind,
            stacks=rules.stack,
            raise_cap=rules.raise_cap,
        )
        self.status: Literal["waiting", "running", "ended"] = "waiting"
        self.reason: Reason | None = None
        self.seats: dict[int, PokerSeat] = {}
        self.observed = False
        self._hand = LiveHand(game, seed, token)
        self._messages = HostMessages(self._hand, self.seats)
        self._timeout = timeout
        self._acks: dict[tuple[int, str], int] = {}  # seat and token of this hand's accepted actions -> seq
        self._left: dict[str, int] = {}  # chips of agents who left

    @property
    def game(self) -> Game:
        """The rules with the table's options."""
        return self._hand.game

    @property
    def table(self) -> Any:
        """The record."""
        return self._hand.table

    @property
    def hand(self) -> int:
        """The number of the hand; 0 before the first."""
        return self._hand.number

    @property
    def seq(self) -> int:
        """The number of the state."""
        return self._hand.seq

    @property
    def hand_log(self) -> dict[str, Any] | None:
        """The latest hand that ended, every card included, as plain dicts; None before."""
        return self._hand.finished

    # Seats.

    def join(self, agent_id: str, name: str | None = None, preferred: int | None = None) -> tuple[int, Sends]:
        """Seat an agent: where it prefers if that is free, else at the lowest free seat; it is dealt in next hand.

        Who left and comes back has the chips it left with (of the last `MOST_LEFT`).

        Raises:
            Refusal: TABLE_ENDED, TABLE_FULL, ALREADY_SEATED, or INVALID_TABLE_STATE (it left without chips, and there
                is no rebuy).
        """
        if self.status == "ended":
            raise Refusal(messages.TABLE_ENDED, "this table has ended")
        if any(seat.agent_id == agent_id for seat in self.seats.values()):
            raise Refusal(messages.ALREADY_SEATED, f"{agent_id} sits at this table (or is leaving it after this hand)")
        if self._left.get(agent_id) == 0 and not self.rules.rebuy:
            raise Refusal(messages.INVALID_TABLE_STATE, f"{agent_id} has lost its chips here, and there is no rebuy")
        free = [number for number in range(self.game.seats) if number not in self.seats]
        if not free:
            raise Refusal(messages.TABLE_FULL, f"all {self.game.seats} seats are taken")
        number = preferred if preferred in free else free[0]
        self.seats[number] = PokerSeat(agent_id, name, self._left.pop(agent_id, self.rules.stack))
        joined = PlayerJoined(seat_id=number, agent_name=name, stack=self.stack(number), agent_id=agent_id)
        return number, [Outgoing(other, joined) for other in self._receivers() if other != number]

    def leave(self, number: int) -> Sends:
        """Let a seat's agent go: its hand is folded, its seat free after the hand.

        Raises:
            Refusal: NOT_SEATED, TABLE_ENDED.
        """
        if self.status == "ended":
            raise Refusal(messages.TABLE_ENDED, "this table has ended")
        seat = self.seats.get(number)
        if seat is None or seat.leaving:
            raise Refusal(messages.NOT_SEATED, f"nobody sits at seat {number}")
        seat.leaving, seat.connected = True, False
        left = PlayerLeft(seat_id=number, agent_id=seat.agent_id)
        sends: Sends = [Outgoing(other, left) for other in self._receivers()]
        if not self._in_hand(number):
            self._free(number)
        elif self._hand.turn == number:
            sends += self._fold_leavers()
        return sends

    def connect(self, number: int) -> Sends:
        """Note that a seat has a connection (again), and send it all that it needs; may start the table."""
        seat = self.seats.get(number)
        if seat is None or seat.leaving:
            return [self._error(number, messages.NOT_SEATED, f"nobody sits at seat {number}")]
        seat.connected, seat.missed = True, 0
        if self.status == "ended":
            return [Outgoing(number, self._messages.ended(self.reason))]
        if self.status == "running":
            return [self._welcome(number), *self._messages.states([number])]
        connected = self._connected()
        if len(connected) < self.rules.min_players:
            return [Outgoing(number, self._messages.waiting(number, self.rules.min_players))]
        self.status = "running"
        return [self._welcome(other) for other in connected] + self.next_hand()

    def sit_out(self, number: int, out: bool) -> Sends:
        """Deal a seat no further hand, until it is `out` no longer. Its hand under way is checked or folded.

        If it missed a hand, it is dealt in again with the big blind; or at once, where fewer than two others play.
        """
        seat = self.seats[number]
        if seat.out == out and (out or not seat.sits_out):
            return []
        seat.out, seat.missed = out, 0 if seat.connected else seat.missed
        return self._states() if self.status == "running" else []

    def connect_observer(self) -> Sends:
        """Return what somebody who begins to look on is sent."""
        receiver = OBSERVERS
        if self.status == "ended":
            return [Outgoing(receiver, self._messages.ended(self.reason))]
        if self.status == "running":
            return self._messages.states([receiver])
        return [Outgoing(receiver, self._messages.waiting(receiver, self.rules.min_players))]

    def disconnect(self, number: int) -> None:
        """Note that a seat has lost its connection. It stays seated, the clock acts for it, and soon it sits out."""
        if number in self.seats:
            self.seats[number].connected = False

    # The game.

    @property
    def due(self) -> PokerDue | None:
        """What the clock must bring about. An equal value means that the same clock goes on."""
        if self.status != "running":
            return None
        if self._hand.turn is None:
            return None if self._waits else PokerDue("hand", -1, str(self.hand))
        return PokerDue("act", self._hand.turn, self._hand.token)

    @property
    def _waits(self) -> bool:
        """Whether no hand can be dealt before somebody who sits out is back, or gone."""
        chips = {number for number, seat in self.seats.items() if self.rules.rebuy or self.stack(number) > 0}
        return self.hand != self.rules.max_hands and len(chips) >= 2 > sum(
            not self.seats[one].sits_out for one in chips
        )

    def stack(self, number: int) -> int:
        """Return the chips that the agent of a seat has behind."""
        return self._messages.stack(number)

    @property
    def deserted(self) -> bool:
        """Whether agents sit here and none of them is connected."""
        return self.status != "ended" and bool(self.seats) and not self._connected()

    def receive(self, number: int, data: Any) -> Sends:
        """Answer what a seat sent: text, bytes or parsed JSON. Never raises; a refusal changes nothing."""
        seat = self.seats.get(number)
        if seat is None or seat.leaving:
            return [self._error(number, messages.NOT_SEATED, f"nobody sits at seat {number}")]
        message = messages.decode_client(data)
        if isinstance(message, Unknown):
            kind = f"message of type {message.type[:40]!a}" if message.type else "message"
            return [self._error(number, messages.VALIDATION_ERROR, f"cannot read the {kind}: {message.reason[:200]}")]
        if isinstance(message, Ping):
            return [Outgoing(number, Pong(payload=message.payload))]
        seat.missed = 0  # also an answer that is too late: it is dealt in again
        return self._act(number, message)

    def timeout(self, number: int, token: str) -> Sends:
        """Check (where that is free) or fold for the seat whose time for the turn `token` is over."""
        if self.due != PokerDue("act", number, token):
            return []
        self.seats[number].missed += 1
        self._hand.play_safe("timeout")
        return self._go_on()

    def next_hand(self) -> Sends:
        """Deal the next hand; or end the table, if fewer than two have chips or `max_hands` are played."""
        if self.status != "running" or self._hand.playing or self._waits:
            return []
        if self.rules.rebuy and self.hand != self.rules.max_hands:
            for number, seat in self.seats.items():
                if self.stack(number) == 0 and not seat.leaving:
                    seat.chips = self.rules.stack
        if sum(self.stack(number) > 0 for number in self.seats) < 2:
            return self.end("insufficient_players")
        if self.hand == self.rules.max_hands:
            return self.end("admin_stopped")
        return self._deal()

    def end(self, reason: Reason) -> Sends:
        """End the table. A hand under way has no result; its chips go back."""
        if self.status == "ended":
            return []
        self._hand.cancel()
        self.status = "ended"
        self.reason = reason
        return [Outgoing(number, self._messages.ended(self.reason)) for number in self._receivers()]

    def _deal(self) -> Sends:
        self._acks.clear()
        self._hand.deal(self.seats)
        return self._go_on()

    def _act(self, number: int, message: Action) -> Sends:
        choice = message.action
        key = (number, choice.turn_token)
        if key in self._acks:  # a retry; every other check would mistake it for something else
            return [Outgoing(number, Ack(turn_token=choice.turn_token, seq=self._acks[key]))]
        refusal = self._refuse(number, message)
        if refusal is not None:
            return [Outgoing(number, refusal)]
        move = self._decode(choice)
        if isinstance(move, Error):
            return [Outgoing(number, move)]
        self._hand.play(move, reasoning=choice.reasoning or "")
        self._acks[key] = self.seq
        return [Outgoing(number, Ack(turn_token=choice.turn_token, seq=self.seq)), *self._go_on()]

    def _refuse(self, number: int, message: Action) -> Error | None:
        """Make the platform's checks, in its order."""
        if self.status == "ended":
            return Error(code=messages.TABLE_ENDED, message="this table has ended")
        if self.status == "waiting":
            return Error(code=messages.INVALID_TABLE_STATE, message="the table waits for players")
        if message.expected_seq not in (None, self.seq):
            detail = f"expected_seq is {message.expected_seq}, the table is at {self.seq}"
            return Error(code=messages.STALE_SEQ, message=detail)
        if self._hand.turn != number:
            return Error(code=messages.NOT_YOUR_TURN, message=f"seat {number} is not to act")
        if message.action.turn_token != self._hand.token:
            return Error(code=messages.INVALID_ACTION, message="this turn_token was not issued for this turn")
        return None

    def _decode(self, choice: messages.Choice) -> rules.Move | Error:
        payload = {"amount": choice.amount} if choice.kind == "raiseTo" else {}
        move = self._hand.move(choice.kind, payload)
        if isinstance(move, ActionResult):
            code = messages.VALIDATION_ERROR if move.error == INVALID_PAYLOAD else messages.INVALID_ACTION
            return Error(code=code, message=move.error_detail or "")
        return move

    def _go_on(self) -> Sends:
        """Show the table to all, fold for those who have left, and close the hand if it is over."""
        return self._states() + self._fold_leavers() if self._hand.playing else self._close_hand()

    def _fold_leavers(self) -> Sends:
        sends: Sends = []
        while (turn := self._hand.turn) is not None and self.seats[turn].leaving:
            self._hand.fold("left")
            sends += self._states() if self._hand.playing else self._close_hand()
        return sends

    def _close_hand(self) -> Sends:
        results = view.results(self.table, None)
        sends = self._states() + self._messages.results(results, self._receivers())
        self._hand.close_log(results)
        for number in [number for number, seat in self.seats.items() if seat.leaving]:
            self._free(number)
        return sends

    # A restart.

    def snapshot(self) -> TableSnapshot:
        """Return what survives a restart. A hand under way is void in it, and its stakes are returned."""
        hand, left = self._hand, dict(self._left)
        seats: dict[int, SavedSeat] = {}
        for number, seat in self.seats.items():
            chips = hand.chips(number) + seat.chips
            if seat.leaving:
                left[seat.agent_id] = chips
            else:
                seats[number] = SavedSeat(seat.agent_id, seat.name, chips)
        options = {name: self.game.options[name] for name in SAVED_OPTIONS}
        stream = int(hand.table.stream)
        return TableSnapshot(options, "", hand.number, hand.seq, int(hand.table.dealer), stream, seats, left)

    def restore(self, saved: TableSnapshot) -> None:
        """Take up a table that was saved, in place of an empty one: it waits for its players to connect.

        Raises:
            ValueError: if it was saved with other rules.
        """
        options = {name: self.game.options[name] for name in SAVED_OPTIONS}
        if saved.options != options:
            raise ValueError(f"the saved tables have other rules: {saved.options}; this host has {options}")
        self._hand.restore(saved.hand, saved.seq + SEQ_GAP, saved.dealer, saved.stream)
        self._left = dict(saved.left)
        self.seats.update({number: PokerSeat(one.agent_id, one.name, one.chips) for number, one in saved.seats.items()})

    # Small questions.

    def _welcome(self, number: int) -> Outgoing[ServerMessage]:
        welcome = Welcome(seat=number, agent_id=self.seats[number].agent_id, timeout=self._timeout)
        return Outgoing(number, welcome)

    def _error(self, number: int, code: str, message: str) -> Outgoing[ServerMessage]:
        return Outgoing(number, Error(code=code, message=message))

    def _states(self) -> Sends:
        return self._messages.states(self._receivers())

    def _connected(self) -> list[int]:
        return [number for number in sorted(self.seats) if self.seats[number].connected]

    def _receivers(self) -> list[int]:
        return [*self._connected(), *([OBSERVERS] if self.observed else [])]

    def _in_hand(self, number: int) -> bool:
        return self._hand.playing and bool(self.table.seated[number])

    def _free(self, number: int) -> None:
        self._left[self.seats[number].agent_id] = self.stack(number)
        if len(self._left) > MOST_LEFT:
            del self._left[next(iter(self._left))]
        del self.seats[number]
        self._hand.clear(number)
