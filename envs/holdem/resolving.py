"""River decisions between two players, solved again: ranges from the policy's probabilities, then CFR+ with a gadget.

The policy's own probabilities tell how likely each hand would have played as it did. From these ranges the rest of the
hand is solved. The other player may stop at the root with each hand for what it wins there if both play as the policy
does; so the solution does not give away hands that the ranges take for unlikely. The solution is played only if an
exact best response to it wins no more than one to the policy.

After a solution was played, the player's own range follows from the solution, not from the policy.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.game import Game
from ..core.record import Tables
from ..core.rollout import encoder_of, played
from . import rules
from .range_text import weights_of
from .ranges import HOLDINGS, observe_holdings
from .river import Betting, Floats, Resolver, betting, hand_values, opposed
from .rules import Move
from .table import CALL, CALL_ACTION, FOLD, FOLD_ACTION, LEAST_RAISE, PREFLOP, RAISE, RIVER

Probabilities = Callable[[NDArray[np.float32], NDArray[np.int8]], NDArray[np.floating[Any]]]

PART = 5
"""Iterations between two looks at the clock."""
LEAST_ITERATIONS = 50
"""Iterations below which a solution is not played."""
REMEMBERED = 4_096
"""Solutions that are remembered for the player's next decisions in the same hands; about 30 kB each."""


class Solved(NamedTuple):
    """A river that was solved again.

    Attributes:
        tree: its betting tree. The player who decides at the root is player 0.
        ranges: float64[2, H], the weights of both players' hands.
        policy: float64[N, H], the policy's strategy.
        found: float64[N, H], the solution.
        before: what an exact best response to the policy wins, in chips.
        after: what one to the solution wins, both for player 1.
        iterations: how many there were.
        key: the hand until then, without the cards of the players.
    """

    tree: Betting
    ranges: Floats
    policy: Floats
    found: Floats
    before: float
    after: float
    iterations: int
    key: bytes


class _Solution(NamedTuple):
    """What a solution plays at its root: float32[actions, H] for the actions (int64) and hands (int64[H])."""

    hands: NDArray[np.int64]
    actions: NDArray[np.int64]
    strategy: NDArray[np.float32]

    def chances(self, num_actions: int) -> Floats:
        """Return how likely each action index is with each pair of hole cards, float64[1326, A]."""
        chances = np.zeros((len(HOLDINGS), num_actions))
        chances[np.ix_(self.hands, self.actions)] = self.strategy.T
        return chances


