"""Hand histories in PHH: what PokerKit plays and writes replays to the same stacks."""

import os

import numpy as np
import pytest
from parlour.training import cli
from parlour.wrappers.replay.log_reader import picture, replay_hand
from parlour.wrappers.replay.phh import HandFile, Refused, hand_of
from parlour.wrappers.replay.phh_writer import phhs
from pokerkit import Automation, HandHistory, NoLimitTexasHoldem

AUTOMATIONS = tuple(one for one in Automation if one is not Automation.RUNOUT_COUNT_SELECTION)
UNIT = 60
"""All amounts are multiples of it, so that every pot can be split without odd chips."""


def written(actions, *, stacks=(200, 200, 200), antes=0, blinds=(1, 2), **fields):
    """A hand in PHH; `actions` are separated by commas."""
    antes = antes if isinstance(antes, tuple) else (antes,) * len(stacks)
    blinds = (*blinds, *(0 for _ in stacks[len(blinds) :]))
    fields = {"min_bet": max(1, *blinds[:2]), **fields}
    lists = {"antes": antes, "blinds_or_straddles": blinds, "starting_stacks": stacks}
    lines = [f"{name} = {list(values)}" for name, values in lists.items()]
    lines += [f"{name} = {value!r}".replace("True", "true").replace("False", "false") for name, value in fields.items()]
    lines.append(f"actions = {[action.strip() for action in actions.split(',')]}")
    return 'variant = "NT"\n' + "\n".join(lines) + "\n"


def read(actions, **fields):
    """The log and the last stacks of a hand in PHH, which must replay."""
    entry, last = hand_of(HandHistory.loads(written(actions, **fields)))
    assert len(list(replay_hand(entry, 0))) == len(entry["actions"]) + 1
    return entry, last


def moments(path):
    return HandFile(path).moments()


def recorded(generator):
    """A random hand: its history, and PokerKit's stacks at its end."""
    count = int(generator.integers(2, 7))
    stacks = [UNIT * int(chips) for chips in generator.integers(4, 60, count)]
    ante = UNIT * int(generator.integers(0, 2))
    game = NoLimitTexasHoldem(AUTOMATIONS, True, ante, (UNIT, 2 * UNIT), 2 * UNIT)
    state = game(stacks, count)
    while state.status:
        choice = generator.random()
        least = state.min_completion_betting_or_raising_to_amount
        most = state.max_completion_betting_or_raising_to_amount
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
        entry, last = hand_of(HandHistory.loads(history.dumps()), number)
        assert last == stacks, history.dumps()
        *_, end = replay_hand(entry, number)
        rows = next(iter(end.states.values())).game_state["players"]
        assert [row["stack"] for row in rows] == stacks, history.dumps()


