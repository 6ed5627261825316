"""Flop, turn and river solved again: values of all hands at once, ranges of the past, the gadget, the time limit."""

import math
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from logs import Even
from needs import library
from parlour import envs
from parlour.envs.core.rng import streams
from parlour.envs.holdem.ranges import HOLDINGS, weights_of
from parlour.envs.holdem.rules import Move
from parlour.envs.holdem.table import CALL_ACTION, FLOP, FOLD_ACTION, LEAST_RAISE, RAISE, RIVER, TURN
from parlour.training.evaluation.exact import flat_tree
from parlour.training.solving.resolving import HoldemResolving, ResolvingPolicy
from parlour.training.solving.subgame import Resolver, betting, hand_values, mean_value, normalised
from parlour.training.solving.tabular import solve
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.policies.loading import make_policy

SMALL = {
    "seats": 2,
    "button": 0,
    "start": "river",
    "board": "2c7dKhTs3s",
    "ranges": ["AA,KQs:0.5,T9o,QJs,54s", "KJs:2,QQ,A2s,98s"],
    "ante": 8,
    "stacks": 12,  # two chips behind: all-in is the only raise
    "pot_fractions": [],
}
HEADS_UP = envs.game("holdem", seats=2)


def endless():
    return math.inf


class Mixing:
    """Plays some mixture that depends on what is seen, and folds to a bet only."""

    def __init__(self, game):
        self.at = game.layout["game_state.toCall"].start
        self.weights = np.random.default_rng(1).normal(size=(game.layout.size, game.num_actions))

    def probabilities(self, observations, masks):
        wanted = np.exp(np.tanh(observations @ self.weights)) * masks
        wanted[observations[:, self.at] == 0, 0] = 0
        return wanted / wanted.sum(axis=1, keepdims=True)


def uniform(tree):
    return normalised(tree, np.zeros((tree.rows, len(tree.hands)), np.float32))


class RaisesAces:
    """Raises once before the flop if it holds an ace, and calls everything else."""

    def __init__(self, game):
        cards = game.layout["game_state.players.cards"].start
        self.aces, self.phase = slice(cards + 48, cards + 52), game.layout["phase"].start

    def probabilities(self, observations, masks):
        chosen = np.zeros(masks.shape)
        ace = (observations[:, self.aces].sum(axis=1) > 0) & (observations[:, self.phase + 1] > 0)
        ace &= masks[:, LEAST_RAISE] > 0
        chosen[np.arange(len(masks)), np.where(ace, LEAST_RAISE, CALL_ACTION)] = 1
        return chosen

    def act(self, observations, masks):
        return self.probabilities(observations, masks).argmax(axis=1)


def begun(game, seed=1):
    tables = game.tables(1)
    tables.stream = streams(seed, 1)
    game.rules.reset(tables[0])
    return tables[0]


def on_the_river(game, policy, seed):
    """A table where a policy has played to the river."""
    while True:
        table = begun(game, seed)
        while not table.done and int(table.phase) != RIVER:
            seat = int(table.turn)
            action = int(policy.act(game.observation(table, seat)[None], game.mask(table, seat)[None])[0])
            game.rules.play(table, action)
        if not table.done:
            return table
        seed += 1_000


def test_the_solution_is_that_of_the_game_tree():
    game = envs.game("holdem", **SMALL)
    table = begun(game)
    exact = solve(flat_tree(game), "cfr+", target=1e-5)
    river = betting(game, table, (1, 0))
    ranges = HoldemResolving(game, Mixing(game), iterations=1).solve(table, endless).ranges
    resolver = Resolver(river, ranges, 0)
    resolver.run(2_000)
    assert mean_value(river, 1, ranges, resolver.average(), best=True) == pytest.approx(exact.values[0], abs=1e-2)
    assert mean_value(river, 1, ranges, uniform(river), best=True) > exact.values[0] + 0.1


def test_ranges_follow_from_what_the_policy_would_have_done():
    game = HEADS_UP
    policy, seed = RaisesAces(game), 0
    while True:
        seed += 1
        table = on_the_river(game, policy, seed)
        aces = [bool((table.cards[seat] >= 48).any()) for seat in range(2)]
        if aces == [True, False] and table.dealer == 0:
            break
    solved = HoldemResolving(game, policy, iterations=1).solve(table, endless)
    has_ace = (HOLDINGS[solved.tree.hands] >= 48).any(axis=1)
    players = int(table.turn), 1 - int(table.turn)
    assert solved.ranges[0].min() == pytest.approx(1e-3 / len(has_ace))  # of the own range a little is spread
    assert (solved.ranges[players.index(0)] > 1e-3 / len(has_ace)).tolist() == has_ace.tolist()
    assert (solved.ranges[players.index(1)] > 1e-3 / len(has_ace)).tolist() == (~has_ace).tolist()


