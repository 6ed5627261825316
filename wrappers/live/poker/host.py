"""The poker server: our hold'em behind the poker platform's WebSocket and REST calls, on one port.

`PokerHostSession` is one table without I/O: no socket and no clock. It decides who sits where, whose action is accepted
and when a hand begins, and plays the hands. Every call returns what to send, in order. `due` says what the clock must
bring about next.

Where the platform's protocol is silent: a leaving player's hand is folded when its turn comes, and its seat is free
after the hand; a seat taken during a hand is listed as folded until the next deal, and so is one that sits out, as its
agent has not connected yet or missed two turns in a row; when a hand is over, its pot and bets are 0, since the chips
lie in the stacks; a hand that `end` interrupts has no result, and its chips go back.

`PokerHost` has the tables, the connections and the REST calls. A table that ends is replaced, and remembered for a
while. All of it runs in one event loop, and nothing in it waits for a client. The WebSocket speaks the platform's agent
format, and answers have the platform's fields. What is kept over restarts, agents, tables and the tokens of seats, is
in SQLite (`PokerStore`). Keys and tokens are kept as hashes only: who reads the file cannot play for anybody.
"""

import asyncio
import logging
import secrets
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache, partial
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

import msgspec
from aiohttp import WSCloseCode, web
from aiohttp.typedefs import Handler
from cachetools import LRUCache
from msgspec.structs import replace

from ....envs.core import turn_state as ts
from ....envs.core.options import AT_LEAST_0, AT_LEAST_1, NO_LIMIT, SECONDS_OR_0, Checked, Seconds, SecondsOr0, whole
from ....envs.core.plain_start import PLAIN_START
from ....envs.core.rng import streams
from ....envs.core.turn_state import INVALID_PAYLOAD, ActionResult
from ....envs.holdem import game as holdem
from ....envs.holdem import rules, view
from ....envs.holdem.hands import card_name
from ....envs.holdem.table import FOLD, KINDS, PHASES
from ..common import limits
from ..common.clock import Deadline, Outgoing, Room
from ..common.database import IN_MEMORY, Database, SaveError
from ..common.player import Unknown, tell
from ..common.server import BadBody, Connection, Server, ServerSettings, read_struct
from . import messages
from .messages import Error

OBSERVERS = -1
"""The receiver that stands for all who look on without a seat."""
OPTIONS = {name: name for name in ("seats", "small_blind", "big_blind", "raise_cap")} | {"stacks": "stack"}
"""The options of hold'em that a table has, and their names in its rules. A saved table goes on with the same ones."""
SEQ_GAP = 1_000
"""By how much `seq` grows at a restart: no number of an interrupted hand comes again."""
MOST_LEFT = 1_000
"""Agents who left and whose chips are remembered; beyond, the one who left first is forgotten."""

Reason = Literal["insufficient_players", "abandoned", "admin_stopped"]
"""Why a table ended."""
Sends: TypeAlias = list[Outgoing[messages.ServerMessage]]
"""Messages for seats, or for all `OBSERVERS`."""


SITS_OUT_AFTER = 2
"""Turns in a row that pass without an answer, after which a seat is dealt no further hand until it is back."""
ORBITS = 3
"""Rounds of the dealer button that a connected seat may sit out for its silence, after which it is given up."""


