"""The interface between a protocol's session and its I/O shell.

A session is one end of a protocol without I/O: it takes received data and returns events or messages. An agent's
session returns events; the events below are common, and a protocol may have further ones. A host's session returns
messages with their receivers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from .agent_turn import TurnId

Message = TypeVar("Message")
Sent = TypeVar("Sent", covariant=True)

# Events of an agent's session: a `Turn`, and these.


@dataclass(frozen=True)
class SendMessage(Generic[Message]):
    """A message to send."""

    message: Message


@dataclass(frozen=True)
class ActionRejected:
    """The platform rejected the agent's action; `text` is the reason."""

    text: str


@dataclass(frozen=True)
class LogNote:
    """A note for the log; `problem` is true for an error."""

    text: str
    problem: bool = False


class AgentSession(Protocol[Sent]):
    """An agent's end of a protocol, at one table or in one game."""

    @property
    def turn(self) -> TurnId | None:
        """The identifier of the turn that waits for the agent's answer; None if there is none."""
        ...

    def receive(self, data: Any) -> Sequence[Any]:
        """Process a message (text, bytes or parsed JSON), and return the events. It never raises."""
        ...

    def act(self, response: Any, turn: Any, problem: str | None = None) -> Sequence[Sent]:
        """Return the messages that play what the turn was settled with; empty if the turn is over or was answered.

        Args:
            response: what is played.
            turn: the identifier of the turn.
            problem: why the response is the safe action; None: it is the agent's answer.
        """
        ...

    def give_up(self) -> Sequence[Any]:
        """Return the events that end the agent's turn with the safe action, after an internal error."""
        ...


# Messages of a host's session.


class Outgoing(NamedTuple, Generic[Message]):
    """A message and its receiver: a seat, or the number of a client."""

    receiver: int
    message: Message
