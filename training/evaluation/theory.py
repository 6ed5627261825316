"""A policy beside the closed form of its game, in figures and in a picture: auctions and bargaining.

The policy plays in all seats, drawing its actions as it does at any table; what it did is read from the finished
tables. The picture needs matplotlib: ``pip install 'parlour[plot]'``.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from ...envs import Game, play_until_done
from ...envs.auction.bots import equilibrium_bid
from ...envs.bargaining.bots import subgame_perfect
from ...envs.bargaining.table import OFFER
from ...envs.core.record import Tables
from ...envs.core.rollout import tables_with_seed
from ...wrappers.policies.base import Policy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

MATCHES = 20_000
"""Matches from which the figures are taken."""
BINS = 50
"""Classes of valuations, alike in width, over which bids are averaged."""


@dataclass(frozen=True)
class Figure:
    """One figure.

    Attributes:
        name: for programs.
        what: for people.
        learned: the policy's, in `unit`; None where there is nothing to average.
        theory: the closed form's, on the same deals; None where there is none.
        unit: such as ``"%"``; empty: money.
    """

    name: str
    what: str
    learned: float | None
    theory: float | None = None
    unit: str = ""


@dataclass(frozen=True)
class Comparison:
    """A policy beside the closed form.

    Attributes:
        lines: the figures.
        panels: what draws the picture, from left to right.
    """

    lines: Sequence[Figure]
    panels: Sequence["Callable[[Axes], None]"]

    def to_dict(self) -> dict[str, Any]:
        """Return the figures by name, for JSON."""
        return {line.name: {key: value for key, value in asdict(line).items() if key != "name"} for line in self.lines}

    def table(self, title: str) -> Table:
        """Return the figures as a table for people."""
        table = Table("", "learned", "theory", title=title)
        table.columns[1].justify = table.columns[2].justify = "right"
        for line in self.lines:
            figures = ["—" if value is None else f"{value:.2f} {line.unit}" for value in (line.learned, line.theory)]
            table.add_row(line.what, *figures)
        return table

    def save(self, path: str | PathLike[str]) -> None:
        """Draw the picture into a file; its ending tells the format.

        Raises:
            ImportError: if matplotlib is not installed.
        """
        from matplotlib.backends.backend_agg import FigureCanvasAgg  # no display, no global state
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6 * len(self.panels), 4.5), layout="constrained")
        FigureCanvasAgg(figure)
        axes = np.atleast_1d(figure.subplots(1, len(self.panels)))
        for panel, place in zip(self.panels, axes, strict=True):
            panel(place)
            place.legend(frameon=False)
            place.grid(alpha=0.3)
        figure.savefig(path, dpi=120)


def compare(policy: Policy, game: Game, *, matches: int = MATCHES, seed: int = 0) -> Comparison | None:
    """Play matches with `policy` in all seats and set them beside the closed form of `game`.

    Args:
        policy: who is compared.
        game: with its options.
        matches: how many, at least 1.
        seed: of the deals. The policy draws from its own stream.

    Returns:
        None for a game, or options of it, without a closed form (hold'em; bidders whose valuations have different
        distributions, or atoms).
    """
    if game.name == "auction" and _has_equilibrium(game):
        return _auction(play(policy, game, matches, seed), game)
    if game.name == "bargaining":
        tables = play(policy, game, matches, seed)
        return _public(policy, game, tables, seed) if game.options["public"] else _private(game, tables)
    return None


def play(policy: Policy, game: Game, matches: int, seed: int) -> Tables:
    """Play `matches` with `policy` in all seats to the end; return the tables (recarray of shape (matches,))."""
    tables = tables_with_seed(game, matches, seed)
    play_until_done(game, [policy], tables)
    return tables


def _mean(values: NDArray[Any]) -> float | None:
    return float(values.mean()) if len(values) else None


# Auctions.


def _has_equilibrium(game: Game) -> bool:
    quantiles, rule = game.options["valuations"], game.options["rule"]
    return not isinstance(quantiles[0], list) and (rule == "second-price" or bool((np.diff(quantiles) > 0).all()))


def _auction(tables: Tables, game: Game) -> Comparison:
    rule, bidders, quantiles = game.options["rule"], game.seats, game.options["valuations"]
    valuations, bids = (np.array(tables[name][:, :bidders]) for name in ("valuation", "bid"))
    theory = equilibrium_bid(rule, bidders, quantiles, valuations)
    middle, counts, learned, right = _means(valuations, bids, theory)
    errors = np.abs(learned - right)
    upper = middle >= min(np.median(valuations), middle[-1])
    revenue, expected = (float(_revenue(rule, each).mean()) for each in (bids, theory))
    lines = [
        Figure("bid_error", "error of the mean bid, over all valuations", float(np.average(errors, weights=counts))),
        Figure("bid_error_upper", "in the upper half of them", float(np.average(errors[upper], weights=counts[upper]))),
        Figure("bid_error_largest", "in the worst class of the upper half", float(errors[upper].max())),
        Figure("each_bid_error", "error of a single bid, mean", float(np.abs(bids - theory).mean())),
        Figure("revenue", "revenue", revenue, expected),
    ]

    def panel(axes: "Axes") -> None:
        axes.fill_between(middle, *_quantiles(valuations, bids, (0.1, 0.9)), alpha=0.25, label="learned, 10 % to 90 %")
        axes.plot(middle, learned, label="learned, mean")
        axes.plot(middle, right, "k--", label="equilibrium")
        axes.set(title=f"{rule}, {bidders} bidders", xlabel="valuation", ylabel="bid")

    return Comparison(lines, [panel])


def _classes(by: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Return the middles of `BINS` classes over the range of `by`, and the class of each of its values."""
    low, width = by.min(), max(float(np.ptp(by)), 1e-9) / BINS
    middles = low + width * (np.arange(BINS) + 0.5)
    return middles, np.minimum((by - low) / width, BINS - 1).astype(np.intp).ravel()


