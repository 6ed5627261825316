"""The observation slice by slice: every slice says what the layout says it means."""

from functools import cache

import numpy as np
import pytest
from dealing import deal, play
from parlour.envs.holdem import encoders
from parlour.envs.holdem.hands import card_number


def sees(table, seat):
    """Return a function from a slice's name to its values."""
    layout = encoders.v0(table).layout
    out = np.full(layout.size, np.nan, np.float32)
    encoders.observe(table, seat, layout.offsets[0], out)
    assert layout.flat_space().contains(out)

    def slice_(path):
        part = layout[path]
        return out[part.start : part.stop].reshape(part.shape)

    return slice_


def chips(*amounts, big_blind=2):
    return pytest.approx(np.sqrt(np.array(amounts) / (100 * big_blind)), rel=1e-6)


@cache
def on_the_flop():
    """Seat 1 checked, seat 2 bet 20, seat 0 folded; seat 1 is to act."""
    table = deal([200, 100, 80], cards=["Ac Ad", "Kc Kd", "Qc Qd"], board="2s 7h 9d Tc Jc", button=0)
    return play(table, "call raise 10 call call check raise 20 fold")


def test_phase_and_turn():
    seen = sees(on_the_flop(), 1)
    assert seen("phase").tolist() == [0, 0, 1, 0, 0, 0, 0]
    assert seen("is_my_turn").tolist() == [1]
    assert seen("current_turn_agent_id").tolist() == [1, 0, 0]
    assert sees(on_the_flop(), 0)("is_my_turn").tolist() == [0]
    assert sees(on_the_flop(), 0)("current_turn_agent_id").tolist() == [0, 1, 0]
    assert sees(on_the_flop(), 2)("current_turn_agent_id").tolist() == [0, 0, 1]


def test_cards():
    seen = sees(on_the_flop(), 1)
    assert np.flatnonzero(seen("game_state.players.cards")).tolist() == [card_number("Kc"), card_number("Kd")]
    assert np.flatnonzero(seen("game_state.board")).tolist() == sorted(map(card_number, ("2s", "7h", "9d")))
    assert seen("game_state.board").max() == 1
    river = play(deal([200] * 2, board="2s 7h 9d Tc Jc"), "call check check check check check")
    board = sees(river, 0)("game_state.board")
    assert [board[card_number(card)] for card in ("2s", "7h", "9d", "Tc", "Jc")] == [1, 1, 1, 0.75, 0.5]


def test_ranks():
    seen = sees(on_the_flop(), 1)
    assert seen("game_state.players.rank")[:9].tolist() == [0, 1, 0, 0, 0, 0, 0, 0, 0]  # kings
    assert seen("game_state.board_rank").tolist() == [1, 0, 0, 0, 0, 0, 0, 0, 0]
    places = [sees(on_the_flop(), seat)("game_state.players.rank")[9] for seat in (0, 1, 2)]
    assert places == sorted(places, reverse=True)
    assert not sees(deal([200] * 2), 0)("game_state.board_rank").any()


def test_chips_and_states_by_relative_seat():
    seen = sees(on_the_flop(), 1)
    assert seen("game_state.pot") == chips(50)
    assert seen("game_state.players.stack") == chips(90, 50, 190)
    assert seen("game_state.players.bet") == chips(0, 20, 0)
    assert seen("game_state.players.committed") == chips(10, 30, 10)
    assert seen("game_state.players.folded").tolist() == [0, 0, 1]
    assert seen("game_state.players.seated").tolist() == [1, 1, 1]
    assert seen("game_state.dealer").tolist() == [0, 0, 1]
    assert sees(on_the_flop(), 2)("game_state.players.stack") == chips(50, 190, 90)


def test_what_may_be_done_is_seen_in_turn_only():
    seen = sees(on_the_flop(), 1)
    assert seen("game_state.toCall") == chips(20)
    assert seen("game_state.actions.raiseTo") == chips(40, 90)
    assert not sees(on_the_flop(), 2)("game_state.toCall").any()
    assert not sees(on_the_flop(), 2)("game_state.actions.raiseTo").any()


def test_all_in_and_busted():
    table = play(deal([200, 100, 20]), "raise 50 call call")
    assert sees(table, 0)("game_state.players.allIn").tolist() == [0, 0, 1]
    table = deal([200, 0, 100])
    assert sees(table, 0)("game_state.players.seated").tolist() == [1, 0, 1]
    assert not sees(table, 0)("game_state.players.allIn").any()


def test_history_by_street_in_order():
    history = sees(on_the_flop(), 1)("game_state.history")
    assert history[0, :4, 0] * 3 == pytest.approx([3, 1, 2, 3])  # seats 0, 1, 2, 0 as seat 1 counts them
    assert history[0, :4, 1] == chips(2, 10, 10, 10)
    assert not history[0, 4:].any()
    assert history[1, :3, 0] * 3 == pytest.approx([1, 2, 3])
    assert history[1, 1, 1] == chips(20)
    assert history[1, 2, 1] == -1  # the fold
    assert not history[2:].any()


def test_of_a_long_street_the_latest_actions_are_seen():
    table = deal([2000, 2000])
    for _ in range(30):
        play(table, f"raise {int(table.raise_min)}")
    history = sees(table, 0)("game_state.history")
    slots = encoders.history_slots(2)
    assert history.shape == (4, slots, 2)
    assert history[0, -1, 1] == chips(int(table.current_bet))
    assert (np.diff(history[0, :, 1]) > 0).all()


def test_hands_to_go():
    table = deal([200] * 2, hands=4)
    assert sees(table, 0)("game_state.hand").tolist() == [1]
    assert sees(play(table, "fold"), 0)("game_state.hand").tolist() == [0.75]


def test_the_end():
    table = play(deal([200, 100], cards=["Ac Ad", "Kc Kd"], board="2s 7h 9d Tc 3c"), "raise 200 call")
    seen = sees(table, 1)
    assert seen("game_over").tolist() == [1]
    assert seen("outcome.payoffs").tolist() == [-0.5, 0.5]
    assert not seen("current_turn_agent_id").any()
    assert seen("phase").tolist() == [0, 0, 0, 0, 0, 0, 1]
    assert not sees(on_the_flop(), 1)("outcome.payoffs").any()
