"""Hand histories in PHH: what PokerKit plays and writes replays to the same stacks."""

import numpy as np
import pytest
from parlour.training import cli
from parlour.wrappers.replay import phh
from pokerkit import Automation, HandHistory, NoLimitTexasHoldem

AUTOMATIONS = (
    Automation.ANTE_POSTING,
    Automation.BET_COLLECTION,
    Automation.BLIND_OR_STRADDLE_POSTING,
    Automation.CARD_BURNING,
    Automation.HOLE_DEALING,
    Automation.BOARD_DEALING,
    Automation.HOLE_CARDS_SHOWING_OR_MUCKING,
    Automation.HAND_KILLING,
    Automation.CHIPS_PUSHING,
    Automation.CHIPS_PULLING,
)
UNIT = 60
"""All amounts are multiples of it, so that every pot can be split without odd chips."""


def recorded(generator):
    """A random hand: its history, and PokerKit's stacks at its end."""
    count = int(generator.integers(2, 7))
    stacks = [UNIT * int(chips) for chips in generator.integers(4, 60, count)]
    ante = UNIT * int(generator.integers(0, 2))
    game = NoLimitTexasHoldem(AUTOMATIONS, True, ante, (UNIT, 2 * UNIT), 2 * UNIT)
    state = game(stacks, count)
    while state.status:
        choice = generator.random()
        least, most = (
            state.min_completion_betting_or_raising_to_amount,
            state.max_completion_betting_or_raising_to_amount,
        )
        if choice < 0.2 and state.can_fold():
            state.fold()
        elif choice > 0.7 and least is not None:
            amount = UNIT * int(generator.integers(least // UNIT, most // UNIT + 1))
            state.complete_bet_or_raise_to(most if choice > 0.95 else amount)
        else:
            state.check_or_call()
    return HandHistory.from_game_state(game, state), list(state.stacks)


def check(count, seed):
    generator = np.random.default_rng(seed)
    for number in range(count):
        history, stacks = recorded(generator)
        _, last = phh.hand_of(HandHistory.loads(history.dumps()), number)
        assert last == stacks, history.dumps()


def test_recorded_hands_replay_to_the_recorded_stacks():
    check(150, 1)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("part", range(10))
def test_ten_thousand_recorded_hands_replay_to_the_recorded_stacks(part):
    check(1_000, 100 + part)


HAND = """
variant = "NT"
antes = [0, 0, 0]
blinds_or_straddles = [1, 2, 0]
min_bet = 2
starting_stacks = [200, 200, 200]
players = ["Ann", "Bob", "Cy"]
actions = [
  "d dh p1 AsKs", "d dh p2 7h2c", "d dh p3 QdQc", "p3 cbr 6", "p1 cc", "p2 f", "d db AhKd3c", "p1 cc", "p3 cbr 10",
  "p1 cc",
  "d db 4s", "p1 cc", "p3 cc", "d db 9h", "p1 cbr 20 # a bet", "p3 cc",
]
"""


def test_replay_makes_a_page_of_a_hand(tmp_path, capsys):
    (tmp_path / "hand.phh").write_text(HAND)
    assert cli.main(["replay", str(tmp_path / "hand.phh")]) == 0
    page = (tmp_path / "hand.html").read_text()
    assert "Ann" in page and "Ann takes 74" in page


def test_the_hand_is_that_of_the_file(tmp_path):
    entry, stacks = phh.hand_of(HandHistory.loads(HAND))
    assert stacks == [238, 198, 164]
    assert entry["board"] == ["Ah", "Kd", "3c", "4s", "9h"]
    assert [(one["seat"], one["kind"]) for one in entry["actions"][:4]] == [
        (2, "raiseTo"), (0, "call"), (1, "fold"), (0, "check"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"NT"', '"FT"', "what is read is NT"),
        ('"p2 f"', '"p3 f"', "where it is p2's turn"),
        ("p3 cbr 6", "p3 cbr 600", "is no raise that p3 can make"),
        (', "p3 cc",\n]', ",\n]", "stops before its end"),
        ("QdQc", "????", "cards of its showdown are not known"),
        ("starting_stacks", "finishing_stacks = [1, 2, 3]\nstarting_stacks", "recorded are [1, 2, 3]"),
        ("[0, 0, 0]", "[0, 1, 0]", "equal antes"),
    ],
)
def test_what_does_not_replay_is_refused(tmp_path, capsys, old, new, message):
    assert old in HAND
    (tmp_path / "hand.phh").write_text(HAND.replace(old, new))
    assert cli.main(["replay", str(tmp_path / "hand.phh")]) == 2
    assert message in capsys.readouterr().err
