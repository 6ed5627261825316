import sys

import numpy as np
import pytest
from parlour.envs import game
from parlour.envs.core.rng import streams
from parlour.envs.holdem.hands import card_number
from parlour.envs.holdem.ranges import HOLDINGS, equities, possible
from parlour.envs.holdem.start import set_cards
from parlour.training.evaluation.games import best_response
from parlour.training.evaluation.games.holdem import SETTINGS, _Responder
from parlour.training.evaluation.games.holdem import best_response as play_setting
from parlour.training.solving.resolving import ResolvingPolicy
from policies import Always


def cards(*names):
    return np.array([card_number(name) for name in names], np.int8)


def test_one_who_always_folds_loses_exactly_the_blinds(heads_up):
    score = best_response(Always(0), heads_up, hands=40, seed=1)
    assert (score.mean, score.low, score.high) == (0.75, 0.75, 0.75)
    assert (score.games, score.unit) == (40, "big blinds per hand")


class Folds:
    """The game's part of a search that folds every hand wherever a fold is legal."""

    def __init__(self, heads_up):
        self.game = heads_up

    def strategies(self, table, left):
        if not self.game.mask(table, int(table.turn))[0]:
            return None
        return np.eye(self.game.num_actions)[np.zeros(len(HOLDINGS), int)]

    def strategy(self, table, left):
        found = self.strategies(table, left)
        return None if found is None else found[0]


def test_it_plays_against_the_search_of_a_policy_and_not_against_the_policy_alone(heads_up):
    search = ResolvingPolicy(Always(1), Folds(heads_up), seed=1)
    score = best_response(search, heads_up, hands=40, seed=1)
    assert (score.mean, score.low, score.high) == (0.75, 0.75, 0.75)


def test_equity_is_the_known_one():
    hole = cards("As", "Ah")
    kings = cards("Kc", "Kd")[None]
    share = np.empty(1)
    equities(hole, np.full(5, -1, np.int8), 0, kings, 20_000, np.uint64(7), share)
    assert share[0] == pytest.approx(0.8195, abs=0.01)  # aces against kings before the flop
    equities(hole, cards("Ks", "7d", "2c"), 3, kings, 0, np.uint64(0), share)
    assert share[0] == pytest.approx(85 / 990)  # of all turns and rivers
    equities(hole, cards("Ks", "7d", "2c", "2d", "9s"), 5, kings, 0, np.uint64(0), share)
    assert share[0] == 0


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
    responder._see_board()
    number = responder._watch()
    heads_up.rules.play(table, number)
    aces = (HOLDINGS >= 48).all(axis=1)
    assert responder.belief[aces].sum() == pytest.approx(1)
    assert responder.choose() == 0


def weights(*names):
    """Return the weights of a range: 1 for each of these hands."""
    hands = [sorted(card_number(name) for name in pair.split()) for pair in names]
    return [float(hand in hands) for hand in HOLDINGS.tolist()]


def test_the_belief_begins_with_the_ranges():
    """Seat 0 has a pair of queens, seat 1 aces or a seven and a deuce, three to one; on this board nothing changes."""
    aces, weak = weights("As Ah"), weights("7c 2d")
    ranges = [weights("Qs Qh"), [3 * one + other for one, other in zip(aces, weak, strict=True)]]
    river = game("holdem", seats=2, start="river", board="3c 8d 9h Jc Ks", ranges=ranges, button=0)
    responder = _Responder(Always(1), river, 0, np.uint64(3), SETTINGS[0])
    won = responder.play()
    assert responder.belief[np.array(aces) == 1] == pytest.approx(0.75)
    assert won == pytest.approx((2 * 0.25 - 1) * responder.table.committed[0])


@pytest.mark.parametrize("options", [{"seats": 3}, {"seats": 2, "hands": 5}])
def test_other_games_are_refused(options):
    other = game("holdem", **options)
    with pytest.raises(ValueError, match="heads-up"):
        best_response(Always(1), other)


# The settings, in named situations.


def situation(heads_up, setting, board, policy=None):
    """A responder with aces on the button, where both have checked up to a street, the other one again there."""
    responder = _Responder(policy or Always(0), heads_up, me=0, word=np.uint64(1), setting=setting)
    table = responder.table
    table.button, table.stream = 0, 1
    heads_up.rules.reset(table)
    set_cards(table, {"cards": [["As", "Ah"], None], "board": ["Ad", "Ac", "7h", "2c", "3d"]})
    heads_up.rules.play(table, 1)  # the button has the small blind; before the flop it acts first
    while int(table.board_count) < board or int(table.turn) != 0:
        heads_up.rules.play(table, 1)
    responder._see_board()
    return responder


