"""The rules of liar's dice for two over one record, compiled, by the conventions of OpenSpiel (``liars_dice``).

Both roll their dice, unseen by the other. In turn they bid: "there are at least `quantity` dice of `face`", among all
of both. Each bid is higher than the one before: more dice, or as many of a higher face. Instead of a bid a seat may
say that the other is a liar. Then all dice are shown: if the bid holds, the bidder wins one point, else the other
does.
"""

from typing import Any

from ..core.compiled import compiled
from ..core.rng import draw


@compiled
def begin(table: Any) -> None:
    """Begin a round; one random event per die rolls the dice."""
    table.die[:] = 0
    table.rewards[:] = 0
    table.log[:] = 0
    table.bids = 0
    table.turn = -1
    table.done = False
    table.truncated = False


@compiled
def outcomes(table: Any) -> int:
    """Return how many faces the die has that is due; 0: all are rolled."""
    return table.faces if table.turn < 0 and not table.done else 0


@compiled
def roll(table: Any, outcome: int) -> None:
    """Roll the next die."""
    k = 0
    while table.die[k] > 0:
        k += 1
    table.die[k] = outcome + 1
    if k + 1 == 2 * table.dice:
        table.turn = 0


@compiled
def reset(table: Any) -> None:
    """Begin a round and roll the dice."""
    begin(table)
    while outcomes(table) > 0:
        roll(table, draw(table, outcomes(table)))


@compiled
def last_bid(table: Any) -> int:
    """Return the index of the current bid; −1 if there is none."""
    return table.log[table.bids - 1] if table.bids > 0 else -1


@compiled
def liar(table: Any) -> int:
    """Return the action index of the challenge: it follows those of the bids."""
    return 2 * table.dice * table.faces


@compiled
def count(table: Any, face: int) -> int:
    """Return how many dice count as `face`."""
    found = 0
    for k in range(2 * table.dice):
        found += table.die[k] == face or (table.wild and table.die[k] == table.faces)
    return found


@compiled
def step(table: Any, move: int) -> None:
    """Apply the acting seat's bid or challenge and go on to the next decision."""
    if move < liar(table):
        table.log[table.bids] = move
        table.bids += 1
        table.turn = 1 - table.turn
        return
    bid = last_bid(table)
    holds = count(table, bid % table.faces + 1) >= bid // table.faces + 1
    winner = 1 - table.turn if holds else table.turn
    table.rewards[winner] = 1.0
    table.rewards[1 - winner] = -1.0
    table.turn = -1
    table.done = True


@compiled
def legal(table: Any, mask: Any) -> None:
    """Write the action mask of the acting seat: higher bids, and the challenge if there is a bid."""
    bid = last_bid(table)
    for action in range(liar(table)):
        mask[action] = action > bid
    mask[liar(table)] = bid >= 0
