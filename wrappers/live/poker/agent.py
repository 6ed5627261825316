"""Our agent at live poker tables, from the address of a server to the end of its last table.

`PokerAgentSession` is the agent's end of the platform's protocol without I/O: no socket and no clock. It is given what
the server sent and returns the events that follow: a `Turn` to decide, a message to send, news of the table. Whose turn
it is, what is allowed and where the button lies it takes from the wire. The rest of TurnState is worked out by
`TableTracker`. Nothing that a server sends makes it raise.

`play` registers and joins by REST, connects and reconnects, and answers every decision before its deadline. A decision
that is late, raises or cannot be played is replaced by the safe action (check, else fold). Tokens and keys are never
logged. `PokerRestClient` takes the seats, `Stay` plays in them.
"""

import asyncio
import contextlib
import logging
import os
import ssl
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, TypeAlias, cast

import aiohttp
import msgspec
from yarl import URL

from ....envs.core.files import replacing
from ....envs.core.options import AT_LEAST_0, NO_LIMIT, Checked, SecondsOr0, seconds
from ....envs.core.turn_state import Action, AgentResponse, TurnState
from ....envs.holdem.view import STREETS, allowed
from ...agents.base import Agent
from ...logs.match_log import MatchLog, SafeMatchLog, escaped, opened
from ..common.client import (
    CONNECTION_ERRORS,
    OPENED,
    UNREACHABLE,
    Backoff,
    Link,
    LiveError,
    TryAgain,
    describe_connection_error,
    http_client,
    next_message,
    open_websocket,
    read_json,
    retry,
)
from ..common.player import AgentStatistics, Codec, Note, Over, Played, Player, Turn, Unknown, run
from . import messages
from .messages import Choice, GameState, UnreadTurn
from .table_tracker import TableTracker, owed, read_offers, safe_kind

TURN_SECONDS = 30.0
"""Time for a turn where the server does not say it."""
PING_SECONDS = 30.0
"""Seconds between keep-alive pings."""
STARTING_SECONDS = 2.0
"""Seconds without news of a table that is about to start, after which we connect again."""
NEVER_STARTED_SECONDS = 60.0
"""Seconds after which an agent that keeps playing leaves a table that is about to start and does not."""
LEAST_PATIENCE = 20.0
"""The same of any other table, where its turns are very short; else it is twice the time for a turn."""

USUAL_STEP = 2
"""By how much `seq` grows from one state to the next at most: for an action, and for the street or the end after it."""
REJECTIONS = (
    messages.INVALID_ACTION,
    messages.STALE_SEQ,
    messages.VALIDATION_ERROR,
    messages.RATE_LIMIT_EXCEEDED,
    messages.INTERNAL_ERROR,
)
"""The errors after which a sent action has not been played, and it may still be our turn."""


@dataclass
class UnreadableTurn(Turn):
    """Our turn in a state of which nothing more is known: the agent is not asked, and `kind` is the safe action."""

    kind: str = "fold"

    def safe(self) -> AgentResponse:
        """See `Turn`."""
        return AgentResponse(Action(self.kind))

    def logged(self) -> None:
        """See `Turn`."""


@dataclass(frozen=True)
class SeatTaken:
    """We have a seat; `timeout` is the time for each turn in milliseconds, and `agent_id` names us. None: not said."""

    seat: int
    timeout: int | None
    agent_id: str | None = None

    def line(self) -> tuple[str, dict[str, Any]]:
        """Return the kind and the fields of the log's line; so do the others."""
        return "joined", {"seat": self.seat}


@dataclass(frozen=True)
class HandEnded:
    """A hand has ended: what we took from the pots, and our stack (None: not known).

    `net`: chips won in the hand, less those lost; 0 where the stacks are not known. `big_blind`: of the hand, in chips.
    """

    hand: int
    won: int
    stack: int | None
    message: messages.HandComplete
    net: int = 0
    big_blind: int = 2

    def line(self) -> tuple[str, dict[str, Any]]:
        """See `SeatTaken`."""
        net = {} if self.stack is None else {"net": self.net}
        results = self.message.results
        return "hand", {"hand": self.hand, "won": self.won, **net, "stack": self.stack, "results": results}


@dataclass(frozen=True)
class Busted:
    """We have no chips left: we are not dealt in any longer at this table."""

    hand: int

    def line(self) -> tuple[str, dict[str, Any]]:
        """See `SeatTaken`."""
        return "busted", {"hand": self.hand}


@dataclass(frozen=True)
class TableEnded:
    """The table has ended; our final stack where the server says it."""

    reason: str
    stack: int | None

    def line(self) -> tuple[str, dict[str, Any]]:
        """See `SeatTaken`."""
        return "ended", {"reason": self.reason, "stack": self.stack}


PokerEvent: TypeAlias = (
    Turn | messages.Action | messages.Ping | HandEnded | Busted | TableEnded | SeatTaken | Note | Over
)


