"""Leduc hold'em by named situation: bets, rounds, showdowns, the deck."""

import msgspec
import pytest
from parlour import envs
from parlour.envs import Action
from parlour.envs.core import chance
from parlour.envs.small.leduc import RANKS

GAME = envs.game("leduc")


def dealt(cards):
    env = envs.make("leduc")
    env.reset(seed=0)
    env.table.card[:] = [RANKS.index(card) for card in cards]
    env.match.refresh()
    return env


def play(env, moves, board=None):
    for move in moves.split():
        assert env.submit(env.agent_selection, Action(move)).ok
        if board is not None and env.table.board >= 0:
            env.table.board = RANKS.index(board)
            env.match.refresh()
    return env


@pytest.mark.parametrize(
    ("cards", "moves", "won", "reason"),
    [
        ("JQ", "raise fold", 1, "fold"),
        ("JQ", "raise raise fold", -3, "fold"),
        ("JQ", "call raise fold", -1, "fold"),
        ("JQ", "call call raise fold", 1, "fold"),
        ("JQ", "raise call raise raise fold", -7, "fold"),
    ],
)
def test_a_fold_costs_what_was_put_in(cards, moves, won, reason):
    env = play(dealt(cards), moves)
    assert env.table.done
    assert env.rewards == {"player_0": won, "player_1": -won}
    assert env.turn_state("player_1").outcome["reason"] == reason
    assert env.turn_state("player_1").game_state["shown"] == {}


@pytest.mark.parametrize(
    ("cards", "board", "won"), [("JK", "J", 13), ("QK", "J", -13), ("KQ", "Q", -13), ("QQ", "K", 0), ("JQ", "K", -13)]
)
def test_a_pair_beats_all_then_the_higher_card_and_equal_cards_split(cards, board, won):
    env = play(dealt(cards), "call raise raise call call raise raise call", board)
    assert env.rewards == {"player_0": won, "player_1": -won}
    assert env.turn_state("player_0").outcome["reason"] == "showdown"
    assert env.turn_state("player_0").game_state["shown"] == dict(zip(env.possible_agents, cards, strict=True))


def test_raises_are_two_and_four_and_two_in_a_round():
    env = dealt("JQ")
    chips = []
    for move in ("raise", "raise", "call", "call", "raise", "raise"):
        assert env.submit(env.agent_selection, Action(move)).ok
        chips.append(env.table.chips.tolist())
    assert chips == [[3, 1], [3, 5], [5, 5], [5, 5], [5, 9], [13, 9]]
    refused = env.submit(env.agent_selection, Action("raise"))
    assert (refused.error, refused.error_detail) == ("game_rule_violation", "cannot raise now; legal: fold, call")
    assert env.turn_state("player_1").phase == "second"


def test_cards_have_the_probabilities_of_the_deck():
    starts = {tuple(table.card.tolist()): share for share, table in chance.starts(GAME)}
    assert len(starts) == 9
    assert starts[0, 0] == pytest.approx(1 / 15) and starts[0, 1] == pytest.approx(2 / 15)
    table = next(table for _, table in chance.starts(GAME) if table.card.tolist() == [0, 0])
    ((_, table),) = chance.after(GAME, table, 1)
    boards = {int(child.board): share for share, child in chance.after(GAME, table, 1)}
    assert boards == {1: 0.5, 2: 0.5}


def test_what_cannot_be_is_not_loaded():
    env = play(dealt("JQ"), "call call", "K")
    state = env.turn_state("player_0")
    assert GAME.view.load(state)[0][0].board == RANKS.index("K")
    folds = [{"agent_id": "player_0", "action": "fold"}] * 2
    for change in ({"board": []}, {"action_history": [*state.game_state["action_history"], *folds]}):
        wrong = msgspec.structs.replace(state, game_state={**state.game_state, **change})
        with pytest.raises(ValueError, match="no open card"):
            GAME.view.load(wrong)
