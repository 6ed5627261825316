"""Auctions: comparison of a policy with the equilibrium, its exact best response, and what differs at a live table."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....envs import Game
from ....envs.auction.bots import OPTIONS, equilibrium_bid
from ....envs.auction.rules import CLOSE
from ....envs.core.rollout import Policy, encoder_of, played
from ...parallel.tasks import Tick, ignore
from ..duplicate import Score, unit_per_game
from ..exploit import Estimated, Win
from . import Comparison, Floats, Measures, Quantity, play


def worth_of_bids(
    valuations: Floats, bids: Floats, levels: Floats, chances: Floats, options: Mapping[str, Any], money: float
) -> Floats:
    """Return the expected utility of each bid for each valuation.

    Args:
        valuations: float64[V], private.
        bids: float64[B], amounts.
        levels: float64[L], strictly rising: the amounts that the other bidders may bid.
        chances: float64[n − 1, L], the probability of each amount for each of them. A row may sum to less than 1; with
            the rest the bidder never bids, so the auction ends without a winner.
        options: of the game (see `game`).
        money: the amount that utilities of risk aversion refer to: the highest valuation.

    Returns:
        float64[V, B].

    Raises:
        ValueError: if the values are not private.
    """
    if options["values"] != "private":
        raise ValueError(f"values={options['values']!r}: only private values are independent of the others' bids")
    rule, fee, units = (options[name] for name in ("rule", "entry_fee", "units"))
    part = takes_part(bids, options)
    ranks = _ranks(bids, levels, chances * takes_part(levels, options), chances.sum(axis=1))
    above, equal = np.ogrid[: ranks.shape[1], : ranks.shape[2]]
    wins = (ranks * np.clip((units - above) / (equal + 1), 0, 1)).sum(axis=(1, 2))  # ties are drawn
    whole = float(chances.sum(axis=1).prod())  # all others bid

    def utility(gain: Floats) -> Floats:
        """Return the utility of a gain, as `rules.utility`."""
        curved = money * np.maximum(gain / money, 0) ** (1 - options["risk_aversion"])
        return np.where(gain > 0, curved, gain)

    own = valuations[:, None]
    lost = (whole - wins) * utility(np.array(-fee if rule != "all-pay" else -bids - fee, np.float64))
    if rule == "second-price":
        prices, cheap = _prices(levels, chances, options)
        surely = np.where(prices[None, :] < bids[:, None] - CLOSE, cheap, 0.0)  # float64[B, prices]
        gained = utility(own - prices - fee) @ surely.T + (wins - surely.sum(axis=1)) * utility(own - bids - fee)
    else:
        gained = wins * utility(own - bids - fee)
    return np.where(part, gained + lost, 0.0)


def best_bids(levels: Floats, options: Mapping[str, Any]) -> Floats:
    """Return the bids among which there is always a best response: each level, and a hundredth above it.

    Between two levels the chance to win is the same, and a higher bid never costs less.
    """
    return np.unique(np.concatenate([[0.0, options["reserve"]], levels, levels + 0.01]))


def _ranks(bids: Floats, levels: Floats, chances: Floats, whole: Floats) -> Floats:
    """Return the probabilities that so many of the others are above each bid and so many equal: float64[B, n, n].

    `chances` are those of bids that take part, `whole` those to bid at all.
    """
    others = len(chances)
    higher = levels > bids[:, None] + CLOSE
    same = np.abs(levels - bids[:, None]) <= CLOSE
    ranks = np.zeros((len(bids), others + 1, others + 1))
    ranks[:, 0, 0] = 1
    for chance, bids_at_all in zip(chances, whole, strict=True):
        above, equal = ((chance * where).sum(axis=1)[:, None, None] for where in (higher, same))
        after = (bids_at_all - above - equal) * ranks
        after[:, 1:] += above * ranks[:, :-1]
        after[:, :, 1:] += equal * ranks[:, :, :-1]
        ranks = after
    return ranks


def _prices(levels: Floats, chances: Floats, options: Mapping[str, Any]) -> tuple[Floats, Floats]:
    """Return the prices of a second-price auction, and the probability of each: float64[P] each.

    A winner pays the highest losing bid, which is the `units`-th highest of the others, or the reserve price without
    one.
    """
    part = takes_part(levels, options)
    points = np.concatenate([[-1.0], levels])  # the first one is below all bids
    ranks = _ranks(points, levels, chances * part, chances.sum(axis=1))
    at_most = ranks[:, : options["units"]].sum(axis=(1, 2))  # the probability that fewer than `units` are above
    prices = np.maximum(levels, options["reserve"])[part]
    return np.concatenate([[options["reserve"]], prices]), np.concatenate([at_most[:1], np.diff(at_most)[part]])


def takes_part(bids: Floats, options: Mapping[str, Any]) -> NDArray[np.bool_]:
    """Return True for bids that may win and are charged, as `rules.takes_part`, for an array of any shape."""
    return np.asarray((bids >= options["reserve"] - CLOSE) & ((bids > 0) | (options["entry_fee"] == 0)))


def revenue(bids: Floats, options: Mapping[str, Any]) -> Floats:
    """Return the payments of each auction: float64[N].

    Args:
        bids: float64[N, bidders], of auctions in which all have bid; where one has not, nobody pays.
        options: of the game.
    """
    rule, reserve, fee, units = (options[name] for name in ("rule", "reserve", "entry_fee", "units"))
    part = takes_part(bids, options)
    ranked = -np.sort(-np.where(part, bids, 0.0), axis=1)
    fees = fee * part.sum(axis=1)
    if rule == "all-pay":
        return np.asarray(ranked.sum(axis=1) + fees)
    if rule == "first-price":
        return np.asarray(ranked[:, :units].sum(axis=1) + fees)
    return np.asarray(np.minimum(part.sum(axis=1), units) * np.maximum(ranked[:, units], reserve) + fees)


BINS = 50
"""Classes of valuations of equal width, in which bids are averaged."""
CLASSES = 2_000
"""Valuations, at equal probabilities, over which an exact best response is averaged."""
TURNS = 50
"""Turns in which a policy is asked for its bid; who passes in all of them counts as never bidding."""
PASSES = 0.001
"""The greatest share of passes in the first turn with which a best response counts as exact."""


Likely = Callable[[Any, Any], Any]
"""How likely a policy plays each action, by observations and masks."""


def compare(policy: Policy, game: Game, *, matches: int, seed: int) -> Comparison | None:
    """Compare the bids of a policy with those of the equilibrium.

    Returns:
        The comparison; None if no equilibrium is known, for example if the bidders' valuations have different
        distributions, or atoms.
    """
    if isinstance(game.options["valuations"][0], list):
        return None
    try:
        _theory(game, np.zeros(1))
    except ValueError:
        return None
    losses, tables, bidders = _losses(policy, game), play(policy, game, matches, seed), game.seats
    valuations, bids = (np.array(tables[name][:, :bidders]) for name in ("valuation", "bid"))
    theory = _theory(game, valuations)
    low, width = valuations.min(), max(float(np.ptp(valuations)), 1e-9) / BINS
    places = np.minimum((valuations - low) / width, BINS - 1).astype(np.intp).ravel()
    filled = np.unique(places)
    counts, learned, right = (np.bincount(places, each)[filled] for each in (None, bids.ravel(), theory.ravel()))
    middle, learned, right = low + width * (filled + 0.5), learned / counts, right / counts
    errors = np.abs(learned - right)
    upper = middle >= min(np.median(valuations), middle[-1])
    upper_error = float(np.average(errors[upper], weights=counts[upper]))
    paid = np.where(tables["num_bids_submitted"][:, None] == bidders, bids, 0.0)  # else nobody pays
    earned, expected = (float(revenue(each, game.options).mean()) for each in (paid, theory))
    lines = [
        Quantity("bid_error", "error of the mean bid, over all valuations", float(np.average(errors, weights=counts))),
        Quantity("bid_error_upper", "in the upper half of them", upper_error),
        Quantity("bid_error_largest", "in the worst class of the upper half", float(errors[upper].max())),
        Quantity("each_bid_error", "error of a single bid, mean", float(np.abs(bids - theory).mean())),
        Quantity("revenue", "revenue", earned, expected),
        Quantity("utility", "utility, mean over bidders", float(tables["rewards"][:, :bidders].mean())),
    ]
    if losses is not None:
        surplus = float(-np.sort(-valuations, axis=1)[:, : game.options["units"]].sum(axis=1).mean())
        lost, kind = float(losses[0].mean()), losses[1]
        lines += [
            Quantity("response_gain", f"an {kind} best response gains, mean over bidders", lost, 0.0),
            Quantity("response_gain_share", "the same in shares of the surplus", 100 * lost / surplus, 0.0, "%"),
        ]
    return Comparison(lines)


def _theory(game: Game, valuations: Floats) -> Floats:
    options = game.options
    rule_options = {name: options[name] for name in OPTIONS}
    return equilibrium_bid(options["rule"], game.seats, options["valuations"], valuations, **rule_options)


def best_response(policy: Policy, game: Game, *, hands: int = 0, seed: int = 0, progress: Tick = ignore) -> Win:
    """Return the gain of an exact best response: the mean over the seats of its utility less that of the policy.

    It knows the policy's distribution of bids for every valuation, and answers with any amounts, on and off the grid.

    It bids in its first turn: what others do when they see it pass is left out. The kind is ``"approximate"`` if the
    policy does not tell its probabilities, or passes in a first turn that others see in more than `PASSES` of the
    auctions.

    Args:
        policy: the policy. Without ``probabilities(observations, masks)`` they are estimated from repeated calls.
        game: an auction with independent private values and without talk.
        hands: not used; the result is exact but for the grid of `CLASSES` valuations.
        seed: not used.
        progress: called with `hands` at the end.

    Raises:
        ValueError: for other values, or with talk.
    """
    computed = _losses(policy, game)
    if computed is None:
        raise ValueError(
            "the exact best response needs private values, no talk, and a policy that plays on observations at the "
            f"seats of its training; this is values={game.options['values']!r}, talk={game.options['talk']!r}, "
            f"{game.seats} seats"
        )
    progress(hands)
    losses, kind = computed
    gain = float(losses.mean())
    return Win("best response", kind, Score(gain, gain, gain, losses.size, losses.size, unit_per_game(game)))


def _losses(policy: Policy, game: Game) -> tuple[Floats, str] | None:
    """Return the utility of a best response less the policy's, by seat and valuation, and ``"exact"`` or not.

    It is ``"approximate"`` if the policy does not tell its probabilities, or if a seat before the last passes in its
    first turn: what others then see of it is not followed.

    Returns:
        float64[seats, CLASSES] and the kind; None if the values are not private, there is talk, or it plays on records.
    """
    options = game.options
    on_records = played(policy) is None and hasattr(policy, "act_on")  # observations alone do not tell its bids
    if options["values"] != "private" or options["talk"] or on_records:
        return None
    table = game.rules.blank[0]
    levels = np.arange(table.bids) * float(table.bid_step)
    shares = (np.arange(CLASSES) + 0.5) / CLASSES
    given = options["valuations"]
    each_seat = given if isinstance(given[0], list) else [given] * game.seats
    valuations = [np.round(np.interp(shares, np.linspace(0, 1, len(each)), each), 2) for each in each_seat]
    likely = played(policy) or Estimated(policy).probabilities
    name = encoder_of(policy, game)
    bids, passes = zip(*(_bids(likely, name, game, seat, valuations[seat]) for seat in range(game.seats)), strict=True)
    # Nobody sees a pass of the last seat before it has bid.
    exact = played(policy) is not None and max(passes[:-1]) <= PASSES
    losses = np.empty((game.seats, CLASSES))
    for seat in range(game.seats):
        others = np.array([bids[other].mean(axis=0) for other in range(game.seats) if other != seat])
        market = levels, others, options, 1 / float(table.per_money)
        best = worth_of_bids(valuations[seat], best_bids(levels, options), *market).max(axis=1)
        own = (bids[seat] * worth_of_bids(valuations[seat], levels, *market)).sum(axis=1)
        losses[seat] = np.maximum(best, 0.0) - own  # who passes to the end has 0
    return losses, "exact" if exact else "approximate"


def _bids(likely: Likely, name: str, game: Game, seat: int, valuations: Floats) -> tuple[Floats, float]:
    """Return the probability of each bid of the grid for each valuation, float64[V, bids], and the share of passes.

    The share is that in the first turn. In its first turn the seats before it have bid; a seat that passes meets its
    next turn when all others have bid.
    """
    encoder = game.encoders[name]
    rows = np.arange(len(valuations))
    records = game.tables(len(valuations))
    records["turn"], records["done"] = seat, False
    records["valuation"][:, seat] = valuations
    grid = int(game.rules.blank[0].bids)
    masks = np.zeros((len(rows), game.num_actions), np.int8)
    passed, bids = np.ones(len(rows)), np.zeros((len(rows), grid))
    for turn in range(1, min(game.options["rounds"], TURNS) + 1):
        before = [other for other in range(game.seats) if other < seat or (turn > 1 and other != seat)]
        records["bid_round"][:, before] = 1
        records["round_number"], records["num_bids_submitted"] = turn, len(before)
        game.rules.legal(records[0], masks[0])
        masks[:] = masks[0]
        chances = np.asarray(likely(encoder.observations(records, rows), masks), np.float64)
        bids += passed[:, None] * chances[:, :grid]
        passed = passed * chances[:, grid]
        if turn == 1:
            passes = float(passed.mean())
        if not passed.any():
            break
    return bids, passes


MEASURES = Measures(compare=compare, best_responses={"exact best response": best_response})
