"""One match by its payloads."""

from parlour import envs
from parlour.envs import Action, GameEnv


def played(name, *actions, seed=1, **options):
    """Play payloads such as ``("send", {"amount": 3})`` or ``"pass"`` by whoever has the turn; all must be accepted."""
    env = GameEnv(envs.game(name, **options))
    env.reset(seed=seed)
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