def test_it_raises_a_sure_win_where_the_setting_allows_it(heads_up):
    one_raises = [situation(heads_up, setting, 4).choose() >= 2 for setting in SETTINGS]
    assert one_raises == [False, True, True, True, True]
    one_raises = [situation(heads_up, setting, 3).choose() >= 2 for setting in SETTINGS]
    assert one_raises == [False, False, False, True, True]


def test_the_parts_add_up_to_what_is_won(heads_up):
    found = play_setting(Always(1), heads_up, hands=12, seed=3, setting=SETTINGS[3])
    assert found.unadjusted.mean == pytest.approx(sum(sum(row.values()) for row in found.parts.values()))
    assert {way for row in found.parts.values() for way, won in row.items() if won} == {"showdowns"}
    folded = play_setting(Always(0), heads_up, hands=12, seed=3, setting=SETTINGS[3])
    assert folded.score.mean == 0.75
    assert sum(row["folds won"] for row in folded.parts.values()) == pytest.approx(0.75)


class Mixed:
    """A policy that draws its actions, with probabilities that depend on its cards and on the chips."""

    def __init__(self, heads_up, seed=0, deterministic=False):
        random = np.random.default_rng(seed)
        self.weights = random.normal(size=(heads_up.layout.size, heads_up.num_actions))
        self.random = random
        self.deterministic = deterministic

    def probabilities(self, observations, masks):
        chances = np.exp(observations @ self.weights / 2) * masks
        return chances / chances.sum(axis=1, keepdims=True)

    def act(self, observations, masks):
        drawn = (self.probabilities(observations, masks).cumsum(axis=1) < self.random.random((len(masks), 1))).sum(
            axis=1
        )
        return np.minimum(drawn, masks.shape[1] - 1)


@pytest.mark.parametrize("setting", [SETTINGS[0], pytest.param(SETTINGS[3], marks=pytest.mark.slow)])
def test_the_luck_that_is_taken_out_has_mean_0(heads_up, setting):
    policy = Mixed(heads_up)
    won, luck = [], []
    for word in streams(7, 150):
        for seat in range(2):
            responder = _Responder(policy, heads_up, seat, word, setting)
            won.append(responder.play())
            luck.append(responder.luck)
    won, luck = np.array(won), np.array(luck)
    assert abs(luck.mean()) < 3.5 * luck.std() / np.sqrt(len(luck))
    assert luck.std() > 0
    if setting is SETTINGS[0]:  # with all-ins, the luck of the hole cards is most of the variance
        assert (won - luck).std() < 0.9 * won.std()


def test_a_showdown_counts_with_its_mean_over_the_belief(heads_up):
    """Against one who always calls, whatever it holds, a hand is worth its mean against all holdings."""
    responder = _Responder(Always(1), heads_up, 0, np.uint64(3), SETTINGS[0])
    won, table = responder.play(), responder.table
    share = np.empty(len(HOLDINGS))
    equities(table.cards[0], table.board, 5, HOLDINGS, 1, np.uint64(0), share)
    known = np.concatenate([table.cards[0], table.board])
    free = np.empty(len(HOLDINGS), np.bool_)
    possible(HOLDINGS, known, 7, free)
    assert table.showdown
    assert won == pytest.approx((2 * share[free].mean() - 1) * table.committed[0])


def test_no_luck_is_taken_out_of_play_against_one_who_does_not_tell_how_it_plays(heads_up):
    responder = _Responder(heads_up.bots["tight"](heads_up, 1), heads_up, 0, np.uint64(3))
    responder.play()
    assert responder.luck == 0
    assert not responder.knows_probabilities


def test_a_deterministic_policy_plays_its_most_likely_action(heads_up):
    """What it would draw is no belief."""
    policy = Mixed(heads_up, deterministic=True)
    seen = np.random.default_rng(1).random((5, heads_up.layout.size), np.float32)
    masks = np.ones((5, heads_up.num_actions), np.int8)
    most_likely = np.eye(heads_up.num_actions)[policy.probabilities(seen, masks).argmax(axis=1)]
    responder = _Responder(policy, heads_up, 0, np.uint64(3))
    assert responder.knows_probabilities
    told = responder.probabilities_on(responder.table, np.arange(5), seen, masks)
    assert np.array_equal(told, most_likely)


def test_with_luck_an_all_in_is_paid_with_other_boards_than_it_was_chosen_by(heads_up, monkeypatch):
    monkeypatch.setattr(sys.modules[_Responder.__module__], "played", lambda policy: None)
    monkeypatch.setattr(
        sys.modules[_Responder.__module__],
        "probabilities_on",
        lambda policy: lambda table, hands, seen, masks: policy.probabilities(seen, masks),
    )
    # Version 0.1 measured 26.933: the best of noisy values, paid by the same noise.
    assert best_response(Always(1), heads_up, hands=12, seed=2).mean == pytest.approx(25.320_773, abs=1e-6)
