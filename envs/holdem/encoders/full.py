"""Full information: the slices of version 0, the other seats' cards, and the board cards that are not dealt yet."""

from typing import Any

from ...core.compiled import compiled
from ...core.encoder import Encoder
from ...core.layout import Slice, relative, shares
from . import v0
from .v0 import CARDS, DECK


def encoder(table: Any) -> Encoder:
    """Return the encoder for the options of `table`."""
    return v0.encoder(table).extended(slices(table), observe, full_information=True)


def slices(table: Any) -> list[Slice]:
    """Return the hidden slices for the options of `table`."""
    return [
        shares(
            "hidden.players.cards",
            (int(table.seats), DECK),
            "by relative seat: its two cards",
            axes=("relative seat", CARDS),
        ),
        shares(
            "hidden.board", (DECK,), "by card: 1 on the flop, 3/4 the turn, 1/2 the river, open or not", axes=(CARDS,)
        ),
    ]


@compiled
def observe(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write the hidden slices."""
    for other in range(table.seats):
        if table.cards[other, 0] >= 0:
            start = at.hidden_players_cards + DECK * relative(other, seat, table.seats)
            out[start + table.cards[other, 0]] = 1
            out[start + table.cards[other, 1]] = 1
    for i in range(5):
        if table.board[i] >= 0:
            out[at.hidden_board + table.board[i]] = v0.street_mark(i)