def test_recorded_hands_replay_to_the_recorded_stacks():
    check(150, 1)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(min(20, int(os.environ.get("PARLOUR_ORACLE_HANDS", "1000")) // 500)))
def test_many_recorded_hands_replay_to_the_recorded_stacks(part):
    """`make nightly` sets a million; ten thousand are enough here."""
    check(500, 100 + part)


HAND = written(
    "d dh p1 AsKs, d dh p2 7h2c, d dh p3 QdQc, p3 cbr 6, p1 cc, p2 f, d db AhKd3c, p1 cc, p3 cbr 10, p1 cc, d db 4s, "
    "p1 cc, p3 cc, d db 9h, p1 cbr 20 # a bet, p3 cc",
    players=["Ann", "Bob", "Cy"],
).replace("'", '"')


def test_replay_makes_a_page_of_a_hand(tmp_path, capsys):
    entry, stacks = hand_of(HandHistory.loads(HAND))
    assert (stacks, entry["board"]) == ([238, 198, 164], ["Ah", "Kd", "3c", "4s", "9h"])
    kinds = [(2, "raiseTo"), (0, "call"), (1, "fold"), (0, "check")]
    assert [(one["seat"], one["kind"]) for one in entry["actions"][:4]] == kinds
    (tmp_path / "hand.phh").write_text(HAND)
    assert cli.main(["replay", str(tmp_path / "hand.phh")]) == 0
    page = (tmp_path / "hand.html").read_text()
    assert "Ann" in page and "Ann takes 74" in page


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"NT"', '"FT"', "what is read is NT"),
        ("starting_stacks", "run_twice = true\nstarting_stacks", "run_twice is True"),
        ("starting_stacks", "_bomb_pot = true\nstarting_stacks", "_bomb_pot is True"),
        ("p3 cbr 6", "p3 cbr 600", "is no raise that p3 can make"),
        ("[200, 200, 200]", "[200, 200, true]", "are not all amounts of chips"),
        ("[1, 2, 0]", "[1, -2, 0]", "a player has to post"),
        ("d db AhKd3c", "d db AhKdAh", "the card Ah is with the board and with the board"),
        ("d db 4s", "d db 4s5s6s", "has more than five cards"),
        ('"p2 f"', '"p3 f"', "where it is p2's turn"),
        ("p3 cbr 6", "p3 cbr 3", "is no raise that p3 can make"),
        (', "p3 cc"]', ', "p3 cc", "p3 sm KcKs"]', "where p3 was dealt QdQc"),
        ("[200, 200, 200]", "[200, 200, 0]", "everybody at the table needs some"),
        ("p3 cbr 6", "p3 cbr 6.1234567", "7 decimals"),
        ("[0, 0, 0]", "5", "antes is 5, which is no list of chips"),
        ("[200, 200, 200]", "[200, 200, inf]", "are not all amounts of chips"),
        (', "p3 cc"]', "]", "stops before its end"),
        ("starting_stacks", "finishing_stacks = [1, 2, 3]\nstarting_stacks", "recorded are [1, 2, 3]"),
        ("[1, 2, 0]", "[0, 0, 0]", "a player has to post"),
        ("[0, 0, 0]", "[0, 0]", "antes has 2 values, starting_stacks has 3"),
        ("[200, 200, 200]", "[200, 200, 9007199254740993]", "an amount of 9007199254740993 chips"),
        (', "Cy"]', "]", "players has 2 values"),
        ('["Ann", "Bob", "Cy"]', "5", "players is 5, which is no list of names"),
        ("min_bet = 2", "min_bet = 1e-7", "at most 6 decimals are read"),
        ("7h2c", "AsKd", "the card As is with p1 and with p2"),
        ("d db AhKd3c", "d db AsKd3c", "the card As is with the board and with p1"),
        ("d db AhKd3c", "d db AhKd3c4d", "action 7, 'd db AhKd3c4d': give three cards, or one"),
        (
            '"d db 4s", "p1 cc", "p3 cc", "d db 9h", ',
            '"d db 4s", "d db 9h", "p1 cc", "p3 cc", ',
            "where the board cannot be dealt so",
        ),
        ('"d db AhKd3c", ', "", "comes before the board of its street is dealt"),
        ("p3 cbr 6", "p3 cbr 10000000000000000", "give an amount of at most 16 digits and 6 decimals"),
        ("p3 cbr 6", "p3", "action 4, 'p3'"),
        ("p3 cbr 6", "p9 cbr 6", "one of p1, p2, p3"),
        ("AsKs", "AsKsQs", "two cards, such as AsKd"),
        (', "p3 cc"]', ', "p3 cc", "p3 f"]', "comes after the end of the hand"),
    ],
)
def test_what_does_not_replay_is_refused(tmp_path, capsys, old, new, message):
    assert old in HAND
    (tmp_path / "hand.phh").write_text(HAND.replace(old, new))
    assert cli.main(["replay", str(tmp_path / "hand.phh")]) == 2
    assert message in capsys.readouterr().err


UNKNOWN = written(
    "d dh p1 ????, d dh p2 ????, d dh p3 7h6h, # nobody acts here,, p3 cbr 7000, p1 cbr 23000, p2 f, p3 cc, "
    "d db Jc3d5c, p1 cbr 35000, p3 cbr 530000, p1 f, p3 sm -",
    stacks=(1125600, 2000000, 553500),
    antes=500,
    blinds=(1000, 2000),
    players=["Ann", "Bob", "Cy"],
)


