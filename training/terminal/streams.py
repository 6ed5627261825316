"""Standard output in any encoding: no character is an error, and names stay readable."""

import codecs
import sys
import unicodedata

PLAIN = {
    "–": "-",
    "—": "-",
    "−": "-",
    "…": "...",
    "×": "x",
    "·": "-",
    "›": ">",
    "’": "'",
    "“": '"',
    "”": '"',
    "ß": "ss",
    "ø": "o",
    "Ø": "O",
    "ł": "l",
    "Ł": "L",
}
"""ASCII for characters that Unicode does not decompose."""
READABLE = "parlour-readable"
"""The name of the error handler `readable`."""


def readable(error: UnicodeError) -> tuple[str, int]:
    """Return characters that an encoding lacks as similar ASCII, else as escapes: an error handler of `codecs`.

    >>> codecs.register_error(READABLE, readable)
    >>> "Zoë: −1…".encode("ascii", READABLE)
    b'Zoe: -1...'
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_ascii, error.object[error.start : error.end])), error.end


def _ascii(char: str) -> str:
    letters = unicodedata.normalize("NFKD", PLAIN.get(char, char)).encode("ascii", "ignore").decode()
    return letters or ("" if unicodedata.combining(char) else ascii(char)[1:-1])


def prepare_streams() -> None:
    """Set up standard output and standard error for all characters, whatever their encoding is."""
    codecs.register_error(READABLE, readable)
    for stream in (sys.stdout, sys.stderr):
        if not (stream.encoding or "").lower().startswith("utf") and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=READABLE)
