"""SolvedPolicy: heads-up hold'em solved from samples with an abstraction, as it plays.

The betting of the hand is read from the observation and followed in the tree of the seat. An amount that the tree does
not have counts as the two next to it, with the probabilities of the pseudo-harmonic mapping (Ganzfried and Sandholm,
"Action translation in extensive-form games with large action spaces", IJCAI 2013); below the least raise, as a call and
that raise. So there may be several nodes, each with a weight, and the strategy is their mean.
"""

from collections.abc import Mapping
from functools import lru_cache
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ...envs.core.game import Game
from ...envs.holdem.ranges import HOLDINGS
from ...envs.holdem.table import CALL_ACTION, FOLD_ACTION, LEAST_RAISE
from .base import Floats, LearnedPolicy, TrainedFor, write_arrays
from .buckets import DIGEST, PLACE, Buckets, board_buckets, cached, computed_worth, equity_tables, rows_of, write_worth

MOST_NODES = 8
"""Nodes that a history is followed to at once; those with the least weight are dropped."""
MARKS = (1.0, 0.75, 0.5)
"""How an observation marks the cards of flop, turn and river."""


def can_be_solved(game: Game) -> bool:
    """Return True if there are solved strategies from samples for a game: heads-up hold'em."""
    return game.name == "holdem" and game.seats == 2