def _means(by: Floats, *values: Floats) -> tuple[Floats, ...]:
    """Return middles and sizes of the classes of `by` that are not empty, and the mean of each of `values` there."""
    middles, which = _classes(by)
    counts = np.bincount(which, minlength=BINS)
    filled = counts > 0
    sums = (np.bincount(which, each.ravel(), BINS) for each in values)
    return middles[filled], counts[filled].astype(float), *(each[filled] / counts[filled] for each in sums)


def _quantiles(by: Floats, values: Floats, levels: Sequence[float]) -> Floats:
    """Return quantiles of `values` in the classes of `by` that are not empty: float64[levels, classes]."""
    _middles, which = _classes(by)
    return np.stack([np.quantile(values.ravel()[which == k], levels) for k in np.unique(which)], axis=1)


def _revenue(rule: str, bids: Floats) -> Floats:
    """Return what all pay together, of float64[N, bidders]; a bidder who never bid counts as 0."""
    if rule == "all-pay":
        return np.asarray(bids.sum(axis=1))
    return np.asarray(np.sort(bids, axis=1)[:, -1 if rule == "first-price" else -2])


# Bargaining.


def _split(tables: Tables, game: Game) -> tuple[Floats, Floats]:
    """Return seat 0's share (NaN without agreement) and the surplus that there was, float64[N]."""
    offer, mine = tables["current_offer"], tables["last_offer_by"] == 0
    total = game.options["total"]
    share = np.where(mine, offer, total - offer)
    return np.where(tables["agreed"], share, np.nan), total - tables["my_reservation_value"].sum(axis=1)


def _deals(tables: Tables, surplus: Floats, public: bool) -> list[Figure]:
    """Return how often, how well and how soon the seats agreed, over the matches where a deal exists.

    With public values, perfect players agree on the first offer.
    """
    possible = surplus > 0
    agreed = np.array(tables["agreed"][possible])
    gained, there = tables["rewards"][possible].sum(), surplus[possible].sum()
    whole = 100.0 if public else None
    return [
        Figure("agreement", "agreement, where a deal exists", _mean(100.0 * agreed), whole, "%"),
        Figure("surplus", "surplus realised", 100 * float(gained / there) if there else None, whole, "%"),
        Figure("turns", "turns until agreement", _mean(tables["moves"][possible][agreed]), 2.0 if public else None),
    ]