class PokerAgentSession(Codec):
    """One seat at one table."""

    def __init__(
        self,
        *,
        hands: int | None = None,
        deadline: float | None = None,
        leave_busted: bool = False,
        stalled: float | None = None,
        real_money: bool = False,
    ) -> None:
        self._hands, self._deadline, self._leave_busted = hands, deadline, leave_busted
        self._stalled, self._real_money = stalled, real_money
        self._leaving = ""  # why we leave after this hand
        self._turn_seconds = TURN_SECONDS
        self._open = False  # whether there is a connection, as far as we know
        self._pinged = 0.0  # when we pinged last
        self._quiet: tuple[int, float] | None = None  # `_news`, and since when they are so many on this connection
        self._moved: tuple[Any, float] | None = None  # the hand and seq, and since when they are these
        self.seat: int | None = None
        self.turn: str | None = None
        self.seq = self.hands_played = self.actions = self.rejected = self._rejections = 0
        self.busted = self._acked = self._resend = False
        self._news = 0  # messages received, without the answers to pings
        self._tracker = TableTracker()
        self._players: int | None = None  # at a table that waits
        self._first_stack: int | None = None
        self._last_stack: int | None = None
        self._state: GameState | None = None
        self._asked: Turn | None = None  # our turn in the newest state; None: to be made
        self._unread_turn: str | None = None  # the name of a turn that is answered without being read
        self._unread_seq: int | None = None  # the seq of its state
        self._answer: messages.Action | None = None
        self._new_connection = True
        self._completed = -1  # the hand that ended last, until the next begins
        self._before_jump: int | None = None  # the seq before the newest one, where that is suspiciously high
        self._turns: set[str] = set()  # the names of our turns of this hand
        self._turns_before: set[str] = set()  # and of the hand before
        self._stale: int | None = None  # the seq that the server called stale

    @property
    def name(self) -> str:
        """See `Codec`."""
        return "poker table" if self._state is None else f"hand {self._state.hand}"

    @property
    def patience(self) -> float:
        """Seconds without news after which the server may have lost our connection, although it answers pings.

        Moltpoker forgets a connection when an older one of the same agent closes after it, and does not tell a
        connection that comes while a table starts that the first hand has begun.
        """
        return STARTING_SECONDS if self.starting else max(2 * self._turn_seconds, LEAST_PATIENCE)

    @property
    def in_hand(self) -> bool:
        """Whether a hand is under way in which we have cards and have not folded."""
        state = self._state
        if state is None or state.phase not in STREETS or state.hand == self._completed:
            return False
        return any(player.seat == self.seat and not player.folded for player in state.players)

    @property
    def net(self) -> int:
        """Chips won since the first hand."""
        if self._first_stack is None or self._last_stack is None:
            return 0
        return self._last_stack - self._first_stack

    @property
    def starting(self) -> bool:
        """Whether the table has started and its first hand has not, as far as we have heard."""
        return self._state is not None and self._state.phase == "waiting"

    # What comes in.

    def receive(self, data: Any) -> list[PokerEvent]:
        """Take in a message (text, bytes, or parsed JSON) and return what follows."""
        message = messages.decode_server(data)
        self._news += not isinstance(message, messages.Pong)
        events = self._receive(message)
        return [*events, Over(self._leaving)] if self._leaving and not self.in_hand else events

    def _receive(self, message: messages.ServerMessage | UnreadTurn | Unknown) -> list[PokerEvent]:
        match message:
            case GameState():
                return self._receive_state(message)
            case UnreadTurn():
                return self._receive_unread(message)
            case messages.Welcome():
                self.seat = message.seat
                self._turn_seconds = message.timeout / 1000 if message.timeout else self._turn_seconds
                return [*self._money(message), SeatTaken(message.seat, message.timeout, message.agent_id)]
            case messages.Ack():
                return self._receive_ack(message)
            case messages.Error():
                return self._receive_error(message)
            case messages.HandComplete():
                return self._receive_end_of_hand(message)
            case messages.TableStatus():
                return [*self._money(message), *self._receive_status(message)]
            case messages.DepositConfirmed() | messages.PayoutInitiated():
                return [*self._money(message), Note(f"the server says {escaped(str(message), 200)}")]
            case messages.PlayerJoined() if message.stack is not None:
                self._tracker.stacks_between_hands[message.seat_id] = message.stack
            case messages.PlayerLeft():
                self._tracker.stacks_between_hands.pop(message.seat_id, None)
            case Unknown() if message.type != "street_dealt":  # the state holds its cards too
                return [_ignored(message.type, message.reason)]
        return []

    def opened(self) -> list[PokerEvent]:
        """Note that the connection is new: an answer without an ack is sent again if it is still our turn."""
        self._resend = self._new_connection = True
        self._quiet, self._open = None, True
        return []

    def leave(self, reason: str) -> None:
        """Leave after this hand; at once where we have no cards."""
        self._leaving = self._leaving or reason

    def tick(self, now: float) -> list[PokerEvent]:
        """Leave, ping, and connect again, or go, when nothing is heard of the table for too long."""
        if self._leaving and not self.in_hand:
            return [Over(self._leaving)]
        if self._state is not None and (self._moved is None or self._moved[0] != (self._state.hand, self.seq)):
            self._moved = (self._state.hand, self.seq), now
        unmoved = 0.0 if self._moved is None else now - self._moved[1]
        if not self._open:
            return []
        if self._quiet is None:
            self._pinged = now
        if self._quiet is None or self._quiet[0] != self._news or self._alone:
            self._quiet = self._news, now
        longest = NEVER_STARTED_SECONDS if self.starting else max(self._stalled or 0.0, 4 * self._seconds)
        if self._stalled is not None and unmoved > longest:
            return [Over("stalled")]
        if now - self._quiet[1] >= self.patience:
            if self.busted and self._leave_busted:
                return [Over("busted")]
            self._open = False
            problem = self._state is not None
            return [Over(f"no news of the table for {self.patience:.0f} s", again=True, problem=problem)]
        if now - self._pinged < PING_SECONDS:
            return []
        self._pinged = now
        return [messages.Ping(payload=messages.Timestamp(timestamp=int(time.time() * 1000)))]

    @property
    def _alone(self) -> bool:
        """Whether nobody else with chips sits at the table, as far as we have heard: then there is no news."""
        state, chips = self._state, self._tracker.stacks_between_hands
        if state is None:
            return self._players == 1 and set(chips) <= {self.seat}
        rich = [player.seat for player in state.players if player.stack] + [seat for seat in chips if chips[seat]]
        return state.phase not in STREETS and set(rich) <= {self.seat}

    @property
    def _seconds(self) -> float:
        return 0.8 * self._turn_seconds if self._deadline is None else self._deadline

    def _receive_state(self, state: GameState) -> list[PokerEvent]:
        if self._is_late(state):
            return [Note(f"ignored an old state: seq {state.seq} after {self.seq}")]
        self._follow(state)
        self._tracker.update(state)
        if self.seat is None:  # without a welcome, our seat is the one whose cards we see
            visible = [player.seat for player in state.players if player.cards]
            self.seat = visible[0] if len(visible) == 1 else None
        self._remember_stack()
        turn = self._our_turn(state)
        self._asked = None
        if turn is None:
            self.turn = self._unread_turn = None
            own = next((one for one in state.players if one.seat == self.seat), None)
            out = own is not None and not (own.stack or own.bet or own.all_in or own.cards)
            # A hand that begins without us, who have nothing, tells that we are busted.
            busted = out and state.phase in STREETS
            told = self._bust(state.hand) if busted and not self.busted else []
            return [*told, Over("busted")] if busted and self._leave_busted else told
        if turn not in (self.turn, self._unread_turn):
            self.turn, self._unread_turn, self._answer = turn, None, None
            self._acked, self._rejections, self._resend = False, 0, False
            self._turns.add(turn)
            if read_offers(state, self.seat)[0]:
                return [self._decision()]
            self._rejections = 2  # nothing is left to try after the safe action; the clock takes longer
            kind = "fold" if state.to_call or owed(state, self.seat) else "check"
            return [self._unreadable(turn, kind, "the server offers no action that we know")]
        return self._answer_again(self.seq)

    def _unreadable(self, token: str, kind: str, problem: str) -> UnreadableTurn:
        state = TurnState("", "holdem-v0", f"player_{self.seat}", "", True)
        problem = f"the state cannot be read: {problem}"
        return UnreadableTurn(state, token, False, problem, None, None, self.name, {}, kind)

    def _is_late(self, state: GameState) -> bool:
        """Tell a state that was overtaken by newer ones from one that follows a `seq` that was too high."""
        if self._state is None or self._new_connection:
            return False
        turn = self._our_turn(state)
        if state.hand != self._state.hand:
            at_stake = self.turn is not None and not self._acked
            return at_stake and state.hand < self._state.hand and (turn is None or turn in self._turns_before)
        if state.seq >= self.seq:
            return False
        if turn is not None and turn not in self._turns and (self.turn is None or self._before_jump is not None):
            return False  # at worst our answer is refused; a turn that is not answered is lost for certain
        waiting = self.turn is not None and not self._acked
        return waiting or self._before_jump is None or state.seq <= self._before_jump

    def _follow(self, state: GameState) -> None:
        """Make a state the newest."""
        if self._state is None or self._new_connection:
            self._before_jump = -1  # nothing tells yet whether this seq is too high
        elif state.seq != self.seq:
            self._before_jump = self.seq if state.seq - self.seq > USUAL_STEP else None
        if self._state is None or state.hand != self._state.hand:
            self._turns_before, self._turns = self._turns, set()
            self._stale = None
        self._state, self.seq, self._new_connection = state, state.seq, False
        if state.phase in STREETS:
            self._completed = -1

    def _receive_unread(self, turn: UnreadTurn) -> list[PokerEvent]:
        """Play the safe action where nothing can be read but that it is our turn; the clock would take longer."""
        same_hand = self._state is not None and not self._new_connection and turn.hand == self._state.hand
        old = same_hand and turn.seq is not None and turn.seq < self.seq
        elsewhere = None not in (turn.turn, self.seat) and turn.turn != self.seat
        if old or elsewhere or not turn.turn_token or not turn.actions:
            return [_ignored("game_state", turn.reason)]
        if turn.turn_token in (self.turn, self._unread_turn):
            return self._answer_again(turn.seq)
        self.seq = self.seq if turn.seq is None else turn.seq
        self.turn, self._unread_turn, self._acked, self._resend = None, turn.turn_token, False, False
        self._rejections = 2  # nothing is left to try after the safe action
        self._answer = None
        kind = safe_kind([option.kind for option in turn.actions])
        self._unread_seq = turn.seq
        return [self._unreadable(turn.turn_token, kind, escaped(turn.reason, 200))]

    def _answer_again(self, seq: int | None) -> list[PokerEvent]:
        """Send an answer again whose ack may have been lost with a connection."""
        if not self._resend or self._answer is None or self._acked:
            return []
        self._resend = False
        self._answer.expected_seq = None if seq == self._stale else seq
        return [self._answer]

    def _our_turn(self, state: GameState) -> str | None:
        """Return the name of the turn if it is ours. (The platform may leave `turn` out, or the actions.)"""
        if self.seat is None or state.phase not in STREETS or not (state.actions or state.turn_token):
            return None
        if state.turn != self.seat if isinstance(state.turn, int) else not state.actions:
            return None
        return state.turn_token or f"hand {state.hand}, seq {state.seq}"

    def _bust(self, hand: int) -> list[PokerEvent]:
        self.busted = True  # we go when a hand begins without us: the host may give a new stack
        return [Busted(hand)]

    def _remember_stack(self) -> None:
        chips = None if self.seat is None else self._tracker.start.get(self.seat)
        if chips is not None:
            if self._first_stack is None:
                self._first_stack = chips
            elif self._last_stack == 0:  # a new stack after a bust is not won
                self._first_stack += chips
                self.busted = self.busted and chips == 0
            self._last_stack = chips

    def _receive_ack(self, ack: messages.Ack) -> list[PokerEvent]:
        if self._answer is None or self._acked or ack.turn_token != self._answer.action.turn_token:
            return [Note("an ack for no action of this turn")]
        self._acked = True
        self.actions += 1
        return []

    def _receive_error(self, error: messages.Error) -> list[PokerEvent]:
        text = f"the server says {escaped(error.code, 40)}: {escaped(error.message, 200)}"
        if error.code in messages.FATAL_CODES:
            reason = escaped(error.message, 200) or "the server gave no reason"
            return [Over(error=LiveError(error.code, reason))]
        if self._answer is None or self._acked or error.code not in REJECTIONS:
            return [Note(text)]
        kind = self._answer.action.kind
        if error.code == messages.STALE_SEQ:
            self._stale = self._answer.expected_seq
        self.rejected += 1
        self._rejections += 1
        if self._rejections == 1:
            self._answer = None
            again = self._decision(again=True)
            return [Note(f"{kind} was rejected, deciding again; {text}", rejected=True), again]
        if self._rejections == 2:
            action = self._decision().safe().action
            self._answer = self._message(action.action_type, action.payload.get("amount"))
            rejected = Note(f"{kind} was rejected too, playing the safe action; {text}", rejected=True)
            return [rejected, self._answer]
        self._answer = None
        return [Note(f"even {kind} was rejected, leaving this turn to the server; {text}", rejected=True)]

    def _receive_end_of_hand(self, message: messages.HandComplete) -> list[PokerEvent]:
        if message.hand == self._completed:
            return [Note(f"ignored a second end of hand {message.hand}")]
        if self._state is not None and message.hand < self._state.hand:
            if not message.results or not self._was_dealt(message):
                return [Note(f"ignored the late end of hand {message.hand}")]
            self.hands_played += 1  # the next hand has overtaken it: a turn in that hand goes on
            won = sum(result.won for result in message.results if result.seat == self.seat)
            return self._ended(HandEnded(message.hand, won, None, message))
        self._completed = message.hand
        self.turn, self._answer = None, None
        self._tracker.settle({result.seat: result.won for result in message.results})
        if not self._was_dealt(message):
            return []
        self.hands_played += 1
        stack = self._tracker.stacks_between_hands.get(self.seat) if self.seat is not None else None
        before = self.net
        if stack is not None:
            self._last_stack = stack
        net, big_blind = self.net - before, self._tracker.big_blind
        events = self._ended(HandEnded(message.hand, self._won(message), stack, message, net, big_blind))
        return [*events, *self._bust(message.hand)] if stack == 0 and not self.busted else events

    def _ended(self, hand: HandEnded) -> list[PokerEvent]:
        enough = self._hands is not None and self.hands_played >= self._hands
        return [hand, Over("hands")] if enough else [hand]

    def _money(self, message: msgspec.Struct) -> list[PokerEvent]:
        """Return the end of play here, if this message says that the table plays for real money."""
        kind = str(message.__struct_config__.tag)
        named = [name for name in ("real_money", "deposit_status") if getattr(message, name, None)]
        paid = isinstance(message, messages.DepositConfirmed | messages.PayoutInitiated)
        if self._real_money or not (paid or named):
            return []
        return [Over(error=no_real_money(kind if paid else f"{kind} has {named[0]}"))]

    def _was_dealt(self, message: messages.HandComplete) -> bool:
        """Return True if we had cards in a hand that ended."""
        if self.seat is None:
            return True
        if message.results:
            return any(result.seat == self.seat for result in message.results)
        return bool(self._tracker.start.get(self.seat))

    def _won(self, message: messages.HandComplete) -> int:
        """Return our winnings from the pots. The platform reports 0 for all at a showdown: then our stack tells."""
        if any(result.won for result in message.results) or self.seat is None:
            return sum(result.won for result in message.results if result.seat == self.seat)
        return max(0, self._tracker.taken(self.seat) or 0)

    def _receive_status(self, status: messages.TableStatus) -> list[PokerEvent]:
        if status.status != "ended":
            self.seat = status.seat_id if self.seat is None else self.seat
            self._players = status.current_players
            return []
        self.turn, self._answer = None, None
        final = {row.seat_id: row.stack for row in status.final_stacks or ()}
        stack = final.get(self.seat) if self.seat is not None else None
        if stack is not None:
            self._last_stack = stack
        reason = escaped(status.reason or "ended", 200)
        return [TableEnded(reason, stack), Over(reason)]

    # What the agent sees.

    def turn_state(self) -> TurnState | None:
        """Return the table as hold'em's TurnState, in our turn and out of it; None before the first state."""
        if (state := self._state) is None:
            return None
        ours = self.turn is not None
        offers, to_call = read_offers(state, self.seat) if ours else ([], 0)
        game_state = self._tracker.game_state(state, self.seat, offers, to_call)
        turn = game_state.turn = self.seat if ours else game_state.turn
        acting = None if turn is None else f"player_{turn}"
        turn_state = TurnState("", "holdem-v0", f"player_{self.seat}", state.phase, ours, acting, game_state.to_dict())
        turn_state.allowed_actions = allowed(game_state, self.seat or 0, game_state.phase)
        return turn_state

    def _decision(self, again: bool = False) -> Turn:
        state = cast(TurnState, self.turn_state())
        fields = {"hand": state.game_state["hand"]}
        self._asked = Turn(state, cast(str, self.turn), again, None, self._seconds, None, self.name, fields)
        return self._asked

    # What goes out.

    def waits(self, turn: Turn) -> bool:
        """See `Codec`."""
        return turn.id in (self.turn, self._unread_turn)

    def reply(self, turn: Turn, played: Played) -> list[messages.Action]:
        """See `Codec`. What was played is validated again only if a newer state of the same turn has come."""
        if not self.waits(turn) or self._answer is not None:
            return []
        action = played.response.action
        if isinstance(turn, UnreadableTurn):
            return self._give(turn, action.action_type)
        newest = self._asked or self._decision()
        if turn is not newest:
            response, _ = newest.settle(lambda: played.response) if played.problem is None else (newest.safe(), None)
            action = response.action
        self._answer = self._message(action.action_type, action.payload.get("amount"))
        turn.fields["seq"] = self._answer.expected_seq
        return [self._answer]

    def give_up(self, turn: Turn | None = None, data: Any = None) -> list[PokerEvent]:
        """See `Codec`. Of a state it reads as little as it can."""
        state = self._state
        if turn is not None:
            kinds = [option.kind for option in (state.actions if state is not None else None) or ()]
            return [*self._give(turn, safe_kind(kinds))] if self.waits(turn) else []
        message = messages.decode_server(data)
        if isinstance(message, GameState):
            offered = [messages.OfferedKind(option.kind) for option in message.actions or ()]
            place, why = (message.hand, message.seq, message.turn), "an error of ours"
            message = UnreadTurn(message.turn_token or "", offered, *place, why)
        return self._receive_unread(message) if isinstance(message, UnreadTurn) else []

    def _give(self, turn: Turn, kind: str) -> list[messages.Action]:
        """Play what needs nothing of a state but the turn's token."""
        token = str(turn.id) if turn.id == self._unread_turn or self._state is None else self._state.turn_token
        seq = self._unread_seq if turn.id == self._unread_turn else self.seq
        self._answer = messages.Action(action=Choice(turn_token=token or "", kind=cast(Any, kind)), expected_seq=seq)
        return [self._answer]

    def _message(self, kind: str, amount: int | None) -> messages.Action:
        token = None if self._state is None else self._state.turn_token
        options = {} if self._state is None else {option.kind: option for option in self._state.actions or ()}
        if kind == "call" and kind not in options and "raiseTo" in options:  # see `read_offers`
            kind, amount = "raiseTo", options["raiseTo"].max
        choice = Choice(turn_token=token or "", kind=cast(Any, kind), amount=amount)
        # Once the server has called our newest seq stale, the turn's token alone says which turn we mean.
        expected_seq = None if token and self.seq == self._stale else self.seq
        return messages.Action(action=choice, expected_seq=expected_seq)


