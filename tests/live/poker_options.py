"""The arguments of a poker host, a session or an agent from options by their names, for tests."""

from dataclasses import fields, replace

from parlour.wrappers.live.common.limits import PLAYER
from parlour.wrappers.live.common.server import ServerSettings
from parlour.wrappers.live.poker import agent as our_agent
from parlour.wrappers.live.poker.agent import ClientSettings, Monitoring, PlayLength, SeatRequest
from parlour.wrappers.live.poker.host import PokerRoom, PokerRules, PokerTimes

TIMES = {"timeout": "act", "hand_delay": "hand", "abandoned_after": "abandoned", "away_after": "away"}
TIMES |= {"session_lifetime": "session"}
LIMIT_OF = {"message_limit": "message", "rate": "rate"}


def taken(kind, options):
    """Take the fields of a dataclass out of the options, and return it."""
    return kind(**{field.name: options.pop(field.name) for field in fields(kind) if field.name in options})


def rules(**options):
    """The arguments of a session: its rules, and the other options as they are."""
    return {"rules": taken(PokerRules, options), **options}


def grouped(**options):
    """The arguments of a host."""
    times = {name: options.pop(option) for option, name in TIMES.items() if option in options}
    limits = {name: options.pop(option) for option, name in LIMIT_OF.items() if option in options}
    options["limits"] = replace(PLAYER, **limits)
    server, room = taken(ServerSettings, options), taken(PokerRoom, options)
    return rules(**options) | {"times": PokerTimes(**times), "server": server, "room": room}


async def play(address, agent, **options):
    """Play with our agent."""
    groups = {"seat": SeatRequest, "length": PlayLength, "client": ClientSettings, "monitoring": Monitoring}
    given = {group: taken(kind, options) for group, kind in groups.items()}
    return await our_agent.play(address, agent, **given, **options)
