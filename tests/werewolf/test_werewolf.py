"""Werewolf: the rules in which it differs from mafia, its payloads, and the states of strategic-agent-games."""

import numpy as np
import pytest
from parlour import envs
from parlour.envs import Action, AgentResponse, GameEnv, Message, TurnState
from parlour.envs.core.turn_state import MessageScope
from parlour.envs.mafia.table import MAFIA, SHERIFF, VILLAGER
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.arena.agent import ArenaAgent
from parlour.wrappers.policies.base import RandomPolicy

ROLES = [MAFIA, MAFIA, SHERIFF, VILLAGER, VILLAGER, VILLAGER]


def match(*actions):
    """Play payloads by whoever has the turn; p1 and p2 are werewolves, p3 is the seer. All must be accepted."""
    env = GameEnv(envs.game("werewolf"))
    env.reset(seed=1)
    env.table.role[:6], env.table.turn = ROLES, 0
    env.match.refresh()
    env.agent_selection = "p1"
    for action in actions:
        result = env.submit(env.agent_selection, action)
        assert result.ok, result
    return env


def kill(target):
    return Action("night_kill", {"target": target})


def inspect(target):
    return Action("seer_inspect", {"inspect": target})


def vote(target):
    return Action("cast_vote", {"target": target})


def say(text):
    return Action("send_public_message", {"content": text})


READY = Action("ready_to_vote")
NIGHT = kill("p4"), kill("p6"), inspect("p1")


def state(env, agent=None):
    return env.turn_state(agent or env.agent_selection)


def offered(env):
    return [one.action_type for one in state(env).allowed_actions]


def test_werewolves_cannot_be_nominated_and_the_seer_may_inspect_itself():
    env = match()
    assert env.submit("p1", kill("p2")).error == "game_rule_violation"
    env = match(kill("p4"), kill("p4"))
    assert (state(env).phase, offered(env)) == ("night_seer", ["seer_inspect", "message_only"])
    assert env.submit("p3", inspect("p3")).ok


def test_more_than_half_ready_end_the_discussion():
    env = match(*NIGHT, READY, READY)
    assert (state(env).phase, state(env).game_state["players_ready_to_vote"]) == ("day_discuss", ["p1", "p2"])
    assert offered(env) == ["send_public_message", "ready_to_vote"]
    assert state(match(*NIGHT, READY, READY, READY)).phase == "day_vote"


def test_votes_are_open_and_must_be_cast():
    env = match(*NIGHT, READY, READY, READY, vote("p5"))
    assert (state(env).agent_id, state(env).game_state["votes_so_far"]) == ("p2", {"p1": "p5"})
    assert env.submit("p2", vote("p2")).error == "game_rule_violation"
    assert not state(env).game_state["voting_history"]


@pytest.mark.parametrize(
    ("votes", "lynched"),
    [("p5 p5 p1 p1 p1", "p1"), ("p5 p5 p1 p1 p2", None), ("p2 p3 p4 p5 p1", None), ("p5 p5 p5 p5 p1", "p5")],
)
def test_the_most_votes_lynch_and_ties_do_not(votes, lynched):
    env = match(*NIGHT, READY, READY, READY, *map(vote, votes.split()))
    row = state(env, "p1").game_state["event_log"][-1]
    assert (row["type"], row.get("agent_id")) == (("lynched", lynched) if lynched else ("no_lynch", None))
    assert sum(row["votes"].values()) == 5


@pytest.mark.parametrize(
    ("votes", "more", "phase"),
    [("p5 p5 p5 p5 p1", [], "day_vote"), ("p5 p5 p1 p1 p2", [kill("p4"), kill("p4"), inspect("p2")], "night_seer")],
)
def test_the_werewolves_win_at_half_of_the_living(votes, more, phase):
    env = match(*NIGHT, READY, READY, READY, *map(vote, votes.split()))
    for action in more:
        assert not env.table.done and env.submit(env.agent_selection, action).ok
    outcome = state(env, "p1").outcome
    assert (outcome["winner"], outcome["reason"]) == ("werewolves", "werewolves_win")
    assert [row["utility"] for row in outcome["payoffs"]] == [1, 1, -1, -1, -1, -1]
    assert state(env, "p1").phase == phase


def test_statements_are_read_in_the_words_of_werewolf():
    env = match(*NIGHT, say("p3 is the wolf!"), say("Hm."), READY)
    rows = [(row["agent_id"], row["action"], row["target"]) for row in state(env).game_state["statements"]]
    assert rows == [("p1", "accusation", "p3"), ("p2", "general", None), ("p3", "ready_to_vote", None)]
    env = match(*NIGHT, READY, say("I am the seer, and p1 is a werewolf."))
    claim = {"agent_id": "p2", "day": 1, "action": "claim", "target": "p1", "role": "seer", "is_werewolf": True}
    assert state(env).game_state["statements"][1] == claim
    assert state(env).messages[-1].content == "I am the seer, and p1 is a werewolf."


# strategic-agent-games.

IDS = ["ann", "bob", "cy", "dee", "eve", "fay"]


