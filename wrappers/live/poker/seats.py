"""Who sits at a hosted table, and why a request is refused."""

from dataclasses import dataclass


@dataclass
class PokerSeat:
    """A taken seat.

    Attributes:
        agent_id, name: of the agent that sits there.
        chips: that it brings to its first hand; later its chips are in the record.
        connected: whether it has a connection.
        leaving: whether its seat is free after this hand.
    """

    agent_id: str
    name: str | None
    chips: int
    connected: bool = False
    leaving: bool = False


class Refusal(Exception):
    """A request that is refused.

    Args:
        code: one of `messages.ERROR_CODES`.
        message: a sentence.
        details: what a program can use of it.
    """

    def __init__(self, code: str, message: str, **details: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = details
