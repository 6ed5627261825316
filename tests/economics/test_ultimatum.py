"""Ultimatum: unanimous consent to a division of shares, by named situation; the best offer of theory."""

import numpy as np
import pytest
from economics.matches import played, tables_after, utilities
from parlour import envs
from parlour.envs import Action, TurnState
from parlour.envs.economics.ultimatum import best_demand

KNOWN = {"reservations": (0, 0)}


def offer(*shares):
    return "submit_offer", {"shares": {f"player_{seat}": share for seat, share in enumerate(shares)}}


def submit(env, kind, payload=None):
    return env.submit(env.agent_selection, Action(kind, payload or {}))


def seen_by(env, agent):
    return env.turn_state(agent).game_state


def test_two_agree():
    env = played("ultimatum", offer(70.5, 29.5), "accept", reservations=[(10, 10), (20, 20)])
    assert utilities(env) == [60.5, 9.5]
    outcome = env.turn_state("player_1").outcome
    assert (outcome["reason"], outcome["split"]) == ("agreement", {"player_0": 70.5, "player_1": 29.5})
    assert outcome["payoffs"][1] == {"agent_id": "player_1", "share": 29.5, "utility": 9.5}


def test_all_others_need_to_accept_and_who_has_accepted_waits():
    env = played("ultimatum", offer(50, 30, 20), "accept", "pass", "pass", seats=3, **KNOWN)
    assert seen_by(env, "player_2")["acceptances"] == {"player_1": True}
    assert env.agent_selection == "player_2"
    assert "offer by player_0, accepted by player_1" in env.game.renderer.text([env.turn_state("player_2")])
    assert submit(env, "accept").ok
    assert utilities(env) == [50, 30, 20]


@pytest.mark.parametrize("last", ["reject", offer(20, 30, 50)])
def test_a_rejection_or_another_offer_makes_acceptances_void(last):
    env = played("ultimatum", offer(50, 30, 20), "accept", last, seats=3, **KNOWN)
    seen = seen_by(env, "player_0")
    assert seen["acceptances"] == {}
    if last == "reject":
        assert seen["last_offer_by"] == "player_0"
        assert seen["current_offer"] == {"player_0": 50, "player_1": 30, "player_2": 20}
        assert submit(env, "accept").error == "game_rule_violation"  # its own
        assert all(submit(env, kind).ok for kind in ("pass", "accept", "accept"))
        assert utilities(env) == [50, 30, 20]
    else:
        assert seen["last_offer_by"] == "player_2"
        assert submit(env, "accept").ok
        assert env.agent_selection == "player_1"


@pytest.mark.parametrize("shares", [(0, 100.009, 0), (0, 0, 100.009), (100, 0.009, 0), (30, 40, 30.009)])
def test_shares_that_sum_to_a_little_more_divide_no_more_than_the_total(shares):
    env = played("ultimatum", offer(*shares), "accept", "accept", seats=3, **KNOWN)
    split = env.turn_state("player_0").outcome["split"]
    assert sum(split.values()) == pytest.approx(100, abs=1e-9)
    assert list(split.values()) == pytest.approx(shares, abs=0.01)
    assert max(utilities(env)) <= env.game.payoffs.high


@pytest.mark.parametrize("seats", [2, 3, 4])
@pytest.mark.parametrize(("low", "high"), [(0, 100 / 4), (10, 20), (0, 60)])
def test_no_other_equal_offer_is_better(seats, low, high):
    """The only proposer's gain, by trying every offer."""
    offers = np.linspace(low, high, 10_001)
    for own in (0.0, 15.0, 40.0):
        gains = (100 - (seats - 1) * offers - own) * ((offers - low) / (high - low)) ** (seats - 1)
        best = offers[gains.argmax()] if gains.max() > 0 else None
        demand = float(best_demand(seats, 100.0, np.array(own), low, high))
        if best is None:
            assert demand == own
        else:
            assert (100 - demand) / (seats - 1) == pytest.approx(best, abs=0.01)


def totals(game, *names, count=4_000):
    return tables_after(game, *names, count=count, seed=3)["total"][:, : game.seats]


def test_subgame_perfect_play_with_known_values():
    game = envs.game("ultimatum", seats=3, reservations=(10, 10), offers=201)
    assert totals(game, "equilibrium", count=5)[0].tolist() == [70, 0, 0]


@pytest.mark.parametrize("other", ["equal", "concede", "random"])
@pytest.mark.parametrize("options", [{"max_rounds": 1}, {"reservations": (10, 10)}], ids=["one round", "known values"])
@pytest.mark.parametrize("seats", [2, 3])
def test_no_bot_gains_by_leaving_the_equilibrium(seats, options, other):
    game = envs.game("ultimatum", seats=seats, **options)
    usual = totals(game, "equilibrium").mean(axis=0)
    assert totals(game, other, "equilibrium")[:, 0].mean() <= usual[0] + 0.1


@pytest.mark.parametrize("shares", [None, "half each", [50, 50]])
def test_an_offer_without_shares_is_none_to_accept(shares):
    told = {"agent_ids": ["ann", "bob"], "total": 100, "last_offer_by": "bob", "current_offer": shares}
    game = envs.game("ultimatum")
    tables, seat = game.view.load(TurnState("m", "ultimatum", "ann", "negotiation", True, "ann", told))
    assert [offer.action_type for offer in game.turn_state(tables[0], seat).allowed_actions] == [
        "submit_offer", "pass", "message_only"
    ]  # fmt: skip


def test_a_state_of_the_platform_is_read():
    told = {
        "num_agents": 3, "agent_ids": ["bob", "ann", "joe"], "total": 100, "last_offer_by": "joe",
        "current_offer": {"bob": "20", "ann": 30, "joe": 50}, "acceptances": {"bob": True},
        "my_reservation_value": 12.5,
        "action_history": [
            {"agent_id": "joe", "action": "submit_offer", "shares": {"bob": 20, "ann": 30, "joe": 50}, "round": 0},
            {"agent_id": "bob", "action": "accept", "round": 1},
            {"agent_id": "ann", "action": "message_only", "round": 1, "advances_turn": False},
        ],
    }  # fmt: skip
    game = envs.game("ultimatum", seats=3)
    tables, seat = game.view.load(TurnState("m", "ultimatum", "ann", "negotiation", True, "ann", told))
    table = tables[0]
    assert (seat, table.turn, table.owner, table.standing, table.within) == (1, 1, 2, 50, 0b110)
    assert table.number[0, :3].tolist() == [20, 30, 50]
    choices = game.layout["game_state.choices"]
    assert game.observation(table, 1)[choices.start : choices.stop].tolist() == pytest.approx([0.3, 0.5, 0.2])
    assert game.mask(table, 1)[game.num_actions - 3]  # accept
