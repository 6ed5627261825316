"""Kuhn poker, its whole tree walked through the public API: it is worth −1/18 to the first player."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import three_cards
from parlour import envs
from parlour.envs.core.record import record

VALUE = Fraction(-1, 18)


def deals():
    """One environment per deal of two of the three cards, each just dealt; all six are equally likely."""
    found, seed = {}, 0
    while len(found) < 6:
        env = envs.make("three_cards")
        env.reset(seed=seed)
        cards = tuple(env.turn_state(agent).game_state["card"] for agent in env.agents)
        found.setdefault(cards, env)
        seed += 1
    return [found[cards] for cards in sorted(found)]


def after(env, kind):
    twin = env.clone()
    assert twin.submit(twin.agent_selection, envs.Action(kind)).ok
    return twin


def information(env):
    """What the player to act knows: its card and the moves."""
    seen = env.turn_state(env.agent_selection).game_state
    return seen["card"], " ".join(seen["moves"])


def value(env, profile):
    """The first player's expected chips where each player bets with probability `profile[information]`."""
    if not env.agents or env.turn_state("player_0").game_over:
        return Fraction(env.rewards["player_0"])
    bets = profile[information(env)]
    ahead = [(1 - bets, "pass"), (bets, "bet")]
    return sum(chance * value(after(env, kind), profile) for chance, kind in ahead if chance)


def mean(profile):
    return sum(value(env, profile) for env in deals()) / 6


def equilibrium(bluff):
    """Kuhn's equilibria: one for every bluffing frequency of the first player's lowest card, from 0 to 1/3."""
    third = Fraction(1, 3)
    first = {(0, ""): bluff, (1, ""): 0, (2, ""): 3 * bluff}
    first |= {(0, "pass bet"): 0, (1, "pass bet"): bluff + third, (2, "pass bet"): 1}
    second = {(0, "bet"): 0, (1, "bet"): third, (2, "bet"): 1, (0, "pass"): third, (1, "pass"): 0, (2, "pass"): 1}
    return first, second


def pure(places):
    for bets in product((Fraction(0), Fraction(1)), repeat=len(places)):
        yield dict(zip(places, bets, strict=True))


def test_the_tree_has_thirty_ends_and_twelve_places_to_decide():
    places, ends = set(), 0
    open_ = deals()
    while open_:
        env = open_.pop()
        if env.turn_state("player_0").game_over:
            ends += 1
            assert env.rewards["player_0"] == -env.rewards["player_1"] != 0
        else:
            places.add(information(env))
            open_ += [
                after(env, allowed.action_type) for allowed in env.turn_state(env.agent_selection).allowed_actions
            ]
    assert (ends, len(places)) == (30, 12)


@pytest.mark.slow
@pytest.mark.parametrize("bluff", [Fraction(0), Fraction(1, 5), Fraction(1, 3)])
def test_the_known_equilibria_are_worth_minus_one_eighteenth_and_nobody_can_do_better(bluff):
    first, second = equilibrium(bluff)
    assert mean(first | second) == VALUE
    assert max(mean(other | second) for other in pure(first)) == VALUE
    assert min(mean(first | other) for other in pure(second)) == VALUE


def test_copied_records_walk_the_same_tree():
    """The same value from the vector environment: six tables, and then every action on copies of their records."""
    tables = envs.VectorGame(envs.game("three_cards"), 64)
    tables.reset(seed=1)
    first, second = equilibrium(Fraction(1, 4))
    profile = first | second
    game, roots = tables.game, {tuple(table.cards.tolist()): table for table in tables.tables}
    assert len(roots) == 6

    def walk(table):
        if table.done:
            return Fraction(table.rewards[0])
        seen = game.turn_state(table, int(table.turn)).game_state
        bets, total = profile[seen["card"], " ".join(seen["moves"])], Fraction(0)
        for number, chance in enumerate((1 - bets, bets)):
            twin = table.copy()
            game.rules.play(twin, number)
            total += chance * walk(twin)
        return total

    assert sum(walk(table) for table in roots.values()) / 6 == VALUE


def test_regret_matching_finds_the_value():
    """Counterfactual regret minimisation on the tree; no knowledge of the game but its API."""
    tree = [unfold(env) for env in deals()]
    regrets, sums = {}, {}
    for _ in range(2_000):
        for root in tree:
            train(root, 1.0, 1.0, regrets, sums)
    average = {place: weights[1] / sum(weights) for place, weights in sums.items()}
    assert sum(expected(root, average) for root in tree) / 6 == pytest.approx(float(VALUE), abs=2e-3)


def unfold(env):
    if env.turn_state("player_0").game_over:
        return env.rewards["player_0"]
    sign = 1 if env.agent_selection == "player_0" else -1
    return sign, information(env), [unfold(after(env, kind)) for kind in ("pass", "bet")]


def expected(node, profile):
    if isinstance(node, float):
        return node
    bets = profile[node[1]]
    return (1 - bets) * expected(node[2][0], profile) + bets * expected(node[2][1], profile)


def train(node, own, other, regrets, sums):
    """Return the node's value for the first player; `own`, `other`: the reach of who acts here, and of who does not."""
    if isinstance(node, float):
        return node
    sign, place, children = node
    regret = regrets.setdefault(place, [0.0, 0.0])
    total = regret[0] + regret[1]
    chances = [part / total for part in regret] if total > 0 else [0.5, 0.5]
    values = [train(child, other, own * chance, regrets, sums) for child, chance in zip(children, chances, strict=True)]
    mean_ = sum(chance * one for chance, one in zip(chances, values, strict=True))
    weights = sums.setdefault(place, [0.0, 0.0])
    for i in (0, 1):
        regret[i] = max(0.0, regret[i] + sign * other * (values[i] - mean_))
        weights[i] += own * chances[i]
    return mean_


# What cannot be a game.


def test_a_record_lacks_no_field_that_every_game_needs():
    short = np.zeros(1, record(("turn", "i4"), ("rewards", "f8", 2), ("done", "?"), *three_cards.FIELDS))
    with pytest.raises(ValueError, match="the record has no stream; it needs stream, turn"):
        replace(three_cards.game().rules, blank=short.view(np.recarray))


def test_every_seat_has_room_for_its_reward():
    with pytest.raises(ValueError, match="rewards has room for 2 of 3 seats"):
        replace(three_cards.game(), agents=("a", "b", "c"))


def test_blank_is_one_record():
    with pytest.raises(ValueError, match=r"recarray of shape \(2,\); it needs to be one record"):
        replace(three_cards.game().rules, blank=three_cards.game().tables(2))
    with pytest.raises(ValueError, match=r"ndarray of shape \(1,\); it needs to be one record"):
        replace(three_cards.game().rules, blank=np.zeros(1, three_cards.BLANK.dtype))


@pytest.mark.parametrize("name", ["round", "size", "item", "class", "my field", ""])
def test_a_field_has_a_name_by_which_python_finds_it(name):
    with pytest.raises(ValueError, match=f"cannot be called '{name}'"):
        record(("stream", "u8"), (name, "i4"))
