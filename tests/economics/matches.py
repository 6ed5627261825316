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
