"""Cards that are given: `env.reset(options=…)`."""

import pytest
from parlour.envs import Action, auction_v0, holdem_v0
from parlour.envs.holdem.hands import card_name

ACES = {"cards": [["As", "Ah"], ["Kd", "Kc"]], "board": ["2c", "3d", "7h", "9s", "Jc"]}


def names(cards):
    return [card_name(int(card)) for card in cards]


def test_every_seat_has_the_cards_that_it_was_given_and_the_board_opens_in_order():
    env = holdem_v0.env(seats=2, button=0)
    env.reset(seed=1, options=ACES)
    raw = env.unwrapped
    assert raw.turn_state("player_0").game_state["players"][0]["cards"] == ["As", "Ah"]
    assert raw.turn_state("player_1").game_state["players"][1]["cards"] == ["Kd", "Kc"]
    for action in ("raiseTo", "call"):
        payload = {"amount": 200} if action == "raiseTo" else {}
        assert raw.submit(raw.agent_selection, Action(action, payload)).ok
    assert raw.turn_state("player_0").game_state["board"] == ACES["board"]
    assert raw.rewards == {"player_0": 200, "player_1": -200}


def test_the_rest_is_drawn_from_what_is_left():
    seen = set()
    for seed in range(30):
        env = holdem_v0.raw_env(seats=3)
        env.reset(seed=seed, options={"cards": [None, ["As", "Ah"], None], "board": ["Ad", "Ac"]})
        table = env.table
        assert names(table.cards[1]) == ["As", "Ah"]
        assert names(table.board[:2]) == ["Ad", "Ac"]
        dealt = [*table.cards[:3].ravel().tolist(), *table.board.tolist()]
        assert len(set(dealt)) == 11
        assert sorted(table.deck.tolist()) == list(range(52))
        assert table.deck[:11].tolist() == dealt
        seen |= set(names(table.cards[0]))
    assert len(seen) > 20


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cards": [["As", "Ah"]]}, "give two cards, or None, for each of the 2 seats"),
        ({"cards": [["As", "Ah"], None], "board": ["Ah"]}, "a card is given twice"),
        ({"board": ["2c"] * 6}, "give up to five cards"),
        ({"board": ["1c"]}, "card '1c' does not exist"),
        ({"board": 5}, "board=5: give up to five cards"),
        ({"cards": 5}, "cards=5: give two cards, or None"),
        ({"card": [None, None]}, "did you mean 'cards'"),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(options, message):
    env = holdem_v0.raw_env(seats=2)
    env.reset(seed=1)
    before = env.table.tobytes()
    with pytest.raises(ValueError, match=message):
        env.reset(seed=2, options=options)
    assert env.table.tobytes() == before


def test_an_empty_seat_gets_no_cards():
    env = holdem_v0.raw_env(seats=3, stacks=[50, 0, 50])
    with pytest.raises(ValueError, match="seat 1 is empty"):
        env.reset(seed=1, options={"cards": [None, ["As", "Ah"], None]})
    env.reset(seed=1, options={"cards": [["As", "Ah"], None, None]})
    assert env.table.cards[1].tolist() == [-1, -1]


def test_options_that_no_game_knows_are_ignored_as_pettingzoo_does():
    for module in (holdem_v0, auction_v0):
        module.raw_env().reset(seed=1, options={"options": 1})
