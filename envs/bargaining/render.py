"""The negotiation as text."""

from typing import Any

from .table import KINDS, OFFER


def render(table: Any, seat: int | None) -> str:
    """Return a few lines of text. `seat`: whose reservation value is shown (a public one always is); None: both."""
    rounds, moves = int(table.rounds), int(table.moves)
    lines = [f"pie {float(table.total):g} · round {min(moves // 2 + 1, rounds)} of {rounds}"]
    for other in range(2):
        shown = seat is None or other == seat or table.public
        reservation = f"{float(table.my_reservation_value[other]):.2f}" if shown else "?"
        turn = ">" if table.turn == other else " "
        lines.append(f"{turn} player_{other}  reservation {reservation:>7}")
    for move in range(moves):
        kind = int(table.log_kind[move])
        share = f" {float(table.log_share[move]):g}" if kind == OFFER else ""
        lines.append(f"  {move // 2 + 1:>2} player_{move % 2} {KINDS[kind]}{share}")
    if table.done:
        end = "agreement" if table.agreed else "no agreement"
        lines.append(f"over: {end}; " + ", ".join(f"player_{i} {float(table.rewards[i]):+.2f}" for i in range(2)))
    return "\n".join(lines)
