"""Bargaining: comparison of a policy with the subgame-perfect equilibrium, or with the available surplus."""

import numpy as np

from ....envs import Game, play_until_done
from ....envs.bargaining.bots import subgame_perfect
from ....envs.bargaining.rules import OFFER
from ....envs.core.record import Tables
from ....envs.core.rollout import Policy, tables_with_seed
from . import Comparison, Fixed, Floats, Measures, Quantity, mean, play


def compare(policy: Policy, game: Game, *, matches: int, seed: int) -> Comparison:
    """Compare the agreements of a policy with the equilibrium (public values) or the surplus (private values)."""
    tables, total, public = play(policy, game, matches, seed), game.options["total"], game.options["public"]
    surplus = total - tables["my_reservation_value"].sum(axis=1)
    deals = _deals(tables, surplus, public)
    if not public:
        return Comparison(deals)
    offer = tables["current_offer"]
    share, demand = np.where(tables["last_offer_by"] == 0, offer, total - offer), _perfect(game, tables)[0]
    both = (tables["agreed"] > 0) & ~np.isnan(demand) & (surplus > 0)
    learned, right = share[both], demand[both]
    demanded, expected = demands_by_turn(policy, game, seed=seed)
    by_turn = np.abs(demanded - expected)[~np.isnan(demanded)]
    lines = [
        Quantity("first_share", "first proposer's share", mean(learned), mean(right)),
        Quantity("first_share_error", "error of it, mean over matches", mean(np.abs(learned - right))),
        Quantity("turns_error", "error of the mean demand, mean over turns after passes only", mean(by_turn)),
        Quantity("turns_error_largest", "in the worst turn", float(by_turn.max()) if len(by_turn) else None),
    ]
    return Comparison([*lines, *deals])


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


def _perfect(game: Game, tables: Tables) -> Floats:
    """Return the subgame-perfect demand of every turn: float64[turns, N]."""
    total, rounds, discount = (game.options[name] for name in ("total", "rounds", "discount"))
    return subgame_perfect(total, rounds, discount, tables["my_reservation_value"].T)[0]


def demands_by_turn(policy: Policy, game: Game, *, matches: int = 2_000, seed: int = 0) -> tuple[Floats, Floats]:
    """Return the demand in each turn that can still be answered, if all turns before were passes.

    Returns:
        The mean share demanded and the subgame-perfect one, on the same deals: float64[2·rounds − 1] each.
    """
    turns = 2 * int(game.options["rounds"]) - 1
    demanded, expected = np.full(turns, np.nan), np.full(turns, np.nan)
    safe = Fixed(game.view.safe(game.tables(1)[0]))  # the same at every table
    for turn in range(turns):
        tables = tables_with_seed(game, matches, seed)
        play_until_done(game, [safe], tables, steps=turn)
        play_until_done(game, [policy], tables, begin=False, steps=1)
        perfect = _perfect(game, tables)[turn]
        offers = (tables["log_kind"][:, turn] == OFFER) & ~np.isnan(perfect)
        if offers.any():
            demanded[turn], expected[turn] = tables["log_share"][offers, turn].mean(), perfect[offers].mean()
    return demanded, expected


MEASURES = Measures(compare=compare)
