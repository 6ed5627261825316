"""Statements in words: an act as one to three sentences of a personality, which are read as the same act."""

import random
from collections.abc import Mapping, Sequence
from functools import lru_cache

from ....envs.mafia.statements import Act, read, sentence
from ....envs.mafia.table import (
    ACCUSE,
    CLAIM_DOCTOR,
    CLAIM_MAFIA,
    CLAIM_SHERIFF,
    CLAIM_VILLAGER,
    CLEARED,
    DEFEND,
    FOUND,
    GENERAL,
)

SELF = -1
"""The kind of a player's defence of itself."""

CORES: Mapping[int, Sequence[str]] = {
    GENERAL: (
        "I have nothing to report.",
        "I have heard nothing that convinces me yet.",
        "I would rather listen for now.",
        "Let us hear the others first.",
    ),
    ACCUSE: ("I accuse {}.", "I suspect {}.", "I do not trust {}.", "Let us vote out {}.", "{} is suspicious."),
    DEFEND: ("I defend {}.", "I trust {}.", "I believe {}.", "I vouch for {}.", "{} is innocent."),
    SELF: ("I am innocent.", "I am not mafia.", "I did nothing wrong."),
    CLEARED: (
        "I am the sheriff, and {} is not mafia.",
        "I am the sheriff, and {} is innocent.",
        "I'm the sheriff, I checked {}, and {} is clear.",
    ),
    FOUND: (
        "I am the sheriff, and {} is mafia.",
        "I'm the sheriff, I investigated {}, and {} is mafia.",
        "I am the sheriff, and {} is guilty.",
    ),
    CLAIM_SHERIFF: ("I am the sheriff.", "I'm the sheriff."),
    CLAIM_DOCTOR: ("I am the doctor.", "I'm the doctor."),
    CLAIM_VILLAGER: ("I am a villager.", "I'm just a villager.", "I am only a simple villager."),
    CLAIM_MAFIA: ("I am mafia.", "I'm mafia."),
}
"""Sentences by kind of act; ``{}`` is the target's name."""

OPENINGS: Mapping[str, Sequence[str]] = {
    "aggressive": ("Enough talk!", "Listen to me.", "We cannot sit and wait.", "Somebody has to say it."),
    "cautious": ("I may be wrong.", "Let me be careful here.", "It is early to say.", "I have thought about it twice."),
    "analytical": ("Look at the votes so far.", "Consider who gains by this.", "I have gone through every round."),
    "social": ("Friends, stay calm.", "Thank you all for speaking up.", "We are in this together.", "Hear me out."),
}
CLOSINGS: Mapping[str, Sequence[str]] = {
    "aggressive": ("Act today, or regret it tomorrow.", "No more excuses.", "Do it now."),
    "cautious": ("Tell me what I have missed.", "Please weigh it for yourselves.", "I could change my mind."),
    "analytical": ("The record speaks for itself.", "Nothing else fits what we have seen.", "Check it for yourselves."),
    "social": ("What does everybody else think?", "Let us decide it together.", "I am glad to hear other views."),
}
"""Openings and closings by personality; they are not read as an act."""


def phrase(act: Act, speaker: int, names: tuple[str, ...], personality: str, chance: random.Random) -> str:
    """Return `act` in words, in one to three sentences.

    Args:
        act: the act.
        speaker: the speaker's seat.
        names: the names, seat by seat.
        personality: one of the four personalities.
        chance: the random stream that chooses the words.
    """
    kind, target = act
    cores = CORES[SELF if kind == DEFEND and target == speaker else kind]
    said = _heard(cores[int(chance.random() * len(cores))], act, speaker, names)
    words = chance.random()
    if words < 0.7:
        openings = OPENINGS[personality]
        said = f"{openings[int(chance.random() * len(openings))]} {said}"
    if words > 0.4:
        closings = CLOSINGS[personality]
        said = f"{said} {closings[int(chance.random() * len(closings))]}"
    return said


@lru_cache(maxsize=8192)
def _heard(core: str, act: Act, speaker: int, names: tuple[str, ...]) -> str:
    """Return the core with the target's name; the plain sentence if it would be read as another act."""
    said = core.replace("{}", names[act[1]]) if act[1] >= 0 else core
    seats = {name: seat for seat, name in enumerate(names)}
    return said if read(said, speaker, seats) == act else sentence(act, speaker, names)
