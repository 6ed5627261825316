"""What a lobby offers, and the bodies of its HTTP calls, as JSON.

``POST /people`` (`NewPerson`) gives a name its token, which the other calls bear. ``GET /lobby`` answers with `Lobby`;
``POST /tables`` (`NewTable`) opens a table and answers with `Opened`;
``DELETE /tables/ID`` closes one for who opened it. A refusal is `Refused`, with its HTTP status.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from msgspec import Meta, Struct

from ..common.limits import ChosenToken
from ..table.host import PlayerResult

STATUS = {
    (UNAUTHORIZED := "UNAUTHORIZED"): 401,
    (NAME_TAKEN := "NAME_TAKEN"): 409,
    (VALIDATION_ERROR := "VALIDATION_ERROR"): 400,
    (LIMIT_REACHED := "LIMIT_REACHED"): 429,
    (TABLE_FAILED := "TABLE_FAILED"): 503,
    (STATE_FAILED := "STATE_FAILED"): 503,
}
"""The HTTP status of a refusal."""


Name = Annotated[str, Meta(max_length=64)]


@dataclass(frozen=True)
class Opponent:
    """A program."""

    name: str
    trained: bool
    seats: tuple[int, ...]


@dataclass(frozen=True)
class Offer:
    """A game."""

    game: str
    seats: int
    any_seats: bool
    opponents: tuple[Opponent, ...]
    title: str = ""
    kind: str = "Games"
    sentence: str = ""
    unit: str = "points"
    minutes: int = 0
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Preset:
    """A table that people open with one click."""

    title: str
    game: str
    seats: int | None = None
    opponents: tuple[str, ...]
    options: Mapping[str, str] = field(default_factory=dict)


# From the page.


class NewPerson(Struct, kw_only=True):
    """Take a name. The call bears the lobby's access token, if it has one."""

    name: str
    token: ChosenToken | None = None


class NewTable(Struct, kw_only=True):
    """Open a table."""

    game: Name
    seats: Annotated[int, Meta(ge=2, le=16)] | None = None
    opponents: Annotated[list[Annotated[str, Meta(max_length=200)]], Meta(max_length=15)] = []
    options: Annotated[dict[Name, Annotated[str, Meta(max_length=200)]], Meta(max_length=32)] = {}
    listed: bool = True


# From the lobby.


class Person(Struct, kw_only=True):
    """A person's name, and the token that proves it."""

    name: str
    token: str


class Opened(Struct, kw_only=True):
    """A new table: the last part of its address ``/tables/ID/``."""

    table_id: str


class SeatTaken(Struct):
    """A seat: its player's name (null: it is free), whether that is a program, and whether it is connected."""

    name: str | None
    program: bool
    here: bool


class ListedTable(Struct, kw_only=True):
    """A table; `yours`: whether the reader opened it; `watchers`: the number of those who look on."""

    table_id: str
    game: str
    options: dict[str, str]
    status: str
    seats: list[SeatTaken]
    listed: bool
    yours: bool
    watchers: int


class ListedResult(Struct, kw_only=True):
    """A finished match; `ended_at`: the time in UTC (ISO 8601).

    If it has a `log`, ``/results/NUMBER/`` has its files (see `..table.host.KINDS`).
    """

    number: int
    log: bool
    game: str
    ended_at: str
    reason: str
    players: list[PlayerResult]


class Lobby(Struct, kw_only=True):
    """What the page shows; `you`: the reader's name, or None without a valid token."""

    you: str | None
    tables: list[ListedTable]
    results: list[ListedResult]


class Refused(Struct, kw_only=True):
    """Why a call was refused."""

    code: str
    message: str
