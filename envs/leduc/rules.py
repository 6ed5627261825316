"""The rules of Leduc hold'em over one record, compiled.

F. Southey et al., "Bayes' Bluff: Opponent Modelling in Poker", UAI 2005: a deck of two jacks, two queens and two kings;
an ante of one chip; a card for each of two seats, a round of bets, a card open on the table, and another round. A
raise is two chips in the first round and four in the second, with at most two raises in a round. Who has the rank of
the open card wins the showdown, else the higher rank; equal ranks split the pot.
"""

from typing import Any

from ..core.compiled import compiled
from ..core.rng import draw
from .table import ANTE, CALL, COPIES, FIRST_RAISE, FOLD, MOVES, RAISE, RAISES, RANKS, SECOND_RAISE


@compiled
def begin(table: Any) -> None:
    """Begin a deal; two random events deal the cards, and a third one opens a card later."""
    table.card[:] = -1
    table.board = -1
    table.rewards[:] = 0
    table.log[:] = 0
    table.moves[:] = 0
    table.chips[:] = ANTE
    table.round_number = 0
    table.raises = 0
    table.turn = -1
    table.done = False
    table.truncated = False
    table.showdown = False


@compiled
def left(table: Any, rank: int) -> int:
    """Return how many cards of a rank are still in the deck."""
    return COPIES - (table.card[0] == rank) - (table.card[1] == rank) - (table.board == rank)


@compiled
def in_deck(table: Any) -> int:
    """Return how many cards are still in the deck."""
    return COPIES * len(RANKS) - (table.card[0] >= 0) - (table.card[1] >= 0) - (table.board >= 0)


@compiled
def outcomes(table: Any) -> int:
    """Return how many ranks the card that is due can have; 0: none is due."""
    if table.turn >= 0 or table.done:
        return 0
    ranks = 0
    for rank in range(len(RANKS)):
        ranks += left(table, rank) > 0
    return ranks


@compiled
def rank_of(table: Any, outcome: int) -> int:
    """Return the `outcome`-th rank that is still in the deck."""
    for rank in range(len(RANKS)):
        outcome -= left(table, rank) > 0
        if outcome < 0:
            return rank
    return -1


@compiled
def probability(table: Any, outcome: int) -> float:
    """Return how likely the card that is due has the `outcome`-th rank that is still in the deck."""
    return left(table, rank_of(table, outcome)) / in_deck(table)


@compiled
def deal(table: Any, outcome: int) -> None:
    """Deal the next card, of the `outcome`-th rank that is still in the deck."""
    rank = rank_of(table, outcome)
    if table.card[0] < 0:
        table.card[0] = rank
    elif table.card[1] < 0:
        table.card[1] = rank
        table.turn = 0
    else:
        table.board = rank
        table.turn = 0


@compiled
def draw_card(table: Any) -> None:
    """Draw the card that is due from the deck, by the record's stream."""
    card, outcome = draw(table, in_deck(table)), 0
    card -= left(table, rank_of(table, outcome))
    while card >= 0:
        outcome += 1
        card -= left(table, rank_of(table, outcome))
    deal(table, outcome)


@compiled
def reset(table: Any) -> None:
    """Begin a deal and draw both cards."""
    begin(table)
    while outcomes(table) > 0:
        draw_card(table)


@compiled
def step(table: Any, move: int) -> None:
    """Apply the acting seat's move and go on to the next decision."""
    play(table, move)
    while outcomes(table) > 0:
        draw_card(table)


@compiled
def play(table: Any, move: int) -> None:
    """Apply the acting seat's move; the open card is not drawn yet."""
    seat, other = table.turn, 1 - table.turn
    table.log[MOVES * table.round_number + table.moves[table.round_number]] = move
    table.moves[table.round_number] += 1
    if move == FOLD:
        finish(table, other, table.chips[seat])
        return
    table.chips[seat] = table.chips[other]
    table.turn = other
    if move == RAISE:
        table.chips[seat] += FIRST_RAISE if table.round_number == 0 else SECOND_RAISE
        table.raises += 1
    elif table.moves[table.round_number] > 1:
        end_round(table)


@compiled
def end_round(table: Any) -> None:
    """Go on to the second round, or to the showdown."""
    table.turn = -1
    table.raises = 0
    if table.round_number == 0:
        table.round_number = 1
        return
    table.showdown = True
    one, two = strength(table, 0), strength(table, 1)
    winner = 0 if one > two else 1
    finish(table, winner, table.chips[0] if one != two else 0)


@compiled
def strength(table: Any, seat: int) -> int:
    """Return the strength of a hand: a pair with the open card is highest, then the rank."""
    return table.card[seat] + (len(RANKS) if table.card[seat] == table.board else 0)


@compiled
def finish(table: Any, winner: int, won: float) -> None:
    """End the deal: `winner` gets what the other has put in."""
    table.rewards[winner] = won
    table.rewards[1 - winner] = -won
    table.turn = -1
    table.done = True


@compiled
def legal(table: Any, mask: Any) -> None:
    """Write the acting seat's legal action indices: fold to a raise only, raise twice in a round at most."""
    mask[FOLD] = table.chips[1 - table.turn] > table.chips[table.turn]
    mask[CALL] = 1
    mask[RAISE] = table.raises < RAISES
