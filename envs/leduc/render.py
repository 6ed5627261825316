"""The deal as text."""

from typing import Any

from .table import KINDS, MOVES, RANKS, ROUNDS, SEATS


def render(table: Any, seat: int | None) -> str:
    """Return a few lines of text. `seat` sees its own card, and the other's after a showdown; None sees both."""
    board = RANKS[table.board] if table.board >= 0 else "-"
    lines = [f"board {board}  pot {int(table.chips[0]) + int(table.chips[1])}"]
    for one in range(SEATS):
        card = RANKS[table.card[one]] if table.showdown or seat in (None, one) else "?"
        lines.append(f"{'>' if table.turn == one else ' '} player_{one}  {card}  {int(table.chips[one]):>2} in the pot")
    for one in range(ROUNDS):
        log = table.log[MOVES * one : MOVES * one + table.moves[one]]
        if len(log):
            lines.append(f"  round {one + 1}: " + ", ".join(KINDS[move] for move in log))
    if table.done:
        gains = ", ".join(f"player_{i} {float(table.rewards[i]):+g}" for i in range(SEATS))
        lines.append(f"over: {'showdown' if table.showdown else 'fold'}; {gains}")
    return "\n".join(lines)