def no_real_money(sign: str) -> LiveError:
    """Return the refusal of a table that plays for real money, known by this sign."""
    why = f"the table plays for real money ({sign}); only --play-for-real-money sits down there"
    return LiveError(messages.REAL_MONEY, why)


def _ignored(kind: str, reason: str) -> Note:
    return Note(f"ignored a message of type {kind[:40]!a}: {escaped(reason, 200)}")


logger = logging.getLogger(__name__)

LONGEST_WAIT = 60.0
"""Seconds that are waited at most before the next table is joined."""
STALLED_SECONDS = 600.0
"""Seconds without a word from a table with hands, after which an agent that keeps playing goes to another."""
REFUSED = {
    401: messages.UNAUTHORIZED,
    403: messages.UNAUTHORIZED,
    404: messages.TABLE_NOT_FOUND,
    410: messages.TABLE_ENDED,
    aiohttp.WSCloseCode.POLICY_VIOLATION: messages.UNAUTHORIZED,
}
"""HTTP statuses of a WebSocket handshake, and a code of its close, after which another try is of no use."""
WAIT = (messages.TABLE_FULL, messages.INVALID_TABLE_STATE, messages.ALREADY_SEATED)
"""What a join may answer that another time it does not."""
KEY_REFUSED = (messages.UNAUTHORIZED, messages.INVALID_API_KEY, messages.AGENT_NOT_FOUND)
"""What a server answers that does not know our key (any longer)."""
FOR_GOOD = (messages.OUTDATED_CLIENT, messages.VALIDATION_ERROR, messages.REAL_MONEY)
"""What no waiting changes."""
REST_SECONDS = 30.0
"""Seconds for a REST call."""
LEAVE_SECONDS = 3.0
"""Seconds for giving a seat back."""
MOST_LEFT = 20
"""Tables that are left at most to find the one where a seat of ours is, those that wait for players first."""


