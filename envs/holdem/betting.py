"""The betting tree of the end of a hand between two players, from a decision on flop, turn or river on.

A tree from the turn has every river. The nodes after it stand once; a strategy has a row for each of them and each
river, so every river has a strategy of its own.

A tree from the flop has a depth limit: turn and river are played by given strategies of buckets, on boards of which
each card is the turn once, and the river once. Where the betting of the flop ends, player 1 chooses one of several ways
to play on (Brown, Sandholm and Amos, "Depth-limited solving for imperfect-information games", NeurIPS 2018).
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

SHOWDOWN, FOLDED, DEALT = 2, 3, 5
"""Kinds of nodes beside decisions: a showdown; the first player has folded, + 1: the second; cards are dealt."""
Menu = Sequence[Sequence[float]]
RAISES: Menu = ((0.5, 1.0, 2.0), (0.5, 1.0), ())
"""The raises on the first street beside all-in, as fractions of the pot after the call: first, second, later."""
FIRST_RAISES: Menu = ((0.5, 1.0), (1.0,), ())
"""The same on flop and turn."""
LATER_RAISES: Menu = ((1.0,), ())
"""The same on later streets of a tree from flop or turn."""
WAYS = 4
"""Ways to play on: as it is, and with more folds, calls or raises."""
MOST_ROWS = 20_000
"""Most rows of a strategy; with all hands of a turn each takes 4.5 kB."""


class Nodes(NamedTuple):
    """The public nodes, the parents before their children; children of a node stand together. And the hands.

    Attributes:
        kind: int64[N]: which of the two players decides, 0 or 1; or another kind.
        amount: float64[N]: what the winner wins there; 0 where the hand has not ended.
        first: int64[N]: the first child.
        count: int64[N]: the number of children.
        near: the number of nodes before the next card is dealt; they stand first. All, in a tree from the river.
        scale: the weight of each board, for two hands that it leaves possible.
        cards: int64[H, 2], of the hands that the open cards leave.
        strength: int64[R, H], as `set_strength`, by board.
        order: int64[R, H], the hands from the weakest to the strongest.
        alive: float32[R, H], 0 for the hands that have one of the board's later cards.
        way: int64[N]: which way to play on leads to the node; −1: none.
        street: int64[N]: 0 before the river, 1 there.
        buckets: int64[R, 2, H]: what each hand counts as on the turn and the river of a board.
        chances: float32[W, N, B]: beyond a depth limit, how likely the action that leads to a node is with each bucket;
            player 0 plays as in the first of the W ways. There is no limit if W is 0.
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
    way: Ints
    street: Ints
    buckets: Ints
    chances: NDArray[np.float32]


@dataclass(frozen=True)
class Betting:
    """The betting tree of the end of a hand.

    Attributes:
        tables: the record at each node.
        action: int64[N]: the action index that leads to the node; −1 where none does.
        boards: int64[R, 5]; one in a tree from the river.
        hands: int64[H]: the hands that the open cards leave, indices of `HOLDINGS`.
        nodes: what compiled code reads.
    """

    tables: list[Any]
    action: Ints
    boards: Ints
    hands: Ints
    nodes: Nodes

    @property
    def limited(self) -> bool:
        """Whether the tree has a depth limit."""
        return bool((self.nodes.way >= 0).any())

    @property
    def rows(self) -> int:
        """The number of rows of a strategy: node `n` has row `n`, and in a tree from the turn one for each river."""
        near = self.nodes.near
        return near if self.limited else near + len(self.boards) * (len(self.action) - near)

    def row(self, node: int, board: int) -> int:
        """Return the row of a node with one of the boards."""
        return node if node < self.nodes.near else node + board * (len(self.action) - self.nodes.near)


def betting(game: Game, table: Any, players: tuple[int, int]) -> Betting | None:
    """Return the betting tree from a decision on flop, turn or river; beyond a depth limit without `chances`.

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
    root.board[dealt:] = free[: 5 - dealt]  # any cards: the betting does not depend on them
    later = _later(free, 5 - dealt)
    boards = np.array([[*shown, *cards] for cards in later])
    tables, actions, ends = [root], [-1], list[tuple[int, float, int, int]]()
    if not _grow(game, players, (tables, actions, ends), int(table.phase), MOST_ROWS):
        return None
    way = dict[int, int]()
    for node in range(len(ends) if dealt == 3 else 0):
        if ends[node][0] == DEALT:  # player 1 chooses how both play on
            ends[node] = 1, 0.0, len(tables), WAYS
            way.update((len(tables) + k, k) for k in range(WAYS))
            tables += [tables[node]] * WAYS
            actions += [-1] * WAYS
            ends += [(DEALT, 0.0, 0, 0)] * WAYS
    near = len(ends)
    for node in range(near):
        if ends[node][0] == DEALT:
            same = way.get(node, 0) > 0  # all ways lead to one place
            ends[node] = DEALT, 0.0, ends[node - 1][2] if same else len(tables), 1
            if not same:
                tables.append(tables[node])
                actions.append(-1)
    most = MOST_ROWS if way else near + (MOST_ROWS - near) // len(boards)
    if not _grow(game, players, (tables, actions, ends), RIVER, most):
        return None
    possible_hands = np.empty(len(HOLDINGS), np.bool_)
    possible(HOLDINGS, shown, dealt, possible_hands)
    hands = np.flatnonzero(possible_hands)
    cards = HOLDINGS[hands].astype(np.int64)
    alive = np.array([~np.isin(cards, each).any(axis=1) for each in later], np.float32)
    strength = np.array([_strengths(cards, board) for board in boards])
    kind, amount, first, count = (np.array(each) for each in zip(*ends, strict=True))
    scale = {5: 1.0, 4: 1 / 44, 3: 49 * 48 / (45 * 44) / len(boards)}[dealt]
    order = np.argsort(strength, axis=1, kind="stable")
    limit = (
        np.array([way.get(node, -1) for node in range(len(tables))]),
        np.array([int(int(each.phase) == RIVER) for each in tables]),
        np.zeros((len(boards), 2, len(hands)), np.int64),
        np.zeros((0, 0, 0), np.float32),
    )
    nodes = Nodes(kind, amount, first, count, near, scale, cards, strength, order, alive, *limit)
    return Betting(tables, np.array(actions), boards, hands, nodes)


def _later(free: list[int], missing: int) -> list[tuple[int, ...]]:
    """Return the cards to come: all rivers; of turns with a river some in which each card comes once at both places."""
    if missing < 2:
        return [()] if missing == 0 else [(card,) for card in free]
    order = np.random.default_rng(0).permutation(free).tolist()
    return list(zip(order, [*order[1:], order[0]], strict=True))


def _grow(
    game: Game, players: tuple[int, int], tree: tuple[list[Any], list[int], list[Any]], last: int, most: int
) -> bool:
    """Add the nodes up to a street to tables, actions and (kind, amount, first, count); return whether they are few."""
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
        if int(table.phase) > last:
            ends.append((DEALT, 0.0, 0, 0))
            continue
        begun = int(tables[0].phase)
        menu = RAISES if begun == RIVER else FIRST_RAISES if int(table.phase) == begun else LATER_RAISES
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


@partial(compiled, allocates=True, compile_first=True)
def _strengths(cards: Any, board: Any) -> Any:
    strength = np.empty(len(cards), np.int64)
    shown = card_set(board, 5)
    for i in range(len(cards)):
        strength[i] = set_strength(card_set(cards[i], 2) | shown)
    return strength
