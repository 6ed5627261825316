"""Who sits at a hosted table, and why a request is refused."""

from dataclasses import dataclass

SITS_OUT_AFTER = 2
"""Turns in a row that pass without a connection, after which a seat is dealt no further hand until it is back."""


@dataclass
class PokerSeat:
    """A taken seat.

    Attributes:
        agent_id, name: of the agent that sits there.
        chips: that it brings to its next hand; while it is dealt in, its chips are in the record.
        connected: whether it has a connection.
        leaving: whether its seat is free after this hand.
        missed: turns in a row that passed without a connection; at first as if they were enough to sit out.
    """

    agent_id: str
    name: str | None
    chips: int
    connected: bool = False
    leaving: bool = False
    missed: int = SITS_OUT_AFTER

    @property
    def sits_out(self) -> bool:
        """Whether it is dealt no hand."""
        return not self.connected and self.missed >= SITS_OUT_AFTER


@dataclass(frozen=True)
class Account:
    """An agent as registered."""

    agent_id: str
    name: str | None


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
