"""Broken messages, for the fuzz tests of all protocols: seeded mutations of what is really sent.

`PARLOUR_FUZZ=1000000` sets how many messages each side of each protocol gets; `make nightly` does so.
"""

import copy
import json
import os

import pytest

MESSAGES = int(os.environ.get("PARLOUR_FUZZ", "2000"))
WORKERS = 4
fuzzed = pytest.mark.parametrize("worker", range(WORKERS), ids="fuzz{}".format)
DEEP = []
for _ in range(60):
    DEEP = [DEEP]
ODD = (
    None,
    True,
    -1,
    0,
    1,
    2**53,
    10**40,
    1.5,
    1e308,
    float("nan"),
    float("inf"),
    "",
    "x" * 300,
    "\x00é\ud800",
    "public",
    [],
    DEEP,
    {},
    {"type": "action"},
    {"action_type": "pass"},
)
DEEP_TEXT = '{"a":' * 5_000 + "1" + "}" * 5_000
LONG_TEXT = json.dumps({"type": "x" * 20_000})


def changed(rng, message):
    """Return a copy of plain data with one to three parts changed, dropped or added."""
    message = copy.deepcopy(message)
    for _ in range(rng.randint(1, 3)):
        place = message
        while isinstance(place, (dict, list)) and place and rng.random() < 0.7:
            key = rng.choice(list(place) if isinstance(place, dict) else range(len(place)))
            if not isinstance(place[key], (dict, list)):
                break
            place = place[key]
        if isinstance(place, dict) and place:
            key = rng.choice(list(place))
            if rng.random() < 0.25:
                del place[key]
            else:
                place[key if rng.random() < 0.9 else "other"] = copy.deepcopy(rng.choice(ODD))
        elif isinstance(place, list):
            place.insert(rng.randint(0, len(place)), copy.deepcopy(rng.choice(ODD)))
    return message if rng.random() < 0.98 else copy.deepcopy(rng.choice(ODD))


def mutated(rng, message):
    """Return a changed message as text or bytes; sometimes the text is broken, too."""
    text = json.dumps(changed(rng, message))
    match rng.random():
        case odds if odds < 0.04:
            return text[: rng.randint(0, len(text))]
        case odds if odds < 0.06:
            return text.encode()[::-1]
        case odds if odds < 0.061:
            return DEEP_TEXT
        case odds if odds < 0.062:
            return LONG_TEXT
        case _:
            return text
