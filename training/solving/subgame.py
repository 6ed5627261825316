"""The end of a hand between two players: its betting tree, walks range against range, and its solution by CFR+.

A tree from the turn has every river. The nodes after it stand once; a strategy has a row for each of them and each
river, so every river has a strategy of its own. A tree from the flop has a depth limit: turn and river are played by
given strategies of buckets, on boards of which each card is the turn once, and the river once. Where the betting of the
flop ends, player 1 chooses one of several ways to play on (Brown, Sandholm and Amos, "Depth-limited solving for
imperfect-information games", NeurIPS 2018).

Every vector has one number per hand that the open cards leave possible. A value is what a hand wins more than half of
the chips that nobody of the two has put in, summed over the hands of the other, each with its weight: a counterfactual
value. So the two players' wins sum to zero.

CFR+: Tammelin, "Solving large imperfect information games using CFR+", 2014; old regrets count less and late strategies
more, as in Brown and Sandholm, "Solving imperfect-information games via discounted regret minimization", AAAI 2019. The
gadget: Burch, Johanson and Bowling, "Solving imperfect information games using decomposition", AAAI 2014. An iteration
visits some of the boards of a tree from flop or turn, in turns.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...envs.core.compiled import compiled
from ...envs.core.game import Game
from ...envs.holdem.hands import card_set, set_strength
from ...envs.holdem.ranges import HOLDINGS, possible
from ...envs.holdem.table import CALL_ACTION, FOLD_ACTION, LEAST_RAISE, RIVER

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
        order: int64[R, 1081], the hands that a board leaves, from the weakest to the strongest.
        alive: float32[R, H], 0 for the hands that have one of the board's later cards.
        way: int64[N]: which way to play on leads to the node; −1: none.
        street: int64[N]: 0 before the river, 1 there.
        buckets: int64[R, 2, H]: what each hand counts as on the turn and the river of a board.
        early_folds, late_folds: the nodes where a player has folded, before the next card is dealt and after it.
        early_shown, late_shown: those of showdowns.
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
    early_folds: Ints
    late_folds: Ints
    early_shown: Ints
    late_shown: Ints
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


def betting(game: Game, table: Any, players: tuple[int, int], path: Sequence[Any] = ()) -> Betting | None:
    """Return the betting tree from a decision on flop, turn or river; beyond a depth limit without `chances`.

    Args:
        game: hold'em; of its action indices the tree has those of `kept`.
        table: the record, one hand per episode. All others than `players` have folded.
        players: the two seats.
        path: moves that were made from there on, on the same street. The tree has each, in place of the nearest index.

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
    if not _grow(game, players, (tables, actions, ends), int(table.phase), MOST_ROWS, path):
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
    weakest_first = np.argsort(np.where(alive > 0, strength, -1), axis=1, kind="stable")
    order = np.ascontiguousarray(weakest_first[:, int((alive[0] == 0).sum()) :])
    late, folded = np.arange(len(kind)) >= near, (kind == FOLDED) | (kind == FOLDED + 1)
    limit = (
        np.array([way.get(node, -1) for node in range(len(tables))]),
        np.array([int(int(each.phase) == RIVER) for each in tables]),
        np.zeros((len(boards), 2, len(hands)), np.int64),
        *(np.flatnonzero(each & side) for each in (folded, kind == SHOWDOWN) for side in (~late, late)),
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
    game: Game,
    players: tuple[int, int],
    tree: tuple[list[Any], list[int], list[Any]],
    last: int,
    most: int,
    path: Sequence[Any] = (),
) -> bool:
    """Add the nodes up to a street to tables, actions and (kind, amount, first, count); return whether they are few."""
    tables, actions, ends = tree
    first, second = players
    moves, on_path = list(path), 0
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
        legal, made, move = kept(game, table, menu), -1, None
        if moves and len(ends) == on_path:
            move = moves.pop(0)
            made = int(game.view.nearest(table, move))
            legal = sorted({*legal, made})
            on_path = len(tables) + legal.index(made)
        if len(tables) + len(legal) > most:
            return False
        ends.append((players.index(int(table.turn)), 0.0, len(tables), len(legal)))
        for action in legal:
            child = table.copy()
            if action == made:
                game.rules.step(child, move)
            else:
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


