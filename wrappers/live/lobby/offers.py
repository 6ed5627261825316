"""What a lobby offers: games, and programs to play with."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from aiohttp import web

from ..common.server import Server
from ..common.tokens import Admit
from ..table.table_result import OnResult, SeatTaken


@dataclass(frozen=True)
class Opponent:
    """A program.

    Attributes:
        name: how people name it.
        trained: whether it is a trained policy; the others are bots.
        seats: the numbers of seats at which it plays.
    """

    name: str
    trained: bool
    seats: tuple[int, ...]


@dataclass(frozen=True)
class Offer:
    """A game.

    Attributes:
        game: the game's name.
        seats: the usual number of seats.
        any_seats: whether a table may have another number.
        opponents: the programs that play it.
    """

    game: str
    seats: int
    any_seats: bool
    opponents: tuple[Opponent, ...]


class LobbyTable(Protocol):
    """A table in the browser, as the lobby uses it: `TableHost` or `PokerTable`."""

    @property
    def status(self) -> str:
        """What the table is doing, in a word."""
        ...

    @property
    def taken(self) -> list[SeatTaken | None]:
        """Who sits there, seat by seat."""
        ...

    @property
    def visitors(self) -> int:
        """The number of open pages."""
        ...

    def application(self, prefix: str, outer: Server) -> web.Application:
        """See `common.server.Server`."""
        ...

    async def start(self) -> None:
        """Start the table."""
        ...

    async def stop(self) -> None:
        """End the table."""
        ...


class MakeTable(Protocol):
    """Makes a table, which has not started. It runs in a thread."""

    def __call__(
        self, game: str, seats: int | None, opponents: Sequence[str], *, admit: Admit, on_result: OnResult
    ) -> LobbyTable:
        """Return a table of a game; `opponents` take the first seats.

        Raises:
            ValueError: for a number of seats that the game does not have, or no seat for a person.
        """
        ...
