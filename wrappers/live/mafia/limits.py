"""Limits of an agent's answers: seconds of a call, characters and chunks of a stream, sentences of a statement."""

from dataclasses import dataclass
from typing import Any

from ....envs.core.options import seconds, whole

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


LONGEST_CHUNK = 4_000
"""Most characters of a chunk; a longer one is split."""
CHUNKS = 5_000
"""Most chunks of a stream, because every chunk becomes an event that is kept."""
SENTENCES = 5
"""Most sentences of a statement (the AgentPolicy document, Say Generation Rules)."""


@dataclass(frozen=True, kw_only=True)
class MafiaLimits:
    """The limits of agents in a hosted match.

    Attributes:
        think, say, act: seconds for a THINK stream, for a SAYS stream, and for a night action or vote.
        thought, statement: most characters of a THINK and of a SAYS stream.
        tries: most calls of `night_action` in a night until one returns a legal target.
    """

    think: float = 30.0
    say: float = 30.0
    act: float = 30.0
    thought: int = 20_000
    statement: int = 4_000
    tries: int = 2

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            ValueError: if one is out of its range.
        """
        for name in ("think", "say", "act"):
            seconds(name, getattr(self, name))
        for name, most in (("thought", None), ("statement", 4_000), ("tries", None)):
            whole(name, getattr(self, name), 1, most)


class ChunkLimit:
    """Checks the chunks of one stream and counts its characters.

    Args:
        characters: most characters of the whole stream.

    Attributes:
        error: why the stream ends here; None: it goes on.
    """

    def __init__(self, characters: int) -> None:
        self.error: Exception | None = None
        self._characters = self._left = characters
        self._chunks = 0

    def take(self, chunk: Any) -> list[str]:
        """Return the part of the next chunk within the limits, split after every `LONGEST_CHUNK` characters.

        It is [] for an empty chunk. A chunk sets `error` if it is no text, cannot be written as UTF-8, or exceeds a
        limit.
        """
        if not isinstance(chunk, str):
            self.error = TypeError(f"a chunk is text, not {type(chunk).__name__}")
            return []
        if not chunk:
            return []
        try:
            chunk.encode()
        except UnicodeEncodeError as error:  # half a surrogate pair
            self.error = error
            return []
        self._chunks += 1
        if self._chunks > CHUNKS:
            self.error = ValueError(f"more than {CHUNKS:,} chunks")
            return []
        size = len(chunk)
        if size > self._left:
            self.error = ValueError(f"more than {self._characters:,} characters")
            size = self._left
        self._left -= size
        if size <= LONGEST_CHUNK:
            return [chunk[:size]] if size else []
        return [chunk[start : min(start + LONGEST_CHUNK, size)] for start in range(0, size, LONGEST_CHUNK)]


class SentenceLimit:
    """Cuts a stream after `SENTENCES` sentences, however it is chunked.

    Attributes:
        full: whether a further sentence has begun, which is cut off.
    """

    def __init__(self) -> None:
        self.full = False
        self._reader = SentenceReader()
        self._ended = 0

    def take(self, chunk: str) -> str:
        """Return the part of the next chunk within the limit."""
        for i, char in enumerate(chunk):
            if self._reader.begins(char):
                self._ended += 1
                if self._ended == SENTENCES:
                    self.full = True
                    return chunk[:i]
        return chunk