def _private(game: Game, tables: Tables) -> Comparison:
    share, surplus = _split(tables, game)
    reservations, total = np.array(tables["my_reservation_value"]), game.options["total"]
    shares = np.stack([share, total - share], axis=1)
    agreed = ~np.isnan(share)

    def panel(axes: "Axes") -> None:
        for seat in range(2):
            first = (tables["log_kind"][:, seat] == OFFER) & (tables["moves"] > seat)
            for rows, values, style, what in (
                (first, tables["log_share"][:, seat], "--", "first demand"),
                (agreed, shares[:, seat], "-", "share agreed on"),
            ):
                if rows.any():
                    own = reservations[rows, seat]
                    middle, _counts, mean = _means(own, values[rows])
                    axes.plot(middle, mean, style, color=f"C{seat}", label=f"player_{seat}: {what}")
        axes.plot(*[[reservations.min(), reservations.max()]] * 2, "k:", label="own reservation value")
        axes.set(title="private reservation values", xlabel="own reservation value", ylabel="share")

    def when(axes: "Axes") -> None:
        axes.hist(tables["moves"][agreed], np.arange(0.5, 2 * game.options["rounds"] + 1).tolist(), label="matches")
        axes.locator_params(axis="x", integer=True)
        axes.set(title="agreement", xlabel="turn", ylabel="matches")

    return Comparison(_deals(tables, surplus, public=False), [panel, when])


def _public(policy: Policy, game: Game, tables: Tables, seed: int) -> Comparison:
    share, surplus = _split(tables, game)
    demands, _values = _solve(game, tables)
    both = ~np.isnan(share) & ~np.isnan(demands[0]) & (surplus > 0)
    learned, right = share[both], demands[0][both]
    lines = [
        Figure("first_share", "first proposer's share", _mean(learned), _mean(right)),
        Figure("first_share_error", "error of it, mean over matches", _mean(np.abs(learned - right))),
        *_deals(tables, surplus, public=True),
    ]

    def panel(axes: "Axes") -> None:
        axes.scatter(right[:2_000], learned[:2_000], s=3, alpha=0.5, label="learned, a match each")
        axes.axline((0.5 * game.options["total"],) * 2, slope=1, color="k", ls="--", label="subgame-perfect")
        axes.set(title="first proposer's share", xlabel="subgame-perfect", ylabel="learned")

    def turns(axes: "Axes") -> None:
        asked, wanted = demands_by_turn(policy, game, seed=seed)
        turn = np.arange(1, len(asked) + 1)
        axes.plot(turn, asked, "o-", label="learned")
        axes.plot(turn, wanted, "k--", label="subgame-perfect")
        axes.locator_params(axis="x", integer=True)
        axes.set(title="demand after passes only", xlabel="turn", ylabel="mean share demanded", ylim=(0, None))

    return Comparison(lines, [panel, turns])


def _solve(game: Game, tables: Tables) -> tuple[Floats, Floats]:
    total, rounds, discount = (game.options[name] for name in ("total", "rounds", "discount"))
    return subgame_perfect(total, rounds, discount, tables["my_reservation_value"].T)


def demands_by_turn(policy: Policy, game: Game, *, matches: int = 2_000, seed: int = 0) -> tuple[Floats, Floats]:
    """Return what the mover of each turn that can still be answered asks for, when all before it have passed.

    Returns:
        The mean share demanded and the subgame-perfect one, on the same deals: float64[2·rounds − 1] each.
    """
    turns = 2 * int(game.options["rounds"]) - 1
    asked, wanted = np.full(turns, np.nan), np.full(turns, np.nan)
    for turn in range(turns):
        tables = tables_with_seed(game, matches, seed)
        play_until_done(game, [_Safe(game)], tables, steps=turn)
        play_until_done(game, [policy], tables, begin=False, steps=1)
        perfect = _solve(game, tables)[0][turn]
        offers = (tables["log_kind"][:, turn] == OFFER) & ~np.isnan(perfect)
        if offers.any():
            asked[turn], wanted[turn] = tables["log_share"][offers, turn].mean(), perfect[offers].mean()
    return asked, wanted


class _Safe:
    """Plays the safe action, which is the same at every table."""

    def __init__(self, game: Game) -> None:
        self._action = game.view.safe(game.tables(1)[0])

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return the safe action for every row."""
        return np.full(len(masks), self._action, np.int64)
