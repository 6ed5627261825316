"""What an action will pay, for those who are about to choose it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Forecast:
    """What the actions of one type pay the acting seat in this round, by the rules and what the seat knows.

    Attributes:
        action_type: the action type.
        numbers: the numbers of the action, ascending; of an action without a number, one; of one with several, none.
        payoffs: by an assumption in words, such as "if the other answers accept", the utility of each number, which is
            an expected one where a random event decides. None: it depends on a later decision of the seat. The
            assumption "" is that of no further decision: the utility is certain, up to a random event. Where words in
            the payload make the action, such as an effort, they are named: "with low effort". Of an action with
            several numbers: a constant and the slopes of `keys`; the utility is constant + sum of slope × number.
        keys: of an action with several numbers, the keys of the payload that hold them.
    """

    action_type: str
    numbers: Sequence[float]
    payoffs: Mapping[str, Sequence[float | None]]
    keys: Sequence[str] = ()