@dataclass(frozen=True, kw_only=True)
class PokerRules(Checked):
    """The rules of a hosted table.

    Attributes:
        seats: Seats per table, 2 to 10.
        small_blind: Chips of the small blind.
        big_blind: Chips of the big blind.
        stack: Chips of a new player.
        min_players: Number of connected players with which the first hand begins.
        raise_cap: The most bets and raises on a street, blinds not counted; None: no cap.
        hands: Number of hands after which a table ends as ``admin_stopped``; None: no limit.
        rebuy: Whether a player without chips gets a new stack before the next hand.
        seats_per_address: Seats that players of one address may have, but for those of this machine; None: a third.
    """

    seats: int = 9
    small_blind: int = 1
    big_blind: int = 2
    stack: int = 100
    min_players: int = 2
    raise_cap: int | None = 4
    hands: Annotated[int | None, NO_LIMIT] = None
    rebuy: bool = False
    seats_per_address: Annotated[int | None, partial(whole, low=1, otherwise="None (a third)")] = None

    def __post_init__(self) -> None:
        """Check the values that the rules of the game do not check.

        Raises:
            ValueError: naming the option, its value and its range.
        """
        super().__post_init__()
        if not 2 <= self.min_players <= self.seats:
            raise ValueError(f"min_players={self.min_players}: with {self.seats} seats it is 2 to {self.seats}")

    def crowded(self, held: Iterable[str], address: str) -> str | None:
        """Return why an address gets no seat beside those that are held, by their addresses; None: it gets one."""
        share = self.seats_per_address or max(1, self.seats // 3)
        full = address and sum(one == address for one in held) >= share
        return f"one address has at most {share} of {self.seats} seats here" if full else None


@dataclass
class PokerSeat:
    """A taken seat."""

    agent_id: str
    name: str | None
    chips: int
    connected: bool = False
    came: bool = False
    leaving: bool = False
    out: bool = False
    waits: bool = False
    missed: int = SITS_OUT_AFTER
    idle: int = 0
    address: str = ""

    @property
    def sits_out(self) -> bool:
        """Whether it is dealt no hand."""
        return self.out or self.missed >= SITS_OUT_AFTER

    @property
    def is_silent(self) -> bool:
        """Whether it is connected and dealt no hand because it does not answer."""
        return self.connected and not self.out and self.missed >= SITS_OUT_AFTER


class Refusal(Exception):
    """A request that is refused."""

    def __init__(self, code: str, message: str, **details: str) -> None:
        super().__init__(message)
        self.code, self.message, self.details = code, message, details


class SavedSeat(msgspec.Struct):
    """A taken seat; `chips` with what it has put into a hand under way."""

    agent_id: str
    name: str | None
    chips: int
    address: str = ""


class TableSnapshot(msgspec.Struct):
    """A table between two hands. A hand under way is void in it: every seat has its stake back."""

    options: dict[str, int | None]
    created: str
    hand: int
    seq: int
    dealer: int
    stream: int
    seats: dict[int, SavedSeat]
    left: dict[str, int]


class PokerDue(NamedTuple):
    """What the clock must bring about: ``act``: `timeout(seat, token)`; ``hand``: `next_hand()`.

    ``wait``: no hand can be dealt, for want of seats that do not sit out; those that are `silent` are to leave. Of the
    connections, which a session does not see: ``away``: the seat of an agent is free; ``abandoned``: the table ends.
    """

    what: Literal["act", "hand", "wait", "away", "abandoned"]
    seat: int = -1
    token: str = ""


_game = lru_cache(16)(holdem)
"""Makes the game of a table. Tables with the same options share one: it takes more memory than all else of a table."""


class PokerHostSession:
    """One table of no-limit hold'em behind the platform's protocol.

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
        self.game = game = _game(**{name: getattr(rules, own) for name, own in OPTIONS.items()})
        self.status: Literal["waiting", "running", "ended"] = "waiting"
        self.reason: Reason | None = None
        self.seats: dict[int, PokerSeat] = {}
        self.observed, self._timeout = False, timeout
        self._acks: dict[tuple[int, str], int] = {}  # seat and token of this hand's accepted actions -> seq
        self._left = LRUCache[str, int](MOST_LEFT)  # chips of agents who left
        self._options = {name: game.options[name] for name in OPTIONS}
        self.table: Any = game.tables(1)[0]
        self.hand = self.seq = 0
        self.token, self.playing = "", False
        self.hand_log: dict[str, Any] | None = None
        self._seeded, self._new_token = seed is not None, token
        if self._seeded:
            self.table.stream = streams(seed, 1)[0]
        self._log: dict[str, Any] = {}
        self._big_blind = 0  # the seat that had it in the latest hand

    # Seats.

    def join(
        self, agent_id: str, name: str | None = None, preferred: int | None = None, address: str = "", before: str = ""
    ) -> tuple[int, Sends]:
        """Seat an agent: where it prefers if that is free, else at the lowest free seat; it is dealt in next hand.

        Who left and comes back has the chips it left with (of the last `MOST_LEFT`); `before`: who it was then.

        Raises:
            Refusal: TABLE_ENDED, TABLE_FULL (or its address has its share), ALREADY_SEATED, or INVALID_TABLE_STATE (it
                left without chips, and there is no rebuy).
        """
        if self.status == "ended":
            raise Refusal(messages.TABLE_ENDED, "this table has ended")
        if any(seat.agent_id == agent_id for seat in self.seats.values()):
            raise Refusal(messages.ALREADY_SEATED, f"{agent_id} sits at this table (or is leaving it after this hand)")
        who, before = name or agent_id, before or agent_id
        if self._left.get(before) == 0 and not self.rules.rebuy:
            raise Refusal(messages.INVALID_TABLE_STATE, f"{who} has lost its chips here, and there is no rebuy")
        free = [number for number in range(self.game.seats) if number not in self.seats]
        if not free:
            raise Refusal(messages.TABLE_FULL, f"all {self.game.seats} seats are taken")
        if (problem := self.rules.crowded((seat.address for seat in self.seats.values()), address)) is not None:
            raise Refusal(messages.TABLE_FULL, problem)
        number = preferred if preferred in free else free[0]
        self.seats[number] = PokerSeat(agent_id, name, self._left.pop(before, self.rules.stack), address=address)
        joined = messages.PlayerJoined(seat_id=number, agent_name=name, stack=self.stack(number), agent_id=agent_id)
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
        left = messages.PlayerLeft(seat_id=number, agent_id=seat.agent_id)
        sends: Sends = [Outgoing(other, left) for other in self._receivers()]
        if not (self.playing and self.table.seated[number]):
            self._free(number)
        elif self.turn == number:
            sends += self._fold_leavers()
        return sends

    def connect(self, number: int) -> Sends:
        """Note that a seat has a connection (again), and send it all that it needs; may start the table."""
        seat = self.seats.get(number)
        if seat is None or seat.leaving:
            return [self._error(number, messages.NOT_SEATED, f"nobody sits at seat {number}")]
        seat.missed = min(seat.missed, SITS_OUT_AFTER - 1) if seat.came else 0
        seat.connected = seat.came = True
        connected = [other for other in self._receivers() if other != OBSERVERS]
        if self.status != "waiting" or len(connected) < self.rules.min_players:
            return [*([self._welcome(number)] if self.status == "running" else []), *self.news(number)]
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

    def news(self, receiver: int) -> Sends:
        """Return the messages that tell a newcomer the state of the table: a seat, or `OBSERVERS`."""
        if self.status == "running":
            return self._states([receiver])
        if self.status == "ended":
            return [Outgoing(receiver, self._ended())]
        numbers: dict[str, Any] = {"min_players_to_start": self.rules.min_players, "current_players": len(self.seats)}
        waiting = messages.TableStatus(status="waiting", **numbers)
        if receiver in self.seats:
            waiting.seat_id, waiting.agent_id = receiver, self.seats[receiver].agent_id
        return [Outgoing(receiver, waiting)]

    def _ended(self) -> messages.TableStatus:
        stacks = [
            messages.FinalStack(seat_id=number, agent_id=seat.agent_id, stack=self.stack(number))
            for number, seat in sorted(self.seats.items())
        ]
        return messages.TableStatus(status="ended", reason=self.reason, final_stacks=stacks)

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
        if self.turn is None:
            if self._waits:
                return PokerDue("wait", -1, str(self.hand)) if self.silent else None
            return PokerDue("hand", -1, str(self.hand))
        return PokerDue("act", self.turn, self.token)

    @property
    def _waits(self) -> bool:
        """Whether no hand can be dealt before somebody who sits out is back, or gone."""
        chips = {number for number, seat in self.seats.items() if self.rules.rebuy or self.stack(number) > 0}
        return self.hand != self.rules.hands and len(chips) >= 2 > sum(not self.seats[one].sits_out for one in chips)

    @property
    def silent(self) -> list[int]:
        """The connected seats that have sat out for their silence for `ORBITS`, or that a table waits for."""
        most = 0 if self._waits else ORBITS * self.game.seats
        sitting = {number: seat for number, seat in self.seats.items() if seat.is_silent and not seat.leaving}
        return [number for number, seat in sitting.items() if seat.idle >= most]

    def stack(self, number: int) -> int:
        """Return the chips that the agent of a seat has behind."""
        return int(self.table.stack[number]) + self.seats[number].chips

    @property
    def deserted(self) -> bool:
        """Whether agents sit here and none of them is connected."""
        return self.status != "ended" and bool(self.seats) and not any(seat.connected for seat in self.seats.values())

    def receive(self, number: int, data: Any) -> Sends:
        """Answer what a seat sent: text, bytes or parsed JSON. Never raises; a refusal changes nothing."""
        seat = self.seats.get(number)
        if seat is None or seat.leaving:
            return [self._error(number, messages.NOT_SEATED, f"nobody sits at seat {number}")]
        message = messages.decode_client(data)
        if isinstance(message, Unknown):
            kind = f"message of type {message.type[:40]!a}" if message.type else "message"
            return [self._error(number, messages.VALIDATION_ERROR, f"cannot read the {kind}: {message.reason[:200]}")]
        if isinstance(message, messages.Ping):
            return [Outgoing(number, messages.Pong(payload=message.payload))]
        # Also with what is refused it is dealt in again; only what is played lets it miss two turns.
        seat.missed = min(seat.missed, SITS_OUT_AFTER - 1)
        return self._act(number, message)

    def timeout(self, number: int, token: str) -> Sends:
        """Check (where that is free) or fold for the seat whose time for the turn `token` is over."""
        if self.due != PokerDue("act", number, token):
            return []
        self.seats[number].missed += 1
        self.seats[number].idle += 1
        self.play(self.game.rules.decode(self.table, self.game.view.safe(self.table)), cause="timeout")
        return self._go_on()

    def next_hand(self) -> Sends:
        """Deal the next hand; or end the table, if fewer than two have chips or `hands` are played."""
        if self.status != "running" or self.playing or self._waits:
            return []
        if self.rules.rebuy and self.hand != self.rules.hands:
            for number, seat in self.seats.items():
                if self.stack(number) == 0 and not seat.leaving:
                    seat.chips = self.rules.stack
        if sum(self.stack(number) > 0 for number in self.seats) < 2:
            return self.end("insufficient_players")
        if self.hand == self.rules.hands:
            return self.end("admin_stopped")
        self._acks.clear()
        for seat in self.seats.values():
            seat.idle += seat.is_silent
        self._deal()
        return self._go_on()

    def end(self, reason: Reason) -> Sends:
        """End the table. A hand under way has no result; its chips go back."""
        if self.status == "ended":
            return []
        if self.playing:
            self.table.stack += self.table.committed
        self.playing, self.status, self.reason = False, "ended", reason
        return [Outgoing(number, self._ended()) for number in self._receivers()]

    def _act(self, number: int, message: messages.Action) -> Sends:
        choice = message.action
        key = (number, choice.turn_token)
        if key in self._acks:  # a retry; every other check would mistake it for something else
            return [Outgoing(number, messages.Ack(turn_token=choice.turn_token, seq=self._acks[key]))]
        if (refusal := self._refusal(number, message)) is not None:
            return [self._error(number, *refusal)]
        move = self.move(choice.kind, {"amount": choice.amount} if choice.kind == "raiseTo" else {})
        if isinstance(move, ActionResult):
            code = messages.VALIDATION_ERROR if move.error == INVALID_PAYLOAD else messages.INVALID_ACTION
            return [self._error(number, code, move.error_detail or "")]
        self.seats[number].missed = self.seats[number].idle = 0
        self.play(move, reasoning=choice.reasoning or "")
        self._acks[key] = self.seq
        return [Outgoing(number, messages.Ack(turn_token=choice.turn_token, seq=self.seq)), *self._go_on()]

    def _refusal(self, number: int, message: messages.Action) -> tuple[str, str] | None:
        """Make the platform's checks, in its order; return the code and a sentence of the first that fails."""
        expected, token = message.expected_seq, message.action.turn_token
        checks = (
            (self.status != "ended", messages.TABLE_ENDED, "this table has ended"),
            (self.status != "waiting", messages.INVALID_TABLE_STATE, "the table waits for players"),
            (expected in (None, self.seq), messages.STALE_SEQ, f"expected_seq is {expected}, but seq {self.seq}"),
            (self.turn == number, messages.NOT_YOUR_TURN, f"seat {number} is not to act"),
            (token == self.token, messages.INVALID_ACTION, "this turn_token was not issued for this turn"),
        )
        return next(((code, text) for fine, code, text in checks if not fine), None)

    def _go_on(self) -> Sends:
        """Show the table to all, fold for those who have left, and close the hand if it is over."""
        return self._states() + self._fold_leavers() if self.playing else self._close_hand()

    def _fold_leavers(self) -> Sends:
        sends: Sends = []
        while (turn := self.turn) is not None and self.seats[turn].leaving:
            self.play(rules.Move(FOLD, 0), cause="left")
            sends += self._states() if self.playing else self._close_hand()
        return sends

    def _close_hand(self) -> Sends:
        results = view.results(self.table, None)
        sends = self._states() + self._results(results)
        self.hand_log = {
            **self._log,
            "board": self.board(),
            "showdown": bool(self.table.showdown),
            "results": [{**row, "stack": int(self.table.stack[row["seat"]])} for row in results],
        }
        for number in [number for number, seat in self.seats.items() if seat.leaving]:
            self._free(number)
        return sends

    # One hand after another on one record.

    @property
    def turn(self) -> int | None:
        """The seat to act; None where no hand is under way."""
        return int(self.table.turn) if self.playing else None

    def _deal(self) -> None:
        """Deal the next hand to all seats but those that sit out, or wait for the big blind.

        Only the chips that play are in the record.
        """
        table = self.table
        dealer = self._let_back(self.seats)
        for number, seat in self.seats.items():
            chips = int(table.stack[number]) + seat.chips
            seat.waits |= seat.out
            table.stack[number], seat.chips = (0, chips) if seat.sits_out or seat.waits else (chips, 0)
        if dealer is not None:
            table.dealer = dealer
        elif self.hand == 0:
            table.dealer = min(number for number in self.seats if table.stack[number] > 0)
        else:
            table.dealer = rules.next_dealer(table)
        if not self._seeded:
            table.stream = secrets.randbits(64)
        self.hand += 1
        self.seq += 1
        stacks = table.stack.tolist()
        table.hand = 0  # to the rules, and to those who observe, every hand is an episode of one
        rules.deal(table)
        self._big_blind = self._left_of(int(table.small_seat), table.seated.nonzero()[0].tolist())[0]
        self.seq += bool(table.done)  # blinds that put everybody all-in
        self._open_turn()
        self._log = {
            "hand": self.hand,
            "dealer": int(table.dealer),
            "small_blind": int(table.small_blind),
            "big_blind": int(table.big_blind),
            "players": [
                {"seat": n, "agent_id": one.agent_id, "name": one.name, "stack": stacks[n], "cards": self.cards(n)}
                for n, one in sorted(self.seats.items())
                if table.seated[n]
            ],
            "actions": [],
        }

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
        return self.game.view.parse(self.table, ts.Action(kind, dict(payload)))

    def play(self, move: rules.Move, **notes: Any) -> None:
        """Play the acting seat's legal move, and open the next turn; the notes on it are for the log."""
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
                **{name: note for name, note in notes.items() if note},
            }
        )

    def cards(self, seat: int) -> list[str]:
        """Return the cards that a seat was dealt."""
        return [card_name(card) for card in self.table.cards[seat].tolist()]

    def board(self) -> list[str]:
        """Return the cards on the board."""
        return [card_name(card) for card in self.table.board[: self.table.board_count].tolist()]

    def _open_turn(self) -> None:
        self.playing = not self.table.done
        self.token = self._new_token() if self.playing else ""

    # A restart.

    def snapshot(self) -> TableSnapshot:
        """Return the state that survives a restart. A hand under way is void in it, and its stakes are returned."""
        left = dict(self._left)
        seats: dict[int, SavedSeat] = {}
        for number, seat in self.seats.items():
            chips = self.stack(number) + (int(self.table.committed[number]) if self.playing else 0)
            if seat.leaving:
                left[seat.agent_id] = chips
            else:
                seats[number] = SavedSeat(seat.agent_id, seat.name, chips, seat.address)
        dealer, stream = int(self.table.dealer), int(self.table.stream)
        return TableSnapshot(self._options, "", self.hand, self.seq, dealer, stream, seats, left)

    def restore(self, saved: TableSnapshot) -> None:
        """Take up a table that was saved, in place of an empty one: it waits for its players to connect.

        Raises:
            ValueError: if it was saved with other rules.
        """
        if saved.options != self._options:
            raise ValueError(f"the saved tables have other rules: {saved.options}; this host has {self._options}")
        self.hand, self.seq, self.table.dealer = saved.hand, saved.seq + SEQ_GAP, saved.dealer
        if self._seeded:
            self.table.stream = saved.stream
        self._left.update(saved.left)
        for number, one in saved.seats.items():
            self.seats[number] = PokerSeat(one.agent_id, one.name, one.chips, came=True, address=one.address)

    # Small questions.

    def _welcome(self, number: int) -> Outgoing[messages.ServerMessage]:
        welcome = messages.Welcome(seat=number, agent_id=self.seats[number].agent_id, timeout=self._timeout)
        return Outgoing(number, welcome)

    def _error(self, number: int, code: str, message: str) -> Outgoing[messages.ServerMessage]:
        return Outgoing(number, messages.Error(code=code, message=message))

    def _states(self, receivers: Sequence[int] | None = None) -> Sends:
        """Return the state for each receiver (None: all): what all see, its own cards, and its choices in its turn."""
        table, playing, fields = self.table, self.playing, ("stack", "bet", "folded", "seated", "cards")
        stacks, bets, folded, dealt, cards = (table[field].tolist() for field in fields)
        players = {
            number: messages.Player(
                seat=number,
                name=seat.name,
                stack=stacks[number] + seat.chips,
                bet=bets[number] if playing else 0,
                folded=bool(folded[number] or seat.chips),
                all_in=bool(playing and dealt[number] and not folded[number] and stacks[number] == 0),
            )
            for number, seat in sorted(self.seats.items())
        }
        last = None
        if table.last_seat >= 0:
            amount = int(table.last_amount) or None
            last = messages.Last(seat=int(table.last_seat), kind=KINDS[table.last_kind], amount=amount)
        public = messages.GameState(
            seq=self.seq,
            hand=self.hand,
            phase=self.game.view.phase(table),  # type: ignore[arg-type]
            board=self.board(),
            pot=int(table.pot) if playing else 0,
            players=list(players.values()),
            dealer=int(table.dealer),
            turn=self.turn,
            last=last,
            to_call=0,
        )
        sends: Sends = []
        for receiver in self._receivers() if receivers is None else receivers:
            state = public
            if receiver in players and dealt[receiver]:
                own = replace(players[receiver], cards=[card_name(card) for card in cards[receiver]])
                state = replace(public, players=list({**players, receiver: own}.values()))
            if receiver == public.turn:
                state.to_call = to_call = int(table.to_call)
                state.actions = [messages.Option(kind="fold"), messages.Option(kind="call" if to_call else "check")]
                if table.raise_max > 0:
                    least, most = int(table.raise_min), int(table.raise_max)
                    state.actions.append(messages.Option(kind="raiseTo", min=least, max=most))
                state.turn_token = self.token
            sends.append(Outgoing(receiver, state))
        return sends

    def _results(self, rows: list[dict[str, Any]]) -> Sends:
        """Return the end of the hand for each receiver, who sees its own cards too."""
        sends: Sends = []
        for receiver in self._receivers():
            results = [
                messages.Result(seat=row["seat"], cards=self.cards(receiver), won=row["won"])
                if row["seat"] == receiver and not row.get("cards")
                else messages.Result(**row)
                for row in rows
            ]
            ended = messages.HandComplete(hand=self.hand, results=results, showdown=bool(self.table.showdown))
            sends.append(Outgoing(receiver, ended))
        return sends

    # Programs that sit at the table.

    def turn_state(self, number: int) -> ts.TurnState:
        """Return the hand as a program in a seat sees it."""
        state = self.game.turn_state(self.table, number)
        state.game_state |= {"hand": self.hand, "hands": 1}
        rows = [row for row in state.game_state["players"] if row["seat"] in self.seats]
        state.game_state["players"] = [{**row, "name": self.seats[row["seat"]].name or row["name"]} for row in rows]
        return state

    def act(self, seat: int, action: ts.Action, notes: Mapping[str, Any]) -> ActionResult:
        """Play the action of the seat to act, with its notes for the log. A refusal changes nothing."""
        move = self.move(action.action_type, action.payload)
        if isinstance(move, ActionResult):
            return move
        self.seats[seat].missed = self.seats[seat].idle = 0
        self.play(move, **notes)
        self._go_on()
        return ts.accepted()

    def _receivers(self) -> list[int]:
        return [*(n for n in sorted(self.seats) if self.seats[n].connected), *([OBSERVERS] if self.observed else [])]

    def _free(self, number: int) -> None:
        self._left[self.seats[number].agent_id] = self.stack(number)
        del self.seats[number]
        for field in ("stack", "folded", "seated"):
            self.table[field][number] = 0


