"""The host's end of poker.md for one table, without I/O: no socket and no clock.

`PokerHostSession` holds the compiled hold'em record and speaks the document's messages around it. Every call returns what
to send, in order; `due` says what the clock must bring about next. The shell in `host` owns sockets and time.

Where document and notes are silent: a leaving player's hand is folded when its turn comes, and its seat is free after
the hand; a seat taken during a hand is listed as folded until the next deal; when a hand is over, its pot and bets are
0, for the chips lie in the stacks; a hand that an `end` cuts short is void, its chips go back.
"""

import secrets
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from ....envs.core.rng import streams
from ....envs.core.turn_state import INVALID_PAYLOAD, ActionResult
from ....envs.core.turn_state import Action as Payload
from ....envs.holdem import game as holdem
from ....envs.holdem import rules, view
from ....envs.holdem.hands import card_name
from ....envs.holdem.table import FOLD, KINDS, PHASES
from . import messages
from .messages import (
    Ack,
    Action,
    Error,
    FinalStack,
    GameState,
    HandComplete,
    Last,
    Option,
    Ping,
    Player,
    PlayerJoined,
    PlayerLeft,
    Pong,
    Result,
    ServerMessage,
    TableStatus,
    Unknown,
    Welcome,
)

WATCHERS = -1
"""The seat of those who only look on, in a `Send`."""
MOST_LEFT = 1_000
"""Agents who left and whose chips are remembered; beyond, the one who left first is forgotten."""

Reason = Literal["insufficient_players", "abandoned", "admin_stopped"]
"""Why a table ended."""