@dataclass(frozen=True, kw_only=True)
class SeatRequest:
    """Which seat our agent wants, and as whom.

    Attributes:
        name: Name to register with.
        table: Table to join; None: the platform chooses.
        seat: The preferred seat.
        api_key: Key of an agent registered before. On a command line others can read it; rather use the file or the
            environment's PARLOUR_API_KEY.
        access_token: What the platform asks of those who register, if it does.
        play_for_real_money: Sit down at tables for real money, too; else such a seat is given back. You make the
            deposit; the agent never does.
        state: File that keeps the key and the seat: after a crash the player goes on in its seat, if it can.
    """

    name: str | None = None
    table: str | None = None
    seat: int | None = None
    api_key: str | None = field(default=None, repr=False)
    access_token: str | None = field(default=None, repr=False)
    play_for_real_money: bool = False
    state: Path | None = None


ANY_SEAT = SeatRequest()


class _Kept(msgspec.Struct):
    """What the file of `SeatRequest.state` holds."""

    address: str
    api_key: str | None
    agent_id: str | None
    table: str | None
    url: str | None


class OtherOwner(TryAgain):
    """The seat that we were given is another agent's."""


@dataclass
class PokerRestClient:
    """Registers, joins and leaves. Tokens and keys are never logged."""

    http: aiohttp.ClientSession
    address: URL
    request: SeatRequest
    seated: bool = False
    agent_id: str | None = None
    table: str | None = field(init=False)
    api_key: str | None = field(init=False)
    _url: URL | None = None
    _key_works: bool = False  # it was given a seat, or is one that we registered
    _answer_lost: bool = False  # of a join: we may have a seat and not know it
    _chosen_again: bool = False  # the table is the one where we gave such a seat back

    def __post_init__(self) -> None:
        self.table, self.api_key = self.request.table, self.request.api_key
        if (file := self.request.state) is None or not os.path.exists(file) or os.path.getsize(file) == 0:
            return
        try:
            kept = msgspec.json.decode(Path(file).read_bytes(), type=_Kept)
        except (OSError, ValueError) as error:  # what is not ours is not overwritten
            raise ValueError(f"{file} keeps no seat ({error}): name another file") from None
        if kept.address == str(self.address) and self.api_key in (None, kept.api_key):
            self.api_key, self.agent_id, self._key_works = kept.api_key, kept.agent_id, True
            if kept.url is not None and self.table in (None, kept.table):
                self.table, self._url, self.seated = kept.table, URL(kept.url), True

    def _keep(self, url: URL | None) -> None:
        """Write the key and the seat to the file, if there is one."""
        if self.request.state is not None:
            kept = _Kept(str(self.address), self.api_key, self.agent_id, self.table, None if url is None else str(url))
            try:
                with replacing(self.request.state) as unfinished:
                    unfinished.touch(0o600)
                    unfinished.write_bytes(msgspec.json.encode(kept))
            except OSError as error:
                logger.warning("cannot keep the seat in %s: %s", self.request.state, error.strerror)

    async def url(self) -> URL:
        """Return the URL of our seat; registers and joins the first time.

        Raises:
            LiveError: if the server refuses.
            TryAgain, aiohttp.ClientError, OSError, TimeoutError: if it cannot be reached.
        """
        if self._url is None:
            url = self.address if self.address.scheme in ("ws", "wss") else await self._join()
            self._url = url if "format" in url.query else url.update_query(format="agent")
            self.seated = True
            self._keep(self._url)
        return self._url

    async def leave(self, table: str | None = None) -> None:
        """Give back the seat that was taken by REST: at our table, or at another. Never raises."""
        if (table := table or self.table) == self.table:
            self._keep(None)
        if self.api_key is not None and table is not None:
            with contextlib.suppress(TryAgain, *CONNECTION_ERRORS):
                async with asyncio.timeout(LEAVE_SECONDS):
                    await self._call(f"v1/tables/{table}/leave", {})

    def forget_seat(self) -> None:
        """Let the next `url` join a table that the server chooses."""
        self._url = self.table = None
        self.seated = self._answer_lost = False
        self._keep(None)

    def forget_key(self) -> bool:
        """Let the next `url` register anew, or try a given key again; return False where no key has ever worked."""
        if self.api_key is None or not self._key_works:
            return False
        if self.api_key != self.request.api_key:  # a key that was given stays: the refusal may pass
            self.api_key, self._key_works = None, False
        return True

    async def _join(self) -> URL:
        if self.api_key is None:
            agent = await self._call("v1/agents", {} if self.request.name is None else {"name": self.request.name})
            self.api_key, self._key_works = _text(agent, "api_key"), True
            self.agent_id = agent.get("agent_id")
        seat = {} if self.request.seat is None else {"preferred_seat": self.request.seat}
        wish = {"client_protocol_version": messages.PROTOCOL_VERSION, **seat}
        where = "auto-join" if self.table is None else f"{self.table}/join"
        if self.table is not None:
            self._check_money(await self._call(f"v1/tables/{self.table}"))
        try:
            joined = await self._call(f"v1/tables/{where}", wish)
        except LiveError as error:
            await self._recover(error)
            raise
        except (TryAgain, *CONNECTION_ERRORS) as error:
            self._answer_lost = self._answer_lost or not isinstance(error, aiohttp.ClientConnectorError)
            raise
        table, self._key_works = str(joined.get("table_id", self.table)), True
        try:
            details = await self._call(f"v1/tables/{table}")
            self._check_owner(details, joined.get("seat_id"))
            self._check_money(details, joined)
        except (TryAgain, *CONNECTION_ERRORS) as error:  # nobody says whether it is for real money, or it is
            if not isinstance(error, OtherOwner):
                self._answer_lost = True  # the seat may stay ours
                await self.leave(table)
            raise
        self.table = table
        logger.info("joined table %s, seat %s", escaped(self.table, 80), escaped(str(joined.get("seat_id")), 40))
        try:
            return URL(_text(joined, "ws_url")).update_query(token=_text(joined, "session_token"))
        except ValueError:
            raise LiveError(messages.INTERNAL_ERROR, "the server's ws_url is no address") from None

    def _check_money(self, *answers: Mapping[str, Any]) -> None:
        """Raise LiveError if a table plays for real money, as its own page or the answer to a join says."""
        configs = [answer["config"] for answer in answers if isinstance(answer.get("config"), dict)]
        for sign in ("realMoney", "real_money", "deposit", "deposit_status"):  # one denies nothing that another says
            if any(fields.get(sign) for fields in (*answers, *configs)) and not self.request.play_for_real_money:
                raise no_real_money(f"the server says {sign}")

    def _check_owner(self, details: Mapping[str, Any], seat: Any) -> None:
        """Raise TryAgain if our seat is another agent's: Moltpoker gives one seat to two who join at one moment."""
        seats = details.get("seats")
        rows = [row for row in seats if isinstance(row, dict)] if isinstance(seats, list) else []
        owner = next((row.get("agentId") for row in rows if row.get("seatId") == seat), None)
        if isinstance(owner, str) and self.agent_id is not None and owner != self.agent_id:
            raise OtherOwner("another agent was given the same seat at the same moment")

    async def leave_all(self) -> None:
        """Give back a seat of ours whose table is not known. Never raises."""
        listed: Any = []
        with contextlib.suppress(TryAgain, *CONNECTION_ERRORS):
            listed = (await self._call("v1/tables")).get("tables")
        tables = [table for table in (listed if isinstance(listed, list) else []) if isinstance(table, dict)]
        for table in sorted(tables, key=lambda table: table.get("status") != "waiting")[:MOST_LEFT]:
            if table.get("status") != "ended" and isinstance(table.get("id"), str):
                await self.leave(table["id"])

    async def _recover(self, error: LiveError) -> None:
        """Give back a seat whose token we never got, so that the next try can join again."""
        table = self.table or error.details.get("table_id")
        if self._answer_lost and error.code == messages.ALREADY_SEATED and isinstance(table, str):
            self.table, self._chosen_again = table, True
            await self.leave()
            raise TryAgain("seated by a try whose answer was lost") from error
        if self._chosen_again and error.code in (messages.TABLE_ENDED, messages.TABLE_NOT_FOUND):
            self.table, self._chosen_again = None, False
            raise TryAgain("the table of the seat that was given back has ended") from error

    async def _call(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the answer to a body that is posted; without a body, what a server shows, or {} without such a page.

        Raises:
            TryAgain, aiohttp.ClientError, OSError, TimeoutError: if there is no answer, or it cannot be read.
            LiveError: if the server refuses.
        """
        bearer = self.api_key or self.request.access_token
        headers = {} if bearer is None else {"Authorization": f"Bearer {bearer}"}
        timeout, method = aiohttp.ClientTimeout(total=REST_SECONDS), "GET" if body is None else "POST"
        async with self.http.request(method, self.address / path, json=body, headers=headers, timeout=timeout) as reply:
            if reply.status >= 500 or reply.status == 429:
                raise TryAgain(f"the server answered with HTTP {reply.status}")
            answer = None
            with contextlib.suppress(ValueError, RecursionError):
                answer = await read_json(reply)
        if reply.ok and isinstance(answer, dict):
            return answer
        if reply.ok:
            raise TryAgain(f"the server's answer to {path} cannot be read")
        if reply.status == 404 and body is None:
            return {}
        error = answer.get("error") if isinstance(answer, dict) else None
        details = error if isinstance(error, dict) else {}
        code, reason = details.get("code", f"HTTP_{reply.status}"), str(details.get("message", "no reason given"))
        raise LiveError(escaped(str(code), 40), f"{path}: {escaped(reason, 200)}", details.get("details"))


def _text(answer: dict[str, Any], field: str) -> str:
    if isinstance(value := answer.get(field), str):
        return value
    raise LiveError(messages.INTERNAL_ERROR, f"the server's answer lacks {field}")


@dataclass(frozen=True, kw_only=True)
class PlayLength(Checked):
    """How long our agent plays.

    Attributes:
        hands: leave after so many, at all tables; None: no limit.
        until: leave when this time has come and the hand is over; without a zone it is local time. None: no limit.
        keep_playing: join the next table when one has ended, when our chips are gone, when the server has forgotten us
            or nothing is heard of the table for ten minutes; until cancelled, or `hands` or `until` is reached. It
            needs the REST address.

    Raises:
        ValueError: if the number of hands is below 1.
    """

    hands: Annotated[int | None, NO_LIMIT] = None
    until: datetime | None = None
    keep_playing: bool = False


@dataclass(frozen=True, kw_only=True)
class ClientSettings(Checked):
    """How our agent deals with the server.

    Attributes:
        deadline: seconds for a decision; None: four fifths of the time that the server gives.
        retry_after: seconds before the first try to reconnect; the n-th waits n times as long, at most ten times.
        retries: further tries in a row to connect, before it is given up; at most `FIRST_TRIES` in all if nothing ever
            answered. With `PlayLength.keep_playing`, a server that has answered is never given up.
        ca_file: certificates (PEM) of authorities that are trusted beside the system's; None: no further ones.

    Raises:
        ValueError: if a number is out of its range.
    """

    deadline: Annotated[float | None, seconds] = None
    retry_after: SecondsOr0 = 3.0
    retries: Annotated[int, AT_LEAST_0] = 10
    ca_file: Path | None = None


@dataclass(frozen=True, kw_only=True)
class Monitoring:
    """What follows the play of our agent.

    Attributes:
        statistics: the agent's counters; None: new ones.
        link: gets every beginning and end of a connection; None: nobody does.
        on_event: is called with every event, for tables on a screen and tests.
    """

    statistics: AgentStatistics | None = None
    link: Link | None = None
    on_event: Callable[[PokerEvent], None] | None = None


@dataclass
class PokerResult:
    """Result of play at one table, or at many.

    Attributes:
        hands: that ended in which the agent had cards.
        net: chips won since the first hand.
        actions: accepted by the server.
        rejected: rejected by the server.
        replaced: decisions that the safe action took the place of.
        reconnects: connections after the first to the same table.
        reason: why the play ended: the server's word, ``closed`` (the connection was closed without a word), ``hands``
            (as many as were asked for), ``until`` (the time has come), ``busted`` or ``stalled`` (nothing was heard of
            the table for a long time).
        tables: where the agent had a connection.
    """

    hands: int = 0
    net: int = 0
    actions: int = 0
    rejected: int = 0
    replaced: int = 0
    reconnects: int = 0
    reason: str = ""
    tables: int = 0


def tls_context(ca_file: Path | None) -> ssl.SSLContext | bool:
    """Return the TLS settings for servers: those of aiohttp, or with more authorities (PEM) than the system's.

    Raises:
        ValueError: if the file cannot be read, or holds no certificate.
    """
    if ca_file is None:
        return True
    context = ssl.create_default_context()
    try:
        context.load_verify_locations(cafile=ca_file)
    except (OSError, ssl.SSLError) as error:
        raise ValueError(f"cannot read certificates from {ca_file}: {error}") from None
    return context


@dataclass
class Dial:
    """The WebSocket of our seat, connected to again whenever it is lost: a `Port`."""

    rest: PokerRestClient
    backoff: Backoff
    link: Link
    news: Callable[[], Any]
    connections: int = 0
    _socket: aiohttp.ClientWebSocketResponse | None = None
    _lost: TryAgain | None = None  # why the connection before this one has ended

    async def incoming(self) -> AsyncGenerator[Any, None]:
        """See `Port`.

        Raises:
            LiveError: if the server refuses us, or cannot be reached.
        """
        clock = asyncio.get_running_loop().time
        while True:
            socket = self._socket = await retry(self._open, self.backoff)
            began, news, lost = clock(), self.news(), False
            self.connections += 1
            self.link.up()
            try:
                yield OPENED
                while (data := await next_message(socket)) is not None:
                    yield data
                lost = True
            finally:
                self._socket = None
                self.link.down(lost=lost)
                await socket.close()
            code = socket.close_code
            if self._lost is None and code is not None and code in REFUSED:
                raise LiveError(REFUSED[code], f"the server closed the connection for good ({code})")
            if self._lost is None and code == aiohttp.WSCloseCode.OK:
                return
            if self.news() != news or clock() - began > self.backoff.wait * self.backoff.growth:
                self.backoff.succeeded()
            self._lost = self._lost or TryAgain("the connection was lost")

    async def _open(self) -> aiohttp.ClientWebSocketResponse:
        if self._lost is not None:
            lost, self._lost = self._lost, None
            raise lost
        try:
            return await open_websocket(self.rest.http, await self.rest.url())
        except aiohttp.WSServerHandshakeError as error:
            if error.status in REFUSED:
                raise LiveError(REFUSED[error.status], describe_connection_error(error)) from None
            raise

    async def send(self, message: Any) -> None:
        """See `Port`."""
        if self._socket is not None and not self._socket.closed:
            with contextlib.suppress(OSError, aiohttp.ClientError):
                await self._socket.send_str(messages.encode(message))

    async def redial(self, reason: str, level: int) -> None:
        """See `Port`."""
        if self._socket is not None:
            self._lost = TryAgain(reason, level)
            await self._socket.close()


@dataclass
class Stay:
    """Our agent at one table, over as many connections as it takes, or at one table after another.

    Between two tables it waits: `retry_after` seconds where hands were played, else longer each time, up to
    `LONGEST_WAIT`. It gives up only where nothing was ever played: then an address or a key may be wrong.
    """

    rest: PokerRestClient
    player: Player
    length: PlayLength
    client: ClientSettings
    monitoring: Monitoring
    result: PokerResult = field(default_factory=PokerResult)
    _failures: int = 0
    _session: PokerAgentSession | None = None
    _leaving: str = ""
    _wake: asyncio.Event = field(default_factory=asyncio.Event)

    async def play(self) -> PokerResult:
        """Play until there is a reason to go.

        Raises:
            LiveError: if the server refuses us for good, or was never reached.
        """
        if not self.length.keep_playing:
            try:
                await self._play_table()
            except LiveError:
                self.rest.forget_seat()  # the next start is to try another
                raise
            return self.result
        while not self._leaving:
            hands = self.result.hands
            try:
                await self._play_table()
            except LiveError as error:
                self.result.reason = str(error)
                if not await self._may_go_on(error):
                    raise
                logger.warning("%s", error)
            if self.result.reason in ("hands", "until"):
                return self.result
            self._failures = 0 if self.result.hands > hands else self._failures + 1
            after = self.client.retry_after
            wait = min(after * (self._failures + 1), max(LONGEST_WAIT, after))
            logger.info("%s; the next table in %.1f s", messages.in_words(self.result.reason), wait)
            try:
                async with asyncio.timeout(wait):
                    await self._wake.wait()
            except TimeoutError:
                self.rest.forget_seat()
        self.result.reason = self._leaving
        return self.result

    def leave(self, reason: str) -> None:
        """Stop after this hand, at once where we have no cards."""
        self._leaving = reason
        self._wake.set()
        if self._session is not None:
            self._session.leave(reason)

    async def _play_table(self) -> None:
        keeps, client, rest, result = self.length.keep_playing, self.client, self.rest, self.result
        self._session = session = PokerAgentSession(
            hands=None if self.length.hands is None else self.length.hands - result.hands,
            deadline=client.deadline,
            leave_busted=keeps,
            stalled=STALLED_SECONDS if keeps else None,
            real_money=rest.request.play_for_real_money,
        )
        growth = max(1, round(LONGEST_WAIT / client.retry_after)) if keeps else 10
        tries, reached = None if keeps else client.retries + 1, result.tables > 0
        backoff = Backoff(client.retry_after, tries, first_tries=FIRST_TRIES, growth=growth, reached=reached)
        link = self.monitoring.link or Link()
        port = Dial(rest, backoff, link, lambda: session.seq)
        reason = ""
        try:
            reason = (await run(port, session, self.player, self._note)).reason
            if reason in ("hands", "until", "busted", "stalled"):
                await rest.leave()
        except asyncio.CancelledError:  # Ctrl-C: the seat is given back first
            await rest.leave()
            raise
        except LiveError as error:
            if error.code == messages.REAL_MONEY:
                await rest.leave()
            raise
        finally:
            self._session = None
            result.hands += session.hands_played
            result.net += session.net
            result.actions += session.actions
            result.rejected += session.rejected
            result.reconnects += max(0, port.connections - 1)
            result.tables += port.connections > 0
            result.reason, result.replaced = reason, self.player.statistics.replaced

    def _note(self, event: PokerEvent) -> None:
        if isinstance(event, SeatTaken) and event.agent_id is not None:
            self.rest.agent_id = event.agent_id
        if self.monitoring.on_event is not None:
            self.monitoring.on_event(event)

    async def _may_go_on(self, error: LiveError) -> bool:
        """Return True if another join may work; forget a key or a seat that stands in its way."""
        rest = self.rest
        if error.code in FOR_GOOD:
            return False
        if error.code in KEY_REFUSED and not rest.seated:
            return rest.forget_key()
        if error.code in (messages.SESSION_EXPIRED, messages.INVALID_SESSION):
            await rest.leave()  # a seat that nobody can play any longer
        if error.code == messages.ALREADY_SEATED:  # a seat of ours whose token is lost, as after a crash
            table = error.details.get("table_id")
            await (rest.leave(table) if isinstance(table, str) else rest.leave_all())
        return self.result.tables > 0 or (error.code in WAIT) or (rest.seated and error.code != UNREACHABLE)


FIRST_TRIES = 4
"""Tries after which a server that has never been reached is given up: its address may be wrong, and people wait."""


async def play(
    address: str,
    agent: Agent,
    *,
    seat: SeatRequest = ANY_SEAT,
    length: PlayLength = PlayLength(),
    client: ClientSettings = ClientSettings(),
    log: str | os.PathLike[str] | MatchLog | None = None,
    monitoring: Monitoring = Monitoring(),
) -> PokerResult:
    """Play at a table until it ends, or at one table after another.

    Args:
        address: a ready ``ws://`` or ``wss://`` URL; or the REST base, ``http://`` or ``https://``, where the agent
            registers, joins and finds its URL by itself.
        agent: answers the turns; its `respond` runs in a thread of its own, one call at a time. Its `warm_up`, if it
            has one, is called before we connect.
        seat: which seat the agent wants, and as whom.
        length: how long it plays; by default until its table ends.
        client: how it deals with the server.
        log: a match log, or the path of one to append to (see `parlour.wrappers.logs.match_log`).
        monitoring: what follows its play.

    Raises:
        LiveError: if the server refuses us for good, or cannot be reached.
        ValueError: for an address of another kind, and for a `SeatRequest.state` that is another file.
    """
    url = URL(address)
    if url.scheme not in ("ws", "wss", "http", "https") or not url.host:
        raise ValueError(f"{url.with_query(None)} is no address: give ws://… of a seat, or http://… of the REST API")
    if length.keep_playing and url.scheme in ("ws", "wss"):
        raise ValueError("to keep playing takes the REST address, http://… or https://…: a seat's URL is one seat's")
    connector = aiohttp.TCPConnector(ssl=tls_context(client.ca_file))
    async with http_client(connector=connector) as http:
        with contextlib.ExitStack() as stack:
            match_log = SafeMatchLog(stack.enter_context(opened(log)))
            player = Player(agent, log=match_log, waits=True, statistics=monitoring.statistics)
            stack.enter_context(contextlib.closing(player))
            await player.warm_up()
            stay = Stay(PokerRestClient(http, url, seat), player, length, client, monitoring)
            if length.until is not None:
                left = max(0.0, length.until.timestamp() - datetime.now().timestamp())
                stack.callback(asyncio.get_running_loop().call_later(left, stay.leave, "until").cancel)
            return await stay.play()
