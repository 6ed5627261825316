"""Structured talk: messages that an agent sends by action index and receives in its observation.

There are four acts: claim a value, announce what one will do (a bid, a demand), threaten to walk away, appeal to
fairness. An act is sent as one sentence in the words of the game. It is recognised in any text with such a sentence
(`StructuredTalk.read`). A message sent by action index is public; one sent as text may be private. Messages do not
change the turn.

A game with talk adds `fields` to its record and `slices` to its layout, and calls the compiled functions here. Values
are stored in whole thousandths of the highest value, so that index, sentence and record hold the same value.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .capabilities import Talk
from .compiled import compiled
from .encoder import Slice, per_seat, shares
from .turn_state import MESSAGES_PER_TURN, Message, MessageIntent, MessageScope, amount
from .view import ActionRange

ACTS = ("claim", "announce", "threaten", "appeal")
CLAIM, ANNOUNCE, THREATEN, APPEAL = range(1, 5)
STEPS = 11
"""The number of values that an action index can claim or announce: 0, 1/10, … 10/10 of the highest value."""
NUM_ACTIONS = 2 * STEPS + 2
"""The number of action indices of talk: claims, announcements, the threat, the appeal."""
LIMIT = MESSAGES_PER_TURN
"""The number of messages in a turn after which talk actions are illegal; TurnState platforms allow so many."""


def fields(seats: int) -> tuple[tuple[Any, ...], ...]:
    """Return the record's fields for talk among at most `seats`."""
    return (
        ("talk", "?"),  # an option
        ("spoken", "i1"),  # messages that the acting seat sent in this turn
        ("heard", "i2", (seats, seats)),  # [listener, speaker]: 1024 · the last act heard + its value; 0: none
    )


def slices(seats: int) -> list[Slice]:
    """Return the observation's slices of talk: the last act of every seat, the observer included."""
    return [
        shares(
            "messages.act",
            (seats, len(ACTS)),
            "last act of each relative seat, one-hot: " + ", ".join(ACTS),
            axes=("relative seat", ACTS),
        ),
        per_seat("messages.value", seats, "the value in it, as a share of the highest value"),
    ]


@compiled
def clear_talk(table: Any, seats: int) -> None:
    """Clear all messages (at the beginning of an episode)."""
    table.spoken = 0
    for listener in range(seats):
        for speaker in range(seats):
            table.heard[listener, speaker] = 0


@compiled
def say(table: Any, seats: int, index: int) -> None:
    """Send the acting seat's talk action `index` (0 to `NUM_ACTIONS` − 1) to all seats."""
    act = CLAIM
    tenths = index
    if index >= 2 * STEPS:
        act = THREATEN + index - 2 * STEPS
        tenths = 0
    elif index >= STEPS:
        act = ANNOUNCE
        tenths = index - STEPS
    for listener in range(seats):
        table.heard[listener, table.turn] = 1024 * act + 100 * tenths
    table.spoken += 1


@compiled
def observe_talk(table: Any, seats: int, seat: int, at: Any, out: Any) -> None:
    """Write `slices`, which must hold zeros."""
    for speaker in range(seats):
        heard = table.heard[seat, speaker]
        if heard > 0:
            relative = speaker - seat if speaker >= seat else speaker - seat + seats
            out[at.messages_act + 4 * relative + (heard >> 10) - 1] = 1
            out[at.messages_value + relative] = (heard & 1023) * 0.001


