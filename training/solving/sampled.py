"""CFR from samples on the public tree of a game of two seats, with a vector of hands for each seat.

All actions are public, and what is legal does not depend on hands. A *hand* is all that one seat alone knows; it is
dealt before the first decision. Public random events, such as the cards of a board, come between *streets*.

Each iteration deals one outcome of all public random events and, for each seat in turn, walks the public tree: the seat
tries all its actions; the other's are drawn by the mean of its hands' strategies, mixed with a uniform one, and its
hands are weighed for that. So one walk updates all hands of the seat without bias. For the actions that were not drawn
stand baselines: what the seat's hands won there on average.

CFR: Zinkevich, Johanson, Bowling and Piccione, "Regret minimization in games with incomplete information", NIPS 2007.
Sampling: Lanctot, Waugh, Zinkevich and Bowling, "Monte Carlo sampling for regret minimization in extensive games", NIPS
2009. Vectors of hands: Johanson, Bard, Lanctot, Gibson and Bowling, "Efficient Nash equilibrium approximation through
Monte Carlo counterfactual regret minimization", AAMAS 2012. Linear and discounted weights, and pruning: Brown and
Sandholm, "Solving imperfect-information games via discounted regret minimization", AAAI 2019. Baselines: Schmid et al.,
"Variance reduction in Monte Carlo counterfactual regret minimization (VR-MCCFR) for extensive form games using
baselines", AAAI 2019. Predictions: Farina, Kroer and Sandholm, "Faster game solving via predictive Blackwell
approachability", AAAI 2021.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...envs.core.chance import after, starts
from ...envs.core.compiled import compiled
from ...envs.core.game import Game
from ...envs.core.loops import compile_loop
from ...envs.core.options import named, number, whole
from ...envs.core.rng import GOLDEN, fraction, mix, streams

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

    def table(self, strategy: Callable[[int], NDArray[np.float64]]) -> NDArray[np.float32]:
        """Return a strategy by observation and action index: float32[I, A].

        Args:
            strategy: ``strategy(node)``: the probability of each child by row, float64[rows, children].
        """
        tree, strategies = self.deals.tree, np.zeros((len(self.places), self._game.num_actions), np.float32)
        for i, (node, row) in enumerate(self.places.tolist()):
            children = slice(int(tree.first[node]), int(tree.first[node] + tree.count[node]))
            strategies[i, tree.action[children]] = strategy(node)[row]
        return strategies


RATE = np.float32(0.02)
"""Weight of a new value in a baseline."""


class Rule(NamedTuple):
    """The settings of the updates.

    Attributes:
        power: iteration t counts t to this power.
        discount: whether regrets and sums are discounted every `PERIOD` iterations, as in DCFR.
        floor: whether regrets below 0 become 0.
        predict: whether the latest regrets are expected once more.
        explore: share of the uniform strategy when actions of the other seat are drawn.
        prune: an action whose regret is below −`prune`, on average over the iterations, for all hands, is left out of
            19 of 20 iterations; 0: none.
    """

    power: float
    discount: bool
    floor: bool
    predict: bool
    explore: float
    prune: float


class Nodes(NamedTuple):
    """A public tree as the walk reads it; see `PublicTree`.

    Attributes:
        base: int64[N]: where the numbers of a decision begin. It has one for every row and child.
        other: int64[N]: the same for the rows of the seat that does not act.
    """

    kind: Any
    first: Any
    count: Any
    street: Any
    amount: Any
    matrix: Any
    base: Any
    other: Any


class State(NamedTuple):
    """What a walk reads and writes: the tree, the numbers of its decisions, the random stream, the deal and the stack.

    Attributes:
        nodes: the tree.
        regrets: float32[Q], one number for each row and child of each decision.
        latest: float32[Q]: what the latest update added; float32[0]: nothing is predicted.
        sums: float32[Q], the weighed sums of the strategies.
        baselines: float32[P], one number for each row of the other seat and child of each decision: about what the hand
            wins there from a hand that takes this action.
        words: uint64[1], the random stream.
        deal: the hands and public random events of this iteration.
        node, child: int64[L]: the node at each depth, and its child that is walked; −1: none yet.
        reach, value: float32[L, H]: how the other seat's hands come to each node, and what the seat's hands win there.
        strategy, won: float32[L, A, H]: the strategy of each hand, and what it wins with each child.
        skipped: bool[L, A]: which children are left out.
        mass: float32[L, A]: how often the other seat's hands take each action.
        scale: float32[L]: 1 / the probability with which the action was drawn.
    """

    nodes: Any
    regrets: Any
    latest: Any
    sums: Any
    baselines: Any
    words: Any
    deal: Any
    node: Any
    child: Any
    reach: Any
    value: Any
    strategy: Any
    won: Any
    skipped: Any
    mass: Any
    scale: Any


def blank_state(deals: Deals, predict: bool, words: NDArray[np.uint64]) -> State:
    """Return the state before the first iteration, with a random stream of its own."""
    tree = deals.tree
    acting = tree.kind % END
    sizes, others = (
        np.where(tree.kind == END, 0, deals.rows[tree.street, seat] * tree.count) for seat in (acting, 1 - acting)
    )
    begin = np.cumsum(sizes) - sizes, np.cumsum(others) - others
    nodes = Nodes(tree.kind, tree.first, tree.count, tree.street, tree.amount, tree.matrix, *begin)
    total = int(sizes.sum())
    lengths = total, total if predict else 0, total, int(others.sum())
    regrets, latest, sums, baselines = (np.zeros(length, np.float32) for length in lengths)
    return beside(State(nodes, regrets, latest, sums, baselines, words, None, *(np.zeros(0),) * 9), deals, words)


def beside(state: State, deals: Deals, words: NDArray[np.uint64]) -> State:
    """Return a state with the tree and the numbers of `state`, and a random stream, a deal and a stack of its own."""
    levels, actions = _depth(deals.tree) + 1, int(deals.tree.count.max())
    vectors, many = (levels, deals.hands), (levels, actions, deals.hands)
    return state._replace(
        words=words,
        deal=deals.blank(),
        node=np.zeros(levels, np.int64),
        child=np.zeros(levels, np.int64),
        reach=np.zeros(vectors, np.float32),
        value=np.zeros(vectors, np.float32),
        strategy=np.zeros(many, np.float32),
        won=np.zeros(many, np.float32),
        skipped=np.zeros((levels, actions), np.bool_),
        mass=np.zeros((levels, actions), np.float32),
        scale=np.zeros(levels, np.float32),
    )


def _depth(tree: PublicTree) -> int:
    depth = np.zeros(len(tree.kind), np.int64)
    for node in np.flatnonzero(tree.kind != END).tolist():
        depth[tree.first[node] : tree.first[node] + tree.count[node]] = depth[node] + 1
    return int(depth.max())


@compiled
def word(words: Any) -> Any:
    """Draw a uint64."""
    words[0] += GOLDEN
    return mix(words[0])


@compiled
def share(words: Any) -> float:
    """Draw a float from [0, 1)."""
    return fraction(word(words))


@compiled
def least_regret(rule: Any, t: int, words: Any) -> float:
    """Return the regret below which actions are left out of iteration `t`; −∞: none are."""
    if rule.prune <= 0.0 or t <= 1_000 or share(words) >= 0.95:
        return -np.inf
    return -rule.prune * t ** (rule.power + 1.0) / (rule.power + 1.0)  # type: ignore[no-any-return]


@partial(compiled, compile_first=True)
def walk(state: Any, rule: Any, seat: int, t: int, least: float) -> None:
    """Walk the tree for one seat in iteration `t` and update it; its values at the root are in ``state.value[0]``.

    Iteration 0 weighs nothing. Actions with regrets below `least` are left out.
    """
    d, weight = 0, np.float32(t**rule.power if t > 0 else 0.0)
    nodes, deal = state.nodes, state.deal
    enter(state, 0, 0)
    state.reach[0] = deal.weights[1 - seat]
    while d >= 0:
        node, child = state.node[d], state.child[d]
        kind, children = nodes.kind[node], nodes.count[node]
        if kind == END:
            matrix, amount = nodes.matrix[node], nodes.amount[node, seat]
            end_values(deal.payoffs[min(seat, len(deal.payoffs) - 1), matrix], amount, state.reach[d], state.value[d])
            d -= 1
            continue
        start, rows = nodes.base[node], deal.rows[nodes.street[node], kind]
        if child < 0:
            match(state, rule.predict, start, rows, state.strategy[d, :children])
        if kind == seat:
            child = next_child(state, start, rows, least, d)
            if child == children:
                update(state, rule, start, rows, weight, d)
        elif child < 0:
            add_average(state.sums, start, rows, state.reach[d], state.strategy[d, :children], weight)
            child = follow(state, rule.explore, children, d)
        else:
            correct(state, nodes.other[node], deal.rows[nodes.street[node], seat], t > 0, d)
            child = children
        if child == children:
            d -= 1
        else:
            state.child[d] = child
            enter(state, d + 1, nodes.first[node] + child)
            d += 1


@compiled
def enter(state: Any, d: int, node: int) -> None:
    """Put a node onto the stack."""
    state.node[d] = node
    state.child[d] = -1


@compiled
def next_child(state: Any, start: int, rows: Any, least: float, d: int) -> int:
    """Store the value of the last child of the seat's decision; return the next child, or their number at the end."""
    child, children = state.child[d], state.nodes.count[state.node[d]]
    if child < 0:
        skip(state.regrets, start, rows, least, state.strategy[d, :children], state.skipped[d])
    else:
        state.won[d, child] = state.value[d + 1]
    child += 1
    while child < children and state.skipped[d, child]:
        child += 1
    if child < children:
        state.reach[d + 1] = state.reach[d]
    return int(child)


