"""Decisions after the flop between two players, solved again: ranges from the policy's probabilities, then CFR+.

The policy's own probabilities tell how likely each hand would have played as it did. From these ranges the rest of the
hand is solved, from the chips that are really in the pot. The river is solved from the first decision that the two have
alone there, with the moves that were made since: what the other player bets on the river tells nothing of its range,
so that no bet is answered as if only the policy's own hands made it. Beside its range, the other player comes with any
hand (the gadget): with that it may stop at the root for what it wins there if both play as the policy does. So the
solution does not give away hands that the range takes for unlikely. The solution is played only if an exact best
response to it wins no more than one to the policy.

A solution is played on to the end of its street, as long as the other player's amounts are in its tree. The player's
own range follows from what it played. The river is solved with any policy that tells its probabilities, flop and turn
with one of buckets that tells those of all at once (`bucket_probabilities`, `buckets_on`). On the flop the later
streets are played as the policy does; the other player chooses, with each hand, whether it folds, calls or raises
`BIAS` times as often.
"""

import math
import time
from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...envs.core.game import Game
from ...envs.core.record import Tables
from ...envs.core.rollout import encoder_of, played
from ...envs.holdem import rules
from ...envs.holdem.ranges import HOLDINGS, observe_holdings, weights_of
from ...envs.holdem.rules import Move
from ...envs.holdem.table import CALL, CALL_ACTION, FLOP, FOLD, FOLD_ACTION, LEAST_RAISE, PREFLOP, RAISE, RIVER
from ...wrappers.agents.base import search_seconds
from .subgame import WAYS, Betting, Floats, Resolver, Rows, betting, hand_values, mean_value

Probabilities = Callable[[NDArray[np.float32], NDArray[np.int8]], NDArray[np.floating[Any]]]

PART = 5
"""Iterations on the river between two looks at the clock; on the turn it is looked at after each."""
LEAST_ITERATIONS = 50
"""Iterations below which a solution is not played."""
ITERATIONS = 300
"""Most iterations."""
FIRST_ROOT = RIVER
"""The street from which on the root is the first decision of the street, not the present one."""
OWN_SHARE = 0.001
"""The share of the own range that is spread over all hands, just so that each has a strategy."""
BIAS = 5.0
"""How many times as often the other player folds, calls or raises after the flop, if it chooses so."""
REMEMBERED = 4_096
"""Decisions whose solution is remembered, for the rest of the hand; about 17 kB each."""


class Solved(NamedTuple):
    """The end of a hand that was solved again.

    Attributes:
        tree: its betting tree. The player whose decision was solved is player 0.
        ranges: float64[2, H], the weights of both players' hands.
        policy: float32[rows, H], the policy's strategy.
        solution: float32[rows, H], the solution.
        before: what an exact best response to the policy wins, in chips.
        after: what one to the solution wins, both for player 1.
        iterations: how many there were.
    """

    tree: Betting
    ranges: Floats
    policy: Rows
    solution: Rows
    before: float
    after: float
    iterations: int


class _Solution(NamedTuple):
    """What is played at a decision: float32[actions, H] for the actions (int64) and hands (int64[H])."""

    hands: NDArray[np.int64]
    actions: NDArray[np.int64]
    strategy: NDArray[np.float32]

    def chances(self, num_actions: int) -> Floats:
        """Return the probability of each action index with each pair of hole cards, float64[1326, A]."""
        chances = np.zeros((len(HOLDINGS), num_actions))
        chances[np.ix_(self.hands, self.actions)] = (
            self.strategy.T / self.strategy.sum(axis=0, dtype=np.float64)[:, None]
        )
        return chances


class _Past(NamedTuple):
    """A replayed hand.

    Attributes:
        now: the record now.
        root: the record from which on it is solved; the same, or earlier on the street.
        moves: those that were made since.
        ranges: float64[2, 1326], at the root.
        players: the two seats, first the one that acts now.
    """

    now: Any
    root: Any
    moves: list[Move]
    ranges: Floats
    players: tuple[int, int]


