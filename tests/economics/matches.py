"""One match by its payloads, and many by bots."""

import numpy as np
from beginnings import episode
from parlour.envs import Action, play_until_done
from parlour.envs.core.rollout import tables_with_seed


def played(name, *actions, seed=1, **options):
    """Play payloads such as ``("send", {"amount": 3})`` or ``"pass"`` by whoever has the turn; all must be accepted."""
    env = episode(name, seed, **options)
    for action in actions:
        kind, payload = (action, {}) if isinstance(action, str) else action
        result = env.submit(env.agent_selection, Action(kind, payload))
        assert result.ok, result
    return env


def utilities(env):
    assert env.table.done
    return [row["utility"] for row in env.turn_state("player_0").outcome["payoffs"]]


def seen_as_our_own(env, state_of, ids, **told):
    """Assert that the acting seat sees a platform's state, ``state_of(its id, phase, **told)``, as our own one."""
    game, seat = env.game, env.game.agents.index(env.agent_selection)
    (table,), place = game.view.load(state_of(ids[seat], env.turn_state(env.agent_selection).phase, **told))
    assert place == seat
    assert (game.observation(table, seat) == game.observation(env.table, seat)).all()
    assert (game.mask(table, seat) == game.mask(env.table, seat)).all()


def tables_after(game, *bots, count=1, seed=1):
    """Return the tables after matches of bots, the last of which has all further seats, too."""
    tables, seats = tables_with_seed(game, count, seed), np.minimum(np.arange(game.seats), len(bots) - 1)
    policies = [game.bots[name](game, seed=1) for name in bots]
    play_until_done(game, policies, tables, who=lambda rows: np.tile(seats, (len(rows), 1)))
    return tables