def test_cards_of_players_who_fold_may_be_unknown(tmp_path):
    name = "HAND.PHH"
    (tmp_path / name).write_text(UNKNOWN)
    assert cli.main(["replay", str(tmp_path / name), "--out", str(tmp_path / "page.html")]) == 0
    assert "Cy takes" in (tmp_path / "page.html").read_text()
    states = [state for moment in moments(tmp_path / name) for state in moment.states.values()]
    seen = {state.agent_id: [row.get("cards") for row in state.game_state["players"]] for state in states[-3:]}
    assert seen["Cy"][2] == ["7h", "6h"]
    assert not any(seen["Ann"][:2])


# What is posted.


DEAL = "d dh p1 AsKs, d dh p2 7h2c, d dh p3 QdQc, "
DOWN = "d db AhKd3c, p1 cc, p2 cc, p3 cc, d db 4s, p1 cc, p2 cc, p3 cc, d db 9h, p1 cc, p2 cc, p3 cc"
"""A board on which p1 wins, checked down by three."""


def test_a_dead_small_blind_and_straddles():
    assert read(DEAL + "p3 cc, p1 cc, p2 cc, " + DOWN, blinds=(0, 2))[1] == [204, 198, 198]
    _, last = read(
        "d dh p1 AsKs, d dh p2 7h2c, d dh p3 ????, d dh p4 QdQc, p4 cbr 8, p1 cc, p2 f, p3 f, d db AhKd3c, p1 cc, "
        "p4 cc, d db 4s, p1 cc, p4 cc, d db 9h, p1 cc, p4 cc",
        stacks=(200,) * 4,
        blinds=(1, 2, 4),
    )
    assert last == [214, 198, 196, 192]


def test_a_short_big_blind_is_written_where_pokerkit_plays_the_same():
    rows = [{"seat": seat, "name": "ABC"[seat], "stack": [200, 200, 1][seat], "cards": []} for seat in range(3)]
    entry = {"hand": 5, "dealer": 0, "small_blind": 1, "big_blind": 2, "board": [], "showdown": False, "players": rows}
    entry["results"] = [{"seat": seat, "stack": stack} for seat, stack in enumerate((200, 199, 2))]
    entry["actions"] = [{"seat": seat, "kind": "fold", "amount": 0, "street": "preflop"} for seat in range(2)]
    assert list(HandHistory.loads(phhs([entry]).removeprefix("[1]\n")))[-1].stacks == [199, 2, 200]
    entry["actions"][0]["kind"] = "call"
    assert phhs([entry]).startswith("# hand 5 is left out: the big blind of 2 is posted with 1, ")


