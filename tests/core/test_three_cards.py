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


@pytest.mark.slow
@pytest.mark.parametrize("bluff", [Fraction(0), Fraction(1, 5), Fraction(1, 3)])
def test_the_known_equilibria_are_worth_minus_one_eighteenth_and_nobody_can_do_better(bluff):
    first, second = equilibrium(bluff)
    assert mean(first | second) == VALUE
    assert max(mean(other | second) for other in pure(first)) == VALUE
    assert min(mean(first | other) for other in pure(second)) == VALUE


def expected(node, profile):
    if isinstance(node, float):
        return node
    bets = profile[node[1]]
    return (1 - bets) * expected(node[2][0], profile) + bets * expected(node[2][1], profile)


# What cannot be a game.


def test_a_record_lacks_no_field_that_every_game_needs():
    short = np.zeros(1, record(("turn", "i4"), ("rewards", "f8", 2), ("done", "?"), *three_cards.FIELDS))
    with pytest.raises(ValueError, match="the record has no stream; it needs stream, turn"):
        replace(three_cards.game().rules, blank=short.view(np.recarray))


@pytest.mark.parametrize("name", ["round", "size", "item", "class", "my field", ""])
def test_a_field_has_a_name_by_which_python_finds_it(name):
    with pytest.raises(ValueError, match=f"cannot be called '{name}'"):
        record(("stream", "u8"), (name, "i4"))
