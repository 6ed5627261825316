"""Who sits at a hosted table, why a request is refused, and what survives a restart."""

from dataclasses import dataclass

import msgspec

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


class SavedSeat(msgspec.Struct):
    """A taken seat; `chips` with what it has put into a hand under way."""

    agent_id: str
    name: str | None
    chips: int


class TableSnapshot(msgspec.Struct):
    """A table between two hands. A hand under way is void in it: every seat has its stake back.

    Attributes:
        options: those of the rules, by which it is known whether the table can go on with the host's.
        created: when the table was opened, in ISO 8601.
        hand, seq, dealer: of the latest hand.
        stream: the state of the cards' random stream, of a table with a seed.
        seats: by seat number.
        left: chips of agents who left, by agent.
    """

    options: dict[str, int | None]
    created: str
    hand: int
    seq: int
    dealer: int
    stream: int
    seats: dict[int, SavedSeat]
    left: dict[str, int]