class RiverResolving:
    """Solves the river again at each decision there; see `parlour.wrappers.agents.resolving`.

    Args:
        game: hold'em with its options. At a table of one hand per episode or of many.
        policy: a policy of the game that tells its probabilities.
        iterations: of CFR+, at most.
        uniform_share: the share of both ranges that is spread over all hands, from 0 to 1.

    Raises:
        ValueError: for a policy that does not tell its probabilities.
    """

    def __init__(self, game: Game, policy: Any, *, iterations: int = 200, uniform_share: float = 0.1) -> None:
        probabilities = played(policy)
        if probabilities is None:
            raise ValueError(f"{type(policy).__name__} does not tell its probabilities: no ranges follow from its play")
        self._game, self._iterations, self._uniform_share = game, iterations, uniform_share
        self._encoder = game.encoders[encoder_of(policy, game)]
        self._probabilities: Probabilities = probabilities
        self._last: tuple[bytes, Solved] | None = None
        self._solutions: dict[bytes, _Solution] = {}  # that were played, by the hand until then

    def strategy(self, table: Any, late: Callable[[], bool]) -> NDArray[np.float64] | None:
        """Return how likely each action index of the acting seat is in the solution, float64[A].

        Args:
            table: the record, as complete as `View.load` makes it.
            late: tells whether time is over. It is called every few milliseconds.

        Returns:
            None where the policy's own action is to be played: before the river, among more than two players, where
            time is over, and where the solution is no better than the policy.
        """
        chances = self.strategies(table, late)
        hand = np.sort(table.cards[int(table.turn)])
        return None if chances is None else chances[(hand == HOLDINGS).all(axis=1)][0]

    def strategies(self, table: Any, late: Callable[[], bool]) -> Floats | None:
        """Return the same for each pair of hole cards, float64[1326, A]; all 0 where the board has one of the cards."""
        solved = self.solve(table, late)
        if solved is None or solved.after > solved.before:
            return None
        tree = solved.tree
        children = np.arange(1, 1 + int(tree.nodes.count[0]))
        solution = _Solution(tree.hands, tree.action[children], solved.found[children].astype(np.float32))
        self._remember(solved.key, solution)
        return solution.chances(self._game.num_actions)

    def solve(self, table: Any, late: Callable[[], bool]) -> Solved | None:
        """Return the river from a decision, solved again; None where that cannot be, or time is over before.

        The last river is remembered: who measures asks for an action and then for the probabilities.
        """
        if self._last is not None and self._last[0] == table.tobytes():
            return self._last[1]
        seats = [seat for seat in range(int(table.seats)) if table.seated[seat] and not table.folded[seat]]
        if int(table.phase) != RIVER or len(seats) != 2 or table.turn not in seats or table.cards[table.turn, 0] < 0:
            return None
        players = int(table.turn), sum(seats) - int(table.turn)
        past = self._replayed(table, players, late)
        tree = None if past is None or late() else betting(self._game, past[0][0], players)
        if tree is None or past is None:
            return None
        ranges = past[1][:, tree.hands]
        ranges /= ranges.sum(axis=1, keepdims=True)
        ranges = (1 - self._uniform_share) * ranges + self._uniform_share / len(tree.hands)
        policy = self._as_the_policy(tree, late)
        if policy is None:
            return None
        resolver = Resolver(tree, ranges, 0, hand_values(tree, 1, ranges[0], policy, best=False))
        while resolver.iterations < self._iterations and not late():
            resolver.run(min(PART, self._iterations - resolver.iterations))
        if resolver.iterations < min(LEAST_ITERATIONS, self._iterations):
            return None
        average = resolver.average()
        before, after = (exploited(tree, ranges, strategy) for strategy in (policy, average))
        solved = Solved(tree, ranges, policy, average, before, after, resolver.iterations, _key(past[0]))
        if resolver.iterations == self._iterations:
            self._last = table.tobytes(), solved
        return solved

    def warm_up(self) -> None:
        """Solve a river once, so that all code is compiled before a deadline runs."""
        tables = self._game.tables(1)
        table = tables[0]
        self._game.rules.reset(table)
        while not table.done and int(table.phase) != RIVER:
            left = int(table.seated.sum() - table.folded.sum())
            self._game.rules.play(table, FOLD_ACTION if left > 2 else CALL_ACTION)
        if not table.done:
            self.solve(table, lambda: False)

    # The past.

    def _remember(self, key: bytes, solution: _Solution) -> None:
        self._solutions.pop(key, None)
        self._solutions[key] = solution
        if len(self._solutions) > REMEMBERED:
            del self._solutions[next(iter(self._solutions))]

    def _replayed(self, table: Any, players: tuple[int, int], late: Callable[[], bool]) -> tuple[Tables, Floats] | None:
        """Return the record with the hand replayed, and both ranges float64[2, 1326]; None if they do not fit."""
        tables = self._begun(table)
        past = tables[0]
        ranges = self._first_ranges(players)
        for street in range(4):
            for k in range(int(rules.log_first(table, street)), int(table.log_end[street])):
                entry = int(table.log[k])
                seat, kind, bet = rules.entry_seat(entry), rules.entry_kind(entry), rules.entry_bet(entry)
                if past.done or late() or int(past.turn) != seat or int(past.phase) != PREFLOP + street:
                    return None
                move = Move(FOLD if kind == FOLD else RAISE if kind == RAISE else CALL, bet)
                if seat in players:
                    action = self._game.view.nearest(past, move)
                    alive = np.flatnonzero(ranges[players.index(seat)])
                    solution = self._solutions.get(_key(tables)) if seat == players[0] else None
                    if solution is None:
                        chances = self._told(tables, HOLDINGS[alive])[:, action]
                    else:
                        chances = solution.chances(self._game.num_actions)[alive, action]
                    if chances.max() > 0:
                        ranges[players.index(seat), alive] *= chances
                self._game.rules.step(past, move)
        same = all(np.array_equal(past[name], table[name]) for name in ("committed", "bet", "stack", "folded", "board"))
        return (tables, ranges) if same and int(past.turn) == players[0] else None

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

    def _told(self, tables: Tables, holdings: NDArray[np.int8]) -> Floats:
        """Return the policy's probabilities of the acting seat's actions with each of these hands: float64[H, A]."""
        table = tables[0]
        seen = observe_holdings(self._encoder, tables.copy().view(np.recarray), int(table.turn), holdings)
        masks = np.repeat(self._game.mask(table, int(table.turn))[None], len(holdings), axis=0)
        return np.asarray(self._probabilities(seen, masks), np.float64)

    def _as_the_policy(self, tree: Betting, late: Callable[[], bool]) -> Floats | None:
        """Return the policy's strategy in a tree, float64[N, H]; None if time is over.

        An action that the tree does not have counts as the raise of the nearest amount; to fold to no bet, as a check.
        """
        strategy = np.zeros((len(tree.action), len(tree.hands)))
        holdings = HOLDINGS[tree.hands]
        for node in np.flatnonzero(tree.nodes.count).tolist():
            if late():
                return None
            table = tree.tables[node]
            records = np.array([table], table.dtype).view(np.recarray)
            chances = self._told(records, holdings)
            children = range(int(tree.nodes.first[node]), int(tree.nodes.first[node] + tree.nodes.count[node]))
            there = {int(tree.action[child]): child for child in children}
            for action in np.flatnonzero(self._game.mask(table, int(table.turn))).tolist():
                strategy[there[_in_tree(self._game, table, action, list(there))]] += chances[:, action]
        return strategy


def _key(tables: Tables) -> bytes:
    """Return what tells a replayed hand from others, without the cards of the players."""
    public = tables.copy()
    public["cards"] = -1
    return public.tobytes()


def _in_tree(game: Game, table: Any, action: int, kept: list[int]) -> int:
    """Return which of the `kept` actions stands for an action."""
    if action in kept:
        return action
    if action < LEAST_RAISE:
        return CALL_ACTION
    amount = int(game.rules.decode(table, action).amount)
    raises = [one for one in kept if one >= LEAST_RAISE]
    return min(raises, key=lambda one: abs(int(game.rules.decode(table, one).amount) - amount))


def exploited(tree: Betting, ranges: Floats, strategy: Floats) -> float:
    """Return what an exact best response of player 1 wins from a strategy of player 0, in chips on average."""
    won = hand_values(tree, 1, ranges[0], strategy, best=True)
    return float(ranges[1] @ won / (ranges[1] @ opposed(tree.nodes.cards, ranges[0])))