@dataclass(frozen=True)
class StructuredTalk:
    """The sentences of one game, one per act; ``{}`` stands for the value.

    >>> agents = ("a", "b")
    >>> talk = StructuredTalk("My valuation is {}", "I will bid {}", "I will walk away", "Let us be fair", agents, 100)
    >>> talk.sentence(16)
    'I will bid 50.'
    >>> talk.read("Hello! my valuation is 62.5, so i will bid 31.2")
    (2, 312)

    Attributes:
        claim: the sentence that claims a value.
        announce: the sentence that announces a bid or a demand.
        threaten: the sentence that threatens to walk away.
        appeal: the sentence that appeals to fairness.
        agents: the agents' names, seat by seat.
        highest: the highest value that a sentence can hold, above 0.
    """

    claim: str
    announce: str
    threaten: str
    appeal: str
    agents: tuple[str, ...]
    highest: float

    def capability(self, start: int) -> Talk:
        """Return the capability of a game whose talk actions begin at the index `start`."""
        statements = range(start, start + NUM_ACTIONS)
        return Talk(record_message=self.record_message, messages_for=self.messages_for, statements=statements)

    def action_ranges(self, start: int) -> tuple[ActionRange, ...]:
        """Return the action ranges of the talk actions, whose indices begin at `start`."""
        values = f"with 0, {self.highest / (STEPS - 1):g}, … {self.highest:g}"
        blocks = ((STEPS, f"“{self.claim}.” {values}"), (STEPS, f"“{self.announce}.” {values}"))
        ranges = []
        for count, meaning in (*blocks, (1, f"“{self.threaten}.”"), (1, f"“{self.appeal}.”")):
            ranges.append(ActionRange(start, start + count, ("message_only",), f"say to all {meaning}"))
            start += count
        return tuple(ranges)

    def sentence(self, index: int) -> str:
        """Return the sentence of the talk action `index` (0 to `NUM_ACTIONS` − 1)."""
        if index >= 2 * STEPS:
            return self._sentence(THREATEN + index - 2 * STEPS, 0)
        return self._sentence(CLAIM + index // STEPS, index % STEPS * 100)

    def _sentence(self, act: int, thousandths: int) -> str:
        value = f"{thousandths * self.highest / 1000:.6f}".rstrip("0").rstrip(".")
        return self._templates()[act - 1].format(value) + "."

    def _templates(self) -> tuple[str, ...]:
        return self.claim, self.announce, self.threaten, self.appeal

    def read(self, text: str) -> tuple[int, int] | None:
        """Return the act (1 to 4) and the value of the last of these sentences in `text`; None if there is none.

        Case and the text before and after do not matter, and there may be any white space between words. A value is a
        plain decimal number. It is returned in thousandths of the highest value, at most 1000.
        """
        last = None
        for act, template in enumerate(self._templates(), start=CLAIM):
            words = r"\s+".join(map(re.escape, template.split()))
            words = words.replace(re.escape("{}"), r"([0-9]{1,12}(?:\.[0-9]{1,12})?)")
            for match in re.finditer(rf"\b{words}\b", text, re.IGNORECASE | re.ASCII):
                if last is None or match.start() > last[0]:
                    value = round(1000 * float(match[1]) / self.highest) if match.groups() else 0
                    last = match.start(), act, min(value, 1000)
        return last and last[1:]

    def record_message(self, table: Any, seat: int, intent: MessageIntent) -> None:
        """Write a message of `seat` into the record, for every seat that may read it."""
        if seat == table.turn:
            table.spoken = min(int(table.spoken) + 1, LIMIT)
        said = self.read(intent.content)
        if said is not None:
            public = intent.scope == MessageScope.PUBLIC
            for listener, agent in enumerate(self.agents):
                if public or listener == seat or agent in (intent.to_agent_ids or ()):
                    table.heard[listener, seat] = 1024 * said[0] + said[1]

    def messages_for(self, table: Any, seat: int) -> list[Message]:
        """Return the last act of every seat that `seat` has heard, as messages in seat order."""
        heard = [(self.agents[speaker], int(table.heard[seat, speaker])) for speaker in range(len(self.agents))]
        sentences = [(agent, self._sentence(code >> 10, code & 1023)) for agent, code in heard if code]
        public = MessageScope.PUBLIC
        return [Message(str(i), agent, public, sentence) for i, (agent, sentence) in enumerate(sentences)]

    def load(self, table: Any, seat: int, messages: Sequence[Message], seats: Mapping[str, int]) -> None:
        """Write the messages that `seat` can read into the record; `seats` maps senders to seats."""
        for message in messages:
            said = self.read(message.content)
            if said is not None and message.sender_id in seats:
                table.heard[seat, seats[message.sender_id]] = 1024 * said[0] + said[1]


def spoken(messages: Sequence[Message], agent: str, left: Any) -> int:
    """Return the number of messages that `agent` has sent in this turn.

    Args:
        messages: the history, oldest first.
        agent: the agent's name.
        left: how many messages it may still send in this turn, as a host told it. None, if that is not known: then its
            messages at the end of the history count. These may be too many; then talk ends too early, and never too
            late.

    Raises:
        ValueError: if `left` is no number.
    """
    if left is not None:
        return LIMIT - int(min(max(amount(left, "messages_left"), 0), LIMIT))
    count = 0
    for message in reversed(messages):
        if message.sender_id != agent:
            break
        count += 1
    return min(count, LIMIT)
