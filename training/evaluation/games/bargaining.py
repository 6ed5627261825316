"""Bargaining: comparison of a policy with the subgame-perfect equilibrium, or with the available surplus."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ....envs import Game, play_until_done
from ....envs.bargaining.bots import subgame_perfect
from ....envs.bargaining.rules import OFFER
from ....envs.core.record import Tables
from ....envs.core.rollout import Policy, tables_with_seed
from ..comparison import Comparison, Floats, Quantity, mean, means, play
from . import Measures

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def compare(policy: Policy, game: Game, *, matches: int, seed: int) -> Comparison:
    """Compare the agreements of a policy with the equilibrium (public values) or the surplus (private values)."""
    tables = play(policy, game, matches, seed)
    return _public(policy, game, tables, seed) if game.options["public"] else _private(game, tables)


def _split(tables: Tables, game: Game) -> tuple[Floats, Floats]:
    """Return seat 0's share (NaN without agreement) and the available surplus, float64[N] each."""
    offer, mine = tables["current_offer"], tables["last_offer_by"] == 0
    total = game.options["total"]
    share = np.where(mine, offer, total - offer)
    return np.where(tables["agreed"], share, np.nan), total - tables["my_reservation_value"].sum(axis=1)


def _deals(tables: Tables, surplus: Floats, public: bool) -> list[Quantity]:
    """Return agreement rate, realised surplus and number of turns, over the matches in which an agreement is possible.

    With public values, subgame-perfect players agree on the first offer.
    """
    possible = surplus > 0
    agreed = np.array(tables["agreed"][possible])
    gained, there = tables["rewards"][possible].sum(), surplus[possible].sum()
    whole = 100.0 if public else None
    return [
        Quantity("agreement", "agreement, where a deal exists", mean(100.0 * agreed), whole, "%"),
        Quantity("surplus", "surplus realised", 100 * float(gained / there) if there else None, whole, "%"),
        Quantity("turns", "turns until agreement", mean(tables["moves"][possible][agreed]), 2.0 if public else None),
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
                    middle, _counts, mean = means(own, values[rows])
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
    asked, wanted = demands_by_turn(policy, game, seed=seed)
    by_turn = np.abs(asked - wanted)[~np.isnan(asked)]
    lines = [
        Quantity("first_share", "first proposer's share", mean(learned), mean(right)),
        Quantity("first_share_error", "error of it, mean over matches", mean(np.abs(learned - right))),
        Quantity("turns_error", "error of the mean demand, mean over turns after passes only", mean(by_turn)),
        Quantity("turns_error_largest", "in the worst turn", float(by_turn.max()) if len(by_turn) else None),
        *_deals(tables, surplus, public=True),
    ]

    def panel(axes: "Axes") -> None:
        axes.scatter(right[:2_000], learned[:2_000], s=3, alpha=0.5, label="learned, a match each")
        axes.axline((0.5 * game.options["total"],) * 2, slope=1, color="k", ls="--", label="subgame-perfect")
        axes.set(title="first proposer's share", xlabel="subgame-perfect", ylabel="learned")

    def turns(axes: "Axes") -> None:
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
    """Return the demand in each turn that can still be answered, if all turns before were passes.

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
    """A policy that plays the safe action, which is the same at every table."""

    def __init__(self, game: Game) -> None:
        self._action = game.view.safe(game.tables(1)[0])

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return the safe action for every row."""
        return np.full(len(masks), self._action, np.int64)


MEASURES = Measures(compare=compare)