@compiled
def end_values(payoffs: Any, amount: float, reach: Any, out: Any) -> None:
    """Write what each hand wins at an end from the other's hands."""
    out[:] = 0.0
    for other in range(len(reach)):
        r = np.float32(amount) * reach[other]
        if r != 0.0:
            row = payoffs[other]
            for h in range(len(out)):
                out[h] += r * row[h]


@compiled
def match(state: Any, predict: bool, start: int, rows: Any, out: Any) -> None:
    """Write the strategies of all hands by regret matching: float32[children, H]."""
    children = len(out)
    for h in range(len(rows)):
        at, total = start + rows[h] * children, np.float32(0.0)
        for a in range(children):
            wanted = state.regrets[at + a] + state.latest[at + a] if predict else state.regrets[at + a]
            out[a, h] = max(np.float32(0.0), wanted)
            total += out[a, h]
        for a in range(children):
            out[a, h] = out[a, h] / total if total > 0 else np.float32(1.0 / children)


@compiled
def add_average(sums: Any, start: int, rows: Any, reach: Any, strategy: Any, weight: Any) -> None:
    """Add the strategies to their sums, each hand by its reach."""
    children = len(strategy)
    for h in range(len(rows)):
        at = start + rows[h] * children
        for a in range(children):
            sums[at + a] += weight * reach[h] * strategy[a, h]


