"""Liar's dice by named situation: bids, challenges, wild faces, payloads, bots."""

import msgspec
import pytest
from parlour import envs
from parlour.envs import Action


def rolled(*dice, **options):
    env = envs.make("liars_dice", dice=len(dice) // 2, **options)
    env.reset(seed=0)
    env.table.die[: len(dice)] = dice
    env.match.refresh()
    return env


def bid(quantity, face):
    return Action("bid", {"quantity": quantity, "face": face})


def play(env, *moves):
    for move in moves:
        assert env.submit(env.agent_selection, Action("liar") if move == "liar" else bid(*move)).ok
    return env


@pytest.mark.parametrize(
    ("dice", "bids", "wild", "won"),
    [
        ((3, 4), [(1, 3)], True, 1),
        ((3, 4), [(1, 5)], True, -1),
        ((3, 6), [(2, 3)], True, 1),
        ((3, 6), [(2, 3)], False, -1),
        ((3, 6), [(1, 3), (2, 6)], True, 1),
        ((6, 6), [(2, 1)], True, 1),
        ((1, 1, 2, 6), [(3, 1)], True, 1),
        ((1, 1, 2, 6), [(2, 1), (3, 1)], False, 1),
    ],
)
def test_a_bid_that_holds_wins_for_the_bidder(dice, bids, wild, won):
    env = play(rolled(*dice, wild=wild), *bids, "liar")
    assert env.rewards == {"player_0": won, "player_1": -won}
    state = env.turn_state("player_0")
    held = won == (1 if len(bids) == 1 else -1)
    assert state.outcome["reason"] == ("bid_held" if held else "bid_failed")
    assert state.outcome["winner"] == ("player_0" if won > 0 else "player_1")
    half = len(dice) // 2
    assert state.game_state["shown"] == {"player_0": sorted(dice[:half]), "player_1": sorted(dice[half:])}


def test_a_bid_is_higher_by_quantity_then_by_face():
    env = play(rolled(1, 2), (1, 4))
    for lower in (bid(1, 4), bid(1, 3)):
        refused = env.submit("player_1", lower)
        assert refused.error == "game_rule_violation"
        assert "is not higher than 1 times 4" in refused.error_detail
    assert env.submit("player_1", bid(2, 1)).ok


def test_bids_out_of_range_and_challenges_of_nothing_are_refused():
    env = rolled(1, 2)
    assert env.submit("player_0", Action("liar")).error == "game_rule_violation"
    for wrong in (bid(3, 1), bid(1, 7), bid(0, 1), bid("1", 2), Action("bid", {"quantity": 1})):
        assert env.submit("player_0", wrong).error == "invalid_payload"
    assert env.submit("player_0", Action("raise")).error == "invalid_action_type"


def test_action_indices_are_those_of_openspiel():
    game = envs.game("liars_dice", dice=2)
    env = envs.GameEnv(game)
    env.reset(seed=1)
    payloads = [game.view.encode(env.table, action).action.payload for action in range(24)]
    assert payloads == [{"quantity": 1 + i // 6, "face": 1 + i % 6} for i in range(24)]
    assert game.view.encode(env.table, 24).action.action_type == "liar"


@pytest.mark.parametrize(
    ("dice", "bids", "plays"),
    [
        ((2, 5), [], (1, 2)),
        ((2, 5), [(1, 2)], "liar"),
        ((5, 2), [(1, 2)], (1, 3)),
        ((2, 5), [(2, 3)], "liar"),
        ((2, 6), [(1, 5), (2, 4)], "liar"),
        ((2, 2, 5, 5), [(1, 5)], (2, 5)),
    ],
)
def test_the_careful_bot_says_what_is_likely(dice, bids, plays):
    env = play(rolled(*dice), *bids)
    game, seat = env.game, int(env.table.turn)
    bot = game.bots["careful"](game, seed=1)
    (action,) = bot.act(game.observation(env.table, seat)[None], game.mask(env.table, seat)[None])
    said = game.view.encode(env.table, int(action)).action
    assert (said.action_type if plays == "liar" else tuple(said.payload.values())) == plays


def test_a_state_of_another_game_is_not_loaded():
    state = play(rolled(1, 2), (1, 4)).turn_state("player_1")
    with pytest.raises(
        ValueError, match=r"dice, faces, wild are \[1, 6, True\]; this game was made for \[1, 5, True\]"
    ):
        envs.game("liars_dice", faces=5).view.load(state)
    history = [{"agent_id": "player_0", "action": "bid", "quantity": 3, "face": 1}]
    wrong = msgspec.structs.replace(state, game_state={**state.game_state, "action_history": history})
    with pytest.raises(ValueError, match="a bid of 3 times 1: quantity is from 1 to 2"):
        envs.game("liars_dice").view.load(wrong)


@pytest.mark.parametrize(("option", "value"), [("dice", 0), ("dice", 6), ("faces", 1), ("wild", 1)])
def test_wrong_options_are_named(option, value):
    with pytest.raises(ValueError, match=f"{option}={value}"):
        envs.game("liars_dice", **{option: value})
