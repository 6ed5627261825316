"""Heads-up hold'em for a solver from samples: a betting tree by the rules, and deals of a board with random hands.

In the tree one seat, the *owner*, has few raises of its own, and the other has more. Each seat's strategy is solved in
a tree of its own.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...envs.core.compiled import compiled
from ...envs.core.game import Game
from ...envs.core.rng import GOLDEN, mix
from ...envs.holdem.hands import card_set, set_strength
from ...envs.holdem.ranges import HOLDINGS
from ...envs.holdem.table import CALL_ACTION, FIRST_FRACTION, FOLD_ACTION, LEAST_RAISE, PREFLOP
from ...wrappers.policies.buckets import (
    DIGEST,
    Buckets,
    EquityTables,
    board_buckets,
    buckets_of,
    equity_tables,
    rows_of,
    write_worth,
)
from ...wrappers.policies.solved import SolvedPolicy
from .sampled import END, Deals, PublicTree

LEVELS = 15
"""A probability is kept as a whole number from 0 to this."""
HANDS = 192
"""Hands of a deal."""
SIZES = (10, 10, 20)
"""Places by equity on flop, turn and river."""
FOLDED, SHOWN = 0, 1
"""Matrices of a deal."""
PAIRS = 1_081 / 990
"""Pairs of different random hands by those that share no card."""
MIN, ALL_IN = 0.0, float("inf")
"""The least raise and all-in, in a menu of pot fractions."""


@dataclass(frozen=True)
class Menu:
    """The raises of both seats, as fractions of the pot after the call: a street's first, second, and all later ones.

    Attributes:
        own: the owner's.
        own_preflop: the same before the flop.
        other: the other seat's.
        other_preflop: the same before the flop.
    """

    own: Sequence[Sequence[float]] = ((2 / 3, ALL_IN), (1, ALL_IN), (ALL_IN,))
    own_preflop: Sequence[Sequence[float]] = ((MIN, 1, ALL_IN), (1, ALL_IN), (1, ALL_IN), (ALL_IN,))
    other: Sequence[Sequence[float]] = ((MIN, 2 / 3, 1.5, ALL_IN), (MIN, 1, ALL_IN), (MIN, ALL_IN))
    other_preflop: Sequence[Sequence[float]] = (*((MIN, 1, 2, ALL_IN),) * 3, (MIN, 1, ALL_IN))

    def raises(self, table: Any, owner: int) -> Sequence[float]:
        """Return the raises of the acting seat."""
        own, preflop = int(table.turn) == owner, int(table.phase) == PREFLOP
        each = (self.own_preflop if preflop else self.own) if own else self.other_preflop if preflop else self.other
        return each[min(int(table.raises), len(each) - 1)]


SMALL = Menu(
    other=((2 / 3, ALL_IN), (1, ALL_IN), (ALL_IN,)),
    other_preflop=((MIN, 1, ALL_IN), (1, ALL_IN), (1, ALL_IN), (ALL_IN,)),
)
"""Both seats have the owner's raises."""


def betting_tree(game: Game, owner: int, menu: Menu) -> PublicTree:
    """Return the betting tree of a hand in which seat 0 has the button.

    Raises:
        ValueError: for other options than two seats, equal stacks, and hands that begin before the flop.
    """
    options = game.options
    if options["seats"] != 2 or options["start"] != "preflop" or not isinstance(options["stacks"], int):
        raise ValueError("hold'em is solved from samples with two seats, equal stacks, and hands from the blinds on")
    tables = game.tables(1)
    tables[0].button, tables[0].hands = 0, 1
    game.rules.reset(tables[0])
    records: list[Any] = [tables[0]]
    actions, nodes, amounts = [-1], [], []
    for n, table in enumerate(records):  # it grows
        records[n] = None  # each is looked at once
        if table.done:
            amount, which = _end(game, table)
            nodes.append((END, 0, 0, 3, which))
            amounts.append(amount)
            continue
        legal = _in_menu(game, table, menu.raises(table, owner))
        nodes.append((int(table.turn), len(records), len(legal), int(table.phase) - PREFLOP, 0))
        amounts.append([0.0, 0.0])
        for action in legal:
            child = table.copy()
            game.rules.play(child, action)
            records.append(child)
            actions.append(action)
    each = np.array(nodes).T
    kind, first, count, street, matrix = (np.ascontiguousarray(one) for one in each)
    return PublicTree(kind, first, count, np.array(actions), street, np.array(amounts), matrix)


