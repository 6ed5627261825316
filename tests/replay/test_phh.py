"""Hand histories in PHH: what PokerKit plays and writes replays to the same stacks."""

import numpy as np
import pytest
from parlour.training import cli
from parlour.wrappers.replay import phh
from parlour.wrappers.replay.poker_hands import replay_hand
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
        entry, last = phh.hand_of(HandHistory.loads(history.dumps()), number)
        assert last == stacks, history.dumps()
        *_, end = replay_hand(entry, number)
        rows = next(iter(end.states.values())).game_state["players"]
        assert [row["stack"] for row in rows] == stacks, history.dumps()


def test_recorded_hands_replay_to_the_recorded_stacks():
    check(150, 1)


def test_a_short_all_in_may_have_reopened_the_betting():
    text = """
variant = "NT"
antes = [1, 1, 1, 1]
blinds_or_straddles = [1, 2, 0, 0]
min_bet = 2
starting_stacks = [41, 32, 17, 42]
actions = [
  "d dh p1 6dJh", "d dh p2 AsAh", "d dh p3 8h8c", "d dh p4 KcKd", "p3 cc", "p4 cbr 30", "p1 cc", "p2 cc", "p3 cc",
  "d db QcAd5c", "p1 cc", "p2 cbr 1", "p4 cc", "p1 cbr 10", "p4 cc", "d db 5d", "d db 2d",
]
"""
    entry, last = phh.hand_of(HandHistory.loads(text))
    assert sum(last) == 132 and entry["actions"][-2]["amount"] == 10
    assert len(list(replay_hand(entry, 0))) == len(entry["actions"]) + 1


def test_a_player_without_a_name_has_that_of_the_seat(tmp_path):
    (tmp_path / "hand.phh").write_text(HAND.replace('"Bob"', '""'))
    assert "seat 1" in next(iter(phh.moments(tmp_path / "hand.phh"))).states


def test_amounts_with_decimals_are_hundredths():
    text = """
variant = "NT"
antes = [0.25, 0.25, 0.25]
blinds_or_straddles = [0.50, 1, 0]
min_bet = 1
starting_stacks = [100, 87.35, 60.10]
actions = ["d dh p1 AsKs", "d dh p2 ????", "d dh p3 QdQc", "p3 cbr 3.50", "p1 cc", "p2 f", "d db AhKd3c", "p1 cc",
  "p3 cbr 5.25", "p1 cc", "d db 4s", "p1 cc", "p3 cc", "d db 9h", "p1 cc", "p3 cc"]
finishing_stacks = [110.25, 86.10, 51.10]
"""
    entry, last = phh.hand_of(HandHistory.loads(text))
    assert last == [11_025, 8_610, 5_110]
    assert (entry["small_blind"], entry["big_blind"], entry["ante"]) == (50, 100, 25)
    assert [one["amount"] for one in entry["actions"] if one["kind"] == "raiseTo"] == [350, 525]
    assert len(list(replay_hand(entry, 0))) == len(entry["actions"]) + 1


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
        ("p3 cbr 6", "p3 cbr 3", "is no raise that p3 can make"),
        (', "p3 cc",\n]', ', "p3 cc", "p3 sm KcKs",\n]', "where p3 was dealt QdQc"),
        ("[200, 200, 200]", "[200, 200, 0]", "everybody at the table needs some"),
        ("[200, 200, 200]", "[200, 200, true]", "are not all amounts of chips"),
        ("[200, 200, 200]", "[200, 200, 200.125]", "are not all whole chips, or hundredths"),
        ("p3 cbr 6", "p3 cbr 6.125", "two decimals"),
        ("[0, 0, 0]", "5", "is no list of chips"),
        ("[200, 200, 200]", "[200, 200, inf]", "are not all amounts of chips"),
        (', "p3 cc",\n]', ",\n]", "stops before its end"),
        ("QdQc", "????", "cards of its showdown are not known"),
        ("starting_stacks", "finishing_stacks = [1, 2, 3]\nstarting_stacks", "recorded are [1, 2, 3]"),
        ("[0, 0, 0]", "[0, 1, 0]", "equal antes"),
        ("[0, 0, 0]", "[0, 0]", "antes has 2 values, starting_stacks has 3"),
        ("[200, 200, 200]", "[200, 200, 20000000000000]", "a stack of 20000000000000 chips"),
        ("[200, 200, 200]", '[200, 200, "x"]', "are not all amounts of chips"),
        (', "Cy"]', "]", "players has 2 values"),
        ("7h2c", "AsKd", "the card As is with p1 and with p2"),
        ("d db AhKd3c", "d db AsKd3c", "the card As is with the board and with p1"),
        ("d db AhKd3c", "d db AhKdAh", "the card Ah is with the board and with the board"),
        ("d db AhKd3c", "d db AhKd3c4d", "action 7, 'd db AhKd3c4d': give three cards, or one"),
        ("d db 4s", "d db 4s5s6s", "has more than five cards"),
        (
            '"d db 4s", "p1 cc", "p3 cc", "d db 9h", ',
            '"d db 4s", "d db 9h", "p1 cc", "p3 cc", ',
            "where the board cannot be dealt so",
        ),
        ('"d db AhKd3c", ', "", "comes before the board of its street is dealt"),
        ("p3 cbr 6", "p3 cbr", "action 4, 'p3 cbr': give d dh"),
        ("p3 cbr 6", "p3 cbr 6,5", "give the amount as a number"),
        ("p3 cbr 6", "p3", "action 4, 'p3'"),
        ("p3 cbr 6", "p9 cbr 6", "one of p1, p2, p3"),
        ("d db AhKd3c", "d db", "action 7, 'd db'"),
        ("AsKs", "AsKsQs", "two cards, such as AsKd"),
        (', "p3 cc",\n]', ', "p3 cc", "p3 f",\n]', "comes after the end of the hand"),
    ],
)
def test_what_does_not_replay_is_refused(tmp_path, capsys, old, new, message):
    assert old in HAND
    (tmp_path / "hand.phh").write_text(HAND.replace(old, new))
    assert cli.main(["replay", str(tmp_path / "hand.phh")]) == 2
    assert message in capsys.readouterr().err