class Uniform(Even):
    """Plays all legal actions with the same probability, and says so for all hands on any boards."""

    def bucket_probabilities(self, observation, mask):
        return (mask / mask.sum())[None]

    def buckets_on(self, board):
        return np.zeros(len(HOLDINGS), np.int64)


def on_street(game, phase, seed=1):
    table = begun(game, seed)
    while int(table.phase) != phase:
        game.rules.play(table, CALL_ACTION)
    return table


def test_after_a_flop_the_other_player_may_fold_call_or_raise_more():
    tree = HoldemResolving(HEADS_UP, Uniform(), iterations=1).solve(on_street(HEADS_UP, FLOP), endless).tree
    nodes = tree.nodes
    node = next(n for n in range(nodes.near, len(nodes.kind)) if tree.action[nodes.first[n]] == FOLD_ACTION)
    children = slice(nodes.first[node], nodes.first[node] + 3)  # fold, call, all-in
    chances = nodes.chances[:, children, 0]
    legal = HEADS_UP.mask(tree.tables[node], int(tree.tables[node].turn)).sum()
    assert chances[0] == pytest.approx([1 / legal, 1 / legal, 1 - 2 / legal])
    for way, more in enumerate(([5, 1, 1], [1, 5, 1], [1, 1, 5]), 1):
        wanted = np.array(more) * chances[0]
        assert chances[way] == pytest.approx(wanted / wanted.sum())


@pytest.mark.slow
def test_a_turn_with_all_its_rivers_is_solved_as_the_game_tree_is():
    game = envs.game("holdem", **{**SMALL, "start": "turn", "board": "2c7dKhTs", "ranges": ["AA,T9o", "KJs:2,QQ"]})
    table = begun(game)
    exact = solve(flat_tree(game), "cfr+", target=1e-3)
    tree = betting(game, table, (1, 0))
    assert tree.boards.shape == (48, 5)
    assert tree.rows == tree.nodes.near + 48 * (len(tree.action) - tree.nodes.near)
    ranges = np.array([weights_of(text)[tree.hands] for text in ("KJs:2,QQ", "AA,T9o")])
    ranges /= ranges.sum(axis=1, keepdims=True)
    resolver = Resolver(tree, ranges, 0, boards=48)
    resolver.run(300)
    assert mean_value(tree, 1, ranges, resolver.average(), best=True) == pytest.approx(exact.values[0], abs=2e-2)


@pytest.mark.parametrize(
    ("start", "board", "safe"),
    [pytest.param("turn", "2c7dKhTs", False, marks=pytest.mark.slow), ("river", "2c7dKhTs3s", True)],
)
def test_tensors_solve_as_the_compiled_code_does(start, board, safe):
    library("torch", "train")
    from parlour.training.solving.subgame_gpu import GpuResolver

    game = envs.game("holdem", **{**SMALL, "start": start, "board": board, "stacks": 40, "pot_fractions": [0.5]})
    tree = betting(game, begun(game), (1, 0))
    ranges = np.array([weights_of(text)[tree.hands] + 0.01 for text in ("KJs:2,QQ,A2s", "AA,T9o")])
    promised = hand_values(tree, 1, ranges[0], uniform(tree), best=False) if safe else None
    strategies = []
    for make in (partial(Resolver, boards=48), partial(GpuResolver, device="cpu")):
        resolver = make(tree, ranges, 0, promised)
        for _ in range(2):  # later what is nearly 0 by rounding decides
            resolver.run(1)
        strategies.append(resolver.average())
    assert abs(strategies[0] - strategies[1]).max() < 1e-3 < abs(strategies[0] - uniform(tree)).max()


@pytest.mark.parametrize(("phase", "iterations", "seconds", "resolved"), [(FLOP, 30, None, 1), (TURN, 20, 1e-4, 0)])
def test_flops_and_turns_are_solved_too_and_no_deadline_is_missed(phase, iterations, seconds, resolved):
    table = on_street(HEADS_UP, phase)
    policy = Uniform()
    resolving = HoldemResolving(HEADS_UP, policy, iterations=iterations)
    search = ResolvingPolicy(policy, resolving, seconds=seconds, seed=1)
    state = HEADS_UP.turn_state(table, int(table.turn))
    PolicyAgent(HEADS_UP, search).respond(state)
    assert search.resolved == resolved
    if resolved:
        solved = resolving.solve(table, endless)
        assert solved.after < 0.8 * solved.before
        assert HoldemResolving(HEADS_UP, RaisesAces(HEADS_UP), iterations=20).strategy(table, endless) is None


@pytest.mark.slow
def test_what_is_promised_is_kept_with_hands_that_the_range_takes_for_unlikely():
    """Without the gadget the hands that hardly count win more than the policy gives them; with it they win less."""
    game = HEADS_UP
    table = on_the_river(game, RaisesAces(game), 1)
    solved = HoldemResolving(game, make_policy("zoo:holdem", game, seed=1), iterations=1).solve(table, endless)
    tree, ranges = solved.tree, solved.ranges.copy()
    rare = np.random.default_rng(1).random(len(tree.hands)) < 0.5
    ranges[1, rare] *= 1e-2
    promised = hand_values(tree, 1, ranges[0], solved.policy, best=False)
    excess = []
    for promise in (None, promised):
        resolver = Resolver(tree, ranges, 0, promise)
        resolver.run(300)
        won = hand_values(tree, 1, ranges[0], resolver.average(), best=True)
        excess.append(np.maximum(won - promised, 0)[rare].sum())
    assert excess[1] < excess[0]