TWO = "d dh p1 AsKs, d dh p2 QdQc, p2 cc, p1 cc, " + DOWN.replace(", p3 cc", "")
CALLED = DEAL + "p3 cc, p1 cc, p2 cc, " + DOWN
REOPENED = (
    "d dh p1 6dJh, d dh p2 AsAh, d dh p3 8h8c, d dh p4 KcKd, p3 cc, p4 cbr 30, p1 cc, p2 cc, p3 cc, d db QcAd5c, "
    "p1 cc, p2 cbr 1, p4 cc, p1 cbr 10, p4 cc, d db 5d, d db 2d"
)
SHORT_ANTE = DEAL.replace("QdQc", "QdQh") + "p3 cc, p2 cc, " + DOWN.replace("p1 cc, ", "")
SPLIT = (
    "d dh p1 AsKs, d dh p2 7h2c, d dh p3 AcKc, p3 cbr 6, p1 cc, p2 f, d db AhKd3c, p1 cbr 9, p3 cbr 18, p1 cc, "
    "d db 4s, p1 cc, p3 cc, d db 9h, p1 cc, p3 cc"
)
NEWCOMER = (
    "d dh p1 7h2c, d dh p2 AsKs, d dh p3 ????, d dh p4 QdQc, p3 cc, p4 cbr 6, p1 f, p2 cc, p3 f, "
    "d db AhKd3c, p2 cc, p4 cc, d db 4s, p2 cc, p4 cc, d db 9h, p2 cc, p4 cc"
)
SHORT_OF_ANTE = {"stacks": (2, 100, 99), "antes": 5}
POSTS = {"stacks": (200,) * 4, "antes": (0, 0, 1, 0), "blinds": (1, 2, 0, -2)}
ANTES_ALONE = {"antes": 5, "blinds": (0, 0), "min_bet": 10}
ALL_IN = DEAL + "p3 cbr 20, p2 f, d db AhKd3c, d db 4s, d db 9h"
PLAYED = {  # actions, fields, and the last stacks
    "an ante of the big blind": (CALLED, {"antes": (0, 3, 0)}, [207, 195, 198]),
    "an ante of the button": (CALLED, {"antes": (0, 0, 3)}, [207, 198, 195]),
    "a short stack for the whole ante": (
        ALL_IN, {"antes": (0, 9, 0), "stacks": (1, 200, 200)}, [12, 189, 200],
    ),
    "heads-up the big blind is p1": (TWO, {"stacks": (100, 100), "antes": (0, 5)}, [102, 98]),
    "a short ante, trimmed": (SHORT_ANTE, {**SHORT_OF_ANTE, "ante_trimming_status": True}, [6, 93, 102]),
    "a short ante, whole": (SHORT_ANTE, {**SHORT_OF_ANTE, "ante_trimming_status": False}, [12, 93, 96]),
    "a dead small blind, trimmed": (NEWCOMER, {**POSTS, "ante_trimming_status": True}, [199, 209, 198, 194]),
    "a dead small blind, whole": (NEWCOMER, {**POSTS, "ante_trimming_status": False}, [199, 210, 197, 194]),
    "pots of antes alone": (DEAL + "p1 cc, p2 cc, p3 cc, " + DOWN, ANTES_ALONE, [210, 195, 195]),
    "a bet for antes alone": (DEAL + "p1 cbr 10, p2 f, p3 f", ANTES_ALONE, [210, 195, 195]),
    "bets below the big blind": (
        DEAL + "p3 f, p1 cc, p2 cc, d db AhKd3c, p1 cc, p2 cbr 1, p1 cbr 2, p2 f", {"min_bet": 1}, [203, 197, 200],
    ),
    "short all-ins that reopen": (REOPENED, {"stacks": (41, 32, 17, 42), "antes": 1}, None),
    "the odd chip to the second": (SPLIT, {"finishing_stacks": [202, 198, 200]}, [201, 198, 201]),
    "uncalled chips counted as won": (DEAL + "p3 cbr 6, p1 f, p2 f", {"winnings": [0, 0, 9]}, [199, 198, 203]),
    "uncalled chips not counted": (DEAL + "p3 cbr 6, p1 f, p2 f", {"winnings": [0, 0, 5]}, [199, 198, 203]),
}  # fmt: skip


@pytest.mark.parametrize("kind", PLAYED)
def test_what_is_posted_and_paid_is_what_the_file_says(kind):
    actions, fields, stacks = PLAYED[kind]
    entry, last = read(actions, **fields)
    assert sum(last) == sum(fields.get("stacks", (200,) * 3))
    assert stacks is None or last == stacks
    rows = list(replay_hand(entry, 0))[-1].states["p1"].game_state["players"]
    assert [row["stack"] for row in rows] == last


@pytest.mark.parametrize(
    ("actions", "fields"),
    [
        (SPLIT, {"finishing_stacks": [198, 201, 201]}),  # who folded gets no odd chip
        (SPLIT, {"finishing_stacks": [207, 198, 195]}),
        (DEAL + "p3 cbr 6, p1 f, p2 f", {"winnings": [0, 0, 10]}),
    ],
)
def test_what_was_paid_otherwise_is_refused_with_both_numbers(actions, fields):
    with pytest.raises(Refused, match="recorded are"):
        read(actions, **fields)


def test_money_is_shown_as_money_and_a_player_without_a_name_by_the_seat(tmp_path):
    actions = "d dh p1 ????, d dh p2 ????, d dh p3 ????, p3 cbr 3.50, p1 f, p2 f"
    entry, last = read(
        actions,
        stacks=(100, 87.35, 60.10),
        antes=0.25,
        blinds=(0.50, 1),
        currency_symbol="$",
        players=["Ann", "", "Cy"],
    )
    assert last == [9_925, 8_610, 6_210]
    told = list(replay_hand(entry, 0))
    assert (told[0].action, told[-1].note) == ("raiseTo 3.50", "Cy takes $3.25")
    state = told[1].states["Ann"].game_state
    assert (state["smallBlind"], state["bigBlind"], state["ante"], state["pot"]) == (0.5, 1, 0.25, 5.75)
    drawn = picture(list(told[1].states.values()))
    assert "blinds $0.50/$1, ante $0.25" in drawn and "pot 5.75" in drawn and "seat 1" in told[1].states


