"""Every observation, mask, reward and TurnState of a version stays as it is: sums of all of them, for every case.

A sum is over random episodes, all seats and all decisions, with other weights at each. It tells which part has changed.
PARLOUR_GOLDEN=1 writes the sums anew, as for the golden playthroughs in test_laws.py.
"""

import json
import os
import re
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from cases import OPTIONS
from parlour import envs
from parlour.envs.testing.trial import Trial

GOLDEN = Path(__file__).parent / "golden"
NUMBER = re.compile(r"(?<![\w+/.])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w+/])")


def weighted(values, moment):
    return float(np.cos(1.7 * np.arange(values.size) + moment) @ values.ravel().astype(float))


def views(game):
    """Yield records and seats: whole random episodes, until there are at least 100."""
    trial, seed, count = Trial("observations", game, 1), 0, 0
    while count < 100:
        for table in trial.decisions(seed):
            for seat in trial.watched(table):
                yield table, seat
                count += 1
        seed += 1


def sums(game):
    """Return the sum, place and bounds of each part of the observations, and a hash of the words of the TurnStates."""
    found = {name: [0.0] for name in ("turn, done, truncated", "mask", "rewards", "numbers of TurnStates")}
    for name, encoder in game.encoders.items():
        for part in encoder.layout:
            found[f"{name} {part.path}"] = [0.0, part.start, part.stop, part.low, part.high]
    states = sha256()
    for moment, (table, seat) in enumerate(views(game)):
        progress = np.array([table.turn, table.done, table.truncated])
        for name, values in zip(found, (progress, game.mask(table, seat), table.rewards), strict=False):
            found[name][0] += weighted(values, moment)
        for name, encoder in game.encoders.items():
            seen = encoder.observation(table, seat)
            for part in encoder.layout:
                found[f"{name} {part.path}"][0] += weighted(seen[part.start : part.stop], moment)
        state = game.turn_state(table, seat).to_json().decode()
        found["numbers of TurnStates"][0] += weighted(np.array(NUMBER.findall(state), float), moment)
        states.update(NUMBER.sub("#", state).encode())
    return {**found, "words of TurnStates": states.hexdigest()}


# The figures that tangram draws are others without the compiler; its playthrough has a fixed one.
@pytest.mark.parametrize("game_id", [game_id for game_id in envs.GAMES if game_id != "tangram-v0"])
def test_what_is_seen_and_won_has_not_changed(game_id):
    path = GOLDEN / f"{game_id}.json"
    cases = OPTIONS.get(game_id, {"default": {}})
    found = {name: sums(envs.game(game_id, **options)) for name, options in cases.items()}
    if os.environ.get("PARLOUR_GOLDEN"):
        path.write_text(json.dumps(found, indent=1).replace("\n   ", "").replace("\n  ]", "]") + "\n", encoding="utf-8")
    assert path.exists(), f"{game_id} has no sums of observations: run this test with PARLOUR_GOLDEN=1"
    known = json.loads(path.read_text(encoding="utf-8"))
    assert list(found) == list(known)
    for name, case in known.items():
        assert found[name].pop("words of TurnStates") == case.pop("words of TurnStates"), name
        assert found[name] == {part: pytest.approx(values, rel=1e-6, abs=1e-4) for part, values in case.items()}, name