class Refusal(Exception):
    """A request that the table refuses: one of `messages.ERROR_CODES`, a sentence, and what a program can use of it."""

    def __init__(self, code: str, message: str, **details: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = details


class Send(NamedTuple):
    """A message for the connection of a seat, or for all `WATCHERS`."""

    seat: int
    message: ServerMessage


class Due(NamedTuple):
    """What the clock must bring about: ``act``: `timeout(seat, token)`; ``hand``: `next_hand()`."""

    what: Literal["act", "hand"]
    seat: int
    token: str


@dataclass
class Seat:
    """Who sits there. The chips are in the record, but for those it brings to its first hand."""

    agent_id: str
    name: str | None
    chips: int
    connected: bool = False
    leaving: bool = False


class _Shared(NamedTuple):
    """What all states of one moment have in common: fields, players without cards; and each seat's own two cards."""

    fields: dict[str, Any]
    players: dict[int, Player]
    hands: dict[int, list[int]]


class PokerHostSession:
    """One table of no-limit hold'em behind the document's protocol.

    Args:
        seats: 2 to 10.
        small_blind, big_blind: chips.
        stack: chips of a new player.
        min_players: connected players with which the first hand begins.
        timeout: time to act in milliseconds, as told in `welcome`; the clock itself is the shell's.
        raise_cap: bets and raises allowed on a street, blinds not counted; None: no cap.
        max_hands: hands after which the table ends as ``admin_stopped``; None: no limit.
        seed: makes the cards reproducible. None draws every hand from the operating system, so that nobody who has
            seen many cards can foresee the next.
        token: makes turn tokens.

    Attributes:
        game: the rules with these options, `table` (a record of it) the state; look, do not touch.
        status: ``waiting`` for players, ``running``, or ``ended`` (for what `reason`).
        seats: who sits where, by seat number.
        hand, seq: as in the document.
        hand_log: the latest hand that ended, every card included, as plain dicts; None before.
        watched: whether somebody looks on, who is told what nobody's cards are in; set from outside.

    Raises:
        ValueError: naming the option, its value and its range.
    """

    def __init__(
        self,
        *,
        seats: int = 9,
        small_blind: int = 1,
        big_blind: int = 2,
        stack: int = 100,
        min_players: int = 2,
        timeout: int = 30_000,
        raise_cap: int | None = 4,
        max_hands: int | None = None,
        seed: int | None = None,
        token: Callable[[], str] = lambda: str(uuid.uuid4()),
    ) -> None:
        if not 2 <= min_players <= seats:
            raise ValueError(f"min_players={min_players}: with {seats} seats it is 2 to {seats}")
        if max_hands is not None and max_hands < 1:
            raise ValueError(f"max_hands={max_hands}: need at least 1, or None for no limit")
        self.game = holdem(seats=seats, small_blind=small_blind, big_blind=big_blind, stacks=stack, raise_cap=raise_cap)
        self.table: Any = self.game.tables(1)[0]
        self.status: Literal["waiting", "running", "ended"] = "waiting"
        self.reason: Reason | None = None
        self.seats: dict[int, Seat] = {}
        self.hand = 0
        self.seq = 0
        self.min_players = min_players
        self.max_hands = max_hands
        self.hand_log: dict[str, Any] | None = None
        self.watched = False
        self._stack = stack
        self._timeout = timeout
        self._seeded = seed is not None
        if self._seeded:
            self.table.stream = streams(seed, 1)[0]
        self._new_token = token
        self._token = ""  # of the decision under way
        self._acks: dict[tuple[int, str], int] = {}  # seat and token of this hand's accepted actions -> seq
        self._left: dict[str, int] = {}  # chips of agents who left
        self._log: dict[str, Any] = {}

    # Seats.

    def join(self, agent_id: str, name: str | None = None, preferred: int | None = None) -> tuple[int, list[Send]]:
        """Seat an agent: where it prefers if that is free, else at the lowest free seat; it is dealt in next hand.

        Who left and comes back has the chips it left with (of the last `MOST_LEFT`): there is no rebuy.

        Raises:
            Refusal: TABLE_ENDED, TABLE_FULL, ALREADY_SEATED, or INVALID_TABLE_STATE (it left without chips).
        """
        if self.status == "ended":
            raise Refusal(messages.TABLE_ENDED, "this table has ended")
        if any(seat.agent_id == agent_id for seat in self.seats.values()):
            raise Refusal(messages.ALREADY_SEATED, f"{agent_id} sits at this table (or is leaving it after this hand)")
        if self._left.get(agent_id) == 0:
            raise Refusal(messages.INVALID_TABLE_STATE, f"{agent_id} has lost its chips here, and there is no rebuy")
        free = [number for number in range(self.game.seats) if number not in self.seats]
        if not free:
            raise Refusal(messages.TABLE_FULL, f"all {self.game.seats} seats are taken")
        number = preferred if preferred in free else free[0]
        self.seats[number] = Seat(agent_id, name, self._left.pop(agent_id, self._stack))
        joined = PlayerJoined(seat_id=number, agent_name=name, stack=self.stack(number), agent_id=agent_id)
        return number, [Send(other, joined) for other in self._told() if other != number]

    def leave(self, number: int) -> list[Send]:
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
        sends = [Send(other, left) for other in self._told()]
        if not self._in_hand(number):
            self._free(number)
        elif self.table.turn == number:
            sends += self._fold_leavers()
        return sends

    def connect(self, number: int) -> list[Send]:
        """Note that a seat has a connection (again), and tell it all it needs; may start the table."""
        seat = self.seats.get(number)
        if seat is None or seat.leaving:
            return [_error(number, messages.NOT_SEATED, f"nobody sits at seat {number}")]
        seat.connected = True
        if self.status == "ended":
            return [Send(number, self._ending())]
        if self.status == "running":
            return [Send(number, self._welcome(number)), Send(number, self._state(number, self._shared()))]
        connected = self._connected()
        if len(connected) < self.min_players:
            return [Send(number, self._waiting(number))]
        self.status = "running"
        return [Send(other, self._welcome(other)) for other in connected] + self._deal()

    def look(self) -> list[Send]:
        """Return what somebody who begins to look on is told."""
        if self.status == "ended":
            return [Send(WATCHERS, self._ending())]
        if self.status == "running":
            return [Send(WATCHERS, self._state(WATCHERS, self._shared()))]
        return [Send(WATCHERS, self._waiting(WATCHERS))]

    def disconnect(self, number: int) -> None:
        """Note that a seat has lost its connection. It stays seated, and the clock acts for it."""
        if number in self.seats:
            self.seats[number].connected = False

    # The game.

    @property
    def due(self) -> Due | None:
        """What the clock must bring about. An equal value means that the same clock goes on."""
        if self.status != "running":
            return None
        if self.table.done:
            return Due("hand", -1, str(self.hand))
        return Due("act", int(self.table.turn), self._token)

    def stack(self, number: int) -> int:
        """Return the chips that the agent of a seat has behind."""
        return int(self.table.stack[number]) + self.seats[number].chips

    @property
    def deserted(self) -> bool:
        """Whether agents sit here and none of them is connected."""
        return self.status != "ended" and bool(self.seats) and not self._connected()

    def receive(self, number: int, data: Any) -> list[Send]:
        """Answer what a seat sent: text, bytes or parsed JSON. Never raises; a refusal changes nothing."""
        seat = self.seats.get(number)
        if seat is None or seat.leaving:
            return [_error(number, messages.NOT_SEATED, f"nobody sits at seat {number}")]
        message = messages.decode_client(data)
        if isinstance(message, Unknown):
            kind = f"message of type {message.type[:40]!a}" if message.type else "message"
            return [_error(number, messages.VALIDATION_ERROR, f"cannot read the {kind}: {message.reason[:200]}")]
        if isinstance(message, Ping):
            return [Send(number, Pong(payload=message.payload))]
        return self._act(number, message)

    def timeout(self, number: int, token: str) -> list[Send]:
        """Check (where that is free) or fold for the seat whose time for the turn `token` is over."""
        if self.due != Due("act", number, token):
            return []
        self._play(self.game.rules.decode(self.table, self.game.view.safe(self.table)), "timeout")
        return self._go_on()

    def next_hand(self) -> list[Send]:
        """Deal the next hand; or end the table, if fewer than two have chips or `max_hands` are played."""
        if self.status != "running" or not self.table.done:
            return []
        if sum(self.stack(number) > 0 for number in self.seats) < 2:
            return self.end("insufficient_players")
        if self.hand == self.max_hands:
            return self.end("admin_stopped")
        return self._deal()

    def end(self, reason: Reason) -> list[Send]:
        """End the table. A hand under way is void, its chips go back."""
        if self.status == "ended":
            return []
        if self._playing():
            self.table.stack += self.table.committed
        self.status = "ended"
        self.reason = reason
        return [Send(number, self._ending()) for number in self._told()]

    def _deal(self) -> list[Send]:
        table = self.table
        for number, seat in self.seats.items():
            table.stack[number] += seat.chips
            seat.chips = 0
        if self.hand == 0:
            table.dealer = min(number for number in self.seats if table.stack[number] > 0)
        else:
            table.dealer = rules.next_dealer(table)
        if not self._seeded:
            table.stream = secrets.randbits(64)
        self.hand += 1
        self.seq += 1
        self._acks.clear()
        stacks = table.stack.tolist()
        table.hand = 0  # to the rules, and to those who observe, every hand is an episode of one
        rules.deal(table)
        self.seq += bool(table.done)  # blinds that put everybody all-in
        self._token = "" if table.done else self._new_token()
        self._open_log(stacks)
        return self._go_on()

    def _act(self, number: int, message: Action) -> list[Send]:
        choice = message.action
        key = (number, choice.turn_token)
        if key in self._acks:  # a retry; every other check would mistake it for something else
            return [Send(number, Ack(turn_token=choice.turn_token, seq=self._acks[key]))]
        refusal = self._refuse(number, message)
        if refusal is not None:
            return [Send(number, refusal)]
        move = self._decode(choice)
        if isinstance(move, Error):
            return [Send(number, move)]
        self._play(move)
        self._acks[key] = self.seq
        return [Send(number, Ack(turn_token=choice.turn_token, seq=self.seq)), *self._go_on()]

    def _refuse(self, number: int, message: Action) -> Error | None:
        """Make the document's checks, in its order."""
        if self.status == "ended":
            return Error(code=messages.TABLE_ENDED, message="this table has ended")
        if self.status == "waiting":
            return Error(code=messages.INVALID_TABLE_STATE, message="the table waits for players")
        if message.expected_seq not in (None, self.seq):
            detail = f"expected_seq is {message.expected_seq}, the table is at {self.seq}"
            return Error(code=messages.STALE_SEQ, message=detail)
        if self.table.turn != number:
            return Error(code=messages.NOT_YOUR_TURN, message=f"seat {number} is not to act")
        if message.action.turn_token != self._token:
            return Error(code=messages.INVALID_ACTION, message="this turn_token was not issued for this turn")
        return None

    def _decode(self, choice: messages.Choice) -> rules.Move | Error:
        payload = {"amount": choice.amount} if choice.kind == "raiseTo" else {}
        move: rules.Move | ActionResult = self.game.view.parse(self.table, Payload(choice.kind, payload))
        if isinstance(move, ActionResult):
            code = messages.VALIDATION_ERROR if move.error == INVALID_PAYLOAD else messages.INVALID_ACTION
            return Error(code=code, message=move.error_detail or "")
        return move

    def _play(self, move: rules.Move, cause: str = "") -> None:
        """Apply a move and open the next turn."""
        table = self.table
        phase = table.phase
        rules.step(table, move)
        self.seq += 1 if table.phase == phase else 2  # one more where a street opened or the hand ended
        self._token = "" if table.done else self._new_token()
        self._log["actions"].append(
            {
                "street": PHASES[phase],
                "seat": int(table.last_seat),
                "kind": KINDS[table.last_kind],
                **({"amount": int(table.last_amount)} if table.last_amount else {}),
                **({"cause": cause} if cause else {}),
            }
        )

    def _go_on(self) -> list[Send]:
        """Show the table to all, fold for who has left, and close the hand if it is over."""
        return self._states() + self._fold_leavers() if self._playing() else self._close_hand()

    def _fold_leavers(self) -> list[Send]:
        sends: list[Send] = []
        while self._playing() and self.seats[int(self.table.turn)].leaving:
            self._play(rules.Move(FOLD, 0), "left")
            sends += self._states() if self._playing() else self._close_hand()
        return sends

    def _close_hand(self) -> list[Send]:
        shown = view.results(self.table, None)
        rows = [Result(**row) for row in shown]
        sends = self._states()
        for number in self._told():
            results = [self._own_cards(row) if row.seat == number else row for row in rows]
            done = HandComplete(hand=self.hand, results=results, showdown=bool(self.table.showdown))
            sends.append(Send(number, done))
        self._close_log(shown)
        for number in [number for number, seat in self.seats.items() if seat.leaving]:
            self._free(number)
        return sends

    def _own_cards(self, row: Result) -> Result:
        return row if row.cards else Result(seat=row.seat, cards=self._cards(row.seat), won=row.won)

    # What is told.

    def _welcome(self, number: int) -> Welcome:
        return Welcome(seat=number, agent_id=self.seats[number].agent_id, timeout=self._timeout)

    def _waiting(self, number: int) -> TableStatus:
        seat = self.seats.get(number)
        return TableStatus(
            status="waiting",
            seat_id=None if seat is None else number,
            agent_id=None if seat is None else seat.agent_id,
            min_players_to_start=self.min_players,
            current_players=len(self.seats),
        )

    def _ending(self) -> TableStatus:
        stacks = [
            FinalStack(seat_id=number, agent_id=seat.agent_id, stack=self.stack(number))
            for number, seat in sorted(self.seats.items())
        ]
        return TableStatus(status="ended", reason=self.reason, final_stacks=stacks)

    def _states(self) -> list[Send]:
        shared = self._shared()
        return [Send(number, self._state(number, shared)) for number in self._told()]

    def _shared(self) -> _Shared:
        """Read the record once for all seats."""
        table = self.table
        playing = self._playing()
        stacks, bets, folded, dealt = (
            table.stack.tolist(), table.bet.tolist(), table.folded.tolist(), table.seated.tolist()
        )  # fmt: skip
        players = {
            number: Player(
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
            last = Last(seat=int(table.last_seat), kind=KINDS[table.last_kind], amount=int(table.last_amount) or None)
        fields = {
            "seq": self.seq,
            "hand": self.hand,
            "phase": self.game.view.phase(table),
            "board": [card_name(card) for card in table.board[: table.board_count].tolist()],
            "pot": int(table.pot) if playing else 0,
            "dealer": int(table.dealer),
            "turn": int(table.turn) if playing else None,
            "last": last,
        }
        hands = {number: cards for number, cards in enumerate(table.cards.tolist()) if dealt[number]}
        return _Shared(fields, players, hands)

    def _state(self, number: int, shared: _Shared) -> GameState:
        """Return the state for one seat: what all see, its own cards, and its choices if it is to act."""
        players = shared.players
        if number in shared.hands:
            own = players[number]
            mine = Player(
                seat=number,
                name=own.name,
                stack=own.stack,
                bet=own.bet,
                cards=[card_name(card) for card in shared.hands[number]],
                folded=own.folded,
                all_in=own.all_in,
            )
            players = {**players, number: mine}
        state = GameState(**shared.fields, players=list(players.values()), to_call=0)
        if state.turn == number:
            to_call = int(self.table.to_call)
            state.to_call = to_call
            state.actions = [Option(kind="fold"), Option(kind="call" if to_call else "check")]
            if self.table.raise_max > 0:
                bounds = int(self.table.raise_min), int(self.table.raise_max)
                state.actions.append(Option(kind="raiseTo", min=bounds[0], max=bounds[1]))
            state.turn_token = self._token
        return state

    def _cards(self, number: int) -> list[str]:
        return [card_name(card) for card in self.table.cards[number].tolist()]

    # The match log.

    def _open_log(self, stacks: list[int]) -> None:
        self._log = {
            "hand": self.hand,
            "dealer": int(self.table.dealer),
            "small_blind": int(self.table.small_blind),
            "big_blind": int(self.table.big_blind),
            "players": [
                {
                    "seat": number,
                    "agent_id": self.seats[number].agent_id,
                    "name": self.seats[number].name,
                    "stack": stacks[number],
                    "cards": self._cards(number),
                }
                for number in sorted(self.seats)
                if self.table.seated[number]
            ],
            "actions": [],
        }

    def _close_log(self, results: list[dict[str, Any]]) -> None:
        self.hand_log = {
            **self._log,
            "board": [card_name(card) for card in self.table.board[: self.table.board_count].tolist()],
            "showdown": bool(self.table.showdown),
            "results": [{**row, "stack": int(self.table.stack[row["seat"]])} for row in results],
        }

    # Small questions.

    def _connected(self) -> list[int]:
        return [number for number in sorted(self.seats) if self.seats[number].connected]

    def _told(self) -> list[int]:
        return [*self._connected(), WATCHERS] if self.watched else self._connected()

    def _playing(self) -> bool:
        return self.status == "running" and not self.table.done

    def _in_hand(self, number: int) -> bool:
        return self._playing() and bool(self.table.seated[number])

    def _free(self, number: int) -> None:
        self._left[self.seats[number].agent_id] = self.stack(number)
        if len(self._left) > MOST_LEFT:
            del self._left[next(iter(self._left))]
        del self.seats[number]
        self.table.stack[number] = 0
        self.table.folded[number] = False
        self.table.seated[number] = False


def _error(number: int, code: str, message: str) -> Send:
    return Send(number, Error(code=code, message=message))
