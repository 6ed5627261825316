"""The agent's end of poker.md without I/O: no socket and no clock.

`PokerAgentSession` is given what the server sent and returns what follows from it: a `PokerDecision` to make, a message to
`Send`, news. Whose turn it is, what is allowed and where the button lies it takes from the wire; the rest of TurnState
it adds up (see `reading`). Nothing that a server sends makes it raise.
"""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, TypeAlias, cast

import msgspec

from ....envs.core import turn_state as ts
from ....envs.core.turn_state import AgentResponse, TurnState
from ....envs.holdem.actions import allowed
from ....envs.holdem.view import STREETS
from . import messages
from .messages import Choice, GameState, Unknown, UnreadTurn, printable
from .reading import Reading

REJECTIONS = (
    messages.INVALID_ACTION,
    messages.STALE_SEQ,
    messages.VALIDATION_ERROR,
    messages.RATE_LIMIT_EXCEEDED,
    messages.INTERNAL_ERROR,
)
"""The errors after which a sent action has not been played, and it may still be our turn."""


@dataclass(frozen=True)
class Seated:
    """We have a seat; `timeout` is the time for each turn in milliseconds, where it was told."""

    seat: int
    timeout: int | None


@dataclass(frozen=True)
class PokerDecision:
    """It is our turn: give `PokerAgentSession.act` an answer. `turn` names this turn, `again` if an answer was rejected."""

    turn_state: TurnState
    turn: str
    again: bool = False


@dataclass(frozen=True)
class Send:
    """A message to send now."""

    message: messages.Action


@dataclass(frozen=True)
class Blind:
    """It is our turn in a state that cannot be read (for this `problem`): send `message`, the safe action, now."""

    message: messages.Action
    problem: str


@dataclass(frozen=True)
class HandOver:
    """A hand has ended: what we took from the pots, and our stack (None: not known)."""

    hand: int
    won: int
    stack: int | None
    message: messages.HandComplete


@dataclass(frozen=True)
class Ended:
    """The table has ended; our final stack where it was told."""

    reason: str
    stack: int | None


@dataclass(frozen=True)
class Fatal:
    """The server wants us no more; reconnecting is of no use."""

    code: str
    message: str


@dataclass(frozen=True)
class Note:
    """Something for the log."""

    text: str


Event: TypeAlias = Seated | PokerDecision | Send | Blind | HandOver | Ended | Fatal | Note


