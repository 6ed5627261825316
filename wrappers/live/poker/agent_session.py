"""The agent's end of the poker platform's protocol without I/O: no socket and no clock.

`PokerAgentSession` is given what the server sent and returns the events that follow: a `Turn` to decide, a message to
send, news of the table. Whose turn it is, what is allowed and where the button lies it takes from the wire. The rest of
TurnState is worked out by `TableTracker`. Nothing that a server sends makes it raise.

The file has more than 400 lines: every message changes the same state, and the state machine is read as a whole.
"""

from typing import Any, cast

import msgspec

from ....envs.core.turn_state import Action, TurnState
from ....envs.holdem.actions import allowed
from ....envs.holdem.view import STREETS
from ...logs.log_text import escaped
from ..common.agent_runner import ActionRejected, LogNote, SendMessage
from ..common.agent_turn import Turn
from . import messages
from .agent_events import Busted, HandEnded, PokerEvent, RealMoney, SeatTaken, ServerRefusal, TableEnded, UnreadableTurn
from .messages import Choice, GameState, Unknown, UnreadTurn
from .read_state import owed, read_offers, safe_kind
from .table_tracker import TableTracker

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


class PokerAgentSession:
    """One seat at one table.

    Args:
        small_blind, big_blind, ante: if known beforehand; those of the wire replace them.

    Attributes:
        seat: ours; None until the server says it.
        seq: the newest sequence number.
        busted: whether we have no chips left.
        hands_played, actions, rejected: how many hands ended in which we had cards, and how many actions were accepted
            and rejected.
        net: chips won (or lost, below 0) since the first hand; 0 where the stacks are not known.
        news: how many messages were received, without the answers to pings.
    """

    def __init__(self, *, small_blind: int = 1, big_blind: int = 2, ante: int = 0) -> None:
        self.seat: int | None = None
        self.seq = 0
        self.busted = False
        self.hands_played = 0
        self.actions = 0
        self.rejected = 0
        self.news = 0
        self._tracker = TableTracker(small_blind, big_blind, ante)
        self._first_stack: int | None = None
        self._last_stack: int | None = None
        self._state: GameState | None = None
        self._turn: str | None = None  # the name of our turn
        self._asked: Turn | None = None  # our turn in the newest state; None: to be made
        self._unread_turn: str | None = None  # the name of a turn that was answered without being read
        self._answer: messages.Action | None = None
        self._acked = False
        self._rejections = 0
        self._resend = False
        self._new_connection = True
        self._completed = -1  # the hand that ended last, until the next begins
        self._before_jump: int | None = None  # the seq before the newest one, where that is suspiciously high
        self._turns: set[str] = set()  # the names of our turns of this hand
        self._turns_before: set[str] = set()  # and of the hand before
        self._stale: int | None = None  # the seq that the server called stale

    @property
    def turn(self) -> str | None:
        """The name of our turn; None when it is not our turn."""
        return self._turn

    @property
    def hand(self) -> int | None:
        """The number of the hand; None before the first state."""
        return None if self._state is None else self._state.hand

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
        """Take in a message (text, bytes, or parsed JSON) and return what follows. Never raises."""
        message = messages.decode_server(data)
        self.news += not isinstance(message, messages.Pong)
        match message:
            case GameState():
                return self._receive_state(message)
            case UnreadTurn():
                return self._receive_unread(message)
            case messages.Welcome():
                self.seat = message.seat
                return [*_real_money(message), SeatTaken(message.seat, message.timeout, message.agent_id)]
            case messages.Ack():
                return self._receive_ack(message)
            case messages.Error():
                return self._receive_error(message)
            case messages.HandComplete():
                return self._receive_end_of_hand(message)
            case messages.TableStatus():
                return [*_real_money(message), *self._receive_status(message)]
            case messages.DepositConfirmed() | messages.PayoutInitiated():
                return [*_real_money(message), LogNote(f"the server says {escaped(str(message), 200)}")]
            case messages.PlayerJoined():
                self._tracker.joined(message.seat_id, message.stack)
            case messages.PlayerLeft():
                self._tracker.left(message.seat_id)
            case Unknown():
                return [_ignored(message.type, message.reason)]
        return []

    def reconnected(self) -> None:
        """Note that the connection is new: an answer without an ack is sent again if it is still our turn."""
        self._resend = self._new_connection = True

    def _receive_state(self, state: GameState) -> list[PokerEvent]:
        if self._is_late(state):
            return [LogNote(f"ignored an old state: seq {state.seq} after {self.seq}")]
        self._follow(state)
        self._tracker.update(state)
        self._find_seat(state)
        self._remember_stack()
        turn = self._our_turn(state)
        self._asked = None
        if turn is None:
            self._turn = self._unread_turn = None
            return self._find_busted(state)
        if turn not in (self._turn, self._unread_turn):
            self._turn, self._unread_turn, self._answer = turn, None, None
            self._acked, self._rejections, self._resend = False, 0, False
            self._turns.add(turn)
            return [self._decision()] if read_offers(state, self.seat)[0] else [self._without_offers(state)]
        return self._answer_again(self.seq)

    def _without_offers(self, state: GameState) -> PokerEvent:
        """Play the safe action in a turn for which the server names no action that we know; the clock takes longer."""
        self._rejections = 2  # nothing is left to try after the safe action
        self._answer = self._message("fold" if state.to_call or owed(state, self.seat) else "check", None)
        return UnreadableTurn(self._answer, "the server offers no action that we know")

    def _is_late(self, state: GameState) -> bool:
        """Tell a state that was overtaken by newer ones from one that follows a `seq` that was too high."""
        if self._state is None or self._new_connection:
            return False
        turn = self._our_turn(state)
        if state.hand != self._state.hand:
            at_stake = self._turn is not None and not self._acked
            return at_stake and state.hand < self._state.hand and (turn is None or turn in self._turns_before)
        if state.seq >= self.seq:
            return False
        if turn is not None and turn not in self._turns and (self._turn is None or self._before_jump is not None):
            return False  # at worst our answer is refused; a turn that is not answered is lost for certain
        waiting = self._turn is not None and not self._acked
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
        if turn.turn_token in (self._turn, self._unread_turn):
            return self._answer_again(turn.seq)
        self.seq = self.seq if turn.seq is None else turn.seq
        self._turn, self._unread_turn, self._acked, self._resend = None, turn.turn_token, False, False
        self._rejections = 2  # nothing is left to try after the safe action
        kind = safe_kind([option.kind for option in turn.actions])
        choice = Choice(turn_token=turn.turn_token, kind=cast(Any, kind))
        self._answer = messages.Action(action=choice, expected_seq=turn.seq)
        return [UnreadableTurn(self._answer, escaped(turn.reason, 200))]

    def _answer_again(self, seq: int | None) -> list[PokerEvent]:
        """Send an answer again whose ack may have been lost with a connection."""
        if not self._resend or self._answer is None or self._acked:
            return []
        self._resend = False
        self._answer.expected_seq = None if seq == self._stale else seq
        return [SendMessage(self._answer)]

    def _our_turn(self, state: GameState) -> str | None:
        """Return the name of the turn if it is ours. (The platform may leave `turn` out, or the actions.)"""
        if self.seat is None or state.phase not in STREETS or not (state.actions or state.turn_token):
            return None
        if state.turn != self.seat if isinstance(state.turn, int) else not state.actions:
            return None
        return state.turn_token or f"hand {state.hand}, seq {state.seq}"

    def _find_seat(self, state: GameState) -> None:
        """Without a welcome, our seat is the one whose cards we see."""
        if self.seat is None:
            visible = [player.seat for player in state.players if player.cards]
            self.seat = visible[0] if len(visible) == 1 else None

    def _find_busted(self, state: GameState) -> list[PokerEvent]:
        """A hand that begins without us, who have nothing, tells that we are busted."""
        own = next((player for player in state.players if player.seat == self.seat), None)
        if self.busted or own is None or state.phase not in STREETS or own.stack or own.bet or own.all_in or own.cards:
            return []
        self.busted = True
        return [Busted(state.hand)]

    def _remember_stack(self) -> None:
        chips = self._tracker.stack_at_start(self.seat)
        if chips is not None:
            if self._first_stack is None:
                self._first_stack = chips
            elif self._last_stack == 0:  # a new stack after a bust is not won
                self._first_stack += chips
                self.busted = self.busted and chips == 0
            self._last_stack = chips

    def _receive_ack(self, ack: messages.Ack) -> list[PokerEvent]:
        if self._answer is None or self._acked or ack.turn_token != self._answer.action.turn_token:
            return [LogNote("an ack for no action of this turn")]
        self._acked = True
        self.actions += 1
        return []

    def _receive_error(self, error: messages.Error) -> list[PokerEvent]:
        text = f"the server says {escaped(error.code, 40)}: {escaped(error.message, 200)}"
        if error.code in messages.FATAL_CODES:
            return [ServerRefusal(error.code, escaped(error.message, 200))]
        if self._answer is None or self._acked or error.code not in REJECTIONS:
            return [LogNote(text)]
        kind = self._answer.action.kind
        if error.code == messages.STALE_SEQ:
            self._stale = self._answer.expected_seq
        self.rejected += 1
        self._rejections += 1
        if self._rejections == 1:
            self._answer = None
            return [ActionRejected(f"{kind} was rejected, deciding again; {text}"), self._decision(again=True)]
        if self._rejections == 2:
            self._answer = self._safe()
            rejected = ActionRejected(f"{kind} was rejected too, playing the safe action; {text}")
            return [rejected, SendMessage(self._answer)]
        self._answer = None
        return [ActionRejected(f"even {kind} was rejected, leaving this turn to the server; {text}")]

    def _receive_end_of_hand(self, message: messages.HandComplete) -> list[PokerEvent]:
        if message.hand == self._completed:
            return [LogNote(f"ignored a second end of hand {message.hand}")]
        if self._state is not None and message.hand < self._state.hand:
            return self._late_end_of_hand(message)
        self._completed = message.hand
        self._turn, self._answer = None, None
        self._tracker.complete(message)
        if not self._was_dealt(message):
            return []
        self.hands_played += 1
        stack = self._tracker.stacks_between_hands.get(self.seat) if self.seat is not None else None
        before = self.net
        if stack is not None:
            self._last_stack = stack
        won, net, big_blind = self._won(message), self.net - before, self._tracker.big_blind
        ended = HandEnded(message.hand, won, stack, message, net, big_blind)
        events: list[PokerEvent] = [ended]
        if stack == 0 and not self.busted:
            self.busted = True
            events.append(Busted(message.hand))
        return events

    def _late_end_of_hand(self, message: messages.HandComplete) -> list[PokerEvent]:
        """The next hand has overtaken it: a turn in that hand goes on."""
        if not message.results or not self._was_dealt(message):
            return [LogNote(f"ignored the late end of hand {message.hand}")]
        self.hands_played += 1
        won = sum(result.won for result in message.results if result.seat == self.seat)
        return [HandEnded(message.hand, won, None, message)]

    def _was_dealt(self, message: messages.HandComplete) -> bool:
        """Return whether we had cards in a hand that ended."""
        if self.seat is None:
            return True
        if message.results:
            return any(result.seat == self.seat for result in message.results)
        return bool(self._tracker.stack_at_start(self.seat))

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
        self._turn, self._answer = None, None
        final = {row.seat_id: row.stack for row in status.final_stacks or ()}
        stack = final.get(self.seat) if self.seat is not None else None
        if stack is not None:
            self._last_stack = stack
        return [TableEnded(escaped(status.reason or "ended", 200), stack)]

    # What the agent sees.

    def turn_state(self) -> TurnState | None:
        """Return the table as hold'em's TurnState, in our turn and out of it; None before the first state."""
        state = self._state
        if state is None:
            return None
        ours = self._turn is not None
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
        self._asked = Turn(cast(TurnState, self.turn_state()), cast(str, self._turn), again)
        return self._asked

    # What goes out.

    def act(self, response: Any, turn: Any = None, problem: str | None = None) -> list[messages.Action]:
        """Return the messages that play an answer, or the safe action where it cannot be played now.

        Args:
            response: `AgentResponse` or `Action`, or either as a dict.
            turn: the `Turn.id` that it answers; None: the current one. An answer to another turn, or a second one,
                sends nothing.
            problem: see `AgentSession`; the safe action is sent like any other.
        """
        if self._turn is None or self._answer is not None or turn not in (None, self._turn):
            return []
        played, _ = (self._asked or self._decision()).settle(lambda: response)
        self._answer = self._message(played.action.action_type, played.action.payload.get("amount"))
        return [self._answer]

    def give_up(self) -> list[PokerEvent]:
        """Play the safe action, if it is our turn."""
        return [SendMessage(message) for message in self.act(Action("pass"))]

    def _safe(self) -> messages.Action:
        action = self._decision().safe().action
        return self._message(action.action_type, action.payload.get("amount"))

    def _message(self, kind: str, amount: int | None) -> messages.Action:
        state = self._state
        token = state.turn_token if state is not None else None
        options = {} if state is None else {option.kind: option for option in state.actions or ()}
        if kind == "call" and kind not in options and "raiseTo" in options:  # see `read_offers`
            kind, amount = "raiseTo", options["raiseTo"].max
        choice = Choice(turn_token=token or "", kind=cast(Any, kind), amount=amount)
        # Once the server has called our newest seq stale, the turn's token alone says which turn we mean.
        expected_seq = None if token and self.seq == self._stale else self.seq
        return messages.Action(action=choice, expected_seq=expected_seq)


def _real_money(message: msgspec.Struct) -> list[PokerEvent]:
    """Return the event that tells that the table plays for real money, if this message says so."""
    kind = str(message.__struct_config__.tag)
    if isinstance(message, messages.DepositConfirmed | messages.PayoutInitiated):
        return [RealMoney(kind)]
    fields = [name for name in ("real_money", "deposit_status") if getattr(message, name, None)]
    return [RealMoney(f"{kind} has {fields[0]}")] if fields else []


def _ignored(kind: str, reason: str) -> LogNote:
    return LogNote(f"ignored a message of type {kind[:40]!a}: {escaped(reason, 200)}")