SCHEMA = """
CREATE TABLE IF NOT EXISTS agents (key_hash TEXT PRIMARY KEY, agent_id TEXT NOT NULL, name TEXT);
CREATE TABLE IF NOT EXISTS tables (table_id TEXT PRIMARY KEY, snapshot BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS tokens (
    token_hash TEXT PRIMARY KEY, table_id TEXT NOT NULL, seat INTEGER NOT NULL, agent_id TEXT NOT NULL
);
"""


class Account(NamedTuple):
    """An agent as registered."""

    agent_id: str
    name: str | None


@dataclass
class SeatToken:
    """What a session token stands for. It expires when it has not been in use for a while; in use: never."""

    table_id: str
    seat: int
    agent_id: str
    expires: float


class PokerStore(Database):
    """One server's file. Every change raises `SaveError` if it cannot be saved.

    Raises:
        ValueError: if the file cannot be used, or another server uses it.
    """

    def __init__(self, path: str | PathLike[str] = IN_MEMORY, lifetime: float = 3600.0) -> None:
        self.lasting, self._lifetime = path != IN_MEMORY, lifetime
        self._tokens: dict[str, SeatToken] = {}  # by their hashes
        super().__init__(path, SCHEMA, "tables")

    # Tables.

    def save_table(self, table_id: str, snapshot: TableSnapshot) -> None:
        """Keep a table as it is now."""
        change = "ON CONFLICT (table_id) DO UPDATE SET snapshot = excluded.snapshot"
        self.write(f"INSERT INTO tables VALUES (?, ?) {change}", (table_id, msgspec.json.encode(snapshot)))

    def drop_table(self, table_id: str) -> None:
        """Forget a table and its tokens at the next start: who comes now is told that it has ended."""
        with self.changes():
            self.write("DELETE FROM tables WHERE table_id = ?", (table_id,))
            self.write("DELETE FROM tokens WHERE table_id = ?", (table_id,))

    def tables(self) -> list[tuple[str, TableSnapshot]]:
        """Return the tables, oldest first.

        Raises:
            ValueError: if one cannot be read.
        """
        rows = self.read("SELECT table_id, snapshot FROM tables ORDER BY rowid")
        try:
            return [(table_id, msgspec.json.decode(data, type=TableSnapshot)) for table_id, data in rows]
        except msgspec.MsgspecError as error:
            raise ValueError(f"cannot read a saved table: {error}") from None

    # Agents.

    def register(self, name: str | None, seated: Set[str]) -> tuple[str, Account]:
        """Register an agent and return its API key. Agents that are `seated`, by their ids, are not forgotten."""
        account, api_key = Account(f"agt_{secrets.token_hex(8)}", name), f"key_{secrets.token_urlsafe(24)}"
        with self.changes():
            self.write("INSERT INTO agents VALUES (?, ?, ?)", (limits.hashed(api_key), account.agent_id, name))
            if self.read("SELECT COUNT(*) FROM agents").fetchone()[0] > limits.ACCOUNTS:
                rows = self.read("SELECT agent_id FROM agents ORDER BY rowid")
                oldest = next((agent_id for (agent_id,) in rows if agent_id not in seated), None)
                self.write("DELETE FROM agents WHERE agent_id = ?", (oldest,))
        return api_key, account

    def agent_of(self, api_key: str) -> Account:
        """Return the agent with this key.

        Raises:
            Refusal: UNAUTHORIZED, INVALID_API_KEY.
        """
        if not api_key:
            raise Refusal(messages.UNAUTHORIZED, "this call needs the header Authorization: Bearer <api_key>")
        row = self.read("SELECT agent_id, name FROM agents WHERE key_hash = ?", (limits.hashed(api_key),)).fetchone()
        if row is None:
            raise Refusal(messages.INVALID_API_KEY, "no agent has this API key; POST /v1/agents gives one")
        return Account(*row)

    # Tokens of seats.

    def restore_tokens(self) -> None:
        """Take up the tokens that the file has kept."""
        rows = self.read("SELECT token_hash, table_id, seat, agent_id FROM tokens")
        self._tokens = {key: SeatToken(table, seat, agent, self.expiry()) for key, table, seat, agent in rows}

    def expiry(self) -> float:
        """Return when a token expires that is not used from now on."""
        return time.monotonic() + self._lifetime

    def issue(self, table_id: str, seat: int, agent_id: str) -> str:
        """Return a new token of a seat, in place of those that the agent has there."""
        self.revoke(table_id, agent_id)
        token = secrets.token_urlsafe(24)
        self.write("INSERT INTO tokens VALUES (?, ?, ?, ?)", (limits.hashed(token), table_id, seat, agent_id))
        self._tokens[limits.hashed(token)] = SeatToken(table_id, seat, agent_id, self.expiry())
        return token

    def seat_of(self, token: str) -> SeatToken:
        """Return the seat of a token.

        Raises:
            Refusal: UNAUTHORIZED, INVALID_SESSION, SESSION_EXPIRED.
        """
        if not token:
            raise Refusal(messages.UNAUTHORIZED, "connect to …/v1/ws?token=<session_token>&format=agent")
        if (seat_token := self._tokens.get(limits.hashed(token))) is None:
            raise Refusal(messages.INVALID_SESSION, "no seat has this session token; join a table to get one")
        if seat_token.expires < time.monotonic():
            raise Refusal(messages.SESSION_EXPIRED, "this session token has expired; join a table to get a new one")
        return seat_token

    def revoke(self, table_id: str, agent_id: str | None = None) -> None:
        """Forget the tokens of a table, or those that one agent has there."""
        for key, token in list(self._tokens.items()):
            if token.table_id == table_id and agent_id in (None, token.agent_id):
                del self._tokens[key]
        self.write("DELETE FROM tokens WHERE table_id = ?1 AND agent_id = IFNULL(?2, agent_id)", (table_id, agent_id))


