"""The auction as text."""

from typing import Any

from .table import RULES


def render(table: Any, seat: int | None) -> str:
    """Return a few lines of text. `seat`: whose valuation and bid are shown; None: all of them."""
    lines = [f"{RULES[int(table.rule)]} auction · round {int(table.round_number)} of {int(table.rounds)}"]
    for other in range(int(table.num_bidders)):
        shown = seat is None or other == seat
        valuation = f"{float(table.valuation[other]):.2f}" if shown else "?"
        bid = "-"
        if table.bid_round[other] > 0:
            bid = f"{float(table.bid[other]):g}" if shown else "sealed"
        turn = ">" if table.turn == other else " "
        lines.append(f"{turn} {f'player_{other}':<9} valuation {valuation:>7}  bid {bid:>7}")
    if table.done:
        winner = f"player_{int(table.winner)} wins" if table.winner >= 0 else "nobody wins"
        gains = ", ".join(f"player_{i} {float(table.rewards[i]):+.2f}" for i in range(int(table.num_bidders)))
        lines.append(f"over: {winner}; {gains}")
    return "\n".join(lines)
