"""Match logs for tests."""

import numpy as np
from parlour import envs
from parlour.wrappers.record import MatchLog, Recorder


def played(path, game, seed=11, matches=1, **options):
    """Write a match of random moves; return what every seat saw before each, and at the end."""
    env, numbers, seen = envs.GameEnv(game, "flat"), np.random.default_rng(seed), []
    with MatchLog(path) as log:
        for match in range(matches):
            recorder = Recorder(log, env, seed + match, **options)
            while not env.table.done:
                seen.append([env.turn_state(agent) for agent in game.agents])
                mask = game.mask(env.table, int(env.table.turn))
                assert recorder.play(int(numbers.choice(np.flatnonzero(mask)))).ok
            seen.append([env.turn_state(agent) for agent in game.agents])
    return seen
