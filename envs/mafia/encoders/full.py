"""Full information: the slices of version 0, all roles, and the choices that are still secret."""

from typing import Any

from ...core.compiled import compiled
from ...core.encoder import Encoder
from ...core.layout import per_seat, relative, shares
from ..table import NIGHT, ROLES, VOTING
from . import v0


def encoder(table: Any) -> Encoder:
    """Return the encoder for the options of `table`."""
    seats = int(table.seats)
    slices = [
        per_seat("hidden.current_turn_agent_id", seats, "one-hot, at night too; all 0 at the end"),
        shares(
            "hidden.players.role",
            (seats, 4),
            "of every player, one-hot: " + ", ".join(ROLES[1:]),
            axes=("relative seat", ROLES[1:]),
        ),
        shares(
            "hidden.nightActions", (seats, seats), "[player, target] chosen so far tonight", axes=("player", "target")
        ),
        shares(
            "hidden.votes", (seats, seats), "[voter, target] of the vote that is under way", axes=("voter", "target")
        ),
    ]
    return v0.encoder(table).extended(slices, observe, full_information=True)


@compiled
def observe(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write the hidden slices."""
    seats = table.seats
    if table.turn >= 0:
        out[at.hidden_current_turn_agent_id + relative(table.turn, seat, seats)] = 1
    row = (table.round_number - 1) * seats
    for other in range(seats):
        place = relative(other, seat, seats)
        if table.role[other] > 0:
            out[at.hidden_players_role + 4 * place + table.role[other] - 1] = 1
        if table.phase == NIGHT and table.night[row + other] >= 0:
            out[at.hidden_nightActions + place * seats + relative(table.night[row + other], seat, seats)] = 1
        if table.phase == VOTING and table.votes[row + other] >= 0:
            out[at.hidden_votes + place * seats + relative(table.votes[row + other], seat, seats)] = 1
