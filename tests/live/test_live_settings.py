"""The settings of live play: a number that is out of its range is an error that names it, at once."""

import math

import pytest
from parlour.wrappers.live.arena.agent import PollingTimes
from parlour.wrappers.live.common.limits import ConnectionLimits
from parlour.wrappers.live.common.match_session import MatchLimits
from parlour.wrappers.live.common.server import ServerSettings
from parlour.wrappers.live.mafia.agent import MafiaLimits
from parlour.wrappers.live.poker.agent import ClientSettings, PlayLength
from parlour.wrappers.live.poker.host import PokerRoom, PokerTimes

WRONG = [
    (ServerSettings, "port", (-1, 70_000, 80.5, None)),
    (PokerRoom, "tables", (0, -1, 1.5)),
    (PokerRoom, "observers", (-1, math.inf)),
    (PlayLength, "hands", (0, -3, 2.5)),
    (ClientSettings, "deadline", (0, -1.0, math.nan, "3")),
    (ClientSettings, "retry_after", (-1, math.nan)),
    (ClientSettings, "retries", (-1, 0.5)),
    (PollingTimes, "decision", (0, -1, math.nan, math.inf)),
    (PokerTimes, "act", (0, -1, math.nan, None)),
    (PokerTimes, "away", (-1, math.nan)),
    (MafiaLimits, "think", (0, math.nan, None)),
    (MafiaLimits, "statement", (0, 4_001, 1.5)),
    (MatchLimits, "actions", (0, -2, 1.5)),
    (MatchLimits, "waits", (-1, 10**9)),
    (ConnectionLimits, "frame", (0, None)),
    (ConnectionLimits, "rate", (0, -1, math.nan)),
    (ConnectionLimits, "closing", (-1, math.nan)),
]


@pytest.mark.parametrize(
    ("settings", "name", "value"), [(settings, name, value) for settings, name, values in WRONG for value in values]
)
def test_a_number_out_of_its_range_is_an_error_that_names_it(settings, name, value):
    settings()
    with pytest.raises(ValueError, match=f"^{name}={value!r}: need "):
        settings(**{name: value})