def test_nothing_is_solved_before_the_river_or_among_three():
    game = envs.game("holdem", seats=3)
    policy = RaisesAces(game)
    resolving = HoldemResolving(game, policy, iterations=60)
    assert resolving.strategy(begun(game), endless) is None
    table = on_the_river(game, policy, 1)
    assert resolving.strategy(table, endless) is None
    game.rules.play(table, 0)
    assert resolving.solve(table, endless) is not None


class Clock:
    """A clock that goes on by a step whenever it is read."""

    def __init__(self, step):
        self.step, self.now, self.reads = step, 0.0, 0

    def __call__(self):
        self.reads += 1
        self.now += self.step
        return self.now


@pytest.mark.parametrize(("step", "resolved"), [(0.03, 0), (1e-6, 1)])
def test_the_policys_action_is_played_when_time_is_over(step, resolved, monkeypatch):
    game = HEADS_UP
    policy = RaisesAces(game)
    table, clock = on_the_river(game, policy, 1), Clock(step)
    monkeypatch.setattr("parlour.training.solving.resolving.time", SimpleNamespace(monotonic=clock))
    search = ResolvingPolicy(policy, HoldemResolving(game, policy, iterations=60), seconds=1.0, seed=1)
    agent = PolicyAgent(game, search)
    answer = agent.respond(game.turn_state(table, int(table.turn)))
    assert search.resolved == resolved
    if not resolved:
        assert answer.action.action_type in ("check", "call")
        assert clock.now <= 1.0 + 3 * step  # nothing more is begun once time is over


def test_after_a_solution_was_played_the_own_range_follows_from_it():
    table = on_street(HEADS_UP, TURN)
    seat, resolving = int(table.turn), HoldemResolving(HEADS_UP, Uniform(), iterations=20)
    chances = resolving.strategies(table, endless)
    assert all(kept.strategy.base is None for kept in resolving._solutions.values())  # not the whole solution
    while table.phase == TURN or table.turn != seat:
        HEADS_UP.rules.play(table, CALL_ACTION)
    then = resolving.solve(table, endless)
    expected = chances[then.tree.hands, CALL_ACTION] / chances[then.tree.hands, CALL_ACTION].sum()
    np.testing.assert_allclose(then.ranges[0], 0.999 * expected + 0.001 / len(expected), atol=1e-6)
    # Who did not play it takes the policy's own play.
    other = HoldemResolving(HEADS_UP, Uniform(), iterations=20).solve(table, endless)
    assert np.abs(other.ranges[0] - then.ranges[0]).sum() > 0.01


def test_a_river_is_solved_from_its_first_node_with_the_moves_that_were_made():
    """The range with which the other player comes to the river does not follow from what it bets there."""
    first, second = on_street(HEADS_UP, RIVER), on_street(HEADS_UP, RIVER)
    policy = make_policy("zoo:holdem", HEADS_UP, seed=1)
    seat, amount = int(first.turn), int(HEADS_UP.rules.decode(second, LEAST_RAISE).amount) + 1  # of no action index
    HEADS_UP.rules.step(second, Move(RAISE, amount))
    resolving = HoldemResolving(HEADS_UP, policy, iterations=1)
    before, after = resolving.solve(first, endless), resolving.solve(second, endless)
    np.testing.assert_allclose(after.ranges[1], before.ranges[0], atol=1e-4)
    assert after.tree.nodes.kind[0] == 1  # the other player has acted first
    assert any(int(table.bet[seat]) == amount and int(table.turn) != seat for table in after.tree.tables)


@pytest.mark.parametrize(("left", "seconds"), [(0.4, 0.2), (30.0, 1.0)])
def test_a_search_takes_half_of_the_time_that_is_left(left, seconds, monkeypatch):
    policy, asked = RaisesAces(HEADS_UP), []

    class Noting:
        """Asks whether time is over until it is."""

        def strategy(self, table, time_left):
            while time_left() > 0:
                pass
            asked.append(clock.now)

    clock = Clock(0.01)
    monkeypatch.setattr("parlour.training.solving.resolving.time", SimpleNamespace(monotonic=clock))
    agent = PolicyAgent(HEADS_UP, ResolvingPolicy(policy, Noting(), seconds=1.0, seed=1))
    table = on_the_river(HEADS_UP, policy, 1)
    agent.set_seconds_left(left)
    agent.respond(HEADS_UP.turn_state(table, int(table.turn)))
    assert asked == [pytest.approx(seconds, abs=0.03)]
