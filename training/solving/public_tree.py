"""The public tree of a game of two seats, and the hands that chance deals into it: what a solver from samples needs.

All actions are public, and what is legal does not depend on hands. A *hand* is all that one seat alone knows; it is
dealt before the first decision. Public random events, such as the cards of a board, come between *streets*.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...envs.core.chance import after, starts
from ...envs.core.compiled import compiled
from ...envs.core.game import Game
from ...envs.core.rng import fraction

END = 2
"""The kind of a node where the game is over."""


class PublicTree(NamedTuple):
    """The public nodes, the root first; the children of a node stand together, after it.

    Attributes:
        kind: int64[N]: the seat that decides, or `END`.
        first: int64[N]: the first child.
        count: int64[N]: the number of children.
        action: int64[N]: the action index that leads to the node; −1 at the root.
        street: int64[N]: how many public random events the seats have seen.
        amount: float64[N, 2]: of an end, the factor of its matrix for each seat.
        matrix: int64[N]: of an end, which matrix of the deal it has.
    """

    kind: NDArray[np.int64]
    first: NDArray[np.int64]
    count: NDArray[np.int64]  # type: ignore[assignment]  # not the method of a tuple
    action: NDArray[np.int64]
    street: NDArray[np.int64]
    amount: NDArray[np.float64]
    matrix: NDArray[np.int64]


class Deal(NamedTuple):
    """What one iteration deals: all hands at once, and one outcome of every public random event.

    Attributes:
        weights: float32[2, H]: the weights of both seats' hands.
        rows: int64[streets, 2, H]: what each hand counts as on each street, a number below
            `Deals.rows`.
        payoffs: float32[1 or 2, K, H, H]: for each seat (or both alike) and each matrix, what its hand (last axis) wins
            from each hand of the other seat, times the probability of the pair.
    """

    weights: NDArray[np.float32]
    rows: NDArray[np.int64]
    payoffs: NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class Deals:
    """A public tree with its deals.

    Attributes:
        tree: the tree.
        rows: int64[streets, 2]: how many rows the strategy of each seat has at a decision of each street.
        hands: hands of a deal, H.
        matrices: matrices of a deal: their number for each seat, and whether each seat has its own (else 1).
        write: ``write(word, data, deal)``, compiled: writes a deal, drawn by a random uint64.
        data: what `write` needs.
    """

    tree: PublicTree
    rows: NDArray[np.int64]
    hands: int
    matrices: tuple[int, int]
    write: Callable[..., None]
    data: Any

    def blank(self) -> Deal:
        """Return arrays for a deal."""
        count, seats = self.matrices
        return Deal(
            np.zeros((2, self.hands), np.float32),
            np.zeros((len(self.rows), 2, self.hands), np.int64),
            np.zeros((seats, count, self.hands, self.hands), np.float32),
        )


class _Listed(NamedTuple):
    """The deals of a small game: the probabilities of its events summed up, and its matrices for each."""

    until: NDArray[np.float64]
    payoffs: NDArray[np.float32]  # [events, 2, K, H, H]


@compiled
def write_listed(word: Any, data: Any, deal: Any) -> None:
    """Write a deal of a small game: all hands, with a random event."""
    event, share = 0, fraction(word)
    while event + 1 < len(data.until) and share >= data.until[event]:
        event += 1
    hands = deal.weights.shape[1]
    for seat in range(2):
        for h in range(hands):
            deal.weights[seat, h] = 1.0
            deal.rows[0, seat, h] = h
            if len(deal.rows) > 1:
                deal.rows[1, seat, h] = event * hands + h
    deal.payoffs[:] = data.payoffs[event]


class ListedDeals:
    """The deals of a small game, from its exact tree.

    Args:
        game: with the capabilities `Chance` and `PrivateHands`.

    Raises:
        ValueError: if it lacks one, or what is legal depends on hands.

    Attributes:
        deals: the deals.
        observations: float32[I, D]: what is observed with each row of each decision.
        places: int64[I, 2]: the node and the row of each.
    """

    def __init__(self, game: Game) -> None:
        private = game.capabilities.private_hands
        if private is None:
            raise ValueError(f"{game.id} does not say what is private: it cannot be solved from samples")
        self._game, self._private = game, private
        self.hands = private.hands
        self._seen: dict[tuple[int, int], NDArray[np.float32]] = {}
        self._nodes: list[list[int]] = []  # kind, first, count, action, street, end
        self._ends: list[tuple[NDArray[np.float64], bool]] = []
        self._events = np.zeros(private.events)
        self._walk()
        self.observations = np.stack(list(self._seen.values()))
        self.places = np.array(list(self._seen))
        self.deals = self._deals()

    def _walk(self) -> None:
        game, private, hands = self._game, self._private, self.hands
        encoder = game.encoders[game.encoder]
        waiting = [(-1, [(branch.probability, branch.table) for branch in starts(game)])]
        for action, records in waiting:  # it grows
            table = records[0][1]
            has_event = private.event(table) >= 0 and private.events > 1
            if has_event and not self._events.any():
                for probability, one in records:
                    self._events[private.event(one)] += probability
            if table.done:  # what seat 0 wins, times the probability: [events, H, H], hands of seats 0 and 1
                won = np.zeros((private.events, hands, hands))
                for probability, one in records:
                    event = private.event(one) if has_event else slice(None)
                    won[event, private.hand(one, 0), private.hand(one, 1)] += probability * one.rewards[0]
                self._nodes.append([END, 0, 0, action, int(has_event), len(self._ends)])
                self._ends.append((won, has_event))
                continue
            mask = game.mask(table, int(table.turn))
            legal = np.flatnonzero(mask).tolist()
            self._nodes.append([int(table.turn), len(waiting), len(legal), action, int(has_event), 0])
            for _, one in records:
                seat = int(one.turn)
                row = private.hand(one, seat) + (hands * private.event(one) if has_event else 0)
                if (len(self._nodes) - 1, row) not in self._seen:
                    self._seen[len(self._nodes) - 1, row] = encoder.observation(one, seat)
                if (game.mask(one, seat) != mask).any():
                    raise ValueError(f"what is legal in {game.id} depends on hands: it has no public tree")
            for each in legal:
                below = [(p * b.probability, b.table) for p, one in records for b in after(game, one, each)]
                waiting.append((each, below))

    def _deals(self) -> Deals:
        chances = self._events if self._events.any() else np.ones(1)
        each = np.array([won / chances[:, None, None] if known else won for won, known in self._ends])
        unique, which = np.unique(each.astype(np.float32), axis=0, return_inverse=True)
        payoffs = np.stack([unique.swapaxes(2, 3), -unique])
        nodes = np.array(self._nodes)
        columns = [np.ascontiguousarray(nodes[:, k]) for k in range(5)]
        tree = PublicTree._make([*columns, np.ones((len(nodes), 2)), which.ravel()[nodes[:, 5]]])
        streets = 1 if self._private.events == 1 else 2
        rows = np.array([[self.hands] * 2, [self._private.events * self.hands] * 2][:streets])
        data = _Listed(np.cumsum(chances), np.ascontiguousarray(payoffs.transpose(2, 0, 1, 3, 4)))
        return Deals(tree=tree, rows=rows, hands=self.hands, matrices=(len(unique), 2), write=write_listed, data=data)

    def table(self, strategy: Callable[[int, int], NDArray[np.float64]]) -> NDArray[np.float32]:
        """Return a strategy by observation and action index: float32[I, A].

        Args:
            strategy: ``strategy(node, row)``: how likely each child is.
        """
        tree, strategies = self.deals.tree, np.zeros((len(self.places), self._game.num_actions), np.float32)
        for i, (node, row) in enumerate(self.places.tolist()):
            children = slice(int(tree.first[node]), int(tree.first[node] + tree.count[node]))
            strategies[i, tree.action[children]] = strategy(node, row)
        return strategies
