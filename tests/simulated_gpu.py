"""Plays a game on Numba's CUDA simulator and prints what came out, as JSON. Run with ``NUMBA_ENABLE_CUDASIM=1`` and
``NUMBA_DISABLE_JIT=1``, in a process of its own: ``python simulated_gpu.py kuhn-v0``."""

import json
import pickle
import sys
from hashlib import sha256

import numpy as np
from parlour import envs
from parlour.envs import VectorGame

TABLES, STEPS = 3, 100
"""A few hundred decisions."""


def host(array):
    return array.copy_to_host() if hasattr(array, "copy_to_host") else array


def state(made):
    arrays = made.tables, made.observations, made.action_masks, made.turn, made.rewards, made.dones
    return b"".join(host(array).tobytes() for array in arrays)


def digest(made, steps=STEPS):
    """A checksum of every array after every step of random play."""
    seen = sha256(state(made))
    for _ in range(steps):
        made.step(made.sample())
        seen.update(state(made))
    return seen.hexdigest()


def error(call):
    try:
        call()
    except (ValueError, RuntimeError) as refused:
        return str(refused)


def report(game_id, device):
    """What a device makes of a game. Every device must report the same."""
    made = VectorGame(envs.game(game_id), TABLES, device=device)
    unseeded = error(made.sample), error(lambda: made.step([0] * TABLES))
    made.reset(seed=7)
    played = digest(made)
    clone, loaded = made.clone(), pickle.loads(pickle.dumps(made))
    copies = [digest(one, 5) for one in (made, clone, loaded)]
    before = state(made)
    refused = [error(lambda bad=bad: made.step(bad)) for bad in ([-1, 999, -1], [0.5] * TABLES, [0], [-1, -1, -2])]
    unchanged = state(made) == before
    made.step(np.full(TABLES, -1, np.int32))
    stayed = sha256(state(made)).hexdigest()
    made.reset()
    again = digest(made, 3)
    made.reset(seed=[4, 5, 6])
    return {
        "unseeded": unseeded, "played": played, "copies": copies, "refused": refused, "unchanged": unchanged,
        "stayed": stayed, "again": again, "seeds": digest(made, 3),
    }  # fmt: skip


def steps_can_be_queued(game_id):
    """Steps that nobody waits for are those of `step`, and after an illegal action no table plays."""
    made = VectorGame(envs.game(game_id), TABLES, device="cuda")
    assert error(made.enqueue) == "enqueue() before reset(): call reset(seed=…) first"
    made.reset(seed=7)
    queued = made.clone()
    for _ in range(3):
        made.step(made.sample())
        queued.enqueue()
        actions = made.sample()
        made.step(actions)
        queued._words.copy_to_device(made._words)  # as if it had drawn them too
        queued.enqueue(actions)
    queued.finish()
    assert state(queued) == state(made)
    bad = np.array([-1, 998, 999])
    for actions in (bad, [997, -1, -1], made.sample()):  # the first illegal action is what is reported
        queued.enqueue(actions)
    assert state(queued) == state(made)
    assert error(queued.finish) == error(lambda: made.step(bad))
    queued.finish()
    actions = made.sample()
    made.step(actions)
    queued.enqueue(actions)
    assert state(queued) == state(made)


if __name__ == "__main__":
    np.seterr(over="ignore")
    steps_can_be_queued(sys.argv[1])
    print(json.dumps(report(sys.argv[1], "cuda")))
