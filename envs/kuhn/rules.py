"""The rules of Kuhn poker over one record, compiled.

H. W. Kuhn, "A simplified two-person poker", Contributions to the Theory of Games I (1950): three cards, a chip posted
by each of two seats, who get a card each. In turn a seat passes or bets one chip. A pass after a bet folds; two
passes or two bets end in a showdown, which the higher card wins.
"""

from typing import Any

from ..core.compiled import compiled
from ..core.rng import draw
from .table import BET, PASS


@compiled
def begin(table: Any) -> None:
    """Begin a deal; two random events deal the cards."""
    table.card[:] = -1
    table.rewards[:] = 0
    table.log[:] = 0
    table.moves = 0
    table.turn = -1
    table.done = False
    table.truncated = False
    table.showdown = False


@compiled
def outcomes(table: Any) -> int:
    """Return how many cards the next one is drawn from; 0: both are dealt."""
    return 3 if table.card[0] < 0 else 2 if table.card[1] < 0 else 0


@compiled
def deal(table: Any, outcome: int) -> None:
    """Deal the next card: the seat's is the `outcome`-th that is left."""
    if table.card[0] < 0:
        table.card[0] = outcome
    else:
        table.card[1] = outcome + (outcome >= table.card[0])
        table.turn = 0


@compiled
def reset(table: Any) -> None:
    """Begin a deal and draw the cards."""
    begin(table)
    while outcomes(table) > 0:
        deal(table, draw(table, outcomes(table)))


@compiled
def step(table: Any, move: int) -> None:
    """Apply the acting seat's pass or bet and go on to the next decision."""
    table.log[table.moves] = move
    table.moves += 1
    table.turn = 1 - table.turn
    before = table.log[table.moves - 2] if table.moves > 1 else PASS
    if table.moves == 1 or (table.moves == 2 and before == PASS and move == BET):
        return
    table.showdown = before == move
    winner = table.turn if not table.showdown else 0 if table.card[0] > table.card[1] else 1
    won = 2.0 if before == BET and move == BET else 1.0
    table.rewards[winner] = won
    table.rewards[1 - winner] = -won
    table.done = True
    table.turn = -1


@compiled
def legal(table: Any, mask: Any) -> None:
    """Write the acting seat's legal action indices: both."""
    mask[:] = 1
