"""Limits of an agent's answers: seconds of a call, characters and chunks of a stream, sentences of a statement."""

from dataclasses import dataclass
from typing import Any

from .sentences import SentenceReader

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
            if not 0 < getattr(self, name) < 2**30:
                raise ValueError(f"{name}={getattr(self, name)}: seconds, above 0")
        if self.thought < 1 or not 1 <= self.statement <= 4_000 or self.tries < 1:
            raise ValueError(
                f"thought={self.thought}, statement={self.statement}, tries={self.tries}: at least 1 each, and at most "
                "4,000 characters of a statement"
            )


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
