"""Structured talk: what a learner can say by action index, and hears in its observation.

There are four acts: claim a value, announce what one will do (a bid, a demand), threaten to walk away, appeal to
fairness. An act is said as one sentence of the game's own words, and heard in any text that holds such a sentence
(`StructuredTalk.read`). By action index it is public; by text it may be private. Saying something never moves the turn.

A game with talk takes `fields` into its record, `slices` into its layout, and calls the compiled functions here.
Values are kept in whole thousandths of the highest, so that index, sentence and record say the same.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .compiled import compiled
from .layout import Slice
from .turn_state import MESSAGES_PER_TURN, Message, MessageIntent, MessageScope
from .view import ActionRange

ACTS = ("claim", "announce", "threaten", "appeal")
CLAIM, ANNOUNCE, THREATEN, APPEAL = range(1, 5)
STEPS = 11
"""Values that a claim or an announcement can name by action index: 0, 1/10, … 10/10 of the highest."""
NUM_ACTIONS = 2 * STEPS + 2
"""Action indices of talk: claims, announcements, the threat, the appeal."""
LIMIT = MESSAGES_PER_TURN
"""Messages of one turn after which no more talk is open (turnstate-notes.md, Matches)."""


def fields(seats: int) -> tuple[tuple[Any, ...], ...]:
    """Return the record's fields for talk among at most `seats`."""
    return (
        ("talk", "?"),  # an option
        ("spoken", "i1"),  # messages of the acting seat in this turn
        ("heard", "i2", (seats, seats)),  # [listener, speaker]: 1024 · the last act heard + its value; 0: none
    )


def slices(seats: int) -> list[Slice]:
    """Return the observation's slices of talk: the last act heard of every seat, one's own included."""
    return [
        Slice("messages.act", (seats, len(ACTS)), 0, 1, "last act of each relative seat, one-hot: " + ", ".join(ACTS)),
        Slice("messages.value", (seats,), 0, 1, "the value it named, as a share of the highest"),
    ]


@compiled
def hush(table: Any, seats: int) -> None:
    """Forget all that was said (at the beginning of an episode)."""
    table.spoken = 0
    for listener in range(seats):
        for speaker in range(seats):
            table.heard[listener, speaker] = 0


@compiled
def say(table: Any, seats: int, index: int) -> None:
    """Let the acting seat say the talk action `index` (0 to `NUM_ACTIONS` − 1) to all."""
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
    """The words of one game: a sentence per act; ``{}`` stands for the value.

    >>> agents = ("a", "b")
    >>> talk = StructuredTalk("My valuation is {}", "I will bid {}", "I will walk away", "Let us be fair", agents, 100)
    >>> talk.sentence(16)
    'I will bid 50.'
    >>> talk.read("Hello! my valuation is 62.5, so i will bid 31.2")
    (2, 312)

    Attributes:
        claim: sentence that claims a value.
        announce: sentence that announces a bid or a demand.
        threaten: sentence that threatens to walk away.
        appeal: sentence that appeals to fairness.
        agents: the agents' names, seat by seat.
        highest: the highest value that is named, above 0.
    """

    claim: str
    announce: str
    threaten: str
    appeal: str
    agents: tuple[str, ...]
    highest: float

    def action_ranges(self, start: int) -> tuple[ActionRange, ...]:
        """Return what the talk actions mean where their indices begin at `start`."""
        values = f"with 0, {self.highest / (STEPS - 1):g}, … {self.highest:g}"
        blocks = ((STEPS, f"“{self.claim}.” {values}"), (STEPS, f"“{self.announce}.” {values}"))
        told = []
        for count, meaning in (*blocks, (1, f"“{self.threaten}.”"), (1, f"“{self.appeal}.”")):
            told.append(ActionRange(start, start + count, ("message_only",), f"say to all {meaning}"))
            start += count
        return tuple(told)

    def sentence(self, index: int) -> str:
        """Return what the talk action `index` (0 to `NUM_ACTIONS` − 1) says."""
        if index >= 2 * STEPS:
            return self._sentence(THREATEN + index - 2 * STEPS, 0)
        return self._sentence(CLAIM + index // STEPS, index % STEPS * 100)

    def _sentence(self, act: int, thousandths: int) -> str:
        value = f"{thousandths * self.highest / 1000:.6f}".rstrip("0").rstrip(".")
        return self._templates()[act - 1].format(value) + "."

    def _templates(self) -> tuple[str, ...]:
        return self.claim, self.announce, self.threaten, self.appeal

    def read(self, text: str) -> tuple[int, int] | None:
        """Return act (1 to 4) and value of the last sentence in `text` that is one of ours; None without any.

        Case does not matter, nor what stands before and after; white space between words may be of any length. A value
        is a plain decimal number. It is heard in thousandths of the highest, and one above the highest as the highest.
        """
        found = None
        for act, template in enumerate(self._templates(), start=CLAIM):
            words = r"\s+".join(map(re.escape, template.split()))
            words = words.replace(re.escape("{}"), r"([0-9]{1,12}(?:\.[0-9]{1,12})?)")
            for match in re.finditer(rf"\b{words}\b", text, re.IGNORECASE | re.ASCII):
                if found is None or match.start() > found[0]:
                    value = round(1000 * float(match[1]) / self.highest) if match.groups() else 0
                    found = match.start(), act, min(value, 1000)
        return found and found[1:]

    def record_message(self, table: Any, seat: int, intent: MessageIntent) -> None:
        """Note in the record what `seat` sends, for all who may read it."""
        if seat == table.turn:
            table.spoken = min(int(table.spoken) + 1, LIMIT)
        said = self.read(intent.content)
        if said is not None:
            public = intent.scope == MessageScope.PUBLIC
            for listener, agent in enumerate(self.agents):
                if public or listener == seat or agent in (intent.to_agent_ids or ()):
                    table.heard[listener, seat] = 1024 * said[0] + said[1]

    def messages_for(self, table: Any, seat: int) -> list[Message]:
        """Return the last act that `seat` heard of every seat as messages, in seat order."""
        heard = [(self.agents[speaker], int(table.heard[seat, speaker])) for speaker in range(len(self.agents))]
        sentences = [(agent, self._sentence(code >> 10, code & 1023)) for agent, code in heard if code]
        public = MessageScope.PUBLIC
        return [Message(str(i), agent, public, sentence) for i, (agent, sentence) in enumerate(sentences)]

    def load(self, table: Any, seat: int, messages: Sequence[Message], seats: Mapping[str, int]) -> None:
        """Rebuild what `seat` heard from the messages that it can read; `seats` maps senders to seats."""
        for message in messages:
            said = self.read(message.content)
            if said is not None and message.sender_id in seats:
                table.heard[seat, seats[message.sender_id]] = 1024 * said[0] + said[1]


def spoken(messages: Sequence[Message], agent: str, left: int | None) -> int:
    """Return how many messages of this turn are behind `agent`: from `left`, or where no one tells how many are left,
    those at the end of the history that are its own (perhaps too many: better silent than endless)."""
    if left is not None:
        return LIMIT - left
    count = 0
    for message in reversed(messages):
        if message.sender_id != agent:
            break
        count += 1
    return min(count, LIMIT)