def raise_sizes(game: Game, tree: PublicTree) -> NDArray[np.float32]:
    """Return of every node the raise that leads to it, as a fraction of the pot after the call; 0: no raise does."""
    sizes = np.zeros(len(tree.kind), np.float32)
    for node, table in _tables(game, tree):
        for child in range(int(tree.first[node]), int(tree.first[node] + tree.count[node])):
            action = int(tree.action[child])
            if action >= LEAST_RAISE:
                raised = int(game.rules.decode(table, action).amount) - int(table.current_bet)
                sizes[child] = raised / (int(table.pot) + int(table.to_call))
    return sizes


def with_amounts(game: Game, nodes: NDArray[np.int64]) -> PublicTree:
    """Return a tree with the amounts of its ends, from what a policy file has: int64[5, N].

    Raises:
        ValueError: if it is not a tree of the game.
    """
    kind, first, count, action, street = (np.ascontiguousarray(each) for each in nodes)
    blank = PublicTree(kind, first, count, action, street, np.zeros((len(kind), 2)), np.zeros_like(kind))
    for node, table in _tables(game, blank):
        if kind[node] == END:
            blank.amount[node], blank.matrix[node] = _end(game, table)
    return blank


def _tables(game: Game, tree: PublicTree) -> Iterator[tuple[int, Any]]:
    """Yield every node with its table."""
    tables = game.tables(1)
    tables[0].button, tables[0].hands = 0, 1
    game.rules.reset(tables[0])
    records = {0: tables[0]}
    for node in range(len(tree.kind)):
        table = records.pop(node)
        yield node, table
        children = range(int(tree.first[node]), int(tree.first[node] + tree.count[node]))
        legal: Any = game.mask(table, int(table.turn)) if children else []
        for child in children:
            action = int(tree.action[child])
            if not legal[action]:
                raise ValueError(f"action {action} is not legal at node {node}: the tree is of another game")
            records[child] = table.copy()
            game.rules.play(records[child], action)


def _end(game: Game, table: Any) -> tuple[list[float], int]:
    """Return the amounts of both seats at an end, and its matrix."""
    put = float(min(table.committed[0], table.committed[1])) / float(game.options["big_blind"])
    folded = [bool(table.folded[seat]) for seat in range(2)]
    return [-put if lost else put for lost in folded], FOLDED if any(folded) else SHOWN


def _in_menu(game: Game, table: Any, raises: Sequence[float]) -> list[int]:
    """Return the action indices of a decision in the tree."""
    mask = game.mask(table, int(table.turn))
    fractions = list(game.options["pot_fractions"])
    wanted = []
    for part in raises:
        if part == MIN:
            wanted.append(LEAST_RAISE)
        elif part == ALL_IN:
            wanted.append(FIRST_FRACTION + len(fractions))
        else:
            wanted.append(FIRST_FRACTION + int(np.abs(np.array(fractions) - part).argmin()))
    own = [action for action in wanted if mask[action]]
    return [FOLD_ACTION] * int(table.to_call > 0) + [CALL_ACTION, *sorted(set(own))]


class Data(NamedTuple):
    """What a deal needs: the tables, the buckets of both seats, and whether these are the same."""

    tables: EquityTables
    buckets: tuple[Buckets, Buckets]
    alike: bool


@partial(compiled, allocates=True)
def write_deal(word: Any, data: Any, deal: Any) -> None:
    """Write a deal: a random board and random hands, the same for both seats."""
    deck = np.arange(52)
    for i in range(5):
        word = word + GOLDEN
        j = i + int((mix(word) >> np.uint64(32)) * np.uint64(52 - i) >> np.uint64(32))
        deck[i], deck[j] = deck[j], deck[i]
    dead = card_set(deck, 5)
    hands, count = np.empty(1081, np.int64), 0
    for h in range(len(HOLDINGS)):
        if card_set(HOLDINGS[h], 2) & dead == 0:
            hands[count] = h
            count += 1
    size = deal.weights.shape[1]
    for i in range(size):
        word = word + GOLDEN
        j = i + int((mix(word) >> np.uint64(32)) * np.uint64(count - i) >> np.uint64(32))
        hands[i], hands[j] = hands[j], hands[i]
    held, strength = np.empty(size, np.int64), np.empty(size, np.int64)
    for i in range(size):
        held[i] = card_set(HOLDINGS[hands[i]], 2)
        strength[i] = set_strength(held[i] | dead)
    scale = np.float32(PAIRS / size**2)  # the probability of a pair
    for i in range(size):
        for j in range(size):
            apart = held[i] & held[j] == 0
            deal.payoffs[0, 0, i, j] = scale if apart else np.float32(0.0)
            won = np.float32(strength[j] > strength[i]) - np.float32(strength[j] < strength[i])
            deal.payoffs[0, 1, i, j] = won * scale if apart else np.float32(0.0)
    deal.weights[:] = np.float32(1.0)
    bucket, worth = np.empty(len(HOLDINGS), np.int64), np.empty((len(HOLDINGS), 2), np.uint8)
    for street in range(4):
        if street == 1 or street == 2:
            write_worth(data.tables, deck, 2 + street, worth)
        for seat in range(2):
            if seat == 0 or not data.alike:
                board_buckets(data.buckets[seat], deck, 0 if street == 0 else 2 + street, worth, bucket)
            for i in range(size):
                deal.rows[street, seat, i] = bucket[hands[i]]