def foreign(me, phase, offers=(), messages=(), turn=None, **more):
    """A state as the platform writes it: bob and fay are werewolves, cy is the seer, dee died in the first night."""
    role = {"bob": "werewolf", "fay": "werewolf", "cy": "seer"}.get(me, "villager")
    dead = {"day": 1, "type": "killed", "agent_id": "dee", "role": "villager"}
    day = not phase.startswith("night")
    told = {
        "num_players": 6, "agent_ids": IDS, "my_role": role, "my_team": "village", "day": 1, "phase": phase,
        "alive_players": [one for one in IDS if one != "dee" or not day], "dead_players": ["dee"] if day else [],
        "event_log": [dead] if day else [], "last_killed": {"agent_id": "dee", "role": "villager"} if day else None,
        "last_lynched": None, "role_counts": {"werewolf": 2, "seer": 1, "villager": 3}, "current_round": 3,
        "max_rounds": 250, **more,
    }  # fmt: skip
    allowed = [{"action_type": one, "payload_schema": {}} for one in offers]
    fields = {"match_id": "m", "game_id": "werewolf", "agent_id": me, "phase": phase, "is_my_turn": True}
    said = [Message(str(k), who, MessageScope.PUBLIC, text) for k, (who, text) in enumerate(messages)]
    turn = turn or me
    return TurnState.from_dict({
        **fields, "current_turn_agent_id": turn, "game_state": told, "allowed_actions": allowed,
        "messages": [one.to_dict() for one in said],
    })  # fmt: skip


def test_a_werewolf_sees_its_fellow_and_the_nomination():
    game = envs.game("werewolf")
    more = {"fellow_werewolves": ["bob"], "pending_kill": "ann", "werewolf_nominations": {"bob": "ann"}}
    tables, seat = game.view.load(foreign("fay", "night_werewolf", **more))
    table = tables[0]
    assert (seat, table.turn, table.role[:6].tolist()) == (5, 5, [0, MAFIA, 0, 0, 0, MAFIA])
    assert table.night[:6].tolist() == [-1, 0, -1, -1, -1, -1]
    assert np.flatnonzero(game.mask(table, 5)).tolist() == [1, 3, 4, 5]  # ann, cy, dee, eve, as seen from fay


def test_a_voter_sees_the_votes_and_what_was_said():
    game = envs.game("werewolf")
    said = [("ann", "I think bob is a werewolf."), ("bob", "I am the seer and eve is not a wolf."), ("eve", "Well!")]
    state = foreign("cy", "day_vote", messages=said, votes_so_far={"ann": "bob", "bob": "ann"},
                    my_inspections=[{"day": 1, "target": "bob", "is_werewolf": True}])  # fmt: skip
    table = game.view.load(state)[0][0]
    assert table.votes[:6].tolist() == [1, 0, -1, -1, -1, -1]
    assert (table.role[1], table.claimed[1], table.accused[1]) == (MAFIA, SHERIFF, 1)
    assert np.flatnonzero(game.mask(table, 2)).tolist() == [8, 9, 10, 11]  # eve, fay, ann, bob, as seen from cy


@pytest.mark.parametrize("offers", [["acknowledge"], ["send_public_message", "ready_to_vote"], ["cast_vote"]])
@pytest.mark.parametrize("options", [{}, {"seats": 10, "fewest": 6}])
def test_our_agent_answers_every_phase(offers, options):
    phase = {"acknowledge": "day_announce", "cast_vote": "day_vote"}.get(offers[0], "day_discuss")
    agent = ArenaAgent("ann", PolicyAgent(envs.game("werewolf", **options), RandomPolicy()))
    answer = agent.respond(foreign("ann", phase, [*offers, "message_only"]))
    assert answer.action.action_type in offers and agent.statistics.replaced == 0
    assert answer.action.payload.get("target", "bob") in IDS


def test_what_is_said_is_a_message_on_the_platform_with_no_null():
    agent = ArenaAgent("me", PolicyAgent(envs.game("werewolf"), RandomPolicy()))
    turn = agent.turn(foreign("ann", "day_discuss", ["send_public_message", "ready_to_vote"]))
    sent = turn.read(AgentResponse(Action("send_public_message", {"content": "I accuse p2."})))
    assert [(one.content, one.to_agent_ids) for one in sent.messages] == [("I accuse p2.", [])]


def test_the_number_of_players_is_drawn_with_two_werewolves_and_the_view_shows_those_who_play():
    game = envs.game("werewolf", seats=10, fewest=6)
    tables, counts = game.tables(1), set()
    for seed in range(40):
        tables.stream = seed
        game.rules.reset(tables[0])
        players = int(tables.players[0])
        counts.add(players)
        assert (tables.role[0] == MAFIA).sum() == tables.living_mafia[0] == 2
        shown = game.turn_state(tables[0], int(tables.turn[0])).game_state
        assert shown["num_players"] == len(shown["agent_ids"]) == players
        assert shown["role_counts"] == {"werewolf": 2, "seer": 1, "villager": players - 3}
    assert counts == {6, 7, 8, 9, 10}
