"""The auction as text."""

from typing import Any

from .table import RULES
from .view import unusual


def render(table: Any, seat: int | None) -> str:
    """Return a few lines of text. `seat`: whose valuation and bid are shown; None: all of them."""
    terms = "".join(f" · {name.replace('_', ' ')} {value}" for name, value in unusual(table).items())
    lines = [f"{RULES[int(table.rule)]} auction · round {int(table.round_number)} of {int(table.rounds)}{terms}"]
    for other in range(int(table.num_bidders)):
        shown = seat is None or other == seat
        valuation = f"{float(table.valuation[other]):.2f}" if shown else "?"
        bid = "-"
        if table.bid_round[other] > 0:
            bid = f"{float(table.bid[other]):g}" if shown else "sealed"
        turn = ">" if table.turn == other else " "
        lines.append(f"{turn} {f'player_{other}':<9} valuation {valuation:>7}  bid {bid:>7}")
    if table.done:
        winners = [f"player_{i}" for i in range(int(table.num_bidders)) if table.won[i]]
        winner = f"{' and '.join(winners)} win{'s' * (len(winners) == 1)}" if winners else "nobody wins"
        gains = ", ".join(f"player_{i} {float(table.rewards[i]):+.2f}" for i in range(int(table.num_bidders)))
        lines.append(f"over: {winner}; {gains}")
    return "\n".join(lines)
