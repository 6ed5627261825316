"""The exact best response to known distributions of bids, beside closed forms and the game itself."""

import numpy as np
import pytest
from parlour import envs
from parlour.envs import play_until_done
from parlour.envs.core.rollout import tables_with_seed
from parlour.training.evaluation.games.auction import best_bids, best_response, worth_of_bids
from parlour.wrappers.policies.loading import make_policy

FINE = 251  # steps of 0.4


@pytest.mark.parametrize(
    "options",
    [{"rule": "all-pay", "seats": 4}, {"reserve": 30}, {"entry_fee": 5}, {"seats": 4, "units": 2},
     {"units": 2, "seats": 3, "rule": "second-price"}, {"risk_aversion": 0.5}, {"valuations": [0, 20, 100]}],
    ids=str,
)  # fmt: skip
def test_nothing_gains_from_an_equilibrium_but_what_the_grid_leaves(options):
    game = envs.game("auction", bids=FINE, **options)
    assert best_response(make_policy("equilibrium", game, seed=1), game).score.mean == pytest.approx(0.1, abs=0.1)


class Fixed:
    """Bids a number of the grid, drawn with given chances; with chance 0 in all of them it passes."""

    def __init__(self, chances, seed):
        self.chances, self.random = np.array(chances), np.random.default_rng(seed)

    def probabilities(self, observations, masks):
        return np.tile(self.chances, (len(masks), 1))

    def act(self, observations, masks):
        return self.random.choice(len(self.chances), len(masks), p=self.chances)


@pytest.mark.parametrize(
    "options",
    [{"rule": rule, "seats": 4, **more}
     for rule in ("first-price", "second-price", "all-pay")
     for more in ({}, {"reserve": 40, "entry_fee": 3}, {"units": 3, "reserve": 25})],
    ids=str,
)  # fmt: skip
def test_the_worth_of_a_bid_is_what_the_game_pays(options):
    """Seat 1 bids a fixed amount for a valuation of 80; the others draw from a few levels, with many ties."""
    game = envs.game("auction", valuations=[80, 80], bids=5, rounds=1, **options)
    chances = np.array([0.1, 0.3, 0.2, 0.2, 0.1, 0.1])  # the last one passes, and the auction is void
    levels = np.arange(5) * 20.0
    number = 20_000
    for bid in range(5):
        own = Fixed(np.eye(6)[bid], 0)
        tables = tables_with_seed(game, number, 3)
        seats = np.tile([1, 0, 1, 1], (number, 1))
        play_until_done(game, [own, Fixed(chances, 1)], tables, who=lambda _tables, seats=seats: seats)
        others = np.tile(chances[:5], (3, 1))
        worth = worth_of_bids(np.array([80.0]), levels[[bid]], levels, others, game.options, 80.0)[0, 0]
        won = tables["rewards"][:, 1]
        assert worth == pytest.approx(won.mean(), abs=4 * won.std() / number**0.5 + 1e-9)


def test_a_best_response_may_bid_between_the_levels():
    """Against bids of 50 for sure, a hundredth more wins for sure."""
    game = envs.game("auction")
    bids = best_bids(np.array([50.0]), game.options)
    worth = worth_of_bids(np.array([80.0]), bids, np.array([50.0]), np.array([[1.0]]), game.options, 100.0)[0]
    assert bids[worth.argmax()] == pytest.approx(50.01)
    assert worth.max() == pytest.approx(29.99)
    assert worth[bids == 50.0] == pytest.approx(15.0)  # a tie is drawn


@pytest.mark.parametrize("options", [{"values": "average"}, {"talk": True}], ids=str)
def test_other_auctions_have_no_exact_response(options):
    game = envs.game("auction", **options)
    with pytest.raises(ValueError, match=next(iter(options))):
        best_response(make_policy("random", game, seed=1), game)
