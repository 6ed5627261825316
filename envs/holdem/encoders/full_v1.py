"""Full information for critics of version 1: its slices, the hidden cards in the same suits, and what they win."""

from typing import Any

from ...core.compiled import compiled
from ...core.encoder import Encoder
from ...core.layout import per_seat, relative
from ..hands import card_set, set_strength
from . import full, v1
from .v0 import DECK, street_mark


def encoder(table: Any) -> Encoder:
    """Return the encoder for the options of `table`."""
    slices = [
        *map(v1.own_suits, full.slices(table)),
        per_seat(
            "hidden.players.share",
            int(table.seats),
            "share of the pot at a showdown of all that have not folded, with the whole board; 0 if cards are unknown",
        ),
    ]
    return v1.encoder(table).extended(slices, observe, full_information=True)


@compiled
def observe(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write the hidden slices."""
    for other in range(table.seats):
        if table.cards[other, 0] >= 0:
            start = at.hidden_players_cards + DECK * relative(other, seat, table.seats)
            for i in range(2):
                out[start + v1.renamed(table, seat, table.cards[other, i])] = 1
    for i in range(5):
        if table.board[i] >= 0:
            out[at.hidden_board + v1.renamed(table, seat, table.board[i])] = street_mark(i)
    if table.board[4] >= 0:
        _observe_shares(table, seat, at.hidden_players_share, out)


@compiled
def _observe_shares(table: Any, seat: int, start: int, out: Any) -> None:
    best, winners = 0, 0
    for other in range(table.seats):
        if table.seated[other] and not table.folded[other] and table.cards[other, 0] < 0:
            return
        strength = _final_strength(table, other)
        if strength > best:
            best, winners = strength, 0
        winners += strength == best
    for other in range(table.seats):
        if _final_strength(table, other) == best:
            out[start + relative(other, seat, table.seats)] = 1.0 / winners


@compiled
def _final_strength(table: Any, seat: int) -> int:
    """Return the strength of a seat's hand with the whole board; −1 if it is not in the hand."""
    if not table.seated[seat] or table.folded[seat]:
        return -1
    return set_strength(card_set(table.board, 5) | card_set(table.cards[seat], 2))
