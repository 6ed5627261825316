"""Equilibrium bids against closed forms, as best responses found numerically, and played in the environment."""

import numpy as np
import pytest
from parlour import envs
from parlour.envs import play_until_done
from parlour.envs.auction.bots import equilibrium_bid
from parlour.envs.core.rollout import tables_with_seed
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
@pytest.mark.parametrize("quantiles", [(10, 30), (5, 50, 60, 61)])
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


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("bidders", [2, 4])
def test_the_environment_pays_what_theory_says(rule, bidders):
    """Revenue equivalence: valuations uniform on [0, 100] give every bidder 100 / (n (n + 1)) under every rule."""
    game = envs.game("auction", seats=bidders, rule=rule, bids=256)
    gained = play_until_done(game, [make_policy("equilibrium", game, seed=1)], tables_with_seed(game, 50_000, 0))
    assert gained.mean() == pytest.approx(100 / bidders / (bidders + 1), rel=0.03)


def test_reserve_prices_have_the_known_bids():
    """Krishna, section 2.5.1: of two bidders with uniform valuations, a first-price bid is (v² + r²) / 2v."""
    v = np.linspace(0.3, 1, 71)
    assert equilibrium_bid("first-price", 2, [0, 1], v, reserve=0.3) == pytest.approx((v**2 + 0.09) / (2 * v))
    assert equilibrium_bid("second-price", 2, [0, 1], v, reserve=0.3) == pytest.approx(v)
    for rule in RULES:
        assert not equilibrium_bid(rule, 2, [0, 1], np.linspace(0, 0.299, 5), reserve=0.3).any()
    threshold = np.sqrt(0.3)  # all-pay: t · t = r
    bids = equilibrium_bid("all-pay", 2, [0, 1], np.array([threshold - 1e-6, threshold + 1e-6, 1]), reserve=0.3)
    assert bids == pytest.approx([0, 0.3, 1 - (1 - 0.3) / 2], abs=1e-5)


def test_units_of_uniform_valuations():
    """Two units and three bidders: the chance to win is 1 − (1 − v)²; the bid is the mean of the lower of the others'
    valuations, given that it is below v."""
    v = np.linspace(0.01, 1, 34)
    below = v**2 - v**3 * 2 / 3  # ∫ x · 2 (1 − x)
    assert equilibrium_bid("first-price", 3, [0, 1], v, units=2) == pytest.approx(below / (2 * v - v**2))
    assert equilibrium_bid("all-pay", 3, [0, 1], v, units=2) == pytest.approx(below)
    assert equilibrium_bid("second-price", 3, [0, 1], v, units=2) == pytest.approx(v)


def test_signals_around_a_number_have_the_bids_of_kagel_and_levin():
    x, noise, n = np.linspace(60, 190, 27), 30.0, 4
    rest = 2 * noise / (n + 1) * np.exp(-n / (2 * noise) * (x - 55))
    common = {"values": "common", "noise": noise}
    private = {"values": "affiliated", "noise": noise}
    assert equilibrium_bid("first-price", n, (25, 225), x, **common) == pytest.approx(x - noise + rest)
    assert equilibrium_bid("second-price", n, (25, 225), x, **common) == pytest.approx(x - noise * (n - 2) / n)
    assert equilibrium_bid("first-price", n, (25, 225), x, **private) == pytest.approx(x - 2 * noise / n + rest / n)
    low = np.linspace(-5, 55, 7)
    assert equilibrium_bid("first-price", n, (25, 225), low, **common) == pytest.approx(25 + (low + 5) / (n + 1))


SIGNALS = [
    (rule, values, noise, signals)
    for rule in ("first-price", "second-price")
    for values in ("common", "affiliated")
    for noise, signals in ((20, (50, 90, 160)), (60, (20, 170)))
]


@pytest.mark.parametrize(
    ("rule", "values", "noise", "signals"), [*SIGNALS, *((rule, "average", 0, (70, 100, 150)) for rule in RULES)]
)
def test_no_other_bid_does_better_for_a_signal(rule, values, noise, signals):
    """Against the equilibrium's bids of two others, simulated from what a bidder knows."""
    low, high, count = 60.0, 150.0, 200_000
    generator, more = np.random.default_rng(0), {"values": values, "noise": noise} if noise else {"values": values}
    for own in map(float, signals):
        if values == "average":
            others = generator.uniform(low, high, (count, 2))
            worth = (own + others.sum(axis=1)) / 3
        else:
            centre = generator.uniform(max(low, own - noise), min(high, own + noise), count)
            others = centre[:, None] + noise * generator.uniform(-1, 1, (count, 2))
            worth = centre if values == "common" else np.full(count, own)
        rival = equilibrium_bid(rule, 3, (low, high), others, **more).max(axis=1)
        right = float(equilibrium_bid(rule, 3, (low, high), np.array(own), **more))
        gains = []
        for bid in (right, *np.linspace(max(0.0, right - 12), right + 12, 25)):
            won, paid = rival < bid, rival if rule == "second-price" else bid
            gains.append(float((worth * won - paid * (won if rule != "all-pay" else 1)).mean()))
        assert gains[0] >= max(gains) - 0.1


@pytest.mark.parametrize(
    ("rule", "quantiles", "options"),
    [
        ("all-pay", [0, 1], {"values": "common", "noise": 1}),
        ("first-price", [0, 1], {"values": "average", "reserve": 0.1}),
        ("all-pay", [0, 1], {"risk_aversion": 0.5}),
        ("first-price", [0, 1], {"risk_aversion": 0.5, "units": 2}),
        ("first-price", [70, 70], {"values": "average"}),
        ("first-price", [25, 225], {"values": "common"}),
        ("first-price", [25, 225], {"values": "shared"}),
    ],
)
def test_options_without_a_closed_form_and_numbers_that_cannot_vary_are_refused(rule, quantiles, options):
    with pytest.raises(ValueError, match=r"closed form|unknown"):
        equilibrium_bid(rule, 3, quantiles, np.array([70.0]), **options)
