"""Kuhn poker by named situation, its equilibria, and what may be loaded."""

import sys
from types import ModuleType

import msgspec
import numpy as np
import pytest
from parlour import envs
from parlour.envs import Action, play_until_done
from parlour.envs.core import chance
from parlour.envs.core.rollout import tables_with_seed
from parlour.envs.small import kuhn
from parlour.envs.small.kuhn import RANKS, equilibrium_chances
from parlour.wrappers.rl.self_play_tables import SelfPlayTables

GAME = envs.game("kuhn")


def dealt(cards):
    env = envs.make("kuhn")
    env.reset(seed=0)
    env.table.card[:] = [RANKS.index(card) for card in cards]
    env.match.refresh()
    return env


@pytest.mark.parametrize(
    ("cards", "moves", "won", "reason"),
    [
        ("KQ", "pass pass", 1, "showdown"),
        ("JQ", "pass pass", -1, "showdown"),
        ("JK", "bet pass", 1, "fold"),
        ("QK", "bet bet", -2, "showdown"),
        ("KJ", "pass bet pass", -1, "fold"),
        ("KJ", "pass bet bet", 2, "showdown"),
    ],
)
def test_every_way_to_the_end(cards, moves, won, reason):
    env = dealt(cards)
    for move in moves.split():
        assert not env.table.done
        assert env.submit(env.agent_selection, Action(move)).ok
    assert env.table.done
    assert env.rewards == {"player_0": won, "player_1": -won}
    state = env.turn_state("player_0")
    assert state.outcome["reason"] == reason
    shown = dict(zip(env.possible_agents, cards, strict=True))
    assert state.game_state["shown"] == (shown if reason == "showdown" else {})


def strategy(bluff):
    chances = equilibrium_chances(bluff)

    def play(table, mask):
        bet = chances["".join("pb"[move] for move in table.log[: table.moves])][table.card[table.turn]]
        return np.array([1 - bet, bet])

    return play


@pytest.mark.parametrize("bluff", [0, 0.2, 1 / 3])
def test_equilibria_are_worth_minus_one_eighteenth(bluff):
    assert chance.expected_returns(GAME, strategy(bluff)) == pytest.approx([-1 / 18, 1 / 18], abs=1e-12)


@pytest.mark.parametrize("other", ["equilibrium", "honest", "maniac", "random"])
def test_nobody_wins_from_the_equilibrium_bot_but_by_the_seat(other):
    players = [GAME.bots["equilibrium"](GAME, seed=1), GAME.bots[other](GAME, seed=2)]
    won = []
    for seat, expected in ((0, -1 / 18), (1, 1 / 18)):
        seats = np.tile([0, 1] if seat == 0 else [1, 0], (20_000, 1))
        returns = play_until_done(GAME, players, tables_with_seed(GAME, 20_000, 3), who=lambda _, seats=seats: seats)
        won.append(returns[:, seat].mean())
        assert won[-1] > expected - 0.045
    if other == "equilibrium":
        assert won == pytest.approx([-1 / 18, 1 / 18], abs=0.045)


def test_agents_of_any_name_are_loaded_and_a_history_beyond_the_end_is_refused():
    env = dealt("KJ")
    for move in ("pass", "bet"):
        env.submit(env.agent_selection, Action(move))
    text = env.turn_state("player_0").to_json().decode()
    state = envs.TurnState.from_json(text.replace("player_0", "zoe").replace("player_1", "abe"))
    tables, seat = GAME.view.load(state)
    assert seat == 0
    assert tables[0].log[:2].tolist() == [0, 1]
    history = [{"agent_id": "zoe", "action": move} for move in ("bet", "pass", "bet")]
    wrong = msgspec.structs.replace(state, game_state={**state.game_state, "action_history": history})
    with pytest.raises(ValueError, match="goes on after the end"):
        GAME.view.load(wrong)


def test_opponents_that_were_saved_when_the_bots_were_elsewhere_load(tmp_path, monkeypatch):
    """Runs of version 0.2 name the class of a bot by the module in which it was then."""
    tables = SelfPlayTables(GAME, 4)
    tables.reset(seed=3)
    tables.policies = [GAME.bots["maniac"](GAME)]
    before = ModuleType("parlour.envs.kuhn.bots")
    before.Bot = kuhn.Bot
    with monkeypatch.context() as then:
        then.setitem(sys.modules, before.__name__, before)
        then.setattr(kuhn.Bot, "__module__", before.__name__)
        tables.save(tmp_path / "tables.pkl")
    assert before.__name__.encode() in (tmp_path / "tables.pkl").read_bytes()
    again = SelfPlayTables(GAME, 4)
    again.load(tmp_path / "tables.pkl")
    assert isinstance(again.policies[0], kuhn.Bot)