# Where the hand ends, all nodes are gone through at once, hand by hand: the innermost loops are over nodes, to a
# multiple of 16. `by_card` has the weight so far of the hands with each card, and of all hands.


@partial(compiled, allocates=True)
def columns(places: Any, weights: Any) -> Any:
    """Return where the rows of some nodes begin in `weights`, float32[N, H], as a flat array: uint64[K]."""
    rows = np.zeros((len(places) + 15) // 16 * 16, np.uint64)
    for k in range(len(places)):
        rows[k] = places[k] * weights.shape[1]
    return rows


@partial(compiled, allocates=True)
def folds(nodes: Any, places: Any, player: int, weights: Any, out: Any) -> None:
    """Write what each hand of a player wins at some nodes, where one of the two has folded."""
    rows, flat, flat_out, size = columns(places, weights), weights.reshape(-1), out.reshape(-1), out.shape[1]
    count, by_card = len(rows), np.zeros((53, len(rows)), np.float32)
    amount, weight = np.zeros(count, np.float32), np.empty((size, count), np.float32)
    for k in range(len(places)):
        lost = nodes.kind[places[k]] - FOLDED == player
        amount[k] = -nodes.amount[places[k]] if lost else nodes.amount[places[k]]
    for h in range(size):
        first, second = np.uint64(nodes.cards[h, 0]), np.uint64(nodes.cards[h, 1])
        for k in range(count):
            weight[h, k] = flat[rows[k] + np.uint64(h)]
        for k in range(count):
            by_card[first, k] += weight[h, k]
            by_card[second, k] += weight[h, k]
            by_card[52, k] += weight[h, k]
    for h in range(size):
        first, second = np.uint64(nodes.cards[h, 0]), np.uint64(nodes.cards[h, 1])
        for k in range(count):
            weight[h, k] += by_card[52, k] - by_card[first, k] - by_card[second, k]
        for k in range(len(places)):
            flat_out[rows[k] + np.uint64(h)] = amount[k] * weight[h, k]


@partial(compiled, allocates=True)
def showdowns(nodes: Any, places: Any, board: int, share: float, weights: Any, out: Any) -> None:
    """Add to `out` what each hand wins at some nodes by a showdown on a board, times `share`."""
    rows, flat, flat_out, order = columns(places, weights), weights.reshape(-1), out.reshape(-1), nodes.order[board]
    size, count, by_card = len(order), len(rows), np.zeros((53, len(rows)), np.float32)
    weight, won = np.empty(count, np.float32), np.empty((size, count), np.float32)
    amount, cards, start = np.zeros(count, np.float32), np.empty((size, 2), np.uint64), 0
    for k in range(len(places)):
        amount[k] = share * nodes.amount[places[k]]
    while start < size:  # hands of one strength: the weight of the weaker ones, less that of all that are no stronger
        stop, level = start, nodes.strength[board, order[start]]
        while stop < size and nodes.strength[board, order[stop]] == level:
            first, second = np.uint64(nodes.cards[order[stop], 0]), np.uint64(nodes.cards[order[stop], 1])
            cards[stop, 0], cards[stop, 1] = first, second
            for k in range(count):
                won[stop, k] = by_card[52, k] - by_card[first, k] - by_card[second, k]
            stop += 1
        for i in range(start, stop):
            first, second, hand = cards[i, 0], cards[i, 1], np.uint64(order[i])
            for k in range(count):
                weight[k] = flat[rows[k] + hand]
            for k in range(count):
                by_card[first, k] += weight[k]
                by_card[second, k] += weight[k]
                by_card[52, k] += weight[k]
        for i in range(start, stop):
            first, second = cards[i, 0], cards[i, 1]
            for k in range(count):
                won[i, k] += by_card[52, k] - by_card[first, k] - by_card[second, k]
        start = stop
    for i in range(size):
        first, second, hand = cards[i, 0], cards[i, 1], np.uint64(order[i])
        for k in range(count):
            weight[k] = amount[k] * (won[i, k] - by_card[52, k] + by_card[first, k] + by_card[second, k])
        for k in range(count):
            flat_out[rows[k] + hand] += weight[k]


@compiled
def reaches(nodes: Any, start: int, stop: int, shift: int, player: int, strategy: Any, out: Any) -> None:
    """Write the weights of a player's hands at the children of some nodes, float32[N, H], by its strategy.

    The row of a node in `strategy` is its number and `shift`; so also below.
    """
    for node in range(start, stop):
        if nodes.kind[node] > 1:
            continue
        for child in range(nodes.first[node], nodes.first[node] + nodes.count[node]):
            if nodes.kind[node] == player:
                for h in range(out.shape[1]):
                    out[child, h] = out[node, h] * strategy[child + shift, h]
            else:
                out[child] = out[node]


@partial(compiled, allocates=True)
def ends(nodes: Any, board: int, player: int, weights: Any, out: Any) -> None:
    """Write the values of a player's hands where the hand ends on a board, float32[N, H]; see `values`.

    Board −1: before the last cards are dealt, where showdowns have their values already.
    """
    folds(nodes, nodes.early_folds if board < 0 else nodes.late_folds, player, weights, out)
    if board >= 0:
        for node in nodes.late_shown:
            out[node] = 0.0
        showdowns(nodes, nodes.late_shown, board, 1.0, weights, out)


@compiled
def back(nodes: Any, span: Any, player: int, strategy: Any, best: bool, out: Any) -> None:
    """Write the values at decisions from those of their children, from the last one back; see `values`."""
    start, stop, shift, _ = span
    for node in range(stop - 1, start - 1, -1):
        first, size, own = nodes.first[node], out.shape[1], nodes.kind[node] == player
        if nodes.kind[node] > 1:
            continue
        for child in range(first, first + nodes.count[node]):
            for h in range(size):
                part = out[child, h] * strategy[child + shift, h] if own and not best else out[child, h]
                if child == first:
                    out[node, h] = part
                elif own and best:
                    out[node, h] = max(out[node, h], part)
                else:
                    out[node, h] += part


@partial(compiled, allocates=True)
def values(nodes: Any, span: Any, player: int, weights: Any, strategy: Any, best: bool, out: Any) -> None:
    """Write the values of a player's hands at some nodes, float32[N, H].

    Args:
        nodes: see `Nodes`.
        span: the first node, the one after the last, the shift of their rows, and the board; −1: cards are still to
            come, and showdowns and the nodes where they are dealt have their values already.
        player: 0 or 1.
        weights: float32[N, H], the weights of the other's hands at every node (`reaches`).
        strategy: float32[rows, H], how likely each hand takes the action that leads to a node.
        best: whether the player takes the best action with every hand, in place of its strategy.
        out: float32[N, H].
    """
    ends(nodes, span[3], player, weights, out)
    back(nodes, span, player, strategy, best, out)


@compiled
def deal(nodes: Any, board: int, way: int, weights: Any, out: Any) -> None:
    """Write the weights of hands, float32[N, H], where the betting on a board begins, if it is played in one way.

    Without a depth limit the only way is −1.
    """
    for node in range(nodes.near):
        if nodes.kind[node] == DEALT and nodes.way[node] == way:
            for h in range(out.shape[1]):
                out[nodes.first[node], h] = weights[node, h] * nodes.alive[board, h]


@compiled
def add_board(nodes: Any, board: int, way: int, share: float, out: Any) -> None:
    """Add the values with one board, times `share`, to those before its last cards are dealt; `way`: see `deal`."""
    for node in range(nodes.near):
        if nodes.kind[node] == DEALT and nodes.way[node] == way:
            for h in range(out.shape[1]):
                out[node, h] += np.float32(share) * nodes.alive[board, h] * out[nodes.first[node], h]


# Beyond a depth limit.


@partial(compiled, allocates=True)
def play_on(nodes: Any, board: int, share: float, player: int, reach: Any, strategy: Any, out: Any) -> None:
    """Add a player's values at a depth limit with one board, times `share`.

    Args:
        nodes: see `Nodes`.
        board: the board.
        share: its share of the boards.
        player: whose values.
        reach: float32[2, N, H], the weights of both players' hands; overwritten after the limit.
        strategy: float32[N, H], overwritten there.
        out: float32[N, H], overwritten there.
    """
    near, count, ways = nodes.near, len(nodes.kind), len(nodes.chances)
    span = (near, count, 0, board)
    by_buckets(nodes, board, 0, 0, strategy)
    if player == 1:
        deal(nodes, board, 0, reach[0], reach[0])
        reaches(nodes, near, count, 0, 0, strategy, reach[0])
        ends(nodes, board, 1, reach[0], out)
    for way in range(ways):
        by_buckets(nodes, board, 1, way, strategy)
        if player == 1:
            back(nodes, span, 1, strategy, False, out)
            add_board(nodes, board, way, share, out)
            continue
        deal(nodes, board, way, reach[1], out)
        reaches(nodes, near, count, 0, 1, strategy, out)
        for node in range(near, count):
            if nodes.kind[node] > 1:
                for h in range(out.shape[1]):
                    reach[1, node, h] = out[node, h] + (reach[1, node, h] if way > 0 else np.float32(0.0))
    if player == 0:  # the sum over the ways is what counts: it stands at the first
        ends(nodes, board, 0, reach[1], out)
        back(nodes, span, 0, strategy, False, out)
        add_board(nodes, board, 0, share, out)


@compiled
def by_buckets(nodes: Any, board: int, player: int, way: int, strategy: Any) -> None:
    """Write a player's strategy after the limit, float32[N, H], on a board."""
    for node in range(nodes.near, len(nodes.kind)):
        if nodes.kind[node] == player:
            buckets = nodes.buckets[board, nodes.street[node]]
            for child in range(nodes.first[node], nodes.first[node] + nodes.count[node]):
                chances = nodes.chances[way, child]
                for h in range(strategy.shape[1]):
                    strategy[child, h] = chances[buckets[h]]


Rows = NDArray[np.float32]

BOARDS = 12
"""Boards that an iteration visits in a tree from the turn; from the flop one."""
FREE = 0.2
"""The weight of all hands alike, beside the other player's range, in the gadget. Less is nearer to the exact value, but
easier to exploit with hands outside the range."""
DISCOUNT, WEIGHT = 1.5, 3
"""Powers of t, the iteration: regrets shrink by t^1.5 / (t^1.5 + 1), and a strategy counts as t^3."""


@partial(compiled, allocates=True, compile_first=True)
def evaluate(nodes: Any, player: int, strategy: Any, best: bool, space: Any, out: Any) -> None:
    """Write the values of a player's hands over all boards.

    `space`: float32[2, N, H], which begins with the weights, and float32[N, H], which is overwritten.
    """
    near, count = nodes.near, len(nodes.kind)
    reach, below = space
    for one in range(2):
        reaches(nodes, 0, near, 0, one, strategy, reach[one])
    out[:near] = 0.0
    for board in range(len(nodes.order)):
        if len(nodes.chances) > 0:
            play_on(nodes, board, nodes.scale, player, reach, below, out)
        else:
            shift = board * (count - near)
            deal(nodes, board, -1, reach[1 - player], reach[1 - player])
            reaches(nodes, near, count, shift, 1 - player, strategy, reach[1 - player])
            values(nodes, (near, count, shift, board), player, reach[1 - player], strategy, best, out)
            add_board(nodes, board, -1, nodes.scale, out)
        showdowns(nodes, nodes.early_shown, board, nodes.scale, reach[1 - player], out)
    values(nodes, (0, near, 0, -1), player, reach[1 - player], strategy, best, out)


def hand_values(tree: Betting, player: int, others: Floats, strategy: Rows, best: bool) -> Floats:
    """Return the values of a player's hands at the root: float64[H].

    Args:
        tree: the betting tree.
        player: 0 or 1.
        others: float64[H], the weights of the other's hands.
        strategy: float32[rows, H], of both.
        best: whether the player answers with its best response, in place of its strategy; beyond a depth limit it only
            chooses the best way.
    """
    reach = np.zeros((2, len(tree.action), len(tree.hands)), np.float32)
    reach[1 - player, 0] = others
    below = np.zeros(reach.shape[1:] if tree.limited else (0, 0), np.float32)
    out = np.zeros(reach.shape[1:], np.float32)
    evaluate(tree.nodes, player, strategy, best, (reach, below), out)
    return np.asarray(out[0], np.float64)


def mean_value(tree: Betting, player: int, ranges: Floats, strategy: Rows, best: bool) -> float:
    """Return a player's mean winnings with the weights of both, float64[2, H], in chips; see `hand_values`."""
    mine, others = ranges[player], ranges[1 - player]
    by_card = np.bincount(tree.nodes.cards.ravel(), np.repeat(others, 2), 52)
    opposed = others.sum() - by_card[tree.nodes.cards].sum(axis=1) + others  # the hands without a card of it
    return float(mine @ hand_values(tree, player, others, strategy, best) / (mine @ opposed))


class Progress(NamedTuple):
    """The arrays of a `Resolver`.

    Attributes:
        ranges: float64[2, H], the weights of both players' hands.
        promised: float64[H], what the other player may take at the root in place of playing on.
        free: the weight of each of its hands that may, beside those of its range.
        follow: float64[3, H]: how likely such a hand plays on; the regrets of playing on and of stopping.
        regrets, sums: float32[rows, H]; `sums` are of the weighed strategies.
        boards: int64[R], the order in which boards are visited.
        strategy, values: float32[N, H], overwritten; the second thread has its own.
        reach: float32[2, N, H], likewise.
    """

    ranges: Floats
    promised: Floats
    free: float
    follow: Floats
    regrets: Rows
    sums: Rows
    boards: Ints
    strategy: Rows
    values: Rows
    reach: Rows


class Resolver:
    """CFR+ on the end of a hand, in parts of any length.

    Args:
        tree: its betting tree.
        ranges: float64[2, H], the weights of both players' hands.
        me: whose strategy is wanted, 0 or 1.
        promised: float64[H], a value that the other player may take at the root with each hand, in place of playing
            on, where it does not come from its range; None: it always comes from its range.
        boards: how many boards an iteration visits.
    """

    def __init__(
        self, tree: Betting, ranges: Floats, me: int, promised: Floats | None = None, *, boards: int | None = None
    ) -> None:
        count, hands = len(tree.action), len(tree.hands)
        self.tree, self.iterations, self._me = tree, 0, me
        each = (1 if tree.limited else BOARDS) if boards is None else boards
        self._each = min(each, len(tree.boards))
        follow = np.zeros((3, hands))
        follow[0] = 1.0
        self._progress = Progress(
            np.array(ranges, np.float64),
            np.zeros(hands) if promised is None else promised,
            0.0 if promised is None else FREE * float(ranges[1 - me].sum()) / hands,
            follow,
            np.zeros((tree.rows, hands), np.float32),
            np.zeros((tree.rows, hands), np.float32),
            np.random.default_rng(0).permutation(len(tree.boards)),
            np.zeros((count, hands), np.float32),
            np.zeros((count, hands), np.float32),
            np.zeros((2, count, hands), np.float32),
        )
        self._second = Progress(*self._progress[:7], *(each.copy() for each in self._progress[7:]))
        self._thread = ThreadPoolExecutor(1)

    def run(self, iterations: int) -> None:
        """Go on for so many iterations; each updates both players, and two threads share its boards."""
        nodes, more = self.tree.nodes, self._each // 2
        for half in range(2 * self.iterations, 2 * (self.iterations + iterations)):
            step, begun = (half, self._me, self._each), half // 2 * self._each
            other = more and self._thread.submit(visit, nodes, self._second, step, begun, begun + more)
            visit(nodes, self._progress, step, begun + more, begun + self._each)
            if other:
                other.result()
                self._progress.values[: nodes.near] += self._second.values[: nodes.near]
            finish(nodes, self._progress, step)
        self.iterations += iterations

    def average(self) -> Rows:
        """Return the average strategy: float32[rows, H]; uniform with hands that never come to a node."""
        return normalised(self.tree, self._progress.sums)


def normalised(tree: Betting, weights: Rows) -> Rows:
    """Return the strategy in proportion to weights from 0 up, float32[rows, H]; uniform where all are 0."""
    nodes, out = tree.nodes, np.ones_like(weights)
    normalise(nodes, 0, nodes.near, 2, (0, 0), weights, out)
    for board in range(0 if tree.rows == nodes.near else len(tree.boards)):
        shift = tree.row(nodes.near, board) - nodes.near
        normalise(nodes, nodes.near, len(nodes.kind), 2, (shift, shift), weights, out)
    return out


@partial(compiled, allocates=True, compile_first=True)
def normalise(nodes: Any, start: int, stop: int, player: int, shifts: Any, weights: Any, out: Any) -> None:
    """Write the strategy at some nodes of a player that is proportional to weights from 0 up; uniform where all are 0.

    Player 2: of both. `shifts` are those of the rows of `weights` and `out`, float32[rows, H].
    """
    source, target = shifts
    total, size = np.empty(weights.shape[1], np.float32), weights.shape[1]
    for node in range(start, stop):
        if nodes.kind[node] >= SHOWDOWN or nodes.kind[node] == 1 - player:
            continue
        children = range(nodes.first[node], nodes.first[node] + nodes.count[node])
        total[:] = 0.0
        for child in children:
            for h in range(size):
                total[h] += weights[child + source, h]
        alone = np.float32(1.0) / np.float32(nodes.count[node])
        for child in children:
            for h in range(size):
                part = np.divide(weights[child + source, h], total[h])
                out[child + target, h] = part if total[h] > 0 else alone


@partial(compiled, allocates=True, compile_first=True, nogil=True)
def visit(nodes: Any, progress: Any, step: Any, start: int, stop: int) -> None:
    """Do a part of half an iteration: update a player on some boards, by their places in the order of visits.

    `step`: the number of the half, `me`, and how many boards an iteration visits.
    """
    half, me, each = step
    player, near, count, size = half % 2, nodes.near, len(nodes.kind), len(nodes.order)
    strategy, won, reach, share = progress.strategy, progress.values, progress.reach, nodes.scale * size / each
    for one in range(2):
        if one != player or half == 0:  # the other strategy is that of the last half
            for h in range(won.shape[1]):
                beside = 0.0 if one == me else progress.free * progress.follow[0, h]
                reach[one, 0, h] = progress.ranges[one, h] + beside
            normalise(nodes, 0, near, one, (0, 0), progress.regrets, strategy)
            reaches(nodes, 0, near, 0, one, strategy, reach[one])
    won[:near] = 0.0
    for k in range(start, stop):
        board = progress.boards[k % size]
        if len(nodes.chances) > 0:
            play_on(nodes, board, share, player, reach, strategy, won)
        else:
            shift = board * (count - near)
            normalise(nodes, near, count, 2, (shift, 0), progress.regrets, strategy)
            for one in range(2):
                deal(nodes, board, -1, reach[one], reach[one])
                reaches(nodes, near, count, 0, one, strategy, reach[one])
            values(nodes, (near, count, 0, board), player, reach[1 - player], strategy, False, won)
            update(nodes, (near, count, shift), player, half // 2 + 1, reach[player], progress)
            add_board(nodes, board, -1, share, won)
        showdowns(nodes, nodes.early_shown, board, share, reach[1 - player], won)


@partial(compiled, allocates=True, compile_first=True)
def finish(nodes: Any, progress: Any, step: Any) -> None:
    """Do the rest of half an iteration: update a player before the last cards are dealt, and the other one's
    probability, with each hand, of playing on and not taking the promised value.
    """
    half, me, _ = step
    player, near, won, follow = half % 2, nodes.near, progress.values, progress.follow
    values(nodes, (0, near, 0, -1), player, progress.reach[1 - player], progress.strategy, False, won)
    update(nodes, (0, near, 0), player, half // 2 + 1, progress.reach[player], progress)
    for h in range(won.shape[1] if player != me else 0):
        promised = progress.promised[h]
        value = follow[0, h] * won[0, h] + (1.0 - follow[0, h]) * promised
        follow[1, h] = max(0.0, follow[1, h] + won[0, h] - value)
        follow[2, h] = max(0.0, follow[2, h] + promised - value)
        total = follow[1, h] + follow[2, h]
        follow[0, h] = follow[1, h] / total if total > 0 else 0.5


@compiled
def update(nodes: Any, span: Any, player: int, t: int, mine: Any, progress: Any) -> None:
    """Update regrets and sums of strategies at a player's nodes: those from the first to before the second number."""
    start, stop, shift = span
    regrets, sums, won = progress.regrets, progress.sums, progress.values
    kept, weight = np.float32(t**DISCOUNT / (t**DISCOUNT + 1)), np.float32(t**WEIGHT)
    for node in range(start, stop):
        if nodes.kind[node] == player:
            for child in range(nodes.first[node], nodes.first[node] + nodes.count[node]):
                for h in range(won.shape[1]):
                    regret = kept * regrets[child + shift, h] + won[child, h] - won[node, h]
                    regrets[child + shift, h] = regret if regret > 0 else np.float32(0.0)
                    sums[child + shift, h] += weight * mine[child, h]
