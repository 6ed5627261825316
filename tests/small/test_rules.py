"""Kuhn poker, Leduc hold'em and liar's dice by named situation, Kuhn's equilibria, and what may be loaded."""

import msgspec
import numpy as np
import pytest
from parlour import envs
from parlour.envs import Action
from parlour.envs.core import chance
from parlour.envs.small import kuhn, leduc

KUHN, LEDUC = envs.game("kuhn"), envs.game("leduc")
RANKS = {"kuhn": kuhn.RANKS, "leduc": leduc.RANKS}


def begun(name, field, values, **options):
    """Return an environment whose seats have these cards or dice."""
    env = envs.make(name, **options)
    env.reset(seed=0)
    env.table[field][: len(values)] = values
    env.match.refresh()
    return env


def dealt(name, cards):
    return begun(name, "card", [RANKS[name].index(card) for card in cards])


def play(env, *actions, board=None):
    """Play actions; `board` is the open card of Leduc."""
    for action in actions:
        assert not env.table.done
        assert env.submit(env.agent_selection, action).ok
        if board is not None and env.table.board >= 0:
            env.table.board = leduc.RANKS.index(board)
            env.match.refresh()
    return env


def words(text):
    return map(Action, text.split())


def changed(state, **fields):
    return msgspec.structs.replace(state, game_state={**state.game_state, **fields})


@pytest.mark.parametrize(
    ("name", "cards", "moves", "won", "reason"),
    [
        ("kuhn", "KQ", "pass pass", 1, "showdown"),
        ("kuhn", "JQ", "pass pass", -1, "showdown"),
        ("kuhn", "JK", "bet pass", 1, "fold"),
        ("kuhn", "QK", "bet bet", -2, "showdown"),
        ("kuhn", "KJ", "pass bet pass", -1, "fold"),
        ("kuhn", "KJ", "pass bet bet", 2, "showdown"),
        ("leduc", "JQ", "raise fold", 1, "fold"),
        ("leduc", "JQ", "raise raise fold", -3, "fold"),
        ("leduc", "JQ", "call raise fold", -1, "fold"),
        ("leduc", "JQ", "call call raise fold", 1, "fold"),
        ("leduc", "JQ", "raise call raise raise fold", -7, "fold"),
    ],
)
def test_every_way_to_the_end_of_kuhn_and_folds_in_leduc(name, cards, moves, won, reason):
    env = play(dealt(name, cards), *words(moves))
    assert env.table.done
    assert env.rewards == {"player_0": won, "player_1": -won}
    state = env.turn_state("player_0")
    shown = dict(zip(env.possible_agents, cards, strict=True)) if reason == "showdown" else {}
    assert (state.outcome["reason"], state.game_state["shown"]) == (reason, shown)


@pytest.mark.parametrize(
    ("cards", "board", "won"), [("JK", "J", 13), ("QK", "J", -13), ("KQ", "Q", -13), ("QQ", "K", 0), ("JQ", "K", -13)]
)
def test_in_leduc_a_pair_beats_all_then_the_higher_card_and_equal_cards_split(cards, board, won):
    env = play(dealt("leduc", cards), *words("call raise raise call call raise raise call"), board=board)
    assert env.rewards == {"player_0": won, "player_1": -won}


def test_raises_of_leduc_are_two_and_four_and_two_in_a_round():
    env, chips = dealt("leduc", "JQ"), []
    for move in words("raise raise call call raise raise"):
        chips.append(play(env, move).table.chips.tolist())
    assert chips == [[3, 1], [3, 5], [5, 5], [5, 5], [5, 9], [13, 9]]
    refused = env.submit(env.agent_selection, Action("raise"))
    assert (refused.error, refused.error_detail) == ("game_rule_violation", "cannot raise now; legal: fold, call")
    assert env.turn_state("player_1").phase == "second"


@pytest.mark.parametrize("bluff", [0, 0.2, 1 / 3])
def test_equilibria_of_kuhn_are_worth_minus_one_eighteenth(bluff):
    chances = kuhn.equilibrium_chances(bluff)

    def strategy(table, mask):
        bet = chances["".join("pb"[move] for move in table.log[: table.moves])][table.card[table.turn]]
        return np.array([1 - bet, bet])

    assert chance.expected_returns(KUHN, strategy) == pytest.approx([-1 / 18, 1 / 18], abs=1e-12)


