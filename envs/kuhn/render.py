"""The deal as text."""

from typing import Any

from .table import KINDS, RANKS, SEATS


def render(table: Any, seat: int | None) -> str:
    """Return a few lines of text. `seat` sees its own card, and the other's after a showdown; None sees both."""
    log = [KINDS[move] for move in table.log[: table.moves]]
    lines = [f"pot {2 + log.count('bet')}"]
    for one in range(SEATS):
        card = RANKS[table.card[one]] if table.showdown or seat in (None, one) else "?"
        moves = " ".join(log[one::SEATS])
        lines.append(f"{'>' if table.turn == one else ' '} player_{one}  {card}  {moves}".rstrip())
    if table.done:
        gains = ", ".join(f"player_{i} {float(table.rewards[i]):+g}" for i in range(SEATS))
        lines.append(f"over: {'showdown' if table.showdown else 'fold'}; {gains}")
    return "\n".join(lines)
