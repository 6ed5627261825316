"""The default view with hidden fields: what a seat sees, what is loaded, and what is drawn again."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
import rock_paper_scissors
from beginnings import episode
from parlour import envs
from parlour.envs.core.view import default_view
from parlour.envs.testing import check, try_law

FIELDS = [("card", 4, 1), ("bet", 1, 3)]
"""Name, size and highest value of two slices."""


def played(game, *actions):
    env = episode(game)
    for action in actions:
        env.step(action)
    return env


def choices(env):
    return [env.turn_state(agent).game_state["choice"] for agent in env.possible_agents]


def test_a_seat_sees_its_own_entry_until_the_end():
    game = rock_paper_scissors.game()
    assert choices(played(game)) == [[-1, None], [None, -1]]
    assert choices(played(game, 2)) == [[2, None], [None, -1]]
    assert choices(played(game, 2, 1)) == [[2, 1], [2, 1]]


def test_a_state_of_a_table_with_other_seats_is_refused_in_words():
    game = rock_paper_scissors.game()
    state = played(game).turn_state(game.agents[0])
    state.game_state["choice"].append(None)
    with pytest.raises(ValueError, match=r"choice has the shape \(3,\), not \(2,\)"):
        game.view.load(state)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("card", 9, "index 9 is out of bounds"),
        ("card", -9, "index -9 is out of bounds"),
        ("bet", 7, "game_state.bet is 7, and has 0 to 3"),
    ],
)
def test_a_state_that_no_table_of_the_game_has_is_refused_before_compiled_code_reads_it(field, value, words):
    """Compiled code has no bounds: an index beyond an array would write into other memory."""
    fields = envs.with_required_fields(2, ("card", "i4"), ("bet", "i4"))
    card, bet = (envs.Slice(f"game_state.{name}", (size,), 0, high, "") for name, size, high in FIELDS)

    @envs.compiled
    def observe(table, seat, at, out):
        out[:] = 0
        out[at.card + table.card], out[at.bet] = 1, table.bet

    game = rock_paper_scissors.game()
    rules = replace(game.rules, blank=envs.new_table(fields))
    game = replace(
        game, rules=rules, view=None, hidden=(), encoders={"v0": envs.Encoder(envs.Layout([card, bet]), observe)}
    )
    state = game.turn_state(game.tables(1)[0], 0)
    game.load(state)
    state.game_state[field] = value
    with pytest.raises(ValueError, match=rf"no state of rock_paper_scissors-v0.*: {words}"):
        game.load(state)


def test_a_field_without_entries_per_seat_is_hidden_as_a_whole():
    blank = envs.new_table(envs.with_required_fields(2, ("choice", "i4", 2), ("deck", "i1", 3), ("trump", "i1")))
    rules = replace(rock_paper_scissors.game().rules, blank=blank)
    table = rules.tables(1)[0]
    view = default_view(rules, ("first", "second"), hidden=("deck", "trump"))
    assert view.game_state(table, 1) == {"choice": [0, 0], "deck": [None] * 3, "trump": None}
    table.done = True
    assert view.game_state(table, 1) == {"choice": [0, 0], "deck": [0] * 3, "trump": 0}


def test_a_function_says_what_a_seat_may_not_know():
    """The second seat sees everything, the first one nothing, at the end too."""
    game = rock_paper_scissors.game(hidden={"choice": lambda table, seat: seat == 0})
    assert choices(played(game, 2, 1)) == [[None, None], [2, 1]]


def test_hidden_fields_are_those_of_another_episode_that_looks_the_same():
    game = rock_paper_scissors.game()
    generator = np.random.default_rng(0)
    seen = set()
    for _ in range(50):
        table = played(game, 2).table.copy()
        game.view.resample(table, 1, generator)
        seen.add(tuple(table.choice.tolist()))
        again = played(game, 2, 1).table.copy()
        game.view.resample(again, 1, generator)
        assert again.choice.tolist() == [2, 1]
    assert seen == {(0, -1), (1, -1), (2, -1)}


def test_a_game_with_hidden_fields_keeps_all_laws_and_can_be_pickled():
    game = pickle.loads(pickle.dumps(rock_paper_scissors.game()))
    report = check(game, episodes=4)
    results = {result.law: result for result in report.results}
    assert results["secrecy"].skipped is None
    assert not any(result.warnings for result in report.results)


def test_where_nothing_is_hidden_secrecy_is_not_tried_and_the_field_is_named():
    result = try_law("secrecy", rock_paper_scissors.game(hidden=()), 4)
    assert result.skipped == "the game hides nothing: its view shows every field of its own"
    (warning,) = result.warnings
    assert warning == (
        "the view shows choice[0] to second, and no encoder does: "
        "if a seat may not know it, make the Game with hidden=('choice',)"
    )
    assert f"warning: {warning}" in str(check(rock_paper_scissors.game(hidden=()), episodes=4, laws=["secrecy"]))


@pytest.mark.parametrize(
    ("hidden", "words"),
    [
        ("choice", r"hidden: 'choice': give names of the game's own fields, such as \('choice',\)"),
        (("turn",), "hidden: 'turn': give names"),
        ({"choice": True}, "hidden: choice is True; it needs to be a function"),
    ],
)
def test_what_cannot_be_hidden_is_named(hidden, words):
    with pytest.raises(ValueError, match=words):
        rock_paper_scissors.game(hidden=hidden)
