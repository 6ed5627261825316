"""What the agent's session tells its shell: news of the table, and what to send at once."""

from dataclasses import dataclass
from typing import TypeAlias

from ..common.agent_runner import ActionRejected, LogNote, SendMessage
from ..common.agent_turn import Turn
from . import messages


@dataclass(frozen=True)
class SeatTaken:
    """We have a seat; `timeout` is the time for each turn in milliseconds, and `agent_id` names us. None: not said."""

    seat: int
    timeout: int | None
    agent_id: str | None = None


@dataclass(frozen=True)
class UnreadableTurn:
    """It is our turn in a state that cannot be read (for this `problem`): send `message`, the safe action, now."""

    message: messages.Action
    problem: str


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


@dataclass(frozen=True)
class Busted:
    """We have no chips left: we are not dealt in any longer at this table."""

    hand: int


@dataclass(frozen=True)
class TableEnded:
    """The table has ended; our final stack where the server says it."""

    reason: str
    stack: int | None


@dataclass(frozen=True)
class RealMoney:
    """The table plays for real money; `sign` is what says so."""

    sign: str


@dataclass(frozen=True)
class ServerRefusal:
    """The server does not let us play any longer; reconnecting is of no use."""

    code: str
    message: str


PokerEvent: TypeAlias = (
    Turn
    | SendMessage[messages.Action]
    | UnreadableTurn
    | HandEnded
    | Busted
    | TableEnded
    | SeatTaken
    | RealMoney
    | ServerRefusal
    | ActionRejected
    | LogNote
)
