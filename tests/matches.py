"""Matches by name: a table with known roles, and nights, statements and votes as words."""

import numpy as np
from parlour.envs import Action, GameEnv, game
from parlour.envs.core.rng import streams
from parlour.envs.mafia.table import ROLES

SEVEN = "m m d s v v v"
"""Roles of a match of seven."""


def match(roles, *, seed=0, **options):
    """Return an environment of a match just begun with these roles, such as ``"m d s v v"``; p1 has the first."""
    letters = roles.split()
    counts = {"mafia": letters.count("m"), "doctors": letters.count("d"), "sheriffs": letters.count("s")}
    env = GameEnv(game("mafia", seats=len(letters), **counts, **options), "flat")
    env.reset(seed=seed)
    env.table.role[: len(letters)] = [next(i for i, role in enumerate(ROLES) if role[0] == one) for one in letters]
    env.table.turn = letters.index("m")
    env.match.refresh()
    env._select()
    return env


KINDS = {"m": "KILL", "d": "PROTECT", "s": "INVESTIGATE"}


def night(env, *targets):
    """Let the mafia, the doctors and the sheriffs choose, in this order: ``night(env, "p4", "p2", "p1")``."""
    for target in targets:
        kind = KINDS[ROLES[env.table.role[env.table.turn]][0]]
        ok(env, Action("nightAction", {"actionType": kind, "targetId": target}))


def talk(env, *texts):
    """Let the next speakers say these texts, then all others nothing of note until the vote."""
    for text in texts:
        ok(env, Action("say", {"text": text}))
    while env.turn_state("p1").phase == "DAY_DISCUSSION":
        ok(env, Action("say", {"type": "general"}))


def vote(env, *targets):
    """Cast votes in seat order, the living only; None abstains."""
    for target in targets:
        ok(env, Action("vote", {"targetId": target}))


def ok(env, action):
    result = env.submit(env.agent_selection, action)
    assert result.ok, result.error_detail


def drawn(env, action, count=400):
    """Yield the record after `action`, `count` times, with other streams."""
    move = env.game.view.parse(env.table, action)
    for stream in streams(0, count):
        table = env.table.copy()
        table.stream = stream
        env.game.rules.step(table, move)
        yield table


def alive(env):
    return [f"p{seat + 1}" for seat in range(env.game.seats) if env.table.alive[seat]]


def state(env, agent="p1"):
    return env.turn_state(agent).game_state


def utilities(env):
    return np.array([env.rewards[agent] for agent in env.game.agents])
