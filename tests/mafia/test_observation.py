"""What the observation holds, slice by slice, in named situations."""

import numpy as np
import pytest
from matches import match, night, ok, talk, vote
from parlour.envs import Action


def seen(env, agent):
    """Every slice that `agent` observes, by path, in its shape."""
    game = env.game
    flat = game.observation(env.table, game.agents.index(agent))
    return {
        part.path.removeprefix("game_state."): flat[part.start : part.stop].reshape(part.shape) for part in game.layout
    }


def ones(slice_):
    return [tuple(map(int, at)) if len(at) > 1 else int(at[0]) for at in np.argwhere(slice_)]


def one_day(**options):
    """Night 1: p5 dies, p4 checks p1. All talk; p6 is voted out. It is night 2."""
    env = match("m m d s v v v v v", **options)
    night(env, "p5", "p5", "p3", "p1")
    talk(
        env,
        "I am the sheriff, and p4 is mafia.",
        "I am a villager.",
        "I am the doctor.",
        "I accuse p1.",
        "p2 is mafia.",
        "I am innocent.",
        "I trust p9.",
        "I accuse p2.",
    )
    vote(env, "p4", "p6", "p6", "p1", "p7", "p6", None, "p6")
    return env


def test_the_first_night():
    env = match("v m d s v m")
    first = seen(env, "p2")
    assert ones(first["phase"]) == [0]
    assert first["is_my_turn"] == 1
    assert ones(first["current_turn_agent_id"]) == [0]
    assert ones(first["players.role"]) == [(0, 0), (4, 0)]  # itself, and p6
    assert first["mafiaCount"] == pytest.approx(2 / 6)
    other = seen(env, "p1")
    assert not other["current_turn_agent_id"].any()
    assert ones(other["players.role"]) == [(0, 3)]
    assert other["players.alive"].all()


def test_private_knowledge():
    env = one_day()
    assert seen(env, "p4")["privateKnowledge.investigationResults"].tolist() == [0, 0, 0, 0, 0, 0, 1, 0, 0]
    assert not seen(env, "p3")["privateKnowledge.investigationResults"].any()
    assert ones(seen(env, "p3")["privateKnowledge.lastProtected"]) == [0]
    assert not seen(env, "p4")["privateKnowledge.lastProtected"].any()


def test_who_said_what_of_whom():
    env = one_day()
    view = seen(env, "p1")
    said = {(0, 3): 1, (3, 0): 0.5, (5, 1): 0.5, (6, 6): -0.5, (7, 8): -0.5, (8, 1): 0.5}
    assert {at: view["statements.today"][at] for at in ones(view["statements.today"])} == said
    assert np.array_equal(view["statements.today"], view["statements.stance"])
    assert ones(view["statements.claimed"]) == [(0, 2), (1, 3), (2, 1)]
    assert view["statements.made"].tolist() == [0.5] * 4 + [0] + [0.5] * 4
    night(env, "p9", "p9", "p9", "p2")
    assert env.agent_selection == "p3"
    ok(env, Action("say", {"text": "I trust p9."}))
    ok(env, Action("say", {"text": "I defend p1."}))
    assert seen(env, "p1")["statements.stance"][3, 0] == -0.5
    talk(env)
    assert seen(env, "p1")["statements.stance"][0, 3] == 1  # a result stays


def test_suspicion_by_hand():
    env = one_day()
    # Accusations: p1 1, p2 2, p4 1; of seven living: average 4/7.
    average = 4 / 7
    p6 = 50 + 3 * 1 - 20 + 8
    expected = [
        50 + 3 + 5 * (1 - average) - 10,  # p1 found p4, whom it voted for: consistent
        50 + 3 + 5 * (2 - average) + 8,  # p2 voted for p6, whom it had not accused: bandwagon
        50 + 3 + 8,
        50 + 3 + 5 * (1 - average) - 10,
        50 + 3 * 0 - 20,  # killed in the first night
        p6 - 8,  # voted out on day one; it had accused p2, and voted for p7
        50 + 3 + 8 + 8,  # defended itself, bandwagon
        50 + 3,
        50 + 3 + 8,
    ]
    public = [*expected[:3], expected[3] + 30, *expected[4:]]  # p1 alone claims to be sheriff
    assert np.roll(100 * seen(env, "p9")["suspicion"], 8) == pytest.approx(public)
    own = np.roll(100 * seen(env, "p4")["suspicion"], 3)  # the sheriff knows better than p1, who claims to be one
    assert own[0] == pytest.approx(expected[0] + 30)