class PokerAgentSession:
    """One seat at one table.

    Args:
        match_id: TurnState's; the wire tells none.
        hands: hands of an episode in training; 1: every hand stands for itself.
        small_blind, big_blind, ante: if known beforehand; the wire's own replace them.

    Attributes:
        seat: ours; None until it was told.
        seq: the newest.
        hands_played, actions, rejected: how many hands ended, actions were accepted, and rejected.
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
        self._reading = Reading(small_blind, big_blind, ante)
        self._first_stack: int | None = None
        self._last_stack: int | None = None
        self._state: GameState | None = None
        self._turn = ""  # names the turn that is ours; "" if none is
        self._blind = ""  # names the turn that was answered unread
        self._answer: messages.Action | None = None
        self._acked = False
        self._rejections = 0
        self._resend = False
        self._new_connection = True
        self._completed = -1  # the hand that ended last, until the next begins

    @property
    def turn(self) -> str:
        """The name of our turn, "" when it is not our turn."""
        return self._turn

    @property
    def net(self) -> int:
        """Chips won since the first hand."""
        if self._first_stack is None or self._last_stack is None:
            return 0
        return self._last_stack - self._first_stack

    # What comes in.

    def receive(self, data: Any) -> list[Event]:
        """Take in a message (text, bytes, or parsed JSON) and return what follows. Never raises."""
        message = messages.decode_server(data)
        match message:
            case GameState():
                return self._receive_state(message)
            case UnreadTurn():
                return self._receive_unread(message)
            case messages.Welcome():
                self.seat = message.seat
                return [Seated(message.seat, message.timeout)]
            case messages.Ack():
                return self._receive_ack(message)
            case messages.Error():
                return self._receive_error(message)
            case messages.HandComplete():
                return self._receive_end_of_hand(message)
            case messages.TableStatus():
                return self._receive_status(message)
            case messages.PlayerJoined():
                self._reading.joined(message.seat_id, message.stack)
            case messages.PlayerLeft():
                self._reading.left(message.seat_id)
            case Unknown():
                return [_ignored(message.type, message.reason)]
        return []

    def reconnected(self) -> None:
        """Say that the connection is new: an answer without an ack goes out again if it is still our turn."""
        self._resend = self._new_connection = True

    def _receive_state(self, state: GameState) -> list[Event]:
        known = self._state is not None and not self._new_connection and state.hand == self._state.hand
        if known and state.seq < self.seq:
            return [Note(f"ignored an old state: seq {state.seq} after {self.seq}")]
        self._state, self.seq, self._new_connection = state, state.seq, False
        if state.phase in STREETS:
            self._completed = -1
        self._reading.see(state)
        self._find_seat(state)
        self._remember_stack()
        turn = self._whose(state)
        if not turn:
            self._turn = self._blind = ""
            return []
        if turn not in (self._turn, self._blind):
            self._turn, self._blind, self._answer = turn, "", None
            self._acked, self._rejections, self._resend = False, 0, False
            return [self._decision()]
        return self._answer_again(self.seq)

    def _receive_unread(self, turn: UnreadTurn) -> list[Event]:
        """Play safe where no more can be read than that it is our turn; the server's clock would take longer."""
        known = self._state is not None and not self._new_connection and turn.hand == self._state.hand
        old = known and turn.seq is not None and turn.seq < self.seq
        elsewhere = None not in (turn.turn, self.seat) and turn.turn != self.seat
        if old or elsewhere or not turn.turn_token or not turn.actions:
            return [_ignored("game_state", turn.reason)]
        if turn.turn_token in (self._turn, self._blind):
            return self._answer_again(turn.seq)
        self.seq = self.seq if turn.seq is None else turn.seq
        self._turn, self._blind, self._acked, self._resend = "", turn.turn_token, False, False
        self._rejections = 2  # nothing is left to try after the safe action
        kind = "check" if any(option.kind == "check" for option in turn.actions) else "fold"
        choice = Choice(turn_token=turn.turn_token, kind=cast(Any, kind))
        self._answer = messages.Action(action=choice, expected_seq=turn.seq)
        return [Blind(self._answer, printable(turn.reason, 200))]

    def _answer_again(self, seq: int | None) -> list[Event]:
        """Send an answer again of which a lost connection may have carried off the ack."""
        if not self._resend or self._answer is None or self._acked:
            return []
        self._resend = False
        self._answer.expected_seq = seq
        return [Send(self._answer)]

    def _whose(self, state: GameState) -> str:
        """Name the turn if it is ours. (The platform may leave `turn` out.)"""
        mine = bool(state.actions) and self.seat is not None and state.phase in STREETS
        if not mine or (isinstance(state.turn, int) and state.turn != self.seat):
            return ""
        return state.turn_token or f"hand {state.hand}, seq {state.seq}"

    def _find_seat(self, state: GameState) -> None:
        """Without a welcome, ours is the seat whose cards we see."""
        if self.seat is None:
            shown = [player.seat for player in state.players if player.cards]
            self.seat = shown[0] if len(shown) == 1 else None

    def _remember_stack(self) -> None:
        chips = self._reading.started_with(self.seat)
        if chips is not None:
            self._first_stack = chips if self._first_stack is None else self._first_stack
            self._last_stack = chips

    def _receive_ack(self, ack: messages.Ack) -> list[Event]:
        if self._answer is None or self._acked or ack.turn_token != self._answer.action.turn_token:
            return [Note("an ack for no action of this turn")]
        self._acked = True
        self.actions += 1
        return []

    def _receive_error(self, error: messages.Error) -> list[Event]:
        text = f"the server says {printable(error.code, 40)}: {printable(error.message, 200)}"
        if error.code in messages.FATAL_CODES:
            return [Fatal(error.code, printable(error.message, 200))]
        if self._answer is None or self._acked or error.code not in REJECTIONS:
            return [Note(text)]
        kind = self._answer.action.kind
        self.rejected += 1
        self._rejections += 1
        if self._rejections == 1:
            self._answer = None
            return [Note(f"{kind} was rejected, deciding again; {text}"), self._decision(again=True)]
        if self._rejections == 2:
            self._answer = self._safe()
            return [Note(f"{kind} was rejected too, playing safe; {text}"), Send(self._answer)]
        self._answer = None
        return [Note(f"even {kind} was rejected, leaving this turn to the server; {text}")]

    def _receive_end_of_hand(self, message: messages.HandComplete) -> list[Event]:
        if message.hand == self._completed:
            return [Note(f"ignored a second end of hand {message.hand}")]
        self._completed = message.hand
        self._turn, self._answer = "", None
        self._reading.complete(message)
        self.hands_played += 1
        won = sum(result.won for result in message.results if result.seat == self.seat)
        stack = self._reading.before.get(self.seat) if self.seat is not None else None
        if stack is not None:
            self._last_stack = stack
        return [HandOver(message.hand, won, stack, message)]

    def _receive_status(self, status: messages.TableStatus) -> list[Event]:
        if status.status != "ended":
            if self.seat is None:
                self.seat = status.seat_id
            return []
        self._turn, self._answer = "", None
        final = {row.seat_id: row.stack for row in status.final_stacks or ()}
        stack = final.get(self.seat) if self.seat is not None else None
        if stack is not None:
            self._last_stack = stack
        return [Ended(printable(status.reason or "ended", 200), stack)]

    # What we see.

    def turn_state(self) -> TurnState | None:
        """Return the table as hold'em's TurnState, in our turn and out of it; None before the first state."""
        state = self._state
        if state is None:
            return None
        mine = bool(self._turn)
        actions, to_call = _tidy(state, self.seat) if mine else ([], 0)
        game_state = self._reading.game_state(state, self.seat, actions, to_call)
        if mine:
            game_state["turn"] = self.seat
        bounds = next((action for action in actions if action["kind"] == "raiseTo"), {"min": 0, "max": 0})
        acting = SimpleNamespace(to_call=to_call, raise_min=bounds["min"], raise_max=bounds["max"])
        turn = game_state["turn"]
        return TurnState(
            match_id=self.match_id,
            game_id="holdem-v0",
            agent_id=f"player_{self.seat}",
            phase=state.phase,
            is_my_turn=mine,
            current_turn_agent_id=None if turn is None else f"player_{turn}",
            game_state={**game_state, "hands": self._hands},
            allowed_actions=allowed(acting) if mine else [],
        )

    def _decision(self, again: bool = False) -> PokerDecision:
        return PokerDecision(cast(TurnState, self.turn_state()), self._turn, again)

    # What goes out.

    def act(self, response: Any, turn: str | None = None) -> list[messages.Action]:
        """Return the messages that play an answer, or the safe action where `refusal` refuses it.

        Args:
            response: `AgentResponse` or `Action`, or either as a dict.
            turn: the `PokerDecision.turn` it answers. An answer to another turn, or a second one, sends nothing.
        """
        if not self._turn or self._answer is not None or turn not in (None, self._turn):
            return []
        action = _read(response)
        if isinstance(action, str) or self.refusal(response) is not None or action.action_type == "pass":
            self._answer = self._safe()
        else:
            self._answer = self._message(action.action_type, action.payload.get("amount"))
        return [self._answer]

    def safe_action(self, turn: str | None = None) -> list[messages.Action]:
        """Return the message that checks if that is offered, else folds; nothing where `act` would send nothing."""
        return self.act({"action_type": "pass"}, turn)

    def refusal(self, response: Any) -> str | None:
        """Return why this answer cannot be played now, or None if it can."""
        action = _read(response)
        if isinstance(action, str):
            return action
        if action.action_type == "pass":
            return None
        offers = {offer["kind"]: offer for offer in self._offers()}
        offer = offers.get(action.action_type)
        if offer is None:
            return f"{action.action_type[:40]!r} is not offered now; {', '.join(offers) or 'nothing'} is"
        amount = action.payload.get("amount")
        if action.action_type != "raiseTo":
            return f"{action.action_type} takes no payload, got {_short(action.payload)}" if action.payload else None
        whole = isinstance(amount, int) and not isinstance(amount, bool)
        if not whole or not offer["min"] <= amount <= offer["max"]:
            return f"raiseTo needs whole chips from {offer['min']} to {offer['max']}, got {_short(amount)}"
        return None

    def _offers(self) -> list[dict[str, Any]]:
        return _tidy(self._state, self.seat)[0] if self._state is not None and self._turn else []

    def _safe(self) -> messages.Action:
        kinds = [offer["kind"] for offer in self._offers()]
        return self._message("check" if "check" in kinds else "fold", None)

    def _message(self, kind: str, amount: int | None) -> messages.Action:
        token = self._state.turn_token if self._state is not None else None
        choice = Choice(turn_token=token or "", kind=cast(Any, kind), amount=amount)
        return messages.Action(action=choice, expected_seq=self.seq)


