"""The words between a protocol's session and its shell.

A session is one end of a protocol without I/O: it is given what came in and returns what follows. An agent's session
returns events; those below are shared by all protocols, and a protocol may have others of its own. A host's session
returns messages with their receivers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from ....envs.core.turn_state import TurnState

Message = TypeVar("Message")
Sent = TypeVar("Sent", covariant=True)

Turn: TypeAlias = str | int
"""The name of a turn. It differs from turn to turn."""


# Events of an agent's session.


@dataclass(frozen=True)
class Decision:
    """The agent has to answer: give its answer to `AgentSession.act`.

    Attributes:
        turn_state: what the agent sees.
        turn: the name of the turn that the answer is for.
        again: an earlier answer in this turn was rejected; the time for the turn goes on.
    """

    turn_state: TurnState
    turn: Turn
    again: bool = False


@dataclass(frozen=True)
class SendMessage(Generic[Message]):
    """A message to send now."""

    message: Message


@dataclass(frozen=True)
class ActionRejected:
    """The platform rejected what the agent played; `text` says what and why."""

    text: str


@dataclass(frozen=True)
class LogNote:
    """Something for the log; `problem` if something was wrong."""

    text: str
    problem: bool = False


class AgentSession(Protocol[Sent]):
    """An agent's end of a protocol, at one table or in one game."""

    @property
    def turn(self) -> Turn | None:
        """The name of the turn that waits for the agent's answer; None where none does."""
        ...

    def receive(self, data: Any) -> Sequence[Any]:
        """Take in a message (text, bytes or parsed JSON), and return the events that follow. Never raises."""
        ...

    def refusal(self, response: Any) -> str | None:
        """Return why this answer cannot be played now, or None if it can."""
        ...

    def act(self, response: Any, turn: Any) -> Sequence[Sent]:
        """Return the messages that play an answer; none if the turn is over or was answered before."""
        ...

    def safe_action(self, turn: Any) -> Sequence[Sent]:
        """Return the messages that play the safe action; none where `act` would return none."""
        ...

    def give_up(self) -> Sequence[Any]:
        """Return the events that end the agent's turn safely, after a mistake of ours."""
        ...


# Messages of a host's session.


class Outgoing(NamedTuple, Generic[Message]):
    """A message and its receiver: a seat, or the number of a client."""

    receiver: int
    message: Message