class _Strategy:
    """The tree of a seat and the levels of its decisions."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]], seat: int, rows: NDArray[np.int64]) -> None:
        nodes = np.asarray(arrays[f"nodes_{seat}"], np.int64)
        sizes, levels = np.asarray(arrays[f"sizes_{seat}"], np.float64), arrays[f"levels_{seat}"]
        if nodes.ndim != 2 or len(nodes) != 5 or sizes.shape != nodes[0].shape or levels.dtype != np.uint8:
            raise ValueError("its arrays do not fit")
        self.kind, self.first, self.count, self.action, street = nodes
        inside = (self.count == 0) | ((self.first > np.arange(len(sizes))) & (self.first + self.count <= len(sizes)))
        if not (inside.all() and np.isin(self.kind, (0, 1, 2)).all() and np.isin(street, range(4)).all()):
            raise ValueError("its tree is damaged")
        self.street, self.sizes = street, sizes
        self._rows = np.where(self.kind == seat, rows[street], 0)
        ends = np.cumsum(self._rows * self.count)
        self._starts, total = ends - self._rows * self.count, int(ends[-1])
        if levels.shape != ((total + 1) // 2,):
            raise ValueError(f"it has {levels.size:,} bytes of strategy in place of {(total + 1) // 2:,}")
        self._levels = np.stack([levels & 15, levels >> 4], axis=1).ravel()

    def at(self, node: int) -> NDArray[np.float64]:
        """Return the strategy of a decision: float64[rows, children]."""
        start, rows, count = int(self._starts[node]), int(self._rows[node]), int(self.count[node])
        levels = self._levels[start : start + rows * count].reshape(rows, count)
        return np.asarray(levels / np.maximum(1, levels.sum(axis=1, keepdims=True)), np.float64)

    def children(self, node: int) -> range:
        """Return the children of a node."""
        return range(int(self.first[node]), int(self.first[node] + self.count[node]))

    def below(self, node: int, seat: int, size: float | None, all_in: bool, mine: bool) -> dict[int, float]:
        """Return where an action leads, with weights; empty: nowhere.

        Args:
            node: where the hand is.
            seat: who acts.
            size: of the raise, as a fraction of the pot after the call; None: it was a call or a check.
            all_in: whether the raise was all-in.
            mine: whether the owner acts, whose raises are those of the tree but for rounding.
        """
        if self.kind[node] != seat:
            return {}
        calls = [child for child in self.children(node) if self.action[child] == CALL_ACTION]
        if size is None:
            return dict.fromkeys(calls, 1.0)
        raises = [child for child in self.children(node) if self.action[child] >= LEAST_RAISE]
        if not raises:
            return dict.fromkeys(calls, 1.0)
        if all_in or size >= self.sizes[raises[-1]]:
            return {raises[-1]: 1.0}
        nearest = min(raises, key=lambda child: abs(float(self.sizes[child]) - size))
        if mine or abs(self.sizes[nearest] - size) < 1e-5 * size:  # sizes are kept as float32
            return {nearest: 1.0}
        upper = next(child for child in raises if self.sizes[child] >= size)
        lower = next((child for child in reversed(raises) if self.sizes[child] <= size), None)
        a, b = 0.0 if lower is None else float(self.sizes[lower]), float(self.sizes[upper])
        if lower is None:
            lower = calls[0]
            if self.kind[lower] != 1 - seat or self.street[lower] != self.street[node]:
                return {upper: 1.0}  # a call there ends the street
        share = (b - size) * (1 + a) / ((b - a) * (1 + size))
        return {one: chance for one, chance in ((lower, share), (upper, 1 - share)) if chance > 0}


class SolvedPolicy(LearnedPolicy):
    """A solved strategy: it plays from observations, and tells exact probabilities.

    Args:
        arrays: those of the file; `parlour.training.solving.holdem_tree.packed` makes them.
        trained_for: the game.
        deterministic: play the most likely action instead of drawing one.
        seed: the seed of the policy's own random stream; None: fresh entropy.

    Raises:
        ValueError: if the game has none, the arrays are damaged, or the strategy is one of other buckets.
    """

    def __init__(
        self,
        arrays: Mapping[str, NDArray[Any]],
        trained_for: TrainedFor,
        deterministic: bool = False,
        seed: int | None = None,
    ) -> None:
        game = trained_for.make_game()
        if not can_be_solved(game):
            raise ValueError(f"{game.id} with these options reads no solved strategy")
        size = game.encoders[trained_for.encoder or game.encoder].layout.size
        super().__init__(size, game.num_actions, deterministic, seed)
        self.arrays = dict(arrays)
        if int(arrays.get("abstraction", np.array(-1))) != DIGEST:
            raise ValueError("another version of Parlour put other hands together in its buckets; solve the game again")
        layout = game.encoders["v0"].layout
        self._slice = {name: layout[f"game_state.{name}"].start for name in ("board", "history", "dealer")}
        self._cards = layout["game_state.players.cards"].start
        self._stack, self._committed = (layout[f"game_state.players.{name}"].start for name in ("stack", "committed"))
        self._slots = layout["game_state.history"].shape[1]
        self._unit = 1.0 / (100.0 * float(game.options["big_blind"]))
        self._blinds = int(game.options["small_blind"]), int(game.options["big_blind"])
        equities = tuple(np.ascontiguousarray(arrays[f"equities_{k}"], np.float64) for k in range(3))
        spreads = tuple(np.ascontiguousarray(arrays[f"spreads_{k}"], np.float64) for k in range(2))
        if any(len(one) != len(other) + 1 for one, other in zip(spreads, equities, strict=False)):
            raise ValueError("its spreads do not fit its equities")
        self.buckets = Buckets(equities, spreads)
        rows = rows_of(self.buckets)
        self.seats = [_Strategy(arrays, seat, rows) for seat in range(2)]
        self._of_board = lru_cache(4_096)(self._board_buckets)
        self.set_trained_for(trained_for)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the policy to a ``.npz`` file, with what it was trained for."""
        write_arrays(path, {"solved_for": self._arrays()["trained_for"], **self.arrays})

    @classmethod
    def _of_arrays(cls, file: dict[str, Any], trained_for: TrainedFor | None, deterministic: bool) -> Self:
        if trained_for is None:
            raise KeyError("solved_for")
        return cls(file, trained_for, deterministic)

    def _distribution(self, observations: Floats, masks: NDArray[np.int8]) -> Floats:
        public = observations.astype(np.float32)
        public[:, self._cards : self._cards + 52 + 10] = 0  # the cards and what they are worth
        keys = np.concatenate([public, masks.astype(np.float32)], axis=1)
        out = np.zeros(masks.shape, np.float32)
        groups: dict[bytes, list[int]] = {}
        for i, key in enumerate(keys):
            groups.setdefault(key.tobytes(), []).append(i)
        for rows in groups.values():
            board, strategy = self._public(observations[rows[0]], masks[rows[0]])
            held = observations[rows, self._cards : self._cards + 52]
            two = np.argsort(-held, axis=1, kind="stable")[:, :2]
            hands = PLACE[two[:, 0], two[:, 1]]
            out[rows] = strategy[self.buckets_on(board)[hands]]
        return out

    def bucket_probabilities(self, observation: NDArray[np.float32], mask: NDArray[np.int8]) -> NDArray[np.float32]:
        """Return the probabilities with every bucket of the street: float32[buckets, A]."""
        return self._public(observation, mask)[1].astype(np.float32)

    def buckets_on(self, board: tuple[int, ...]) -> NDArray[np.int64]:
        """Return the bucket of every hand of `HOLDINGS`, int64[1326]; 0 if it shares a card with the board."""
        return np.maximum(0, self._of_board(board))

    def _board_buckets(self, board: tuple[int, ...]) -> NDArray[np.int64]:
        out, cards = np.empty(len(HOLDINGS), np.int64), np.array([*board, *[0] * (5 - len(board))])
        worth = np.zeros((len(HOLDINGS), 2), np.uint8)
        if len(board) in (3, 4):
            if all(file.is_file() for file in cached()):
                write_worth(equity_tables(), cards, len(board), worth)
            else:
                worth = computed_worth(board)
        board_buckets(self.buckets, cards, len(board), worth, out)
        return out

    def _public(self, seen: NDArray[np.float32], mask: NDArray[np.int8]) -> tuple[tuple[int, ...], NDArray[np.float64]]:
        """Return the board, and the strategy of every bucket there: float64[rows, A]."""
        marks = seen[self._slice["board"] : self._slice["board"] + 52]
        cards = [[card for card in range(52) if marks[card] == mark] for mark in MARKS]
        board = tuple(card for each in cards for card in each)
        seat = 0 if seen[self._slice["dealer"]] > 0 else 1
        nodes, owed, pot = self._followed(seen, seat)
        own = self.seats[seat]
        rows = int(rows_of(self.buckets)[max(0, len(board) - 2)])
        strategy, total = np.zeros((rows, len(mask))), 0.0
        for node, weight in nodes.items():
            if own.kind[node] == seat and own._rows[node] == rows:
                total += weight
                for child, chances in zip(own.children(node), own.at(node).T, strict=True):
                    strategy[:, _legal(int(own.action[child]), mask, owed)] += weight * chances
        if total == 0.0:  # beyond the tree: by pot odds
            worth = np.arange(rows) % max(1, rows // 6) / max(1, rows // 6)
            calls = worth >= owed / (pot + owed) if owed > 0 else np.ones(rows, bool)
            strategy[:, CALL_ACTION], strategy[:, FOLD_ACTION] = calls, ~calls
        return board, strategy / strategy.sum(axis=1, keepdims=True)

    def _followed(self, seen: NDArray[np.float32], seat: int) -> tuple[dict[int, float], float, float]:
        """Return the nodes that the betting leads to, with weights; what is owed; and the pot."""
        own, nodes = self.seats[seat], {0: 1.0}
        chips = np.rint(seen[self._stack : self._stack + 2].astype(np.float64) ** 2 / self._unit)
        chips += np.rint(seen[self._committed : self._committed + 2].astype(np.float64) ** 2 / self._unit)
        chips = chips if seat == 0 else chips[::-1]  # from the button
        history = seen[self._slice["history"] :][: 8 * self._slots].reshape(4, self._slots, 2)
        put, street = np.zeros(2), 0
        bets = np.minimum(np.array(self._blinds, np.float64), chips)
        for street in range(4):
            entries = [(who, bet) for who, bet in history[street].astype(np.float64) if who > 0]
            for who, bet in entries:
                actor = seat if who < 0.75 else 1 - seat
                now, other = float(np.rint(bet * bet / self._unit)), float(bets[1 - actor])
                size, all_in = None, False
                if now > max(other, self._blinds[1] if street == 0 else 0):
                    size = (now - other) / (put.sum() + 2 * other)
                    all_in = now + put[actor] >= min(chips)
                weights: dict[int, float] = {}
                for node, weight in nodes.items():
                    for child, chance in own.below(node, actor, size, all_in, actor == seat).items():
                        weights[child] = weights.get(child, 0.0) + weight * chance
                nodes = dict(sorted(weights.items(), key=lambda item: -item[1])[:MOST_NODES])
                bets[actor] = now
            marks = seen[self._slice["board"] : self._slice["board"] + 52]
            if street < 3 and not ((history[street + 1 :, :, 0] > 0).any() or (marks == MARKS[street]).any()):
                break
            if street < 3:
                put += bets
                bets = np.zeros(2)
        owed = max(0.0, float(bets[1 - seat] - bets[seat]))
        return nodes, owed, float(put.sum() + bets.sum())


def _legal(action: int, mask: NDArray[np.int8], owed: float) -> int:
    """Return the legal action index that stands for one of the tree."""
    if action == FOLD_ACTION and owed == 0:
        return CALL_ACTION
    if mask[action]:
        return action
    raises = [one for one in range(LEAST_RAISE, len(mask)) if mask[one]]
    return min(raises, key=lambda one: abs(one - action)) if action >= LEAST_RAISE and raises else CALL_ACTION
