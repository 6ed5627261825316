"""Hand ranking by named situation, and against the known counts, phevaluator and PokerKit."""

import itertools

import numba
import numpy as np
import pokerkit
import pytest
from parlour.envs.holdem import hands

FAST = not numba.config.DISABLE_JIT
INTERPRETED_OVERFLOW = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")


def cards(names):
    return np.array([hands.card_number(name) for name in names.split()], np.int8)


def strength(names):
    held = cards(names)
    return hands.strength(held, len(held))


def test_cards_have_names():
    assert [hands.card_name(card) for card in (0, 1, 2, 3, 4, 51)] == ["2c", "2d", "2h", "2s", "3c", "As"]
    assert [hands.card_number(hands.card_name(card)) for card in range(52)] == list(range(52))


@pytest.mark.parametrize("name", ["", "A", "10s", "as", "sA", "Ax", "1s"])
def test_a_bad_card_name_is_refused(name):
    with pytest.raises(ValueError, match=f"'{name}'.*'As'"):
        hands.card_number(name)


@pytest.mark.parametrize(
    ("names", "category", "description"),
    [
        ("As Kd 9h 7c 5s 3d 2h", 0, "High Card, Ace"),
        ("As Ad Kh Kc Qs Qd Jh", 2, "Two Pair, Aces and Kings"),  # three pairs
        ("Qs Qd Qh Ac 9s 3d 2h", 3, "Three of a Kind, Queens"),
        ("As 2d 3h 4c 5s Kd Kh", 4, "Straight, Five-high"),  # the wheel
        ("Ks Qd Ah 2c 3s 4d 9h", 0, "High Card, Ace"),  # a straight does not go round the ace
        ("Ks 9s 7s 4s 2s 3s Js", 5, "Flush, King-high"),  # seven
        ("9s 8d 7s 6s 5s 2s Ah", 5, "Flush, Nine-high"),  # a straight and a flush of other cards
        ("Ks Kd Kh Ac As Ad 2h", 6, "Full House, Aces over Kings"),  # two trips
        ("2s 2d 2h 2c As Ad Ah", 7, "Four of a Kind, Twos"),  # quads and trips
        ("9s 8s 7s 6s 5s Td Jh", 8, "Straight Flush, Nine-high"),  # beats the longer straight
        ("As 2s 3s 4s 5s 6d Kh", 8, "Straight Flush, Five-high"),  # the steel wheel
        ("As Ks Qs Js Ts 9s 8s", 8, "Royal Flush"),
    ],
)
def test_the_best_hand_of_seven(names, category, description):
    assert hands.category(strength(names)) == category
    assert hands.describe(strength(names)) == description


@pytest.mark.parametrize(
    ("names", "description"),
    [
        ("As Kd", "High Card, Ace"),
        ("6s 6d 5h 5c", "Two Pair, Sixes and Fives"),
        ("6s 6d 6h 6c", "Four of a Kind, Sixes"),
        ("6s 6d 6h 5c 5s", "Full House, Sixes over Fives"),
        ("As Ks Qs Js Ts 2c", "Royal Flush"),
    ],
)
def test_the_best_hand_of_fewer_cards(names, description):
    assert hands.describe(strength(names)) == description


@pytest.mark.parametrize("number", [-1, 0, 9 << 26, 1 << 40])
def test_a_number_that_is_no_strength_is_refused(number):
    with pytest.raises(ValueError, match=f"^{number} is not the strength"):
        hands.describe(number)


@numba.njit
def five_card_strengths(out):
    bit = np.array([hands.card_set(np.array([card]), 1) for card in range(52)])
    n = 0
    for a in range(52):
        for b in range(a):
            for c in range(b):
                for d in range(c):
                    for e in range(d):
                        out[n] = hands.set_strength(bit[a] | bit[b] | bit[c] | bit[d] | bit[e])
                        n += 1
    return n


@pytest.mark.skipif(not FAST, reason="2,598,960 hands, too many to interpret")
def test_all_hands_of_five_cards():
    every = np.empty(2_598_960, np.int64)
    assert five_card_strengths(every) == len(every)
    counts = [1_302_540, 1_098_240, 123_552, 54_912, 10_200, 5_108, 3_744, 624, 40]
    assert np.bincount(hands.category(every)).tolist() == counts
    distinct = np.unique(every)
    assert np.bincount(hands.category(distinct)).tolist() == [1277, 2860, 858, 858, 10, 1277, 156, 156, 10]
    assert every.min() >= 0
    assert every.max() < 2**30


def test_the_order_and_names_are_pokerkits():
    labels = [
        "High card", "One pair", "Two pair", "Three of a kind", "Straight",
        "Flush", "Full house", "Four of a kind", "Straight flush",
    ]  # fmt: skip
    ours, theirs = [], []
    decks = np.tile(np.arange(52, dtype=np.int8), (3_000 if FAST else 300, 1))
    for deal in np.random.default_rng(3).permuted(decks, axis=1)[:, :7]:
        names = "".join(hands.card_name(card) for card in deal)
        ours.append(hands.strength(deal, 7))
        theirs.append(pokerkit.StandardHighHand.from_game(names[:4], names[4:]))
        assert labels[hands.category(ours[-1])] == theirs[-1].entry.label.value
    for (a, b), (x, y) in zip(itertools.pairwise(ours), itertools.pairwise(theirs), strict=True):
        assert (a < b, a == b) == (x < y, x == y)


def equity(hole, board="", opponents=1, samples=400_000 if FAST else 300, seed=7):
    shown = np.full(5, -1, np.int8)
    shown[: len(board.split())] = cards(board)
    return hands.equity(cards(hole), shown, len(board.split()), opponents, samples, np.uint64(seed))


TOLERANCE = 0.003 if FAST else 0.1  # some four standard errors


@INTERPRETED_OVERFLOW
@pytest.mark.parametrize(
    ("hole", "opponents", "known"), [("As Ad", 1, 0.8520), ("7s 2d", 1, 0.3458), ("As Ad", 8, 0.347)]
)
def test_equity_before_the_flop(hole, opponents, known):
    assert equity(hole, opponents=opponents) == pytest.approx(known, abs=TOLERANCE)


@INTERPRETED_OVERFLOW
@pytest.mark.parametrize("hole", ["As Kd"])
def test_equity_on_the_river_is_the_count_of_all_opponents(hole):
    board = "Kh 8h 5d 5s 2c"
    rest = [card for card in range(52) if hands.card_name(card) not in f"{hole} {board}".split()]
    mine, shown = strength(f"{hole} {board}"), cards(board)
    theirs = [hands.strength(np.append(shown, pair), 7) for pair in itertools.combinations(rest, 2)]
    exact = np.mean([(mine > other) + 0.5 * (mine == other) for other in theirs])
    assert equity(hole, board) == pytest.approx(exact, abs=TOLERANCE)
