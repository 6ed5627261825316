"""The table as text."""

from typing import Any

from .hands import card_name
from .table import KINDS
from .view import phase, results


def render(table: Any, seat: int | None) -> str:
    """Return the table as text: board, seats, last action. `seat`: whose cards are shown; None: all cards."""
    board = " ".join(card_name(int(card)) for card in table.board[: table.board_count]) or "no board"
    hand = f"hand {int(table.hand)} of {int(table.hands)} · " if table.hands > 1 else ""
    lines = [f"{hand}{phase(table)} · {board} · pot {int(table.pot)}"]
    for other in range(int(table.seats)):
        lines.append(_seat_line(table, other, seat))
    if table.last_seat >= 0:
        amount = f" {int(table.last_amount)}" if table.last_amount else ""
        lines.append(f"last: player_{int(table.last_seat)} {KINDS[int(table.last_kind)]}{amount}")
    if table.done:
        for row in results(table, seat):
            if row["won"]:
                how = row.get("rank", "all others folded")
                lines.append(f"player_{row['seat']} wins {row['won']} from the pot: {how}")
        net = ", ".join(f"player_{i} {int(table.total[i]):+d}" for i in range(int(table.seats)))
        lines.append(f"over: {net}")
    return "\n".join(lines)


def _seat_line(table: Any, other: int, seat: int | None) -> str:
    shown = seat is None or other == seat or (table.done and table.strength[other] >= 0)
    cards = "     "
    if table.cards[other, 0] >= 0:
        cards = " ".join(card_name(int(card)) for card in table.cards[other]) if shown else "?? ??"
    status = ""
    if table.folded[other]:
        status = "folded"
    elif table.seated[other] and table.stack[other] == 0 and not table.done:
        status = "all-in"
    turn = ">" if table.turn == other else " "
    button = "D" if table.dealer == other else " "
    name = f"player_{other}"
    chips = f"stack {int(table.stack[other]):>6}  bet {int(table.bet[other]):>5}"
    return f"{turn}{button} {name:<9} {cards}  {chips}  {status}".rstrip()
