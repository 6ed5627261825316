"""Equilibrium bids for signals around a hidden number, which is uniform (Kagel and Levin, AER 1986)."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

STEPS = 2_000
"""Steps of the integration above the last closed form."""


def affiliated_bid(
    rule: str, bidders: int, low: float, high: float, noise: float, signals: Floats, *, common: bool
) -> Floats:
    """Return the symmetric equilibrium bids.

    A number C is uniform from `low` to `high`; the n signals x are independent and uniform within ε = `noise` of C. The
    good is worth C (`common`), or to each bidder its own signal.

    In a second-price auction a bidder bids what the good is worth on average if its own signal x is also the highest of
    the others; where both ends are further than ε, x − ε (n − 2) / n for a common value. In a first-price auction the
    bid solves b′ = (that − b) f/F, with F the distribution of the highest of the others' signals given x, at x
    (Milgrom and Weber 1982). Where both ends are further than ε, it is x − ε + Y for a common value and
    x − (2ε − Y) / n for affiliated private values, with Y = 2ε / (n + 1) · exp(−n (x − low − ε) / 2ε) (Kagel, Harstad
    and Levin 1987). Below that it is linear; above that the equation is integrated.

    Args:
        rule: ``"first-price"`` or ``"second-price"``.
        bidders: n, at least 2.
        low, high, noise: of the signals.
        signals: float64, any shape; signals that cannot occur count as the nearest one that can.
        common: whether the good is worth C to everybody.

    Returns:
        float64 of the shape of `signals`.

    Raises:
        ValueError: for another rule, which has no closed form, or a number that cannot vary.
    """
    if rule == "all-pay" or not high > low or not noise > 0:
        raise ValueError(
            f"rule {rule!r} with signals within {noise:g} of a number from {low:g} to {high:g}: no closed form"
        )
    x = np.clip(signals, low - noise, high + noise)
    if rule == "second-price":
        return _worth(bidders, low, high, noise, x, common)[0]
    end = high - noise  # the closed forms hold up to here
    bids = _first_price(bidders, low, noise, np.minimum(x, end), common)
    grid = np.linspace(end, high + noise, STEPS + 1)
    start = float(_first_price(bidders, low, noise, np.asarray(end), common))
    return np.where(x > end, np.interp(x, grid, _integrated(bidders, low, high, noise, grid, start, common)), bids)


def _first_price(n: int, low: float, noise: float, x: Floats, common: bool) -> Floats:
    """Return the bids of signals up to high − noise."""
    depth = x - (low - noise)
    rest = 2 * noise / (n + 1) * np.exp(-n * np.maximum(depth - 2 * noise, 0.0) / (2 * noise))
    if common:
        return np.where(depth < 2 * noise, low + depth / (n + 1), x - noise + rest)
    return np.where(depth < 2 * noise, low - noise + depth * n / (n + 1), x - (2 * noise - rest) / n)


def _worth(n: int, low: float, high: float, noise: float, x: Floats, common: bool) -> tuple[Floats, Floats]:
    """Return what the good is worth if x is also the highest signal of the others, and f/F at x given x.

    With u = (x − C + ε) / 2ε, which is uniform from t to s given x, the others are below x with the chance u^(n−1).
    """
    s = np.minimum((x - low + noise) / (2 * noise), 1.0)
    t = np.clip((x + noise - high) / (2 * noise), 0.0, 1.0 - 1e-9)
    s = np.maximum(s, 1e-9)
    density, below = (s ** (n - 1) - t ** (n - 1)) / (n - 1), (s**n - t**n) / n
    rate = (n - 1) * density / (2 * noise * below)
    return (x + noise - 2 * noise * below / density if common else np.asarray(x)), rate


def _integrated(
    n: int, low: float, high: float, noise: float, grid: Floats, start: float, common: bool
) -> NDArray[np.float64]:
    """Return the bids on an evenly spaced grid, from the first one on.

    In each step the rate is that of its middle and the worth is linear, for which the solution is exact and stable.
    """
    step = float(grid[1] - grid[0])
    worth = _worth(n, low, high, noise, grid, common)[0]
    rate = _worth(n, low, high, noise, grid[:-1] + step / 2, common)[1]
    lag = np.diff(worth) / (step * rate)  # how far bids that follow the worth stay behind it
    decay = np.exp(-step * rate)
    bids = np.empty_like(grid)
    bids[0] = start
    for k in range(len(grid) - 1):
        bids[k + 1] = worth[k + 1] - lag[k] + (bids[k] - worth[k] + lag[k]) * decay[k]
    return bids
