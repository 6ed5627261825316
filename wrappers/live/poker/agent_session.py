"""The agent's end of the poker platform's protocol without I/O: no socket and no clock.

`PokerAgentSession` is given what the server sent and returns the events that follow: a `Decision` to make, a message to
send, news of the table. Whose turn it is, what is allowed and where the button lies it takes from the wire. The rest of
TurnState is worked out by `TableTracker`. Nothing that a server sends makes it raise.
"""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, TypeAlias, cast

from ....envs.core.turn_state import TurnState
from ....envs.holdem.actions import allowed
from ....envs.holdem.view import STREETS
from ...logs.log_text import escaped
from ..common.responses import read_response
from ..common.sessions import ActionRejected, Decision, LogNote, SendMessage
from . import messages
from .messages import Choice, GameState, Unknown, UnreadTurn
from .offers import Offer, read_offers, safe_kind, violation
from .table_tracker import TableTracker

REJECTIONS = (
    messages.INVALID_ACTION,
    messages.STALE_SEQ,
    messages.VALIDATION_ERROR,
    messages.RATE_LIMIT_EXCEEDED,
    messages.INTERNAL_ERROR,
)
"""The errors after which a sent action has not been played, and it may still be our turn."""


@dataclass(frozen=True)
class SeatTaken:
    """We have a seat; `timeout` is the time for each turn in milliseconds, None where the server does not say."""

    seat: int
    timeout: int | None


@dataclass(frozen=True)
class UnreadableTurn:
    """It is our turn in a state that cannot be read (for this `problem`): send `message`, the safe action, now."""

    message: messages.Action
    problem: str


@dataclass(frozen=True)
class HandEnded:
    """A hand has ended: what we took from the pots, and our stack (None: not known)."""

    hand: int
    won: int
    stack: int | None
    message: messages.HandComplete


@dataclass(frozen=True)
class TableEnded:
    """The table has ended; our final stack where the server says it."""

    reason: str
    stack: int | None


@dataclass(frozen=True)
class ServerRefusal:
    """The server does not let us play any longer; reconnecting is of no use."""

    code: str
    message: str


PokerEvent: TypeAlias = (
    Decision
    | SendMessage[messages.Action]
    | UnreadableTurn
    | HandEnded
    | TableEnded
    | SeatTaken
    | ServerRefusal
    | ActionRejected
    | LogNote
)


