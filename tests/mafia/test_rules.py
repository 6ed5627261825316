"""The rules of mafia by named situation."""

from collections import Counter

import numpy as np
import pytest
from matches import SEVEN, alive, drawn, match, night, state, talk, utilities, vote
from parlour import envs
from parlour.envs import Action, MessageIntent
from parlour.envs.mafia.table import DOCTOR, MAFIA, NIGHT, SHERIFF

# Set-up.


@pytest.mark.parametrize(("seats", "mafia"), [(5, 1), (6, 1), (7, 2), (9, 2), (10, 3), (13, 3), (14, 4), (20, 6)])
def test_three_in_ten_are_mafia_one_is_doctor_one_sheriff(seats, mafia):
    env = envs.make("mafia", seats=seats)
    env.reset(seed=1)
    roles = Counter(env.table.role[:seats].tolist())
    assert (roles[MAFIA], roles[DOCTOR], roles[SHERIFF]) == (mafia, 1, 1)


# Night.
INVESTIGATE_P1 = Action("nightAction", {"actionType": "INVESTIGATE", "targetId": "p1"})


def test_living_mafia_then_doctor_then_sheriff_choose_and_villagers_do_not():
    env = match("v s m d m v v")
    order = []
    while env.table.phase == NIGHT:
        order.append(env.agent_selection)
        night(env, "p1")
    assert order == ["p3", "p5", "p4", "p2"]


def test_the_target_of_most_mafia_dies():
    for seed in range(20):
        env = match("m m m d s v v v v", seed=seed)
        night(env, "p6", "p7", "p7", "p4", "p1")
        assert alive(env) == ["p1", "p2", "p3", "p4", "p5", "p6", "p8", "p9"]


def test_without_a_majority_one_of_the_submitted_targets_is_drawn():
    env = match("m m d s v v v")
    night(env, "p5", "p6", "p3")
    dead = Counter(int(table.killed) + 1 for table in drawn(env, INVESTIGATE_P1))
    assert set(dead) == {5, 6}
    assert 160 < dead[5] < 240


def test_whom_the_doctor_protects_does_not_die():
    env = match(SEVEN)
    night(env, "p5", "p5", "p5", "p1")
    assert len(alive(env)) == 7
    assert state(env, "p5")["lastNightResult"] == {"killed": None, "protected": None, "prevented": True}
    assert state(env, "p3")["lastNightResult"] == {"killed": None, "protected": "p5", "prevented": True}


def test_the_doctor_may_protect_itself_but_nobody_two_nights_running():
    env = match(SEVEN)
    night(env, "p3", "p3", "p3", "p1")
    talk(env)
    vote(env, *[None] * 7)
    night(env, "p5", "p5")
    assert "p3" not in str(env.turn_state("p3").allowed_actions[0].payload_schema)
    again = env.submit("p3", Action("nightAction", {"actionType": "PROTECT", "targetId": "p3"}))
    assert again.error == "game_rule_violation"
    assert "who was protected last night" in again.error_detail
    night(env, "p4", "p1")
    talk(env)
    vote(env, *[None] * 6)
    night(env, "p6", "p6", "p3", "p2")  # two nights later it may
    assert "p6" not in alive(env)


def test_the_wrong_night_action_is_refused():
    env = match(SEVEN)
    result = env.submit("p1", Action("nightAction", {"actionType": "PROTECT", "targetId": "p5"}))
    assert (result.error, result.error_detail) == ("game_rule_violation", "actionType 'PROTECT': yours is KILL")
    assert env.submit("p1", Action("vote", {"targetId": None})).error == "game_rule_violation"


# Who sees what.