logger = logging.getLogger(__name__)

RESERVED_SECONDS = 10.0
"""Seconds after which a seat is free again whose player has not connected."""
NO_TOKEN = "registering needs the header Authorization: Bearer <access token>"
MOST_ENDED = 300
"""Tables that ended and are remembered; beyond, the oldest are forgotten."""


MOST_CHARACTERS = 64
"""Most characters of an agent's name."""

STATUS = {
    messages.OUTDATED_CLIENT: 426,
    messages.UNAUTHORIZED: 401,
    messages.INVALID_API_KEY: 401,
    messages.TABLE_NOT_FOUND: 404,
    messages.TABLE_ENDED: 410,
    messages.TABLE_FULL: 409,
    messages.ALREADY_SEATED: 409,
    messages.NOT_SEATED: 409,
    messages.INVALID_TABLE_STATE: 409,
    messages.RATE_LIMIT_EXCEEDED: 429,
}
"""HTTP status of an error code; 400 for the others."""


@dataclass(frozen=True, kw_only=True)
class PokerTimes(Checked):
    """The times of a table, in seconds.

    Attributes:
        act: to act; then check if free, else fold. A seat without a connection when its turn begins is acted for at
            once, and so is one that sits out. After two turns in a row without an answer it sits out until it is back.
        hand: from ``hand_complete`` to the next hand.
        abandoned: without any connection, after which a table with players ends.
        away: without a connection, after which a player loses its seat; None: never. One that is connected and silent,
            where a table waits for it, loses it at the latest when three orbits would be over. A seat whose player has
            never connected is free after 10 seconds.
        session: for which a session token lives while no connection uses it, and a table that ended is remembered.

    Raises:
        ValueError: if one is below 0, or there is no time to act.
    """

    act: Seconds = 30.0
    hand: SecondsOr0 = 1.5
    abandoned: SecondsOr0 = 60.0
    away: Annotated[float | None, SECONDS_OR_0] = 300.0
    session: SecondsOr0 = 3600.0