class PokerAgentSession:
    """One seat at one table.

    Args:
        match_id: TurnState's; the wire has none.
        hands: hands of an episode in training; 1: every hand is an episode.
        small_blind, big_blind, ante: if known beforehand; those of the wire replace them.

    Attributes:
        seat: ours; None until the server says it.
        seq: the newest sequence number.
        hands_played, actions, rejected: how many hands ended, and how many actions were accepted and rejected.
        net: chips won (or lost, below 0) since the first hand; 0 where the stacks are not known.
    """

    def __init__(
        self, *, match_id: str = "", hands: int = 1, small_blind: int = 1, big_blind: int = 2, ante: int = 0
    ) -> None:
        self.match_id = match_id
        self.seat: int | None = None
        self.seq = 0
        self.hands_played = 0
        self.actions = 0
        self.rejected = 0
        self._hands = hands
        self._tracker = TableTracker(small_blind, big_blind, ante)
        self._first_stack: int | None = None
        self._last_stack: int | None = None
        self._state: GameState | None = None
        self._turn: str | None = None  # the name of our turn
        self._unread_turn: str | None = None  # the name of a turn that was answered without being read
        self._answer: messages.Action | None = None
        self._acked = False
        self._rejections = 0
        self._resend = False
        self._new_connection = True
        self._completed = -1  # the hand that ended last, until the next begins

    @property
    def turn(self) -> str | None:
        """The name of our turn; None when it is not our turn."""
        return self._turn

    @property
    def hand(self) -> int | None:
        """The number of the hand; None before the first state."""
        return None if self._state is None else self._state.hand

    @property
    def net(self) -> int:
        """Chips won since the first hand."""
        if self._first_stack is None or self._last_stack is None:
            return 0
        return self._last_stack - self._first_stack

    # What comes in.

    def receive(self, data: Any) -> list[PokerEvent]:
        """Take in a message (text, bytes, or parsed JSON) and return what follows. Never raises."""
        message = messages.decode_server(data)
        match message:
            case GameState():
                return self._receive_state(message)
            case UnreadTurn():
                return self._receive_unread(message)
            case messages.Welcome():
                self.seat = message.seat
                return [SeatTaken(message.seat, message.timeout)]
            case messages.Ack():
                return self._receive_ack(message)
            case messages.Error():
                return self._receive_error(message)
            case messages.HandComplete():
                return self._receive_end_of_hand(message)
            case messages.TableStatus():
                return self._receive_status(message)
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
        known = self._state is not None and not self._new_connection and state.hand == self._state.hand
        if known and state.seq < self.seq:
            return [LogNote(f"ignored an old state: seq {state.seq} after {self.seq}")]
        self._state, self.seq, self._new_connection = state, state.seq, False
        if state.phase in STREETS:
            self._completed = -1
        self._tracker.update(state)
        self._find_seat(state)
        self._remember_stack()
        turn = self._our_turn(state)
        if turn is None:
            self._turn = self._unread_turn = None
            return []
        if turn not in (self._turn, self._unread_turn):
            self._turn, self._unread_turn, self._answer = turn, None, None
            self._acked, self._rejections, self._resend = False, 0, False
            return [self._decision()]
        return self._answer_again(self.seq)

    def _receive_unread(self, turn: UnreadTurn) -> list[PokerEvent]:
        """Play the safe action where nothing can be read but that it is our turn; the clock would take longer."""
        known = self._state is not None and not self._new_connection and turn.hand == self._state.hand
        old = known and turn.seq is not None and turn.seq < self.seq
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
        self._answer.expected_seq = seq
        return [SendMessage(self._answer)]

    def _our_turn(self, state: GameState) -> str | None:
        """Return the name of the turn if it is ours. (The platform may leave `turn` out.)"""
        ours = bool(state.actions) and self.seat is not None and state.phase in STREETS
        if not ours or (isinstance(state.turn, int) and state.turn != self.seat):
            return None
        return state.turn_token or f"hand {state.hand}, seq {state.seq}"

    def _find_seat(self, state: GameState) -> None:
        """Without a welcome, our seat is the one whose cards we see."""
        if self.seat is None:
            visible = [player.seat for player in state.players if player.cards]
            self.seat = visible[0] if len(visible) == 1 else None

    def _remember_stack(self) -> None:
        chips = self._tracker.stack_at_start(self.seat)
        if chips is not None:
            self._first_stack = chips if self._first_stack is None else self._first_stack
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
        self._completed = message.hand
        self._turn, self._answer = None, None
        self._tracker.complete(message)
        self.hands_played += 1
        won = sum(result.won for result in message.results if result.seat == self.seat)
        stack = self._tracker.stacks_between_hands.get(self.seat) if self.seat is not None else None
        if stack is not None:
            self._last_stack = stack
        return [HandEnded(message.hand, won, stack, message)]

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
        if ours:
            game_state["turn"] = self.seat
        bounds = next((offer for offer in offers if offer["kind"] == "raiseTo"), {"min": 0, "max": 0})
        acting = SimpleNamespace(to_call=to_call, raise_min=bounds["min"], raise_max=bounds["max"])
        turn = game_state["turn"]
        return TurnState(
            match_id=self.match_id,
            game_id="holdem-v0",
            agent_id=f"player_{self.seat}",
            phase=state.phase,
            is_my_turn=ours,
            current_turn_agent_id=None if turn is None else f"player_{turn}",
            game_state={**game_state, "hands": self._hands},
            allowed_actions=allowed(acting) if ours else [],
        )

    def _decision(self, again: bool = False) -> Decision:
        return Decision(cast(TurnState, self.turn_state()), cast(str, self._turn), again)

    # What goes out.

    def act(self, response: Any, turn: str | None = None) -> list[messages.Action]:
        """Return the messages that play an answer, or the safe action where `refusal` refuses it.

        Args:
            response: `AgentResponse` or `Action`, or either as a dict.
            turn: the `Decision.turn` that it answers; None: the current one. An answer to another turn, or a second
                one, sends nothing.
        """
        if self._turn is None or self._answer is not None or turn not in (None, self._turn):
            return []
        offers = self._offers()
        try:
            action = read_response(response).action
        except ValueError:
            action = None
        if action is None or action.action_type == "pass" or violation(action, offers) is not None:
            self._answer = self._safe()
        else:
            self._answer = self._message(action.action_type, action.payload.get("amount"))
        return [self._answer]

    def safe_action(self, turn: str | None = None) -> list[messages.Action]:
        """Return the message that checks if that is offered, else folds; nothing where `act` would send nothing."""
        return self.act({"action_type": "pass"}, turn)

    def give_up(self) -> list[PokerEvent]:
        """Play the safe action, if it is our turn."""
        return [SendMessage(message) for message in self.safe_action()]

    def refusal(self, response: Any) -> str | None:
        """Return why this answer cannot be played now, or None if it can."""
        try:
            action = read_response(response).action
        except ValueError as error:
            return str(error)
        return None if action.action_type == "pass" else violation(action, self._offers())

    def _offers(self) -> list[Offer]:
        return read_offers(self._state, self.seat)[0] if self._state is not None and self._turn is not None else []

    def _safe(self) -> messages.Action:
        return self._message(safe_kind([offer["kind"] for offer in self._offers()]), None)

    def _message(self, kind: str, amount: int | None) -> messages.Action:
        token = self._state.turn_token if self._state is not None else None
        choice = Choice(turn_token=token or "", kind=cast(Any, kind), amount=amount)
        return messages.Action(action=choice, expected_seq=self.seq)


def _ignored(kind: str, reason: str) -> LogNote:
    return LogNote(f"ignored a message of type {kind[:40]!a}: {escaped(reason, 200)}")
