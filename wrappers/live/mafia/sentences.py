"""Sentences of a statement.

A sentence ends with a full stop, a question mark or an exclamation mark, and white space after it. Abbreviations,
initials and ellipses end no sentence.
"""

TITLES = ("capt", "col", "dr", "gen", "hon", "jr", "lt", "mr", "mrs", "ms", "mx", "prof", "rev", "sgt", "sr", "st")
ABBREVIATIONS = frozenset((*TITLES, "a.m", "approx", "cf", "e.g", "etc", "i.e", "mt", "p.m", "vs"))
"""Words that may end with a full stop within a sentence, in lower case."""
OPENING, CLOSING = "\"'([“‘«*_", "\"')]”’»*_"
LONGEST_WORD = 40
"""Number of last characters of a word that are kept."""


class SentenceReader:
    """Reads a text character by character."""

    def __init__(self) -> None:
        self._word = ""  # since the latest white space
        self._over = False  # a sentence has ended, and the next has not begun

    def begins(self, char: str) -> bool:
        """Return whether a sentence begins with the next character, after one that has ended."""
        if char.isspace():
            self._over = self._over or _ends(self._word)
            self._word = ""
            return False
        begins, self._over = self._over, False
        self._word = (self._word + char)[-LONGEST_WORD:]
        return begins


def sentences(text: str) -> list[str]:
    """Return a text's sentences, each with the white space after it, so that they join to the text again.

    >>> sentences("Ask Dr. Lee … He saw it!  Did you?")
    ['Ask Dr. Lee … He saw it!  ', 'Did you?']
    """
    reader = SentenceReader()
    starts = [0, *(i for i, char in enumerate(text) if reader.begins(char))]
    return [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True) if start < end]


def _ends(word: str) -> bool:
    """Return whether a sentence ends with this word."""
    word = word.rstrip(CLOSING)
    rest = word.rstrip(".!?")
    marks = word[len(rest) :]
    if marks != ".":  # several stops are an ellipsis
        return "!" in marks or "?" in marks
    rest = rest.lstrip(OPENING)
    initial = len(rest) == 1 and rest.isupper() and rest != "I"
    return not initial and rest.lower() not in ABBREVIATIONS