@compiled
def follow(state: Any, explore: float, children: int, d: int) -> int:
    """Draw an action of the other seat and write its reaches below; `children`: none of its hands comes here."""
    reach, strategy, mass = state.reach[d], state.strategy[d], state.mass[d]
    total = np.float64(0.0)
    for a in range(children):
        mean = np.float64(0.0)
        for h in range(len(reach)):
            mean += reach[h] * strategy[a, h]
        mass[a] = mean
        total += mean
    if total <= 0.0:
        state.value[d] = 0.0
        return children
    left, drawn, chance = share(state.words), 0, 0.0
    for a in range(children):
        part = (1.0 - explore) * mass[a] / total + explore / children
        if part > 0.0:  # rounded, the parts may sum to less than 1
            drawn, chance = a, part
            left -= part
            if left < 0:
                break
    below, scale = state.reach[d + 1], np.float32(1.0 / chance)
    state.scale[d] = scale
    for h in range(len(reach)):
        below[h] = reach[h] * strategy[drawn, h] * scale
    return drawn


@compiled
def correct(state: Any, start: int, rows: Any, learn: bool, d: int) -> None:
    """Write the seat's values at a decision of the other seat from those with the drawn action.

    Actions that were not drawn have their baselines, a control variate for the drawn one: the expected values are the
    same, and vary less.
    """
    mass, children, drawn = state.mass[d], state.nodes.count[state.node[d]], state.child[d]
    value, won, baselines = state.value[d], state.value[d + 1], state.baselines
    weight = mass[drawn] * state.scale[d]
    for h in range(len(rows)):
        at, expected = start + rows[h] * children, np.float32(0.0)
        for a in range(children):
            expected += mass[a] * baselines[at + a]
        value[h] = won[h] + expected - weight * baselines[at + drawn]
    if learn and weight > 0:
        for h in range(len(rows)):  # after all hands of a row
            at = start + rows[h] * children + drawn
            baselines[at] += RATE * (won[h] / weight - baselines[at])


