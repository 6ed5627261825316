"""The data of a hosted table: its rules, its seats, accounts, why a request is refused, and what survives a restart."""

from dataclasses import dataclass

import msgspec

SITS_OUT_AFTER = 2
"""Turns in a row that pass without a connection, after which a seat is dealt no further hand until it is back."""


@dataclass(frozen=True, kw_only=True)
class PokerRules:
    """The rules of a hosted table.

    Attributes:
        seats: 2 to 10.
        small_blind, big_blind: chips.
        stack: chips of a new player.
        min_players: connected players with which the first hand begins.
        raise_cap: bets and raises allowed on a street, blinds not counted; None: no cap.
        max_hands: hands after which the table ends as ``admin_stopped``; None: no limit.
        rebuy: whether a player without chips gets a new stack before the next hand.
    """

    seats: int = 9
    small_blind: int = 1
    big_blind: int = 2
    stack: int = 100
    min_players: int = 2
    raise_cap: int | None = 4
    max_hands: int | None = None
    rebuy: bool = False

    def __post_init__(self) -> None:
        """Check the values that the rules of the game do not check.

        Raises:
            ValueError: naming the option, its value and its range.
        """
        if not 2 <= self.min_players <= self.seats:
            raise ValueError(f"min_players={self.min_players}: with {self.seats} seats it is 2 to {self.seats}")
        if self.max_hands is not None and self.max_hands < 1:
            raise ValueError(f"max_hands={self.max_hands}: need at least 1, or None for no limit")


@dataclass
class PokerSeat:
    """A taken seat.

    Attributes:
        agent_id, name: of the agent that sits there.
        chips: that it brings to its next hand; while it is dealt in, its chips are in the record.
        connected: whether it has a connection.
        leaving: whether its seat is free after this hand.
        out: whether its player wants no further hand for now.
        waits: whether it was out while hands were dealt, and is back with its big blind.
        missed: turns in a row without an answer; before its first connection as if they were enough to sit out.
    """

    agent_id: str
    name: str | None
    chips: int
    connected: bool = False
    leaving: bool = False
    out: bool = False
    waits: bool = False
    missed: int = SITS_OUT_AFTER

    @property
    def sits_out(self) -> bool:
        """Whether it is dealt no hand."""
        return self.out or self.missed >= SITS_OUT_AFTER


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