def test_mafia_may_write_to_each_other_at_night_and_nobody_else_may_write():
    env = match(SEVEN)
    whisper = MessageIntent("private", "p5 tonight?", ["p2"])
    assert env.send("p1", whisper).ok
    assert env.submit("p1", {"action": {"action_type": "message_only"}, "messages": [whisper.to_dict()]}).ok
    assert [len(env.turn_state(agent).messages) for agent in ("p1", "p2", "p3")] == [2, 2, 0]
    for agent, intent, words in (
        ("p1", MessageIntent("public", "hello"), "a public statement is the action say"),
        ("p1", MessageIntent("private", "hello", ["p3"]), "among the living mafia: p1, p2"),
        ("p1", MessageIntent("private", "hello"), "among the living mafia"),
        ("p3", MessageIntent("private", "hello", ["p4"]), "for the living mafia, at night"),
    ):
        result = env.send(agent, intent)
        assert result.error == "game_rule_violation"
        assert words in result.error_detail
    night(env, "p5", "p5", "p3", "p1")
    assert "at night" in env.send("p1", whisper).error_detail


# End.


def test_town_wins_when_no_mafia_lives():
    env = match("m d s v v", seed=3)
    night(env, "p4", "p4", "p1")
    talk(env)
    vote(env, None, "p1", "p1", None, None)
    assert utilities(env).tolist() == [-1, 1, 1, 1, 1]
    over = env.turn_state("p2")
    assert (over.phase, over.game_over, over.outcome["winner"]) == ("END", True, "town")
    assert over.outcome["roles"]["p1"] == "mafia"
    assert over.game_state["winner"] == "town"


def test_mafia_wins_when_they_are_as_many_as_the_others_dead_players_share_it():
    env = match("m m d s v v", talk=False)
    night(env, "p5", "p5", "p3", "p1")
    vote(env, "p6", "p6", None, None, None)
    assert utilities(env).tolist() == [1, 1, -1, -1, -1, -1]
    assert env.turn_state("p5").outcome["payoffs"][4] == {"agent_id": "p5", "utility": -1.0}


def test_after_the_last_day_the_match_ends_without_reward():
    env = match("m d s v v", talk=False, max_days=2)
    night(env, "p4", "p4", "p1")
    vote(env, *[None] * 5)
    night(env, "p4", "p2", "p1")
    vote(env, *[None] * 4)
    assert env.terminations["p1"]
    assert not env.truncations["p1"]
    assert not utilities(env).any()
    assert env.turn_state("p1").outcome["reason"] == "max_days_exceeded"


# What stands in for an agent that gives no answer.


def test_the_safe_action_is_a_drawn_target_nothing_of_note_an_abstention():
    chosen = Counter()
    for seed in range(40):
        env = match(SEVEN, seed=seed)
        assert env.submit("p1", Action("pass")).ok
        chosen[state(env, "p1")["nightActions"]["p1"]] += 1
    assert len(chosen) == 6
    night(env, "p5", "p3", "p1")
    assert env.submit(env.agent_selection, Action("pass")).ok
    assert state(env)["statements"][0]["type"] == "general"
    talk(env)
    assert env.submit(env.agent_selection, Action("pass")).ok
    assert env.table.votes[env.table.turn - 1] == -1


def test_the_number_of_players_is_drawn_for_each_match_and_the_other_seats_stay_empty():
    table = envs.game("mafia", seats=12, fewest=5)
    tables = table.tables(1)
    seen = set()
    for seed in range(60):
        tables.stream = seed
        table.rules.reset(tables[0])
        players = int(tables.players[0])
        seen.add(players)
        roles = tables.role[0, :12]
        assert (roles[:players] > 0).all() and not roles[players:].any() and not tables.alive[0, players:12].any()
        assert (roles == MAFIA).sum() == max(1, 3 * players // 10) == tables.living_mafia[0]
        assert tables.living[0] == players
        while not tables.done[0]:
            assert tables.turn[0] < players
            legal = np.flatnonzero(table.mask(tables[0], int(tables.turn[0])))
            table.rules.play(tables[0], int(legal[seed % len(legal)]))
        assert not tables.rewards[0, players:].any()
    assert seen == set(range(5, 13))
