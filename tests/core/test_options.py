"""Options that cannot be, alone or together, are refused in words. Each option's own range: see `test_game`."""

import re

import numpy as np
import pytest
from parlour import envs

RIVER = {"seats": 2, "button": 0, "start": "river", "board": "2c7dKhTs3s"}
REFUSED = [
    ("holdem", {"seats": 2, "stacks": [10, 0]}, "at least two above 0"),
    ("holdem", {"seats": 2, "stacks": 10, "ante": 9}, "stacks=10, ante=9, small_blind=1: two seats need more"),
    ("holdem", {"small_blind": 3}, "small_blind=3, big_blind=2"),
    ("holdem", {"button": 6}, "button=6: need a whole number, from 0 to 5"),
    ("holdem", {"button": "live"}, "no button is called 'live'"),
    ("holdem", {"pot_fractions": [1, 0.5]}, "at most 12 rising numbers above 0"),
    ("holdem", {"pot_fractions": np.arange(1, 14)}, "at most 12 rising numbers above 0"),
    ("holdem", {"pot_fractions": ["half"]}, "pot_fractions='half': need a number above 0, at most 1,000"),
    ("holdem", {"stacks": 2**29}, "stacks=536870912: a table holds at most"),
    ("holdem", {"seats": 3, "stacks": [200, 200, 0], "fewest": 3}, "every seat needs more than ante and small blind"),
    ("holdem", {**RIVER, "start": "showdown"}, "no start is called 'showdown'"),
    ("holdem", {**RIVER, "board": "2c2c"}, "at most five different cards"),
    ("holdem", {**RIVER, "ranges": ["AA"]}, "give a range, or None, for each of the 2 seats"),
    ("holdem", {**RIVER, "ranges": ["KhKd", None]}, "no hands of these ranges can be dealt together"),
    ("holdem", {**RIVER, "ranges": ["AKz", None]}, "'AKz' is no range"),
    ("holdem", {**RIVER, "ranges": ["AA:0", None]}, "no hand has a weight above 0"),
    ("holdem", {**RIVER, "ranges": [[1.0, 2.0], None]}, "1,326 weights"),
    ("holdem", {**RIVER, "hands": 2}, "an episode is one hand"),
    *(("auction", {"valuations": one}, "never falling") for one in [(5,), (5, 4), (-1, 4), (0, 0), [(0, 1)], "abc"]),
    ("auction", {"valuations": tuple(range(33))}, "32 numbers together at most"),
    ("auction", {"units": 2}, "units=2: need a whole number, from 1 to 1"),
    ("auction", {"noise": 5}, "with values='private' there is none"),
    ("auction", {"noise": 26, "values": "common", "valuations": (25, 225)}, "at most 25, the lowest quantile"),
    ("auction", {"valuations": [(5, 9), (5, 8)], "values": "affiliated", "noise": 5}, "one table for all seats"),
    *(("bargaining", {"reservations": one}, "0 ≤ low ≤ high ≤ 100") for one in [(5, 4), (0, 101), 5, [(0, 1)], "ab"]),
    ("multi_issue_bargaining", {"issues": []}, "1 to 5 numbers"),
    ("multi_issue_bargaining", {"issues": [10, 10, 10, 10]}, "at most 1,024"),
    ("multi_issue_bargaining", {"issues": {"": 3}}, "issues="),
    ("multi_issue_bargaining", {"issues": [2], "preferences": [[[0, 1]], [[0, 2]]]}, "from 0 to 1"),
    ("multi_issue_bargaining", {"issues": [2, 2], "preferences": [[[0, 1], [0, 0.1]]] * 2}, "at most 1"),
    ("multi_issue_bargaining", {"issues": [2], "preferences": [[[0, 1]]]}, "each seat"),
    ("multi_issue_bargaining", {"reservations": (0.2, 1.2)}, "reservations="),
    ("mafia", {"seats": 10, "mafia": 5}, "mafia=5: need a whole number, from 1 to 4"),
    ("mafia", {"seats": 5, "doctors": 3, "sheriffs": 2}, "are more than seats=5 together"),
    ("mafia", {"max_days": 40, "discussion_rounds": 3}, "their product may be at most 80"),
    ("mafia", {"seats": 8, "fewest": 5, "mafia": 2}, "with fewest=5 it follows from the number of players"),
    ("werewolf", {"seats": 10, "fewest": 5}, "fewest=5"),
    ("tangram", {"figure": "A hose"}, "did you mean 'A house'"),
    ("tangram", {"figure": ""}, "no figure is called ''; there are 'random', 'library', and 114 by name: "),
    ("tangram", {"figure": 3}, "give 'random', 'library', the name of a figure or its text"),
    ("tangram", {"figure": "Mine\n  Red 0 0 0"}, "Cream is missing"),
    ("tangram", {"hidden": 3}, "give the least and the greatest share"),
    ("tangram", {"hidden": [0.9, 1]}, "are too rare: give a range"),
    ("tangram", {"modality": "pixel"}, "did you mean 'pixels'"),
    ("principal_agent", {"outcome_levels": {}}, "need 1 to 4 labels"),
    ("principal_agent", {"outcome_levels": {label: [0, 1] for label in "abcde"}}, "need 1 to 4 labels"),
    ("principal_agent", {"outcome_levels": {"a": "xy"}}, "a is 'xy': need the least score and the payment"),
    ("principal_agent", {"outcome_levels": {"a": [-1, 2]}}, "a, score=-1: need a number from 0 to 100"),
]


@pytest.mark.parametrize(("name", "options", "words"), REFUSED)
def test_what_cannot_be_is_refused_in_words(name, options, words):
    with pytest.raises(ValueError, match=re.escape(words)) as error:
        envs.game(name, **options)
    assert len(str(error.value)) < 500