UNKNOWN = """
variant = "NT"
antes = [500, 500, 500]
blinds_or_straddles = [1000, 2000, 0]
min_bet = 2000
starting_stacks = [1125600, 2000000, 553500]
actions = [
  "d dh p1 ????", "d dh p2 ????", "d dh p3 7h6h", "# nobody acts here", "",
  "p3 cbr 7000", "p1 cbr 23000", "p2 f", "p3 cc", "d db Jc3d5c", "p1 cbr 35000", "p3 cbr 530000", "p1 f", "p3 sm -",
]
players = ["Ann", "Bob", "Cy"]
"""


@pytest.mark.parametrize("name", ["hand.phh", "HAND.PHH"])
def test_cards_of_players_who_fold_may_be_unknown(tmp_path, name):
    (tmp_path / name).write_text(UNKNOWN)
    assert cli.main(["replay", str(tmp_path / name), "--out", str(tmp_path / "page.html")]) == 0
    assert "Cy takes" in (tmp_path / "page.html").read_text()
    states = [state for moment in phh.moments(tmp_path / name) for state in moment.states.values()]
    seen = {state.agent_id: [row.get("cards") for row in state.game_state["players"]] for state in states[-3:]}
    assert seen["Cy"][2] == ["7h", "6h"]
    assert not any(seen["Ann"][:2])


def test_an_odd_chip_may_go_to_another_winner():
    split = """
variant = "NT"
antes = [0, 0, 0]
blinds_or_straddles = [1, 2, 0]
min_bet = 2
starting_stacks = [200, 200, 200]
finishing_stacks = [{}]
actions = [
  "d dh p1 AsKs", "d dh p2 7h2c", "d dh p3 AcKc", "p3 cbr 6", "p1 cc", "p2 f", "d db AhKd3c", "p1 cbr 9", "p3 cbr 18",
  "p1 cc", "d db 4s", "p1 cc", "p3 cc", "d db 9h", "p1 cc", "p3 cc",
]
"""
    _, last = phh.hand_of(HandHistory.loads(split.format("201, 198, 201")))
    assert last == [201, 198, 201]
    with pytest.raises(ValueError, match="recorded are"):
        phh.hand_of(HandHistory.loads(split.format("198, 201, 201")))  # who folded gets no odd chip
    with pytest.raises(ValueError, match="recorded are"):
        phh.hand_of(HandHistory.loads(split.format("207, 198, 195")))