# The showdown.


def test_who_does_not_show_loses_to_those_who_do():
    for muck in ("", ", p3 sm -", ", p1 sm AsKs, p3 sm"):
        assert read(DEAL.replace("QdQc", "????") + "p3 cc, p1 cc, p2 cc, " + DOWN + muck)[1] == [204, 198, 198]
    entry, last = read(DEAL + "p3 cc, p1 cc, p2 cc, " + DOWN + ", p1 sm -")  # the best hand, which is known
    assert last == [198, 198, 204]
    told = list(replay_hand(entry, 0))
    assert told[0].states["p1"].game_state["players"][0]["cards"] == ["As", "Ks"]
    assert [row["stack"] for row in told[-1].states["p1"].game_state["players"]] == last


@pytest.mark.parametrize(
    ("stacks", "actions"),
    [
        ((200, 200, 200), "p3 cc, p1 cc, p2 f, "),
        ((200, 50, 200), "p3 cbr 100, p1 cc, p2 cc, "),  # p2 shows for the main pot, nobody for the side pot
    ],
)
def test_a_pot_that_nobody_shows_for_is_refused(stacks, actions):
    with pytest.raises(Refused, match="cards of its showdown are not known"):
        read("d dh p1 ????, d dh p2 7h2c, d dh p3 ????, " + actions + DOWN.replace("p2 cc, ", ""), stacks=stacks)


def test_the_house_may_take_a_rake_from_those_who_win():
    actions = DEAL + "p3 cbr 50, p1 cc, p2 cc, " + DOWN
    for field, values in {"winnings": [145, 0, 0], "finishing_stacks": [295, 150, 150]}.items():
        entry, last = read(actions, **{field: values})
        assert last == [300, 150, 150]
        assert list(replay_hand(entry, 0))[-1].note == "p1 takes 150, of which the house keeps 5"
    for wrong in ([0, 145, 0], [100, 0, 0], [151, 0, 0], [145, 0]):
        with pytest.raises(Refused, match="recorded are"):
            read(actions, winnings=wrong)


# Files of many hands.


BAD = written("d dh p1 ????")
"""A hand that stops before its end."""


def test_hands_that_cannot_be_read_are_left_out_and_counted(tmp_path, capsys):
    file = tmp_path / "hands.phhs"
    broken = 'variant = "NT"\nantes = [0, 0'
    deep = f"antes = {9_999 * '['}{9_999 * ']'}"
    file.write_text("\n".join(f"[{i + 7}]\n{text}" for i, text in enumerate([HAND, BAD, broken, BAD, HAND, deep])))
    hand_file = HandFile(file)
    assert {moment.title for moment in hand_file.moments()} == {"hand 7", "hand 11"}
    assert hand_file.summary() == "4 of 6 hands left out: 2 stops before its end, 2 not PHH"
    assert cli.main(["replay", str(file)]) == 0
    said = capsys.readouterr().err
    assert "4 of 6 hands left out" in said
    assert f"{file}, hand 8: stops before its end" in said
    assert f"{file}, hand 9: it is no hand history in PHH" in said
    assert cli.main(["replay", str(file), "--strict"]) == 2
    assert f"{file}, hand 8: stops before its end" in capsys.readouterr().err


def test_a_file_of_which_no_hand_can_be_read_is_refused(tmp_path):
    file = tmp_path / "hands.phhs"
    file.write_text(f"[1]\n{BAD}[2]\n{BAD}")
    with pytest.raises(ValueError, match=r"2 of 2 hands left out: 2 stops before its end\n.*hand 1: stops"):
        list(moments(file))
    file.write_text("")
    with pytest.raises(ValueError, match=r"hands.phhs holds no hand"):
        list(moments(file))


