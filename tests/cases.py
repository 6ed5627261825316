"""Every registered game with the options it is tested with. A new game is tested by being registered."""

import nim
import pytest
import three_cards
from parlour import envs

envs.register("three_cards-v0", three_cards.game)
envs.register("nim-v0", nim.game)

SMALL = ("three_cards", "nim")
"""Games of the tests alone: they have no page, no picture of their own and no bots."""

SETS = {
    "holdem-v0": {
        "headsup": {"seats": 2},
        "three unequal, antes": {"seats": 3, "stacks": [11, 200, 57], "ante": 1},
        "six, many hands": {"stacks": 30, "hands": 5},
        "ten, capped": {"seats": 10, "stacks": 100, "raise_cap": 4, "ante": 2, "big_blind": 10, "small_blind": 5},
        "dead button": {"seats": 4, "stacks": [9, 30, 12, 40], "hands": 4, "button": "dead"},
        "empty seats, short": {"seats": 6, "stacks": [0, 3, 40, 0, 5, 4], "hands": 3, "pot_fractions": [1]},
        "from the river, few hands": {
            "seats": 2,
            "button": 0,
            "start": "river",
            "board": "2c7dKhTs3s",
            "ranges": ["AA:0.5,KQs", "AcAd,JJ"],
            "ante": 9,
            "stacks": 40,
            "pot_fractions": [1],
            "raise_cap": 1,
        },
        "from the flop, three seats": {
            "seats": 3,
            "start": "flop",
            "stacks": [9, 200, 57],
            "ranges": ["22+", None, "AA,72o"],
        },
    },
    "auction-v0": {
        "three, talk": {"seats": 3, "talk": True, "rounds": 3},
        "sixteen, second price": {"seats": 16, "rule": "second-price", "bids": 11, "rounds": 2},
        "unequal, all pay, talk": {
            "seats": 4,
            "rule": "all-pay",
            "valuations": [[0, 10], [5, 5], [0, 1, 2, 30], [0, 33.33]],
            "bids": 7,
            "highest_bid": 20,
            "rounds": 1,
            "talk": True,
        },
        "few bids, ties": {"seats": 5, "bids": 2},
        "reserve, fee, risk aversion, two units": {
            "seats": 4,
            "rule": "second-price",
            "reserve": 40,
            "entry_fee": 5,
            "risk_aversion": 0.5,
            "units": 2,
            "bids": 11,
            "rounds": 2,
        },
        "common values, talk": {"seats": 3, "values": "common", "valuations": (25, 60, 225), "noise": 12, "talk": True},
        "the mean of all valuations, all pay": {"seats": 3, "rule": "all-pay", "values": "average", "reserve": 20},
        "affiliated values": {"values": "affiliated", "valuations": (50, 100), "noise": 50, "units": 1, "bids": 9},
    },
    "bargaining-v0": {
        "talk": {"talk": True, "rounds": 4},
        "public, discounted": {"public": True, "discount": 0.9, "offers": 11, "reservations": [[0, 0], [10, 30]]},
        "one round, odd pie, talk": {"rounds": 1, "total": 33.33, "offers": 7, "public": True, "talk": True},
        "fifty rounds": {"rounds": 50, "reservations": [0, 100], "offers": 21},
    },
    "mafia-v0": {
        "default, two days": {"max_days": 2},
        "five, three words a day": {"seats": 5, "discussion_rounds": 3, "max_days": 2},
        "seven, muted, no ties, no special roles": {
            "seats": 7,
            "mafia": 2,
            "doctors": 0,
            "sheriffs": 0,
            "talk": False,
            "tie": "none",
            "max_days": 4,
        },
        "many doctors and sheriffs": {"seats": 8, "mafia": 2, "doctors": 3, "sheriffs": 3, "max_days": 2},
        "twenty, muted, one day": {"seats": 20, "max_days": 1, "talk": False},
        "five to nine": {"seats": 9, "fewest": 5, "max_days": 3},
    },
    "werewolf-v0": {"ten": {"seats": 10}, "six to ten": {"seats": 10, "fewest": 6}},
    "tangram-v0": {
        "default": {"turns": 8, "plays": 3},
        "one seat, the library": {"figure": "library", "split": None, "seats": 1, "turns": 12, "plays": 1},
        "a house, as in Godot, with images": {"figure": "A house", "aspect": "godot", "images": True, "turns": 5},
        "four seats, sparse, both": {"seats": 4, "sparse": True, "modality": "both", "turns": 8, "plays": 2},
        "hard ones, pixels": {"hidden": [0.5, 1], "split": "test", "modality": "pixels", "turns": 4, "plays": 2},
    },
    "liars_dice-v0": {
        "two dice of three faces": {"dice": 2, "faces": 3},
        "five dice, none wild": {"dice": 5, "wild": False},
    },
    "cournot-v0": {
        "three, private, repeated": {"seats": 3, "costs": (0, 30), "quantities": 11, "max_rounds": 2, "rounds": 6}
    },
    "public_project-v0": {"four, repeated": {"seats": 4, "valuations": (10, 60), "reports": 6, "rounds": 2}},
    "voluntary_contribution-v0": {
        "three, repeated": {"seats": 3, "endowment": 7, "amounts": 4, "max_rounds": 2, "rounds": 5}
    },
    "provision_point-v0": {"three, private": {"seats": 3, "valuations": (0, 60), "amounts": 7, "max_rounds": 2}},
    "war_of_attrition-v0": {"few times": {"times": 3, "prize": 0.3, "cost_rate": 0.7, "max_rounds": 1}},
    "dictator-v0": {"public, repeated": {"reservations": (0, 0), "splits": 4, "rounds": 2}},
    "sequential_investment-v0": {"substitutes": {"interaction": "substitutes", "amounts": 4}},
    "insurance_moral_hazard-v0": {
        "few, repeated": {"loss": 7, "highest": 6, "premiums": 4, "transfers": 2, "max_rounds": 2, "rounds": 3}
    },
    "trust-v0": {
        "repeated": {"endowment": 7, "multiplier": 2.5, "amounts": 8, "returns": 6, "max_rounds": 1, "rounds": 3}
    },
    "ultimatum-v0": {
        "three": {"seats": 3, "offers": 7, "max_rounds": 3},
        "four, repeated": {"seats": 4, "total": 10, "reservations": (1, 3), "offers": 5, "max_rounds": 2, "rounds": 3},
    },
    "multi_issue_bargaining-v0": {
        "three, random, public": {
            "seats": 3,
            "issues": {"price": 3, "delivery": 5},
            "preferences": "random",
            "discount": 0.9,
            "rounds": 3,
            "public": True,
        },
        "five, one issue": {"seats": 5, "issues": [2], "rounds": 2, "reservations": [0, 1]},
        "fixed": {
            "issues": [2, 3],
            "preferences": [[[0, 0.7], [0.3, 0.1, 0]], [[0.4, 0], [0, 0.6, 0.2]]],
            "reservations": [[0.2, 0.2], [0, 0.5]],
            "rounds": 2,
        },
    },
    "hold_up-v0": {"few, repeated": {"surplus_base": 2.5, "investments": 3, "splits": 7, "max_rounds": 2, "rounds": 2}},
    "centipede-v0": {"odd, repeated": {"small_pile": 3, "large_pile": 5, "max_pushes": 3, "rounds": 3}},
    "dutch_auction-v0": {"three, a least price, repeated": {"seats": 3, "decrement": 30, "min_price": 20, "rounds": 2}},
    "english_auction-v0": {
        "default": {"max_rounds": 6},
        "four, few bids": {"seats": 4, "valuations": (30, 60), "start_price": 10, "bids": 6, "max_rounds": 3},
        "three, repeated": {"seats": 3, "bids": 11, "max_rounds": 2, "rounds": 2},
    },
    "principal_agent-v0": {
        "default": {"scores": 12},
        "few, repeated": {
            "outcome_levels": {"poor": [0, -2], "good": [30.5, 4]},
            "max_clarify_rounds": 1,
            "scores": 4,
            "rounds": 3,
        },
    },
    "common_agency-v0": {
        "default": {"low_wages": 3},
        "four, repeated": {"seats": 4, "benefit_low": 2.5, "low_wages": 2, "high_wages": 5, "rounds": 2},
    },
    "bilateral_trade-v0": {
        "a pair for each, repeated": {"reservations": [(40, 80), (10, 60)], "prices": 9, "max_rounds": 2, "rounds": 2}
    },
}
"""Sets of options by game and name."""

