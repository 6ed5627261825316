"""Equilibria with the auction's options: published closed forms, best responses found by simulation, and play."""

import numpy as np
import pytest
from parlour.envs.auction.bots import equilibrium_bid

RULES = ("first-price", "second-price", "all-pay")


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


@pytest.mark.parametrize("rule", ["first-price", "second-price"])
@pytest.mark.parametrize("values", ["common", "affiliated"])
@pytest.mark.parametrize(("noise", "signals"), [(20, (50, 90, 130, 160)), (60, (20, 100, 170))])
def test_no_other_bid_does_better_for_a_signal(rule, values, noise, signals):
    """Against the equilibrium's bids of two others, simulated from what a bidder knows."""
    low, high, count = 60.0, 150.0, 100_000
    generator = np.random.default_rng(0)
    for own in signals:
        centre = generator.uniform(max(low, own - noise), min(high, own + noise), count)
        others = centre[:, None] + noise * generator.uniform(-1, 1, (count, 2))
        more = {"values": values, "noise": noise}
        rival = equilibrium_bid(rule, 3, (low, high), others, **more).max(axis=1)
        worth = centre if values == "common" else np.full(count, float(own))
        right = float(equilibrium_bid(rule, 3, (low, high), np.array(own), **more))

        def gain(bid, rival=rival, worth=worth):
            paid = bid if rule == "first-price" else rival
            return float(((worth - paid) * (rival < bid)).mean())

        best = max(gain(other) for other in np.linspace(right - 12, right + 12, 25))
        assert gain(right) >= best - 0.05


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("bidders", [2, 4])
def test_no_other_bid_does_better_for_the_mean_of_all(rule, bidders):
    generator = np.random.default_rng(0)
    others = generator.uniform(20, 120, (200_000, bidders - 1))
    rival = equilibrium_bid(rule, bidders, (20, 120), others, values="average").max(axis=1)
    for own in (30.0, 70.0, 120.0):
        worth = (own + others.sum(axis=1)) / bidders
        right = float(equilibrium_bid(rule, bidders, (20, 120), np.array(own), values="average"))
        gains = []
        for bid in (right, *np.linspace(0, 120, 49)):
            paid = rival if rule == "second-price" else bid
            won = rival < bid
            gains.append(float((worth * won - paid * (won if rule != "all-pay" else 1)).mean()))
        assert gains[0] >= max(gains) - 0.15


@pytest.mark.parametrize(
    ("rule", "options"),
    [
        ("all-pay", {"values": "common", "noise": 1}),
        ("first-price", {"values": "average", "reserve": 0.1}),
        ("all-pay", {"risk_aversion": 0.5}),
        ("first-price", {"risk_aversion": 0.5, "entry_fee": 0.1}),
        ("first-price", {"risk_aversion": 0.5, "units": 2}),
    ],
)
def test_options_without_a_closed_form_are_refused(rule, options):
    with pytest.raises(ValueError, match="closed form"):
        equilibrium_bid(rule, 3, [0, 1], np.zeros(1), **options)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    ("quantiles", "options"),
    [
        ([70, 70], {"values": "average"}),
        ([70, 70], {"values": "common", "noise": 5}),
        ([25, 225], {"values": "common"}),
        ([25, 225], {"values": "shared"}),
    ],
)
def test_numbers_that_cannot_vary_and_unknown_values_are_refused(rule, quantiles, options):
    with pytest.raises(ValueError, match=r"closed form|unknown"):
        equilibrium_bid(rule, 3, quantiles, np.array([70.0]), **options)
