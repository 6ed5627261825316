"""Games given to OpenSpiel: its own algorithms run on them, and its games of the same names are worth the same."""

import numpy as np
import pytest
from needs import library
from parlour import envs
from parlour.training.evaluation.exact import flat_tree, nash_conv, values
from parlour.training.solving.tabular import solve

pyspiel = library("pyspiel", "bench")

from open_spiel.python import policy as spiel_policy  # noqa: E402
from open_spiel.python.algorithms import exploitability  # noqa: E402
from parlour.wrappers.openspiel import load  # noqa: E402

GAMES = {"kuhn": "kuhn_poker", "leduc": "leduc_poker", "liars_dice": "liars_dice"}


def test_a_state_is_a_record_with_its_random_events():
    state = load("kuhn").new_initial_state()
    assert state.is_chance_node()
    assert state.chance_outcomes() == [(0, pytest.approx(1 / 3)), (1, pytest.approx(1 / 3)), (2, pytest.approx(1 / 3))]
    state.apply_action(2)
    state.apply_action(0)  # king and jack
    assert (state.current_player(), state.legal_actions()) == (0, [0, 1])
    twin = state.clone()
    for action in (1, 1):
        twin.apply_action(action)
    assert (twin.is_terminal(), twin.returns(), twin.history()) == (True, [2.0, -2.0], [2, 0, 1, 1])
    assert (state.is_terminal(), state.returns()) == (False, [0.0, 0.0])


def test_information_states_are_what_the_seat_observes():
    game = envs.game("leduc")
    state = load(game).new_initial_state()
    other = state.clone()
    for one, cards in ((state, (0, 1)), (other, (0, 2))):
        for card in cards:
            one.apply_action(card)
    assert state.information_state_string(0) == other.information_state_string(0)
    assert state.information_state_string(1) != other.information_state_string(1)
    tree = flat_tree(game)
    seen = np.array(state.information_state_tensor(0), np.float32)
    assert (tree.observations == seen).all(axis=1).sum() == 1


def test_what_has_no_random_events_to_enumerate_is_refused():
    with pytest.raises(ValueError, match="auction-v0 with these options does not list all that chance may deal"):
        load("auction")
    with pytest.raises(ValueError, match="faces: a Game has its options already"):
        load(envs.game("liars_dice"), faces=3)


def test_openspiel_finds_the_nash_conv_that_we_do():
    game = load("kuhn")
    tree = flat_tree(envs.game("kuhn"))
    theirs = exploitability.nash_conv(game, spiel_policy.UniformRandomPolicy(game))
    assert nash_conv(tree, tree.uniform()) == pytest.approx(theirs, abs=1e-9)


def move(game, table, action):
    """Play one of OpenSpiel's actions or outcomes on a record of ours."""
    events, name = game.capabilities.chance, game.name
    if events.outcomes(table):
        if name == "leduc":  # its cards have suits: their ranks are action // 2
            ranks = [rank for rank in range(3) if 2 - [*table.card, table.board].count(rank) > 0]
            action = ranks.index(action // 2)
        elif name == "kuhn":
            action -= bool(table.card[0] >= 0 and action > table.card[0])
        events.play(table, action)
    else:
        events.step(table, action)


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
def test_our_solution_is_an_equilibrium_of_openspiels_own_game(name):
    """Our policy is carried over to their game, history by history, and exploited by their best response."""
    game, theirs = envs.game(name), pyspiel.load_game(GAMES[name])
    tree = flat_tree(game)
    uniform = pyspiel.UniformRandomPolicy(theirs)
    assert nash_conv(tree, tree.uniform()) == pytest.approx(pyspiel.nash_conv(theirs, uniform, True), abs=1e-6)
    found = solve(
        tree, target=1e-4 if name == "liars_dice" else 1e-6, method="dcfr" if name == "liars_dice" else "pcfr+"
    )
    rows = {row.tobytes(): i for i, row in enumerate(tree.observations)}
    table, told = tree.probabilities(found.strategy), {}

    def walk(state, record):
        if state.is_terminal():
            return
        if not state.is_chance_node():
            key = state.information_state_string()
            if key not in told:
                row = table[rows[game.observation(record, int(record.turn)).tobytes()]]
                told[key] = [(action, float(row[action])) for action in state.legal_actions()]
        for action in state.legal_actions():
            child = record.copy()
            move(game, child, action)
            walk(state.child(action), child)

    first = game.tables(1)[0]
    game.capabilities.chance.begin(first)
    walk(theirs.new_initial_state(), first)
    carried = pyspiel.TabularPolicy(told)
    assert pyspiel.nash_conv(theirs, carried, True) < found.nash_conv + 1e-4
    value = pyspiel.expected_returns(theirs.new_initial_state(), carried, -1, True)
    assert value == pytest.approx(values(tree, found.strategy), abs=1e-5)
