"""The gap that a tangram agent leaves between pieces, where touching is a collision: its size at every try."""

import pytest
from live.small_game import SmallGame
from live.tangram_turns import GAME, play, scripted, turn
from parlour.wrappers.live.tangram.agent import GAP_TRIES, TangramAgentSession
from parlour.wrappers.live.tangram.agent import GAPS as WIDER
from parlour.wrappers.live.tangram.board_tracker import figure_moves, spread

RED = (50.0, 50.0, 0.0)
NAME, PLACE = next(figure_moves({"Red": RED}, 0.0))
"""A piece, and a place of it that touches Red."""
GAPS = [0.0, *WIDER[:GAP_TRIES]]
"""The gaps of the tries of a turn, as long as nothing is learned."""


class Content(SmallGame):
    """Finds fault with the first plays of a turn, up to a number, and notes the places of all."""

    def started(self, faults):
        self.faults, self.places = faults, []

    def put(self, play):
        self.places.append((*play.position, play.rotation))
        return super().put(play)

    def collisions(self, name):
        return ["Red"] if len(self.places) <= self.faults and name == self.moved else []


def begun(faults):
    session, game = TangramAgentSession(GAME), Content("A square")
    game.started(0)
    turn(session, game, scripted(play("Red", *RED)))
    game.started(faults)
    return session, game


def with_gap(gap):
    """The place with a gap to Red."""
    return pytest.approx(spread(NAME, PLACE, RED, {"Red": RED}, gap) if gap else PLACE, abs=1e-6)


@pytest.mark.parametrize("faults", range(len(GAPS)))
def test_every_try_leaves_a_larger_gap_until_the_game_is_content(faults):
    session, game = begun(faults)
    turn(session, game, scripted(play(NAME, *PLACE)))
    assert game.places == [with_gap(gap) for gap in GAPS[: faults + 1]]


@pytest.mark.parametrize("faults", range(len(GAPS)))
def test_the_gap_that_was_enough_is_left_from_then_on(faults):
    session, game = begun(faults)
    turn(session, game, scripted(play(NAME, *PLACE)))
    for _ in range(2):  # a turn without a fault takes nothing back
        game.started(0)
        del game.poses[NAME]
        turn(session, game, scripted(play(NAME, *PLACE)))
        assert game.places == [with_gap(GAPS[faults])]


def test_no_gap_is_wider_than_the_widest():
    session, game = begun(0)
    for tries in (GAPS, WIDER[GAP_TRIES - 1 :], WIDER[-1:]):
        game.started(faults=len(tries) - 1)
        game.poses.pop(NAME, None)
        turn(session, game, scripted(play(NAME, *PLACE)))
        assert game.places == [with_gap(gap) for gap in tries]
    game.started(faults=2)
    del game.poses[NAME]
    turn(session, game, scripted(play(NAME, *PLACE)))
    assert game.places[0] == with_gap(WIDER[-1]) and game.places[1] != game.places[0]