class HostedTable:
    """A `PokerHostSession` with its connections and its timers."""

    def __init__(
        self, table_id: str, session: PokerHostSession, host: "PokerHost", saved: TableSnapshot | None = None
    ) -> None:
        self.table_id, self.session = table_id, session
        self.ended_at: float | None = None
        self.observers: set[Connection] = set()
        self._created = datetime.now(UTC).isoformat() if saved is None else saved.created
        self._host, self._store, self._times = host, host.store, host.times
        self._saved: Any = None  # what the saved snapshot depends on
        self._connections: dict[int, Connection] = {}
        self.room: Room[PokerDue] = Room(self._due, self._seconds, self._ring)
        self._written: Any = None  # the hand that was written last
        if saved is not None:
            session.restore(saved)
        self._save()

    def join(self, agent: Account, preferred: int | None, address: str = "") -> int:
        """Seat an agent; see `PokerHostSession.join`."""
        seat, sends = self.session.join(agent.agent_id, agent.name, preferred, address)
        self._report("joined", seat=seat, agent_id=agent.agent_id, name=agent.name)
        self._deliver(sends)
        return seat

    def leave(self, seat: int) -> None:
        """Let a seat's agent go and close its connection; see `PokerHostSession.leave`."""
        agent_id = self.session.seats[seat].agent_id if seat in self.session.seats else None
        sends = self.session.leave(seat)
        with suppress(SaveError):  # a token of a seat that is free opens nothing
            self._store.revoke(self.table_id, agent_id)
        self._report("left", seat=seat, agent_id=agent_id)
        if (connection := self._connections.pop(seat, None)) is not None:
            connection.close()
        self._deliver(sends)

    def connect(self, seat: int, connection: Connection) -> None:
        """Give a seat a connection; the newest wins."""
        older = self._connections.get(seat)
        self._connections[seat] = connection
        if older is not None:
            older.close()
        self._deliver(self.session.connect(seat))

    def disconnect(self, seat: int, connection: Connection) -> None:
        """Note that a connection is gone."""
        if self._connections.get(seat) is connection:
            del self._connections[seat]
            self.session.disconnect(seat)
            self._deliver([])

    def connected(self, seat: int) -> bool:
        """Whether the seat has a connection."""
        return seat in self._connections

    def receive(self, seat: int, connection: Connection, data: str | bytes) -> bool:
        """Answer a message; returns whether it moved the game on."""
        if self._connections.get(seat) is not connection:
            return False  # a newer connection has taken over
        before, sends = self.session.seq, self.session.receive(seat, data)
        moved = self.session.seq != before
        self._host.counts["turns"] += moved
        self._host.counts["refused"] += any(isinstance(message, Error) for _, message in sends)
        self._deliver(sends)
        return moved

    def end(self, reason: Reason) -> None:
        """End the table; see `PokerHostSession.end`."""
        self._deliver(self.session.end(reason))

    def summary(self) -> dict[str, Any]:
        """Return the table's public entry in the platform's list; empty seats are listed too."""
        session, options = self.session, self.session.game.options
        free: dict[str, Any] = {"agentId": None, "agentName": None, "stack": 0, "isActive": False}
        seats = [{"seatId": number, **free} for number in range(session.game.seats)]
        for number, seat in session.seats.items():
            seats[number] |= {"agentId": seat.agent_id, "agentName": seat.name, "stack": session.stack(number)}
            seats[number]["isActive"] = not seat.leaving
        return {
            "id": self.table_id,
            "status": session.status,
            "config": {
                "blinds": {"small": options["small_blind"], "big": options["big_blind"]},
                "maxSeats": session.game.seats,
                "initialStack": options["stacks"],
                "actionTimeoutMs": round(1000 * self._times.act),
                "minPlayersToStart": session.rules.min_players,
                "realMoney": False,
            },
            "seats": seats,
            "availableSeats": session.game.seats - len(session.seats),
            "playerCount": len(session.seats),
            "hand": session.hand,
            "created_at": self._created,
            "bucket_key": "default",
            "realMoney": False,
        }

    def _deliver(self, sends: Sends) -> None:
        for seat in [seat for seat in self._connections if seat not in self.session.seats]:
            self._connections.pop(seat).close()  # the seat was freed with the hand
        for seat, message in sends:
            if seat < 0:
                text = messages.encode(message)
                for observer in self.observers:
                    observer.send(text)
            elif seat in self._connections:
                self._connections[seat].send(messages.encode(message))
        if self.session.hand_log is not self._written:
            self._written = self.session.hand_log
            self._report("hand", **self._written)
        self._save()
        self.room.follow()
        if self.session.status == "ended" and self.ended_at is None:
            self.ended_at = asyncio.get_running_loop().time()
            stacks = {seat.agent_id: self.session.stack(n) for n, seat in sorted(self.session.seats.items())}
            self._report("ended", reason=self.session.reason, hands=self.session.hand, stacks=stacks)
            for connection in [*self._connections.values(), *self.observers]:
                connection.close(reason=b"Table ended")
            self._host.table_ended(self)

    def _save(self) -> None:
        """Keep the table in the store, where something has changed that survives a restart."""
        session = self.session
        seats = tuple((number, seat.agent_id, seat.leaving) for number, seat in session.seats.items())
        state = session.status == "ended", session.hand, session.hand_log, seats
        if state == self._saved:
            return
        with suppress(SaveError):  # a full disk must not stop the game: the next change tries again
            if session.status == "ended":
                self._store.drop_table(self.table_id)
            else:
                self._store.save_table(self.table_id, replace(session.snapshot(), created=self._created))
            self._saved = state

    def _due(self) -> list[PokerDue]:
        session = self.session
        due = [] if session.due is None else [session.due]
        if session.deserted:
            due.append(PokerDue("abandoned"))
        seats = session.seats.items() if session.status != "ended" else ()
        absent = [(number, seat) for number, seat in seats if not (self.connected(number) or seat.leaving)]
        return due + [PokerDue("away", number, seat.agent_id) for number, seat in absent]

    def _seconds(self, due: PokerDue) -> float | None:
        times = self._times
        match due.what:
            case "act":
                waits = self.connected(due.seat) and not self.session.seats[due.seat].sits_out
                return times.act if waits else 0.0
            case "hand":
                return times.hand
            case "abandoned":
                return times.abandoned
            case "away" if not self.session.seats[due.seat].came:
                return RESERVED_SECONDS
            case "wait":  # no hand is dealt meanwhile: as long as the orbits would take
                orbits = ORBITS * self.session.game.seats * times.act
                return orbits if times.away is None else min(orbits, times.away)
            case _:
                return times.away

    async def _ring(self, due: PokerDue, deadline: Deadline) -> None:
        """Do what is due when its time is over."""
        await asyncio.sleep(deadline.left)
        match due.what:
            case "act":
                self._host.counts["replaced"] += 1
                self._deliver(self.session.timeout(due.seat, due.token))
            case "away":
                logger.info("table %s: seat %d was away for too long and is free", self.table_id, due.seat)
                self.leave(due.seat)
            case "abandoned":
                self.end("abandoned")
            case _:
                for seat in self.session.silent:
                    logger.info("table %s: seat %d has not answered for long and is free", self.table_id, seat)
                    self.leave(seat)
                self._deliver(self.session.next_hand())

    def _report(self, kind: str, **fields: Any) -> None:
        tell(f"{kind!r} of table {self.table_id}", self._host.on_event, kind, table_id=self.table_id, **fields)


