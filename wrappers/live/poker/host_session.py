"""The host's end of the poker platform's protocol for one table, without I/O: no socket and no clock.

`PokerHostSession` decides who sits where, whose action is accepted and when a hand begins, and plays the hands.
Every call returns what to send, in order. `due` says what the clock must bring about next. The shell in `host` owns
connections and time.

Where the platform's protocol is silent: a leaving player's hand is folded when its turn comes, and its seat is free
after the hand; a seat taken during a hand is listed as folded until the next deal, and so is one that sits out, as its
agent has not connected yet or missed two turns in a row; when a hand is over, its pot and bets are 0, since the chips
lie in the stacks; a hand that `end` interrupts has no result, and its chips go back.
"""

import secrets
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

import msgspec
from msgspec.structs import replace

from ....envs.core import turn_state as ts
from ....envs.core.options import NO_LIMIT, Checked, whole
from ....envs.core.rng import streams
from ....envs.core.turn_state import INVALID_PAYLOAD, ActionResult
from ....envs.holdem import game as holdem
from ....envs.holdem import rules, view
from ....envs.holdem.hands import card_name
from ....envs.holdem.table import FOLD, KINDS, PHASES
from ..common.clock import Outgoing
from . import messages

OBSERVERS = -1
"""The receiver that stands for all who look on without a seat."""
SAVED_OPTIONS = ("seats", "small_blind", "big_blind", "stacks", "raise_cap")
"""Options of the rules with which a saved table goes on."""
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


@dataclass
class PokerSeat:
    """A taken seat.

    Attributes:
        agent_id, name: of the agent that sits there.
        chips: that it brings to its next hand; while it is dealt in, its chips are in the record.
        connected: whether it has a connection.
        leaving: whether its seat is free after this hand.
        out: whether its player wants no further hand for now.
        waits: whether it was out while hands were dealt, and is back with its big blind.
        missed: turns in a row without an answer; before its first connection as if they were enough to sit out.
        idle: hands that it has sat out for its silence, though connected, since its latest answer.
        address: where its player joined from; "": this machine, which is not limited.
    """

    agent_id: str
    name: str | None
    chips: int
    connected: bool = False
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
    """A request that is refused.

    Args:
        code: one of `messages.ERROR_CODES`.
        message: a sentence.
        details: what a program can use of it.
    """

    def __init__(self, code: str, message: str, **details: str) -> None:
        super().__init__(message)
        self.code, self.message, self.details = code, message, details


class SavedSeat(msgspec.Struct):
    """A taken seat; `chips` with what it has put into a hand under way."""

    agent_id: str
    name: str | None
    chips: int


class TableSnapshot(msgspec.Struct):
    """A table between two hands. A hand under way is void in it: every seat has its stake back.

    Attributes:
        options: those of the rules, by which it is known whether the table can go on with the host's.
        created: when the table was opened, in ISO 8601.
        hand, seq, dealer: of the latest hand.
        stream: the state of the cards' random stream, of a table with a seed.
        seats: by seat number.
        left: chips of agents who left, by agent.
    """

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

    ``wait``: no hand can be dealt, for want of seats that do not sit out; those that are `silent` are to leave.
    """

    what: Literal["act", "hand", "wait"]
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
        status: ``waiting`` for players, ``running``, or ``ended`` (for what `reason`).
        seats: who sits where, by seat number.
        observed: whether somebody looks on without a seat (`OBSERVERS`), who sees no cards; set from outside.
        game, table: the game and its record; for others to read only. hand: its number, from 1; 0 before the first.
        seq: the sequence number: +1 at each start of a hand and for each action, +1 more where a street or the end
        follows. token: the turn token of the decision under way; "" where there is none. playing: whether a hand is
        under way. hand_log: the latest hand that ended, every card included, as plain dicts; None before.

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
        self.game = game = _game(
            seats=rules.seats,
            small_blind=rules.small_blind,
            big_blind=rules.big_blind,
            stacks=rules.stack,
            raise_cap=rules.raise_cap,
        )
        self.status: Literal["waiting", "running", "ended"] = "waiting"
        self.reason: Reason | None = None
        self.seats: dict[int, PokerSeat] = {}
        self.observed, self._timeout = False, timeout
        self._acks: dict[tuple[int, str], int] = {}  # seat and token of this hand's accepted actions -> seq
        self._left: dict[str, int] = {}  # chips of agents who left
        self._options = {name: game.options[name] for name in SAVED_OPTIONS}
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
        self, agent_id: str, name: str | None = None, preferred: int | None = None, address: str = ""
    ) -> tuple[int, Sends]:
        """Seat an agent: where it prefers if that is free, else at the lowest free seat; it is dealt in next hand.

        Who left and comes back has the chips it left with (of the last `MOST_LEFT`).

        Raises:
            Refusal: TABLE_ENDED, TABLE_FULL (or its address has its share), ALREADY_SEATED, or INVALID_TABLE_STATE (it
                left without chips, and there is no rebuy).
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
        share = self.rules.seats_per_address or max(1, self.game.seats // 3)
        if address and sum(seat.address == address for seat in self.seats.values()) >= share:
            raise Refusal(messages.TABLE_FULL, f"one address has at most {share} of {self.game.seats} seats here")
        number = preferred if preferred in free else free[0]
        self.seats[number] = PokerSeat(agent_id, name, self._left.pop(agent_id, self.rules.stack), address=address)
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
        seat.connected, seat.missed = True, 0
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
        """Return how the table stands, for one who has come: a seat, or `OBSERVERS`."""
        if self.status == "running":
            return self._states([receiver])
        if self.status == "ended":
            return [Outgoing(receiver, self._ended())]
        seat = self.seats.get(receiver)
        waiting = messages.TableStatus(
            status="waiting",
            seat_id=None if seat is None else receiver,
            agent_id=None if seat is None else seat.agent_id,
            min_players_to_start=self.rules.min_players,
            current_players=len(self.seats),
        )
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
        if isinstance(message, messages.Unknown):
            kind = f"message of type {message.type[:40]!a}" if message.type else "message"
            return [self._error(number, messages.VALIDATION_ERROR, f"cannot read the {kind}: {message.reason[:200]}")]
        if isinstance(message, messages.Ping):
            return [Outgoing(number, messages.Pong(payload=message.payload))]
        seat.missed = seat.idle = 0  # also an answer that is too late: it is dealt in again
        return self._act(number, message)

    def timeout(self, number: int, token: str) -> Sends:
        """Check (where that is free) or fold for the seat whose time for the turn `token` is over."""
        if self.due != PokerDue("act", number, token):
            return []
        self.seats[number].missed += 1
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
        """Return what survives a restart. A hand under way is void in it, and its stakes are returned."""
        left = dict(self._left)
        seats: dict[int, SavedSeat] = {}
        for number, seat in self.seats.items():
            chips = self.stack(number) + (int(self.table.committed[number]) if self.playing else 0)
            if seat.leaving:
                left[seat.agent_id] = chips
            else:
                seats[number] = SavedSeat(seat.agent_id, seat.name, chips)
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
        self._left = dict(saved.left)
        self.seats.update({number: PokerSeat(one.agent_id, one.name, one.chips) for number, one in saved.seats.items()})

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
        if len(self._left) > MOST_LEFT:
            del self._left[next(iter(self._left))]
        del self.seats[number]
        for field in ("stack", "folded", "seated"):
            self.table[field][number] = 0
