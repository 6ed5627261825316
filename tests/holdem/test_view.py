"""TurnState's `game_state` has the fields of Moltpoker's, `outcome` those of its `hand_complete`; and `load`."""

import numpy as np
import pytest
from dealing import deal, play
from parlour.envs import TurnState, game
from parlour.envs.holdem import view
from parlour.envs.holdem.rules import Move
from parlour.envs.holdem.table import LOG


def headsup():
    return deal([200, 200], cards=["Ac Qh", "8c 3h"], board="As Kh 7d 2c 2d")


def test_of_a_history_beyond_the_record_it_is_said_how_much_is_missing():
    table = play(deal([4000, 4000]), "raise 10 call")
    for _ in range(LOG + 5):
        play(table, f"raise {int(table.raise_min)}")
    seen = view.game_state(table, 0).to_dict()
    assert seen["historyMissing"] == 7
    assert len(seen["history"]) == LOG
    assert [entry["street"] for entry in seen["history"][:3]] == ["preflop", "preflop", "flop"]  # short streets stay
    assert seen["history"][-1]["bet"] == int(table.current_bet)
    again, seat = game("holdem", seats=2).view.load(game("holdem", seats=2).turn_state(table, 0, ()))
    assert view.game_state(again[0], seat).to_dict()["history"] == seen["history"]
    assert int(again[0].log_dropped) == 7


def state(made, table, seat):
    return TurnState.from_json(made.turn_state(table, seat).to_json())


@pytest.mark.parametrize("seat", range(6))
def test_a_longer_table_is_seen_without_the_seats_that_matter_least(seat):
    """A heads-up policy at a table of six where four have folded: it sees itself and who is left."""
    table = play(deal([200] * 6, button=0), "fold fold raise 10 fold")
    big, small = game("holdem", seats=6), game("holdem", seats=2)
    if table.folded[seat]:
        return
    loaded, me = small.view.load(state(big, table, seat))
    assert loaded[0].cards[me].tolist() == table.cards[seat].tolist()
    assert loaded[0].stack[me] == table.stack[seat]
    assert loaded[0].pot == table.pot
    assert np.isfinite(small.observation(loaded[0], me)).all()
    assert small.mask(loaded[0], me).any() == (seat == table.turn)


def test_a_deeper_stack_is_seen_as_the_deepest_that_the_game_has():
    """10,000 big blinds look like the 100 of the training; what is legal there is legal at the table."""
    deep, own = game("holdem", seats=2, stacks=20_000), game("holdem", seats=2, stacks=200)
    table = play(deal([20_000] * 2, button=0), "raise 5")
    (loaded,), me = own.view.load(state(deep, table, 1))
    own.view.familiar(loaded)
    (shallow,), _ = own.view.load(state(own, play(deal([200] * 2, button=0), "raise 5"), 1))
    assert np.array_equal(own.observation(loaded, me), own.observation(shallow, me))
    all_in = own.view.encode(loaded, own.num_actions - 1).action
    assert all_in.payload == {"amount": 200}
    assert isinstance(deep.view.parse(table, all_in), Move)


@pytest.mark.parametrize(("stake", "left_out"), [(0, 0), (7, 1)])
def test_of_a_longer_table_an_empty_seat_is_left_out_before_a_folded_one(stake, left_out):
    """A seat without chips is empty, unless it has a stake: then it is all-in."""
    big, small = game("holdem", seats=4), game("holdem", seats=3)
    seen = state(big, deal([200] * 4, button=0), 3)
    for player, stack, committed in zip(seen.game_state["players"], (0, 101, 102), (stake, 1, 1), strict=False):
        player.update(stack=stack, bet=committed, committed=committed, folded=player["seat"] == 1)
    stacks = [player["stack"] for player in seen.game_state["players"]]
    loaded, _ = small.view.load(seen)
    del stacks[left_out]
    assert loaded[0].stack[:3].tolist() == stacks


@pytest.mark.parametrize("field", ["players", "board", "phase", "dealer", "bigBlind"])
def test_a_state_that_lacks_a_field_is_refused(field):
    made = game("holdem", seats=2)
    seen = state(made, headsup(), 0)
    del seen.game_state[field]
    with pytest.raises((KeyError, TypeError, ValueError)):
        made.view.load(seen)


def test_a_card_that_is_none_is_refused():
    made = game("holdem", seats=2)
    seen = state(made, play(headsup(), "call check"), 0)
    seen.game_state["board"][0] = "1x"
    with pytest.raises(ValueError, match="1x"):
        made.view.load(seen)
