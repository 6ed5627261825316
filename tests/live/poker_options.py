"""The arguments of a poker host or session from options by their names, for tests."""

from dataclasses import fields, replace

from parlour.wrappers.live.poker.host import LIMITS
from parlour.wrappers.live.poker.hosted_table import PokerTimes
from parlour.wrappers.live.poker.seats import PokerRules

TIMES = {"timeout": "act", "hand_delay": "hand", "abandoned_after": "abandoned", "away_after": "away"}
TIMES |= {"session_lifetime": "session"}
LIMIT_OF = {"message_limit": "message", "rate": "rate"}


def rules(**options):
    """The arguments of a session: its rules, and the other options as they are."""
    given = {field.name: options.pop(field.name) for field in fields(PokerRules) if field.name in options}
    return {"rules": PokerRules(**given), **options}


def grouped(**options):
    """The arguments of a host."""
    times = {name: options.pop(option) for option, name in TIMES.items() if option in options}
    limits = {name: options.pop(option) for option, name in LIMIT_OF.items() if option in options}
    return rules(**options) | {"times": PokerTimes(**times), "limits": replace(LIMITS, **limits)}