class HoldemResolving:
    """Solves the end of a hand again at decisions after the flop; see `parlour.training.solving.resolving`.

    Args:
        game: hold'em with its options. At a table of one hand per episode or of many.
        policy: a policy of the game that tells its probabilities. If it does not tell those of all its buckets at once,
            only the river is solved.
        iterations: of CFR+, at most.
        turn_resolver: what solves trees of several boards without a depth limit: turns, and flops that face an all-in;
            `subgame_gpu.GpuResolver` on a GPU.

    Raises:
        ValueError: for a policy that does not tell its probabilities.
    """

    def __init__(
        self, game: Game, policy: Any, *, iterations: int = ITERATIONS, turn_resolver: type[Resolver] = Resolver
    ) -> None:
        probabilities = played(policy)
        if probabilities is None:
            raise ValueError(f"{type(policy).__name__} does not tell its probabilities: no ranges follow from its play")
        self._game, self._iterations = game, iterations
        self._turn_resolver = turn_resolver
        self._encoder = game.encoders[encoder_of(policy, game)]
        self._probabilities: Probabilities = probabilities
        self._policy = policy if hasattr(policy, "buckets_on") and not getattr(policy, "deterministic", False) else None
        self._first_phase = RIVER if self._policy is None else FLOP
        self._solutions: dict[bytes, _Solution | None] = {}  # by the hand until then; None: as the policy plays

    def strategy(self, table: Any, left: Callable[[], float]) -> NDArray[np.float64] | None:
        """Return the probability of each action index of the acting seat in the solution, float64[A].

        Args:
            table: the record, as complete as `View.load` makes it.
            left: returns the seconds left. It is called every few milliseconds.

        Returns:
            None where the policy's own action is to be played: before the first street, among more than two players,
            where time is over, and where the solution is no better than the policy.
        """
        chances = self.strategies(table, left)
        hand = np.sort(table.cards[int(table.turn)])
        return None if chances is None else chances[(hand == HOLDINGS).all(axis=1)][0]

    def strategies(self, table: Any, left: Callable[[], float]) -> Floats | None:
        """Return the same for each pair of hole cards, float64[1326, A]; all 0 where the board has one of the cards."""
        past = self._past(table, left)
        if past is None:
            return None
        key = _key(past.now)
        if key not in self._solutions:
            solved = self._solve(past, left)
            if solved is not None and solved.after <= solved.before:
                self._remember(solved)
            elif solved is not None and solved.iterations == self._iterations:
                self._solutions[key] = None
        solution = self._solutions.get(key)
        return None if solution is None else solution.chances(self._game.num_actions)

    def solve(self, table: Any, left: Callable[[], float]) -> Solved | None:
        """Return the hand from a decision on, solved again; None where that cannot be, or time is over before."""
        past = self._past(table, left)
        return None if past is None else self._solve(past, left)

    def _solve(self, past: _Past, left: Callable[[], float]) -> Solved | None:
        tree = betting(self._game, past.root, past.players, past.moves) if left() > 0 else None
        if tree is None:
            return None
        if tree.limited:
            limited = self._beyond(tree, left)
            if limited is None:
                return None
            tree = limited
        ranges = past.ranges[:, tree.hands]
        ranges /= ranges.sum(axis=1, keepdims=True)
        ranges[0] = (1 - OWN_SHARE) * ranges[0] + OWN_SHARE / len(tree.hands)
        policy = self._as_the_policy(tree, left)
        if policy is None:
            return None
        promised = hand_values(tree, 1, ranges[0], policy, best=False)
        make = Resolver if tree.limited or len(tree.boards) == 1 else self._turn_resolver
        resolver = make(tree, ranges, 0, promised)
        part = PART if len(tree.boards) == 1 else 1
        begun = left()
        before = mean_value(tree, 1, ranges, policy, best=True)
        needed = 0.0 if begun == inf else begun - left()  # `after` takes as long
        while resolver.iterations < self._iterations and left() > needed:
            resolver.run(min(part, self._iterations - resolver.iterations))
        if resolver.iterations < min(LEAST_ITERATIONS, self._iterations):
            return None
        average = resolver.average()
        after = mean_value(tree, 1, ranges, average, best=True)
        return Solved(tree, ranges, policy, average, before, after, resolver.iterations)

    def warm_up(self) -> None:
        """Solve each street once, so that all code is compiled before a deadline runs."""
        iterations, self._iterations = self._iterations, 1
        for phase in range(self._first_phase, RIVER + 1):
            tables = self._game.tables(1)
            table = tables[0]
            self._game.rules.reset(table)
            while not table.done and int(table.phase) != phase:
                playing = int(table.seated.sum() - table.folded.sum())
                self._game.rules.play(table, FOLD_ACTION if playing > 2 else CALL_ACTION)
            if not table.done:
                self.solve(table, lambda: inf)
        self._iterations = iterations

    # The past.

    def _remember(self, solved: Solved) -> None:
        """Keep what the player does at all of its decisions of the street."""
        tree, nodes = solved.tree, solved.tree.nodes
        for node in np.flatnonzero(nodes.kind[: nodes.near] == 0).tolist():
            children = slice(int(nodes.first[node]), int(nodes.first[node] + nodes.count[node]))
            key = _key(tree.tables[node])
            self._solutions.pop(key, None)
            # Copies: a view would keep the whole solution, 40 MB of a turn.
            self._solutions[key] = _Solution(tree.hands, tree.action[children].copy(), solved.solution[children].copy())
        while len(self._solutions) > REMEMBERED:
            del self._solutions[next(iter(self._solutions))]

    def _past(self, table: Any, left: Callable[[], float]) -> _Past | None:
        """Return the replayed hand; None where nothing is solved."""
        seats = [seat for seat in range(int(table.seats)) if table.seated[seat] and not table.folded[seat]]
        if not self._first_phase <= int(table.phase) <= RIVER or len(seats) != 2 or table.turn not in seats:
            return None
        players = int(table.turn), sum(seats) - int(table.turn)
        return None if table.cards[table.turn, 0] < 0 else self._replayed(table, players, left)

    def _replayed(self, table: Any, players: tuple[int, int], left: Callable[[], float]) -> _Past | None:
        """Return the hand replayed; None if the record does not fit."""
        tables = self._begun(table)
        past = tables[0]
        ranges = self._first_ranges(players)
        begun, moves = None, list[Move]()
        for street in range(4):
            for k in range(int(rules.log_first(table, street)), int(table.log_end[street])):
                entry = int(table.log[k])
                seat, kind, bet = rules.entry_seat(entry), rules.entry_kind(entry), rules.entry_bet(entry)
                if past.done or left() <= 0 or int(past.turn) != seat or int(past.phase) != PREFLOP + street:
                    return None
                move = Move(FOLD if kind == FOLD else RAISE if kind == RAISE else CALL, bet)
                if begun is None and past.phase == table.phase >= FIRST_ROOT and (past.seated > past.folded).sum() == 2:
                    begun = past.copy(), ranges.copy()
                if begun is not None:
                    moves.append(move)
                if seat in players:
                    action = self._game.view.nearest(past, move)
                    alive = np.flatnonzero(ranges[players.index(seat)])
                    solution = self._solutions.get(_key(past)) if seat == players[0] else None
                    if solution is None:
                        chances = self._chances(tables, alive)[:, action]
                    else:
                        chances = solution.chances(self._game.num_actions)[alive, action]
                    if chances.max() > 0:
                        ranges[players.index(seat), alive] *= chances
                self._game.rules.step(past, move)
        same = all(np.array_equal(past[name], table[name]) for name in ("committed", "bet", "stack", "folded", "board"))
        root, there = begun or (past, ranges)
        return _Past(past, root, moves, there, players) if same and int(past.turn) == players[0] else None

    def _begun(self, table: Any) -> Tables:
        """Return a record with the same hand at its beginning; cards that are not known stay so."""
        tables = self._game.tables(1)
        past = tables[0]
        for name in ("small_blind", "big_blind", "ante", "dealer"):
            past[name] = table[name]
        past.hands = 1
        past.stack[:] = table.stack + table.committed
        rules.open_hand(past)
        past.cards[:] = table.cards
        past.board[:] = table.board
        streets = ("preflop", "flop", "turn", "river")
        rules.begin_on_street(past, PREFLOP + streets.index(str(self._game.options["start"])))
        past.hand, past.hands = table.hand, 1
        return tables

    def _first_ranges(self, players: tuple[int, int]) -> Floats:
        given = self._game.options["ranges"] or [None] * self._game.seats
        return np.array(
            [np.ones(len(HOLDINGS)) if given[seat] is None else weights_of(given[seat]) for seat in players]
        )

    # The policy.

    def _chances(self, tables: Tables, hands: NDArray[np.int64]) -> Floats:
        """Return the policy's probabilities of the acting seat's actions with each of these hands: float64[H, A]."""
        table = tables[0]
        if self._policy is not None:
            return np.asarray(
                self._by_bucket(table)[self._on(table.board[: int(table.board_count)])[hands]], np.float64
            )
        seen = observe_holdings(self._encoder, tables.copy().view(np.recarray), int(table.turn), HOLDINGS[hands])
        masks = np.repeat(self._game.mask(table, int(table.turn))[None], len(hands), axis=0)
        return np.asarray(self._probabilities(seen, masks), np.float64)

    def _by_bucket(self, table: Any) -> Rows:
        """Return the policy's probabilities of the acting seat's actions with each bucket: float32[buckets, A]."""
        seat = int(table.turn)
        assert self._policy is not None
        chances = self._policy.bucket_probabilities(
            self._encoder.observation(table, seat), self._game.mask(table, seat)
        )
        return np.asarray(chances)

    def _on(self, board: NDArray[Any]) -> NDArray[np.int64]:
        """Return the bucket of every hand on a board, int64[1326]."""
        assert self._policy is not None
        return np.asarray(self._policy.buckets_on(tuple(board.tolist())))

    def _as_the_policy(self, tree: Betting, left: Callable[[], float]) -> Rows | None:
        """Return the policy's strategy in a tree, float32[rows, H]; None if time is over.

        An action that the tree does not have counts as the raise of the nearest amount; to fold to no bet, as a check.
        """
        nodes, last = tree.nodes, tree.nodes.near if tree.limited else len(tree.nodes.kind)
        strategy = np.zeros((tree.rows, len(tree.hands)), np.float32)
        buckets = [self._on(board)[tree.hands] for board in tree.boards] if last > nodes.near else []
        for node in np.flatnonzero(nodes.kind[:last] < 2).tolist():
            if left() <= 0:
                return None
            table, first = tree.tables[node], int(nodes.first[node])
            if nodes.way[first] >= 0:  # as it is
                strategy[first] = 1.0
                continue
            if node < nodes.near:
                now = np.array([table], table.dtype).view(np.recarray)
                chances = np.asarray(self._chances(now, tree.hands), np.float32)[None]
            else:
                by_bucket = self._by_bucket(table)
                chances = np.stack([by_bucket[each] for each in buckets])
            for action, child in self._places(tree, node):
                for board, each in enumerate(chances):
                    strategy[tree.row(child, board)] += each[:, action]
        return strategy

    def _places(self, tree: Betting, node: int) -> list[tuple[int, int]]:
        """Return the legal actions of a decision, and the child that stands for each."""
        table, first = tree.tables[node], int(tree.nodes.first[node])
        actions = tree.action[first : first + int(tree.nodes.count[node])].tolist()
        legal = np.flatnonzero(self._game.mask(table, int(table.turn))).tolist()
        return [(action, first + actions.index(_in_tree(self._game, table, action, actions))) for action in legal]

    def _beyond(self, tree: Betting, left: Callable[[], float]) -> Betting | None:
        """Return a tree with both players' ways to play on beyond its depth limit; None if time is over."""
        nodes, each = tree.nodes, dict[int, Rows]()
        for node in range(nodes.near, len(nodes.kind)):
            if left() <= 0:
                return None
            if nodes.kind[node] < 2:
                by_bucket = self._by_bucket(tree.tables[node])
                for action, child in self._places(tree, node):
                    each[child] = each.get(child, 0) + by_bucket[:, action]
        chances = np.zeros((WAYS, len(nodes.kind), max(map(len, each.values()), default=0)), np.float32)
        for child, likely in each.items():
            chances[:, child, : len(likely)] = likely
            kind = 1 + min(int(tree.action[child]), LEAST_RAISE)  # its way: fold, call or raise
            chances[kind, child] *= BIAS
        for node in (nodes.near + np.flatnonzero(nodes.kind[nodes.near :] < 2)).tolist():
            children = slice(int(nodes.first[node]), int(nodes.first[node] + nodes.count[node]))
            total = chances[:, children].sum(axis=1, keepdims=True)
            chances[:, children] /= np.where(total > 0, total, 1)
        buckets = np.array([[self._on(board[:count])[tree.hands] for count in (4, 5)] for board in tree.boards])
        return replace(tree, nodes=nodes._replace(chances=chances, buckets=buckets))


