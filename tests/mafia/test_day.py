"""The rules of mafia by named situation: discussion and vote."""

import pytest
from matches import SEVEN, alive, match, night, ok, state, talk, vote
from parlour import envs
from parlour.envs import Action
from parlour.envs.mafia.table import DISCUSSION, VOTING

# Discussion.


def test_day_one_speaks_in_seat_order_and_each_later_day_starts_two_seats_further():
    env = match("v v m d s v v v v v", seed=1)
    for opener, victim, saved in (("p1", "p1", "p1"), ("p3", "p2", "p2"), ("p5", "p1", "p1")):
        night(env, victim, saved, "p1")
        order = []
        while env.table.phase == DISCUSSION:
            order.append(int(env.table.turn))
            ok(env, Action("say", {"type": "general"}))
        assert order[0] == int(opener[1:]) - 1
        assert order == [(order[0] + i) % 10 for i in range(10)]
        vote(env, *[None] * 10)


def test_every_living_player_speaks_once_in_each_discussion_round():
    env = match("m d s v v", discussion_rounds=3)
    night(env, "p4", "p4", "p1")
    order = []
    while env.table.phase == DISCUSSION:
        order.append(env.agent_selection)
        ok(env, Action("say", {"text": f"I accuse p{env.table.turn % 5 + 1 if env.table.turn != 0 else 2}."}))
    assert order == ["p1", "p2", "p3", "p4", "p5"] * 3
    assert len(state(env)["statements"]) == 15


@pytest.mark.parametrize(
    ("payload", "error", "words"),
    [
        ({}, "invalid_payload", "give a type"),
        ({"type": "accusation"}, "invalid_payload", "an accusation needs a targetId"),
        ({"type": "accusation", "targetId": "p1"}, "game_rule_violation", "who is yourself"),
        ({"type": "accusation", "targetId": "p5"}, "game_rule_violation", "who is dead"),
        ({"type": "accusation", "targetId": "p3", "isMafia": True}, "invalid_payload", "belong to a claim"),
        ({"type": "claim"}, "invalid_payload", "a claim needs a role"),
        ({"type": "claim", "role": "sheriff", "targetId": "p3"}, "invalid_payload", "both targetId and isMafia"),
    ],
)
def test_a_statement_that_is_none_is_refused_with_what_would_be_right(payload, error, words):
    env = match(SEVEN)
    night(env, "p5", "p5", "p3", "p1")
    before = env.state().tobytes()
    result = env.submit("p1", Action("say", payload))
    assert result.error == error
    assert words in result.error_detail
    assert env.state().tobytes() == before
    assert env.messages == []


def test_muted_there_is_no_discussion_and_the_shapes_stay():
    env = match(SEVEN, talk=False)
    night(env, "p5", "p5", "p3", "p1")
    assert env.table.phase == VOTING
    loud = envs.game("mafia", seats=7)
    assert (env.game.layout.size, env.game.num_actions) == (loud.layout.size, loud.num_actions)


# Vote.


def day_one(roles=SEVEN, *, seed=0, **options):
    """Return a match before the first vote: all are alive."""
    env = match(roles, seed=seed, **options)
    mafia, sheriffs = roles.split().count("m"), roles.split().count("s")
    night(env, *["p3"] * mafia, "p3", *["p1"] * sheriffs)
    talk(env)
    return env


@pytest.mark.parametrize(
    "votes", [["p2", "p3", "p4", "p5", "p6", "p7", "p1"], ["p2", "p3", None, None, None, None, None], [None] * 7]
)
def test_all_votes_for_different_players_or_none_eliminate_nobody(votes):
    env = day_one()
    vote(env, *votes)
    assert len(alive(env)) == 7