class Register(msgspec.Struct):
    """The body of ``POST /v1/agents``."""

    name: str | None = None


class Join(msgspec.Struct):
    """The body of the two joining calls."""

    client_protocol_version: str | int | float | None = None
    preferred_seat: int | None = None


@dataclass(frozen=True, kw_only=True)
class PokerRoom(Checked):
    """The tables of a server.

    Attributes:
        tables: Number of open tables; one that ends is replaced by a new one.
        observers: The most connections that look on without a seat, by a WebSocket with every state without cards,
            ``/v1/ws/observe/TABLE`` or ``/v1/tables/TABLE/watch``. One more takes the place of one from the address
            that has the most (see `Places`).
        state: File (SQLite) that keeps agents, tables, seats, chips and tokens over restarts; a hand that a restart
            interrupts is void, and its stakes are returned. None: all ends with the server.

    Raises:
        ValueError: if there is no table, or a number is none.
    """

    tables: Annotated[int, AT_LEAST_1] = 1
    observers: Annotated[int, AT_LEAST_0] = 0
    state: Path | None = None


@web.middleware
async def _answer_refusals(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Give every refused call the platform's form of an error."""
    try:
        return await handler(request)
    except Refusal as refusal:
        code, message, details = refusal.code, refusal.message, refusal.details
        status = STATUS.get(code, 400)
    except BadBody as error:
        code, message, status, details = messages.VALIDATION_ERROR, str(error), 400, {}
    except SaveError as error:
        code, message, status, details = messages.INTERNAL_ERROR, str(error), 503, {}
    except web.HTTPClientError as error:  # unknown path, wrong method, long body
        code, message, status, details = messages.VALIDATION_ERROR, error.reason, error.status, {}
    more = {"details": details} if details else {}
    return web.json_response({"error": {"code": code, "message": message, **more}}, status=status)


class PokerHost(Server):
    """A poker server. Use it as an async context manager, or call `start` and `stop`.

    >>> async with PokerHost(PokerRules(seats=6)) as host:      # doctest: +SKIP
    ...     print(host.url)

    Args:
        rules, times: of every table; None: the default ones.
        room: the tables; None: one.
        seed: makes the cards reproducible (every table has its own from it); None takes the operating system's.
        server: where it listens; ``POST /v1/agents`` must bear its access token. Of its limits, the longest message is
            at most `frame`, and the rate is without messages that move the game on; None: `limits.PLAYER`.
        on_event: called as ``on_event(kind, table_id=…, …)`` with what happens at the tables, as plain data; the kind
            is ``joined``, ``left``, ``hand`` (all cards included: not for players' eyes) or ``ended``. `MatchLog.write`
            can be given.

    Attributes:
        url: base of the REST calls, once started.
        ws_url: address of the WebSocket, to which ``?token=…&format=agent`` is added.
        tables: the open tables and those that ended lately, by id, oldest first.
        counts: of all tables: ``turns`` (actions of the players), ``refused`` (messages that were answered with an
            error) and ``replaced`` (turns in which the host checked or folded, because the time was over).
        rules, times, on_event: as given. store: what is kept.
    """

    middlewares = (_answer_refusals,)
    store: PokerStore

    def __init__(
        self,
        rules: PokerRules | None = None,
        times: PokerTimes | None = None,
        *,
        room: PokerRoom | None = None,
        seed: int | None = None,
        server: ServerSettings | None = None,
        on_event: Callable[..., None] | None = None,
    ) -> None:
        server, room = server or ServerSettings(), room or PokerRoom()
        own = server.limits or limits.PLAYER
        if own.message is None or not 1 <= own.message <= limits.PLAYER.frame:
            raise ValueError(f"message={own.message}: bytes, from 1 to {limits.PLAYER.frame}")
        if own.rate is not None and own.rate < 1:
            raise ValueError(f"rate={own.rate}: at least 1 message a second, or None for no limit")
        super().__init__(server, body_limit=own.message, connection_limits=own)
        rules, times = rules or PokerRules(), times or PokerTimes()
        PokerHostSession(rules)  # wrong rules are named at once
        self.rules, self.times = rules, times
        self.on_event = on_event or (lambda kind, **fields: None)
        self.store = PokerStore(IN_MEMORY if room.state is None else room.state, times.session)
        self.tables: dict[str, HostedTable] = {}
        self.counts = {"turns": 0, "refused": 0, "replaced": 0}
        self._count, self._seed, self._opened = room.tables, seed, 0
        self._replacing = True
        self._awaited: set[str] = set()  # tables that have yet to end for good
        self._all_ended = asyncio.Event()
        self._new_keys = limits.Pace(*limits.NAMES)
        self._watchers: limits.Places[Connection] = limits.Places(room.observers, max(1, room.observers // 2))

    @property
    def ws_url(self) -> str:
        """The address of the WebSocket, once started."""
        return self.url and self.url.replace("http", "ws", 1) + "/v1/ws"

    async def finished(self) -> None:
        """Wait until every table opened at the start has ended; for an abandoned one, the one that replaced it."""
        await self._all_ended.wait()

    def routes(self) -> list[web.RouteDef]:
        """See `Server`."""
        return [
            web.get("/v1/ws", partial(self._upgraded, self._serve_seat)),
            web.get("/v1/ws/observe/{table_id}", partial(self._upgraded, self._serve_observer)),
            web.get("/v1/tables/{table_id}/watch", partial(self._upgraded, self._serve_observer)),
            web.post("/v1/agents", self._register),
            web.post("/v1/tables/auto-join", self._join),
            web.post("/v1/tables/{table_id}/join", self._join),
            web.post("/v1/tables/{table_id}/leave", self._leave),
            web.get("/v1/tables", self._list),
            web.get("/v1/tables/{table_id}", self._show),
            web.get("/skill.md", _skill),
            web.get("/", _skill),
        ]

    async def opening(self) -> None:
        """Open the tables."""
        PLAIN_START.expect_call(f"{__name__}:warm_up")
        await asyncio.to_thread(warm_up)
        self.store.open()
        self.tables.clear()
        self._awaited, self._replacing = set(), True
        self._all_ended.clear()
        for table_id, saved in self.store.tables():
            self._awaited.add(self._open_table(table_id, saved))
        while len(self._awaited) < self._count:
            self._awaited.add(self._open_table())
        for table in self.tables.values():
            table.room.follow()  # a restored table waits for its players
        self.store.restore_tokens()

    async def closing(self) -> None:
        """End every table where somebody sits; those that a file keeps wait for the next start."""
        self._replacing = False
        for table in list(self.tables.values()):
            if self.store.lasting:
                table.room.stop()
            elif table.session.seats:
                table.end("admin_stopped")

    async def stop(self) -> None:
        """See `Server`."""
        await super().stop()
        if self.store.lasting:
            self.store.close()

    # The tables.

    def _running(self) -> list[HostedTable]:
        """Return the tables that have not ended."""
        return [table for table in self.tables.values() if table.ended_at is None]

    def _open_table(self, table_id: str | None = None, saved: TableSnapshot | None = None) -> str:
        seed = None if self._seed is None else self._seed + self._opened
        self._opened += 1
        session = PokerHostSession(self.rules, timeout=round(1000 * self.times.act), seed=seed)
        table_id = table_id or f"tbl_{secrets.token_hex(6)}"
        table = HostedTable(table_id, session, self, saved)
        self.tables[table_id] = table
        return table_id

    def table_ended(self, table: HostedTable) -> None:
        """Replace a table that has ended."""
        replacement = None
        if self._replacing:
            self._forget()
            replacement = self._open_table()
        if table.table_id in self._awaited:
            self._awaited.remove(table.table_id)
            if replacement is not None and table.session.reason == "abandoned":
                self._awaited.add(replacement)
        if not self._awaited:
            self._all_ended.set()

    def _forget(self) -> None:
        """Forget tables that ended long ago, or are too many."""
        now = asyncio.get_running_loop().time()
        ages = {key: now - table.ended_at for key, table in self.tables.items() if table.ended_at is not None}
        old = {key for key, age in ages.items() if age > self.times.session}
        old |= set(sorted(ages, key=ages.__getitem__)[MOST_ENDED:])
        for key in old:
            with suppress(SaveError):  # tokens of a table that is gone open nothing
                del self.tables[key]
                self.store.revoke(key)

    # WebSocket.

    async def _upgraded(self, serve: Callable[..., Any], request: web.Request) -> web.WebSocketResponse:
        return await self.upgrade(request, partial(serve, request))

    def admit(self, token: str) -> SeatToken:
        """Return the table and the seat of a session token.

        Raises:
            Refusal: UNAUTHORIZED, INVALID_SESSION, SESSION_EXPIRED.
        """
        seat_token = self.store.seat_of(token)
        table = self.tables.get(seat_token.table_id)
        seated = None if table is None else table.session.seats.get(seat_token.seat)
        if seated is None or seated.leaving or seated.agent_id != seat_token.agent_id:
            raise Refusal(messages.INVALID_SESSION, "the seat was given up in the meantime; join a table to get one")
        return seat_token

    async def _serve_seat(self, request: web.Request, connection: Connection) -> None:
        try:
            token = self.admit(request.query.get("token", ""))
        except Refusal as refusal:
            return _close_refused(connection, refusal)
        table, seat = self.tables[token.table_id], token.seat
        token.expires = float("inf")
        self.keep(connection)
        try:
            table.connect(seat, connection)
            if table.ended_at is not None:
                connection.close()
            async for data in connection.messages(partial(_send_error, connection)):
                try:
                    if table.receive(seat, connection, data):
                        connection.spare()
                except Exception:
                    logger.exception("an error of ours at a message")  # which may hold a token
                    _send_error(connection, messages.INTERNAL_ERROR, "an error of ours; the table goes on")
                    table.room.follow()  # the session may have moved before
        finally:
            table.disconnect(seat, connection)
            if not table.connected(seat):
                token.expires = self.store.expiry()

    async def _serve_observer(self, request: web.Request, connection: Connection) -> None:
        """Let somebody look on: every state without cards, every result; nothing that is sent is played."""
        try:
            table = self._named(request)
            admitted, victim = self._watchers.take(connection, limits.client_of(request))
            if victim is not None:
                victim.abort()
            if not admitted:
                raise Refusal(messages.TABLE_FULL, f"{self._watchers.most} may look on here")
        except Refusal as refusal:
            return _close_refused(connection, refusal)
        try:
            table.observers.add(connection)
            table.session.observed = True
            for _, message in table.session.news(OBSERVERS):
                connection.send(messages.encode(message))
            if table.ended_at is not None:
                connection.close()
            async for _ in connection.messages(partial(_send_error, connection)):
                _send_error(connection, messages.NOT_SEATED, "you look on; join a table to play")
        finally:
            table.observers.discard(connection)
            table.session.observed = bool(table.observers)
            self._watchers.free(connection)

    # REST.

    def _named(self, request: web.Request) -> HostedTable:
        """Return the table that a request's path names; raises Refusal."""
        table_id = request.match_info["table_id"]
        if table_id not in self.tables:
            raise Refusal(messages.TABLE_NOT_FOUND, f"there is no table {table_id[:40]!a}")
        return self.tables[table_id]

    async def _register(self, request: web.Request) -> web.Response:
        body = await read_struct(request, Register)
        problem = None if body.name is None else limits.problem_of(body.name, MOST_CHARACTERS)
        if problem is not None:
            raise Refusal(messages.VALIDATION_ERROR, problem)
        if limits.lacks_token(request, self.settings.access_token):
            raise Refusal(messages.UNAUTHORIZED, NO_TOKEN)
        if not self._new_keys.take(limits.client_of(request)):
            raise Refusal(messages.RATE_LIMIT_EXCEEDED, "too many new keys of your address; try again in a minute")
        seated = {seat.agent_id for table in self._running() for seat in table.session.seats.values()}
        api_key, agent = self.store.register(body.name, seated)
        answer = {"agent_id": agent.agent_id, "api_key": api_key, "name": agent.name}
        about = {"protocol_version": messages.PROTOCOL_VERSION, "skill_doc_url": f"{base_url(request)}/skill.md"}
        return web.json_response({**answer, **about}, status=201)

    async def _join(self, request: web.Request) -> web.Response:
        """Seat an agent at the named table, or at the first with a free seat; or answer what the last table does."""
        agent, body = self.store.agent_of(limits.bearer_token(request)), await read_struct(request, Join)
        _check_version(body)
        tables = [self._named(request)] if "table_id" in request.match_info else self._running()
        for table in tables if "table_id" not in request.match_info else ():
            if any(seat.agent_id == agent.agent_id for seat in table.session.seats.values()):
                detail = f"{agent.agent_id} sits at table {table.table_id}"
                raise Refusal(messages.ALREADY_SEATED, detail, table_id=table.table_id)
        refusal = Refusal(messages.TABLE_FULL, "no table has a free seat")
        for table in tables:
            try:
                seat = table.join(agent, body.preferred_seat, limits.client_of(request))
            except Refusal as another:
                refusal = another
            else:
                return self._seated(request, agent, table, seat)
        raise refusal

    def _seated(self, request: web.Request, agent: Account, table: HostedTable, seat: int) -> web.Response:
        try:
            token = self.store.issue(table.table_id, seat, agent.agent_id)
        except SaveError:
            table.leave(seat)  # else nobody could play in it
            raise
        return web.json_response(
            {
                "table_id": table.table_id,
                "seat_id": seat,
                "session_token": token,
                "ws_url": f"{base_url(request).replace('http', 'ws', 1)}/v1/ws",
                "protocol_version": messages.PROTOCOL_VERSION,
                "min_supported_protocol_version": messages.PROTOCOL_VERSION,
                "skill_doc_url": f"{base_url(request)}/skill.md",
                "action_timeout_ms": round(1000 * self.times.act),
                "agent_id": agent.agent_id,
            }
        )

    async def _leave(self, request: web.Request) -> web.Response:
        agent, table = self.store.agent_of(limits.bearer_token(request)), self._named(request)
        if table.ended_at is not None:
            return web.json_response({"success": True, "message": "the table has ended; there is nothing to leave"})
        for number, seat in table.session.seats.items():
            if seat.agent_id == agent.agent_id:
                table.leave(number)
                left = {"success": True, "message": "the seat is given back"}
                return web.json_response({**left, "table_id": table.table_id, "seat_id": number})
        raise Refusal(messages.NOT_SEATED, f"{agent.agent_id} does not sit at table {table.table_id}")

    async def _list(self, request: web.Request) -> web.Response:
        """List the tables: the running ones, or those with ``?status=``; ``limit`` and ``offset`` choose a page."""
        status = request.query.get("status")
        tables = self._running() if status is None else self.tables.values()
        rows = [table.summary() for table in tables if status in (None, table.session.status)]
        first, most = (_count(request.query.get(name), start) for name, start in (("offset", 0), ("limit", len(rows))))
        page = {"tables": rows[first : first + most], "hasMore": len(rows) > first + most}
        return web.json_response({**page, "protocol_version": messages.PROTOCOL_VERSION})

    async def _show(self, request: web.Request) -> web.Response:
        return web.json_response(self._named(request).summary())


def base_url(request: web.Request) -> str:
    """Return the server's address as the client knows it; TLS may end at a proxy."""
    secure = request.secure or request.headers.get("X-Forwarded-Proto") == "https"
    return f"{'https' if secure else 'http'}://{request.host}"


async def _skill(request: web.Request) -> web.Response:
    text = resources.files(__package__).joinpath("skill.md").read_text(encoding="utf-8")
    text = text.replace("{BASE_URL}", base_url(request))
    return web.Response(text=text, content_type="text/markdown", charset="utf-8")


def _count(value: str | None, default: int) -> int:
    return int(value) if value is not None and value.isdecimal() and len(value) < 10 else default


def _check_version(body: Join) -> None:
    """Refuse a client that says an older version than is spoken here. A version that cannot be read is accepted."""
    parts = str(body.client_protocol_version or "").split(".")
    least = [int(part) for part in messages.PROTOCOL_VERSION.split(".")]
    if all(part.isdecimal() for part in parts) and [int(part[:9]) for part in parts] < least:
        said = f"client_protocol_version {body.client_protocol_version}"
        raise Refusal(messages.OUTDATED_CLIENT, f"{said}: at least {messages.PROTOCOL_VERSION} is spoken here")


def _close_refused(connection: Connection, refusal: Refusal) -> None:
    _send_error(connection, refusal.code, refusal.message)
    connection.close(WSCloseCode.POLICY_VIOLATION, refusal.code.encode())


def _send_error(connection: Connection, code: str, message: str) -> None:
    connection.send(messages.encode(Error(code=code, message=message)))


def warm_up() -> None:
    """Play one hand, so that the rules are compiled, or begin to be, before the first client waits for them."""
    session = PokerHostSession(PokerRules(seats=2))
    for name in "ab":
        session.connect(session.join(name)[0])
    while session.due is not None and session.due.what == "act":
        session.timeout(session.due.seat, session.due.token)