@compiled
def skip(regrets: Any, start: int, rows: Any, least: float, strategy: Any, out: Any) -> None:
    """Write which children no hand plays and whose regrets are all below `least`."""
    children = len(strategy)
    for a in range(children):
        out[a] = least > -np.inf
        for h in range(len(rows)):
            if not out[a]:
                break
            out[a] = strategy[a, h] == 0.0 and regrets[start + rows[h] * children + a] < least


@compiled
def update(state: Any, rule: Any, start: int, rows: Any, weight: Any, d: int) -> None:
    """Update the regrets of a decision by the values of its children, and write its own values."""
    value, won, strategy, skipped = state.value[d], state.won[d], state.strategy[d], state.skipped[d]
    regrets, latest, children = state.regrets, state.latest, state.nodes.count[state.node[d]]
    value[:] = 0.0
    for a in range(children):
        if not skipped[a]:
            for h in range(len(rows)):
                value[h] += strategy[a, h] * won[a, h]
    if rule.predict:
        for h in range(len(rows)):
            for a in range(children):
                latest[start + rows[h] * children + a] = 0.0
    for h in range(len(rows)):
        at = start + rows[h] * children
        for a in range(children):
            if not skipped[a]:
                more = weight * (won[a, h] - value[h])
                regrets[at + a] += more
                if rule.predict:
                    latest[at + a] += more
    if rule.floor:  # after all hands of a row
        for h in range(len(rows)):
            at = start + rows[h] * children
            for a in range(children):
                regrets[at + a] = max(np.float32(0.0), regrets[at + a])


write: Any = None  # bound by `compile_loop`

WEIGHTS = {
    "linear": Rule(1.0, False, False, False, 0.1, 0.0),
    "dcfr": Rule(0.0, True, False, False, 0.1, 0.0),
    "predictive": Rule(1.0, False, True, True, 0.1, 0.0),
}
"""The rules by name, without pruning."""
NUMBERS = ("words", "regrets", "latest", "sums", "baselines")
"""What a checkpoint holds of the state of a walk."""
PERIOD = 1_000
"""Iterations between two discounts of DCFR."""


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """Settings of a solution from samples."""

    seed: int = 0
    """Of all draws. With one thread for each tree it gives the same numbers again."""
    explore: float = 0.1
    """Share of the uniform strategy when actions of the other seat are drawn, 0 to 1."""
    prune: float = 0.0
    """An action whose regret is below −`prune`, on average over the iterations, for all hands, is left out of 19 of 20
    iterations; 0: none."""
    threads: int = 1
    """Number of threads. Two walk the trees of the two seats at the same time. With more, or in one tree, several walk
    a tree together: where two update one number at once, one of the updates can be lost, and results differ from run
    to run."""

    def __post_init__(self) -> None:
        """Check the values."""
        number("explore", self.explore, 0, 1)
        number("prune", self.prune, 0, 1e9)
        whole("threads", self.threads, 1, 1_024)


SAMPLING = Sampling()
"""The settings by default."""


