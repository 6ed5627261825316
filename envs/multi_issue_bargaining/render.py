"""The negotiation as text."""

from typing import Any

from .table import KINDS, OFFER
from .theory import outcome_values


def render(table: Any, seat: int | None) -> str:
    """Return a few lines of text. `seat`: whose preferences are shown (public ones always are); None: all."""
    seats, rounds, moves = int(table.seats), int(table.rounds), int(table.moves)
    lines = [f"{int(table.issues)} issues · round {min(moves // seats + 1, rounds)} of {rounds}"]
    for other in range(seats):
        turn = ">" if table.turn == other else " "
        lines.append(f"{turn} player_{other}  {_preferences(table, other, seat)}")
    for move in range(moves):
        kind = int(table.log_kind[move])
        offer = f" {_words(table, int(table.log_offer[move]))}" if kind == OFFER else ""
        lines.append(f"  {move // seats + 1:>2} player_{move % seats} {KINDS[kind]}{offer}")
    if table.done:
        end = "agreement" if table.agreed else "no agreement"
        lines.append(f"over: {end}; " + ", ".join(f"player_{i} {float(table.rewards[i]):+.3f}" for i in range(seats)))
    return "\n".join(lines)


def _words(table: Any, outcome: int) -> str:
    return "-".join(map(str, outcome_values(table, outcome)))


def _preferences(table: Any, other: int, seat: int | None) -> str:
    if seat not in (None, other) and not table.public:
        return "?"
    worth = (
        " ".join(f"{float(table.worth[other][issue][value]):.2f}" for value in range(int(table.values[issue])))
        for issue in range(int(table.issues))
    )
    return f"{' | '.join(worth)}  reservation {float(table.reservation[other]):.2f}"
