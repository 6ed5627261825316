"""Exact values: a game with the capability `Chance` as a flat tree, best responses, NashConv.

    tree = flat_tree(parlour.envs.game("leduc"))
    strategy = tree.strategy_of(policy)
    values(tree, strategy), nash_conv(tree, strategy)

The tree is kept in sequence form (Koller, Megiddo and von Stengel, STOC 1994). A **sequence** is what one seat has
done on the way to a node: the last of its information sets with the action there. What the seats do at an end of the
game is one sequence each, so that an end is a payoff and a sequence per seat, and all ends with the same sequences
are one. A strategy is a float64[sequences]: the probability of each sequence's action in its information set.

Information sets are what the observations of an encoder tell apart.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, runtime_checkable

import numba
import numpy as np
from numba.extending import is_jitted
from numpy.typing import NDArray

from ...envs import Game, compiled
from ...envs.core import loops
from ...envs.core.chance import required_chance
from ...envs.core.record import Tables
from ...envs.core.rollout import played

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CHANCE, END = -1, -2
"""Of a node, in place of the seat that decides."""
MOST_NODES = 5_000_000
"""Most nodes of a tree."""
MOST_BYTES = 2**33
"""Most memory for the records of one depth of a tree."""

_config: Any = numba.config  # its settings have no types
outcomes: Any = None
play: Any = None
probability: Any = None
step: Any = None
decode: Any = None
legal: Any = None


@runtime_checkable
class Probable(Protocol):
    """A policy that tells its probabilities."""

    def probabilities(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.floating[Any]]:
        """Return the probability of each action index, 0 where masked: float[N, A]."""


@dataclass(frozen=True)
class Tree:
    """A game in sequence form. Sequence `s` below `seats` is the empty one of seat `s`.

    Attributes:
        game: the game.
        encoder: the name of the encoder whose observations tell information sets apart.
        nodes: how many nodes the tree has.
        seat: int64[I], who decides at each information set. A set stands after those that lead to it.
        parent: int64[I], the sequence of that seat that leads to it.
        first: int64[I + 1]: its sequences are those from ``first[i]`` up to ``first[i + 1]``, in order of actions.
        action: int64[Q], the action index of every sequence; −1: it is empty.
        observations: float32[I, D], what is observed there.
        masks: int8[I, A], what is legal there.
        tables: a record of each set, one of those that its seat cannot tell apart.
        ends: int64[T, seats], the sequences that lead to each end.
        payoffs: float64[T, seats], what each seat wins there, times the probability of the random events.
        chances: float64[T], the probability of the random events on the way there.
    """

    game: Game
    encoder: str
    nodes: int
    seat: Ints
    parent: Ints
    first: Ints
    action: Ints
    observations: NDArray[np.float32]
    masks: NDArray[np.int8]
    tables: Tables
    ends: Ints
    payoffs: Floats
    chances: Floats

    def strategy_of(self, policy: Probable) -> Floats:
        """Return a policy in all seats as a strategy: float64[Q]. A deterministic one plays its most likely actions.

        Raises:
            ValueError: if the policy tells no probabilities of legal actions somewhere.
        """
        likely = played(policy) or policy.probabilities
        probabilities = np.where(self.masks, np.asarray(likely(self.observations, self.masks), np.float64), 0.0)
        sums = probabilities.sum(axis=1, keepdims=True)
        if not ((probabilities >= 0).all() and np.isfinite(probabilities).all() and (sums > 0).all()):
            raise ValueError(
                "the policy tells no probabilities of the legal actions: need numbers from 0 up, not all 0"
            )
        probabilities /= sums
        return self.strategy(probabilities)

    def strategy(self, probabilities: NDArray[Any]) -> Floats:
        """Return probabilities by information set and action index, float[I, A], as a strategy: float64[Q]."""
        return np.concatenate([np.ones(self.first[0]), probabilities[self.masks > 0]])

    def probabilities(self, strategy: Floats) -> NDArray[np.float32]:
        """Return a strategy by information set and action index: float32[I, A]."""
        table = np.zeros(self.masks.shape, np.float32)
        table[self.masks > 0] = strategy[self.first[0] :]
        return table

    def uniform(self) -> Floats:
        """Return the strategy that plays all legal actions with the same probability."""
        sizes = np.diff(self.first)
        return np.concatenate([np.ones(self.first[0]), np.repeat(1 / sizes, sizes)])


def values(tree: Tree, strategy: Floats) -> Floats:
    """Return the mean win of every seat where all play by `strategy`: float64[seats].

    Raises:
        ValueError: if it is no strategy of the tree.
    """
    _check(tree, strategy)
    plan = realised(strategy, tree.parent, tree.first)
    return np.asarray(plan[tree.ends].prod(axis=1) @ tree.payoffs)


def best_response(tree: Tree, strategy: Floats, seat: int) -> tuple[float, Floats]:
    """Return the greatest mean win of `seat` where all others play by `strategy`, and a strategy that has it.

    The strategy is float64[Q]; those of the others are as they were.

    Raises:
        ValueError: if it is no strategy of the tree.
    """
    _check(tree, strategy)
    plan = realised(strategy, tree.parent, tree.first)
    gains, reply = np.zeros(len(strategy)), strategy.copy()
    add_gains(tree.ends, tree.payoffs, plan, seat, gains)
    respond(seat, tree.seat, tree.parent, tree.first, gains, reply)
    return float(gains[seat]), reply


def seated(tree: Tree, seat: int, mine: Floats, theirs: Floats) -> Floats:
    """Return the strategy in which `seat` plays by `mine` and all others by `theirs`: float64[Q]."""
    own = np.append(np.arange(tree.game.seats), np.repeat(tree.seat, np.diff(tree.first))) == seat
    return np.where(own, mine, theirs)


def nash_conv(tree: Tree, strategy: Floats) -> float:
    """Return the sum of what all seats can win more by a best response: 0 at an equilibrium."""
    best = [best_response(tree, strategy, seat)[0] for seat in range(tree.game.seats)]
    return float(np.sum(best) - values(tree, strategy).sum())


def _check(tree: Tree, strategy: Floats) -> None:
    """Raise ValueError unless the probabilities of each information set are from 0 to 1 and sum to 1."""
    if not isinstance(strategy, np.ndarray) or strategy.shape != tree.action.shape:
        given = f"shape {strategy.shape}" if isinstance(strategy, np.ndarray) else repr(strategy)
        raise ValueError(
            f"a strategy of this tree is float64[{len(tree.action)}], a probability for every sequence; got {given}"
        )
    sums = np.add.reduceat(strategy, tree.first[:-1]) if len(tree.seat) else np.ones(0)
    if not (strategy >= 0).all() or not np.allclose(sums, 1, atol=1e-6):
        raise ValueError("this is no strategy: the probabilities of an information set are from 0 to 1 and sum to 1")


@partial(compiled, allocates=True, compile_first=True)
def realised(strategy: Any, parent: Any, first: Any) -> Any:
    """Return the realization plan: the product of the probabilities along each sequence, float64[Q]."""
    plan = np.ones(len(strategy))
    for i in range(len(parent)):
        for s in range(first[i], first[i + 1]):
            plan[s] = plan[parent[i]] * strategy[s]
    return plan


@partial(compiled, compile_first=True)
def add_gains(ends: Any, payoffs: Any, plan: Any, seat: int, gains: Any) -> None:
    """Add to `gains` what a seat wins at the ends of each of its sequences, by what the others do: float64[Q]."""
    if ends.shape[1] == 2:
        for t in range(len(ends)):
            gains[ends[t, seat]] += payoffs[t, seat] * plan[ends[t, 1 - seat]]
        return
    for t in range(len(ends)):
        won = payoffs[t, seat]
        for other in range(ends.shape[1]):
            if other != seat:
                won *= plan[ends[t, other]]
        gains[ends[t, seat]] += won


@partial(compiled, compile_first=True)
def respond(seat: int, seats: Any, parent: Any, first: Any, gains: Any, reply: Any) -> None:
    """Write the best action of every information set of a seat into `reply`; ``gains[seat]`` becomes its value."""
    for i in range(len(seats) - 1, -1, -1):
        if seats[i] == seat:
            best = first[i]
            for s in range(first[i], first[i + 1]):
                reply[s] = 0.0
                if gains[s] > gains[best]:
                    best = s
            reply[best] = 1.0
            gains[parent[i]] += gains[best]


# Making the tree.


def look_at(tables: Any, who: Any, counts: Any, masks: Any) -> None:
    """Write who decides at each record (`CHANCE`, `END`), the number of its branches, and the action masks."""
    for i in range(len(tables)):
        table = tables[i]
        counts[i] = outcomes(table)
        who[i] = -1
        if counts[i] == 0:
            who[i] = -2
            if not table.done:
                who[i] = table.turn
                legal(table, masks[i])
                for action in range(masks.shape[1]):
                    counts[i] += masks[i, action]


def go_on(children: Any, who: Any, counts: Any, masks: Any, actions: Any, chances: Any) -> None:
    """Play every outcome and every legal action on copies of the records, which are in their order in `children`."""
    k = 0
    for i in range(len(who)):
        if who[i] == -1:
            for outcome in range(counts[i]):
                chances[k] = probability(children[k], outcome)
                if chances[k] < 0:
                    chances[k] = 1.0 / counts[i]
                play(children[k], outcome)
                k += 1
        elif who[i] >= 0:
            for action in range(masks.shape[1]):
                if masks[i, action]:
                    actions[k] = action
                    step(children[k], decode(children[k], action))
                    k += 1


@compiled
def equally(table: Any, outcome: int) -> float:
    """Return −1, which stands for outcomes of the same probability."""
    return -1.0


def flat_tree(game: Game, encoder: str | None = None, most: int = MOST_NODES) -> Tree:
    """Return the tree of a game.

    Args:
        game: with the capability `Chance`.
        encoder: the name of the encoder by whose observations the seats tell nodes apart; None: the game's own.
        most: how many nodes there may be.

    Raises:
        ValueError: if the game's random events cannot be enumerated, or draw from the match's stream; a function is
            not compiled; there are more than `most` nodes; their records take more than `MOST_BYTES` at one depth; or
            a seat would forget what it knew or did: an encoder must tell all of that.
    """
    chance = required_chance(game)
    name = encoder or game.encoder
    look = loops.compile_loop(look_at, outcomes=chance.outcomes, legal=game.rules.legal)
    go = loops.compile_loop(
        go_on, probability=chance.probability or equally, play=chance.play, step=chance.step, decode=game.rules.decode
    )
    if not (_config.DISABLE_JIT or (is_jitted(look) and is_jitted(go))):
        raise ValueError(
            f"a function of {game.id} is not compiled, so that there is no tree: decorate the functions of its rules "
            "(of a game in phases pay, odds, follow, early, late) with `parlour.envs.compiled`"
        )
    tables = game.tables(1)
    chance.begin(tables[0])
    builder = _Builder(game, name, most)
    level = _Level(
        tables.view(np.ndarray), np.arange(game.seats)[None], np.ones(1), np.zeros((1, game.seats)), np.zeros(1, bool)
    )
    while len(level.tables):
        level = builder.expand(level, look, go)
    return builder.tree()


@dataclass
class _Level:
    """Nodes of one depth: the records, the sequences that lead there, the probability of the random events, what the
    seats have won, and whether anybody has acted."""

    tables: NDArray[Any]
    sequences: Ints
    chances: Floats
    won: Floats
    acted: NDArray[np.bool_]


class _Builder:
    def __init__(self, game: Game, encoder: str, most: int) -> None:
        self.nodes = 1
        self._game, self._encoder, self._most = game, encoder, most
        self._numbers: dict[bytes, int] = {}  # of the information sets
        self._sets: list[tuple[Any, ...]] = []  # seat, parent, first sequence, observation, mask and record of each
        self._actions = [-1] * game.seats
        self._ends: list[tuple[Ints, Floats, Floats]] = []  # of each level: sequences, payoffs and chances

    def expand(self, level: _Level, look: Any, go: Any) -> _Level:
        """Note the ends and information sets of a level, and return the next one."""
        name, count = self._game.id, len(level.tables)
        who, counts = np.zeros(count, np.int64), np.zeros(count, np.int64)
        masks = np.zeros((count, self._game.num_actions), np.int8)
        look(level.tables, who, counts, masks)
        settled = (who != CHANCE) & level.acted
        level.won[settled] += level.tables["rewards"][settled, : level.won.shape[1]]
        ends = who == END
        self._ends.append((level.sequences[ends], level.won[ends] * level.chances[ends, None], level.chances[ends]))
        first = np.zeros(count, np.int64)
        rows = np.flatnonzero(who >= 0)
        if len(rows):
            first[rows] = self._information_sets(level, rows, who, masks)
        children, each = int(counts.sum()), level.tables.itemsize  # looked at before they are made
        self.nodes += children
        if self.nodes > self._most:
            raise ValueError(
                f"the tree of {name} has more than {self._most:,} nodes: {children:,} at one depth; options with "
                "fewer choices and narrower ranges of private values make it smaller"
            )
        if children * each > MOST_BYTES:
            raise ValueError(
                f"the tree of {name} has {children:,} nodes of {each:,} bytes at one depth: it needs to fit into "
                f"{MOST_BYTES / 2**30:g} GiB; options with fewer choices make it smaller"
            )
        above = np.repeat(np.arange(count), counts)
        tables, chances = level.tables[above], np.ones(len(above))
        actions = np.zeros(len(above), np.int64)
        go(tables, who, counts, masks, actions, chances)
        if (tables["stream"] != level.tables["stream"][above]).any():
            raise ValueError(
                f"{name} draws from the stream of the match, so its tree would hold one draw of many: give "
                "PhaseGame(odds=…), or list the outcomes in Chance"
            )
        sequences = level.sequences[above]
        decided = np.flatnonzero(who[above] >= 0)
        places = np.arange(len(above)) - (np.cumsum(counts) - counts)[above]
        sequences[decided, who[above][decided]] = (first[above] + places)[decided]
        return _Level(
            tables, sequences, level.chances[above] * chances, level.won[above], level.acted[above] | (who[above] >= 0)
        )

    def _information_sets(self, level: _Level, rows: Ints, who: Ints, masks: NDArray[np.int8]) -> Ints:
        """Return the first sequence of the information set of every row."""
        seen = self._game.encoders[self._encoder].observations(level.tables, rows)
        keyed = np.concatenate([who[rows, None].astype(np.float32), seen], axis=1)
        keys = np.ascontiguousarray(keyed).view(np.dtype((np.void, keyed.shape[1] * 4))).ravel()
        unique, at, inverse = np.unique(keys, return_index=True, return_inverse=True)
        found: list[tuple[Any, ...]] = []
        for key, row in zip(unique, at.tolist(), strict=True):
            node = int(rows[row])
            number = self._numbers.setdefault(key.tobytes(), len(self._sets))
            if number == len(self._sets):
                seat, mask = int(who[node]), masks[node]
                parent, table = int(level.sequences[node, seat]), level.tables[node].copy()
                self._sets.append((seat, parent, len(self._actions), seen[row], mask, table))
                self._actions += np.flatnonzero(mask).tolist()
            found.append(self._sets[number])
        parents, firsts = (np.array([one[column] for one in found])[inverse] for column in (1, 2))
        leads = level.sequences[rows, who[rows]] != parents
        if leads.any() or any((masks[rows[row]] != one[4]).any() for row, one in zip(at, found, strict=True)):
            raise ValueError(
                f"a seat of {self._game.id} would forget what it knew or did: nodes that its observations do not tell "
                "apart have different pasts, or different legal actions; options that limit the actions of a round may "
                "help"
            )
        return firsts

    def tree(self) -> Tree:
        """Return the tree; ends with the same sequences become one."""
        game = self._game
        sequences, won, likely = (np.concatenate(part) for part in zip(*self._ends, strict=True))
        ends, inverse = np.unique(sequences, axis=0, return_inverse=True)
        payoffs, chances = np.zeros((len(ends), game.seats)), np.zeros(len(ends))
        np.add.at(payoffs, inverse.ravel(), won)
        np.add.at(chances, inverse.ravel(), likely)
        columns = list(map(list, zip(*self._sets, strict=True))) or [[]] * 6
        seat, parent, first, observations, masks, tables = columns
        return Tree(
            game=game,
            encoder=self._encoder,
            nodes=self.nodes,
            seat=np.array(seat, np.int64),
            parent=np.array(parent, np.int64),
            first=np.array([*first, len(self._actions)], np.int64),
            action=np.array(self._actions, np.int64),
            observations=np.array(observations),
            masks=np.array(masks),
            tables=np.array(tables, game.rules.blank.dtype).view(np.recarray),
            ends=np.ascontiguousarray(ends, np.int64),
            payoffs=payoffs,
            chances=chances,
        )