def deals(game: Game, small: bool) -> list[Deals]:
    """Return the deals of the trees of both seats; `small`: the other seat has no more actions than its owner."""
    buckets = buckets_of(equity_tables(), SIZES)
    return [
        deals_on(betting_tree(game, owner, SMALL if small else Menu()), (buckets, buckets), True) for owner in range(2)
    ]


def deals_on(tree: PublicTree, buckets: tuple[Buckets, Buckets], alike: bool = False) -> Deals:
    """Return the deals of a betting tree, with the buckets of each seat; `alike`: they are the same."""
    rows = np.stack([rows_of(each) for each in buckets], axis=1)
    data = Data(equity_tables(), buckets, alike)
    return Deals(tree=tree, rows=rows, hands=HANDS, matrices=(2, 1), write=write_deal, data=data)


def quantised(chances: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Return distributions, float64[N, A], as whole numbers that sum to `LEVELS`: the largest remainders round up."""
    scaled = chances * LEVELS
    whole = np.floor(scaled).astype(np.int64)
    order = np.argsort(np.argsort(whole - scaled, axis=1, kind="stable"), axis=1)
    whole += order < (LEVELS - whole.sum(axis=1))[:, None]
    return whole.astype(np.uint8)


def packed(game: Game, solved: Sequence[tuple[Deals, Any]]) -> dict[str, NDArray[Any]]:
    """Return the arrays of a policy file.

    Args:
        game: hold'em with two seats.
        solved: for each seat (0: the button) its deals, and ``strategy(node)``: float64[rows, children].
    """
    arrays: dict[str, NDArray[Any]] = {"abstraction": np.array(DIGEST)}
    buckets = solved[0][0].data.buckets[0]
    for seat, (deals, strategy) in enumerate(solved):
        tree = deals.tree
        nodes = np.stack([tree.kind, tree.first, tree.count, tree.action, tree.street]).astype(np.int32)
        own = np.flatnonzero(tree.kind == seat)
        levels = np.concatenate([quantised(strategy(int(node))).ravel() for node in own])
        levels = np.append(levels, np.zeros(len(levels) % 2, np.uint8))
        arrays[f"nodes_{seat}"] = nodes
        arrays[f"sizes_{seat}"] = raise_sizes(game, tree)
        arrays[f"levels_{seat}"] = levels[::2] | levels[1::2] << 4
    for k, edges in enumerate(buckets.equities):
        arrays[f"equities_{k}"] = edges
    for k, edges in enumerate(buckets.spreads):
        arrays[f"spreads_{k}"] = edges
    return arrays


def response(
    game: Game, policy: SolvedPolicy, sizes: Sequence[int]
) -> Sequence[tuple[Deals, Callable[[int], NDArray[np.float64]]]]:
    """Return for each seat of a solved policy the deals of its tree, and ``strategy(node)``: float64[rows, children].

    Args:
        game: hold'em with two seats.
        policy: the policy.
        sizes: places by equity of the other seat, on flop, turn and river; none: it has the policy's buckets.
    """
    if sizes and (len(sizes) != 3 or min(sizes) < 1):
        raise ValueError(f"buckets={list(sizes)}: give three numbers from 1 on, for flop, turn and river")
    places = []
    finer = buckets_of(equity_tables(), (sizes[0], sizes[1], sizes[2])) if sizes else policy.buckets
    for seat, strategy in enumerate(policy.seats):
        tree = with_amounts(game, np.asarray(policy.arrays[f"nodes_{seat}"], np.int64))
        buckets = (policy.buckets, finer) if seat == 0 else (finer, policy.buckets)
        places.append((deals_on(tree, buckets, alike=not sizes), strategy.at))
    return places
