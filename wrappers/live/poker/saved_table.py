"""What survives a restart of a hosted table: who sits where, with how many chips."""

import msgspec


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
