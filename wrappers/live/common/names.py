"""Names of people and agents: which are allowed, in every host, and which two look the same."""

import unicodedata
from pathlib import Path

MOST_CHARACTERS = 32
_HIDDEN_CATEGORIES = ("Cc", "Cf", "Cs", "Zl", "Zp")
_EMPTY = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
"""Letters and marks that show nothing, though Unicode does not count them among the hidden characters."""
_VARIANTS = dict.fromkeys([*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)])
"""Characters that change the picture of the one before them, as in many emoji."""


def problem_of(name: str, most: int = MOST_CHARACTERS) -> str | None:
    """Return why nobody may have this name of up to `most` characters, a sentence without a full stop; None: fine."""
    if not 1 <= len(name) <= most:
        return f"a name has 1 to {most} characters, not {len(name)}"
    hidden = next((one for one in name if unicodedata.category(one) in _HIDDEN_CATEGORIES or one in _EMPTY), None)
    if hidden is not None:
        return f"a name has no hidden characters, as U+{ord(hidden):04X} is one"
    if name != name.strip() or not name.translate(_VARIANTS):
        return "a name begins and ends with a character that is seen"
    return None


def short_name(spec: str) -> str:
    """Return how people read the name of a program: ``zoo:mafia`` is "Zoo", ``best_response`` is "Best response".

    A policy's file or run keeps its name without folder and ending, up to 28 characters.
    """
    if spec.startswith("zoo:"):
        return "Zoo"
    if not spec.isidentifier():
        return Path(spec).stem[:28] or spec[:28]
    return "LLM" if spec == "llm" else spec.replace("_", " ").capitalize()[:28]


def folded(name: str) -> str:
    """Return a name as it is compared: without capitals, wide letters, repeated spaces and variants of emoji.

    >>> folded("Ａｎｎ  Lee") == folded("ann lee")
    True
    """
    plain = unicodedata.normalize("NFKC", name.translate(_VARIANTS)).casefold()
    return " ".join(unicodedata.normalize("NFKC", plain).split())
