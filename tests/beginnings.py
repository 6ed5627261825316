"""Episodes and records that have just begun."""

from parlour.envs import GameEnv, make


def episode(game, seed=1, **options):
    """Return an environment of a game, or of the name of one, in an episode that has just begun."""
    env = make(game, **options) if isinstance(game, str) else GameEnv(game, **options)
    env.reset(seed=seed)
    return env


def record(game, stream=None):
    """Return a record of a game that has just begun; None: from the stream that a blank one has."""
    table = game.tables(1)[0]
    if stream is not None:
        table.stream = stream
    game.rules.reset(table)
    return table
