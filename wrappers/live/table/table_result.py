"""What a table in the browser tells a lobby, who sits there and the results of its matches, and what it asks it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from ..common.tokens import Admit


@dataclass(frozen=True)
class SeatTaken:
    """A player in a seat.

    Attributes:
        name: the player's name.
        program: whether the player is a program.
        here: whether the player is connected; programs always are.
    """

    name: str
    program: bool
    here: bool


@dataclass(frozen=True)
class PlayerResult:
    """What a match brought to a player.

    Attributes:
        name: the player's name.
        program: whether the player is a program.
        payoff: the payoff, in the game's unit; chips won in hold'em.
    """

    name: str
    program: bool
    payoff: float


@dataclass(frozen=True)
class TableResult:
    """A finished match; in hold'em a hand, or in a lobby all hands of a table.

    Attributes:
        players: the players, seat by seat.
        reason: why the match ended.
        log: its log as everybody may see it now (see `ended_matches`); empty: none.
        episodes: 1; in hold'em the number of hands.
    """

    players: tuple[PlayerResult, ...]
    reason: str
    log: bytes = b""
    episodes: int = 1


OnResult: TypeAlias = Callable[[TableResult], None]
"""Called with the result of a match."""


def ignored(result: TableResult) -> None:
    """Tell nobody of a result."""


@dataclass(frozen=True)
class LobbyCallbacks:
    """What a table calls in its lobby.

    Attributes:
        admit: who may take a seat, in place of the table's access token: the lobby gives the tokens.
        on_result: called with the result of each match; in hold'em of each table that has ended, over all its hands.
    """

    admit: Admit
    on_result: OnResult