OPTIONS = {
    game_id: sets if any(name.startswith("default") for name in sets) else {"default": {}, **sets}
    for game_id in envs.GAMES
    for sets in [SETS.get(game_id, {})]
}
"""The same, with the defaults of every game."""

SHORT = {
    "holdem-v0": ("headsup", "dead button", "from the flop, three seats"),
    "auction-v0": ("three, talk", "reserve, fee, risk aversion, two units", "common values, talk"),
    "bargaining-v0": ("default", "one round, odd pie, talk"),
    "mafia-v0": ("default, two days", "five to nine"),
    "tangram-v0": ("default", "four seats, sparse, both"),
    "liars_dice-v0": ("two dice of three faces",),
    "multi_issue_bargaining-v0": ("three, random, public",),
    "cournot-v0": ("three, private, repeated",),
    "public_project-v0": (),
    "voluntary_contribution-v0": (),
    "provision_point-v0": ("three, private",),
    "sequential_investment-v0": (),
    "insurance_moral_hazard-v0": (),
    "trust-v0": ("repeated",),
    "ultimatum-v0": ("three",),
    "hold_up-v0": (),
    "centipede-v0": ("odd, repeated",),
    "principal_agent-v0": ("few, repeated",),
    "bilateral_trade-v0": ("a pair for each, repeated",),
}
"""What `make test` tries of these games; of any other, the defaults. Of seventeen that share an engine: eleven."""


def slow_but(quick, values):
    """Parameters of which `make test` tries the quick ones, and `make test-all` all."""
    return [pytest.param(value, marks=() if value in quick else pytest.mark.slow) for value in values]


def of_games(game_ids):
    """Parameters of which `make test` tries the games that it has a set of options of."""
    return slow_but({game_id for game_id in game_ids if SHORT.get(game_id, True)}, game_ids)


CASES = [
    pytest.param(
        (game_id, options),
        id=f"{game_id}: {name}",
        marks=() if name in SHORT.get(game_id, ("default",)) else pytest.mark.slow,
    )
    for game_id, sets in OPTIONS.items()
    for name, options in sets.items()
]
