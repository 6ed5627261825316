import numpy as np
import pytest
from parlour.envs import game
from parlour.envs.holdem.hands import card_number
from parlour.envs.holdem.ranges import HOLDINGS, equities, observe_holdings, possible
from parlour.training.evaluation.best_response import best_response
from parlour.training.games.holdem.best_response import _Responder


@pytest.fixture(scope="module")
def heads_up():
    return game("holdem", seats=2)


class Fixed:
    """A policy that plays one number wherever it is legal, and says so."""

    def __init__(self, number):
        self.number = number

    def act(self, observations, masks):
        return np.where(masks[:, self.number] == 1, self.number, 1)

    def probabilities(self, observations, masks):
        return np.eye(masks.shape[1])[self.act(observations, masks)]


def cards(*names):
    return np.array([card_number(name) for name in names], np.int8)


def test_one_who_always_folds_loses_exactly_the_blinds(heads_up):
    score = best_response(Fixed(0), heads_up, hands=40, seed=1)
    assert (score.mean, score.low, score.high) == (750, 750, 750)
    assert (score.games, score.unit) == (40, "milli-big-blinds per hand")


@pytest.mark.slow
def test_one_who_always_calls_is_beaten_badly(heads_up):
    score = best_response(heads_up.bots["call"](heads_up, 1), heads_up, hands=300, seed=1)
    assert score.low > 5_000


def test_it_plays_the_same_with_the_same_seed(heads_up):
    assert best_response(Fixed(1), heads_up, hands=8, seed=4) == best_response(Fixed(1), heads_up, hands=8, seed=4)


def test_equity_is_the_known_one():
    hole = cards("As", "Ah")
    kings = cards("Kc", "Kd")[None]
    share = np.empty(1)
    equities(hole, np.full(5, -1, np.int8), 0, kings, 20_000, np.uint64(7), share)
    assert share[0] == pytest.approx(0.8195, abs=0.01)  # aces against kings before the flop
    equities(hole, cards("Ks", "7d", "2c"), 3, kings, 0, np.uint64(0), share)
    assert share[0] == pytest.approx(_exact(hole, cards("Ks", "7d", "2c"), kings[0]))
    equities(hole, cards("Ks", "7d", "2c", "2d", "9s"), 5, kings, 0, np.uint64(0), share)
    assert share[0] == 0


def _exact(hole, board, theirs):
    from itertools import combinations

    from parlour.envs.holdem.hands import strength

    rest = [card for card in range(52) if card not in {*hole, *board, *theirs}]
    won = []
    for turn, river in combinations(rest, 2):
        full = np.concatenate([board, np.array([turn, river], np.int8)])
        mine, other = (strength(np.concatenate([pair, full]), 7) for pair in (hole, theirs))
        won.append(1.0 if mine > other else 0.5 if mine == other else 0.0)
    return sum(won) / len(won)


def test_holdings_that_touch_known_cards_are_out():
    known = cards("As", "Ah", "Kd", "7c", "2s")
    free = np.empty(len(HOLDINGS), np.bool_)
    possible(HOLDINGS, known, 5, free)
    assert free.sum() == 47 * 46 // 2
    assert not np.isin(HOLDINGS[free], known).any()


def test_what_each_holding_would_see_is_what_the_game_shows_it(heads_up):
    tables = heads_up.tables(1)
    tables.stream = 11
    heads_up.rules.reset(tables[0])
    seat = int(tables[0].turn)
    true = np.sort(tables[0].cards[seat])
    row = int(np.flatnonzero((true == HOLDINGS).all(axis=1))[0])
    seen = observe_holdings(heads_up.encoders["v0"], tables.copy().view(np.recarray), seat, HOLDINGS)
    assert np.array_equal(seen[row], heads_up.observation(tables[0], seat))


def test_belief_follows_the_policy(heads_up):
    """Against one that raises aces and folds the rest, the responder knows the hand behind a raise."""
    layout = heads_up.layout["game_state.players.cards"]

    class AcesOnly:
        def act(self, observations, masks):
            aces = observations[:, layout.start + 48 : layout.stop].sum(axis=1) == 2
            return np.where(aces, np.where(masks[:, -1], len(masks[0]) - 1, 1), 0)

        def probabilities(self, observations, masks):
            return np.eye(masks.shape[1])[self.act(observations, masks)]

    responder = _Responder(AcesOnly(), heads_up, me=0, word=np.uint64(1))
    table = responder.table
    table.stream = 1
    heads_up.rules.reset(table)
    while int(table.turn) == 0:  # let the other seat be the first to act
        heads_up.rules.reset(table)
    table.cards[1] = cards("Ac", "Ad")
    table.cards[0] = cards("7s", "2h")
    responder._forget_dealt_cards()
    number = responder._watch()
    heads_up.rules.play(table, number)
    aces = (HOLDINGS >= 48).all(axis=1)
    assert responder.belief[aces].sum() == pytest.approx(1)
    assert responder.choose() == 0


@pytest.mark.parametrize("options", [{"seats": 3}, {"seats": 2, "hands": 5}])
def test_other_games_are_refused(options):
    other = game("holdem", **options)
    with pytest.raises(ValueError, match="heads-up"):
        best_response(Fixed(1), other)


def test_too_few_hands_are_refused(heads_up):
    with pytest.raises(ValueError, match="hands=2"):
        best_response(Fixed(1), heads_up, hands=2)