SITE = """PokerStars Hand #7: Hold'em No Limit ($0.05/$0.10 USD) - 2026/01/02 3:04:05 ET
Table 'Vesta' 6-max Seat #3 is the button
Seat 1: Ann ($10 in chips)
Seat 2: Bob ($10 in chips)
Seat 3: Cy ($9.50 in chips)
Ann: posts small blind $0.05
Bob: posts big blind $0.10
*** HOLE CARDS ***
Dealt to Cy [Qd Qc]
Cy: raises $0.20 to $0.30
Ann: calls $0.25
Bob: folds
*** FLOP *** [Ah Kd 3c]
Ann: checks
Cy: bets $0.40
Ann: folds
Uncalled bet ($0.40) returned to Cy
Cy collected $0.67 from pot
*** SUMMARY ***
Total pot $0.70 | Rake $0.03
Board [Ah Kd 3c]
Seat 3: Cy (button) collected ($0.67)


"""


def test_the_text_of_a_site_is_read_through_pokerkit(tmp_path, capsys):
    file = tmp_path / "session.txt"
    file.write_text(SITE + SITE.replace("Hold'em No Limit", "Razz Limit").replace("#7", "#8") + SITE)
    assert cli.main(["replay", str(file)]) == 0
    assert "1 of 3 hands left out: 1 PokerKit's PokerStarsParser cannot read (Unable to pa" in capsys.readouterr().err
    told = list(moments(file))
    assert told[0].states["Cy"].game_state["players"][2]["cards"] == ["Qd", "Qc"]
    assert told[-1].note == "Cy takes $0.70, of which the house keeps $0.03"


BLIND = "Bob: posts big blind $0.10\n"
ANTES = "".join(f"{name}: posts the ante $0.02\n" for name in ("Ann", "Bob", "Cy"))
HORSE = SITE.replace("Hold'em No Limit (", "HORSE (Hold'em No Limit, ")
DEAD = SITE.replace(BLIND, BLIND + "Dee: posts small & big blinds $0.15\n")
DEAD = DEAD.replace("Seat 3: Cy ($9.50", "Seat 4: Dee ($4 in chips)\nSeat 3: Cy ($9.50").replace("#3", "#4")
DEAD = DEAD.replace("Ann: calls", "Dee: folds\nAnn: calls").replace("0.67", "0.80")
FULL_TILT = """Full Tilt Poker Game #7: Table Ard (6 max) - NL Hold'em - $0.05/$0.10 - 08:42:02 ET - 2014/11/21
Seat 1: Ann ($10)
Seat 2: Bob ($10)
Seat 3: Cy ($9.50)
Ann posts the small blind of $0.05
Bob posts the big blind of $0.10
The button is in seat #3
*** HOLE CARDS ***
Cy raises to $0.30
Ann folds
Bob folds
Uncalled bet of $0.20 returned to Cy
Cy wins the pot ($0.25)
*** SUMMARY ***
Seat 3: Cy (button) collected ($0.25), mucked


"""
ABSOLUTE = """Stage #7: Holdem  No Limit $0.10 - 2009-07-01 00:00:01 (ET)
Table: FOO (Real Money) Seat #3 is the dealer
Seat 1 - Ann ($10 in chips)
Seat 2 - Bob ($10 in chips)
Seat 3 - Cy ($9.50 in chips)
Ann - Ante $2.50
Ann - Ante returned $2.50
Ann - Posts small blind $0.05
Bob - Posts big blind $0.10
*** POCKET CARDS ***
Cy - Raises $0.30 to $0.30
Ann - Folds
Bob - Folds
Cy - returned ($0.20) : not called
Cy Collects $0.25 from main pot
*** SUMMARY ***
Seat 3: Cy (dealer) collected Total ($0.25)


"""
PARTY = """***** Hand History for Game 154 *****
NL Texas Hold'em $1 USD Buy-in Trny: 128 Level: 1 Blinds(10/20) - Sunday, July 24, 19:32:00 CEST 2016
Table Ring (Real Money)
Seat 3 is the button
Total number of players : 3/6
Seat 1: Ann ( 1,000 chips )
Seat 2: Bob ( 1,000 chips )
Seat 3: Cy ( 1,000 chips )
Ann posts small blind [10 chips].
Bob posts big blind [20 chips].
** Dealing down cards **
Cy raises [60 chips]
Ann folds
Bob folds
Cy wins 90 chips


"""


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (SITE.replace(BLIND, BLIND + ANTES).replace("0.67", "0.73"), "Cy takes $0.76, of which the house keeps $0.03"),
        (DEAD, "Cy takes $0.85, of which the house keeps $0.05"),
        (HORSE, "Cy takes $0.70, of which the house keeps $0.03"),
        (FULL_TILT, "Cy takes $0.25"),
        (PARTY, "Cy takes 50"),
        (ABSOLUTE, "Cy takes $0.25"),
    ],
)
def test_what_is_posted_in_the_text_of_a_site_is_read(tmp_path, text, note):
    (tmp_path / "session.txt").write_text(text)
    assert list(moments(tmp_path / "session.txt"))[-1].note == note