class SampledSolver:
    """Regrets and sums of strategies at a public tree.

    Args:
        deals: the tree and its deals.
        weights: a name of `WEIGHTS`.
        sampling: the settings.
        seats: those that are updated.

    Attributes:
        iterations: how many there were; each updates all `seats`.
        regrets: float32[Q], one number for each row and child of each decision.
        sums: float32[Q], the weighed sums of the strategies.

    Raises:
        ValueError: for unknown weights.
    """

    def __init__(
        self, deals: Deals, weights: str = "linear", sampling: Sampling = SAMPLING, seats: tuple[int, ...] = (0, 1)
    ) -> None:
        rule = WEIGHTS[named("weights", weights, WEIGHTS)]
        self.deals, self.rule = deals, rule._replace(explore=sampling.explore, prune=sampling.prune)
        self.iterations, self._seats, threads = 0, np.array(seats), sampling.threads
        words = streams(sampling.seed, threads)
        self._state = blank_state(deals, rule.predict, words[:1])
        self._states = [self._state, *(beside(self._state, deals, words[k : k + 1]) for k in range(1, threads))]
        self._pool = ThreadPoolExecutor(threads)
        self.nodes, self.regrets, self.sums = self._state.nodes, self._state.regrets, self._state.sums
        self._iterate = compile_loop(iterate, write=deals.write, word=word, least_regret=least_regret, walk=walk)
        self._measure = compile_loop(measure, write=deals.write, word=word, least_regret=least_regret, walk=walk)

    def run(self, iterations: int) -> None:
        """Go on for so many iterations; 0: only compile."""
        if not iterations:  # in this thread, which Ctrl-C reaches
            self._iterate_from(self._state, 0, 0)
        left = iterations
        while left > 0:
            some = min(left, PERIOD - self.iterations % PERIOD) if self.rule.discount else left
            ends = [self.iterations + some * k // len(self._states) for k in range(len(self._states) + 1)]
            list(self._pool.map(self._iterate_from, self._states, ends, ends[1:]))
            self.iterations += some
            left -= some
            if self.rule.discount and self.iterations % PERIOD == 0:
                discount(self.regrets, self.sums, self.iterations // PERIOD)

    def _iterate_from(self, state: Any, done: int, until: int) -> None:
        self._iterate(state, self.deals.data, self.rule, self._seats, done, until - done)

    def fix(self, node: int, strategies: NDArray[Any]) -> None:
        """Let a decision have these strategies, float[rows, children], until it is updated."""
        start = int(self.nodes.base[node])
        self.regrets[start : start + strategies.size] = strategies.ravel()
        self._state.latest[start : start + strategies.size] = 0

    def greedy_values(self, seat: int, deals: int) -> NDArray[np.float64]:
        """Return a seat's winnings in new deals, in the unit of the payoffs: float64[deals].

        It takes the action with the greatest regret, or a random one where none came; the other seat has its present
        strategy. A deal has all its hands, so that its value is a mean over many pairs of hands.
        """
        kept, values = (self.regrets.copy(), self._state.latest.copy()), np.empty(deals)
        for node in np.flatnonzero(self.nodes.kind == seat).tolist():
            rows, count, start = self._shape(node)
            regrets = self.regrets[start : start + rows * count].reshape(rows, count)
            self.fix(node, regrets == regrets.max(axis=1, keepdims=True))
        self._measure(self._state, self.deals.data, self.rule, seat, values)
        self.regrets[:], self._state.latest[:] = kept
        return values

    def _shape(self, node: int) -> tuple[int, int, int]:
        """Return the rows and children of a decision, and where its numbers begin."""
        rows = self.deals.rows[self.nodes.street[node], self.nodes.kind[node]]
        return int(rows), int(self.nodes.count[node]), int(self.nodes.base[node])

    def strategies(self, node: int) -> NDArray[np.float64]:
        """Return the average strategy of a decision: float64[rows, children]; uniform where a row never came."""
        rows, count, start = self._shape(node)
        sums = self.sums[start : start + rows * count].astype(np.float64).reshape(rows, count)
        total = sums.sum(axis=1, keepdims=True)
        return np.where(total > 0, sums / np.where(total > 0, total, 1), 1 / count)

    def bound(self) -> float:
        """Return the mean of the positive regrets of both seats, by sampled values, in the unit of the payoffs.

        With exact values the sum of what both seats can still win is at most this (Zinkevich 2007, theorems 3 and 4).
        """
        total = float(max(1, self.iterations)) ** (self.rule.power + 1) / (self.rule.power + 1)
        if self.rule.discount:  # the weights that are left of all iterations
            total = float(self.iterations % PERIOD)
            kept = float(PERIOD)
            for period in range(self.iterations // PERIOD, 0, -1):
                kept *= period**1.5 / (period**1.5 + 1)
                total += kept
        return float(regret_sum(self.nodes, self.deals.rows, self.regrets) / total)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the contents of a checkpoint."""
        each = {name: getattr(self._state, name) for name in NUMBERS}
        return {"iterations": np.array(self.iterations), **each}

    def set_state(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on from a checkpoint of the same tree.

        Raises:
            ValueError: if it is of another tree, or of other weights.
        """
        own = self.state()
        state = {"baselines": np.zeros_like(own["baselines"]), **state}  # the first checkpoints had none
        if {name: each.shape for name, each in own.items()} != {name: each.shape for name, each in state.items()}:
            raise ValueError("the checkpoint is of another tree or other weights")
        self.iterations = int(state["iterations"])
        for name in NUMBERS:
            own[name][:] = state[name]
        for k, beside_it in enumerate(self._states[1:]):
            beside_it.words[:] = streams([int(state["words"][0]) + 1 + k], 1)


def iterate(state: Any, data: Any, rule: Any, seats: Any, done: int, count: int) -> None:
    """Do `count` iterations after `done` ones."""
    for t in range(done + 1, done + count + 1):
        write(word(state.words), data, state.deal)
        least = least_regret(rule, t, state.words)
        for seat in seats:
            walk(state, rule, seat, t, least)


def measure(state: Any, data: Any, rule: Any, seat: int, values: Any) -> None:
    """Write what a seat wins in each of ``len(values)`` deals: float64[N]. Iteration 0 weighs nothing."""
    for k in range(len(values)):
        write(word(state.words), data, state.deal)
        walk(state, rule, seat, 0, least_regret(rule, 0, state.words))
        values[k] = state.value[0].sum()


@partial(compiled, compile_first=True)
def discount(regrets: Any, sums: Any, t: int) -> None:
    """Discount as DCFR with α = 1.5, β = 0, γ = 2 after period `t`."""
    positive, negative = np.float32(t**1.5 / (t**1.5 + 1.0)), np.float32(0.5)
    average = np.float32((t / (t + 1.0)) ** 2)
    for q in range(len(regrets)):
        regrets[q] *= positive if regrets[q] > 0 else negative
        sums[q] *= average


@partial(compiled, allocates=True, compile_first=True)
def regret_sum(nodes: Any, rows: Any, regrets: Any) -> float:
    """Return the sum over all decisions and rows of the largest regret, where it is above 0."""
    total = 0.0
    for node in range(len(nodes.kind)):
        if nodes.kind[node] != END:
            for row in range(rows[nodes.street[node], nodes.kind[node]]):
                at, best = nodes.base[node] + row * nodes.count[node], 0.0
                for a in range(nodes.count[node]):
                    best = max(best, regrets[at + a])
                total += best
    return total


def grow(small: SampledSolver, large: SampledSolver) -> None:
    """Copy the regrets and sums of `small` into `large`, a new solver.

    A decision of the larger tree begins as the one that the same actions lead to in the smaller tree; in place of an
    action that is not there counts the one with the nearest index that leads to the same seat on the same street, with
    the same least action there: to a raise belongs another raise, not a check. New actions begin with regrets of 0.
    """
    tree, before = large.deals.tree, small.deals.tree
    there = np.full(len(tree.kind), -1)
    there[0] = 0
    for node in np.flatnonzero(tree.kind != END).tolist():  # parents come first
        old = int(there[node])
        if old < 0 or before.kind[old] != tree.kind[node] or before.street[old] != tree.street[node]:
            continue
        olds = np.arange(before.first[old], before.first[old] + before.count[old])
        rows, count = int(large.deals.rows[tree.street[node], tree.kind[node]]), int(tree.count[node])
        into = slice(int(large.nodes.base[node]), int(large.nodes.base[node]) + rows * count)
        out_of = slice(int(small.nodes.base[old]), int(small.nodes.base[old]) + rows * len(olds))
        for k in range(count):
            child = int(tree.first[node]) + k
            away = np.abs(before.action[olds] - tree.action[child])
            nearest = int((away + _unlike(before, olds, tree, child)).argmin())
            there[child] = olds[nearest]
            if before.action[olds[nearest]] == tree.action[child]:
                for new, numbers in ((large.regrets, small.regrets), (large.sums, small.sums)):
                    new[into].reshape(rows, count)[:, k] = numbers[out_of].reshape(rows, len(olds))[:, nearest]
    large.iterations = small.iterations


def _unlike(before: PublicTree, olds: NDArray[np.int64], tree: PublicTree, child: int) -> NDArray[Any]:
    """Return for each old child 1,000 if it is of another kind than the new one, else 0."""
    least = before.action[before.first[olds]], tree.action[tree.first[child]]
    same = (before.kind[olds] == tree.kind[child]) & (before.street[olds] == tree.street[child])
    return np.where(same & ((tree.kind[child] == END) | (least[0] == least[1])), 0, 1_000)
