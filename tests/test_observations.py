"""Every observation, mask, reward and TurnState of a version stays as it is: sums of all of them, for every case.

There is a file for the rules of each game and one for each of its encoders, so that a new encoder changes no file. A
sum is over random episodes, all seats and all decisions, with other weights at each. It tells which part has changed.
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
    """Return what each golden file holds of a case, by the file's name.

    ``rules`` has the sums of turns, masks, rewards and the numbers in TurnStates, and a hash of the TurnStates' words.
    Each encoder's file has the sum, place and bounds of each part of its observations.
    """
    rules = {name: [0.0] for name in ("turn, done, truncated", "mask", "rewards", "numbers of TurnStates")}
    seen = {
        name: {part.path: [0.0, part.start, part.stop, part.low, part.high] for part in encoder.layout}
        for name, encoder in game.encoders.items()
    }
    states = sha256()
    for moment, (table, seat) in enumerate(views(game)):
        state = game.turn_state(table, seat)
        limited = state.game_over and state.outcome["reason"] == "max_days_exceeded"  # a field of records, once
        progress = np.array([table.turn, table.done, limited])
        for name, values in zip(rules, (progress, game.mask(table, seat), table.rewards), strict=False):
            rules[name][0] += weighted(values, moment)
        for name, encoder in game.encoders.items():
            observation = encoder.observation(table, seat)
            for part in encoder.layout:
                seen[name][part.path][0] += weighted(observation[part.start : part.stop], moment)
        text = state.to_json().decode()
        rules["numbers of TurnStates"][0] += weighted(np.array(NUMBER.findall(text), float), moment)
        states.update(NUMBER.sub("#", text).encode())
    return {"rules": {**rules, "words of TurnStates": states.hexdigest()}, **seen}


def test_what_is_seen_and_won_has_not_changed(game, request):
    game_id, _, case = request.node.callspec.id.partition(": ")
    for file, found in sums(game).items():
        compare(GOLDEN / game_id.partition("-")[0] / f"{file}.json", case, found)


def compare(path, case, found):
    """Compare what was found of a case with a golden file."""
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    if os.environ.get("PARLOUR_GOLDEN"):
        known[case] = found
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(known, indent=1).replace("\n   ", "").replace("\n  ]", "]") + "\n", encoding="utf-8")
    assert case in known, f"{case} is missing in {path.name} of {path.parent.name}: run this test with PARLOUR_GOLDEN=1"
    assert found.keys() == known[case].keys(), (path, case)
    for part, values in known[case].items():
        expected = values if isinstance(values, str) else pytest.approx(values, rel=1e-6, abs=1e-4)
        assert found[part] == expected, f"{path.stem}, {case}: {part}"


def test_every_golden_file_belongs_to_an_encoder_of_a_game_and_its_cases_to_the_options():
    """A new version adds a file; the files of released versions stay as they are."""
    games = {game_id.partition("-")[0]: game_id for game_id in envs.GAMES}
    for path in GOLDEN.rglob("*.json"):
        game_id = games[path.parent.name]
        assert path.stem in ("rules", *envs.game(game_id).encoders), path
        assert set(json.loads(path.read_text(encoding="utf-8"))) == set(OPTIONS[game_id]), path