def test_agents_of_any_name_are_loaded_and_what_cannot_be_is_not():
    text = play(dealt("kuhn", "KJ"), *words("pass bet")).turn_state("player_0").to_json().decode()
    state = envs.TurnState.from_json(text.replace("player_0", "zoe").replace("player_1", "abe"))
    tables, seat = KUHN.view.load(state)
    assert (seat, tables[0].log[:2].tolist()) == (0, [0, 1])
    history = [{"agent_id": "zoe", "action": move} for move in ("bet", "pass", "bet")]
    with pytest.raises(ValueError, match="goes on after the end"):
        KUHN.view.load(changed(state, action_history=history))
    state = play(dealt("leduc", "JQ"), *words("call call"), board="K").turn_state("player_0")
    assert LEDUC.view.load(state)[0][0].board == leduc.RANKS.index("K")
    for wrong in (
        {"board": []},
        {"action_history": state.game_state["action_history"] + [{"agent_id": "player_0", "action": "fold"}] * 2},
    ):
        with pytest.raises(ValueError, match="no open card"):
            LEDUC.view.load(changed(state, **wrong))


# Liar's dice.


def rolled(*dice, **options):
    return begun("liars_dice", "die", dice, dice=len(dice) // 2, **options)


def bid(quantity, face):
    return Action("bid", {"quantity": quantity, "face": face})


@pytest.mark.parametrize(
    ("dice", "bids", "wild", "won"),
    [
        ((3, 4), [(1, 5)], True, -1),
        ((3, 6), [(2, 3)], True, 1),
        ((3, 6), [(2, 3)], False, -1),
        ((1, 1, 2, 6), [(3, 1)], True, 1),
        ((1, 1, 2, 6), [(2, 1), (3, 1)], False, 1),
    ],
)
def test_a_bid_that_holds_wins_for_the_bidder(dice, bids, wild, won):
    env = play(rolled(*dice, wild=wild), *(bid(*one) for one in bids), Action("liar"))
    assert env.rewards == {"player_0": won, "player_1": -won}
    state, half = env.turn_state("player_0"), len(dice) // 2
    assert state.outcome["reason"] == ("bid_held" if won == (1 if len(bids) == 1 else -1) else "bid_failed")
    assert state.outcome["winner"] == ("player_0" if won > 0 else "player_1")
    assert state.game_state["shown"] == {"player_0": sorted(dice[:half]), "player_1": sorted(dice[half:])}


def test_a_bid_is_higher_by_quantity_then_by_face():
    env = rolled(1, 2)
    assert env.submit("player_0", Action("liar")).error == "game_rule_violation"  # of nothing
    play(env, bid(1, 4))
    for lower in (bid(1, 4), bid(1, 3)):
        refused = env.submit("player_1", lower)
        assert refused.error == "game_rule_violation" and "is not higher than 1 times 4" in refused.error_detail
    assert env.submit("player_1", bid(2, 1)).ok


def test_action_indices_are_those_of_openspiel():
    game = envs.game("liars_dice", dice=2)
    actions = [game.view.encode(rolled(1, 2, 3, 4).table, index).action for index in range(25)]
    assert actions == [*(bid(1 + i // 6, 1 + i % 6) for i in range(24)), Action("liar")]


@pytest.mark.parametrize(
    ("dice", "bids", "plays"),
    [
        ((2, 5), [], bid(1, 2)),
        ((2, 5), [(1, 2)], Action("liar")),
        ((2, 5), [(2, 3)], Action("liar")),
        ((2, 2, 5, 5), [(1, 5)], bid(2, 5)),
    ],
)
def test_the_careful_bot_says_what_is_likely(dice, bids, plays):
    env = play(rolled(*dice), *(bid(*one) for one in bids))
    game, seat = env.game, int(env.table.turn)
    (action,) = game.bots["careful"](game, seed=1).act(
        game.observation(env.table, seat)[None], game.mask(env.table, seat)[None]
    )
    assert game.view.encode(env.table, int(action)).action == plays


def test_a_state_of_another_game_is_not_loaded():
    state = play(rolled(1, 2), bid(1, 4)).turn_state("player_1")
    told = r"dice, faces, wild are \[1, 6, True\]; this game was made for \[1, 5, True\]"
    with pytest.raises(ValueError, match=told):
        envs.game("liars_dice", faces=5).view.load(state)
    history = [{"agent_id": "player_0", "action": "bid", "quantity": 3, "face": 1}]
    with pytest.raises(ValueError, match="a bid of 3 times 1: quantity is from 1 to 2"):
        envs.game("liars_dice").view.load(changed(state, action_history=history))
