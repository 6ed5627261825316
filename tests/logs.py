"""Match logs for tests, and a policy that tells what it thinks."""

import numpy as np
from parlour import envs
from parlour.wrappers.logs.match_log import MatchLog, Recorder


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


class Even:
    """A policy that takes everything to be as likely, and expects a quarter."""

    def act(self, observations, masks):
        return masks.argmax(axis=1)

    def probabilities(self, observations, masks):
        return masks / masks.sum(axis=1, keepdims=True)

    def values(self, observations):
        return [0.25] * len(observations)