SHORT = """PokerStars Hand #7: Tournament #2, $1+$0.10 USD Hold'em No Limit - Level XI (300/600) - 2026/01/02 3:04:05 ET
Table '2 1' 9-max Seat #1 is the button
Seat 1: A (600 in chips)
Seat 2: B (1720 in chips)
Seat 3: C (360 in chips)
B: posts small blind 300
C: posts big blind 360 and is all-in
*** HOLE CARDS ***
A: calls 600 and is all-in
B: calls 300
*** FLOP *** [Ah Kd 3c]
*** TURN *** [Ah Kd 3c] [4s]
*** RIVER *** [Ah Kd 3c 4s] [9h]
*** SHOW DOWN ***
B: shows [Qd Qc] (a pair of Queens)
A: shows [As Ks] (two pair, Aces and Kings)
C: shows [7h 2c] (high card Ace)
A collected 480 from side pot
A collected 1080 from main pot
*** SUMMARY ***
Seat 1: A (button) showed [As Ks] and won (1560)
Seat 2: B (small blind) showed [Qd Qc] and lost
Seat 3: C (big blind) showed [7h 2c] and lost


"""
ANTE = SHORT.replace("B: posts small", "".join(f"{name}: posts the ante 75\n" for name in "AB") + "B: posts small")
ANTE = ANTE.replace("B: posts small", "C: posts the ante 50 and is all-in\nB: posts small").replace("(360 in", "(50 in")
ANTE = ANTE.replace("C: posts big blind 360 and is all-in\n", "").replace("calls 600", "calls 525")
ANTE = ANTE.replace("480 from", "1100 from").replace("1080 from", "150 from")


@pytest.mark.parametrize(("text", "stacks"), [(SHORT, [1560, 1120, 0]), (ANTE, [1250, 1120, 0])])
def test_a_big_blind_that_is_posted_short_is_the_whole_one_to_others(tmp_path, text, stacks):
    (tmp_path / "hand.txt").write_text(text)
    rows = next(iter(list(moments(tmp_path / "hand.txt"))[-1].states.values())).game_state["players"]
    assert {row["name"]: row["stack"] for row in rows} == dict(zip("ABC", stacks, strict=True))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SITE.replace(BLIND, BLIND + "Cy: posts a straddle $0.20\n"), "reads 2 of 3 antes and blinds"),
        (SITE.replace("$0.67 from", "$1.67 from"), r"winnings are \[0, 0, 70\].*recorded are \[0, 0, 167\]"),
        (SITE.replace("FLOP", "FIRST FLOP"), "a hand with a board that was run twice"),
        (SITE.replace("*** HOLE", "Bomb Pot\n*** HOLE"), "a hand with bomb pot"),
    ],
)
def test_what_the_text_of_a_site_holds_otherwise_is_refused(tmp_path, text, message):
    (tmp_path / "hand.txt").write_text(text)
    with pytest.raises(ValueError, match=message):
        list(moments(tmp_path / "hand.txt"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# GAMEDEF nolimit\nSTATE:0:r300c/cr450f:9s8h|8dAs/2c8c3h:-300|300:A|B\n", "ACPCProtocolParser(NoLimitTexas"),
        ("Winamax Poker - CashGame - HandId: #5284693-1-1382600209 - Holdem no limit\n", "neither a match log (JSON L"),
    ],
)
def test_a_text_of_another_kind_is_refused_with_the_way(tmp_path, capsys, text, message):
    file = tmp_path / "hand.txt"
    file.write_text(text)
    assert cli.main(["replay", str(file)]) == 2
    assert message in capsys.readouterr().err
