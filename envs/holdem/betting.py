"""The betting tree of the end of a hand between two players, from a decision on turn or river on.

A tree from the turn has every river. The nodes after it stand once; a strategy has a row for each of them and each
river, so every river has a strategy of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.compiled import compiled
from ..core.game import Game
from .hands import card_set, set_strength
from .ranges import HOLDINGS, possible
from .table import CALL_ACTION, FOLD_ACTION, LEAST_RAISE, RIVER

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SHOWDOWN, FOLDED, RIVER_CARD = 2, 3, 5
"""Kinds of nodes beside decisions: a showdown; the first player has folded, + 1: the second; the river is dealt."""
Menu = Sequence[Sequence[float]]
RAISES: Menu = ((0.5, 1.0, 2.0), (0.5, 1.0), ())
"""The raises on the first street beside all-in, as fractions of the pot after the call: first, second, later."""
TURN_RAISES: Menu = ((0.5, 1.0), (1.0,), ())
"""The same on the turn."""
RIVER_RAISES: Menu = ((1.0,), ())
"""The same on the river of a tree from the turn."""
MOST_ROWS = 20_000
"""Most rows of a strategy; with all hands of a turn each takes 4.5 kB."""


class Nodes(NamedTuple):
    """The public nodes, the parents before their children; children of a node stand together. And the hands.

    Attributes:
        kind: int64[N]: which of the two players decides, 0 or 1; or another kind.
        amount: float64[N]: what the winner wins there; 0 where the hand has not ended.
        first: int64[N]: the first child.
        count: int64[N]: the number of children.
        near: the number of nodes before the river is dealt; they stand first. All, in a tree from the river.
        scale: the probability of each river, for two hands that it leaves possible.
        cards: int64[H, 2], of the hands that the open cards leave.
        strength: int64[R, H], as `set_strength`, by river.
        order: int64[R, H], the hands from the weakest to the strongest.
        alive: float32[R, H], 0 for the hands that have the river's card.
    """

    kind: Ints
    amount: Floats
    first: Ints
    count: Ints  # type: ignore[assignment]  # not the method of a tuple
    near: int
    scale: float
    cards: Ints
    strength: Ints
    order: Ints
    alive: NDArray[np.float32]


@dataclass(frozen=True)
class Betting:
    """The betting tree of the end of a hand.

    Attributes:
        tables: the record at each node.
        action: int64[N]: the action index that leads to the node; −1 where none does.
        boards: int64[R, 5], by river; one in a tree from the river.
        hands: int64[H]: the hands that the open cards leave, indices of `HOLDINGS`.
        nodes: what compiled code reads.
    """

    tables: list[Any]
    action: Ints
    boards: Ints
    hands: Ints
    nodes: Nodes

    @property
    def rows(self) -> int:
        """The number of rows of a strategy: node `n` has row `n`, and in a tree from the turn one for each river."""
        near = self.nodes.near
        return near + len(self.boards) * (len(self.action) - near)

    def row(self, node: int, river: int) -> int:
        """Return the row of a node with one of the rivers."""
        return node if node < self.nodes.near else node + river * (len(self.action) - self.nodes.near)


def betting(game: Game, table: Any, players: tuple[int, int]) -> Betting | None:
    """Return the betting tree from a decision on turn or river.

    Args:
        game: hold'em; of its action indices the tree has those of `kept`.
        table: the record, one hand per episode. All others than `players` have folded.
        players: the two seats.

    Returns:
        None if there are more than `MOST_ROWS` rows.
    """
    dealt = int(table.board_count)
    shown = table.board[:dealt].astype(np.int64)
    free = [card for card in range(52) if card not in shown]
    root = table.copy()
    root.board[dealt:] = free[: 5 - dealt]  # any card: the betting does not depend on it
    rivers = [()] if dealt == 5 else [(card,) for card in free]
    boards = np.array([[*shown, *river] for river in rivers])
    tables, actions, ends = [root], [-1], list[tuple[int, float, int, int]]()
    if not _grow(game, players, (tables, actions, ends), int(table.phase), MOST_ROWS):
        return None
    near = len(ends)
    for node in range(near):
        if ends[node][0] == RIVER_CARD:
            ends[node] = RIVER_CARD, 0.0, len(tables), 1
            tables.append(tables[node])
            actions.append(-1)
    if not _grow(game, players, (tables, actions, ends), RIVER, near + (MOST_ROWS - near) // len(boards)):
        return None
    possible_hands = np.empty(len(HOLDINGS), np.bool_)
    possible(HOLDINGS, shown, dealt, possible_hands)
    hands = np.flatnonzero(possible_hands)
    cards = HOLDINGS[hands].astype(np.int64)
    alive = np.array([~np.isin(cards, river).any(axis=1) for river in rivers], np.float32)
    strength = np.array([_strengths(cards, board) for board in boards])
    kind, amount, first, count = (np.array(each) for each in zip(*ends, strict=True))
    scale = 1.0 if dealt == 5 else 1.0 / 44
    order = np.argsort(strength, axis=1, kind="stable")
    nodes = Nodes(kind, amount, first, count, near, scale, cards, strength, order, alive)
    return Betting(tables, np.array(actions), boards, hands, nodes)


def _grow(
    game: Game, players: tuple[int, int], tree: tuple[list[Any], list[int], list[Any]], phase: int, most: int
) -> bool:
    """Add the nodes of a street to tables, actions and (kind, amount, first, count); return whether they are few."""
    tables, actions, ends = tree
    first, second = players
    while len(ends) < len(tables):
        table = tables[len(ends)]
        if table.done:
            put = int(table.committed[first]), int(table.committed[second])
            dead = int(table.pot) - sum(put)
            folded = FOLDED + int(table.folded[second]) if table.folded[first] or table.folded[second] else SHOWDOWN
            ends.append((folded, dead / 2 + min(put), 0, 0))
            continue
        if int(table.phase) != phase:
            ends.append((RIVER_CARD, 0.0, 0, 0))
            continue
        menu = RAISES if int(tables[0].phase) == RIVER else TURN_RAISES if phase != RIVER else RIVER_RAISES
        legal = kept(game, table, menu)
        if len(tables) + len(legal) > most:
            return False
        ends.append((players.index(int(table.turn)), 0.0, len(tables), len(legal)))
        for action in legal:
            child = table.copy()
            game.rules.play(child, action)
            tables.append(child)
            actions.append(action)
    return True


def kept(game: Game, table: Any, menu: Menu = RAISES) -> list[int]:
    """Return the action indices of a decision that are in the tree: fold to a bet, call, some raises of the menu."""
    legal = np.flatnonzero(game.mask(table, int(table.turn))).tolist()
    raises = [action for action in legal if action >= LEAST_RAISE]
    wanted = set(raises[-1:])  # all-in
    if len(raises) > 1:
        amounts = [int(game.rules.decode(table, action).amount) - int(table.current_bet) for action in raises]
        for part in menu[min(int(table.raises), len(menu) - 1)]:
            size = part * (int(table.pot) + int(table.to_call))
            wanted.add(min(zip(raises, amounts, strict=True), key=lambda one: abs(one[1] - size))[0])
    return [FOLD_ACTION] * int(table.to_call > 0) + [CALL_ACTION, *sorted(wanted)]


@partial(compiled, allocates=True)
def _strengths(cards: Any, board: Any) -> Any:
    strength = np.empty(len(cards), np.int64)
    shown = card_set(board, 5)
    for i in range(len(cards)):
        strength[i] = set_strength(card_set(cards[i], 2) | shown)
    return strength