def _ignored(kind: str, reason: str) -> Note:
    return Note(f"ignored a message of type {kind[:40]!a}: {printable(reason, 200)}")


def _tidy(state: GameState, seat: int | None) -> tuple[list[dict[str, Any]], int]:
    """Return the wire's actions in the document's form, without unknown ones, and the price of a call."""
    options = {option.kind: option for option in state.actions or ()}
    tidy: list[dict[str, Any]] = [{"kind": kind} for kind in ("fold", "check", "call") if kind in options]
    bounds = options.get("raiseTo")
    if bounds is not None and bounds.max:
        tidy.append({"kind": "raiseTo", "min": min(bounds.min or bounds.max, bounds.max), "max": bounds.max})
    if "call" not in options:
        return tidy, 0
    if state.to_call:
        return tidy, state.to_call
    bets = {player.seat: player.bet for player in state.players}
    owed = max(bets.values(), default=0) - bets.get(seat if seat is not None else -1, 0)
    return tidy, options["call"].max or max(owed, 1)


def _short(value: Any) -> str:
    try:
        return str(value)[:80]
    except ValueError:  # Python writes no whole number of more than 4,300 digits
        return "a number without end"


def _read(response: Any) -> ts.Action | str:
    """Return the action of an answer, or why there is none."""
    try:
        if isinstance(response, ts.Action) or (isinstance(response, dict) and "action_type" in response):
            return msgspec.convert(response, ts.Action, from_attributes=True)
        return msgspec.convert(response, AgentResponse, from_attributes=True).action
    except (msgspec.ValidationError, RecursionError) as error:
        return f"this is no AgentResponse: {error}"
