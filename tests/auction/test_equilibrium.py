"""Equilibrium bids against closed forms, as best responses found numerically, and played in the environment."""

import numpy as np
import pytest
from parlour import envs
from parlour.envs.auction.bots import equilibrium_bid
from parlour.wrappers.policies.loading import make_policy

RULES = ("first-price", "second-price", "all-pay")


@pytest.mark.parametrize("bidders", [2, 3, 4, 16])
def test_uniform_valuations_have_the_known_closed_forms(bidders):
    v = np.linspace(0, 1, 101)
    share = (bidders - 1) / bidders
    assert equilibrium_bid("first-price", bidders, [0, 1], v) == pytest.approx(share * v)
    assert equilibrium_bid("second-price", bidders, [0, 1], v) == pytest.approx(v)
    assert equilibrium_bid("all-pay", bidders, [0, 1], v) == pytest.approx(share * v**bidders)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("quantiles", [(0, 100), (10, 30), (0, 20, 100), (5, 50, 60, 61)])
@pytest.mark.parametrize("bidders", [2, 4])
def test_no_other_bid_does_better(rule, quantiles, bidders):
    """Against the equilibrium's bids, whose distribution is computed on a fine grid."""
    chance = (np.arange(100_000) + 0.5) / 100_000
    valuations = np.interp(chance, np.linspace(0, 1, len(quantiles)), quantiles)
    others = equilibrium_bid(rule, bidders, quantiles, valuations)
    assert (np.diff(others) >= -1e-9).all()
    bids = np.linspace(0, max(quantiles), 1_001)
    for v in np.linspace(*np.array(quantiles)[[0, -1]], 9):
        best = gains(rule, bidders, others, v, bids).max()
        own = gains(rule, bidders, others, v, equilibrium_bid(rule, bidders, quantiles, np.array([v])))[0]
        assert own >= best - 1e-3 * max(quantiles)


def gains(rule, bidders, others, valuation, bids):
    """Expected utility of `bids` against `bidders` − 1 independent draws from the sorted `others`."""
    below = np.searchsorted(others, bids + 1e-9) / len(others)
    win = below ** (bidders - 1)
    if rule == "first-price":
        return win * (valuation - bids)
    if rule == "all-pay":
        return win * valuation - bids
    ranks = (np.arange(len(others) + 1) / len(others)) ** (bidders - 1)
    paid = np.concatenate(([0.0], np.cumsum(np.diff(ranks) * others)))
    return win * valuation - paid[np.searchsorted(others, bids + 1e-9)]


def test_atoms_have_no_equilibrium():
    with pytest.raises(ValueError, match="not strictly rising"):
        equilibrium_bid("first-price", 2, [50, 50], 50.0)
    with pytest.raises(ValueError, match="different distributions"):
        make_policy("equilibrium", envs.game("auction", valuations=[(0, 10), (0, 20)]))


def play(game, names, seed=0, steps=200):
    """Mean utility and number of auctions, seat by seat, of bots by name."""
    tables = envs.VectorGame(game, 2_048)
    tables.reset(seed=seed)
    bots = [make_policy(name, game, seed=i) for i, name in enumerate(names)]
    total, ended = np.zeros(game.seats), 0
    for _ in range(steps):
        actions = np.zeros(2_048, np.int64)
        for seat, bot in enumerate(bots):
            rows = tables.turn == seat
            if rows.any():
                actions[rows] = bot.act(tables.observations[rows], tables.action_masks[rows])
        tables.step(actions)
        total += tables.rewards.sum(axis=0)
        ended += tables.dones.sum()
    return total / ended


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("bidders", [2, 4])
def test_the_environment_pays_what_theory_says(rule, bidders):
    """Revenue equivalence: valuations uniform on [0, 100] give every bidder 100 / (n (n + 1)) under every rule."""
    game = envs.game("auction", seats=bidders, rule=rule, bids=256)
    gained = play(game, ["equilibrium"] * bidders)
    assert gained.mean() == pytest.approx(100 / bidders / (bidders + 1), rel=0.03)
