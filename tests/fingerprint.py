"""What random play of a game comes to, as a hash; as a script, of all cases of one game: ``fingerprint.py kuhn-v0``."""

import json
import sys
from hashlib import sha256

from cases import CASES
from parlour import envs
from parlour.envs import VectorGame


def fingerprint(case):
    """Play 100 rounds on four tables; return a hash of everything."""
    tables, digest = VectorGame(envs.game(case[0], **case[1]), 4), sha256()
    tables.reset(seed=5)
    for _ in range(100):
        tables.step(tables.sample())
        for array in (tables.tables, tables.observations, tables.action_masks, tables.rewards, tables.dones):
            digest.update(array.tobytes())
    return digest.hexdigest()


if __name__ == "__main__":
    cases = [case.values[0] for case in CASES if case.values[0][0] == sys.argv[1]]
    print(json.dumps({str(case): fingerprint(case) for case in cases}))
