"""The agent's end of the poker platform's protocol without I/O: no socket and no clock.

`PokerAgentSession` is given what the server sent and returns the events that follow: a `Turn` to decide, a message to
send, news of the table. Whose turn it is, what is allowed and where the button lies it takes from the wire. The rest of
TurnState is worked out by `TableTracker`. Nothing that a server sends makes it raise.
"""

import time
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import msgspec

from ....envs.core.turn_state import Action, AgentResponse, TurnState
from ....envs.holdem.view import STREETS, allowed
from ...logs.match_log import escaped
from ..common.client import LiveError
from ..common.player import Codec, Note, Over, Played, Turn
from . import messages
from .messages import Choice, GameState, Unknown, UnreadTurn
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
    """One seat at one table.

    Args:
        hands: leave after so many; None: no limit.
        deadline: seconds for a decision; None: four fifths of the time that the server gives.
        leave_busted: leave when the chips are gone.
        stalled: seconds without a word from a table with hands, after which it is left; None: never.
        real_money: play on at a table that plays for real money.

    Attributes:
        seat: ours; None until the server says it.
        turn: the name of our turn; None when it is not our turn.
        seq: the newest sequence number.
        busted: whether we have no chips left.
        hands_played, actions, rejected: how many hands ended in which we had cards, and how many actions were accepted
            and rejected.
        net: chips won (or lost, below 0) since the first hand; 0 where the stacks are not known.
    """

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
        if self._quiet is None or self._quiet[0] != self._news:
            self._quiet = self._news, now
        if now - self._quiet[1] >= self.patience:
            self._open = False
            if self.starting and self._stalled is not None and unmoved > NEVER_STARTED_SECONDS:
                return [Over("stalled")]
            alone = self._state is None or len([player for player in self._state.players if player.stack]) < 2
            return [Over(f"no news of the table for {self.patience:.0f} s", again=True, problem=not alone)]
        if now - self._pinged < PING_SECONDS:
            return []
        self._pinged = now
        if self._stalled is not None and unmoved > max(self._stalled, 4 * self._seconds):
            return [Over("stalled")]
        return [messages.Ping(payload=messages.Timestamp(timestamp=int(time.time() * 1000)))]

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
            return self._bust(state.hand) if out and state.phase in STREETS and not self.busted else []
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
        self.busted = True
        return [Busted(hand), *([Over("busted")] if self._leave_busted else [])]

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
        """Return whether we had cards in a hand that ended."""
        if self.seat is None:
            return True
        if message.results:
            return any(result.seat == self.seat for result in message.results)
        return bool(self._tracker.start.get(self.seat))

    def _won(self, message: messages.HandComplete) -> int:
        """Return what we took from the pots. The platform reports 0 for all at a showdown: then our stack tells."""
        if any(result.won for result in message.results) or self.seat is None:
            return sum(result.won for result in message.results if result.seat == self.seat)
        return max(0, self._tracker.taken(self.seat) or 0)

    def _receive_status(self, status: messages.TableStatus) -> list[PokerEvent]:
        if status.status != "ended":
            if self.seat is None:
                self.seat = status.seat_id
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
        state = self._state
        if state is None:
            return None
        ours = self.turn is not None
        offers, to_call = read_offers(state, self.seat) if ours else ([], 0)
        game_state = self._tracker.game_state(state, self.seat, offers, to_call)
        turn = game_state.turn = self.seat if ours else game_state.turn
        return TurnState(
            match_id="",
            game_id="holdem-v0",
            agent_id=f"player_{self.seat}",
            phase=state.phase,
            is_my_turn=ours,
            current_turn_agent_id=None if turn is None else f"player_{turn}",
            game_state=game_state.to_dict(),
            allowed_actions=allowed(game_state, self.seat or 0, game_state.phase),
        )

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
            return [*self._give(turn, safe_kind(kinds))] if self.waits(turn) and self._answer is None else []
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
    return LiveError(
        messages.REAL_MONEY, f"the table plays for real money ({sign}); only --play-for-real-money sits down there"
    )


def _ignored(kind: str, reason: str) -> Note:
    return Note(f"ignored a message of type {kind[:40]!a}: {escaped(reason, 200)}")
