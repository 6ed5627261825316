"""Relabelling: an agent under other names plays the same game."""

import numpy as np
import pytest
from parlour.envs import game
from parlour.envs.mafia.habits import relabelling
from parlour.envs.mafia.table import DEFEND, DISCUSSION
from parlour.training.learning.collector import Relabelling
from parlour.wrappers.policies.loading import make_policy


def played(decisions, seed=3):
    """Yield mafia, its tables, and what the acting seats see, after each of some decisions of the scripted players."""
    mafia = game("mafia")
    tables = mafia.tables(32)
    batch = mafia.batch(32)
    tables.stream = np.arange(seed, seed + 32)
    mafia.loops().reset(tables, batch, False)
    bot = make_policy("mixed", mafia, seed=seed)
    for _ in range(decisions):
        yield mafia, tables, batch
        mafia.loops().step(tables, bot.act(batch.observations, batch.masks), batch, True)


def test_a_statement_moves_into_the_relabelled_column():
    """An agent sees its own words about the seat that it meant, wherever its names put it."""
    checked = 0
    for mafia, tables, batch in played(40):
        columns, actions = relabelling(mafia.layout, np.random.default_rng(checked))
        for row in np.flatnonzero(tables.phase == DISCUSSION)[:3]:
            target = int(np.flatnonzero(batch.masks[row, actions][31:40])[0])  # as the agent counts, "r is innocent"
            copy = tables[row : row + 1].copy()
            seat = int(copy.turn[0])
            move = mafia.rules.decode(copy[0], int(actions[31 + target]))
            assert move.kind == DEFEND
            mafia.rules.step(copy[0], move)
            stance = mafia.layout["game_state.statements.stance"]
            after = mafia.observation(copy[0], seat)[columns][stance.start : stance.stop].reshape(10, 10)
            assert after[0, 1 + target] < 0  # the observer is row 0 under all names
            checked += 1
    assert checked > 20


def test_the_two_tokens_change_places_together_with_the_claims_seen():
    mafia = game("mafia")
    claimed = mafia.layout["game_state.statements.claimed"]
    exchanged = 0
    for number in range(20):
        columns, actions = relabelling(mafia.layout, np.random.default_rng(number))
        swapped = actions[60] == 61
        exchanged += swapped
        own = columns[claimed.start : claimed.start + 4] - claimed.start
        np.testing.assert_array_equal(own, [3, 1, 2, 0] if swapped else [0, 1, 2, 3])
    assert 0 < exchanged < 20


def test_recorded_decisions_are_shown_under_other_names_together_with_their_actions():
    mafia = game("mafia")
    suspicion = mafia.layout["suspicion"]
    votes = 10 + np.repeat(np.arange(1, 10), 20)  # for each of the other seats
    observations = np.zeros((len(votes), mafia.layout.size), np.float32)
    observations[:, suspicion.start : suspicion.stop] = np.arange(10)
    masks = np.zeros((len(votes), mafia.num_actions), np.int8)
    masks[np.arange(len(votes)), votes] = 1
    names = Relabelling(mafia, "v0", 1, seed=5)
    shown, shown_masks, actions = names.of_decisions(observations, masks, votes, np.random.default_rng(2))
    np.testing.assert_array_equal(shown_masks.argmax(axis=1), actions)
    np.testing.assert_array_equal(shown[np.arange(len(votes)), suspicion.start + actions - 10], votes - 10)
    assert len({*actions[votes == 15]}) > 5  # the same decision has several names


def test_a_game_without_symmetry_is_refused():
    with pytest.raises(ValueError, match="relabel=True: kuhn-v0 does not say which seats"):
        Relabelling(game("kuhn"), "v0", 4, seed=5)