def _key(table: Any) -> bytes:
    """Return the key of a replayed hand: all but the cards that are not open."""
    public = table.copy()
    public.cards[:] = -1
    public.board[int(table.board_count) :] = -1
    return bytes(public.tobytes())


def _in_tree(game: Game, table: Any, action: int, kept: list[int]) -> int:
    if action in kept:
        return action
    if action < LEAST_RAISE:
        return CALL_ACTION
    amount = int(game.rules.decode(table, action).amount)
    raises = [one for one in kept if one >= LEAST_RAISE]
    return min(raises, key=lambda one: abs(int(game.rules.decode(table, one).amount) - amount))


class ResolvingPolicy:
    """Plays as a policy does, and by a new solution where one is found in time.

    It plans on records, which `act_on` gets: `PolicyAgent` and `play_until_done` call that. `act` is the policy's. The
    policy's action is chosen first, so it stands ready when time is over.

    Args:
        policy: the policy.
        resolving: finds the solutions.
        seconds: most time for the decisions of one call; None: no limit.
        seed: seed of the draws from new solutions; None takes entropy from the operating system.

    Attributes:
        encoder: the encoder of the policy.
        resolved: number of decisions by new solutions.

    Raises:
        ValueError: for seconds not above 0.
    """

    def __init__(
        self, policy: Any, resolving: HoldemResolving, *, seconds: float | None = None, seed: int | None = None
    ) -> None:
        if seconds is not None and not seconds > 0:  # nan is not above 0
            raise ValueError(f"seconds={seconds}: need more than 0")
        self.policy = policy
        self.encoder = getattr(policy, "encoder", None)
        self.resolved = 0
        self._resolving, self._seconds = resolving, seconds
        self._most = seconds  # for the next decision
        self._random = np.random.default_rng(seed)

    def warm_up(self) -> None:
        """Compile what a solution needs."""
        self._resolving.warm_up()

    def set_seconds_left(self, seconds: float | None) -> None:
        """Take at most `SEARCH_SHARE` of the seconds left for the next answer; None: only the own limit counts."""
        self._most = search_seconds(self._seconds, seconds)

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return the policy's actions: int64[N]."""
        return np.asarray(self.policy.act(observations, masks), np.int64)

    def act_on(
        self, tables: Tables, rows: NDArray[np.int64], observations: NDArray[np.float32], masks: NDArray[np.int8]
    ) -> NDArray[np.int64]:
        """Return an action per table in `rows` (int64[M]), by observations and masks of the same length: int64[M]."""
        until = math.inf if self._most is None else time.monotonic() + self._most

        def left() -> float:
            return until - time.monotonic()

        actions = np.array(self.act(observations, masks), np.int64)
        for index, row in enumerate(rows.tolist()):
            chances = self._resolving.strategy(tables[row], left) if left() > 0 else None
            open_chances = None if chances is None else chances * masks[index]
            if open_chances is not None and open_chances.sum() > 0:
                actions[index] = self._random.choice(len(open_chances), p=open_chances / open_chances.sum())
                self.resolved += 1
        return actions

    def probabilities_on(
        self, table: Any, hands: NDArray[np.int64], observations: NDArray[np.float32], masks: NDArray[np.int8]
    ) -> NDArray[np.float64]:
        """Return the probability of each action at a table with each of some private hands: float64[M, A].

        This is for measures: it takes no account of `seconds`.

        Args:
            table: the record; its acting seat decides.
            hands: int64[M], indices in the game's order of hands (hold'em: `HOLDINGS`).
            observations: the seat's observations with these hands, float32[M, D].
            masks: their masks, int8[M, A].
        """
        chances = self._resolving.strategies(table, lambda: math.inf)
        likely = played(self.policy) or self.policy.probabilities
        return np.asarray(likely(observations, masks) if chances is None else chances[hands], np.float64)
